/*
 * Catalogues in YAML (Rails, Symfony, Hugo, ...): scalars are messages, keys are not. libyaml tells
 * where each begins and ends, in characters. A translation is written in its scalar's style, or in
 * double quotation marks where that style cannot represent it:
 *
 *   en:                          stays: a key
 *     title: Open file           plain      -> Datei öffnen       or "Datei: öffnen"
 *     hint: 'It''s "new"'        single     -> 'Es ist "neu"'
 *     count: "%{n} files\n"      double
 *     help: |-                   literal: as many lines
 *       First line.
 *       Second line.
 *     about: >                   folded: wrapped again, as wide as it was
 *       A long line that was
 *       wrapped.
 *
 * Numbers, booleans, dates, symbols (:day), aliases and nodes with explicit tags stay, and so does
 * the "id" of a sequence's items, as go-i18n has them.
 */
#include "server/documents/yaml_messages.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/documents/message.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

/* Deepest nesting, which no catalogue reaches. */
#define MAX_DEPTH 64
/* Least width for wrapping folded lines. */
#define MIN_WIDTH 40

/* The n of a piece: its style in the lowest bits, and flags. */
#define STYLE 7u
#define IS_FLOW 8u
#define ESCAPES 16u /* characters outside of ASCII, in double quotation marks */
/* The first of a piece, for block scalars: columns of indentation in the lowest bits, and above
 * them the width of its longest line, or 0 if it has only one. */
#define INDENT_BITS 16

struct level {
    bool is_mapping, is_flow;
    bool has_key; /* the next node is a value */
    bool is_left; /* it is a key, or within a key */
    bool is_item; /* an item of a sequence */
    bool is_id;   /* the key is "id", and its value comes next */
    bool is_wanted;
};

struct reader {
    struct mt_document *document;
    struct mt_range range;
    mt_yaml_messages_are_wanted *is_wanted; /* NULL: the values of all keys are */
    bool escapes;
    yaml_parser_t parser;
    struct level levels[MAX_DEPTH + 1];
    size_t depth;
    size_t n_chars, at; /* characters read so far, and their bytes */
    struct mt_text text;
    struct mt_error *err;
};

/* ---- reading ---- */

static enum mt_status fail_parser(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "this is no YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        return mt_fail_memory(reader->err, 0, "a file");
    if (parser->error == YAML_READER_ERROR)
        return mt_message_fail(reader->document, reader->range.begin + parser->problem_offset,
                               reader->err, "holds a character that YAML does not allow");
    return mt_fail(reader->err, MT_FORMAT, "line %zu: expected YAML: %s%s%s",
                   parser->problem_mark.line + 1, parser->context ? parser->context : "",
                   parser->context ? ", " : "", problem);
}

/* Returns the byte position of a mark. Marks have to come in ascending order. */
static size_t byte_of(struct reader *reader, yaml_mark_t mark)
{
    const struct mt_document *document = reader->document;
    while (reader->n_chars < mark.index && reader->at < reader->range.end) {
        reader->at += mt_char_length(document->bytes + reader->at);
        reader->n_chars++;
    }
    return reader->at;
}

/* Whether a plain scalar is not a string (YAML 1.1, 10.3, and Ruby's symbols). */
static bool is_other_type(const char *value, size_t length)
{
    static const char *const words[] = {"null", "true",  "false", "yes", "no",   "on",
                                        "off",  "y",     "n",     "~",   ".inf", "-.inf",
                                        ".nan", "+.inf", "<<",    "=",   NULL};
    static const char number[] = "0123456789abcdefABCDEFxXoO_.:+-TZ";
    for (size_t i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], value, length) == 0)
            return true;
    if (length > 1 && value[0] == ':' && value[1] != ' ')
        return true;
    size_t digit = strspn(value, "+-.");
    return digit < length && mt_ascii_is_digit(value[digit]) && strspn(value, number) == length;
}

static bool is_string(const yaml_event_t *event)
{
    const char *tag = (const char *)event->data.scalar.tag;
    if (tag)
        return strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0;
    return event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
           !is_other_type((const char *)event->data.scalar.value, event->data.scalar.length);
}

/* Returns the position behind a scalar's anchor and tag, at most `end`. */
static size_t skip_properties(const char *bytes, size_t at, size_t end)
{
    while (at < end && (bytes[at] == '&' || bytes[at] == '!')) {
        at += strcspn(bytes + at, " \t\r\n");
        at += strspn(bytes + at, " \t\r\n");
    }
    return mt_size_min(at, end);
}

static size_t trim_end(const char *bytes, size_t begin, size_t end)
{
    while (end > begin && strchr(" \t\r\n", bytes[end - 1]))
        end--;
    return end;
}

/* Whether a plain scalar has an empty line followed by a tab, which is not allowed in quotation
 * marks. */
static bool has_tab_behind(const char *bytes, size_t end)
{
    size_t n = strspn(bytes + end, " \t\r\n");
    const char *tab = memrchr(bytes + end, '\t', n);
    return tab && strcspn(bytes + end, "\r\n") < (size_t)(tab - bytes) - end;
}

/* Returns where the lines of a block scalar begin. */
static size_t skip_header(const struct mt_document *document, size_t at)
{
    struct mt_document_line line = {.next = at};
    mt_document_next_line(document, &line);
    return line.next;
}

/* Measures a block scalar whose text is in reader->text. Returns false where it has no
 * indentation. */
static bool measure(const struct reader *reader, struct mt_range range, size_t *out)
{
    const struct mt_document *document = reader->document;
    struct mt_document_line line = {.next = skip_header(document, range.begin)};
    const char *text = reader->text.bytes + strspn(reader->text.bytes, "\n");
    size_t indent = 0, width = 0, n_lines = 0;
    while (line.next < range.end && mt_document_next_line(document, &line)) {
        size_t blanks = strspn(document->bytes + line.begin, " ");
        size_t end = mt_size_min(line.end, range.end), n = end - line.begin;
        if (mt_document_is_blank(document, line.begin, end))
            continue;
        if (n_lines++ == 0)
            indent = blanks - mt_size_min(blanks, strspn(text, " "));
        width = mt_size_max(width, mt_utf8_count(document->bytes + line.begin, n));
    }
    *out = (n_lines > 1 ? width : 0) << INDENT_BITS | indent;
    return indent > 0 && indent < (size_t)1 << INDENT_BITS;
}

static enum mt_status add_scalar(struct reader *reader, const yaml_event_t *event, bool is_flow)
{
    const char *bytes = reader->document->bytes;
    size_t begin = byte_of(reader, event->start_mark), end = byte_of(reader, event->end_mark);
    yaml_scalar_style_t style = event->data.scalar.style;
    static const char firsts[] = {[YAML_SINGLE_QUOTED_SCALAR_STYLE] = '\'',
                                  [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = '"',
                                  [YAML_LITERAL_SCALAR_STYLE] = '|',
                                  [YAML_FOLDED_SCALAR_STYLE] = '>'};
    bool is_block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
    struct mt_document_piece *piece;
    begin = skip_properties(bytes, begin, end);
    bool is_found = style == YAML_PLAIN_SCALAR_STYLE ? begin < end && !has_tab_behind(bytes, end)
                                                     : bytes[begin] == firsts[style];
    if (!is_found || !is_string(event))
        return MT_OK;
    mt_text_append(&reader->text, (const char *)event->data.scalar.value,
                   event->data.scalar.length);
    size_t first = 0;
    if (is_block && !reader->text.status) {
        end = trim_end(bytes, begin, end);
        reader->text.length = trim_end(reader->text.bytes, 0, reader->text.length);
        reader->text.bytes[reader->text.length] = '\0';
        if (!measure(reader, (struct mt_range){begin, end}, &first)) {
            reader->text.length = 0;
            return MT_OK;
        }
    }
    enum mt_status status = mt_message_add(reader->document, (struct mt_range){begin, end},
                                           &reader->text, &piece, reader->err);
    if (!status && piece) {
        piece->n = (size_t)style | (is_flow ? IS_FLOW : 0) | (reader->escapes ? ESCAPES : 0);
        piece->first = first;
    }
    return status;
}

/* Begins a node, and returns whether it is not translated, because it is a key or within one. */
static bool take_node(struct level *level)
{
    bool is_left = level->is_left || (level->is_mapping && !level->has_key);
    level->has_key = !level->has_key;
    return is_left;
}

static enum mt_status enter(struct reader *reader, const yaml_event_t *event)
{
    bool is_left = take_node(&reader->levels[reader->depth]);
    if (reader->depth == MAX_DEPTH)
        return mt_fail(reader->err, MT_LIMIT, "line %zu: nested deeper than %d",
                       event->start_mark.line + 1, MAX_DEPTH);
    bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
    bool is_flow = is_mapping ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                              : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    bool is_item = is_mapping && reader->depth > 0 && !reader->levels[reader->depth].is_mapping;
    bool is_wanted = !reader->is_wanted || (!is_mapping && reader->levels[reader->depth].is_wanted);
    reader->levels[++reader->depth] = (struct level){.is_mapping = is_mapping,
                                                     .is_flow = is_flow,
                                                     .is_left = is_left,
                                                     .is_item = is_item,
                                                     .is_wanted = is_wanted};
    return MT_OK;
}

static enum mt_status take_scalar(struct reader *reader, const yaml_event_t *event,
                                  struct level *level)
{
    const char *value = (const char *)event->data.scalar.value;
    bool is_left = take_node(level) || level->is_id || !level->is_wanted;
    bool is_key = level->is_mapping && level->has_key;
    level->is_id = level->is_item && level->has_key && strcmp(value, "id") == 0;
    if (is_key && reader->is_wanted)
        level->is_wanted = reader->is_wanted(value);
    return is_left || is_key ? MT_OK : add_scalar(reader, event, level->is_flow);
}

static enum mt_status take_event(struct reader *reader, const yaml_event_t *event)
{
    struct level *level = &reader->levels[reader->depth];
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(reader, event, level);
    case YAML_ALIAS_EVENT:
        take_node(level);
        return MT_OK;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return enter(reader, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        reader->depth--;
        return MT_OK;
    default:
        return MT_OK;
    }
}

static enum mt_status read_events(struct reader *reader)
{
    enum mt_status status = MT_OK;
    for (bool is_over = false; !is_over && !status;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event))
            return fail_parser(reader);
        is_over = event.type == YAML_STREAM_END_EVENT;
        status = take_event(reader, &event);
        yaml_event_delete(&event);
    }
    return status;
}

enum mt_status mt_yaml_messages_read(struct mt_document *document, struct mt_range range,
                                     mt_yaml_messages_are_wanted *is_wanted, struct mt_error *err)
{
    struct reader reader = {.document = document,
                            .range = range,
                            .is_wanted = is_wanted,
                            .at = range.begin,
                            .err = err};
    reader.levels[0].is_wanted = !is_wanted;
    reader.escapes = mt_message_file_is_ascii(document) && strstr(document->bytes, "\\u") != NULL;
    if (!yaml_parser_initialize(&reader.parser))
        return mt_fail_memory(err, sizeof reader.parser, "a file");
    yaml_parser_set_input_string(&reader.parser,
                                 (const unsigned char *)document->bytes + range.begin,
                                 range.end - range.begin);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    enum mt_status status = read_events(&reader);
    mt_text_finish(&reader.text);
    yaml_parser_delete(&reader.parser);
    return status;
}

static enum mt_status read_yaml(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    const struct mt_range range = {document->begin, document->length};
    return mt_yaml_messages_read(document, range, NULL, err);
}

/* ---- writing ---- */

/* Whether the character is only allowed in double quotation marks, as an escape. */
static bool needs_escape(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0x2028 ||
           c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

static bool has_escapes(const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += mt_char_length(text + at))
        if (needs_escape(mt_utf8_decode(text + at)))
            return true;
    return false;
}

static void write_double(const char *text, size_t length, bool escapes, struct mt_text *out)
{
    static const char letters[] = "\"\\ntr", meanings[] = "\"\\\n\t\r";
    mt_text_append(out, "\"", 1);
    for (size_t at = 0; at < length; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        const char *meaning = c < 0x80 ? strchr(meanings, (int)c) : NULL;
        if (meaning)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else if (c >= 0x10000 && escapes)
            mt_text_appendf(out, "\\U%08x", (unsigned)c);
        else if (needs_escape(c) || (c >= 0x80 && escapes))
            mt_text_appendf(out, "\\u%04x", (unsigned)c);
        else
            mt_text_append_char(out, c);
    }
    mt_text_append(out, "\"", 1);
}

static void write_single(const char *text, size_t length, struct mt_text *out)
{
    mt_text_append(out, "'", 1);
    for (size_t i = 0; i < length; i++) {
        mt_text_append(out, text + i, 1);
        mt_text_append(out, "'", text[i] == '\'');
    }
    mt_text_append(out, "'", 1);
}

/* Whether a line can be a plain scalar. */
static bool is_plain(const char *text, size_t length, bool is_flow)
{
    if (!text || length == 0 || strchr(" \t-?:,[]{}#&*!|>'\"%@`", text[0]) ||
        strchr(" \t:", text[length - 1]) || is_other_type(text, length) ||
        memmem(text, length, ": ", 2) || memmem(text, length, " #", 2) ||
        memmem(text, length, ":\t", 2) || memmem(text, length, "\t#", 2) ||
        strncmp(text, "...", 3) == 0)
        return false;
    return !is_flow || text[strcspn(text, ",[]{}:?")] == '\0';
}

/* Writes the text's lines, each with the indentation. */
static void write_literal(const struct mt_document *document, const char *text, size_t length,
                          size_t indent, struct mt_text *out)
{
    for (size_t at = 0; at < length;) {
        size_t n = strcspn(text + at, "\n");
        size_t n_kept = trim_end(text + at, 0, n) == 0 ? 0 : n;
        if (n_kept > 0)
            mt_text_appendf(out, "%*s", (int)indent, "");
        mt_text_append(out, text + at, n_kept);
        at += n;
        if (at < length)
            mt_text_append_string(out, document->line_end);
        at++;
    }
}

/* Writes the text wrapped to the width. Its own line breaks become two. */
static void write_folded(const struct mt_document *document, const char *text, size_t length,
                         size_t first, struct mt_text *out)
{
    size_t indent = first & (((size_t)1 << INDENT_BITS) - 1), width = first >> INDENT_BITS;
    size_t column = 0;
    width = width ? mt_size_max(width, MIN_WIDTH) : SIZE_MAX;
    for (size_t at = 0; at < length;) {
        size_t n = strcspn(text + at, " \n"), n_breaks = strspn(text + at, "\n");
        if (n_breaks > 0) {
            for (size_t i = 0; i < n_breaks + (column > 0); i++)
                mt_text_append_string(out, document->line_end);
            at += n_breaks;
            column = 0;
            continue;
        }
        size_t n_blanks = strspn(text + at, " ");
        size_t n_word = strcspn(text + at + n_blanks, " \n");
        size_t n_columns = mt_utf8_count(text + at, n_blanks + n_word);
        bool wraps = n == 0 && n_blanks == 1 && n_word > 0 && column > 0 &&
                     column + n_columns > width && text[at + 1] != '\t';
        if (wraps)
            mt_text_append_string(out, document->line_end);
        if (wraps || column == 0)
            mt_text_appendf(out, "%*s", (int)indent, "");
        mt_text_append(out, text + at + wraps, n_blanks + n_word - wraps);
        column = (wraps || column == 0 ? indent : column) + n_columns - wraps;
        at += n_blanks + n_word;
    }
}

/* Whether a line after the first begins with a blank: folding does not join it and those around
 * it. */
static bool has_indented_line(const char *text)
{
    return strchr(" \t", text[0]) || strstr(text, "\n ") || strstr(text, "\n\t");
}

static bool write_block(const struct mt_document *document, const struct mt_document_piece *piece,
                        const char *text, size_t length, struct mt_text *out)
{
    size_t header = piece->range.begin, lines = skip_header(document, header);
    size_t indent = piece->first & (((size_t)1 << INDENT_BITS) - 1);
    bool has_indicator = strspn(document->bytes + header + 1, "+-") <
                         strspn(document->bytes + header + 1, "+-0123456789");
    bool is_literal =
        (piece->n & STYLE) == YAML_LITERAL_SCALAR_STYLE || has_indented_line(piece->text.bytes);
    if (has_escapes(text, length))
        return false;
    struct mt_text trimmed = {0};
    size_t blanks = 0;
    if (!has_indicator || !is_literal) /* the blank would be taken for indentation */
        blanks = strspn(text, " \t\n");
    mt_text_append(&trimmed, text, length);
    trimmed.length = trim_end(trimmed.bytes ? trimmed.bytes : "", 0, trimmed.length);
    bool has_words = !trimmed.status && trimmed.length > blanks;
    if (has_words) {
        trimmed.bytes[trimmed.length] = '\0';
        is_literal = is_literal || has_indented_line(trimmed.bytes + blanks);
        mt_text_append(out, is_literal ? "|" : ">", 1);
        mt_text_append(out, document->bytes + header + 1, lines - header - 1);
        if (is_literal)
            write_literal(document, trimmed.bytes + blanks, trimmed.length - blanks, indent, out);
        else
            write_folded(document, trimmed.bytes + blanks, trimmed.length - blanks, piece->first,
                         out);
    }
    if (trimmed.status)
        out->status = trimmed.status;
    mt_text_finish(&trimmed);
    return has_words;
}

bool mt_yaml_messages_write(const struct mt_document *document,
                            const struct mt_document_piece *piece, const char *translation,
                            size_t length, struct mt_text *out)
{
    bool is_line = !memchr(translation, '\n', length) && !memchr(translation, '\t', length) &&
                   !has_escapes(translation, length);
    switch (piece->n & STYLE) {
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        return write_block(document, piece, translation, length, out);
    case YAML_PLAIN_SCALAR_STYLE:
        if (is_line && is_plain(translation, length, piece->n & IS_FLOW))
            mt_text_append(out, translation, length);
        else
            write_double(translation, length, piece->n & ESCAPES, out);
        return true;
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        if (is_line)
            write_single(translation, length, out);
        else
            write_double(translation, length, piece->n & ESCAPES, out);
        return true;
    default:
        write_double(translation, length, piece->n & ESCAPES, out);
        return true;
    }
}

const struct mt_document_reader mt_document_yaml_reader = {
    .read_text = mt_read_plain,
    .read = read_yaml,
    .write = mt_yaml_messages_write,
    .replaces_messages = true,
};
