#include "server/documents/tmx.h"

#include "base/size.h"
#include "base/text.h"
#include "server/documents/xml_elements.h"
#include "server/documents/xml_words.h"
#include "server/text/codes/numbered.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Most languages of one text. */
#define MAX_VARIANTS 64
#define LANGUAGE_BYTES 40
#define ORIGIN_BYTES 128

#define ROOT_DEPTH 1
#define UNIT_DEPTH 3
#define VARIANT_DEPTH 4
#define SEGMENT_DEPTH 5

/* A text in one language. */
struct variant {
    char language[LANGUAGE_BYTES], origin[ORIGIN_BYTES];
    int64_t changed_ms;
    struct mt_range content;
};

struct reader {
    struct mt_document document; /* the file as UTF-8 */
    char source_lang[LANGUAGE_BYTES];
    mt_tmx_visit *visit;
    void *context;
    size_t n_left;
    /* The rest describes the open unit. */
    bool is_open, is_context; /* the prop with the text before the unit is open */
    struct variant of_unit;   /* what the unit's own attributes say */
    struct variant variants[MAX_VARIANTS];
    size_t n_variants, content_begin;
    struct mt_text before; /* the text before it, as the file has it */
};

/* ---- reading ---- */

static bool is_same_language(const char *a, const char *b)
{
    size_t n = strcspn(a, "-_");
    return n == strcspn(b, "-_") && strncasecmp(a, b, n) == 0;
}

/* Reads "20261128T120000Z"; 0: it is not such a time. */
static int64_t read_time(const char *text)
{
    struct tm tm = {0};
    int n = 0;
    bool is_time = text &&
                   sscanf(text, "%4d%2d%2dT%2d%2d%2dZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                          &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) == 6 &&
                   n == 16 && text[n] == '\0';
    if (!is_time || tm.tm_year < 1970)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm) * 1000;
}

/* Reads the attributes of a tu or a tuv. */
static struct variant read_variant(const struct mt_xml_tag *tag, const struct variant *otherwise)
{
    const char *language = mt_xml_attribute(tag, "xml:lang");
    const char *origin = mt_xml_attribute(tag, "changeid");
    struct variant variant = {.changed_ms = read_time(mt_xml_attribute(tag, "changedate"))};
    if (!language)
        language = mt_xml_attribute(tag, "lang");
    if (!origin)
        origin = mt_xml_attribute(tag, "creationid");
    if (!variant.changed_ms)
        variant.changed_ms = read_time(mt_xml_attribute(tag, "creationdate"));
    if (!variant.changed_ms)
        variant.changed_ms = otherwise->changed_ms;
    snprintf(variant.language, sizeof variant.language, "%s", language ? language : "");
    snprintf(variant.origin, sizeof variant.origin, "%s", origin ? origin : otherwise->origin);
    variant.origin[mt_utf8_valid_prefix(variant.origin, strlen(variant.origin))] = '\0';
    return variant;
}

static bool is_context(const struct mt_xml_tag *tag)
{
    return mt_xml_has(tag, "type", "x-context-pre") || mt_xml_has(tag, "type", "prev");
}

static enum mt_status begin_tag(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    if (tag->depth == ROOT_DEPTH && strcmp(tag->name, "tmx") != 0)
        return mt_fail(err, MT_FORMAT, "line %zu: the file begins with <%.40s>, expected <tmx>",
                       tag->line, tag->name);
    if (strcmp(tag->name, "header") == 0 && reader->source_lang[0] == '\0') {
        const char *source = mt_xml_attribute(tag, "srclang");
        snprintf(reader->source_lang, sizeof reader->source_lang, "%s", source ? source : "");
    }
    if (tag->depth == UNIT_DEPTH && strcmp(tag->name, "tu") == 0) {
        static const struct variant none = {.origin = ""};
        reader->is_open = true;
        reader->n_variants = 0;
        reader->before.length = 0;
        mt_text_append(&reader->before, "", 0);
        reader->of_unit = read_variant(tag, &none);
    }
    if (!reader->is_open)
        return MT_OK;
    if (tag->depth == VARIANT_DEPTH && strcmp(tag->name, "tuv") == 0) {
        if (reader->n_variants == MAX_VARIANTS)
            return mt_fail(err, MT_FORMAT, "line %zu: a unit has more than %d languages", tag->line,
                           MAX_VARIANTS);
        reader->variants[reader->n_variants++] = read_variant(tag, &reader->of_unit);
    }
    reader->is_context =
        tag->depth == VARIANT_DEPTH && strcmp(tag->name, "prop") == 0 && is_context(tag);
    if (reader->is_context || tag->depth == SEGMENT_DEPTH)
        reader->content_begin = tag->range.end;
    return MT_OK;
}

/* Reads a segment's content as words and codes. out->n is 0 where it is empty, and may be more than
 * 1. out borrows from content. */
static enum mt_status read_words(const struct reader *reader, const struct variant *variant,
                                 struct mt_text *content, struct mt_coded *out,
                                 struct mt_error *err)
{
    const struct mt_coded_options options = {.max_tags = MT_XML_MAX_CODES};
    struct mt_range range = variant->content;
    mt_text_append(content, reader->document.bytes + range.begin, range.end - range.begin);
    enum mt_status status = mt_text_check(content, "a text", err);
    if (!status && range.begin < range.end)
        status = mt_read_xml_words(content->bytes, content->length, &options, out, err);
    return status;
}

/* Calls visit with the translation of a source that has been read. */
static enum mt_status visit_target(struct reader *reader, const struct variant *from,
                                   const struct mt_coded *source, const struct variant *to,
                                   struct mt_error *err)
{
    struct mt_text content = {0}, numbered = {0}, translated = {0}, before = {0};
    struct mt_coded target = {0};
    enum mt_status status = read_words(reader, to, &content, &target, err);
    if (!status && target.n == 1) {
        /* Codes at the ends that belong to no word are not part of a text. */
        struct mt_numbered_stretch a = mt_numbered_whole(source, &source->segments[0]);
        struct mt_numbered_stretch b = mt_numbered_whole(&target, &target.segments[0]);
        struct mt_numbered_ends ends = MT_NUMBERED_ALL_ENDS;
        mt_numbered_trim(&a, &ends);
        mt_numbered_trim(&b, &ends);
        mt_xml_unescape(reader->before.bytes, reader->before.length, &before);
        mt_text_append(&before, "", 0);
        bool is_good = mt_numbered_write(&a, NULL, &numbered) &&
                       mt_numbered_write(&b, &a, &translated) && numbered.length > 0 &&
                       translated.length > 0;
        if (numbered.status || translated.status || before.status)
            status = mt_fail_memory(err, content.length, "a unit");
        const struct mt_tmx_unit unit = {.source = numbered.bytes,
                                         .target = translated.bytes,
                                         .source_lang = from->language,
                                         .target_lang = to->language,
                                         .context = before.bytes,
                                         .origin = to->origin,
                                         .changed_ms = to->changed_ms};
        if (!status && is_good)
            status = reader->visit(reader->context, &unit, err);
        reader->n_left += !is_good;
    } else {
        reader->n_left++;
    }
    mt_coded_finish(&target);
    mt_text_finish(&content);
    mt_text_finish(&numbered);
    mt_text_finish(&translated);
    mt_text_finish(&before);
    return status;
}

static enum mt_status end_unit(struct reader *reader, struct mt_error *err)
{
    const struct variant *from = NULL;
    const char *source_lang = reader->source_lang;
    bool is_any = source_lang[0] == '\0' || strcmp(source_lang, "*all*") == 0;
    for (size_t i = 0; i < reader->n_variants && !from; i++)
        if (is_any || is_same_language(reader->variants[i].language, source_lang))
            from = &reader->variants[i];
    struct mt_text content = {0};
    struct mt_coded source = {0};
    enum mt_status status = from ? read_words(reader, from, &content, &source, err) : MT_OK;
    bool is_good = !status && source.n == 1 && reader->n_variants > 1;
    for (size_t i = 0; i < reader->n_variants && is_good && !status; i++) {
        const struct variant *to = &reader->variants[i];
        if (to != from && to->language[0] != '\0' &&
            !is_same_language(to->language, from->language))
            status = visit_target(reader, from, &source, to, err);
    }
    reader->n_left += !status && !is_good;
    reader->is_open = false;
    mt_coded_finish(&source);
    mt_text_finish(&content);
    return status;
}

static enum mt_status end_tag(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    size_t begin = reader->content_begin, end = tag->range.begin;
    if (!reader->is_open)
        return MT_OK;
    if (tag->depth == UNIT_DEPTH)
        return end_unit(reader, err);
    bool has_content = begin < end;
    if (tag->depth == VARIANT_DEPTH && reader->is_context && has_content)
        mt_text_append(&reader->before, reader->document.bytes + begin, end - begin);
    if (tag->depth == SEGMENT_DEPTH && strcmp(tag->name, "seg") == 0 && reader->n_variants > 0 &&
        has_content)
        reader->variants[reader->n_variants - 1].content = (struct mt_range){begin, end};
    if (tag->depth == VARIANT_DEPTH)
        reader->is_context = false;
    return MT_OK;
}

/* Most bytes up to the end of a declaration of the encoding. */
#define HEAD_BYTES 1024

static enum mt_status decode(const char *bytes, size_t length, struct mt_text *out,
                             struct mt_error *err)
{
    char head[HEAD_BYTES + 1];
    size_t n_head = mt_size_min(length, HEAD_BYTES);
    if (n_head > 0)
        memcpy(head, bytes, n_head);
    head[n_head] = '\0';
    struct mt_range declared = mt_xml_find_encoding(head, n_head);
    const struct mt_encoding_question question = {
        .bytes = bytes,
        .length = length,
        .declared = head + declared.begin,
        .declared_length = declared.end - declared.begin,
    };
    struct mt_encoding encoding;
    enum mt_status status = mt_encoding_find(&question, &encoding, err);
    return status ? status : mt_encoding_decode(&encoding, bytes, length, out, err);
}

enum mt_status mt_tmx_read(const char *bytes, size_t length, const char *source_lang,
                           mt_tmx_visit *visit, void *context, size_t *n_left, struct mt_error *err)
{
    struct mt_text text = {0};
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return mt_fail_memory(err, sizeof *reader, "a file");
    reader->visit = visit;
    reader->context = context;
    snprintf(reader->source_lang, sizeof reader->source_lang, "%s", source_lang);
    enum mt_status status = decode(bytes, length, &text, err);
    reader->document.bytes = text.bytes;
    reader->document.length = text.length;
    if (!status)
        status = mt_xml_read(&reader->document, begin_tag, end_tag, reader, err);
    *n_left = reader->n_left;
    mt_text_finish(&text);
    mt_text_finish(&reader->before);
    free(reader);
    return status;
}

/* ---- writing ---- */

static void append_mark(struct mt_text *out, const struct mt_numbered_mark *mark)
{
    size_t n = mark->number + 1;
    if (mark->kind == MT_NUMBERED_OPEN)
        mt_text_appendf(out, "<bpt i=\"%zu\" x=\"%zu\"/>", n, n);
    else if (mark->kind == MT_NUMBERED_CLOSE)
        mt_text_appendf(out, "<ept i=\"%zu\"/>", n);
    else
        mt_text_appendf(out, "<ph x=\"%zu\"/>", n);
}

static void append_numbered(struct mt_text *out, const char *text)
{
    size_t length = strlen(text), from = 0;
    struct mt_numbered_mark mark;
    for (size_t at = 0; at < length;) {
        if (!mt_numbered_mark_at(text + at, length - at, &mark)) {
            at++;
            continue;
        }
        mt_xml_append_words(out, text + from, at - from);
        append_mark(out, &mark);
        from = at += mark.length;
    }
    mt_xml_append_words(out, text + from, length - from);
}

void mt_tmx_begin(struct mt_text *out, const char *source_lang)
{
    mt_text_append_string(out,
                          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\">\n"
                          "<header creationtool=\"attentiond\" creationtoolversion=\"" MT_VERSION
                          "\" segtype=\"sentence\" o-tmf=\"attentiond\" adminlang=\"en\" "
                          "datatype=\"plaintext\"");
    mt_xml_append_attribute(out, "srclang", source_lang);
    mt_text_append_string(out, "/>\n<body>\n");
}

void mt_tmx_append(struct mt_text *out, const struct mt_tmx_unit *unit)
{
    struct tm tm;
    char changed[40];
    time_t seconds = (time_t)(unit->changed_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(changed, sizeof changed, "%Y%m%dT%H%M%SZ", &tm);
    mt_text_append_string(out, "<tu>");
    if (unit->context[0] != '\0') {
        mt_text_append_string(out, "<prop type=\"x-context-pre\">");
        mt_xml_append_words(out, unit->context, strlen(unit->context));
        mt_text_append_string(out, "</prop>");
    }
    mt_text_append_string(out, "<tuv");
    mt_xml_append_attribute(out, "xml:lang", unit->source_lang);
    mt_text_append_string(out, "><seg>");
    append_numbered(out, unit->source);
    mt_text_append_string(out, "</seg></tuv><tuv");
    mt_xml_append_attribute(out, "xml:lang", unit->target_lang);
    mt_xml_append_attribute(out, "changedate", changed);
    if (unit->origin[0] != '\0')
        mt_xml_append_attribute(out, "changeid", unit->origin);
    mt_text_append_string(out, "><seg>");
    append_numbered(out, unit->target);
    mt_text_append_string(out, "</seg></tuv></tu>\n");
}

void mt_tmx_end(struct mt_text *out)
{
    mt_text_append_string(out, "</body>\n</tmx>\n");
}
