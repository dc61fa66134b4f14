/*
 * `attentiond translate FILE`: a whole document (document.h) from a file or standard input to
 * standard output or another file, decoded here and now.
 */
#ifndef MT_SERVER_COMMANDS_DOCUMENT_COMMAND_H
#define MT_SERVER_COMMANDS_DOCUMENT_COMMAND_H

#include "server/documents/document.h"
#include "server/text/translation.h"

struct mt_model;
struct mt_progress_bar;
struct mt_settings;

/* Largest file that is read. */
#define MT_DOCUMENT_MAX_BYTES ((size_t)64 << 20)

struct mt_document_command {
    const struct mt_settings *settings;
    const struct mt_model *model;
    struct mt_document_options document;
    struct mt_translation_options translation;
    size_t max_rows; /* of a decoder step */
    const struct mt_proofreader *reader;
    struct mt_warning_printer *printer; /* is told what it finds */
    const char *path;                   /* NULL or "-": standard input */
    const char
        *output; /* where it is written, with the directories that lack; NULL: standard output */
    const char *unit;               /* before a text's number in warnings; NULL: "text" */
    size_t n_files, n_files_before; /* for the bar, where this is one of several */
    struct mt_progress_bar *bar;    /* may be NULL */
};

/* Writes nothing where it fails. *report as in mt_document_write, but for encoding and what is left, which
 * are not there.
 * MT_CANCELLED: nobody reads the output any more. */
MT_MUST_CHECK enum mt_status mt_document_command_run(const struct mt_document_command *command,
                                                     struct mt_document_report *report,
                                                     struct mt_error *err);

#endif
