/*
 * Texts within the texts of Markdown: titles of links and pictures, descriptions of pictures, and
 * values of attributes in HTML. Each is a piece of its own. The text around it has a slot in its
 * place: the position of the piece between two control characters, which is filled when that text
 * is written.
 *
 *   [the map](map.png "A map of it")     "[the map](map.png \"{18}\")" and "A map of it"
 *
 * A file that has these characters has no such texts. The words of a link are also the name of its
 * address in [words] and [words][]. A text has that name behind them, since their translation is
 * another one: [words][words]. Blocks of HTML are here, too.
 *
 * Only document_md.c includes this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKDOWN_MD_INNER_H
#define MT_SERVER_DOCUMENTS_MARKDOWN_MD_INNER_H

#include "server/documents/document_state.h"

/* What a piece is, in its n. */
enum {
    MT_MD_HTML = 1 << 8,
    MT_MD_VALUE = 2 << 8, /* of an attribute */
    MT_MD_TITLE = 3 << 8,
    MT_MD_YAML = 4 << 8,
    MT_MD_ALT = 5 << 8,
    MT_MD_NAME = 6 << 8, /* is no piece */
    MT_MD_KIND = 7 << 8,
};

struct mt_md_item {
    struct mt_range range;
    int kind;
    struct mt_range name; /* NAME: what is inserted */
};

/* Has to be zero-initialised. */
struct mt_md_inner {
    struct mt_md_item *items;
    size_t n, capacity;
    size_t n_before; /* those before belong to texts that have ended */
};

bool mt_md_can_have_inner(const struct mt_document *document);
/* Notes a title, or the values in a tag, unless it has no words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_md_inner_add_title(struct mt_md_inner *inner,
                                                   const struct mt_document *document,
                                                   struct mt_range title, struct mt_error *err);
/* Notes what the content of a link's or picture's brackets is besides words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_md_inner_add_content(struct mt_md_inner *inner,
                                                     const struct mt_document *document,
                                                     struct mt_range content, bool is_picture,
                                                     struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_md_inner_add_values(struct mt_md_inner *inner,
                                                    const struct mt_document *document,
                                                    struct mt_range tags, struct mt_error *err);
/* Have to be called before mt_md_inner_show, and once a text has ended. */
void mt_md_inner_sort(struct mt_md_inner *inner);
void mt_md_inner_end_text(struct mt_md_inner *inner);
/* Appends bytes of the document, with slots in the place of what was noted in this text. */
void mt_md_inner_show(const struct mt_md_inner *inner, const struct mt_document *document,
                      struct mt_range range, struct mt_text *out);
/* Adds a piece for a block of HTML, if it has words, and notes its values. */
MT_MUST_CHECK enum mt_status mt_md_inner_add_html(struct mt_md_inner *inner,
                                                  struct mt_document *document,
                                                  struct mt_range range, struct mt_error *err);
/* Adds pieces for all that was noted. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_md_inner_add_pieces(struct mt_md_inner *inner,
                                                    struct mt_document *document,
                                                    struct mt_error *err);
void mt_md_inner_finish(struct mt_md_inner *inner);

/* Appends a translation of a piece with its slots filled. */
void mt_md_inner_fill(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                      const char *translation, size_t length, struct mt_text *out);
/* Writes what replaces a title or a value. Returns false where that cannot stand there. */
bool mt_md_inner_write(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out);

/* Whether a translation has as many of each sign that means something in Markdown as its text. */
bool mt_md_has_same_signs(const struct mt_text *text, const char *translation, size_t length);

#endif
