/*
 * What Word's paragraphs consist of besides what office_reader.h reads: the looks of runs and how
 * they are written, words in attributes, and large letters (drop caps).
 *
 * Only office_reader.c and office_text_run.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_TEXT_RUN_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_TEXT_RUN_H

#include "server/documents/office/office_paragraph.h"
#include "server/documents/xml_elements.h"

/* These bytes stand in a look for the places of two properties: whether the words are written from
 * the right (or explicitly not), and their language. */
enum { MT_OFFICE_LOOK_NO_DIRECTION = 1, MT_OFFICE_LOOK_DIRECTION, MT_OFFICE_LOOK_LANGUAGE };

/* Adds words in attributes of an element as texts: what is read aloud for a picture or a table, the
 * letters of a watermark, what a list offers, and what a link says when it is pointed at. MT_LIMIT;
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_add_attributes(struct mt_document *document,
                                                      const struct mt_xml_tag *tag,
                                                      struct mt_error *err);

/* Adds a large letter as a text of its own, because nothing goes on behind it, and frees it. */
MT_MUST_CHECK enum mt_status mt_office_add_drop(struct mt_document *document, const char *prefix,
                                                struct mt_office_token *drop, struct mt_error *err);

#endif
