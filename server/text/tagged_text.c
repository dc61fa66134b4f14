#include "server/text/tagged_text.h"

#include "base/ascii.h"
#include "base/size.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

bool mt_is_word_char(uint32_t code_point)
{
    if (code_point < 0x80) /* most are, and ICU's tables take longer */
        return mt_ascii_is_letter_or_digit((int)code_point);
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

void mt_tagged_init(struct mt_tagged_text *tagged)
{
    *tagged = (struct mt_tagged_text){.open = MT_NO_TAG, .pending = MT_NO_TAG};
    mt_text_append(&tagged->text, "", 0);
    mt_text_append(&tagged->strings, "", 0);
}

void mt_tagged_finish(struct mt_tagged_text *tagged)
{
    mt_text_finish(&tagged->text);
    mt_text_finish(&tagged->strings);
    free(tagged->tags);
    free(tagged->anchors);
    *tagged = (struct mt_tagged_text){0};
}

static struct mt_range keep_string(struct mt_tagged_text *tagged, const char *bytes, size_t length)
{
    size_t begin = tagged->strings.length;
    mt_text_append(&tagged->strings, bytes, length);
    return (struct mt_range){begin, tagged->strings.length};
}

/* Returns NULL without memory; the status then says it. */
static struct mt_tag *add(struct mt_tagged_text *tagged, enum mt_tag_kind kind, const char *opening,
                          size_t length)
{
    if (tagged->status)
        return NULL;
    if (MT_ROOM(&tagged->tags, &tagged->capacity, tagged->n + 1, "tags of a text", NULL)) {
        tagged->status = MT_MEMORY;
        return NULL;
    }
    struct mt_tag *tag = &tagged->tags[tagged->n++];
    *tag = (struct mt_tag){.kind = kind,
                           .begin = tagged->text.length,
                           .end = tagged->text.length,
                           .parent = tagged->open,
                           .opening = keep_string(tagged, opening, length)};
    return tag;
}

static bool ends_in_blank(const struct mt_text *text)
{
    return text->length > 0 && text->bytes[text->length - 1] == ' ';
}

/* Removes the blank before a point. Spans that began behind the blank now begin where it was. */
static void take_blank(struct mt_tagged_text *tagged)
{
    size_t length = --tagged->text.length;
    tagged->text.bytes[length] = '\0';
    for (size_t i = tagged->n; i-- > 0 && tagged->tags[i].end > length;) {
        tagged->tags[i].end = length;
        tagged->tags[i].begin = mt_size_min(tagged->tags[i].begin, length);
    }
    while (tagged->n_anchors > 0 && tagged->anchors[tagged->n_anchors - 1].text > length)
        tagged->n_anchors--;
}

/* Adds a blank that the source does not have; what the source goes on with stands behind it. */
static void add_blank(struct mt_tagged_text *tagged)
{
    size_t length = tagged->text.length, n = tagged->n_anchors;
    mt_text_append(&tagged->text, " ", 1);
    if (n > 0 && tagged->anchors[n - 1].text == length)
        tagged->anchors[n - 1].text++;
}

static bool is_behind_bracket(const struct mt_text *text, size_t at)
{
    return at > 0 && at <= text->length &&
           u_charType((UChar32)mt_utf8_decode(text->bytes + mt_previous_char(text->bytes, at))) ==
               U_START_PUNCTUATION;
}

/* A word follows points that took its blank, or are behind a bracket: the blank is put back, and the
 * points lead the word. */
static void give_back_blank(struct mt_tagged_text *tagged)
{
    bool took = false;
    for (size_t i = tagged->pending; i < tagged->n; i++)
        took = took || tagged->tags[i].took_blank;
    if (took)
        add_blank(tagged);
    for (size_t i = tagged->pending; i < tagged->n; i++) {
        struct mt_tag *tag = &tagged->tags[i];
        tag->leads = took || tag->leads || is_behind_bracket(&tagged->text, tag->begin);
        tag->took_blank = false;
        if (took && tag->begin + 1 == tagged->text.length) {
            tag->end = tagged->text.length;
            tag->begin = tagged->text.length;
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
static size_t place_blanks(struct mt_tagged_text *tagged, const char *bytes)
{
    size_t n_left_out = 0;
    if (*bytes == ' ' && begins_line(&tagged->text)) {
        tagged->tags[tagged->n - 1].had_blank_after = true;
        n_left_out = 1;
        if (tagged->n_anchors > 0 &&
            tagged->anchors[tagged->n_anchors - 1].text == tagged->text.length)
            tagged->anchors[tagged->n_anchors - 1].source++;
    } else if (begins_word(bytes) || begins_short_form(bytes)) {
        give_back_blank(tagged);
    }
    tagged->pending = MT_NO_TAG;
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

/* Puts a blank between a substitute and a word directly behind it, because together they would be
 * another word. */
static void part_from_substitute(struct mt_tagged_text *tagged, const char *bytes)
{
    if (tagged->substitute_end > 0 && tagged->text.length == tagged->substitute_end &&
        begins_word(bytes))
        add_blank(tagged);
}

void mt_tagged_append(struct mt_tagged_text *tagged, const char *bytes, size_t length)
{
    size_t from = 0;
    if (length == 0 || tagged->status)
        return;
    if (tagged->pending != MT_NO_TAG)
        from = place_blanks(tagged, bytes);
    part_from_substitute(tagged, bytes);
    mt_text_append(&tagged->text, bytes + from, length - from);
}

void mt_tagged_open(struct mt_tagged_text *tagged, const char *opening, size_t length)
{
    if (add(tagged, MT_TAG_SPAN, opening, length))
        tagged->open = tagged->n - 1;
}

void mt_tagged_close(struct mt_tagged_text *tagged, const char *closing, size_t length)
{
    if (tagged->status || tagged->open == MT_NO_TAG)
        return;
    struct mt_tag *tag = &tagged->tags[tagged->open];
    tag->closing = keep_string(tagged, closing, length);
    tag->end = mt_size_max(tag->begin, tagged->text.length);
    tagged->open = tag->parent;
}

void mt_tagged_repeat(struct mt_tagged_text *tagged, size_t n, const char *separator, size_t length)
{
    if (tagged->status || tagged->open == MT_NO_TAG)
        return;
    struct mt_tag *tag = &tagged->tags[tagged->open];
    tag->n_repeats = n;
    tag->separator = keep_string(tagged, separator, length);
}

void mt_tagged_point(struct mt_tagged_text *tagged, const char *content, size_t length)
{
    bool takes_blank = ends_in_blank(&tagged->text);
    if (tagged->status)
        return;
    if (takes_blank)
        take_blank(tagged);
    struct mt_tag *tag = add(tagged, MT_TAG_POINT, content, length);
    if (!tag)
        return;
    tag->took_blank = takes_blank;
    if (tagged->pending == MT_NO_TAG)
        tagged->pending = tagged->n - 1;
}

void mt_tagged_gap(struct mt_tagged_text *tagged, const char *content, size_t length)
{
    tagged->pending = MT_NO_TAG;
    mt_text_append(&tagged->text, " ", 1);
    struct mt_tag *tag = add(tagged, MT_TAG_POINT, content, length);
    if (tag)
        tag->leads = tag->is_gap = true;
}

void mt_tagged_break(struct mt_tagged_text *tagged, const char *content, size_t length)
{
    tagged->pending = MT_NO_TAG;
    struct mt_tag *tag = add(tagged, MT_TAG_BREAK, content, length);
    mt_text_append(&tagged->text, "\n", 1);
    if (tag)
        tag->end = tagged->text.length;
}

void mt_tagged_substitute(struct mt_tagged_text *tagged, const char *word, const char *content,
                          size_t length)
{
    if (tagged->pending != MT_NO_TAG)
        place_blanks(tagged, word);
    if (ends_in_word(&tagged->text))
        add_blank(tagged);
    struct mt_tag *tag = add(tagged, MT_TAG_SUBSTITUTE, content, length);
    mt_text_append_string(&tagged->text, word);
    tagged->substitute_end = tagged->text.length;
    if (tag)
        tag->end = tagged->text.length;
}

void mt_tagged_term(struct mt_tagged_text *tagged, const struct mt_tagged_term *term)
{
    if (tagged->pending != MT_NO_TAG)
        place_blanks(tagged, term->words);
    part_from_substitute(tagged, term->words);
    struct mt_tag *tag = add(tagged, MT_TAG_TERM, term->written, term->n_written);
    mt_text_append(&tagged->text, term->words, term->n_words);
    if (!tag)
        return;
    tag->closing = keep_string(tagged, term->target, term->n_target);
    tag->forms = term->n_forms > 0 ? keep_string(tagged, term->forms, term->n_forms) : tag->closing;
    tag->end = mt_size_max(tag->begin, tagged->text.length);
    tag->is_verbatim = term->is_verbatim;
    tag->term = term->term;
}

/* ---- the source ---- */

void mt_tagged_at(struct mt_tagged_text *tagged, size_t source)
{
    size_t at = tagged->text.length, n = tagged->n_anchors;
    if (n > 0 && tagged->anchors[n - 1].text == at) {
        tagged->anchors[n - 1].source = source;
        return;
    }
    if (tagged->status)
        return;
    if (MT_ROOM(&tagged->anchors, &tagged->anchors_capacity, n + 1, "tags of a text", NULL)) {
        tagged->status = MT_MEMORY;
        return;
    }
    tagged->anchors[tagged->n_anchors++] = (struct mt_anchor){at, source};
}

/* Returns how many anchors there are before text[at] and, with at_too, at it. */
static size_t count_anchors(const struct mt_tagged_text *tagged, size_t at, bool at_too)
{
    size_t low = 0, high = tagged->n_anchors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t text = tagged->anchors[middle].text;
        if (text < at || (at_too && text == at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_point(const struct mt_tagged_text *tagged, size_t at)
{
    for (size_t i = 0; i < tagged->n; i++)
        if (tagged->tags[i].begin == at && tagged->tags[i].kind == MT_TAG_POINT)
            return true;
    return false;
}

/* Returns the position in the source. Text between two anchors may be longer in either of the two
 * texts, so the next anchor limits the position. If something was taken out at the end of a range,
 * then it is outside of the range. */
static size_t find_source(const struct mt_tagged_text *tagged, size_t at, bool is_end)
{
    size_t n = count_anchors(tagged, at, !is_end || !has_point(tagged, at));
    struct mt_anchor before = n > 0 ? tagged->anchors[n - 1] : (struct mt_anchor){0, 0};
    size_t source = before.source + (at - before.text);
    return n < tagged->n_anchors ? mt_size_min(source, tagged->anchors[n].source) : source;
}

struct mt_range mt_tagged_find_source(const struct mt_tagged_text *tagged, struct mt_range range)
{
    return (struct mt_range){find_source(tagged, range.begin, false),
                             find_source(tagged, range.end, true)};
}

enum mt_status mt_tagged_check(const struct mt_tagged_text *tagged, struct mt_error *err)
{
    if (tagged->status)
        return mt_fail_memory(err, tagged->capacity * sizeof *tagged->tags, "tags of a text");
    enum mt_status status = mt_text_check(&tagged->text, "a text", err);
    return status ? status : mt_text_check(&tagged->strings, "a text's markup", err);
}

bool mt_tagged_has_words(const struct mt_tagged_text *tagged)
{
    size_t at = 0;
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->kind != MT_TAG_SUBSTITUTE)
            continue;
        if (mt_has_word(tagged->text.bytes, at, tag->begin))
            return true;
        at = tag->end;
    }
    return mt_has_word(tagged->text.bytes, at, tagged->text.length);
}

bool mt_tagged_is_plain(const struct mt_tagged_text *tagged)
{
    const struct mt_text *text = &tagged->text;
    struct mt_range inner = mt_range_trim(text->bytes, 0, text->length);
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        bool is_all = tag->begin <= inner.begin && tag->end >= inner.end;
        bool is_end = tag->end <= inner.begin || tag->begin >= inner.end;
        bool is_known = tag->kind == MT_TAG_BREAK || (tag->kind == MT_TAG_SPAN && is_all) ||
                        (tag->kind == MT_TAG_POINT && is_end);
        if (!is_known)
            return false;
    }
    return true;
}
