/* Finds what is copied of a line's words: expressions, numbers with their units and signs, names,
 * and what the model cannot read. */
#include "server/text/codes/codes_state.h"
#include "server/text/codes/reading.h"

#include <unicode/uchar.h>

/* ---- brackets that cannot be read ---- */

#define MAX_OPEN_BRACKETS 32
/* Most bytes of a call's arguments, in which there may be blanks. */
#define MAX_CALL_BYTES 80

static bool has_readable(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (finder->taken[i] == MT_FREE && mt_is_word_char(c) && !mt_codes_is_unread(finder, c))
            return true;
        if (finder->taken[i] == MT_TAKEN_WORD || finder->taken[i] == MT_TAKEN_OWN)
            return true;
    }
    return false;
}

static bool is_bracket(uint32_t c, uint32_t mask)
{
    return c >= 0x80 && (U_GET_GC_MASK((UChar32)c) & mask) != 0;
}

/* Claims a pair of brackets or quotation marks around words that can be read. Other brackets are
 * points, or belong to the word that they touch. */
static void take_brackets(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t open[MAX_OPEN_BRACKETS], n = 0;
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        bool opens = is_bracket(c, U_GC_PS_MASK | U_GC_PI_MASK);
        bool closes = is_bracket(c, U_GC_PE_MASK | U_GC_PF_MASK);
        if (finder->taken[i] != MT_FREE || (!opens && !closes) || !mt_codes_is_unread(finder, c))
            continue;
        if (opens && n < MAX_OPEN_BRACKETS)
            open[n++] = i;
        if (!closes || n == 0)
            continue;
        size_t from = open[--n], inner = mt_codes_next(finder, from);
        if (has_readable(finder, inner, i) &&
            mt_codes_claim_pair(finder, (struct mt_range){from, inner},
                                (struct mt_range){i, mt_codes_next(finder, i)}))
            n = 0;
    }
}

/* ---- runs with something that cannot be read ---- */

static bool is_number_sign(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return type == U_OTHER_NUMBER || type == U_LETTER_NUMBER || u_isdigit((UChar32)c);
}

/* Whether a sign beside a word does not belong to it as a letter does. */
static bool is_outer_sign(const struct mt_codes_finder *finder, uint32_t c)
{
    return mt_codes_is_unread(finder, c) && !mt_is_word_char(c) && !is_number_sign(c) &&
           u_getCombiningClass((UChar32)c) == 0;
}

struct content {
    bool has_letter, has_digit, has_unread, begins_digit, has_value;
};

static struct content look_into(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    struct content content = {0};
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        bool is_unread = mt_codes_is_unread(finder, c);
        content.has_unread = content.has_unread || is_unread;
        content.has_letter = content.has_letter || (mt_is_word_char(c) && !u_isdigit((UChar32)c));
        content.has_digit = content.has_digit || u_isdigit((UChar32)c);
        content.has_value = content.has_value || is_number_sign(c);
    }
    uint32_t first = begin < end ? mt_codes_at(finder, begin) : 0;
    content.begins_digit = is_number_sign(first) || mt_codes_joins_numbers(first) ||
                           ((first == '+' || first == '-') && content.has_digit);
    return content;
}

/* Claims an amount. With a unit it is no bare number to the model, which counts what it sees behind
 * one, or makes years and hours of it. */
static bool take_amount(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    uint32_t last = mt_codes_before(finder, end);
    bool has_unit = last == 0xB0 || look_into(finder, begin, end).has_letter ||
                    u_charType((UChar32)last) == U_CURRENCY_SYMBOL ||
                    u_charType((UChar32)mt_codes_at(finder, begin)) == U_CURRENCY_SYMBOL;
    if (!mt_codes_claim_amount(finder, begin, end))
        return false;
    if (has_unit)
        mt_codes_change(finder, finder->n - 1, MT_CODE_WORD);
    return true;
}

/* Claims one code, or one on each side of the reader's codes where only half of a pair is
 * within. */
static void claim_word(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    struct content content = look_into(finder, begin, end);
    bool is_number = content.has_value && content.begins_digit;
    if (!content.has_unread || (is_number ? take_amount(finder, begin, end)
                                          : mt_codes_take(finder, MT_CODE_WORD, begin, end)))
        return;
    const struct mt_coded_segment *segment = finder->segment;
    size_t at = begin;
    for (size_t i = mt_codes_first_own(segment, begin);
         i < segment->n && segment->codes[i].at.begin < end; i++) {
        mt_codes_claim(finder, MT_CODE_WORD, at, segment->codes[i].at.begin);
        at = segment->codes[i].at.begin;
    }
    if (at > begin)
        mt_codes_claim(finder, MT_CODE_WORD, at, end);
}

/* Returns where the word ends that begins at text[begin]. Hyphens, slashes and brackets separate
 * words that can be read from others: "日本語/English" is two. */
static size_t piece_end(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    while (begin < end && !mt_codes_is_one_of(finder->text[begin], "-/(),:"))
        begin = mt_codes_next(finder, begin);
    return begin;
}

static bool is_readable_word(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i), n++) {
        uint32_t c = mt_codes_at(finder, i);
        if (!mt_codes_is_letter(c) || mt_codes_is_unread(finder, c))
            return false;
    }
    return n >= 3;
}

/* Claims text[begin, end) except for readable words at its hyphens and slashes. */
static void take_pieces(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t from = begin, last = begin;
    for (size_t at = begin; at < end;) {
        size_t stop = piece_end(finder, at, end), next = stop < end ? stop + 1 : stop;
        bool is_word = is_readable_word(finder, at, stop);
        if (is_word) {
            claim_word(finder, from, last);
            from = next;
        }
        last = is_word ? from : stop;
        at = next;
    }
    claim_word(finder, from, end);
}

/* Whether this is the rest of a key's name without its sign, as in ⌘C and ⌥+Shift: a single letter,
 * or what + joins. */
static bool is_key(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n_letters = 0;
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i))
        n_letters += mt_codes_is_letter(mt_codes_at(finder, i));
    return (n_letters == 1 && mt_codes_next(finder, begin) == end) || finder->text[begin] == '+';
}

/* Claims signs such as ★ at both ends of a word apart from it, and returns the word. */
static struct mt_range take_outer_signs(struct mt_codes_finder *finder, struct mt_range core)
{
    size_t begin = core.begin, end = core.end;
    while (begin < end && is_outer_sign(finder, mt_codes_at(finder, begin)))
        begin = mt_codes_next(finder, begin);
    while (end > begin && is_outer_sign(finder, mt_codes_before(finder, end)))
        end = mt_previous_char(finder->text, end);
    struct content inner = look_into(finder, begin, end);
    bool joins = (begin > core.begin && mt_codes_joins_numbers(mt_codes_before(finder, begin))) ||
                 (end < core.end && mt_codes_joins_numbers(mt_codes_at(finder, end)));
    bool is_number =
        inner.has_digit && (!inner.has_letter || is_number_sign(mt_codes_at(finder, begin)));
    if (begin == end || (joins && is_number) || is_key(finder, begin, end))
        return core;
    if (core.begin < begin)
        mt_codes_claim(finder, MT_CODE_POINT, core.begin, begin);
    if (end < core.end)
        mt_codes_claim(finder, MT_CODE_POINT, end, core.end);
    return (struct mt_range){begin, end};
}

/* Claims punctuation that cannot be read: together with the word it touches where that cannot be
 * read either, otherwise as a point. */
static struct mt_range take_outer_marks(struct mt_codes_finder *finder,
                                        const struct mt_codes_item *item, struct mt_range core)
{
    bool is_word = look_into(finder, core.begin, core.end).has_unread;
    while (is_word && core.begin > item->begin && core.begin <= item->core_begin &&
           mt_codes_is_unread(finder, mt_codes_before(finder, core.begin)))
        core.begin = mt_previous_char(finder->text, core.begin);
    while (is_word && core.end < item->end && core.end >= item->core_end &&
           mt_codes_is_unread(finder, mt_codes_at(finder, core.end)))
        core.end = mt_codes_next(finder, core.end);
    for (size_t i = item->begin; i < item->end; i = mt_codes_next(finder, i))
        if ((i < core.begin || i >= core.end) && mt_codes_is_unread(finder, mt_codes_at(finder, i)))
            mt_codes_claim(finder, MT_CODE_POINT, i, mt_codes_next(finder, i));
    return core;
}

/* Whether the character is a sign that stands beside a number, with a blank in between: 20 °C, 10
 * ‰, 5 €; § 5, № 5. */
static bool is_unit_sign(uint32_t c)
{
    return c == 0xB0 || c == 0x2030 || c == 0x2031 || c == 0x2032 || c == 0x2033 || c == 0x2103 ||
           c == 0x2109 || u_charType((UChar32)c) == U_CURRENCY_SYMBOL;
}

static bool is_number_item(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return item->taken == MT_FREE && item->has_digit && !item->has_letter &&
           item->core_end > item->core_begin &&
           mt_codes_is_free(finder, item->core_begin, item->core_end);
}

/* Joins a number and the code behind it, which is its unit, as in 50 m². Returns whether it did. */
static bool join_unit(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i], *before = i > 0 ? item - 1 : NULL;
    if (!before || !is_number_item(finder, before) || before->core_end != before->end ||
        item->core_begin != item->begin || item->begin != mt_codes_next(finder, before->end) ||
        item->core_end - item->core_begin > 8)
        return false;
    size_t n_letters = 0;
    for (size_t k = item->core_begin; k < item->core_end; k = mt_codes_next(finder, k)) {
        uint32_t c = mt_codes_at(finder, k);
        bool is_greek = c == 0x3A9 || c == 0x3BC || c == 0x2126;
        n_letters += mt_codes_is_letter(c);
        if (mt_is_word_char(c) ? n_letters > 3 || (c > 0x2FF && !is_greek)
                               : !is_unit_sign(c) && !is_number_sign(c) && c != '/')
            return false;
    }
    return take_amount(finder, before->core_begin, item->core_end);
}

/* Joins a sign such as those of § 5 and № 5 with the number behind it. Returns whether it did. */
static bool join_number(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i], *next = item + 1;
    uint32_t c = mt_codes_at(finder, item->begin);
    bool is_sign = (c == 0xA7 || c == 0x2116 || u_charType((UChar32)c) == U_CURRENCY_SYMBOL) &&
                   mt_codes_next(finder, item->begin) == item->end;
    return is_sign && i + 1 < finder->n_items && is_number_item(finder, next) &&
           next->core_begin == next->begin && next->begin == mt_codes_next(finder, item->end) &&
           mt_codes_claim_amount(finder, item->begin, next->core_end);
}

/* Whether the run consists of signs. What these mean depends on what is around them
 * (codes_edges.c). */
static bool is_signs(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (mt_is_word_char(c) || is_number_sign(c))
            return false;
    }
    return true;
}

/* Makes one code of two words of another script that a blank separates. */
static void join_words(struct mt_codes_finder *finder)
{
    if (finder->n < 2)
        return;
    const struct mt_code *last = &finder->found[finder->n - 1].code;
    const struct mt_code *before = &finder->found[finder->n - 2].code;
    if (last->kind == MT_CODE_WORD && before->kind == MT_CODE_WORD &&
        last->at.begin == before->at.end + 1 && finder->text[before->at.end] == ' ')
        mt_codes_join(finder);
}

/* Returns where a name ends without its 's. */
static size_t without_genitive(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    if (end - begin < 3 || finder->text[end - 1] != 's')
        return end;
    uint32_t mark = mt_codes_before(finder, end - 1);
    return mark == '\'' || mark == 0x2019 ? mt_previous_char(finder->text, end - 1) : end;
}

/* Copies a name with letters that the model reads as others (José, Xi), because the model would
 * spell it with those. The X of X-ray is not copied, but X-200 is. */
static void take_respelt(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item item = finder->items[i];
    size_t end = without_genitive(finder, item.core_begin, item.core_end);
    size_t first = mt_codes_next(finder, item.core_begin);
    if (!(item.is_name || first == end) || /* "ñ is a letter" */
        (first < end && finder->text[first] == '-' && !mt_codes_digit_at(finder, first + 1)))
        return;
    if (mt_codes_take(finder, MT_CODE_WORD, item.core_begin, end))
        join_words(finder);
}

static void take_unread(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item item = finder->items[i];
    size_t n_before = finder->n;
    if (!item.has_unread || join_unit(finder, i) || join_number(finder, i) ||
        is_signs(finder, item.begin, item.end))
        return;
    struct mt_range core = {item.core_begin, item.core_end};
    core = take_outer_signs(finder, core);
    core = take_outer_marks(finder, &item, core);
    if (look_into(finder, core.begin, core.end).has_unread)
        take_pieces(finder, core.begin, without_genitive(finder, core.begin, core.end));
    if (finder->n == n_before + 1)
        join_words(finder);
}

/* ---- names ---- */

/* Returns where the brackets that are open in text[begin, end) are closed, as in obj.method(1,
 * 2). */
static size_t call_end(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const char *open = memchr(finder->text + begin, '(', end - begin);
    if (!open || memchr(open, ')', end - (size_t)(open - finder->text)))
        return end;
    for (size_t i = end; i < finder->length && i - end < MAX_CALL_BYTES; i++) {
        if (mt_codes_is_one_of(finder->text[i], "(\n"))
            break;
        if (finder->text[i] == ')')
            return i + 1;
    }
    return end;
}

static void take_name_in(struct mt_codes_finder *finder, size_t least, size_t begin, size_t end)
{
    size_t from = begin;
    while (from > least && mt_codes_is_one_of(finder->text[from - 1], ".~")) /* .NET */
        from--;
    if (begin - from == 2 && memcmp(finder->text + from, "..\\", 3) == 0) { /* ..\data\file */
        mt_codes_claim(finder, MT_CODE_WORD, from, end);
        return;
    }
    size_t n = mt_codes_match_name(finder->text, from, call_end(finder, from, end));
    if (!n && from < begin)
        n = mt_codes_match_name(finder->text, from = begin, end);
    if (!n && end - begin > 2 && memcmp(finder->text + begin, "*.", 2) == 0) /* *.txt */
        while (begin + n < end && (n < 2 || mt_codes_is_name_char(finder->text[begin + n])))
            n++;
    if (n)
        mt_codes_claim(finder, MT_CODE_WORD, from, from + n);
}

static void take_name(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item item = finder->items[i];
    size_t least = item.begin;
    for (size_t begin = item.core_begin, end; begin < item.core_end; begin = end) {
        bool is_ideograph = mt_codes_at(finder, begin) >= MT_FIRST_IDEOGRAPH;
        end = begin;
        while (end < item.core_end &&
               (mt_codes_at(finder, end) >= MT_FIRST_IDEOGRAPH) == is_ideograph)
            end = mt_codes_next(finder, end);
        if (!is_ideograph)
            take_name_in(finder, least, begin, end);
        least = end;
    }
}

/* Claims initials of at least three letters, such as a.k.a. and U.S.A., because models take their
 * full stops for ends of sentences, and U.S. alone, of which they make "us". */
static bool take_initials(struct mt_codes_finder *finder, size_t i)
{
    size_t begin = finder->items[i].core_begin, at = begin, end = finder->items[i].end;
    while (at + 1 < end && mt_ascii_is_letter(finder->text[at]) && finder->text[at + 1] == '.')
        at += 2;
    size_t least = finder->n_items == 1 && mt_ascii_is_capital(finder->text[begin]) ? 4 : 6;
    return at - begin >= least && !mt_codes_is_letter(mt_codes_at(finder, at)) &&
           mt_codes_take(finder, MT_CODE_WORD, begin, at);
}

/* Claims ranges of letters such as A–Z and a-f, of which models may take one for a word. */
static bool take_letters(struct mt_codes_finder *finder, size_t i)
{
    size_t first = finder->items[i].core_begin, dash = first + 1, end = finder->items[i].core_end;
    uint32_t c = mt_codes_at(finder, dash);
    size_t last = dash < end ? mt_codes_next(finder, dash) : end;
    return last + 1 == end && (c == '-' || c == 0x2013) &&
           mt_ascii_is_letter(finder->text[first]) && mt_ascii_is_letter(finder->text[last]) &&
           mt_codes_take(finder, MT_CODE_WORD, first, end);
}

/* Claims "Smith et al.", of which models take the end for a sentence's. */
static size_t take_et_al(struct mt_codes_finder *finder, size_t i)
{
    static const char *const et[] = {"et", NULL}, *const al[] = {"al", NULL};
    const struct mt_codes_item *name = mt_codes_item_at(finder, i);
    if (!name->is_name || !mt_codes_is_english(finder) ||
        !mt_codes_item_is(finder, mt_codes_item_at(finder, i + 1), et) ||
        !mt_codes_item_is(finder, mt_codes_item_at(finder, i + 2), al) ||
        !mt_codes_follows(finder, name, name + 1) || !mt_codes_follows(finder, name + 1, name + 2))
        return 0;
    size_t end = name[2].core_end + (mt_codes_char(finder, name[2].core_end) == '.');
    return mt_codes_take(finder, MT_CODE_WORD, name->core_begin, end) ? 3 : 0;
}

/* Claims single letters with slashes between them, such as n/a, c/o and a/b, and Y/N alone. */
static bool take_slashed(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    bool is_alone = finder->n_items == 1, is_one = item->core_end - item->core_begin >= 3;
    for (size_t at = item->core_begin; at < item->core_end && is_one; at++) {
        char c = finder->text[at];
        is_one = (at - item->core_begin) % 2 == 1
                     ? c == '/'
                     : mt_ascii_is_small(c) || (is_alone && mt_ascii_is_capital(c));
    }
    return is_one && mt_ascii_is_letter(finder->text[item->core_end - 1]) &&
           !mt_reading_of_slashed(finder->text, item->core_begin, item->core_end, NULL) &&
           mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
}

/* Whether text[begin, end) begins with digits and signs as the pattern has them: 0000-00-00. */
static bool is_like(const struct mt_codes_finder *finder, size_t begin, size_t end,
                    const char *pattern)
{
    size_t n = strlen(pattern);
    for (size_t i = 0; i < n && begin + i < end; i++)
        if (pattern[i] == '0' ? !mt_codes_digit_at(finder, begin + i)
                              : finder->text[begin + i] != pattern[i])
            return false;
    return end >= begin + n && !mt_codes_digit_at(finder, begin + n);
}

/* Claims the time of a log's line, 2024-01-15 10:23:45, and what stands behind that of a mail,
 * +0000. */
static size_t take_timestamp(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i], *next = item + 1;
    if (i + 1 < finder->n_items && next->taken == MT_FREE &&
        is_like(finder, item->core_begin, item->end, "0000-00-00") &&
        item->end == item->core_begin + 10 && next->begin == item->end + 1 &&
        is_like(finder, next->begin, next->core_end, "00:00"))
        return mt_codes_take(finder, MT_CODE_NUMBER, item->core_begin, next->core_end) ? 2 : 0;
    size_t sign = item->core_begin;
    return i > 0 && item[-1].has_digit && mt_codes_is_one_of(mt_codes_char(finder, sign), "+-") &&
           item->core_end == sign + 5 && is_like(finder, sign + 1, item->core_end, "0000") &&
           mt_codes_take(finder, MT_CODE_NUMBER, sign, item->core_end);
}

/* Claims the -h of "-h, --help", a masked word: f***, and the 'n' of Rock 'n' Roll. */
static bool take_masked(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    size_t begin = item->core_begin, at = begin, end = item->core_end;
    if (end - begin == 2 && finder->text[begin] == '-' &&
        mt_ascii_is_letter(finder->text[at + 1]) && mt_codes_char(finder, end) == ',')
        return mt_codes_take(finder, MT_CODE_WORD, begin, end);
    uint32_t open = mt_codes_at(finder, item->begin), close = mt_codes_before(finder, item->end);
    bool is_and = end == begin + 1 && mt_codes_is_one_of(finder->text[begin], "nN") && i > 0 &&
                  i + 1 < finder->n_items && (open == '\'' || open == 0x2018 || open == 0x2019) &&
                  (close == '\'' || close == 0x2019);
    if (is_and)
        return mt_codes_take(finder, MT_CODE_WORD, item->begin, item->end);
    while (at < end && mt_ascii_is_letter(finder->text[at]))
        at++;
    size_t n_stars = strspn(finder->text + at, "*");
    return at > begin && at - begin <= 2 && n_stars >= 2 && at + n_stars == end &&
           mt_codes_take(finder, MT_CODE_WORD, begin, end);
}

/* Claims the marks of notes at a word: Price*, (*including tax), Name†. */
static void take_note_marks(struct mt_codes_finder *finder, size_t i)
{
    static const uint32_t marks[] = {'*', 0x2020, 0x2021};
    const struct mt_codes_item item = finder->items[i];
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        size_t begin = item.core_begin, end = item.core_end, n_letters = 0;
        while (begin < end && mt_codes_at(finder, begin) == marks[k])
            begin = mt_codes_next(finder, begin);
        while (end > begin && mt_codes_before(finder, end) == marks[k])
            end = mt_previous_char(finder->text, end);
        for (size_t at = begin; at < end; at = mt_codes_next(finder, at))
            n_letters += mt_codes_is_letter(mt_codes_at(finder, at));
        if (n_letters < 2 || (begin == item.core_begin && end == item.core_end))
            continue;
        mt_codes_claim(finder, MT_CODE_POINT, item.core_begin, begin);
        mt_codes_claim(finder, MT_CODE_POINT, end, item.core_end);
        return;
    }
}

/* Returns how many of the items from i on are options of a command: -b new-branch, --save. What
 * follows a short one is its value where it is no common word, or the last one. */
static size_t count_options(const struct mt_codes_finder *finder, size_t i)
{
    size_t n = 0;
    while (i + n < finder->n_items && finder->items[i + n].taken == MT_FREE &&
           finder->text[finder->items[i + n].begin] == '-' && finder->items[i + n].has_letter) {
        const struct mt_codes_item *option = &finder->items[i + n++], *value = option + 1;
        bool is_short = option->end - option->begin == 2;
        if (!is_short || i + n >= finder->n_items || value->taken != MT_FREE)
            continue;
        bool is_common = true;
        for (size_t at = value->core_begin; at < value->core_end; at++)
            is_common = is_common && mt_ascii_is_letter(finder->text[at]);
        n += !is_common || i + n + 1 == finder->n_items;
    }
    return n;
}

/* Claims the command in "Run npm install first." and returns how many items it took. */
static size_t take_command(struct mt_codes_finder *finder, size_t i)
{
    size_t begin = finder->items[i].begin;
    if (i + 1 >= finder->n_items)
        return 0;
    size_t n = mt_codes_match_command(finder, begin, finder->items[i + 1].end);
    size_t end = begin + n, n_items = 2 + (n > 0 ? count_options(finder, i + 2) : 0);
    if (n_items > 2)
        end = finder->items[i + n_items - 1].core_end;
    return n && mt_codes_take(finder, MT_CODE_WORD, begin, end) ? n_items : 0;
}

static void take_items(struct mt_codes_finder *finder)
{
    size_t none_before = 0;
    for (size_t i = 0; i < finder->n_items && !finder->status; i++) {
        if (finder->items[i].taken != MT_FREE)
            continue;
        size_t n = take_timestamp(finder, i);
        if (!n)
            n = mt_codes_take_measure(finder, i);
        if (!n)
            n = mt_codes_take_expression(finder, i, &none_before);
        if (!n)
            n = mt_codes_take_number(finder, i);
        if (!n)
            n = take_initials(finder, i) || take_letters(finder, i) || take_masked(finder, i) ||
                take_slashed(finder, i);
        if (!n)
            n = take_et_al(finder, i);
        if (!n)
            n = take_command(finder, i);
        if (n) {
            i += n - 1;
            continue;
        }
        take_name(finder, i);
        take_note_marks(finder, i);
        take_unread(finder, i);
        if (finder->items[i].is_respelt && !finder->items[i].has_unread)
            take_respelt(finder, i);
    }
}

/* Whether the character is invisible, or selects how the letter before it looks where the letter
 * has only one look, or there is none. */
static bool is_unseen(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t c = mt_codes_at(finder, at), before = mt_codes_before(finder, at);
    bool is_selector = c >= 0xFE00 && c <= 0xFE0F;
    bool has_one_look = (before < 0x250 && mt_codes_is_letter(before)) || mt_codes_is_blank(before);
    return finder->taken[at] == MT_FREE &&
           (mt_codes_is_invisible(finder, c) || (is_selector && has_one_look));
}

/* Claims invisible characters, so that the model does not get them. */
static void take_invisible(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t i = begin, next; i < end; i = next) {
        next = mt_codes_next(finder, i);
        if (!is_unseen(finder, i))
            continue;
        while (next < end && is_unseen(finder, next))
            next = mt_codes_next(finder, next);
        mt_codes_claim(finder, MT_CODE_POINT, i, next);
    }
}

void mt_codes_find_words(struct mt_codes_finder *finder)
{
    for (size_t begin = 0; begin < finder->length && !finder->status;) {
        size_t end = mt_codes_line_end(finder, begin);
        mt_codes_take_glued(finder, begin, end);
        mt_codes_take_bars(finder, begin, end);
        take_brackets(finder, begin, end);
        if (mt_codes_list_items(finder, begin, end))
            take_items(finder);
        take_invisible(finder, begin, end);
        begin = end < finder->length ? mt_codes_next(finder, end) : end;
    }
}
