/* Finds amounts with units that models break: angles, feet and inches, packs, durations, times of
 * day. */
#include "server/text/codes/codes_state.h"

#include <unicode/uchar.h>

/* How far back the quotation mark is looked for that another one closes. */
#define MAX_QUOTED_BYTES 1000

/* Claims 10 Mbit/s, 500 kbps. */
static size_t take_speed(struct mt_codes_finder *finder, size_t i)
{
    static const char *const units[] = {"bit/s", "B/s", "b/s", "bps", "Bps", "iB/s", NULL};
    const struct mt_codes_item *number = mt_codes_item_at(finder, i);
    struct mt_codes_item unit = *mt_codes_item_at(finder, i + 1);
    bool is_one = mt_codes_is_number(finder, number) && mt_codes_follows(finder, number, &unit) &&
                  mt_codes_is_one_of(finder->text[unit.core_begin], "kKMGT");
    unit.core_begin++;
    return is_one && mt_codes_item_is(finder, &unit, units) &&
                   mt_codes_claim_amount(finder, number->core_begin, unit.core_end)
               ? 2
               : 0;
}

/* Claims 4 m x 5 m, because models lose one of the units. */
static size_t take_sides(struct mt_codes_finder *finder, size_t i)
{
    static const char *const units[] = {"mm", "cm", "m", "km", "in", "ft", "px", NULL};
    static const char *const signs[] = {"x", "X", NULL};
    size_t n = 0;
    while (mt_codes_is_number(finder, mt_codes_item_at(finder, i + n)) &&
           mt_codes_item_is(finder, mt_codes_item_at(finder, i + n + 1), units) &&
           mt_codes_follows(finder, mt_codes_item_at(finder, i + n),
                            mt_codes_item_at(finder, i + n + 1))) {
        n += 2;
        if (!mt_codes_item_is(finder, mt_codes_item_at(finder, i + n), signs) ||
            !mt_codes_follows(finder, mt_codes_item_at(finder, i + n - 1),
                              mt_codes_item_at(finder, i + n)))
            break;
        n++;
    }
    return n >= 5 && n % 3 == 2 &&
                   mt_codes_take(finder, MT_CODE_NUMBER, mt_codes_item_at(finder, i)->core_begin,
                                 mt_codes_item_at(finder, i + n - 1)->core_end)
               ? n
               : 0;
}

/* Claims 10 x 20 x 30 cm, of which models take the unit for another one. */
static size_t take_box(struct mt_codes_finder *finder, size_t i)
{
    static const char *const units[] = {"mm", "cm", "m", "km", "in", "ft", "px", NULL};
    static const char *const signs[] = {"x", "X", NULL};
    size_t n = 0;
    while (mt_codes_is_number(finder, mt_codes_item_at(finder, i + n)) &&
           mt_codes_item_is(finder, mt_codes_item_at(finder, i + n + 1), signs) &&
           mt_codes_follows(finder, mt_codes_item_at(finder, i + n),
                            mt_codes_item_at(finder, i + n + 1)))
        n += 2;
    const struct mt_codes_item *last = mt_codes_item_at(finder, i + n),
                               *unit = mt_codes_item_at(finder, i + n + 1);
    bool is_one = n > 0 && mt_codes_is_number(finder, last) &&
                  mt_codes_item_is(finder, unit, units) && mt_codes_follows(finder, last, unit);
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, mt_codes_item_at(finder, i)->core_begin,
                                   unit->core_end)
               ? n + 2
               : 0;
}

static const char *const portions[] = {"g", "ml", "cl", "dl", NULL};

/* Whether the item is an ordinary word that begins small, such as what there is a portion of. */
static bool is_ware(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return item->core_end - item->core_begin > 2 &&
           u_islower((UChar32)mt_codes_at(finder, item->core_begin)) && mt_codes_is_english(finder);
}

/* Claims 2 x 400 g, because models take the letter for a part of the next word. */
static size_t take_pack(struct mt_codes_finder *finder, size_t i)
{
    static const char *const signs[] = {"x", "X", "\xC3\x97", NULL};
    const struct mt_codes_item *first = mt_codes_item_at(finder, i),
                               *unit = mt_codes_item_at(finder, i + 3),
                               *what = mt_codes_item_at(finder, i + 4);
    for (size_t k = 0; k < 3; k++)
        if (!mt_codes_follows(finder, mt_codes_item_at(finder, i + k),
                              mt_codes_item_at(finder, i + k + 1)))
            return 0;
    bool is_one = mt_codes_is_number(finder, first) &&
                  mt_codes_item_is(finder, mt_codes_item_at(finder, i + 1), signs) &&
                  mt_codes_is_number(finder, mt_codes_item_at(finder, i + 2)) &&
                  mt_codes_item_is(finder, unit, portions);
    bool is_portion = mt_codes_follows(finder, unit, what) && is_ware(finder, what);
    return is_one && mt_codes_take(finder, is_portion ? MT_CODE_WORD : MT_CODE_NUMBER,
                                   first->core_begin, unit->core_end)
               ? 4
               : 0;
}

/* Returns where an amount of time that begins at item i ends, 30 min or 30min; its unit is one of
 * these. *n gets the number of items; 0: there is none. */
static size_t time_end(const struct mt_codes_finder *finder, size_t i, const char *const *units,
                       size_t *n)
{
    const struct mt_codes_item *number = mt_codes_item_at(finder, i);
    struct mt_codes_item unit = *mt_codes_item_at(finder, i + 1);
    size_t end = number->core_begin;
    *n = 0;
    if (number->taken != MT_FREE || number->core_begin != number->begin)
        return 0;
    while (end < number->core_end && mt_codes_digit_at(finder, end))
        end++;
    bool is_glued = end > number->core_begin && end < number->core_end;
    if (is_glued) {
        unit = *number;
        unit.core_begin = end;
    }
    if (end > number->core_begin && (is_glued || mt_codes_follows(finder, number, &unit)) &&
        mt_codes_item_is(finder, &unit, units))
        *n = is_glued ? 1 : 2;
    return unit.core_end;
}

/* Claims 1 h 30 min and 2h 15m, of which models make times of day. */
static size_t take_duration(struct mt_codes_finder *finder, size_t i)
{
    static const char *const hours[] = {"h", "hr", "hrs", NULL};
    static const char *const minutes[] = {"m", "min", "mins", NULL};
    static const char *const seconds[] = {"s", "sec", "secs", NULL};
    static const char *const *const all[] = {hours, minutes, seconds};
    size_t n = 0, n_parts = 0, end = 0;
    for (size_t k = 0, taken; k < sizeof all / sizeof *all; k++) {
        size_t stop = time_end(finder, i + n, all[k], &taken);
        bool is_next =
            taken > 0 && (n == 0 || mt_codes_follows(finder, mt_codes_item_at(finder, i + n - 1),
                                                     mt_codes_item_at(finder, i + n)));
        end = is_next ? stop : end;
        n += is_next ? taken : 0;
        n_parts += is_next;
    }
    return n_parts >= 2 &&
                   mt_codes_take(finder, MT_CODE_WORD, mt_codes_item_at(finder, i)->core_begin, end)
               ? n
               : 0;
}

/* Claims 500 g of "500 g sugar" in recipes: models take the letter for a part of the next word. */
static size_t take_portion(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *number = mt_codes_item_at(finder, i),
                               *unit = mt_codes_item_at(finder, i + 1),
                               *what = mt_codes_item_at(finder, i + 2);
    bool is_one = mt_codes_is_number(finder, number) && mt_codes_item_is(finder, unit, portions) &&
                  mt_codes_follows(finder, number, unit) && mt_codes_follows(finder, unit, what) &&
                  is_ware(finder, what);
    return is_one && mt_codes_take(finder, MT_CODE_WORD, number->core_begin, unit->core_end) ? 2
                                                                                             : 0;
}

/* Claims 2 1/2: models read two numbers and lose one. */
static size_t take_mixed(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *whole = mt_codes_item_at(finder, i),
                               *part = mt_codes_item_at(finder, i + 1);
    if (!mt_codes_is_digits(finder, whole->begin, whole->end) ||
        !mt_codes_follows(finder, whole, part))
        return 0;
    const char *slash =
        memchr(finder->text + part->core_begin, '/', part->core_end - part->core_begin);
    size_t at = slash ? (size_t)(slash - finder->text) : part->core_end;
    bool is_one = mt_codes_is_digits(finder, part->core_begin, at) &&
                  mt_codes_is_digits(finder, at + 1, part->core_end) && part->core_end - at <= 3;
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, whole->begin, part->core_end) ? 2 : 0;
}

/* Claims an interval or a point: [0, 1), (2, 3). */
static size_t take_interval(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *first = mt_codes_item_at(finder, i),
                               *last = mt_codes_item_at(finder, i + 1);
    const char *text = finder->text;
    bool is_one =
        first->taken == MT_FREE && last->taken == MT_FREE &&
        mt_codes_is_one_of(text[first->begin], "[(") && first->begin + 1 == first->core_begin &&
        first->core_end + 1 == first->end && text[first->core_end] == ',' &&
        last->begin == mt_codes_next(finder, first->end) && last->begin == last->core_begin &&
        last->core_end < last->end && mt_codes_is_one_of(text[last->core_end], ")]") &&
        mt_codes_is_number(finder, first) && mt_codes_is_number(finder, last);
    return is_one && mt_codes_take(finder, MT_CODE_WORD, first->begin, last->core_end + 1) ? 2 : 0;
}

/* Claims 5 ft 11 in. */
static size_t take_feet_in_words(struct mt_codes_finder *finder, size_t i)
{
    static const char *const feet[] = {"ft", NULL}, *const inches[] = {"in", NULL};
    for (size_t k = 0; k < 3; k++)
        if (!mt_codes_follows(finder, mt_codes_item_at(finder, i + k),
                              mt_codes_item_at(finder, i + k + 1)) &&
            k < 2)
            return 0;
    bool is_one = mt_codes_is_number(finder, mt_codes_item_at(finder, i)) &&
                  mt_codes_item_is(finder, mt_codes_item_at(finder, i + 1), feet) &&
                  mt_codes_is_number(finder, mt_codes_item_at(finder, i + 2)) &&
                  mt_codes_item_is(finder, mt_codes_item_at(finder, i + 3), inches) &&
                  mt_codes_item_at(finder, i + 3)->taken == MT_FREE;
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, mt_codes_item_at(finder, i)->begin,
                                   mt_codes_item_at(finder, i + 3)->core_end)
               ? 4
               : 0;
}

/* Claims feet and inches: 5'11", 6' 2". */
static size_t take_feet(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin, begin = at;
    while (at < item->end && at - begin < 2 && mt_codes_digit_at(finder, at))
        at++;
    uint32_t foot = mt_codes_at(finder, at);
    if (at == begin || at >= item->end || (foot != '\'' && foot != 0x2019 && foot != 0x2032))
        return 0;
    at = mt_codes_next(finder, at);
    size_t inches = at;
    while (at < item->end && at - inches < 3 &&
           (mt_codes_digit_at(finder, at) || finder->text[at] == '.'))
        at++;
    uint32_t inch = mt_codes_at(finder, at);
    bool has_mark = at < item->end && (inch == '"' || inch == 0x201D || inch == 0x2033);
    if (at == inches || (!has_mark && at != item->core_end))
        return 0;
    at = has_mark ? mt_codes_next(finder, at) : at;
    return mt_codes_take(finder, MT_CODE_WORD, begin, at);
}

static bool is_minute_sign(uint32_t c)
{
    return c == '\'' || c == '"' || c == 0x2019 || c == 0x201D || c == 0x2032 || c == 0x2033;
}

/* Claims an angle or a geographical coordinate: 48°51′24″N, 2°21'E, 45°N. 20°C is neither. */
static size_t take_angle(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->core_begin, at = mt_codes_number_end(finder, begin, item->end),
           n_parts = 1;
    if (at == begin || at >= item->end || mt_codes_at(finder, at) != 0xB0)
        return 0;
    at = mt_codes_next(finder, at);
    while (at < item->end && n_parts < 3 && mt_codes_digit_at(finder, at)) {
        size_t stop = mt_codes_number_end(finder, at, item->end);
        if (stop >= item->end || !is_minute_sign(mt_codes_at(finder, stop)))
            break;
        at = mt_codes_next(finder, stop);
        n_parts++;
    }
    bool has_side = at < item->end && mt_codes_is_one_of(finder->text[at], "NSEW") &&
                    !mt_codes_is_letter(mt_codes_at(finder, at + 1));
    at += has_side;
    bool is_one = (has_side || n_parts > 1) && !mt_codes_is_letter(mt_codes_at(finder, at));
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, begin, at);
}

/* Claims 15" and 15″: inches, unless the mark closes what another one has opened; 12" x 8" is
 * one. */
static size_t take_inches(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_end, open = 0, from = finder->items[0].begin;
    struct mt_codes_item number = *item;
    uint32_t last = mt_codes_before(finder, at);
    bool has_prime = last == 0x2032 || last == 0x2033;
    number.core_end = has_prime ? mt_previous_char(finder->text, at) : at;
    bool is_one = item->begin == item->core_begin && mt_codes_is_number(finder, &number) &&
                  (has_prime || (at < item->end && finder->text[at] == '"'));
    from = at > MAX_QUOTED_BYTES && from < at - MAX_QUOTED_BYTES ? at - MAX_QUOTED_BYTES : from;
    for (size_t k = from; k < at && is_one && !has_prime; k++)
        open += finder->text[k] == '"' && finder->taken[k] == MT_FREE;
    if (!is_one || open % 2 == 1 ||
        !mt_codes_take(finder, MT_CODE_NUMBER, item->begin, has_prime ? at : at + 1))
        return 0;
    static const char *const signs[] = {"x", "X", "\xC3\x97", NULL};
    if (i > 1 && mt_codes_item_is(finder, mt_codes_item_at(finder, i - 1), signs) &&
        finder->n > 1 &&
        finder->found[finder->n - 2].code.at.end + 1 == mt_codes_item_at(finder, i - 1)->begin)
        mt_codes_join(finder);
    return 1;
}

/* Returns where the time of day at text[at] ends, 9am or 5:30pm; `at`: there is none. */
static size_t half_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    size_t begin = at;
    for (; at < end && at - begin < 5; at++) {
        bool is_joint = at > begin && mt_codes_is_one_of(finder->text[at], ":.");
        if (!is_joint && !mt_codes_digit_at(finder, at))
            break;
    }
    bool is_half = at > begin && at + 2 <= end && mt_codes_is_one_of(finder->text[at], "apAP") &&
                   (finder->text[at + 1] | 0x20) == 'm';
    return is_half ? at + 2 : begin;
}

/* Claims times such as 9am and 5:30pm where the vocabulary has no piece for their end, 5.30pm,
 * which models take for a fraction, and 9am-5:30pm. */
static size_t take_half(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->core_begin, end = item->core_end, at = half_end(finder, begin, end);
    if (at == begin || !finder->options->tokenizer)
        return 0;
    uint32_t dash = at < end ? mt_codes_at(finder, at) : 0;
    size_t second = at < end ? mt_codes_next(finder, at) : end;
    bool is_range = (dash == '-' || dash == 0x2013) && half_end(finder, second, end) == end;
    if (at < end && !is_range)
        return 0;
    /* Both halves of the day are claimed alike, because a sentence often has both. */
    bool has_stop = memchr(finder->text + begin, '.', at - begin);
    if (!is_range && !has_stop &&
        mt_codes_count_pieces(finder, "5pm", 3) <= mt_codes_count_pieces(finder, "5", 1) + 1)
        return 0;
    size_t found = mt_codes_claim(finder, MT_CODE_WORD, begin, end);
    if (found != MT_NO_MATE)
        finder->found[found].code.form = MT_CODE_LOCAL_NUMBER;
    return found != MT_NO_MATE;
}

/* Whether the items are two numbers with a dash between them, and degrees: 20–25 °C. */
static bool is_span_of_degrees(const struct mt_codes_finder *finder,
                               const struct mt_codes_item *numbers,
                               const struct mt_codes_item *unit)
{
    size_t at = numbers->core_begin, end = numbers->core_end;
    size_t first = mt_codes_number_end(finder, at, end);
    uint32_t dash = first < end ? mt_codes_at(finder, first) : 0;
    size_t second = first < end ? mt_codes_next(finder, first) : end;
    return numbers->taken == MT_FREE && first > at && (dash == '-' || dash == 0x2013) &&
           second < end && mt_codes_number_end(finder, second, end) == end &&
           mt_codes_follows(finder, numbers, unit) && mt_codes_at(finder, unit->begin) == 0xB0 &&
           unit->core_end - unit->begin <= 3;
}

/* Claims amounts in English texts with a unit of which models make other words: 5 m/s, 20 m2, and
 * 10 in. at the end of a text. */
static size_t take_unit(struct mt_codes_finder *finder, size_t i)
{
    static const char *const units[] = {"m/s", "km/s", "m2",  "m3",  "cm2",
                                        "cm3", "km2",  "in2", "ft2", NULL};
    static const char *const inches[] = {"in", NULL};
    const struct mt_codes_item *number = mt_codes_item_at(finder, i),
                               *unit = mt_codes_item_at(finder, i + 1);
    if (is_span_of_degrees(finder, number, unit))
        return mt_codes_take(finder, MT_CODE_WORD, number->core_begin, unit->core_end) ? 2 : 0;
    if (!mt_codes_is_english(finder) || !mt_codes_is_number(finder, number) ||
        !mt_codes_follows(finder, number, unit))
        return 0;
    static const char *const metres[] = {"m", NULL};
    bool has_fraction = memchr(finder->text + number->core_begin, '.',
                               number->core_end - number->core_begin); /* 1.80 m */
    bool is_length = has_fraction && mt_codes_item_is(finder, unit, metres);
    bool is_last = i + 2 == finder->n_items && mt_codes_char(finder, unit->core_end) == '.' &&
                   mt_codes_item_is(finder, unit, inches);
    if ((!is_length && !is_last && !mt_codes_item_is(finder, unit, units)) ||
        !mt_codes_claim_amount(finder, number->core_begin, unit->core_end + is_last))
        return 0;
    /* Models add years to what they see as a bare number. */
    mt_codes_change(finder, finder->n - 1, MT_CODE_WORD);
    return 2;
}

/* Claims 12:30 a.m., with the first hour of the day, which models leave half a day later. */
static size_t take_midnight(struct mt_codes_finder *finder, size_t i)
{
    static const char *const halves[] = {"am", "AM", "a.m", "A.M", "a.m.", "A.M.", NULL};
    const struct mt_codes_item *time = mt_codes_item_at(finder, i),
                               *half = mt_codes_item_at(finder, i + 1);
    size_t n = time->core_end - time->core_begin;
    bool is_one = mt_codes_is_english(finder) && mt_codes_follows(finder, time, half) &&
                  mt_codes_item_is(finder, half, halves) && (n == 2 || n == 5) &&
                  memcmp(finder->text + time->core_begin, "12", 2) == 0 &&
                  (n == 2 || (mt_codes_is_one_of(finder->text[time->core_begin + 2], ":.") &&
                              mt_codes_is_digits(finder, time->core_begin + 3, time->core_end)));
    size_t end = half->core_end;
    end += is_one && end < half->end && finder->text[end] == '.' && finder->text[end - 2] == '.';
    size_t found =
        is_one ? mt_codes_claim(finder, MT_CODE_WORD, time->core_begin, end) : MT_NO_MATE;
    if (found == MT_NO_MATE)
        return 0;
    finder->found[found].code.form = MT_CODE_LOCAL_NUMBER;
    return 2;
}

size_t mt_codes_take_measure(struct mt_codes_finder *finder, size_t i)
{
    static size_t (*const takers[])(struct mt_codes_finder * finder, size_t i) = {
        take_sides, take_box,     take_pack,     take_feet_in_words, take_duration,
        take_mixed, take_angle,   take_feet,     take_inches,        take_half,
        take_speed, take_portion, take_interval, take_unit,          take_midnight};
    for (size_t k = 0; k < sizeof takers / sizeof *takers; k++) {
        size_t n = takers[k](finder, i);
        if (n)
            return n;
    }
    return 0;
}
