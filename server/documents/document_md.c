/*
 * Markdown (CommonMark and GitHub's tables): the text of paragraphs, headings, items and cells.
 * md4c finds them and returns pointers into the file, so that their positions are known. Marks
 * around words, such as ** and ](address), belong to the text, where codes_find.h recognises them.
 *
 *   > A paragraph that was            text: "A paragraph that was wrapped by **somebody**."
 *   > wrapped by **somebody**.        written with "> " before each line, as wide as it was
 *
 * Code, comments and addresses stay. A hard line break ends a text, and so does every line break
 * where all lines end with a sentence. Blocks of HTML are texts of HTML (md_inner.h, which also has
 * titles of links), front matter is YAML (front_matter.h).
 */
#include "base/ascii.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/markdown/front_matter.h"
#include "server/documents/markdown/md_inner.h"
#include "server/documents/message.h"
#include "server/documents/yaml_messages.h"

#include <stdlib.h>
#include <string.h>

#include <md4c.h>

/* Most blocks, including cells, beyond the number of the file's bytes. */
#define MAX_BLOCKS 1000
/* Most links and pictures that are open at a time and known; pictures may be in pictures. */
#define MAX_SPANS 4
/* Least width for wrapping. */
#define MIN_WIDTH 60

/* How a text is wrapped that had several lines. */
struct layout {
    struct mt_range prefix; /* bytes of the file before its second line */
    size_t width;           /* characters of its longest line; 0: it has only one */
    size_t column;          /* characters before its first line */
};

struct layouts {
    struct layout *items;
    size_t n, capacity;
};

/* The part of a text in one line, without what stands before it: "> ", "- ", "## ". */
struct part {
    size_t begin, end;
};

struct reader {
    struct mt_document *document;
    const char *source; /* the file as md4c reads it (mask) */
    struct layouts *layouts;
    struct mt_md_inner inner;
    bool has_inner;
    struct mt_range contents[MAX_SPANS]; /* of the open links and pictures, as far as it is read */
    size_t n_spans;
    MD_BLOCKTYPE block;
    size_t n_blocks;
    size_t n_verbatim;    /* number of open blocks of code or HTML */
    struct mt_range html; /* lines of a block of HTML, read so far */
    struct part *parts;   /* of the text that is being read */
    size_t n, capacity;
    bool is_broken;  /* not all of its lines are known */
    size_t code_end; /* where code ends that md4c does not know as such */
    struct mt_error *err;
    enum mt_status status;
};

/* ---- places ---- */

static size_t line_begin(const struct mt_document *document, size_t at)
{
    while (at > document->begin && !strchr("\r\n", document->bytes[at - 1]))
        at--;
    return at;
}

static size_t line_end(const struct mt_document *document, size_t at)
{
    return at + strcspn(document->bytes + at, "\r\n");
}

static size_t trim_end(const char *bytes, size_t begin, size_t end)
{
    while (end > begin && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t'))
        end--;
    return end;
}

/* Moves to the left over marks that open around a text: **, [, ![, `, <, and the backslash before a
 * sign. */
static size_t extend_left(const struct mt_document *document, size_t at, size_t limit, bool is_code)
{
    const char *bytes = document->bytes;
    if (is_code && at > limit + 1 && bytes[at - 1] == ' ' && bytes[at - 2] == '`')
        at--;
    while (at > limit &&
           (strchr("*_~[`<\\", bytes[at - 1]) || (bytes[at - 1] == '!' && bytes[at] == '[')))
        at--;
    return at;
}

/* Returns where the text ends in its last line, with the marks that belong to it. */
static size_t extend_right(const struct reader *reader, const struct part *part, bool is_hard)
{
    const char *bytes = reader->document->bytes;
    size_t end = line_end(reader->document, part->end);
    bool is_cell = reader->block == MD_BLOCK_TD || reader->block == MD_BLOCK_TH;
    for (size_t i = part->end; i < end && is_cell; i++) {
        if (bytes[i] == '|')
            end = i;
        i += bytes[i] == '\\';
    }
    end = trim_end(bytes, part->begin, end);
    if (is_hard && end > part->end && bytes[end - 1] == '\\')
        return end - 1;
    if (reader->block != MD_BLOCK_H)
        return end;
    size_t mark = end;
    while (mark > part->end && bytes[mark - 1] == '#')
        mark--;
    if (mark > part->end && strchr(" \t", bytes[mark - 1]))
        end = trim_end(bytes, part->begin, mark);
    const char *name = memmem(bytes + part->begin, end - part->begin, " {#", 3);
    if (name && bytes[end - 1] == '}') /* an identifier such as {#name} behind a heading */
        end = trim_end(bytes, part->begin, (size_t)(name - bytes));
    return end;
}

/* ---- texts ---- */

/* Whether the line defines an address, as it may behind a note: [name]: address. */
static bool is_definition(const char *line)
{
    size_t n = strcspn(line, "]\r\n");
    return line[0] == '[' && line[1] != '^' && n > 1 && strncmp(line + n, "]: ", 3) == 0;
}

/* Whether the line is JavaScript, as MDX has it. */
static bool is_statement(const char *line)
{
    static const char *const exports[] = {"export const ", "export let ", "export default ",
                                          "export function "};
    size_t n = strcspn(line, "\r\n");
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        if (strncmp(line, exports[i], strlen(exports[i])) == 0)
            return true;
    return strncmp(line, "import ", 7) == 0 &&
           (memmem(line, n, " from '", 7) || memmem(line, n, " from \"", 7));
}

/* Whether other programs that read Markdown take the line for a directive: :::note, [!NOTE], {% x
 * %}. */
static bool is_directive(const char *line)
{
    static const char *const beginnings[] = {":::", "{%",     "{{<", "{{%", "!!! ",
                                             "???", "=== \"", "$$",  "\\["};
    if (line[0] == '[' && line[1] == '!' && mt_ascii_is_capital(line[2]))
        return true;
    if (is_definition(line) || is_statement(line))
        return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(line, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Returns where code of other dialects ends that begins with this line, or formulas; `at`: none
 * begins there. */
static size_t find_code_end(const char *bytes, size_t at)
{
    static const char *const pairs[][2] = {{"{% highlight", "{% endhighlight"},
                                           {"{{< highlight", "{{< /highlight"},
                                           {"$$\n", "\n$$"},
                                           {"$$\r\n", "\n$$"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool begins = strncmp(bytes + at, pairs[i][0], strlen(pairs[i][0])) == 0;
        const char *end = begins ? strstr(bytes + at, pairs[i][1]) : NULL;
        if (end)
            return (size_t)(end - bytes) + strlen(pairs[i][1]);
    }
    return at;
}

/* Whether the line is bold as a whole, as a heading is: **Note**. */
static bool is_title(const char *bytes, const struct part *part)
{
    size_t n = part->end - part->begin;
    const char *line = bytes + part->begin;
    return n > 4 && strncmp(line, "**", 2) == 0 && memmem(line + 2, n - 2, "**", 2) == line + n - 2;
}

/* Whether the line begins a text in other dialects: a row of a table that md4c does not recognise,
 * a definition, a note. */
static bool is_row(const char *line)
{
    return line[0] == '|' || line[0] == ':' || (line[0] == '[' && line[1] == '^');
}

/* Whether the line is what stands below the head of a table, and has fewer dashes than md4c asks
 * for: |-|-|. */
static bool is_ruler(const char *line)
{
    size_t n = strspn(line, "|-: \t");
    return (line[n] == '\0' || line[n] == '\r' || line[n] == '\n') && memchr(line, '|', n) &&
           memchr(line, '-', n);
}

static bool ends_sentence(const char *bytes, const struct part *part)
{
    return part->end > part->begin && strchr(".!?", bytes[part->end - 1]);
}

/* Whether the text has a link whose address goes on in another line. */
static bool has_open_link(const struct mt_text *text)
{
    const char *last = NULL;
    for (const char *at = text->bytes; (at = strstr(at, "](")); at++)
        last = at;
    return last && !strchr(last, ')');
}

static void add_text(struct reader *reader, size_t first, size_t end)
{
    struct mt_document *document = reader->document;
    const struct part *parts = reader->parts;
    struct mt_text text = {0};
    struct mt_document_piece *piece = NULL;
    struct layout layout = {
        .column = mt_utf8_count(document->bytes + line_begin(document, parts[first].begin),
                                parts[first].begin - line_begin(document, parts[first].begin))};
    mt_text_append(&text, "", 0);
    for (size_t i = first; i < end; i++) {
        size_t begin = line_begin(document, parts[i].begin);
        mt_text_append(&text, " ", i > first);
        mt_md_inner_show(&reader->inner, document, (struct mt_range){parts[i].begin, parts[i].end},
                         &text);
        if (i == first + 1)
            layout.prefix = (struct mt_range){begin, parts[i].begin};
        if (end - first > 1)
            layout.width = mt_size_max(
                layout.width, mt_utf8_count(document->bytes + begin, parts[i].end - begin));
    }
    if (layout.width > 0)
        layout.width = mt_size_max(layout.width, MIN_WIDTH);
    struct layouts *layouts = reader->layouts;
    if (MT_ROOM(&layouts->items, &layouts->capacity, layouts->n + 1, "parts of a file",
                reader->err)) {
        reader->status = MT_MEMORY;
    } else {
        struct mt_range range = {parts[first].begin, parts[end - 1].end};
        if (text.status || !has_open_link(&text))
            reader->status = mt_message_add(document, range, &text, &piece, reader->err);
        if (piece) {
            piece->first = layouts->n;
            layouts->items[layouts->n++] = layout;
        }
    }
    mt_text_finish(&text);
}

/* Ends a text at the end of a block or at a hard break. */
static void end_text(struct reader *reader, bool is_hard)
{
    const char *bytes = reader->document->bytes;
    bool are_sentences = true, are_rows = false;
    mt_md_inner_sort(&reader->inner);
    for (size_t i = 0; i < reader->n; i++) {
        struct part *part = &reader->parts[i];
        part->end = extend_right(reader, part, is_hard && i + 1 == reader->n);
        are_sentences = are_sentences && (i + 1 == reader->n || ends_sentence(bytes, part));
    }
    for (size_t i = 0, first = 0; i < reader->n && !reader->is_broken && !reader->status; i++) {
        size_t begin = reader->parts[i].begin;
        bool is_code = begin < reader->code_end;
        if (!is_code)
            reader->code_end = find_code_end(bytes, begin);
        bool is_ruled = is_ruler(bytes + begin);
        bool is_left = is_code || is_ruled || is_directive(bytes + begin);
        bool is_last = i + 1 == reader->n;
        const char *next = is_last ? "" : bytes + reader->parts[i + 1].begin;
        are_rows = are_rows || is_ruled || is_ruler(next);
        bool is_before = i + 2 < reader->n && is_ruler(bytes + reader->parts[i + 2].begin);
        bool ends = is_last || are_sentences || are_rows || is_before || is_directive(next) ||
                    is_row(next) || (i == first && is_title(bytes, &reader->parts[i]));
        if (ends && !is_left)
            add_text(reader, first, i + 1);
        if (ends || is_left)
            first = i + 1;
    }
    mt_md_inner_end_text(&reader->inner);
    reader->n = 0;
    reader->is_broken = false;
}

static size_t count_breaks(const char *bytes, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin; i < end; i++)
        n += bytes[i] == '\n' || (bytes[i] == '\r' && bytes[i + 1] != '\n');
    return n;
}

/* Returns where the line of `at` begins that md4c reads as an item; `at`: it is none. */
static size_t skip_mask(const struct reader *reader, size_t at)
{
    const char *bytes = reader->document->bytes;
    size_t begin = line_begin(reader->document, at);
    begin += strspn(bytes + begin, " ");
    return begin < at && bytes[begin] != reader->source[begin] ? begin : at;
}

static void add_slice(struct reader *reader, size_t begin, size_t end, bool is_code)
{
    const struct mt_document *document = reader->document;
    struct part *last = reader->n > 0 ? &reader->parts[reader->n - 1] : NULL;
    size_t n_breaks =
        last && begin >= last->end ? count_breaks(document->bytes, last->end, begin) : 1;
    if (last && (begin < last->end || n_breaks > 1))
        reader->is_broken = true;
    if (reader->is_broken)
        return;
    if (n_breaks == 0) {
        last->end = end;
        return;
    }
    if (MT_ROOM(&reader->parts, &reader->capacity, reader->n + 1, "parts of a file", reader->err)) {
        reader->status = MT_MEMORY;
        return;
    }
    size_t from = extend_left(document, begin, line_begin(document, begin), is_code);
    from = mt_size_min(from, skip_mask(reader, from));
    reader->parts[reader->n++] = (struct part){from, end};
}

/* ---- blocks of HTML ---- */

/* Adds the lines that were read. Declarations and instructions (<!DOCTYPE>, <?php ?>) hold no
 * words. */
static void end_html(struct reader *reader)
{
    const struct mt_range html = reader->html;
    const char *bytes = reader->document->bytes + html.begin;
    bool is_other = strncmp(bytes, "<?", 2) == 0 ||
                    (strncmp(bytes, "<!", 2) == 0 && strncmp(bytes, "<!--", 4) != 0);
    reader->html = (struct mt_range){0};
    if (html.begin == html.end || is_other || html.begin < reader->code_end || !reader->has_inner ||
        reader->status)
        return;
    reader->status = mt_md_inner_add_html(&reader->inner, reader->document, html, reader->err);
}

/* Blanks before a line belong to the HTML; "> " before it does not. */
static void add_html_line(struct reader *reader, struct mt_range line)
{
    struct mt_range *html = &reader->html;
    const char *bytes = reader->document->bytes;
    if (html->begin < html->end && strspn(bytes + html->end, " \t\r\n") < line.begin - html->end)
        end_html(reader);
    if (html->begin == html->end)
        *html = line;
    html->end = line.end;
}

/* ---- md4c's calls ---- */

static bool is_verbatim(MD_BLOCKTYPE type)
{
    return type == MD_BLOCK_CODE || type == MD_BLOCK_HTML;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct reader *reader = context;
    (void)detail;
    end_text(reader, false);
    /* md4c fills up rows that are shorter than their table is wide, so that a small file may have
     * many cells. */
    if (++reader->n_blocks > MAX_BLOCKS + reader->document->length && !reader->status)
        reader->status = mt_fail(reader->err, MT_LIMIT,
                                 "the tables have more than %zu cells, most of them missing",
                                 reader->document->length);
    reader->block = type;
    reader->n_verbatim += is_verbatim(type);
    return reader->status != MT_OK;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct reader *reader = context;
    (void)detail;
    end_text(reader, false);
    end_html(reader);
    reader->n_verbatim -= is_verbatim(type);
    return reader->status != MT_OK;
}

/* Returns where a text of md4c's is in the file; empty where md4c has made it. */
static struct mt_range range_of(const struct reader *reader, const MD_CHAR *text, MD_SIZE size)
{
    const char *source = reader->source;
    if (!text || text < source || text >= source + reader->document->length)
        return (struct mt_range){0};
    size_t begin = (size_t)(text - source);
    return (struct mt_range){begin, begin + size};
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct reader *reader = context;
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
        reader->contents[reader->n_spans % MAX_SPANS] = (struct mt_range){0};
        reader->n_spans++;
    }
    const MD_ATTRIBUTE *title = type == MD_SPAN_A     ? &((MD_SPAN_A_DETAIL *)detail)->title
                                : type == MD_SPAN_IMG ? &((MD_SPAN_IMG_DETAIL *)detail)->title
                                                      : NULL;
    const struct mt_range range =
        title ? range_of(reader, title->text, title->size) : (struct mt_range){0};
    if (range.begin < range.end && reader->has_inner && !reader->status)
        reader->status =
            mt_md_inner_add_title(&reader->inner, reader->document, range, reader->err);
    return reader->status != MT_OK;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct reader *reader = context;
    (void)detail;
    if ((type != MD_SPAN_A && type != MD_SPAN_IMG) || reader->n_spans == 0)
        return 0;
    const struct mt_range content = reader->contents[--reader->n_spans % MAX_SPANS];
    if (content.begin < content.end && reader->has_inner && !reader->status)
        reader->status = mt_md_inner_add_content(&reader->inner, reader->document, content,
                                                 type == MD_SPAN_IMG, reader->err);
    return reader->status != MT_OK;
}

/* Adds a text to what is in the open links and pictures. */
static void note_content(struct reader *reader, struct mt_range text)
{
    for (size_t i = 0; i < reader->n_spans && i < MAX_SPANS; i++) {
        struct mt_range *content = &reader->contents[i];
        content->begin = content->end > 0 ? content->begin : text.begin;
        content->end = mt_size_max(content->end, text.end);
    }
}

static int take_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *context)
{
    struct reader *reader = context;
    const struct mt_range range = range_of(reader, text, size);
    bool has_text = range.begin < range.end;
    if (reader->n_verbatim > 0) {
        if (reader->block == MD_BLOCK_HTML && has_text)
            add_html_line(reader, range);
        return reader->status != MT_OK;
    }
    if (type == MD_TEXT_HTML && has_text && reader->has_inner)
        reader->status =
            mt_md_inner_add_values(&reader->inner, reader->document, range, reader->err);
    if (has_text && type != MD_TEXT_SOFTBR)
        note_content(reader, range);
    if (type == MD_TEXT_BR)
        end_text(reader, true);
    else if (has_text && type != MD_TEXT_SOFTBR && !reader->status)
        add_slice(reader, range.begin, range.end, type == MD_TEXT_CODE);
    return reader->status != MT_OK;
}

/* ---- reading ---- */

/* Makes items of what other dialects indent as if it were one, so that md4c finds the paragraphs
 * and lists in it:
 *
 *   [^1]: A note.            -   : A note.
 *
 *       More of it.              More of it.
 */
static void mask(const struct mt_document *document, char *source)
{
    static const char *const beginnings[] = {"!!! ", "??? ", "???+", "=== \""};
    struct mt_document_line line = {.next = document->begin};
    while (mt_document_next_line(document, &line)) {
        char *at = source + line.begin;
        const char *label = strncmp(at, "[^", 2) == 0 ? strstr(at, "]:") : NULL;
        bool is_item = label && label > at + 2 && label < source + line.end;
        at += strspn(at, " ");
        for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
            is_item = is_item || strncmp(at, beginnings[i], strlen(beginnings[i])) == 0;
        if (!is_item)
            continue;
        memcpy(at, "-   ", 4);
        if (at[4] == ' ')
            at[4] = '.'; /* five blanks would begin code */
    }
}

static void finish_md(void *own)
{
    struct layouts *layouts = own;
    free(layouts->items);
    free(layouts);
}

static enum mt_status read_md(struct mt_document *document,
                              const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    static const MD_PARSER parser = {.flags = MD_DIALECT_GITHUB,
                                     .enter_block = enter_block,
                                     .leave_block = leave_block,
                                     .enter_span = enter_span,
                                     .leave_span = leave_span,
                                     .text = take_text};
    struct reader reader = {
        .document = document, .has_inner = mt_md_can_have_inner(document), .err = err};
    document->own = reader.layouts = calloc(1, sizeof *reader.layouts);
    char *source = malloc(document->length + 1);
    if (!reader.layouts || !source) {
        free(source);
        return mt_fail_memory(err, document->length, "a file");
    }
    memcpy(source, document->bytes, document->length + 1);
    mask(document, source);
    reader.source = source;
    size_t begin;
    reader.status = mt_front_matter_read(document, &begin, err);
    for (size_t i = 0; i < document->n; i++)
        document->pieces[i].n |= MT_MD_YAML;
    int result = reader.status ? 0
                               : md_parse(source + begin, (MD_SIZE)(document->length - begin),
                                          &parser, &reader);
    if (!reader.status && result)
        reader.status = mt_fail_memory(err, document->length, "a file");
    if (!reader.status)
        reader.status = mt_md_inner_add_pieces(&reader.inner, document, err);
    mt_md_inner_finish(&reader.inner);
    free(reader.parts);
    free(source);
    return reader.status;
}

/* ---- writing ---- */

/* Joins "\ *" of a translation to "\*" as in its text: a backslash belongs to the sign behind
 * it. */
static void join_escapes(const struct mt_text *text, const char *translation, size_t length,
                         struct mt_text *out)
{
    bool had_apart = strstr(text->bytes, "\\ ") != NULL;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < length; i++) {
        bool is_apart = !had_apart && i > 0 && i + 1 < length && translation[i] == ' ' &&
                        translation[i - 1] == '\\' && strchr("*_`[]<>~|\\=", translation[i + 1]);
        mt_text_append(out, translation + i, !is_apart);
    }
}

/* Returns where a backslash has to be put so that the word does not become a mark at the beginning
 * of a line: -, #, >, 1. and the like; SIZE_MAX: none is needed. */
static size_t find_mark(const char *word, size_t n)
{
    size_t digits = strspn(word, "0123456789");
    if (n == 0)
        return SIZE_MAX;
    if (digits > 0 && digits < 10 && n == digits + 1 && strchr(".)", word[digits]))
        return digits;
    bool is_rule = strspn(word, "-") >= n || strspn(word, "=") >= n || strspn(word, "+") >= n;
    bool is_mark = is_rule || word[0] == '#' || word[0] == '>' || word[0] == '|' ||
                   strncmp(word, ":::", 3) == 0 || strncmp(word, "~~~", 3) == 0;
    return is_mark ? 0 : SIZE_MAX;
}

/* Whether a line may end there, which is not within code, braces or a tag. */
static bool may_break(const char *text, size_t n)
{
    size_t n_ticks = 0, n_braces = 0;
    bool is_tag = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '<')
            is_tag = mt_ascii_is_letter(text[i + 1]);
        is_tag = is_tag && text[i] != '>';
        n_ticks += text[i] == '`';
        n_braces += text[i] == '{';
        n_braces -= text[i] == '}' && n_braces > 0;
    }
    return n_ticks % 2 == 0 && n_braces == 0 && !is_tag;
}

static bool write_joined(const struct mt_document *document, const struct mt_document_piece *piece,
                         const char *translation, size_t length, struct mt_text *out)
{
    const struct layout *layout = &((struct layouts *)document->own)->items[piece->first];
    struct mt_range inner = mt_range_trim(translation, 0, length);
    if (inner.begin == inner.end || memchr(translation, '\n', length))
        return false;
    size_t column = layout->column, from = inner.begin;
    for (size_t at = inner.begin; at < inner.end;) {
        size_t n = strcspn(translation + at, " "), mark = find_mark(translation + at, n);
        bool is_first = at == inner.begin,
             was_mark = strncmp(piece->text.bytes, translation, n) == 0 ||
                        (*translation == '|' && *piece->text.bytes == '|');
        n = mt_size_min(n, inner.end - at);
        bool wraps = !is_first && layout->width > 0 && mark == SIZE_MAX && n > 0 &&
                     column + 1 + mt_utf8_count(translation + at, n) > layout->width &&
                     may_break(translation + from, at - from);
        if (wraps) {
            mt_text_append_string(out, document->line_end);
            mt_document_append(document, layout->prefix, out);
            column = mt_utf8_count(document->bytes + layout->prefix.begin,
                                   layout->prefix.end - layout->prefix.begin);
            from = at;
        } else if (!is_first) {
            mt_text_append(out, " ", 1);
            column++;
        }
        if (is_first && mark < n && !was_mark) {
            mt_text_append(out, translation + at, mark);
            mt_text_append(out, "\\", 1);
            mt_text_append(out, translation + at + mark, n - mark);
        } else {
            mt_text_append(out, translation + at, n);
        }
        column += mt_utf8_count(translation + at, n);
        at += n + 1;
    }
    return true;
}

static bool write_words(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                        const char *translation, size_t length, struct mt_text *out)
{
    struct mt_text joined = {0}, filled = {0};
    join_escapes(&piece->text, translation, length, &joined);
    bool is_written =
        !joined.status && mt_md_has_same_signs(&piece->text, joined.bytes, joined.length);
    if (is_written)
        mt_md_inner_fill(writing, piece, joined.bytes, joined.length, &filled);
    is_written = is_written && !filled.status &&
                 write_joined(writing->document, piece, filled.bytes, filled.length, out);
    mt_text_finish(&joined);
    mt_text_finish(&filled);
    return is_written;
}

static bool write_md(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                     const char *translation, size_t length, struct mt_text *out)
{
    switch (piece->n & MT_MD_KIND) {
    case MT_MD_YAML:
        return mt_yaml_messages_write(writing->document, piece, translation, length, out);
    case MT_MD_HTML:
        mt_md_inner_fill(writing, piece, translation, length, out);
        return true;
    case MT_MD_VALUE:
    case MT_MD_TITLE:
        return mt_md_inner_write(writing->document, piece, translation, length, out);
    default:
        return write_words(writing, piece, translation, length, out);
    }
}

const struct mt_document_reader mt_document_md_reader = {
    .read_text = mt_read_plain,
    .read = read_md,
    .write_around = write_md,
    .finish = finish_md,
    .replaces_messages = true,
};
