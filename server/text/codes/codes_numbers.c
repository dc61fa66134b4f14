/* Finds numbers that models break: with a currency's code, scores, versions, "No. 5". */
#include "server/text/codes/codes_state.h"
#include "server/text/codes/reading.h"

#include <unicode/uchar.h>
#include <unicode/ucurr.h>

/* Most numbers in a row that become one code. */
#define MOST_IN_SEQUENCE 32
#define MOST_HOUSE_DIGITS 5
/* Most words of a street's name, with the word for it. */
#define MOST_STREET_WORDS 4
/* Most letters directly behind an amount, as in £20pp. */
#define MOST_GLUED_LETTERS 3
/* Fewest letters of a word behind a range that is taken for what it counts, unlike "in" and "was". */
#define LEAST_COUNTED_LETTERS 4

const struct mt_codes_item *mt_codes_item_at(const struct mt_codes_finder *finder, size_t i)
{
    static const struct mt_codes_item none = {.taken = MT_TAKEN_EDGE};
    return i < finder->n_items ? &finder->items[i] : &none;
}

size_t mt_codes_number_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end &&
           (mt_codes_digit_at(finder, at) ||
            (at + 1 < end && mt_codes_digit_at(finder, at + 1) && at > 0 &&
             mt_codes_digit_at(finder, at - 1) && mt_codes_is_one_of(finder->text[at], ".,"))))
        at++;
    return at;
}

bool mt_codes_claim_amount(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n_numbers = 0, found = mt_codes_claim(finder, MT_CODE_NUMBER, begin, end);
    for (size_t i = begin; i < end && found != MT_NO_MATE;) {
        size_t stop = mt_codes_number_end(finder, i, end);
        n_numbers += stop > i;
        i = stop > i ? stop : mt_codes_next(finder, i);
    }
    uint32_t first = mt_codes_at(finder, begin);
    bool is_reference = first == 0xA7 || first == 0x2116 ||      /* § 1.2 */
                        mt_codes_char(finder, begin + 1) == '='; /* >= 3.8, of a version */
    if (n_numbers == 1 && !is_reference)
        finder->found[found].code.form = MT_CODE_LOCAL_NUMBER;
    return found != MT_NO_MATE;
}

bool mt_codes_is_number(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return item->taken == MT_FREE && item->core_begin < item->core_end &&
           mt_codes_digit_at(finder, item->core_begin) &&
           mt_codes_number_end(finder, item->core_begin, item->core_end) == item->core_end;
}

bool mt_codes_is_digits(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++)
        if (!mt_codes_digit_at(finder, at))
            return false;
    return begin < end;
}

bool mt_codes_follows(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                      const struct mt_codes_item *next)
{
    return next->taken == MT_FREE && item->core_end == item->end &&
           next->core_begin == next->begin && next->begin == mt_codes_next(finder, item->end);
}

bool mt_codes_item_is(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                      const char *const *words)
{
    return mt_codes_is_among(words, finder->text + item->core_begin,
                             item->core_end - item->core_begin);
}

bool mt_codes_is_english(const struct mt_codes_finder *finder)
{
    const char *language = finder->options->source_lang;
    return !language || (strncmp(language, "en", 2) == 0 && !mt_ascii_is_letter(language[2]));
}

/* ---- with a currency ---- */

/* Whether the item is the code of a currency that is used today, in capitals, such as USD, and not
 * an English word. */
bool mt_codes_is_currency(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    static const char *const words[] = {"ALL", "TOP", "CUP", "TRY", "PEN", "MAD",
                                        "SOS", "BAM", "GEL", "MOP", "COP", "BOB",
                                        "LAK", "ANG", "XXX", "DOP", "ERN", NULL};
    UErrorCode code = U_ZERO_ERROR;
    UChar name[4] = {0};
    const char *text = finder->text + item->core_begin;
    if (item->taken != MT_FREE || item->core_end - item->core_begin != 3 ||
        mt_codes_item_is(finder, item, words))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (text[i] < 'A' || text[i] > 'Z')
            return false;
        name[i] = (UChar)text[i];
    }
    UDate long_ago = 946684800000.0; /* the beginning of 2000 */
    return ucurr_isAvailable(name, long_ago, long_ago * 2, &code) && U_SUCCESS(code);
}

/* Whether the word behind the number counts it: 2.5 % and 2.5 million are no versions, and in USD
 * 1.5 million the number is one. */
static bool is_counted(const struct mt_codes_finder *finder, const struct mt_codes_item *number,
                       const struct mt_codes_item *next)
{
    static const char *const counted[] = {"%",         "percent",    "per",      "million",
                                          "billion",   "points",     "trillion", "Prozent",
                                          "Millionen", "Milliarden", NULL};
    return number->core_end < number->end
               ? mt_codes_char(finder, number->core_end) == '%'
               : next->taken == MT_FREE && mt_codes_item_is(finder, next, counted);
}

/* Claims an amount with its currency: 5 USD, EUR 20. */
static size_t take_currency(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *first = mt_codes_item_at(finder, i),
                               *second = mt_codes_item_at(finder, i + 1);
    if (!mt_codes_follows(finder, first, second))
        return 0;
    bool is_one = (mt_codes_is_currency(finder, first) && mt_codes_is_number(finder, second)) ||
                  (mt_codes_is_currency(finder, second) &&
                   (mt_codes_is_number(finder, first) || (first->has_digit && !first->has_letter)));
    size_t begin = first->begin;
    if (!is_one || !mt_codes_claim_amount(finder, begin, second->core_end))
        return 0;
    /* Models add years or hours to a bare number. */
    if (!is_counted(finder, second, mt_codes_item_at(finder, i + 2)))
        mt_codes_change(finder, finder->n - 1, MT_CODE_WORD);
    return 2;
}

/* Claims a pair of currencies: EUR/USD. */
static size_t take_pair(struct mt_codes_finder *finder, size_t i)
{
    struct mt_codes_item first = *mt_codes_item_at(finder, i), second = first;
    const char *slash =
        memchr(finder->text + first.core_begin, '/', first.core_end - first.core_begin);
    if (!slash)
        return 0;
    first.core_end = (size_t)(slash - finder->text);
    second.core_begin = first.core_end + 1;
    return mt_codes_is_currency(finder, &first) && mt_codes_is_currency(finder, &second) &&
           mt_codes_take(finder, MT_CODE_WORD, first.core_begin, second.core_end);
}

/* Whether text[at] is a full stop before three digits. */
static bool is_group(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    return at + 3 < end && finder->text[at] == '.' && mt_codes_digit_at(finder, at + 1) &&
           mt_codes_digit_at(finder, at + 2) && mt_codes_digit_at(finder, at + 3) &&
           !(at + 4 < end && mt_codes_digit_at(finder, at + 4));
}

/* Claims the numbers in English texts that are written as elsewhere: €9,99, 12,5, 1.299,00 and
 * 1.299.000. The comma cannot be before thousands there, nor the full stop before decimals. */
static size_t take_fraction(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->core_begin, at = begin, end = item->core_end;
    if (u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL)
        at = mt_codes_next(finder, at);
    while (at < end && mt_codes_digit_at(finder, at))
        at++;
    size_t n_groups = 0, n_first = at - begin;
    for (; is_group(finder, at, end); n_groups++)
        at += 4;
    size_t n_digits =
        at < end && finder->text[at] == ',' ? mt_codes_number_end(finder, at + 1, end) - at : 0;
    uint32_t behind = at + n_digits < end ? mt_codes_at(finder, at + n_digits) : 0;
    bool has_comma = n_digits == 2 || n_digits == 3, has_groups = n_groups > 1 && n_digits == 0;
    bool is_one =
        at > begin && (has_comma || has_groups) && behind != '-' && mt_codes_is_english(finder);
    const struct mt_codes_item *before = i > 0 ? mt_codes_item_at(finder, i - 1) : NULL;
    if (is_one && n_first == 3 && before && mt_codes_is_number(finder, before) &&
        before->core_end - before->core_begin <= 3 && mt_codes_follows(finder, before, item) &&
        mt_codes_take(finder, MT_CODE_NUMBER, before->core_begin, end))
        return 1; /* 1 299,00 */
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, begin, end);
}

/* Claims US$ 20.00, because models lose a sign that stands alone behind letters. */
static size_t take_dollars(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *sign = mt_codes_item_at(finder, i),
                               *number = mt_codes_item_at(finder, i + 1);
    size_t n = sign->core_end - sign->core_begin;
    bool is_sign = sign->taken == MT_FREE && n >= 2 && n <= 4 &&
                   mt_ascii_is_capital(finder->text[sign->core_begin]) &&
                   finder->text[sign->core_end - 1] == '$';
    return is_sign && mt_codes_is_number(finder, number) &&
                   mt_codes_follows(finder, sign, number) &&
                   mt_codes_claim_amount(finder, sign->core_begin, number->core_end)
               ? 2
               : 0;
}

/* Claims a rate such as £5.99/month: as two texts where it stands alone, otherwise its amount as a
 * number. */
static size_t take_rate(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->core_begin, at = begin, end;
    bool has_sign = u_charType((UChar32)mt_codes_at(finder, begin)) == U_CURRENCY_SYMBOL;
    at = has_sign ? mt_codes_number_end(finder, mt_codes_next(finder, begin), item->core_end)
                  : item->core_end;
    for (end = at + 1; end < item->core_end && mt_codes_is_letter(mt_codes_at(finder, end));)
        end = mt_codes_next(finder, end);
    if (at == item->core_end || finder->text[at] != '/' || end < at + 3 || end != item->core_end)
        return 0;
    return finder->n_items == 1 ? mt_codes_take(finder, MT_CODE_EDGE, at, at + 1)
                                : mt_codes_claim_amount(finder, begin, at);
}

/* Claims amounts with letters directly behind them: $1.2bn, 1.5m. 5m is left, because it may be
 * metres. */
static size_t take_amount(struct mt_codes_finder *finder, size_t i)
{
    static const char *const multiples[] = {"bn", "m", "M", "k", "K", "B", "tn", "mln", "b", "T"};
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin;
    for (size_t n = 0; n < 2 && mt_ascii_is_letter(mt_codes_char(finder, at)); n++)
        at++; /* US$, A$ */
    bool has_sign =
        at < item->core_end && u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL;
    if (!has_sign && at > item->core_begin)
        return 0;
    at += has_sign ? mt_codes_next(finder, at) - at : 0;
    size_t end =
        mt_codes_digit_at(finder, at) ? mt_codes_number_end(finder, at, item->core_end) : at;
    size_t n_glued = 0;
    while (mt_ascii_is_small(mt_codes_char(finder, end + n_glued)))
        n_glued++;
    if (has_sign && end > at && n_glued > 0 && n_glued <= MOST_GLUED_LETTERS &&
        end + n_glued == item->core_end)
        return mt_codes_claim_amount(finder, item->core_begin, item->core_end);
    for (size_t k = 0; k < sizeof multiples / sizeof *multiples && end > at; k++) {
        size_t n = strlen(multiples[k]);
        bool is_known = has_sign || n > 1 || memchr(finder->text + at, '.', end - at);
        bool is_one = is_known && item->core_end - end >= n &&
                      memcmp(finder->text + end, multiples[k], n) == 0 &&
                      !mt_codes_is_letter(mt_codes_at(finder, end + n)) &&
                      !mt_codes_digit_at(finder, end + n);
        if (is_one)
            return mt_codes_claim_amount(finder, item->core_begin, end + n);
    }
    return 0;
}

/* Claims 5€, because English models misread a sign behind the number. Prices with decimals are left
 * to the model, since the target language writes them in its own way. */
static size_t take_price(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin;
    while (at < item->core_end && mt_codes_digit_at(finder, at))
        at++;
    bool is_one = at > item->core_begin && at < item->core_end &&
                  u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL &&
                  mt_codes_next(finder, at) == item->core_end && mt_codes_is_english(finder);
    if (!is_one || !mt_codes_claim_amount(finder, item->core_begin, item->core_end))
        return 0;
    mt_codes_change(finder, finder->n - 1, MT_CODE_WORD); /* models add hours to a bare number */
    return 1;
}

/* Claims 1..10, of which models make 1.10. */
static size_t take_span(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin, n_stops = 0;
    while (at < item->core_end && mt_codes_digit_at(finder, at))
        at++;
    size_t first = at;
    for (; at < item->core_end && finder->text[at] == '.'; at++)
        n_stops++;
    bool is_one = first > item->core_begin && (n_stops == 2 || n_stops == 3) &&
                  mt_codes_is_digits(finder, at, item->core_end);
    return is_one && mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
}

/* ---- scores, versions, feet ---- */

/* Claims 3:0, 16:9 and 1:1000. Two digits behind the colon are minutes. */
static size_t take_ratio(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin, begin = at;
    while (at < item->core_end && mt_codes_digit_at(finder, at))
        at++;
    size_t colon = at;
    at += mt_codes_char(finder, at) == ':';
    size_t second = at;
    while (at < item->core_end && mt_codes_digit_at(finder, at))
        at++;
    static const char *const before[] = {"Ratio", "ratio", "Scale", "scale", "score",
                                         "Score", "odds",  "Odds",  NULL};
    bool is_time =
        at - second == 2 && !(i > 0 && mt_codes_item_at(finder, i - 1)->taken == MT_FREE &&
                              mt_codes_item_is(finder, mt_codes_item_at(finder, i - 1), before));
    bool is_one = at == item->core_end && colon > begin && colon - begin <= 4 && second > colon &&
                  at > second && !is_time;
    return is_one && mt_codes_take(finder, MT_CODE_WORD, begin, at);
}

/* Claims the score of "won 3–1", whose dash models read as "to". */
static size_t take_score(struct mt_codes_finder *finder, size_t i)
{
    static const char *const before[] = {"won",  "lost", "beat",  "lead", "led",  "win",   "Won",
                                         "Lost", "drew", "draws", "wins", "loss", "score", NULL};
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t dash = item->core_begin;
    while (dash < item->core_end && mt_codes_digit_at(finder, dash))
        dash++;
    uint32_t c = dash < item->core_end ? mt_codes_at(finder, dash) : 0;
    size_t second = dash < item->core_end ? mt_codes_next(finder, dash) : dash;
    bool is_one = i > 0 && c == 0x2013 && dash > item->core_begin &&
                  mt_codes_is_digits(finder, second, item->core_end) &&
                  item->core_end - item->core_begin <= 7 &&
                  mt_codes_item_is(finder, mt_codes_item_at(finder, i - 1), before);
    return is_one && mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
}

/* Claims the year of "AD 500", of which models make "add", and 1.5e10. */
static size_t take_era(struct mt_codes_finder *finder, size_t i)
{
    static const char *const eras[] = {"AD", NULL};
    const struct mt_codes_item *item = mt_codes_item_at(finder, i),
                               *number = mt_codes_item_at(finder, i + 1);
    if (item->taken == MT_FREE && mt_codes_item_is(finder, item, eras) &&
        mt_codes_follows(finder, item, number) &&
        mt_codes_is_digits(finder, number->core_begin, number->core_end))
        return mt_codes_take(finder, MT_CODE_WORD, item->core_begin, number->core_end) ? 2 : 0;
    size_t at = mt_codes_number_end(finder, item->core_begin, item->core_end), power = at + 1;
    power += mt_codes_is_one_of(mt_codes_char(finder, power), "+-");
    bool is_power = at > item->core_begin && mt_codes_is_one_of(mt_codes_char(finder, at), "eE") &&
                    mt_codes_is_digits(finder, power, item->core_end);
    return is_power && mt_codes_take(finder, MT_CODE_NUMBER, item->core_begin, item->core_end);
}

/* Claims 1 2 3 and 555 123 4567: models lose some of several numbers. */
static size_t take_sequence(struct mt_codes_finder *finder, size_t i)
{
    size_t n = 0;
    while (n < MOST_IN_SEQUENCE &&
           mt_codes_is_digits(finder, mt_codes_item_at(finder, i + n)->begin,
                              mt_codes_item_at(finder, i + n)->core_end) &&
           (n == 0 || mt_codes_follows(finder, mt_codes_item_at(finder, i + n - 1),
                                       mt_codes_item_at(finder, i + n))))
        n++;
    return n >= 3 && mt_codes_take(finder, MT_CODE_NUMBER, mt_codes_item_at(finder, i)->begin,
                                   mt_codes_item_at(finder, i + n - 1)->core_end)
               ? n
               : 0;
}

/* Claims 5,- and 5,--, as shops write prices. */
static size_t take_round_price(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->begin, at = item->core_begin;
    if (!mt_codes_digit_at(finder, at))
        return 0;
    at = mt_codes_number_end(finder, at, item->end);
    if (at >= item->end || !mt_codes_is_one_of(finder->text[at], ".,"))
        return 0;
    size_t dash = at += 1;
    while (at < item->end && (finder->text[at] == '-' || mt_codes_at(finder, at) == 0x2013 ||
                              mt_codes_at(finder, at) == 0x2014))
        at = mt_codes_next(finder, at);
    const struct mt_codes_item *sign = mt_codes_item_at(finder, i + 1);
    uint32_t behind =
        at == item->end && sign->taken == MT_FREE ? mt_codes_at(finder, sign->begin) : 0;
    uint32_t before = i > 0 ? mt_codes_at(finder, mt_codes_item_at(finder, i - 1)->begin) : 0;
    bool is_price = u_charType((UChar32)mt_codes_at(finder, begin)) == U_CURRENCY_SYMBOL ||
                    u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL ||
                    u_charType((UChar32)behind) == U_CURRENCY_SYMBOL ||
                    u_charType((UChar32)before) == U_CURRENCY_SYMBOL;
    return at > dash && is_price && mt_codes_take(finder, MT_CODE_NUMBER, begin, at);
}

/* Returns where clauses such as (a), (iii) or (12) end, of which the first begins at text[at]; `at`
 * where there is none. */
static size_t clauses_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end && finder->text[at] == '(') {
        size_t stop = at + 1;
        while (stop < end && mt_codes_is_one_of(finder->text[stop], "0123456789ivx"))
            stop++;
        stop += stop == at + 1 && mt_ascii_is_letter(mt_codes_char(finder, stop));
        if (stop == at + 1 || stop >= end || finder->text[stop] != ')')
            break;
        at = stop + 1;
    }
    return at;
}

/* Claims a section, a version or a date, as in 4.1.2, 10.15.7 and 24.12.2024, or a law's 2.1(b).
 * Parts of three digits make a number of another language. */
static size_t take_section(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t n_stops = 0, n_digits = 0;
    size_t number_end = mt_codes_number_end(finder, item->core_begin, item->end);
    size_t end = clauses_end(finder, number_end, item->end);
    if (number_end > item->core_begin && end > number_end && end >= item->core_end)
        return mt_codes_take(finder, MT_CODE_NUMBER, item->core_begin, end);
    for (size_t at = item->core_begin; at < item->core_end; at++) {
        bool is_stop = finder->text[at] == '.';
        if (!is_stop && !mt_codes_digit_at(finder, at))
            return 0;
        if (is_stop && (n_digits == 0 || n_digits > 2))
            return 0;
        n_stops += is_stop;
        n_digits = is_stop ? 0 : n_digits + 1;
    }
    bool is_last = n_digits == 1 || n_digits == 2 || (n_digits == 4 && n_stops == 2);
    return n_stops >= 2 && is_last &&
           mt_codes_take(finder, MT_CODE_NUMBER, item->core_begin, item->core_end);
}

/* Claims a date between slashes, 12/24/2025, of which models lose a part. */
static size_t take_date(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t n_digits[3] = {0}, part = 0;
    for (size_t at = item->core_begin; at < item->core_end; at++) {
        bool is_slash = finder->text[at] == '/';
        if (is_slash ? ++part > 2 : !mt_codes_digit_at(finder, at))
            return 0;
        n_digits[part] += !is_slash;
    }
    bool is_date = n_digits[1] > 0 && n_digits[1] <= 2 &&
                   ((n_digits[0] > 0 && n_digits[0] <= 2 && n_digits[2] == 4) ||
                    (n_digits[0] == 4 && n_digits[2] > 0 && n_digits[2] <= 2));
    return is_date && mt_codes_take(finder, MT_CODE_NUMBER, item->core_begin, item->core_end);
}

/* Claims two prices and the dash between them, $5–$10, of which models lose a sign. */
static size_t take_prices(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin, n = 0;
    while (at < item->core_end && n < 2 &&
           u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL) {
        size_t digits = mt_codes_next(finder, at);
        at = mt_codes_digit_at(finder, digits) ? mt_codes_number_end(finder, digits, item->core_end)
                                               : digits;
        uint32_t c = at < item->core_end ? mt_codes_at(finder, at) : 0;
        n += at > digits;
        if (n == 1 && (c == '-' || c == 0x2013))
            at = mt_codes_next(finder, at);
    }
    size_t found = n == 2 && at == item->core_end
                       ? mt_codes_claim(finder, MT_CODE_NUMBER, item->core_begin, at)
                       : MT_NO_MATE;
    if (found != MT_NO_MATE)
        finder->found[found].code.form = MT_CODE_LOCAL_NUMBER;
    return found != MT_NO_MATE;
}

/* Claims two numbers with a dash between them, 20–30 and $5–10%, because models make 20.30 or "20
 * et 30" of them. They are a number where a word behind them may be counted, and no years. Days of
 * a month have their own form in many languages. */
static size_t take_range(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i),
                               *next = mt_codes_item_at(finder, i + 1),
                               *before = i > 0 ? mt_codes_item_at(finder, i - 1) : NULL;
    size_t at = item->core_begin, end = item->core_end;
    bool has_sign = u_charType((UChar32)mt_codes_at(finder, at)) == U_CURRENCY_SYMBOL;
    at = has_sign ? mt_codes_next(finder, at) : at;
    size_t dash = mt_codes_number_end(finder, at, end);
    if (dash == at || dash == end || mt_codes_at(finder, dash) != 0x2013 ||
        mt_is_month(finder->text, next->core_begin, next->core_end) ||
        (before && mt_is_month(finder->text, before->core_begin, before->core_end)))
        return 0;
    size_t second = mt_codes_next(finder, dash), stop = mt_codes_number_end(finder, second, end);
    bool has_percent = stop > second && stop < end && finder->text[stop] == '%';
    bool is_counted = has_sign || has_percent ||
                      (mt_codes_follows(finder, item, next) && next->taken == MT_FREE &&
                       u_islower((UChar32)mt_codes_at(finder, next->core_begin)) &&
                       next->core_end - next->core_begin >= LEAST_COUNTED_LETTERS);
    bool is_year = !has_sign && dash - at == 4;
    enum mt_code_kind kind = is_counted && !is_year ? MT_CODE_NUMBER : MT_CODE_WORD;
    return stop > second && stop + has_percent == end &&
           mt_codes_take(finder, kind, item->core_begin, end);
}

/* Claims a decade without its century, '80s, whose apostrophe models take for a quotation mark. */
static size_t take_decade(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t begin = item->core_begin, end = item->core_end;
    uint32_t mark = mt_codes_before(finder, begin);
    bool is_one = begin > item->begin && (mark == '\'' || mark == 0x2019) && end - begin == 3 &&
                  mt_codes_is_digits(finder, begin, begin + 2) && finder->text[begin + 2] == 's' &&
                  mt_codes_is_english(finder);
    return is_one &&
           mt_codes_take(finder, MT_CODE_WORD, mt_previous_char(finder->text, begin), end);
}

/* Claims the house and the street of an English address, which is written as it is everywhere: 10
 * Downing Street, 1600 Pennsylvania Ave NW. */
static size_t take_address(struct mt_codes_finder *finder, size_t i)
{
    static const char *const streets[] = {
        "Street", "St",      "Avenue",    "Ave",  "Road",  "Rd",     "Lane", "Ln",      "Drive",
        "Dr",     "Terrace", "Boulevard", "Blvd", "Court", "Square", "Hwy",  "Highway", NULL};
    static const char *const sides[] = {"N", "S", "E", "W", "NE", "NW", "SE", "SW", NULL};
    const struct mt_codes_item *number = mt_codes_item_at(finder, i), *item = number + 1;
    size_t n = 1;
    size_t end = number->end; /* of 221B without the letter */
    end -= end > number->begin && mt_ascii_is_capital(finder->text[end - 1]);
    if (number->taken != MT_FREE || !mt_codes_is_digits(finder, number->begin, end) ||
        end - number->begin > MOST_HOUSE_DIGITS || !mt_codes_is_english(finder))
        return 0;
    for (;; n++) {
        item = mt_codes_item_at(finder, i + n);
        if (n > MOST_STREET_WORDS || !item->is_name || item->has_unread ||
            !mt_codes_follows(finder, mt_codes_item_at(finder, i + n - 1), item))
            return 0;
        if (n > 1 && mt_codes_item_is(finder, item, streets))
            break;
    }
    const struct mt_codes_item *next = mt_codes_item_at(finder, i + n + 1);
    bool has_side = mt_codes_follows(finder, item, next) && mt_codes_item_is(finder, next, sides);
    item = has_side ? next : item;
    next = mt_codes_item_at(finder, i + n + 1 + has_side);
    bool goes_on = item->core_end == item->end && next->taken == MT_FREE && next->is_name;
    bool has_stop =
        item->end > item->core_end + 1 && finder->text[item->core_end] == '.'; /* St., */
    return !goes_on && mt_codes_take(finder, MT_CODE_WORD, number->begin, item->core_end + has_stop)
               ? n + 1 + has_side
               : 0;
}

/* Claims the time zone behind a time: 3 PM EST, 21:00 CET. */
static size_t take_zone(struct mt_codes_finder *finder, size_t i)
{
    static const char *const zones[] = {"EST", "EDT", "CST", "CDT", "MST",  "MDT",  "PST", "PDT",
                                        "GMT", "UTC", "BST", "CET", "CEST", "EET",  "MSK", "IST",
                                        "JST", "KST", "HKT", "SGT", "AEST", "AEDT", NULL};
    static const char *const halves[] = {"AM", "PM", "am", "pm", "a.m", "p.m", NULL};
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    const struct mt_codes_item *before = i > 0 ? mt_codes_item_at(finder, i - 1) : item;
    bool is_time = before->has_digit || mt_codes_item_is(finder, before, halves);
    return i > 0 && is_time && mt_codes_item_is(finder, item, zones) &&
           mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
}

/* Claims a version with a letter: v1.2.3. */
static size_t take_tagged(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = mt_codes_item_at(finder, i);
    size_t at = item->core_begin + 1, n_stops = 0;
    if (!mt_codes_is_one_of(mt_codes_char(finder, item->core_begin), "vV") ||
        !mt_codes_digit_at(finder, at))
        return 0;
    for (; at < item->core_end && (mt_codes_digit_at(finder, at) || finder->text[at] == '.'); at++)
        n_stops += finder->text[at] == '.';
    bool is_one = n_stops > 0 && (at == item->core_end || finder->text[at] == '-');
    return is_one && mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
}

/* Whether the item is digits with full stops between them: 2.0, 3.11. */
static bool is_version(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t at = item->core_begin, n_stops = 0;
    if (item->taken != MT_FREE || !mt_codes_digit_at(finder, at))
        return false;
    for (; at < item->core_end; at++) {
        if (finder->text[at] == '.' && mt_codes_digit_at(finder, at + 1))
            n_stops++;
        else if (!mt_codes_digit_at(finder, at))
            break;
    }
    return n_stops > 0 && at == item->core_end && item->core_end - item->core_begin <= 12;
}

/* Whether the item is capitals, which may have hyphens between them: CC, BY-SA, USB. */
static bool is_acronym(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t n_letters = 0;
    if (item->taken != MT_FREE)
        return false;
    for (size_t i = item->core_begin; i < item->core_end; i++) {
        char c = finder->text[i];
        if ((c < 'A' || c > 'Z') && c != '-')
            return false;
        n_letters += c != '-';
    }
    return n_letters >= 2;
}

/* Claims the number behind "Version" and "Chapter", and numbers together with names such as USB 3.0 and CC BY-SA
 * 4.0. */
static size_t take_version(struct mt_codes_finder *finder, size_t i)
{
    static const char *const words[] = {
        "Version",  "version", "v",       "v.",       "V",       "Ver",       "ver",
        "Release",  "release", "Rev",     "rev",      "VERSION", "Chapter",   "chapter",
        "Section",  "section", "Figure",  "figure",   "Table",   "Exercise",  "Example",
        "Equation", "Clause",  "Article", "Appendix", "Lesson",  "Paragraph", "paragraph",
        "Step",     "Rule",    NULL};
    const struct mt_codes_item *first = mt_codes_item_at(finder, i);
    size_t n = 0;
    if (first->taken != MT_FREE)
        return 0;
    if (mt_codes_item_is(finder, first, words)) {
        const struct mt_codes_item *number = mt_codes_item_at(finder, i + 1);
        bool is_one = is_version(finder, number) && number->begin <= first->end + 1;
        return is_one && mt_codes_take(finder, MT_CODE_NUMBER, number->core_begin, number->core_end)
                   ? 2
                   : 0;
    }
    while (n < 4 && is_acronym(finder, mt_codes_item_at(finder, i + n)) &&
           mt_codes_follows(finder, mt_codes_item_at(finder, i + n),
                            mt_codes_item_at(finder, i + n + 1)))
        n++;
    const struct mt_codes_item *number = mt_codes_item_at(finder, i + n);
    bool is_one = n > 0 && is_version(finder, number) &&
                  !is_counted(finder, number, mt_codes_item_at(finder, i + n + 1));
    return is_one && mt_codes_take(finder, MT_CODE_WORD, first->core_begin, number->core_end)
               ? n + 1
               : 0;
}

/* ---- No. 5 ---- */

/* Whether the item is a number or two with a sign between them: 5, 1-5, 3/4, 10:40. */
static bool is_range(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    for (size_t i = item->core_begin; i < item->core_end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (!mt_codes_is_digit(c) && c != 0x2013 && (c >= 0x80 || !strchr("-/.,:", (int)c)))
            return false;
    }
    return item->core_begin < item->core_end && mt_codes_digit_at(finder, item->core_begin);
}

/* Whether the item is capitals and digits: A-1023/B. */
static bool is_number_of_letters(const struct mt_codes_finder *finder,
                                 const struct mt_codes_item *item)
{
    bool has_digit = false;
    for (size_t i = item->core_begin; i < item->core_end; i++) {
        char c = finder->text[i];
        has_digit = has_digit || mt_ascii_is_digit(c);
        if (!mt_ascii_is_capital(c) && !mt_ascii_is_digit(c) && !mt_codes_is_one_of(c, "-/."))
            return false;
    }
    return has_digit;
}

/* Whether the item is "No." and a number without a blank: No.5. */
static bool is_glued_numero(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t at = item->core_begin;
    if (item->core_end - at < 4 ||
        (memcmp(finder->text + at, "No.", 3) != 0 && memcmp(finder->text + at, "no.", 3) != 0))
        return false;
    for (at += 3; at < item->core_end; at++)
        if (!mt_codes_digit_at(finder, at))
            return false;
    return true;
}

/* Claims "No. 5" and "Nos. 3"; "no. 5" only where no plural follows, or at a text's beginning. */
static size_t take_numero(struct mt_codes_finder *finder, size_t i)
{
    static const char *const words[] = {"No", "Nos", "NO", NULL};
    static const char *const small[] = {"no", "nos", NULL};
    const struct mt_codes_item *first = mt_codes_item_at(finder, i),
                               *number = mt_codes_item_at(finder, i + 1);
    if (first->taken == MT_FREE && mt_codes_is_english(finder) && is_glued_numero(finder, first))
        return mt_codes_take(finder, MT_CODE_NUMBER, first->core_begin, first->core_end);
    if (first->taken != MT_FREE || number->taken != MT_FREE || !mt_codes_is_english(finder) ||
        mt_codes_char(finder, first->core_end) != '.')
        return 0;
    bool is_small = mt_codes_item_is(finder, first, small);
    uint32_t behind =
        mt_codes_at(finder, mt_codes_skip_blanks(finder, number->end, finder->length));
    bool is_one =
        (is_range(finder, number) || is_number_of_letters(finder, number)) &&
        number->core_begin == number->begin && first->core_end + 1 == first->end &&
        number->begin == first->end + 1 &&
        (mt_codes_item_is(finder, first, words) ||
         (is_small && (i == 0 || number->core_end < number->end || !u_islower((UChar32)behind))));
    return is_one && mt_codes_take(finder, MT_CODE_NUMBER, first->core_begin, number->core_end) ? 2
                                                                                                : 0;
}

size_t mt_codes_count_pieces(struct mt_codes_finder *finder, const char *text, size_t length)
{
    size_t n = 1;
    if (finder->options->tokenizer && !finder->status)
        finder->status =
            mt_reading_pieces(finder->options->tokenizer, text, length, &n, finder->err);
    return n;
}

/* Claims references such as fig. 3, vol. 2, pp. 10-12 and Dep. 08:15 where the vocabulary does not
 * have the word, or models take it for another one: the p. of p.m., the art of museums. */
static size_t take_reference(struct mt_codes_finder *finder, size_t i)
{
    static const char *const words[] = {"fig", "Fig",  "figs", "Figs", "ed",  "eds", "eq",  "Eq",
                                        "vol", "Vol",  "ch",   "Ch",   "pp",  "sec", "Sec", "ext",
                                        "Ext", "para", "dep",  "Dep",  "arr", "Arr", NULL};
    static const char *const misread[] = {"p",   "Nr",  "nr",  "art", "Art", "chap", "Chap",
                                          "Ver", "ver", "Rev", "rev", "Rs",  NULL};
    const struct mt_codes_item *word = mt_codes_item_at(finder, i),
                               *number = mt_codes_item_at(finder, i + 1);
    size_t n = word->core_end - word->core_begin;
    bool is_misread = mt_codes_item_is(finder, word, misread);
    bool is_one =
        word->taken == MT_FREE && number->taken == MT_FREE && mt_codes_is_english(finder) &&
        finder->text[word->core_end] == '.' && word->core_end + 1 == word->end &&
        is_range(finder, number) && number->core_begin == word->end + 1 &&
        (is_misread || (mt_codes_item_is(finder, word, words) &&
                        mt_codes_count_pieces(finder, finder->text + word->core_begin, n) > 1));
    return is_one && mt_codes_take(finder, is_misread ? MT_CODE_WORD : MT_CODE_NUMBER,
                                   word->core_begin, number->core_end)
               ? 2
               : 0;
}

/* Claims a name and its version: Python 3.12, Bluetooth 5.0. A capital at a sentence's beginning
 * does not make a name, so there the number has to end the sentence, or a verb has to follow. */
static size_t take_release(struct mt_codes_finder *finder, size_t i)
{
    static const char *const follows_name[] = {
        "is",  "was",      "has",      "and",      "on", "for", "in",  "to",    "with", "will",
        "can", "released", "supports", "requires", "vs", "or",  "are", "needs", "adds", NULL};
    static const char *const no_names[] = {
        "About", "Around", "Over",    "Only",   "Nearly", "Almost", "The",           "Total",
        "Price", "Cost",   "Average", "Add",    "Use",    "Up",     "Less",          "More",
        "From",  "By",     "To",      "At",     "Just",   "Some",   "Approximately", "Roughly",
        "Under", "Sum",    "Rate",    "Result", "Value",  "Weight", "Height",        NULL};
    const struct mt_codes_item *name = mt_codes_item_at(finder, i),
                               *number = mt_codes_item_at(finder, i + 1);
    const struct mt_codes_item *next = mt_codes_item_at(finder, i + 2);
    bool is_copied = !name->is_name && name->taken == MT_FREE &&
                     mt_codes_match_name(finder->text, name->core_begin, name->core_end) ==
                         name->core_end - name->core_begin; /* iOS */
    if (name->taken != MT_FREE || !(name->is_name || is_copied) || name->has_digit ||
        !mt_codes_follows(finder, name, number) || !is_version(finder, number) ||
        number->core_end - number->core_begin > 5 || mt_codes_item_is(finder, name, no_names) ||
        !mt_codes_is_english(finder))
        return 0;
    uint32_t behind = next->taken == MT_FREE ? mt_codes_at(finder, next->core_begin) : '\n';
    bool ends = number->core_end < number->end || next->taken == MT_TAKEN_EDGE;
    bool is_one =
        mt_codes_char(finder, number->core_end) != '%' &&
        (ends ? !mt_codes_is_digit(mt_codes_at(finder, number->core_end))
              : u_isupper((UChar32)behind) || mt_codes_item_is(finder, next, follows_name));
    if (!is_one)
        return 0;
    size_t found =
        is_copied ? mt_codes_claim(finder, MT_CODE_WORD, name->core_begin, number->core_end)
                  : mt_codes_claim(finder, MT_CODE_NUMBER, number->core_begin, number->core_end);
    return found != MT_NO_MATE ? 2 : 0;
}

size_t mt_codes_take_number(struct mt_codes_finder *finder, size_t i)
{
    static size_t (*const takers[])(struct mt_codes_finder * finder, size_t i) = {
        take_reference, take_round_price, take_pair,    take_fraction, take_dollars,
        take_rate,      take_currency,    take_amount,  take_price,    take_ratio,
        take_prices,    take_tagged,      take_version, take_release,  take_numero,
        take_section,   take_date,        take_zone,    take_sequence, take_decade,
        take_score,     take_span,        take_era,     take_address,  take_range};
    for (size_t k = 0; k < sizeof takers / sizeof *takers; k++) {
        size_t n = takers[k](finder, i);
        if (n)
            return n;
    }
    return 0;
}
