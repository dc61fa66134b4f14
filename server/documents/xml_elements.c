#include "server/documents/xml_elements.h"

#include <string.h>

struct reader {
    mt_xml_take *begin, *end;
    void *context;
};

const char *mt_xml_attribute(const struct mt_xml_tag *tag, const char *name)
{
    for (const char *const *at = tag->attributes; at && *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

bool mt_xml_has(const struct mt_xml_tag *tag, const char *name, const char *value)
{
    const char *found = mt_xml_attribute(tag, name);
    return found && strcmp(found, value) == 0;
}

static const char *without_prefix(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static enum mt_status take(void *context, const struct mt_xml_event *event, struct mt_error *err)
{
    const struct reader *reader = context;
    if (event->kind != MT_XML_BEGIN && event->kind != MT_XML_END)
        return MT_OK;
    const struct mt_xml_tag tag = {.name = without_prefix(event->name),
                                   .attributes = event->attributes,
                                   .range = event->range,
                                   .depth = event->depth,
                                   .line = event->line};
    return (event->kind == MT_XML_BEGIN ? reader->begin : reader->end)(reader->context, &tag, err);
}

enum mt_status mt_xml_read(const struct mt_document *document, mt_xml_take *begin, mt_xml_take *end,
                           void *context, struct mt_error *err)
{
    struct reader reader = {.begin = begin, .end = end, .context = context};
    const struct mt_xml_source source = {.bytes = document->bytes,
                                         .range = {document->begin, document->length}};
    return mt_xml_parse(&source, take, &reader, err);
}

struct mt_range mt_xml_find_attribute(const char *bytes, struct mt_range tag, const char *name)
{
    static const char blanks[] = " \t\r\n";
    size_t n = strlen(name), at = tag.begin;
    at += strcspn(bytes + at, " \t\r\n/>");
    while (at < tag.end) {
        at += strspn(bytes + at, blanks);
        size_t begin = at, end = at + strcspn(bytes + at, " \t\r\n=/>");
        const char *colon = memchr(bytes + begin, ':', end - begin);
        at = end + strspn(bytes + end, blanks);
        if (at >= tag.end || bytes[at] != '=')
            break;
        at++;
        at += strspn(bytes + at, blanks);
        const char *close =
            at < tag.end ? memchr(bytes + at + 1, bytes[at], tag.end - at - 1) : NULL;
        if (!close)
            break;
        if (colon && !strchr(name, ':'))
            begin = (size_t)(colon - bytes) + 1;
        if (end - begin == n && memcmp(bytes + begin, name, n) == 0)
            return (struct mt_range){at + 1, (size_t)(close - bytes)};
        at = (size_t)(close - bytes) + 1;
    }
    return (struct mt_range){0, 0};
}

struct mt_range mt_xml_find_encoding(const char *bytes, size_t length)
{
    static const char begin[] = "<?xml", key[] = "encoding";
    size_t at = mt_utf8_mark_length(bytes, length);
    if (strncmp(bytes + at, begin, strlen(begin)) != 0)
        return (struct mt_range){0};
    const char *end = strstr(bytes + at, "?>");
    const char *name =
        end ? memmem(bytes + at, (size_t)(end - bytes) - at, key, strlen(key)) : NULL;
    if (!name)
        return (struct mt_range){0};
    name += strlen(key);
    name += strspn(name, " \t\r\n=\"'");
    at = (size_t)(name - bytes);
    return (struct mt_range){at, at + strcspn(name, " \t\r\n\"'?")};
}
