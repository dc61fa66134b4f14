/*
 * Reads XML with expat, and tells where in the source each tag, text and comment stands, so that
 * parts of it can be replaced and all others stay as they are.
 *
 * Malformed XML, declarations of entities, and elements nested deeper than MT_XML_MAX_DEPTH are
 * refused, with the number of the line. Nothing external is ever opened.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_XML_READER_H
#define MT_SERVER_TEXT_XML_READER_H

#include "base/text.h"
#include "server/text/splitter.h"

/* The deepest nesting of elements, most attributes of one element, and most bytes of its name:
 * MT_LIMIT above. */
#define MT_XML_MAX_DEPTH 256
#define MT_XML_MAX_ATTRIBUTES 1000
#define MT_XML_MAX_NAME 1024

enum mt_xml_kind {
    MT_XML_BEGIN,
    MT_XML_END,
    MT_XML_TEXT, /* a piece of text, which ends at a line feed or an entity, or is one of these */
    MT_XML_CDATA_BEGIN,
    MT_XML_CDATA_END,
    MT_XML_ENTITY, /* an entity that nobody declares: knows_entities below */
    MT_XML_OTHER,  /* a comment or an instruction */
};

struct mt_xml_event {
    enum mt_xml_kind kind;
    const char *name;              /* the element's or entity's */
    const char *const *attributes; /* BEGIN: name, value, ..., NULL */
    const char *text;              /* TEXT: not NUL-terminated */
    size_t length;
    /* in the source; for the END of an empty element it is empty, at the element's end */
    struct mt_range range;
    /* the element's depth, where the root has 1; for other kinds that of the element around it */
    size_t depth;
    size_t line;
};

/* A status other than MT_OK ends the reading. */
typedef enum mt_status mt_xml_take_event(void *context, const struct mt_xml_event *event,
                                         struct mt_error *err);

struct mt_xml_source {
    const char *bytes;     /* UTF-8 */
    struct mt_range range; /* the part of it that is read */
    bool is_fragment;      /* it need not have a single root element */
    /* HTML's entities are allowed: &nbsp; becomes an MT_XML_ENTITY instead of an error */
    bool knows_entities;
    /* a name in a namespace is reported as the namespace, a blank and the name */
    bool has_namespaces;
    /* begins the message about malformed XML; NULL: nothing is put before it */
    const char *complaint;
};

/* Calls take for everything in the range. MT_FORMAT with line and column: it is malformed, or
 * declares an entity. MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_xml_parse(const struct mt_xml_source *source,
                                          mt_xml_take_event *take, void *context,
                                          struct mt_error *err);

/* Whether the bytes can be the content of an element. */
bool mt_xml_is_content(const char *xml, size_t length, bool knows_entities);

#endif
