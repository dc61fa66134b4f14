/*
 * Packages are taken apart, and put together, in a process of their own (base/confined.h): a file
 * that makes a library fail, or take all memory or time, ends as an error of its own. What comes back
 * is a flat table of parts and texts, which is checked before it is used.
 *
 * Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_CONFINED_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_CONFINED_H

#include "server/documents/document_state.h"

/* As the reader's read, of a package. MT_LIMIT: it took too much; MT_FORMAT: it died of it. */
MT_MUST_CHECK enum mt_status mt_document_read_confined(struct mt_document *document,
                                                       const struct mt_document_options *options,
                                                       struct mt_error *err);

/* The table: of a document that was read; and into one that has only its package's bytes, with none of
 * it believed. MT_FORMAT: it is no table. */
void mt_document_put_table(const struct mt_document *document, struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_document_take_table(struct mt_document *document, const char *bytes,
                                                    size_t length, struct mt_error *err);

/* Appends what work appends. */
typedef enum mt_status mt_document_work(void *context, struct mt_text *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_document_work_confined(mt_document_work *work, void *context,
                                                       struct mt_text *out, struct mt_error *err);

#endif
