#include "server/text/marked.h"

#include "base/size.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

bool mt_is_word_char(uint32_t code_point)
{
    return u_isalnum((UChar32)code_point) ||
           u_hasBinaryProperty((UChar32)code_point, UCHAR_ALPHABETIC);
}

bool mt_has_word(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += mt_char_length(text + at))
        if (mt_is_word_char(mt_utf8_decode(text + at)))
            return true;
    return false;
}

void mt_marked_init(struct mt_marked *marked)
{
    *marked = (struct mt_marked){.open = MT_NO_MARK, .pending = MT_NO_MARK};
    mt_text_append(&marked->text, "", 0);
    mt_text_append(&marked->strings, "", 0);
}

void mt_marked_finish(struct mt_marked *marked)
{
    mt_text_finish(&marked->text);
    mt_text_finish(&marked->strings);
    free(marked->marks);
    free(marked->anchors);
    *marked = (struct mt_marked){0};
}

static struct mt_range keep_string(struct mt_marked *marked, const char *bytes, size_t length)
{
    size_t begin = marked->strings.length;
    mt_text_append(&marked->strings, bytes, length);
    return (struct mt_range){begin, marked->strings.length};
}

/* Returns NULL without memory; the status then says it. */
static struct mt_mark *add(struct mt_marked *marked, enum mt_mark_kind kind, const char *opening,
                           size_t length)
{
    if (marked->status)
        return NULL;
    if (MT_ROOM(&marked->marks, &marked->capacity, marked->n + 1, "marks of a text", NULL)) {
        marked->status = MT_MEMORY;
        return NULL;
    }
    struct mt_mark *mark = &marked->marks[marked->n++];
    *mark = (struct mt_mark){.kind = kind,
                             .begin = marked->text.length,
                             .end = marked->text.length,
                             .parent = marked->open,
                             .opening = keep_string(marked, opening, length)};
    return mark;
}

static bool ends_in_blank(const struct mt_text *text)
{
    return text->length > 0 && text->bytes[text->length - 1] == ' ';
}

/* Removes the blank before a point. Spans that began behind the blank now begin where it was. */
static void take_blank(struct mt_marked *marked)
{
    size_t length = --marked->text.length;
    marked->text.bytes[length] = '\0';
    for (size_t i = marked->n; i-- > 0 && marked->marks[i].end > length;) {
        marked->marks[i].end = length;
        marked->marks[i].begin = mt_size_min(marked->marks[i].begin, length);
    }
    while (marked->n_anchors > 0 && marked->anchors[marked->n_anchors - 1].text > length)
        marked->n_anchors--;
}

/* Adds a blank that the source does not have; what the source goes on with stands behind it. */
static void add_blank(struct mt_marked *marked)
{
    size_t length = marked->text.length, n = marked->n_anchors;
    mt_text_append(&marked->text, " ", 1);
    if (n > 0 && marked->anchors[n - 1].text == length)
        marked->anchors[n - 1].text++;
}

/* A word follows points that took its blank: the blank is put back, and the points lead the
 * word. */
static void give_back_blank(struct mt_marked *marked)
{
    bool took = false;
    for (size_t i = marked->pending; i < marked->n; i++)
        took = took || marked->marks[i].took_blank;
    if (took)
        add_blank(marked);
    for (size_t i = marked->pending; i < marked->n; i++) {
        struct mt_mark *mark = &marked->marks[i];
        mark->leads = took || mark->leads;
        mark->took_blank = false;
        if (took && mark->begin + 1 == marked->text.length) {
            mark->end = marked->text.length;
            mark->begin = marked->text.length;
        }
    }
}

/* Whether the character is a part of the word before it, or invisible, so that the model does not
 * see it. */
static bool is_within_word(uint32_t code_point)
{
    return u_getCombiningClass((UChar32)code_point) != 0 ||
           u_hasBinaryProperty((UChar32)code_point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
           (u_charType((UChar32)code_point) == U_CONTROL_CHAR && !mt_is_space(code_point));
}

static bool begins_word(const char *bytes)
{
    uint32_t first = mt_utf8_decode(bytes);
    return mt_is_word_char(first) || is_within_word(first);
}

/* Whether the bytes begin a short form such as 's or 'em, which would become a part of a word
 * directly before it. */
static bool begins_short_form(const char *bytes)
{
    size_t n = mt_char_length(bytes);
    return (*bytes == '\'' || mt_utf8_decode(bytes) == 0x2019) && begins_word(bytes + n);
}

static bool begins_line(const struct mt_text *text)
{
    return text->length == 0 || text->bytes[text->length - 1] == '\n';
}

/* Text follows points: decides where their blanks go. Returns how many bytes of the text to leave
 * out. */
static size_t place_blanks(struct mt_marked *marked, const char *bytes)
{
    size_t n_left_out = 0;
    if (*bytes == ' ' && begins_line(&marked->text)) {
        marked->marks[marked->n - 1].had_blank_after = true;
        n_left_out = 1;
        if (marked->n_anchors > 0 &&
            marked->anchors[marked->n_anchors - 1].text == marked->text.length)
            marked->anchors[marked->n_anchors - 1].source++;
    } else if (begins_word(bytes) || begins_short_form(bytes)) {
        give_back_blank(marked);
    }
    marked->pending = MT_NO_MARK;
    return n_left_out;
}

static bool ends_in_word(const struct mt_text *text)
{
    size_t at = text->length;
    uint32_t last = ' ';
    while (at > 0) {
        at = mt_previous_char(text->bytes, at);
        last = mt_utf8_decode(text->bytes + at);
        if (!is_within_word(last))
            break;
    }
    return mt_is_word_char(last);
}

/* Puts a blank between a stand-in and a word directly behind it, because together they would be
 * another word. */
static void part_from_stand_in(struct mt_marked *marked, const char *bytes)
{
    if (marked->stand_in_end > 0 && marked->text.length == marked->stand_in_end &&
        begins_word(bytes))
        add_blank(marked);
}

void mt_marked_append(struct mt_marked *marked, const char *bytes, size_t length)
{
    size_t from = 0;
    if (length == 0 || marked->status)
        return;
    if (marked->pending != MT_NO_MARK)
        from = place_blanks(marked, bytes);
    part_from_stand_in(marked, bytes);
    mt_text_append(&marked->text, bytes + from, length - from);
}

void mt_marked_open(struct mt_marked *marked, const char *opening, size_t length)
{
    if (add(marked, MT_MARK_SPAN, opening, length))
        marked->open = marked->n - 1;
}

void mt_marked_close(struct mt_marked *marked, const char *closing, size_t length)
{
    if (marked->status || marked->open == MT_NO_MARK)
        return;
    struct mt_mark *mark = &marked->marks[marked->open];
    mark->closing = keep_string(marked, closing, length);
    mark->end = mt_size_max(mark->begin, marked->text.length);
    marked->open = mark->parent;
}

void mt_marked_repeat(struct mt_marked *marked, size_t n, const char *separator, size_t length)
{
    if (marked->status || marked->open == MT_NO_MARK)
        return;
    struct mt_mark *mark = &marked->marks[marked->open];
    mark->n_repeats = n;
    mark->separator = keep_string(marked, separator, length);
}

void mt_marked_point(struct mt_marked *marked, const char *content, size_t length)
{
    bool takes_blank = ends_in_blank(&marked->text);
    if (marked->status)
        return;
    if (takes_blank)
        take_blank(marked);
    struct mt_mark *mark = add(marked, MT_MARK_POINT, content, length);
    if (!mark)
        return;
    mark->took_blank = takes_blank;
    if (marked->pending == MT_NO_MARK)
        marked->pending = marked->n - 1;
}

void mt_marked_gap(struct mt_marked *marked, const char *content, size_t length)
{
    marked->pending = MT_NO_MARK;
    mt_text_append(&marked->text, " ", 1);
    struct mt_mark *mark = add(marked, MT_MARK_POINT, content, length);
    if (mark)
        mark->leads = mark->is_gap = true;
}

void mt_marked_break(struct mt_marked *marked, const char *content, size_t length)
{
    marked->pending = MT_NO_MARK;
    struct mt_mark *mark = add(marked, MT_MARK_BREAK, content, length);
    mt_text_append(&marked->text, "\n", 1);
    if (mark)
        mark->end = marked->text.length;
}

void mt_marked_stand_in(struct mt_marked *marked, const char *word, const char *content,
                        size_t length)
{
    if (marked->pending != MT_NO_MARK)
        place_blanks(marked, word);
    if (ends_in_word(&marked->text))
        add_blank(marked);
    struct mt_mark *mark = add(marked, MT_MARK_STAND_IN, content, length);
    mt_text_append_string(&marked->text, word);
    marked->stand_in_end = marked->text.length;
    if (mark)
        mark->end = marked->text.length;
}

void mt_marked_term(struct mt_marked *marked, const struct mt_marked_term *term)
{
    if (marked->pending != MT_NO_MARK)
        place_blanks(marked, term->words);
    part_from_stand_in(marked, term->words);
    struct mt_mark *mark = add(marked, MT_MARK_TERM, term->written, term->n_written);
    mt_text_append(&marked->text, term->words, term->n_words);
    if (!mark)
        return;
    mark->closing = keep_string(marked, term->target, term->n_target);
    mark->forms =
        term->n_forms > 0 ? keep_string(marked, term->forms, term->n_forms) : mark->closing;
    mark->end = mt_size_max(mark->begin, marked->text.length);
    mark->is_kept = term->is_kept;
    mark->term = term->term;
}

/* ---- the source ---- */

void mt_marked_at(struct mt_marked *marked, size_t source)
{
    size_t at = marked->text.length, n = marked->n_anchors;
    if (n > 0 && marked->anchors[n - 1].text == at) {
        marked->anchors[n - 1].source = source;
        return;
    }
    if (marked->status)
        return;
    if (MT_ROOM(&marked->anchors, &marked->anchors_capacity, n + 1, "marks of a text", NULL)) {
        marked->status = MT_MEMORY;
        return;
    }
    marked->anchors[marked->n_anchors++] = (struct mt_anchor){at, source};
}

/* Returns how many anchors there are before text[at] and, with at_too, at it. */
static size_t count_anchors(const struct mt_marked *marked, size_t at, bool at_too)
{
    size_t low = 0, high = marked->n_anchors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t text = marked->anchors[middle].text;
        if (text < at || (at_too && text == at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_point(const struct mt_marked *marked, size_t at)
{
    for (size_t i = 0; i < marked->n; i++)
        if (marked->marks[i].begin == at && marked->marks[i].kind == MT_MARK_POINT)
            return true;
    return false;
}

/* Returns the position in the source. Text between two anchors may be longer in either of the two
 * texts, so the next anchor limits the position. If something was taken out at the end of a range,
 * then it is outside of the range. */
static size_t find_source(const struct mt_marked *marked, size_t at, bool is_end)
{
    size_t n = count_anchors(marked, at, !is_end || !has_point(marked, at));
    struct mt_anchor before = n > 0 ? marked->anchors[n - 1] : (struct mt_anchor){0, 0};
    size_t source = before.source + (at - before.text);
    return n < marked->n_anchors ? mt_size_min(source, marked->anchors[n].source) : source;
}

struct mt_range mt_marked_find_source(const struct mt_marked *marked, struct mt_range range)
{
    return (struct mt_range){find_source(marked, range.begin, false),
                             find_source(marked, range.end, true)};
}

enum mt_status mt_marked_check(const struct mt_marked *marked, struct mt_error *err)
{
    if (marked->status)
        return mt_fail_memory(err, marked->capacity * sizeof *marked->marks, "marks of a text");
    enum mt_status status = mt_text_check(&marked->text, "a text", err);
    return status ? status : mt_text_check(&marked->strings, "a text's markup", err);
}

bool mt_marked_has_words(const struct mt_marked *marked)
{
    size_t at = 0;
    for (size_t i = 0; i < marked->n; i++) {
        const struct mt_mark *mark = &marked->marks[i];
        if (mark->kind != MT_MARK_STAND_IN)
            continue;
        if (mt_has_word(marked->text.bytes, at, mark->begin))
            return true;
        at = mark->end;
    }
    return mt_has_word(marked->text.bytes, at, marked->text.length);
}

bool mt_marked_is_plain(const struct mt_marked *marked)
{
    const struct mt_text *text = &marked->text;
    struct mt_range inner = mt_range_trim(text->bytes, 0, text->length);
    for (size_t i = 0; i < marked->n; i++) {
        const struct mt_mark *mark = &marked->marks[i];
        bool is_all = mark->begin <= inner.begin && mark->end >= inner.end;
        bool is_end = mark->end <= inner.begin || mark->begin >= inner.end;
        bool is_known = mark->kind == MT_MARK_BREAK || (mark->kind == MT_MARK_SPAN && is_all) ||
                        (mark->kind == MT_MARK_POINT && is_end);
        if (!is_known)
            return false;
    }
    return true;
}
