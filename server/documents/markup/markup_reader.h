/*
 * Reads the texts of a part in XML, by a table of the format's elements (OpenDocument, XHTML, ...):
 * paragraphs become tokens (office_paragraph.h) whose markup is copied from the file.
 *
 *   <text:p>A <text:span>red</text:span> house<text:note>..<text:p>In Berlin.</text:p></text:note></text:p>
 *           A <0>red</0> house<1/>                                 In Berlin.
 *
 * Blanks are collapsed as in HTML, and removed at both ends. Elements that the table does not have
 * are copied as a whole within a paragraph, in the place of a word or a number if they hold one.
 *
 * Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_MARKUP_READER_H
#define MT_SERVER_DOCUMENTS_MARKUP_MARKUP_READER_H

#include "server/documents/document_state.h"

enum mt_markup_role {
    MT_MARKUP_OTHER,
    MT_MARKUP_TEXT, /* its content is one text */
    /* its content is several texts, separated by elements that the table does not have */
    MT_MARKUP_FLOW,
    MT_MARKUP_PAIR, /* a pair around words */
    /* the same, but many of them are a list (link_list.h), whose links are separate texts */
    MT_MARKUP_LINK,
    MT_MARKUP_NOTE,   /* the same, but copied if it has only a number or two letters */
    MT_MARKUP_LOOK,   /* the look of words, which may be lost with them */
    MT_MARKUP_POINT,  /* copied, but the texts in it are translated */
    MT_MARKUP_COPY,   /* is copied */
    MT_MARKUP_WORD,   /* copied in the place of a word */
    MT_MARKUP_BREAK,  /* a line break */
    MT_MARKUP_EDGE,   /* ends a text: a tab */
    MT_MARKUP_BLANKS, /* blanks, like OpenDocument's text:s */
    MT_MARKUP_UNSEEN, /* data that programs store for themselves, which nobody sees */
    MT_MARKUP_START,  /* MT_MARKUP_START and MT_MARKUP_END are the two ends of a stretch of words */
    MT_MARKUP_END,
    MT_MARKUP_LEFT, /* not translated, with everything in it; separates texts */
    MT_MARKUP_CODE, /* the same, and reported */
};

struct mt_markup_element {
    const char *name; /* "p", "text:p" */
    enum mt_markup_role role;
};

struct mt_markup_tag {
    const char *name;              /* has the prefix of the table */
    const char *const *attributes; /* names, values, ..., NULL: read by mt_markup_attribute */
    struct mt_range range;         /* in the document's bytes */
};

/* An attribute whose value is a text. */
struct mt_markup_value {
    const char *element; /* NULL: any element */
    const char *attribute;
};

/* Returns the role of an element where the table alone does not determine it. */
typedef enum mt_markup_role mt_markup_role_of(void *context, const struct mt_markup_tag *tag,
                                              enum mt_markup_role role);

struct mt_markup {
    /* each has the URI, and the prefix that names in the tables have, with the colon */
    const char *const (*namespaces)[2];
    size_t n_namespaces;
    const struct mt_markup_element *elements;
    size_t n_elements;
    const struct mt_markup_value *values;
    size_t n_values;
    /* Whether the attribute holds words in this tag. NULL: it always does. */
    bool (*is_read)(const struct mt_markup_tag *tag, const char *attribute);
    /* HTML's entities are known; otherwise every entity that XML does not define is an error */
    bool knows_entities;
    mt_markup_role_of *role; /* NULL: the table determines all roles */
    /* Returns the bytes of the document that describe the look of a LOOK; empty: it has none. NULL:
     * they are its tag. */
    struct mt_range (*look)(void *context, const struct mt_markup_tag *tag);
};

/* Adds the texts of a range of document, whose own is a struct mt_office. MT_FORMAT: it is not XML,
 * with the line; MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_markup_read(struct mt_document *document, struct mt_range range,
                                            const struct mt_markup *markup, void *context,
                                            struct mt_error *err);

/* Calls take for every tag that begins an element. The same errors, and those of take. */
typedef enum mt_status mt_markup_take(void *context, const struct mt_markup_tag *tag,
                                      struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_markup_scan(const struct mt_document *document,
                                            struct mt_range range, const struct mt_markup *markup,
                                            mt_markup_take *take, void *context,
                                            struct mt_error *err);

/* Returns the value of an attribute, whose name has the table's prefix; NULL: there is none. */
const char *mt_markup_attribute(const struct mt_markup *markup, const struct mt_markup_tag *tag,
                                const char *name);

#endif
