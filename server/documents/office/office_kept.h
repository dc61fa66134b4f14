/*
 * Texts of a workbook's cells that something else names as they stand: headings of tables and fields of
 * pivot tables (a cell that says something else makes a program repair the file), texts that formulas
 * compare with, values that filters and lists of allowed values hold.
 * Only document_office.c and office_*.c use this.
 *
 * Thread-safety: one thread at a time; mt_office_is_kept is safe.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_KEPT_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_KEPT_H

#include "server/documents/document_state.h"

/* Zero-initialise. */
struct mt_office_kept {
    struct mt_text bytes; /* the texts, each ending in NUL */
    const char **texts;   /* sorted, into bytes */
    size_t n;
};

/* Adds what a part of document (a sheet, a table, the workbook, a pivot table's fields) names. MT_FORMAT:
 * no XML; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_kept_add(struct mt_office_kept *kept,
                                                const struct mt_document *document, size_t part,
                                                struct mt_error *err);
/* Once, when all are added. */
MT_MUST_CHECK enum mt_status mt_office_kept_sort(struct mt_office_kept *kept, struct mt_error *err);
void mt_office_kept_finish(struct mt_office_kept *kept);

/* In any case, as formulas compare. */
bool mt_office_is_kept(const struct mt_office_kept *kept, const char *text);

#endif
