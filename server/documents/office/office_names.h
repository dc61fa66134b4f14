/*
 * Names of elements in the parts of an office document. An element is recognised by the prefix that
 * the part's first declaration gives to its namespace.
 *
 * Only office_*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NAMES_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NAMES_H

#include "server/documents/office/office_paragraph.h"
#include "server/documents/xml_elements.h"

struct mt_office_prefix {
    char text[MT_OFFICE_MAX_PREFIX + 1]; /* includes the colon: "w:" */
    bool is_known;
};

/* Searches a tag for the declaration of an Office namespace ("wordprocessingml", ...), unless it
 * was found already. MT_LIMIT: the prefix is too long. */
MT_MUST_CHECK enum mt_status mt_office_find_prefix(struct mt_office_prefix *prefix,
                                                   const char *language,
                                                   const struct mt_xml_tag *tag,
                                                   struct mt_error *err);

/* Whether a tag of document has that prefix. */
bool mt_office_has_prefix(const struct mt_office_prefix *prefix, const struct mt_document *document,
                          const struct mt_xml_tag *tag);

/* Returns the value of an attribute with any prefix; "" where there is none. */
const char *mt_office_attribute(const struct mt_xml_tag *tag, const char *name);

bool mt_office_is_one_of(const char *name, const char *const *names, size_t n);
#define MT_IS_ONE_OF(name, names) mt_office_is_one_of(name, names, sizeof(names) / sizeof *(names))

/* Whether a style of runs or paragraphs is meant for source code, by its identifier. */
bool mt_office_is_code(const char *style);

/* Returns what a field with this instruction stands for in a sentence: 'n', a number, or 'w', a
 * name, which a program computes, so that it is not translated; 0: words, which are. */
char mt_office_field_form(const char *instruction);

/* Appends the text between tags as words: entities become characters, line ends and tabs become
 * blanks. Returns false where there is other markup in it, which could not be written again. */
bool mt_office_unescape(const char *xml, size_t length, struct mt_text *out);

#endif
