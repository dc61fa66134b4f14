/*
 * Texts of a workbook's cells that something else refers to by their exact words: headings of
 * tables and fields of pivot tables (programs repair the file if a cell has other words), texts
 * that formulas compare with, and the values in filters and lists of allowed values. They must not
 * be translated.
 *
 * Only document_office.c and office_*.c include this.
 *
 * Thread-safety: one thread at a time; mt_office_is_referenced is safe.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_REFERENCED_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_REFERENCED_H

#include "server/documents/document_state.h"

/* Has to be zero-initialised. */
struct mt_office_referenced {
    struct mt_text bytes; /* the texts, each ending in NUL */
    const char **texts;   /* sorted pointers into bytes */
    size_t n;
};

/* Adds the texts that a part of document refers to (a sheet, a table, the workbook, a pivot table's
 * fields). MT_FORMAT: it is not XML; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_referenced_add(struct mt_office_referenced *referenced,
                                                      const struct mt_document *document,
                                                      size_t part, struct mt_error *err);
/* Has to be called once, after all are added. */
MT_MUST_CHECK enum mt_status mt_office_referenced_sort(struct mt_office_referenced *referenced,
                                                       struct mt_error *err);
void mt_office_referenced_finish(struct mt_office_referenced *referenced);

/* Compares without case, as formulas do. */
bool mt_office_is_referenced(const struct mt_office_referenced *referenced, const char *text);

#endif
