/*
 * Texts of XHTML, as pages and as chapters of books, and of a book's metadata and table of contents (EPUB's
 * package document and NCX). Words of page titles, alt, title, placeholder and aria-label are texts, too.
 * Left are what HTML's reader leaves (html_reader.h): scripts, styles, code, translate="no".
 *
 * Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_XHTML_H
#define MT_SERVER_DOCUMENTS_MARKUP_XHTML_H

#include "server/documents/document_state.h"

/* Whether a page says that it is XML: by its declaration, namespace or document type. */
bool mt_xhtml_is_said(const char *bytes, size_t length);

/* What a format's readers need: its own, for mt_xhtml_read, and an unpack (document_state.h). */
MT_MUST_CHECK enum mt_status mt_xhtml_begin(struct mt_document *document, struct mt_error *err);
mt_document_unpack mt_xhtml_unpack;

struct mt_xhtml {
    struct mt_document *document;
    const char *target; /* normalised; NULL: not known */
    char language
        [MT_LANGUAGE_BYTES]; /* of the book: what is in another one keeps its name. "": any */
};

/* Adds the texts of bytes of the document, whose own mt_xhtml_begin made, and the edits of what it says of
 * its language. Errors of mt_markup_read; then nothing was added. */
MT_MUST_CHECK enum mt_status mt_xhtml_read(struct mt_xhtml *xhtml, struct mt_range range,
                                           struct mt_error *err);

/* A page's. */
extern const struct mt_document_reader mt_xhtml_reader;

#endif
