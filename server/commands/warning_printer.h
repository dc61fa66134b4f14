/*
 * Prints on standard error what is wrong with translations (quality_check.h, proofread.h), as
 * sentences, and at the end how many more warnings there were:
 *
 *   attentiond translate: line 3: the translation of sentence 1 has other numbers than its source;
 *   missing: 365; added: 35; put in: 365
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_WARNING_PRINTER_H
#define MT_SERVER_COMMANDS_WARNING_PRINTER_H

#include "base/status.h"
#include "server/text/quality_check.h"

struct mt_passage;

/* Most warnings that are printed; the rest are only counted. */
#define MT_MAX_PRINTED_WARNINGS 20

struct mt_warning_printer {
    struct mt_quality_options checks;
    const char *unit; /* "line", "text" */
    size_t number;    /* number of the line or text */
    size_t n;         /* warnings so far */
};

/* Prints the warnings of a passage that has been decoded. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_warning_printer_look(struct mt_warning_printer *printer,
                                                     const char *unit, size_t number,
                                                     struct mt_passage *passage,
                                                     struct mt_error *err);

/* Prints how many more there were, if any. */
void mt_warning_printer_end(const struct mt_warning_printer *printer);

#endif
