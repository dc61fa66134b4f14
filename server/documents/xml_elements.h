/*
 * The elements of a document in XML with their places in it (xml_reader.h).
 * Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_ELEMENTS_H
#define MT_SERVER_DOCUMENTS_XML_ELEMENTS_H

#include "server/documents/document_state.h"
#include "server/text/xml/xml_reader.h"

struct mt_xml_tag {
    const char *name;              /* without its prefix */
    const char *const *attributes; /* name, value, ..., NULL; of a tag that ends nothing: NULL */
    struct mt_range range;         /* bytes of the file. An empty element's end: its end, empty */
    size_t depth;                  /* of the element: 1 the root */
    size_t line;
};

/* What a format does with tags. Ends the reading unless it returns MT_OK. */
typedef enum mt_status mt_xml_take(void *context, const struct mt_xml_tag *tag,
                                   struct mt_error *err);

/* Errors of mt_xml_parse. */
MT_MUST_CHECK enum mt_status mt_xml_read(const struct mt_document *document, mt_xml_take *begin,
                                         mt_xml_take *end, void *context, struct mt_error *err);

/* The value of an attribute, or NULL. */
const char *mt_xml_attribute(const struct mt_xml_tag *tag, const char *name);
bool mt_xml_has(const struct mt_xml_tag *tag, const char *name, const char *value);

/* Where the value of an attribute stands in a tag of well-formed XML, without the quotation marks. name
 * is without a prefix where any is meant. An empty range: nowhere, or it is empty. */
struct mt_range mt_xml_find_attribute(const char *bytes, struct mt_range tag, const char *name);

/* Where the declaration names the file's encoding: find_charset of document_state.h. */
struct mt_range mt_xml_find_encoding(const char *bytes, size_t length);

#endif
