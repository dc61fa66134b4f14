/*
 * Catalogues in JSON: strings are messages, keys are not, however deep they lie.
 *
 *   {"menu": {"open": "Open file"}, "days": ["Monday", "Tuesday"]}      i18next, vue-i18n, Angular
 *   {"greeting": {"message": "Hello", "description": "In the menu"}}    Chrome, formatjs, Transifex
 *   {"@@locale": "en", "hello": "Hello", "@hello": {"description": ""}} Flutter's .arb
 *
 * What is said about messages stays, and what a message's value tells of the file itself. A
 * translation is escaped as the file escapes.
 */
#include "base/json.h"
#include "base/json_reader.h"
#include "base/size.h"
#include "server/documents/message.h"

#include <stdlib.h>
#include <string.h>

/* Nested deeper than any catalogue. */
#define MAX_DEPTH 64

/* How the file writes characters that need no escape. */
struct style {
    bool escapes[0x80];  /* of ASCII: as \u003c, or \/ */
    bool escapes_others; /* all that is no ASCII */
};

struct walk {
    struct mt_document *document;
    struct mt_json_reader reader;
    struct mt_text text;
    bool is_arb;
    struct mt_error *err;
};

static enum mt_status read_value(struct walk *walk, size_t depth);

static bool is_among(struct mt_json_span key, const char *const *names)
{
    for (; *names; names++)
        if (mt_json_span_equals(key, *names))
            return true;
    return false;
}

/* "@hello", "@@locale", "$schema", and "" of WordPress' catalogues; at the top what names the
 * language. */
static bool is_left(const struct walk *walk, struct mt_json_span key, size_t depth)
{
    static const char *const languages[] = {"locale", "language", "lang", NULL};
    bool is_marked = key.length == 0 || key.bytes[0] == '@' || key.bytes[0] == '$';
    return is_marked || (!walk->is_arb && depth == 1 && is_among(key, languages));
}

/* The key of the message in an object that has one and else only says something about it; an empty
 * span: it is an object like others. */
static struct mt_json_span find_message(const struct walk *walk)
{
    static const char *const messages[] = {"message", "defaultMessage", "string", NULL};
    static const char *const notes[] = {
        "description", "placeholders", "context", "comment",         "developer_comment",
        "example",     "hash",         "id",      "character_limit", NULL};
    struct mt_json_reader reader = walk->reader;
    struct mt_json_span found = {0};
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span key = mt_json_reader_string(&reader);
        bool is_message = is_among(key, messages) && mt_json_reader_peek(&reader) == '"';
        if ((is_message && found.bytes) || (!is_message && !is_among(key, notes)))
            return (struct mt_json_span){0};
        if (is_message)
            found = key;
        mt_json_reader_skip(&reader);
    }
    return found;
}

static enum mt_status read_object(struct walk *walk, size_t depth)
{
    struct mt_json_span message = find_message(walk);
    enum mt_status status = MT_OK;
    mt_json_reader_enter(&walk->reader);
    while (!status && mt_json_reader_next(&walk->reader)) {
        struct mt_json_span key = mt_json_reader_string(&walk->reader);
        if (message.bytes ? key.bytes == message.bytes : !is_left(walk, key, depth))
            status = read_value(walk, depth);
        else
            mt_json_reader_skip(&walk->reader);
    }
    return status;
}

static enum mt_status read_array(struct walk *walk, size_t depth)
{
    enum mt_status status = MT_OK;
    mt_json_reader_enter(&walk->reader);
    while (!status && mt_json_reader_next(&walk->reader))
        status = read_value(walk, depth);
    return status;
}

/* Looks at how the string is written, and adds it. */
static enum mt_status read_string(struct walk *walk)
{
    struct style *style = walk->document->own;
    struct mt_document_piece *piece;
    struct mt_json_span span = mt_json_reader_string(&walk->reader);
    const char *end = span.bytes + span.length;
    for (const char *at = span.bytes; at < end;) {
        bool is_escaped = at[0] == '\\' && (at[1] == 'u' || at[1] == '/');
        uint32_t c = mt_json_next_code_point(&at);
        if (is_escaped && c >= 0x20 && c < 0x80)
            style->escapes[c] = true;
        mt_text_append_char(&walk->text, c);
    }
    size_t begin = (size_t)(span.bytes - walk->document->bytes);
    mt_text_append(&walk->text, "", 0);
    return mt_message_add(walk->document, (struct mt_range){begin, begin + span.length},
                          &walk->text, &piece, walk->err);
}

/* Recursion is as deep as mt_json_check allows. */
static enum mt_status read_value(struct walk *walk, size_t depth)
{
    switch (mt_json_reader_peek(&walk->reader)) {
    case '{':
        return read_object(walk, depth + 1);
    case '[':
        return read_array(walk, depth + 1);
    case '"':
        return read_string(walk);
    default:
        mt_json_reader_skip(&walk->reader);
        return MT_OK;
    }
}

static enum mt_status read_catalogue(struct mt_document *document, bool is_arb,
                                     struct mt_error *err)
{
    const struct mt_json_limits limits = {.max_depth = MAX_DEPTH,
                                          .max_values = document->length + 1};
    struct walk walk = {.document = document, .is_arb = is_arb, .err = err};
    enum mt_status status =
        mt_json_check(document->bytes, document->length, &limits, "the file", err);
    if (status)
        return status;
    struct style *style = calloc(1, sizeof *style);
    if (!style)
        return mt_fail_memory(err, sizeof *style, "a file");
    document->own = style;
    style->escapes_others =
        mt_message_file_is_ascii(document) && strstr(document->bytes, "\\u") != NULL;
    mt_json_reader_init(&walk.reader, document->bytes, document->length);
    status = read_value(&walk, 0);
    mt_text_finish(&walk.text);
    return status;
}

static enum mt_status read_json(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    return read_catalogue(document, false, err);
}

static enum mt_status read_arb(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    return read_catalogue(document, true, err);
}

static bool write_json(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    static const char letters[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
    const struct style *style = document->own;
    (void)piece;
    for (size_t at = 0; at < length; at += mt_utf8_length((unsigned char)translation[at])) {
        uint32_t c = mt_utf8_decode(translation + at);
        const char *meaning = c < 0x80 ? strchr(meanings, (int)c) : NULL;
        if (meaning)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else if (c == '/' && style->escapes[c])
            mt_text_append_string(out, "\\/");
        else if (c < 0x20 || (c < 0x80 && style->escapes[c]) ||
                 (c >= 0x80 && style->escapes_others))
            mt_message_write_unicode(c, out);
        else
            mt_text_append_char(out, c);
    }
    return true;
}

const struct mt_document_reader mt_document_json_reader = {
    .read_text = mt_read_plain,
    .read = read_json,
    .write = write_json,
    .finish = free,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_arb_reader = {
    .read_text = mt_read_plain,
    .read = read_arb,
    .write = write_json,
    .finish = free,
    .replaces_messages = true,
};
