/*
 * Packages are read and written in a separate process (base/confined.h): a file that makes a
 * library crash, or use up memory or time, ends with an error of its own. The result comes back as
 * a flat table of parts and texts, which is checked before it is used.
 *
 * Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_CONFINED_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_CONFINED_H

#include "server/documents/document_state.h"

/* Reads a package in a process of its own. MT_LIMIT: the process used too much memory or time;
 * MT_FORMAT: it crashed. */
MT_MUST_CHECK enum mt_status mt_document_read_confined(struct mt_document *document,
                                                       const struct mt_document_options *options,
                                                       struct mt_error *err);

/* Write the table of a document that was read, and read it into a document that has only its
 * package's bytes. Nothing in the table is trusted. MT_FORMAT: it is not valid. */
void mt_document_put_table(const struct mt_document *document, struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_document_take_table(struct mt_document *document, const char *bytes,
                                                    size_t length, struct mt_error *err);

/* Runs work in a separate process, and appends what it appends. */
typedef enum mt_status mt_document_work(void *context, struct mt_text *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_document_work_confined(mt_document_work *work, void *context,
                                                       struct mt_text *out, struct mt_error *err);

#endif
