/*
 * Reads texts in DrawingML (slides, text boxes, diagrams, charts) and SpreadsheetML (cells,
 * comments) as tokens (office_paragraph.h): paragraphs of runs, and elements that hold only
 * characters.
 *
 * Only document_office.c and office_reader.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_RUNS_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_RUNS_H

#include "server/documents/office/office_paragraph.h"
#include "server/documents/office/office_referenced.h"

/* Which elements of a part are texts. */
enum mt_office_texts {
    MT_OFFICE_SHAPES,  /* each a:p */
    MT_OFFICE_MASTER,  /* a:p of shapes that slides do not fill in */
    MT_OFFICE_CHART,   /* a:p, and copies of cells: names of series and categories */
    MT_OFFICE_NOTES,   /* each element "text", which has only characters */
    MT_OFFICE_STRINGS, /* si, of a workbook's table of strings */
    /* is, and v with characters, within cells; headers and footers; messages about cells that a
     * person fills in */
    MT_OFFICE_CELLS,
    MT_OFFICE_COMMENTS, /* text, which has runs */
};

/* Adds the texts of part index to document, whose own is a struct mt_office. Texts that are in
 * referenced, which may be NULL, are not translated. MT_FORMAT: it is not XML, with the entry's
 * line; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_read_runs(struct mt_document *document, size_t index,
                                                 enum mt_office_texts texts,
                                                 const struct mt_office_referenced *referenced,
                                                 struct mt_error *err);

/* Adds the value of a tag's attribute, if it has that, as a text. max_chars: office_paragraph.h.
 * MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_add_attribute(struct mt_document *document,
                                                     struct mt_range tag, const char *name,
                                                     size_t max_chars, struct mt_error *err);

/* The functions that write the runs of its paragraphs. */
mt_office_write_run mt_office_write_shape_run, mt_office_write_cell_run, mt_office_write_plain,
    mt_office_write_header;

#endif
