#include "server/text/xml/xml_reader.h"

#include "base/size.h"

#include <limits.h>
#include <string.h>

#include <expat.h>

/* expat 2.9 warns about the names without 64, and Debian 12's does not have the others. */
#if 100 * XML_MAJOR_VERSION + XML_MINOR_VERSION < 209
#define XML_GetCurrentByteIndex64 XML_GetCurrentByteIndex
#define XML_GetCurrentByteCount64 XML_GetCurrentByteCount
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#endif

/* A root for fragments, which have none. */
static const char root_open[] = "<r>", root_close[] = "</r>";

struct reader {
    XML_Parser parser;
    const struct mt_xml_source *source;
    mt_xml_take_event *take;
    void *context;
    size_t depth;
    size_t n_root;        /* bytes that expat was given before the source */
    size_t line, counted; /* number of lines before byte `counted`, if all lines end in LF */
    /* there are CRs, so that expat is asked for the line, which takes longer */
    bool has_returns;
    struct mt_error *err;
    enum mt_status status;
};

static size_t place(const struct reader *reader)
{
    size_t at = (size_t)XML_GetCurrentByteIndex64(reader->parser);
    at = mt_size_max(at, reader->n_root) - reader->n_root + reader->source->range.begin;
    return mt_size_min(at, reader->source->range.end);
}

static enum mt_status fail_form(const struct reader *reader, const char *reason)
{
    const struct mt_xml_source *source = reader->source;
    size_t line = 1, column = 1, end = place(reader);
    bool complains = source->complaint != NULL;
    for (size_t i = source->range.begin; i < end; i++) {
        bool is_end = source->bytes[i] == '\n';
        line += is_end;
        column = is_end ? 1 : column + (((unsigned char)source->bytes[i] & 0xC0) != 0x80);
    }
    return mt_fail(reader->err, MT_FORMAT, "%s%s %zu, column %zu: %s%s",
                   complains ? source->complaint : "", complains ? "Line" : "line", line, column,
                   complains ? "" : "expected XML: ", reason);
}

static void stop(struct reader *reader, enum mt_status status)
{
    reader->status = status;
    (void)XML_StopParser(reader->parser, XML_FALSE);
}

static size_t line_of(struct reader *reader, size_t begin)
{
    const char *bytes = reader->source->bytes, *at = bytes + reader->counted;
    if (reader->has_returns)
        return XML_GetCurrentLineNumber64(reader->parser);
    if (begin <= reader->counted)
        return reader->line;
    while ((at = memchr(at, '\n', (size_t)(bytes + begin - at)))) {
        reader->line++;
        at++;
    }
    reader->counted = begin;
    return reader->line;
}

static void hand_over(struct reader *reader, struct mt_xml_event *event)
{
    if (reader->status)
        return;
    size_t begin = place(reader);
    event->range =
        (struct mt_range){begin, begin + (size_t)XML_GetCurrentByteCount64(reader->parser)};
    event->depth = reader->depth;
    event->line = line_of(reader, begin);
    enum mt_status status = reader->take(reader->context, event, reader->err);
    if (status)
        stop(reader, status);
}

static enum mt_status check_element(const struct reader *reader, const char *name)
{
    size_t n_attributes = (size_t)XML_GetSpecifiedAttributeCount(reader->parser) / 2;
    bool is_well = reader->depth <= MT_XML_MAX_DEPTH && n_attributes <= MT_XML_MAX_ATTRIBUTES &&
                   strnlen(name, MT_XML_MAX_NAME + 1) <= MT_XML_MAX_NAME;
    if (is_well)
        return MT_OK;
    unsigned long line = XML_GetCurrentLineNumber64(reader->parser);
    if (reader->depth > MT_XML_MAX_DEPTH)
        return mt_fail(reader->err, MT_LIMIT, "line %lu: elements are nested deeper than %d", line,
                       MT_XML_MAX_DEPTH);
    if (n_attributes > MT_XML_MAX_ATTRIBUTES)
        return mt_fail(reader->err, MT_LIMIT,
                       "line %lu: <%.40s> has %zu attributes, expected %d at most", line, name,
                       n_attributes, MT_XML_MAX_ATTRIBUTES);
    return mt_fail(reader->err, MT_LIMIT,
                   "line %lu: an element's name has %zu bytes, expected %d at most", line,
                   strlen(name), MT_XML_MAX_NAME);
}

static void XMLCALL on_begin(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *reader = context;
    if (reader->status)
        return;
    reader->depth++;
    enum mt_status status = check_element(reader, name);
    if (status) {
        stop(reader, status);
        return;
    }
    hand_over(reader, &(struct mt_xml_event){.kind = MT_XML_BEGIN,
                                             .name = name,
                                             .attributes = (const char *const *)attributes});
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct reader *reader = context;
    if (reader->depth == 0 && !reader->status) /* this would close the added root */
        stop(reader, fail_form(reader, "mismatched tag"));
    hand_over(reader, &(struct mt_xml_event){.kind = MT_XML_END, .name = name});
    reader->depth -= reader->depth > 0;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int n)
{
    hand_over(context,
              &(struct mt_xml_event){.kind = MT_XML_TEXT, .text = text, .length = (size_t)n});
}

static void XMLCALL on_comment(void *context, const XML_Char *text)
{
    (void)text;
    hand_over(context, &(struct mt_xml_event){.kind = MT_XML_OTHER});
}

static void XMLCALL on_instruction(void *context, const XML_Char *target, const XML_Char *data)
{
    (void)target, (void)data;
    hand_over(context, &(struct mt_xml_event){.kind = MT_XML_OTHER});
}

static void XMLCALL on_cdata_begin(void *context)
{
    hand_over(context, &(struct mt_xml_event){.kind = MT_XML_CDATA_BEGIN});
}

static void XMLCALL on_cdata_end(void *context)
{
    hand_over(context, &(struct mt_xml_event){.kind = MT_XML_CDATA_END});
}

static void XMLCALL on_skipped(void *context, const XML_Char *name, int is_parameter)
{
    if (!is_parameter)
        hand_over(context, &(struct mt_xml_event){.kind = MT_XML_ENTITY, .name = name});
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
                         (unsigned long)XML_GetCurrentLineNumber64(reader->parser), name));
}

/* External declarations are taken as empty. expat needs this handler so that unknown entities are
 * no errors. */
static int XMLCALL read_nothing(XML_Parser parser, const XML_Char *context, const XML_Char *base,
                                const XML_Char *system_id, const XML_Char *public_id)
{
    (void)base, (void)system_id, (void)public_id;
    XML_Parser nothing = XML_ExternalEntityParserCreate(parser, context, NULL);
    int is_good = nothing && XML_Parse(nothing, "", 0, XML_TRUE) == XML_STATUS_OK;
    if (nothing)
        XML_ParserFree(nothing);
    return is_good;
}

static XML_Parser create(const struct mt_xml_source *source)
{
    XML_Parser parser =
        source->has_namespaces ? XML_ParserCreateNS("UTF-8", ' ') : XML_ParserCreate("UTF-8");
    if (parser && source->knows_entities) {
        (void)XML_UseForeignDTD(parser, XML_TRUE);
        (void)XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS);
        XML_SetExternalEntityRefHandler(parser, read_nothing);
    }
    return parser;
}

static void set_handlers(XML_Parser parser)
{
    XML_SetElementHandler(parser, on_begin, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetCommentHandler(parser, on_comment);
    XML_SetProcessingInstructionHandler(parser, on_instruction);
    XML_SetCdataSectionHandler(parser, on_cdata_begin, on_cdata_end);
    XML_SetSkippedEntityHandler(parser, on_skipped);
    XML_SetEntityDeclHandler(parser, refuse_entity);
}

static bool give(XML_Parser parser, const char *xml, size_t length, bool is_last)
{
    return XML_Parse(parser, xml, (int)length, is_last) == XML_STATUS_OK;
}

static bool read_source(struct reader *reader)
{
    const struct mt_xml_source *source = reader->source;
    XML_Parser parser = reader->parser;
    const char *xml = source->bytes + source->range.begin;
    size_t length = source->range.end - source->range.begin;
    XML_SetUserData(parser, reader);
    if (!source->is_fragment) {
        set_handlers(parser);
        return give(parser, xml, length, true);
    }
    reader->n_root = strlen(root_open);
    bool is_good = give(parser, root_open, reader->n_root, false);
    set_handlers(parser);
    is_good = is_good && give(parser, xml, length, false);
    XML_SetElementHandler(parser, NULL, NULL);
    return is_good && give(parser, root_close, strlen(root_close), true);
}

enum mt_status mt_xml_parse(const struct mt_xml_source *source, mt_xml_take_event *take,
                            void *context, struct mt_error *err)
{
    const struct mt_range range = source->range;
    size_t length = range.end - range.begin;
    struct reader reader = {
        .source = source,
        .take = take,
        .context = context,
        .line = 1,
        .counted = range.begin,
        .has_returns = length > 0 && memchr(source->bytes + range.begin, '\r', length),
        .err = err,
    };
    if (length > INT_MAX)
        return mt_fail(err, MT_LIMIT, "the XML has %zu bytes, expected %d at most", length,
                       INT_MAX);
    reader.parser = create(source);
    if (!reader.parser)
        return mt_fail_memory(err, 0, "XML");
    bool is_good = read_source(&reader);
    enum XML_Error error = XML_GetErrorCode(reader.parser);
    if (!reader.status && !is_good)
        reader.status = error == XML_ERROR_NO_MEMORY ? mt_fail_memory(err, length, "XML")
                                                     : fail_form(&reader, XML_ErrorString(error));
    XML_ParserFree(reader.parser);
    return reader.status;
}

static enum mt_status ignore(void *context, const struct mt_xml_event *event, struct mt_error *err)
{
    (void)context, (void)event, (void)err;
    return MT_OK;
}

bool mt_xml_is_content(const char *xml, size_t length, bool knows_entities)
{
    struct mt_error err;
    const struct mt_xml_source source = {
        .bytes = xml, .range = {0, length}, .is_fragment = true, .knows_entities = knows_entities};
    return mt_xml_parse(&source, ignore, NULL, &err) == MT_OK;
}
