/*
 * Java's .properties (java.util.Properties): the values of keys are messages. If a value has
 * several lines, then it is continued after each of its line feeds.
 *
 *   # comment
 *   menu.open = Open \u201ethis\u201c file\n\
 *               or another one
 *
 * In a value with arguments of MessageFormat ({0}) an apostrophe is written twice, unless the file
 * shows that its messages are formatted by something else.
 */
#include "server/documents/message.h"

#include "base/ascii.h"

#include <stdlib.h>
#include <string.h>

struct style {
    /* characters outside of ASCII: files in ISO-8859-1 have to, and it is not known whether this is
     * one */
    bool escapes;
    bool has_pairs, has_lone; /* apostrophes in values with arguments are doubled; are single */
};

/* The indentation of a piece's continued lines is the range [first, first + n >> 1) of the file.
 * The lowest bit of n tells that it is a MessageFormat. */
#define IS_FORMAT 1u

struct reader {
    struct mt_document *document;
    struct mt_text text;
    struct mt_range indent; /* of the value's second line */
    struct mt_error *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r' || c == '\0';
}

/* Returns the position behind a line break that a backslash at text[at] continues, and the blanks
 * behind it; otherwise `at`. */
static size_t skip_break(const char *text, size_t at, struct mt_range *indent)
{
    if (text[at] != '\\' || (text[at + 1] != '\n' && text[at + 1] != '\r'))
        return at;
    size_t next = at + 2;
    next += text[at + 1] == '\r' && text[next] == '\n';
    indent->begin = next;
    while (is_blank(text[next]))
        next++;
    indent->end = next;
    return next;
}

static size_t skip_blanks(const char *text, size_t at)
{
    struct mt_range indent;
    for (size_t next;; at = next) {
        next = is_blank(text[at]) ? at + 1 : skip_break(text, at, &indent);
        if (next == at)
            return at;
    }
}

static size_t skip_key(const char *text, size_t at)
{
    struct mt_range indent;
    while (!is_end(text[at]) && !is_blank(text[at]) && text[at] != '=' && text[at] != ':') {
        size_t next = skip_break(text, at, &indent);
        if (next == at)
            next = at + 1 + (text[at] == '\\' && text[at + 1] != '\0');
        at = next;
    }
    return at;
}

static enum mt_status read_value(struct reader *reader, size_t at, size_t *end)
{
    static const char letters[] = "tnrf", meanings[] = "\t\n\r\f";
    const char *text = reader->document->bytes;
    reader->indent = (struct mt_range){0, 0};
    mt_text_append(&reader->text, "", 0);
    while (!is_end(text[at])) {
        struct mt_range indent;
        size_t next = skip_break(text, at, &indent);
        if (next > at) {
            if (reader->indent.end == 0)
                reader->indent = indent;
        } else if (text[at] != '\\') {
            mt_text_append(&reader->text, text + at, 1);
            next = at + 1;
        } else if (text[at + 1] == 'u') {
            uint32_t c;
            size_t n = mt_message_read_unicode(text, at + 2, &c);
            if (n == 0)
                return mt_message_fail(reader->document, at, reader->err,
                                       "holds a \\u that is no character: expected \\uXXXX");
            mt_text_append_char(&reader->text, c);
            next = at + 2 + n;
        } else {
            const char *letter = text[at + 1] ? strchr(letters, text[at + 1]) : NULL;
            const char *meaning = letter ? &meanings[letter - letters] : &text[at + 1];
            mt_text_append(&reader->text, meaning, *meaning != '\0');
            next = at + 1 + (text[at + 1] != '\0');
        }
        at = next;
    }
    *end = at;
    return MT_OK;
}

/* Whether the text has an argument, which begins with "{0". */
static bool has_argument(const struct mt_text *text)
{
    for (size_t i = 0; i + 1 < text->length; i++)
        if (text->bytes[i] == '{' && mt_ascii_is_digit(text->bytes[i + 1]))
            return true;
    return false;
}

/* Notes whether apostrophes are doubled. Those beside braces quote these, so they do not count. */
static void look_at_apostrophes(const struct mt_text *text, struct style *style)
{
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] != '\'')
            continue;
        bool is_pair = text->bytes[i + 1] == '\'';
        style->has_pairs = style->has_pairs || is_pair;
        style->has_lone = style->has_lone || !is_pair;
        i += is_pair;
    }
}

static enum mt_status read_entry(struct reader *reader, size_t at, size_t *end)
{
    const char *text = reader->document->bytes;
    at = skip_blanks(text, skip_key(text, at));
    if (text[at] == '=' || text[at] == ':')
        at = skip_blanks(text, at + 1);
    struct mt_document_piece *piece = NULL;
    enum mt_status status = read_value(reader, at, end);
    if (!status)
        status = mt_message_add(reader->document, (struct mt_range){at, *end}, &reader->text,
                                &piece, reader->err);
    if (status || !piece)
        return status;
    bool is_format = has_argument(&piece->text);
    piece->first = reader->indent.begin;
    piece->n = (reader->indent.end - reader->indent.begin) << 1 | is_format;
    if (is_format)
        look_at_apostrophes(&piece->text, reader->document->own);
    return MT_OK;
}

static enum mt_status read_entries(struct reader *reader)
{
    const char *text = reader->document->bytes;
    enum mt_status status = MT_OK;
    for (size_t at = reader->document->begin; text[at] && !status;) {
        if (is_blank(text[at]) || is_end(text[at]))
            at++;
        else if (text[at] == '#' || text[at] == '!')
            at += strcspn(text + at, "\r\n");
        else
            status = read_entry(reader, at, &at);
    }
    return status;
}

static bool doubles(const struct style *style)
{
    return style->has_pairs || !style->has_lone;
}

/* Makes one apostrophe of two, because the model sees only one. */
static void join_apostrophes(struct mt_text *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->length; i++) {
        text->bytes[n++] = text->bytes[i];
        i += text->bytes[i] == '\'' && text->bytes[i + 1] == '\'';
    }
    text->bytes[n] = '\0';
    text->length = n;
}

static enum mt_status read_properties(struct mt_document *document,
                                      const struct mt_document_options *options,
                                      struct mt_error *err)
{
    (void)options;
    struct reader reader = {.document = document, .err = err};
    struct style *style = calloc(1, sizeof *style);
    if (!style)
        return mt_fail_memory(err, sizeof *style, "a file");
    document->own = style;
    style->escapes = mt_message_file_is_ascii(document);
    enum mt_status status = read_entries(&reader);
    for (size_t i = 0; i < document->n && !status && doubles(style); i++)
        if (document->pieces[i].n & IS_FORMAT)
            join_apostrophes(&document->pieces[i].text);
    mt_text_finish(&reader.text);
    return status;
}

static bool write_properties(const struct mt_document *document,
                             const struct mt_document_piece *piece, const char *translation,
                             size_t length, struct mt_text *out)
{
    static const char letters[] = "tnrf\\", meanings[] = "\t\n\r\f\\";
    const struct style *style = document->own;
    bool is_first = true, doubles_them = piece->n & IS_FORMAT && doubles(style);
    for (size_t at = 0; at < length; at += mt_char_length(translation + at)) {
        uint32_t c = mt_utf8_decode(translation + at);
        const char *meaning = c < 0x80 ? strchr(meanings, (int)c) : NULL;
        if (meaning)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else if (c == ' ' && is_first)
            mt_text_append_string(out, "\\ ");
        else if (c < 0x20 || c == 0x7F || (c >= 0x80 && style->escapes))
            mt_message_write_unicode(c, out);
        else
            mt_text_append_char(out, c);
        mt_text_append(out, "'", c == '\'' && doubles_them);
        bool goes_on = c == '\n' && piece->first > 0 && at + 1 < length;
        if (goes_on) {
            mt_text_appendf(out, "\\%s", document->line_end);
            mt_text_append(out, document->bytes + piece->first, piece->n >> 1);
        }
        is_first = goes_on;
    }
    return true;
}

const struct mt_document_reader mt_document_properties_reader = {
    .read_text = mt_read_plain,
    .read = read_properties,
    .write = write_properties,
    .finish = free,
    .replaces_messages = true,
};
