/*
 * Reading XML by its places: expat says where in the source each tag, text and comment stands, so that
 * what is read can be replaced without writing anything else anew.
 *
 * Refused with their line are what is not well-formed, declarations of entities, and elements nested
 * deeper than MT_XML_MAX_DEPTH. Nothing external is ever opened.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_XML_READER_H
#define MT_SERVER_TEXT_XML_READER_H

#include "base/text.h"
#include "server/text/splitter.h"

/* Elements within elements, attributes of one, and bytes of its name: MT_LIMIT above. */
#define MT_XML_MAX_DEPTH 256
#define MT_XML_MAX_ATTRIBUTES 1000
#define MT_XML_MAX_NAME 1024

enum mt_xml_kind {
    MT_XML_BEGIN,
    MT_XML_END,
    MT_XML_TEXT, /* a piece of one: up to a line feed or an entity, or one of these */
    MT_XML_CDATA_BEGIN,
    MT_XML_CDATA_END,
    MT_XML_ENTITY, /* one that nobody declares: knows_entities below */
    MT_XML_OTHER,  /* a comment or an instruction */
};

struct mt_xml_event {
    enum mt_xml_kind kind;
    const char *name;              /* of an element or entity */
    const char *const *attributes; /* BEGIN: name, value, ..., NULL */
    const char *text;              /* TEXT, with its length; not NUL-terminated */
    size_t length;
    struct mt_range range; /* of the source. END of an empty element: its end, empty */
    size_t depth;          /* of the element: 1 the root; else of what it stands in */
    size_t line;
};

/* Ends the reading unless it returns MT_OK. */
typedef enum mt_status mt_xml_take_event(void *context, const struct mt_xml_event *event,
                                         struct mt_error *err);

struct mt_xml_source {
    const char *bytes;     /* UTF-8 */
    struct mt_range range; /* of it that are read */
    bool is_fragment;      /* need not have one element around all */
    bool knows_entities;   /* as HTML's: &nbsp; is an MT_XML_ENTITY, not an error */
    bool has_namespaces;   /* names are the namespace, a blank and the name, or the name */
    const char *complaint; /* begins the message of what is not well-formed; NULL: nothing */
};

/* MT_FORMAT with line and column: not well-formed, or a declaration of an entity. MT_LIMIT; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_xml_parse(const struct mt_xml_source *source,
                                          mt_xml_take_event *take, void *context,
                                          struct mt_error *err);

/* Whether this can be the content of an element. */
bool mt_xml_is_content(const char *xml, size_t length, bool knows_entities);

#endif
