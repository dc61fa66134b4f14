/*
 * The texts of a part in XML, by a table of what its elements are (OpenDocument, XHTML, ...): paragraphs
 * become tokens (office_paragraph.h) whose markup is copied from the file.
 *
 *   <text:p>A <text:span>red</text:span> house<text:note>..<text:p>In Berlin.</text:p></text:note></text:p>
 *           A <0>red</0> house<1/>                                 In Berlin.
 *
 * Blanks are as in HTML: each run of them is one, and there are none at the ends. Elements that the table
 * lacks are copied as a whole within a paragraph, and stand as a word or a number if they hold one.
 * Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_MARKUP_READER_H
#define MT_SERVER_DOCUMENTS_MARKUP_MARKUP_READER_H

#include "server/documents/document_state.h"

enum mt_markup_role {
    MT_MARKUP_OTHER,
    MT_MARKUP_TEXT,   /* its content is a text */
    MT_MARKUP_FLOW,   /* its content is texts, which elements part that the table lacks */
    MT_MARKUP_PAIR,   /* stands around words */
    MT_MARKUP_LINK,   /* the same; many of them are a list (link_list.h), each a text */
    MT_MARKUP_NOTE,   /* the same, but for a number or two letters, which it copies */
    MT_MARKUP_LOOK,   /* says how words look, and may be lost with them */
    MT_MARKUP_POINT,  /* is copied, with the texts in it */
    MT_MARKUP_COPY,   /* is copied */
    MT_MARKUP_WORD,   /* is copied, and stands as a word */
    MT_MARKUP_BREAK,  /* a line break */
    MT_MARKUP_EDGE,   /* ends a text: a tab */
    MT_MARKUP_BLANKS, /* blanks: OpenDocument's text:s */
    MT_MARKUP_UNSEEN, /* what programs leave for themselves */
    MT_MARKUP_START,  /* begins and ends a stretch of words */
    MT_MARKUP_END,
    MT_MARKUP_LEFT, /* stays, with all in it, and parts texts */
    MT_MARKUP_CODE, /* the same, and is told of */
};

struct mt_markup_element {
    const char *name; /* "p", "text:p" */
    enum mt_markup_role role;
};

struct mt_markup_tag {
    const char *name;              /* with the prefix of the table */
    const char *const *attributes; /* names, values, ..., NULL: mt_markup_attribute */
    struct mt_range range;         /* of the document's bytes */
};

/* An attribute that holds a text. */
struct mt_markup_value {
    const char *element; /* NULL: any */
    const char *attribute;
};

/* What an element is where the table does not say it all. */
typedef enum mt_markup_role mt_markup_role_of(void *context, const struct mt_markup_tag *tag,
                                              enum mt_markup_role role);

struct mt_markup {
    const char *const (*namespaces)[2]; /* the URI and the prefix of its names, with the colon */
    size_t n_namespaces;
    const struct mt_markup_element *elements;
    size_t n_elements;
    const struct mt_markup_value *values;
    size_t n_values;
    bool knows_entities;     /* of HTML; else one that is not XML's is an error */
    mt_markup_role_of *role; /* NULL: what the table says */
    /* Bytes of the document that are the look of a LOOK; empty: it has none. NULL: its tag. */
    struct mt_range (*look)(void *context, const struct mt_markup_tag *tag);
};

/* Adds the texts of bytes of document, whose own is a struct mt_office. MT_FORMAT: no XML, with the line;
 * MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_markup_read(struct mt_document *document, struct mt_range range,
                                            const struct mt_markup *markup, void *context,
                                            struct mt_error *err);

/* Hands out every tag that begins an element. The same errors, and take's. */
typedef enum mt_status mt_markup_take(void *context, const struct mt_markup_tag *tag,
                                      struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_markup_scan(const struct mt_document *document,
                                            struct mt_range range, const struct mt_markup *markup,
                                            mt_markup_take *take, void *context,
                                            struct mt_error *err);

/* The value of an attribute, by its name with the table's prefix; NULL: there is none. */
const char *mt_markup_attribute(const struct mt_markup *markup, const struct mt_markup_tag *tag,
                                const char *name);

#endif
