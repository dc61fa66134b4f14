/*
 * The elements of an XML document with their positions in it (xml_reader.h). Only document*.c
 * include this.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_ELEMENTS_H
#define MT_SERVER_DOCUMENTS_XML_ELEMENTS_H

#include "server/documents/document_state.h"
#include "server/text/xml/xml_reader.h"

struct mt_xml_tag {
    const char *name;              /* name without its prefix */
    const char *const *attributes; /* name, value, ..., NULL; NULL for an end tag */
    /* bytes of the file; for the end of an empty element it is empty, at the element's end */
    struct mt_range range;
    size_t depth; /* depth of the element; the root has 1 */
    size_t line;
};

/* What a format does with a tag. A status other than MT_OK ends the reading. */
typedef enum mt_status mt_xml_take(void *context, const struct mt_xml_tag *tag,
                                   struct mt_error *err);

/* Calls begin and end for every element. Errors of mt_xml_parse. */
MT_MUST_CHECK enum mt_status mt_xml_read(const struct mt_document *document, mt_xml_take *begin,
                                         mt_xml_take *end, void *context, struct mt_error *err);

/* Returns the value of an attribute, or NULL. */
const char *mt_xml_attribute(const struct mt_xml_tag *tag, const char *name);
bool mt_xml_has(const struct mt_xml_tag *tag, const char *name, const char *value);

/* Returns where the value of an attribute is in a tag of well-formed XML, without the quotation
 * marks. A name without a prefix matches any prefix. Empty: there is none, or its value is
 * empty. */
struct mt_range mt_xml_find_attribute(const char *bytes, struct mt_range tag, const char *name);

/* Returns where the XML declaration names the file's encoding: find_charset of document_state.h. */
struct mt_range mt_xml_find_encoding(const char *bytes, size_t length);

#endif
