/*
 * `attentiond translate FILE`: translates a document (document.h) from a file or standard input to
 * standard output or another file. It decodes in the calling thread, without an engine.
 */
#ifndef MT_SERVER_COMMANDS_DOCUMENT_COMMAND_H
#define MT_SERVER_COMMANDS_DOCUMENT_COMMAND_H

#include "server/documents/document.h"
#include "server/inspection/inspection.h"
#include "server/text/translation.h"

struct mt_model;
struct mt_progress_bar;
struct mt_settings;

/* Largest file that is read. */
#define MT_DOCUMENT_MAX_BYTES ((size_t)64 << 20)

struct mt_document_command {
    const struct mt_settings *settings;
    const struct mt_model *model;
    struct mt_alignment_choice alignment; /* the heads by which tags are placed */
    struct mt_document_options document;
    struct mt_translation_options translation;
    size_t max_rows; /* of a decoder step */
    const struct mt_proofreader *reader;
    struct mt_warning_printer *printer; /* prints the warnings */
    const char *path;                   /* NULL or "-": standard input */
    const char
        *output; /* file to write, whose missing directories are created; NULL: standard output */
    const char *unit;               /* stands before a text's number in warnings; NULL: "text" */
    size_t n_files, n_files_before; /* for the bar, if this is one of several files */
    struct mt_progress_bar *bar;    /* may be NULL */
};

/* Nothing is written if this fails. *report is as in mt_document_write, except that encoding and
 * left are not set. MT_CANCELLED: nobody reads the output any more. */
MT_MUST_CHECK enum mt_status mt_document_command_run(const struct mt_document_command *command,
                                                     struct mt_document_report *report,
                                                     struct mt_error *err);

#endif
