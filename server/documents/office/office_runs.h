/*
 * Texts in DrawingML (slides, text boxes, diagrams, charts) and SpreadsheetML (cells, comments), as tokens
 * (office_paragraph.h): paragraphs of runs, and elements that hold nothing but characters.
 * Only document_office.c and office_reader.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_RUNS_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_RUNS_H

#include "server/documents/office/office_kept.h"
#include "server/documents/office/office_paragraph.h"

/* What is a text in a part. */
enum mt_office_texts {
    MT_OFFICE_SHAPES,  /* each a:p */
    MT_OFFICE_MASTER,  /* a:p of shapes that slides do not fill in */
    MT_OFFICE_CHART,   /* a:p, and what is copied from cells: names of series and categories */
    MT_OFFICE_NOTES,   /* each element "text", of characters alone */
    MT_OFFICE_STRINGS, /* si, of a workbook's table of strings */
    MT_OFFICE_CELLS,   /* is, within cells; headers and footers; what is said of cells to fill in */
    MT_OFFICE_COMMENTS, /* text, of runs */
};

/* Adds the texts of part index to document, whose own is a struct mt_office; kept, which may be NULL, says
 * which of them stay. MT_FORMAT: no XML, with the entry's line; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_read_runs(struct mt_document *document, size_t index,
                                                 enum mt_office_texts texts,
                                                 const struct mt_office_kept *kept,
                                                 struct mt_error *err);

/* Adds the words of an attribute of a tag, which may lack it, as a text. max_chars: office_paragraph.h.
 * MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_add_attribute(struct mt_document *document,
                                                     struct mt_range tag, const char *name,
                                                     size_t max_chars, struct mt_error *err);

/* What its paragraphs are written by. */
mt_office_write_run mt_office_write_shape_run, mt_office_write_cell_run, mt_office_write_plain,
    mt_office_write_header;

#endif
