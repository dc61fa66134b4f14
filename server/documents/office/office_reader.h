/*
 * Reads the paragraphs of a part of an office document as tokens (office_paragraph.h). Elements are
 * recognised by the prefix that the part's first declaration gives to their namespace. A paragraph
 * whose markup could not be written again (CDATA in its words, a field across elements) is not
 * translated. Deleted text, instructions of fields and results that a program computes (page
 * numbers, dates) are left out; text boxes are separate texts. A large letter at the beginning,
 * which has a paragraph of its own (a drop cap), makes one text with the paragraph that goes on.
 *
 * Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_READER_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_READER_H

#include "server/documents/office/office_paragraph.h"

/* Adds the texts of part index to document, whose own is a struct mt_office. MT_FORMAT: it is not
 * XML, with the entry's line; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_read(struct mt_document *document, size_t index,
                                            struct mt_error *err);

/* The function that writes the runs of its paragraphs (office_text_run.c). */
mt_office_write_run mt_office_write_text_run;

#endif
