/*
 * Plain text. Each line is separate, except in paragraphs that an editor has wrapped. There a line
 * break is only a blank, so that the paragraph is one text, which is wrapped again to the same
 * width.
 */
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/document_state.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Least width of wrapped text. Shorter lines are verses, addresses or lists. */
#define MIN_WIDTH 40

/* Lines that are translated separately are collected in texts of about this size, which have fewer
 * sentences than a text may have, so that a file may have any number of lines. */
#define PIECE_BYTES ((size_t)8 << 10)

/* How one paragraph is wrapped. */
struct wrapping {
    size_t width; /* characters of its longest line */
    /* bytes of the file: the indentation of the first line, and of the others */
    struct mt_range first_indent, indent;
};

struct wrappings {
    struct wrapping *items;
    size_t n, capacity;
};

/* The lines [begin, end) of a paragraph, and the facts about them so far. */
struct paragraph {
    struct mt_range range; /* does not include the last line's end */
    struct wrapping wrapping;
    size_t n_lines;
    bool has_inner_break; /* it is certain that a line continues in the next one */
    bool is_even;         /* all lines but the first have the same indentation */
};

/* ---- recognising ---- */

static size_t n_chars(const struct mt_document *document, size_t begin, size_t end)
{
    return mt_utf8_count(document->bytes + begin, end - begin);
}

/* Returns where the words of a line begin. */
static size_t skip_indent(const struct mt_document *document, const struct mt_document_line *line)
{
    size_t at = line->begin;
    while (at < line->end && (document->bytes[at] == ' ' || document->bytes[at] == '\t'))
        at++;
    return at;
}

static bool ends_sentence(const struct mt_document *document, size_t end)
{
    return strchr(".!?:;", document->bytes[end - 1]) != NULL;
}

static bool is_lower_case(const struct mt_document *document, size_t at)
{
    return u_islower((UChar32)mt_utf8_decode(document->bytes + at));
}

static void begin_paragraph(const struct mt_document *document, const struct mt_document_line *line,
                            struct paragraph *out)
{
    *out = (struct paragraph){
        .range = {line->begin, line->end},
        .wrapping = {.width = n_chars(document, line->begin, line->end),
                     .first_indent = {line->begin, skip_indent(document, line)}},
        .n_lines = 1,
        .is_even = true,
    };
}

static void add_line(const struct mt_document *document, const struct mt_document_line *line,
                     struct paragraph *paragraph)
{
    struct wrapping *wrapping = &paragraph->wrapping;
    struct mt_range indent = {line->begin, skip_indent(document, line)};
    if (paragraph->n_lines == 1)
        wrapping->indent = indent;
    size_t length = wrapping->indent.end - wrapping->indent.begin;
    paragraph->is_even = paragraph->is_even && indent.end - indent.begin == length &&
                         memcmp(document->bytes + indent.begin,
                                document->bytes + wrapping->indent.begin, length) == 0;
    if (!ends_sentence(document, paragraph->range.end) && is_lower_case(document, indent.end))
        paragraph->has_inner_break = true;
    wrapping->width = mt_size_max(wrapping->width, n_chars(document, line->begin, line->end));
    paragraph->range.end = line->end;
    paragraph->n_lines++;
}

/* Whether the line ends as most do: "\r" alone does not, where others end with "\r\n". */
static bool has_usual_end(const struct mt_document *document, const struct mt_document_line *line)
{
    size_t n = strlen(document->line_end);
    return line->next - line->end == n &&
           memcmp(document->bytes + line->end, document->line_end, n) == 0;
}

/* Whether every line is full, so that the next one's first word would not have fitted. Blanks at
 * the ends of lines, two blanks between words, and changing line ends show that the line breaks are
 * intended. */
static bool is_full(const struct mt_document *document, const struct paragraph *paragraph)
{
    const char *bytes = document->bytes;
    size_t width = 0;
    struct mt_document_line line = {.next = paragraph->range.begin};
    for (size_t i = 0; i < paragraph->n_lines && mt_document_next_line(document, &line); i++) {
        size_t word = skip_indent(document, &line), end = word;
        while (end < line.end && bytes[end] != ' ')
            end++;
        if (i > 0 && width + 1 + n_chars(document, word, end) <= paragraph->wrapping.width)
            return false;
        if (bytes[line.end - 1] == ' ' || memchr(bytes + word, '\t', line.end - word) ||
            memmem(bytes + word, line.end - word, "  ", 2))
            return false;
        bool is_last = i + 1 == paragraph->n_lines;
        if (!is_last && !has_usual_end(document, &line))
            return false;
        width = n_chars(document, line.begin, line.end);
    }
    return true;
}

static bool is_wrapped(const struct mt_document *document, const struct paragraph *paragraph)
{
    return paragraph->has_inner_break && paragraph->is_even &&
           paragraph->wrapping.width >= MIN_WIDTH && is_full(document, paragraph);
}

/* ---- reading ---- */

static bool has_words(const struct mt_document *document, struct mt_range range)
{
    for (size_t at = range.begin; at < range.end; at += mt_char_length(document->bytes + at))
        if (u_isalpha((UChar32)mt_utf8_decode(document->bytes + at)))
            return true;
    return false;
}

/* Returns the length of "12." or "3)" at text[at], or 0. */
static size_t match_number(const char *text, size_t at)
{
    size_t n = strspn(text + at, "0123456789");
    return n > 0 && (text[at + n] == '.' || text[at + n] == ')') ? n + 1 : 0;
}

/* Returns the position behind a bullet, a number, or the marks of headings and quotations at the
 * beginning of a line; the line's beginning where there are none. A model would drop or translate
 * them. */
static size_t skip_marker(const struct mt_document *document, const struct mt_document_line *line)
{
    static const char bullet[] = "\xE2\x80\xA2";
    const char *text = document->bytes;
    size_t begin = skip_indent(document, line), at = begin;
    if (strncmp(text + at, bullet, strlen(bullet)) == 0)
        at += strlen(bullet);
    else if (text[at] == '*' || text[at] == '-' || text[at] == '+')
        at++;
    else
        at += strspn(text + at, "#>");
    if (at == begin)
        at += match_number(text, at);
    return at > begin && text[at] == ' ' ? at + 1 : line->begin;
}

static enum mt_status add_range(struct mt_document *document, struct mt_range range,
                                struct mt_error *err)
{
    struct mt_document_piece *piece;
    if (!has_words(document, range))
        return MT_OK;
    enum mt_status status = mt_document_add(document, range, &piece, err);
    if (!status)
        mt_document_append(document, range, &piece->text);
    return status;
}

/* Adds the lines [*from, to) without wrapping, and sets *from to `to`. A text ends where the next
 * line has a marker, and where it gets long. */
static enum mt_status add_lines(struct mt_document *document, size_t *from, size_t to,
                                struct mt_error *err)
{
    struct mt_document_line line = {.next = *from};
    size_t begin = *from;
    enum mt_status status = MT_OK;
    *from = to;
    while (!status && line.next < to && mt_document_next_line(document, &line)) {
        size_t word = skip_marker(document, &line);
        if (word == line.begin && line.begin - begin < PIECE_BYTES)
            continue;
        status = add_range(document, (struct mt_range){begin, line.begin}, err);
        begin = word;
    }
    return status ? status : add_range(document, (struct mt_range){begin, to}, err);
}

static enum mt_status add_wrapped(struct mt_document *document, const struct paragraph *paragraph,
                                  struct mt_error *err)
{
    struct wrappings *wrappings = document->own;
    if (MT_ROOM(&wrappings->items, &wrappings->capacity, wrappings->n + 1, "parts of a file", err))
        return MT_MEMORY;
    wrappings->items[wrappings->n] = paragraph->wrapping;
    struct mt_document_piece *piece;
    enum mt_status status = mt_document_add(document, paragraph->range, &piece, err);
    if (status)
        return status;
    piece->first = wrappings->n++;
    piece->n = 1;
    struct mt_document_line line = {.next = paragraph->range.begin};
    for (size_t i = 0; i < paragraph->n_lines && mt_document_next_line(document, &line); i++) {
        size_t word = skip_indent(document, &line);
        mt_text_append(&piece->text, " ", i > 0);
        mt_text_append(&piece->text, document->bytes + word, line.end - word);
    }
    return MT_OK;
}

/* Ends a paragraph. If it was wrapped, then the lines before it and the paragraph become separate
 * texts. */
static enum mt_status end_paragraph(struct mt_document *document, const struct paragraph *paragraph,
                                    size_t *from, struct mt_error *err)
{
    if (paragraph->n_lines < 2 || !is_wrapped(document, paragraph))
        return MT_OK;
    enum mt_status status = add_lines(document, from, paragraph->range.begin, err);
    *from = paragraph->range.end;
    return status ? status : add_wrapped(document, paragraph, err);
}

static enum mt_status read_text(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    struct mt_document_line line = {.next = document->begin};
    struct paragraph paragraph = {0};
    size_t from = document->begin;
    enum mt_status status = MT_OK;
    document->own = calloc(1, sizeof(struct wrappings));
    if (!document->own)
        return mt_fail_memory(err, sizeof(struct wrappings), "a file");
    while (!status && mt_document_next_line(document, &line)) {
        if (mt_document_is_blank(document, line.begin, line.end)) {
            status = end_paragraph(document, &paragraph, &from, err);
            paragraph.n_lines = 0;
        } else if (paragraph.n_lines == 0) {
            begin_paragraph(document, &line, &paragraph);
        } else {
            add_line(document, &line, &paragraph);
        }
    }
    if (!status)
        status = end_paragraph(document, &paragraph, &from, err);
    return status ? status : add_lines(document, &from, document->length, err);
}

static void finish_text(void *own)
{
    struct wrappings *wrappings = own;
    free(wrappings->items);
    free(wrappings);
}

/* ---- writing ---- */

static size_t append_range(const struct mt_document *document, struct mt_range range,
                           struct mt_text *out)
{
    mt_document_append(document, range, out);
    return n_chars(document, range.begin, range.end);
}

/* Breaks the translation into lines, with the paragraph's indentation and width. */
static bool write_text(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    if (piece->n == 0) {
        mt_text_append(out, translation, length);
        return true;
    }
    const struct wrapping *wrapping = &((struct wrappings *)document->own)->items[piece->first];
    size_t column = append_range(document, wrapping->first_indent, out);
    bool is_first = true;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && !strchr(" \n\r\t", translation[end]))
            end++;
        size_t n = mt_utf8_count(translation + at, end - at);
        if (end > at && !is_first && column + 1 + n > wrapping->width) {
            mt_text_append_string(out, document->line_end);
            column = append_range(document, wrapping->indent, out);
            is_first = true;
        }
        if (end > at) {
            mt_text_append(out, " ", !is_first);
            mt_text_append(out, translation + at, end - at);
            column += n + !is_first;
            is_first = false;
        }
        at = end + 1;
    }
    return true;
}

const struct mt_document_reader mt_document_text_reader = {
    .read_text = mt_read_plain, .read = read_text, .write = write_text, .finish = finish_text};
