/*
 * Reads texts of XHTML, in pages and in chapters of books, and of a book's metadata and table of
 * contents (EPUB's package document and NCX). Titles of pages and the attributes alt, title,
 * placeholder and aria-label are texts, too. The same elements are left alone as in HTML
 * (html_reader.h): scripts, styles, code, translate="no".
 *
 * Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_XHTML_H
#define MT_SERVER_DOCUMENTS_MARKUP_XHTML_H

#include "server/documents/document_state.h"

/* Whether a page declares that it is XML: by an XML declaration, a namespace or its document
 * type. */
bool mt_xhtml_is_said(const char *bytes, size_t length);

/* Prepares a document for mt_xhtml_read by setting its own data, which mt_xhtml_unpack
 * (document_state.h) restores in another process. */
MT_MUST_CHECK enum mt_status mt_xhtml_begin(struct mt_document *document, struct mt_error *err);
mt_document_unpack mt_xhtml_unpack;

struct mt_xhtml {
    struct mt_document *document;
    const char *target; /* normalised; NULL: unknown */
    char language
        /* the book's language; elements in other languages keep their language. "": unknown */
        [MT_LANGUAGE_BYTES];
};

/* Adds the texts of a range of the document, after mt_xhtml_begin, and edits where it names its
 * language. Errors of mt_markup_read, after which nothing was added. */
MT_MUST_CHECK enum mt_status mt_xhtml_read(struct mt_xhtml *xhtml, struct mt_range range,
                                           struct mt_error *err);

/* The reader of pages. */
extern const struct mt_document_reader mt_xhtml_reader;

#endif
