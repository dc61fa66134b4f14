#include "server/documents/xml_elements.h"

#include <limits.h>
#include <string.h>

#include <expat.h>

struct reader {
    XML_Parser parser;
    const struct mt_document *document;
    mt_xml_take *begin, *end;
    void *context;
    size_t depth;
    size_t line, counted; /* of what ends in LF: lines before that byte */
    bool has_returns;     /* so that expat is asked, which takes longer */
    struct mt_error *err;
    enum mt_status status;
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

static size_t line_of(struct reader *reader, size_t begin)
{
    const char *bytes = reader->document->bytes, *at = bytes + reader->counted;
    if (reader->has_returns)
        return XML_GetCurrentLineNumber(reader->parser);
    while ((at = memchr(at, '\n', (size_t)(bytes + begin - at)))) {
        reader->line++;
        at++;
    }
    reader->counted = begin;
    return reader->line;
}

static struct mt_xml_tag tag_of(struct reader *reader, const char *name)
{
    size_t begin = reader->document->begin + (size_t)XML_GetCurrentByteIndex(reader->parser);
    size_t n = (size_t)XML_GetCurrentByteCount(reader->parser);
    return (struct mt_xml_tag){.name = without_prefix(name),
                               .range = {begin, begin + n},
                               .depth = reader->depth,
                               .line = line_of(reader, begin)};
}

static void stop(struct reader *reader, enum mt_status status)
{
    reader->status = status;
    (void)XML_StopParser(reader->parser, XML_FALSE);
}

static enum mt_status check_tag(const struct reader *reader, const struct mt_xml_tag *tag,
                                const char *name)
{
    size_t n_attributes = (size_t)XML_GetSpecifiedAttributeCount(reader->parser) / 2;
    if (reader->depth > MT_XML_MAX_DEPTH)
        return mt_fail(reader->err, MT_LIMIT, "line %zu: elements are nested deeper than %d",
                       tag->line, MT_XML_MAX_DEPTH);
    if (n_attributes > MT_XML_MAX_ATTRIBUTES)
        return mt_fail(reader->err, MT_LIMIT,
                       "line %zu: <%.40s> has %zu attributes, expected %d at most", tag->line,
                       tag->name, n_attributes, MT_XML_MAX_ATTRIBUTES);
    if (strlen(name) > MT_XML_MAX_NAME)
        return mt_fail(reader->err, MT_LIMIT,
                       "line %zu: an element's name has %zu bytes, expected %d at most", tag->line,
                       strlen(name), MT_XML_MAX_NAME);
    return MT_OK;
}

static void XMLCALL take_begin(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *reader = context;
    reader->depth++;
    struct mt_xml_tag tag = tag_of(reader, name);
    tag.attributes = (const char *const *)attributes;
    enum mt_status status = check_tag(reader, &tag, name);
    if (!status)
        status = reader->begin(reader->context, &tag, reader->err);
    if (status)
        stop(reader, status);
}

static void XMLCALL take_end(void *context, const XML_Char *name)
{
    struct reader *reader = context;
    const struct mt_xml_tag tag = tag_of(reader, name);
    enum mt_status status = reader->status;
    if (!status)
        status = reader->end(reader->context, &tag, reader->err);
    reader->depth--;
    if (status)
        stop(reader, status);
}

static void XMLCALL refuse_entity(void *context, const XML_Char *name, int is_parameter,
                                  const XML_Char *value, int length, const XML_Char *base,
                                  const XML_Char *system_id, const XML_Char *public_id,
                                  const XML_Char *notation)
{
    struct reader *reader = context;
    (void)is_parameter, (void)value, (void)length, (void)base;
    (void)system_id, (void)public_id, (void)notation;
    stop(reader, mt_fail(reader->err, MT_FORMAT,
                         "line %lu: an entity is declared (%.40s), which is not read: expected the "
                         "text itself where it is used",
                         (unsigned long)XML_GetCurrentLineNumber(reader->parser), name));
}

enum mt_status mt_xml_read(const struct mt_document *document, mt_xml_take *begin, mt_xml_take *end,
                           void *context, struct mt_error *err)
{
    struct reader reader = {
        .document = document, .begin = begin, .end = end, .context = context, .err = err};
    reader.line = 1;
    reader.counted = document->begin;
    size_t length = document->length - document->begin;
    if (length > INT_MAX)
        return mt_fail(err, MT_LIMIT, "the file has %zu bytes, expected %d at most", length,
                       INT_MAX);
    reader.has_returns = memchr(document->bytes + document->begin, '\r', length);
    reader.parser = XML_ParserCreate("UTF-8");
    if (!reader.parser)
        return mt_fail_memory(err, 0, "a file");
    XML_SetUserData(reader.parser, &reader);
    XML_SetElementHandler(reader.parser, take_begin, take_end);
    XML_SetEntityDeclHandler(reader.parser, refuse_entity);
    enum XML_Status parsed =
        XML_Parse(reader.parser, document->bytes + document->begin, (int)length, XML_TRUE);
    enum mt_status status = reader.status;
    if (!status && parsed != XML_STATUS_OK &&
        XML_GetErrorCode(reader.parser) == XML_ERROR_NO_MEMORY)
        status = mt_fail_memory(err, length, "a file");
    else if (!status && parsed != XML_STATUS_OK)
        status = mt_fail(err, MT_FORMAT, "line %lu, column %lu: expected XML: %s",
                         (unsigned long)XML_GetCurrentLineNumber(reader.parser),
                         (unsigned long)XML_GetCurrentColumnNumber(reader.parser) + 1,
                         XML_ErrorString(XML_GetErrorCode(reader.parser)));
    XML_ParserFree(reader.parser);
    return status;
}

bool mt_xml_is_content(const char *xml, size_t length)
{
    XML_Parser parser = length < INT_MAX ? XML_ParserCreate("UTF-8") : NULL;
    bool is_content = parser && XML_Parse(parser, "<x>", 3, XML_FALSE) == XML_STATUS_OK &&
                      XML_Parse(parser, xml, (int)length, XML_FALSE) == XML_STATUS_OK &&
                      XML_Parse(parser, "</x>", 4, XML_TRUE) == XML_STATUS_OK;
    if (parser)
        XML_ParserFree(parser);
    return is_content;
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
