/*
 * The paragraphs of a part of an office document, as tokens (office_paragraph.h). Elements are known by
 * the prefix that the part's first declaration gives to their namespace. A paragraph whose markup cannot
 * be written again (CDATA in its words, a field across elements) is a piece that stays. Deleted text, instructions of fields and results that a
 * program makes anew (page numbers, dates) are left; text boxes are texts of their own.
 * Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_READER_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_READER_H

#include "server/documents/office/office_paragraph.h"

/* Adds the texts of part index to document, whose own is a struct mt_office. MT_FORMAT: no XML, with
 * the entry's line; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_read(struct mt_document *document, size_t index,
                                            struct mt_error *err);

/* What its paragraphs are written by. */
mt_office_write_run mt_office_write_text_run;

#endif
