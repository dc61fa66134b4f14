#include "server/documents/cue_layout.h"

#include "base/ascii.h"
#include "base/size.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>

/* A line may break after punctuation that is this share of a line's length, and at most this many
 * characters, away from the even split. */
#define CLAUSE_SHARE 0.25
#define CLAUSE_CHARS 12
/* A break behind a word that is followed by hiragana counts as if it were this many characters
 * further off. */
#define FOLLOWED_CHARS 8

/* A word with its tags. Positions count visible characters from the text's beginning. */
struct word {
    struct mt_range range;
    size_t from, to;
    bool ends_clause;
    bool is_followed; /* by hiragana: usually a particle or an ending, which belongs to the word */
};

struct words {
    struct word *items;
    size_t n, capacity;
};

/* ---- words ---- */

/* Whether the last visible character ends a clause. */
static bool ends_clause(const char *text, struct mt_range last)
{
    static const char *const marks[] = {",",
                                        ";",
                                        ":",
                                        ".",
                                        "!",
                                        "?",
                                        "\xE2\x80\xA6",
                                        "\xE3\x80\x81",
                                        "\xE3\x80\x82",
                                        "\xEF\xBC\x8C",
                                        "\xE2\x80\x94",
                                        "\xE2\x80\x93"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (last.end - last.begin == strlen(marks[i]) &&
            memcmp(text + last.begin, marks[i], last.end - last.begin) == 0)
            return true;
    return false;
}

/* Whether the character is a small kana or the syllabic n, with which no word begins, even if a
 * dictionary says so. */
static bool goes_on(uint32_t c)
{
    static const uint16_t small[] = {0x3041, 0x3043, 0x3045, 0x3047, 0x3049, 0x3063,
                                     0x3083, 0x3085, 0x3087, 0x308E, 0x3093};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (c == small[i] || c == small[i] + 0x60u) /* katakana */
            return true;
    return false;
}

/* Whether the character is Chinese or Japanese, other than punctuation, before which a line may
 * begin if a word does. */
static bool is_word_alone(uint32_t c)
{
    if (goes_on(c))
        return false;
    return (c >= 0x3041 && c <= 0x30FF && c != 0x30FC && c != 0x30FB) ||
           (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
}

static bool is_hiragana(uint32_t c)
{
    return c >= 0x3041 && c <= 0x309F;
}

static enum mt_status add_word(struct words *words, const struct word *word, struct mt_error *err)
{
    if (MT_ROOM(&words->items, &words->capacity, words->n + 1, "words of a subtitle", err))
        return MT_MEMORY;
    words->items[words->n++] = *word;
    return MT_OK;
}

/* Where words begin in scripts without blanks, by ICU's dictionary. */
struct beginnings {
    UText *view;
    UBreakIterator *words; /* NULL: not opened yet */
    bool has_none;         /* memory or a dictionary is missing, and each character is a word */
};

static void open_beginnings(struct beginnings *beginnings, const struct mt_cue_layout *layout)
{
    UErrorCode code = U_ZERO_ERROR;
    beginnings->view = utext_openUTF8(NULL, layout->text, (int64_t)layout->length, &code);
    beginnings->words = ubrk_open(UBRK_WORD, "ja", NULL, 0, &code);
    if (U_SUCCESS(code))
        ubrk_setUText(beginnings->words, beginnings->view, &code);
    beginnings->has_none = U_FAILURE(code);
}

static void close_beginnings(struct beginnings *beginnings)
{
    ubrk_close(beginnings->words);
    utext_close(beginnings->view);
}

static bool begins_word(struct beginnings *beginnings, const struct mt_cue_layout *layout,
                        size_t at)
{
    if (!is_word_alone(mt_utf8_decode(layout->text + at)))
        return false;
    if (!beginnings->words && !beginnings->has_none)
        open_beginnings(beginnings, layout);
    return beginnings->has_none || ubrk_isBoundary(beginnings->words, (int32_t)at);
}

static enum mt_status find_words(const struct mt_cue_layout *layout, struct words *out,
                                 struct mt_error *err)
{
    const char *text = layout->text;
    struct beginnings beginnings = {.has_none = layout->length > INT32_MAX};
    enum mt_status status = MT_OK;
    for (size_t at = 0, seen = 0; at < layout->length && !status;) {
        if (mt_ascii_is_blank(text[at])) {
            at++;
            seen++;
            continue;
        }
        struct word word = {.range = {at, at}, .from = seen};
        struct mt_range last = {at, at};
        while (at < layout->length && !mt_ascii_is_blank(text[at])) {
            size_t n = mt_cue_tag_length(text, layout->length, at, layout->markup);
            size_t n_bytes = n ? n : mt_char_length(text + at);
            if (n == 0)
                last = (struct mt_range){at, at + n_bytes};
            seen += n == 0;
            at += n_bytes;
            bool is_number = n == 0 && mt_ascii_is_digit(text[last.begin]); /* of what follows */
            if (n == 0 && !is_number && at < layout->length && begins_word(&beginnings, layout, at))
                break;
        }
        word.range.end = at;
        word.to = seen;
        word.ends_clause = ends_clause(text, last);
        word.is_followed = at < layout->length && is_hiragana(mt_utf8_decode(text + at));
        status = add_word(out, &word, err);
    }
    close_beginnings(&beginnings);
    return status;
}

size_t mt_cue_chars(const char *text, size_t length, enum mt_cue_markup markup)
{
    size_t n_chars = 0;
    for (size_t at = 0; at < length;) {
        size_t n = mt_cue_tag_length(text, length, at, markup);
        at += n ? n : mt_char_length(text + at);
        n_chars += n == 0;
    }
    return n_chars;
}

/* ---- breaks ---- */

/* The words [first, end) are divided into parts whose lengths should be those in share. Each part
 * has at least one word, as long as there are enough. */
struct division {
    const struct words *words;
    size_t first, end;
    const size_t *share; /* characters; there is a blank between two parts */
    size_t n_parts;
    size_t max_chars; /* of a part; 0: no limit */
};

static double cost_of(const struct division *division, size_t begin, size_t last, double target,
                      double part)
{
    const struct word *word = &division->words->items[last];
    double from = (double)division->words->items[begin].from;
    double cost = fabs((double)word->to - target);
    if (cost < 1e-6 && !word->is_followed)
        return -1e9;
    if (word->ends_clause)
        cost -= fmin(CLAUSE_SHARE * part, CLAUSE_CHARS);
    else if (word->is_followed)
        cost += FOLLOWED_CHARS;
    if (division->max_chars && (double)word->to - from > (double)division->max_chars)
        cost += 3 * ((double)word->to - from - (double)division->max_chars);
    return cost;
}

/* Finds where each part ends: ends[n_parts], of which the last is division->end. */
static void divide(const struct division *division, size_t *ends)
{
    const struct word *items = division->words->items;
    size_t wanted = division->n_parts - 1, begin = division->first, sum = 0;
    for (size_t i = 0; i < division->n_parts; i++)
        wanted += division->share[i];
    size_t origin = begin < division->end ? items[begin].from : 0;
    size_t total = begin < division->end ? items[division->end - 1].to - origin : 0;
    double scale = wanted ? (double)total / (double)wanted : 1;
    for (size_t i = 0; i + 1 < division->n_parts; i++) {
        size_t n_after = division->n_parts - 1 - i; /* parts that still need a word each */
        sum += division->share[i] + (i > 0);
        double target = (double)origin + (double)sum * scale, best = INFINITY;
        double part = (double)division->share[i] * scale;
        size_t chosen = mt_size_min(begin + 1, division->end);
        for (size_t last = begin; last + n_after < division->end; last++) {
            double cost = cost_of(division, begin, last, target, part);
            if ((double)items[last].to - target - CLAUSE_CHARS > fmax(best, 0))
                break; /* from here on the difference only grows */
            if (cost < best) {
                best = cost;
                chosen = last + 1;
            }
        }
        ends[i] = chosen;
        begin = chosen;
    }
    ends[division->n_parts - 1] = division->end;
}

/* ---- writing ---- */

struct writing {
    const struct mt_cue_layout *layout;
    const struct words *words;
    struct mt_cue_tags tags;
    struct mt_text line;
    mt_cue_layout_write *write;
    void *context;
};

static void append_tag(struct writing *writing, const struct mt_cue_tag *tag)
{
    mt_text_append(&writing->line, writing->layout->text + tag->begin, tag->end - tag->begin);
}

static bool is_open_at(const struct writing *writing, const struct mt_cue_tag *tag, size_t at)
{
    return !tag->is_closing && tag->mate != MT_NO_MATE && tag->begin < at &&
           writing->tags.items[tag->mate].begin >= at;
}

static void open_again(struct writing *writing, size_t at)
{
    for (size_t i = 0; i < writing->tags.n; i++)
        if (is_open_at(writing, &writing->tags.items[i], at))
            append_tag(writing, &writing->tags.items[i]);
}

static void close_for_now(struct writing *writing, size_t at)
{
    for (size_t i = writing->tags.n; i-- > 0;)
        if (is_open_at(writing, &writing->tags.items[i], at))
            append_tag(writing, &writing->tags.items[writing->tags.items[i].mate]);
}

/* Writes the lines of a slot, which has the words [first, end). */
static enum mt_status write_slot(struct writing *writing, size_t slot, size_t first, size_t end,
                                 struct mt_error *err)
{
    const struct mt_cue_layout *layout = writing->layout;
    const struct word *items = writing->words->items;
    size_t n_source = layout->slots[slot].n_lines;
    size_t n_chars = items[end - 1].to - items[first].from;
    bool has_room = !layout->slots[slot].shares_cue;
    size_t n_needed = has_room && layout->max_chars && n_chars > layout->max_chars ? 2 : 1;
    size_t n_lines = mt_size_min(mt_size_max(n_source, n_needed), end - first);
    size_t *share = calloc(2 * n_lines, sizeof *share);
    if (!share)
        return mt_fail_memory(err, 2 * n_lines * sizeof *share, "lines of a subtitle");
    size_t *ends = share + n_lines;
    for (size_t i = 0; i < n_lines; i++)
        share[i] = n_lines == n_source ? layout->slots[slot].line_chars[i] : n_chars;
    const struct division division = {.words = writing->words,
                                      .first = first,
                                      .end = end,
                                      .share = share,
                                      .n_parts = n_lines,
                                      .max_chars = layout->max_chars};
    divide(&division, ends);
    for (size_t i = 0, begin = first; i < n_lines; begin = ends[i++]) {
        size_t from = items[begin].range.begin, to = items[ends[i] - 1].range.end;
        writing->line.length = 0;
        if (i == 0)
            open_again(writing, from);
        mt_text_append(&writing->line, layout->text + from, to - from);
        if (i + 1 == n_lines)
            close_for_now(writing, to);
        writing->write(writing->context, slot, i, writing->line.bytes, writing->line.length);
    }
    free(share);
    return mt_text_check(&writing->line, "a subtitle", err);
}

static enum mt_status write_slots(struct writing *writing, struct mt_error *err)
{
    const struct mt_cue_layout *layout = writing->layout;
    size_t n = layout->n_slots;
    size_t *share = calloc(2 * n, sizeof *share);
    if (!share)
        return mt_fail_memory(err, 2 * n * sizeof *share, "subtitles");
    size_t *ends = share + n;
    for (size_t i = 0; i < n; i++) {
        share[i] = layout->slots[i].n_lines - 1;
        for (size_t k = 0; k < layout->slots[i].n_lines; k++)
            share[i] += layout->slots[i].line_chars[k];
    }
    const struct division division = {
        .words = writing->words, .end = writing->words->n, .share = share, .n_parts = n};
    divide(&division, ends);
    enum mt_status status = MT_OK;
    for (size_t i = 0, begin = 0; i < n && !status; begin = ends[i++])
        if (ends[i] > begin)
            status = write_slot(writing, i, begin, ends[i], err);
    free(share);
    return status;
}

enum mt_status mt_cue_layout(const struct mt_cue_layout *layout, mt_cue_layout_write *write,
                             void *context, struct mt_error *err)
{
    struct words words = {0};
    struct writing writing = {
        .layout = layout, .words = &words, .write = write, .context = context};
    mt_cue_tags_find(layout->text, layout->length, layout->markup, &writing.tags);
    enum mt_status status = find_words(layout, &words, err);
    if (!status && words.n > 0)
        status = write_slots(&writing, err);
    mt_text_finish(&writing.line);
    free(words.items);
    return status;
}
