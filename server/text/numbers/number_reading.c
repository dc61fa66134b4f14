#include "server/text/numbers/number_state.h"

#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Most digits of a number that is used in computations. */
#define MAX_EXACT_DIGITS 9
/* The largest power of ten that words stand for. */
#define MAX_POWER 15

static int digit_at(const struct mt_numbers_text *text, size_t at)
{
    if (at >= text->length)
        return -1;
    return u_charDigitValue((UChar32)mt_utf8_decode(text->bytes + at));
}

bool mt_has_digits(const char *text, size_t length)
{
    const struct mt_numbers_text all = {.bytes = text, .length = length};
    for (size_t at = 0; at < length; at += mt_char_length(text + at))
        if (digit_at(&all, at) >= 0)
            return true;
    return false;
}

/* ---- values ---- */

static void read_digit(struct mt_digit_reader *reader, int digit)
{
    if (digit == 0) {
        reader->n_zeros += reader->has_any;
        return;
    }
    for (; reader->n_zeros > 0; reader->n_zeros--)
        reader->hash = (reader->hash ^ '0') * UINT64_C(1099511628211);
    reader->hash = (reader->hash ^ (uint64_t)('0' + digit)) * UINT64_C(1099511628211);
    reader->has_any = true;
}

void mt_digits_read(struct mt_digit_reader *reader, const struct mt_numbers_text *text,
                    struct mt_range range)
{
    for (size_t at = range.begin; at < range.end; at += mt_char_length(text->bytes + at)) {
        int digit = digit_at(text, at);
        if (digit >= 0)
            read_digit(reader, digit);
    }
}

struct mt_number_value mt_digits_value(const struct mt_digit_reader *reader, int32_t exponent)
{
    if (!reader->has_any)
        return (struct mt_number_value){0};
    return (struct mt_number_value){.digits = reader->hash, .exponent = exponent + reader->n_zeros};
}

struct mt_digit_reader mt_digit_reader(void)
{
    return (struct mt_digit_reader){.hash = UINT64_C(14695981039346656037)};
}

struct mt_number_value mt_number_value_of_integer(uint64_t integer)
{
    char digits[24];
    int n = 0;
    struct mt_digit_reader reader = mt_digit_reader();
    for (; integer > 0; integer /= 10)
        digits[n++] = (char)(integer % 10);
    while (n > 0)
        read_digit(&reader, digits[--n]);
    return mt_digits_value(&reader, 0);
}

bool mt_number_is_same(struct mt_number_value a, struct mt_number_value b)
{
    return a.digits == b.digits && a.exponent == b.exponent;
}

bool mt_number_is_zero(const struct mt_number_group *group)
{
    return group->exact == 0;
}

/* ---- finding numbers ---- */

static bool is_blank(uint32_t c)
{
    return c == ' ' || c == 0xA0 || c == 0x202F || c == 0x2009;
}

bool mt_number_is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019;
}

static bool is_separator(uint32_t c)
{
    return c == '.' || c == ',' || c == ':' || c == '/' || c == 0xB7 || c == 0x66B || c == 0x66C ||
           c == 0xFF0C || c == 0xFF0E || c == 0xFF0F || c == 0xFF1A;
}

static size_t digits_end(const struct mt_numbers_text *text, size_t at)
{
    while (digit_at(text, at) >= 0)
        at += mt_char_length(text->bytes + at);
    return at;
}

static enum mt_status add_group(struct mt_number_side *side, struct mt_range at, uint32_t separator,
                                struct mt_error *err)
{
    enum mt_status status = MT_ROOM(&side->groups, &side->group_capacity, side->n_groups + 1,
                                    "numbers of a sentence", err);
    if (status)
        return status;
    struct mt_digit_reader reader = mt_digit_reader();
    mt_digits_read(&reader, side->text, at);
    struct mt_number_group group = {
        .at = at, .number = side->n, .separator = separator, .value = mt_digits_value(&reader, 0)};
    for (size_t byte = at.begin; byte < at.end; byte += mt_char_length(side->text->bytes + byte)) {
        group.n_digits++;
        group.exact =
            group.n_digits > MAX_EXACT_DIGITS ? -1 : group.exact * 10 + digit_at(side->text, byte);
    }
    side->groups[side->n_groups++] = group;
    return MT_OK;
}

const struct mt_number_group *mt_number_group(const struct mt_number_side *side,
                                              const struct mt_number *number, size_t i)
{
    return &side->groups[number->first + i];
}

/* Whether c joins the digits behind it, of which there are n, to a number that ends in `last`. */
static bool joins(const struct mt_number_side *side, const struct mt_number *number, uint32_t c,
                  size_t n)
{
    if (is_separator(c))
        return true;
    if (!is_blank(c) && !mt_number_is_apostrophe(c))
        return false;
    const struct mt_number_group *last = mt_number_group(side, number, number->n - 1);
    return n == 3 && (number->n == 1 ? last->n_digits <= 3 && !mt_number_is_zero(last)
                                     : last->separator == c && last->n_digits == 3);
}

static enum mt_status add_number(struct mt_number_side *side, size_t at, struct mt_error *err)
{
    const struct mt_numbers_text *text = side->text;
    enum mt_status status =
        MT_ROOM(&side->numbers, &side->capacity, side->n + 1, "numbers of a sentence", err);
    struct mt_number number = {.at = {at, digits_end(text, at)}, .first = side->n_groups};
    if (!status)
        status = add_group(side, number.at, 0, err);
    number.n = 1;
    while (!status && number.at.end < text->length) {
        size_t separator = number.at.end;
        uint32_t c = mt_utf8_decode(text->bytes + separator);
        size_t begin = separator + mt_char_length(text->bytes + separator);
        if (digit_at(text, begin) < 0)
            break;
        size_t end = digits_end(text, begin), n = mt_utf8_count(text->bytes + begin, end - begin);
        if (!joins(side, &number, c, n))
            break;
        status = add_group(side, (struct mt_range){begin, end}, c, err);
        number.at.end = end;
        number.n++;
    }
    if (!status)
        side->numbers[side->n++] = number;
    return status;
}

/* ---- reading them ---- */

static void add_reading(struct mt_number *number, struct mt_number_value value)
{
    if (number->n_readings < MT_MAX_READINGS)
        number->readings[number->n_readings++] = value;
}

/* Whether the first n groups are one whole number: 1,250,000 or, in India, 12,50,000. */
bool mt_number_is_grouped(const struct mt_number_side *side, const struct mt_number *number,
                          size_t n)
{
    const struct mt_number_group *groups = mt_number_group(side, number, 0);
    if (groups[0].n_digits > 3 || (n > 1 && mt_number_is_zero(&groups[0])))
        return false;
    for (size_t i = 1; i < n; i++) {
        bool is_last = i + 1 == n;
        if (groups[i].separator != groups[1].separator || groups[i].separator == ':' ||
            groups[i].separator == '/' || groups[i].n_digits > 3 ||
            groups[i].n_digits < (is_last ? 3 : 2))
            return false;
    }
    return true;
}

bool mt_number_is_decimal(uint32_t separator)
{
    return separator == '.' || separator == ',' || separator == 0xB7 || separator == 0x66B ||
           separator == 0xFF0E || separator == 0xFF0C;
}

/* A hash of a group's digits. It includes leading zeros where the group stands for thousands. */
static uint64_t group_hash(const struct mt_number_group *group)
{
    uint64_t n_zeros = mt_number_is_zero(group) && group->n_digits > 2 ? group->n_digits : 0;
    return group->value.digits ^ (uint64_t)group->value.exponent ^ n_zeros;
}

bool mt_number_is_list(const struct mt_number_side *side, const struct mt_number *number)
{
    const struct mt_number_group *groups = mt_number_group(side, number, 0);
    for (size_t i = 1; i < number->n; i++)
        if (groups[i].separator != ',' && groups[i].separator != 0xFF0C)
            return false;
    return number->n > 2;
}

static void read_number(const struct mt_number_side *side, struct mt_number *number)
{
    const struct mt_number_group *groups = mt_number_group(side, number, 0),
                                 *last = &groups[number->n - 1];
    struct mt_digit_reader all = mt_digit_reader(), parts = mt_digit_reader();
    number->n_readings = 0;
    mt_digits_read(&all, side->text, number->at);
    if (number->n == 1) {
        add_reading(number, mt_digits_value(&all, 0));
        return;
    }
    parts.hash += mt_number_is_list(side, number);
    for (size_t i = 0; i < number->n; i++)
        parts.hash = (parts.hash ^ group_hash(&groups[i])) * UINT64_C(1099511628211);
    add_reading(number,
                (struct mt_number_value){.digits = parts.hash, .exponent = MT_NUMBER_GROUPS});
    bool is_grouped = mt_number_is_grouped(side, number, number->n);
    if (is_grouped)
        add_reading(number, mt_digits_value(&all, 0));
    /* Three zeros are thousands, so 340,000 is not 340. */
    bool has_own_separator = number->n == 2 || groups[1].separator != last->separator,
         is_round = is_grouped && mt_number_is_zero(last);
    if (mt_number_is_decimal(last->separator) && has_own_separator && !is_round &&
        (number->n == 2 || mt_number_is_grouped(side, number, number->n - 1)))
        add_reading(number, mt_digits_value(&all, -(int32_t)last->n_digits));
}

/* Short forms that newspapers use and ICU does not know. */
static uint32_t short_scale(const char *text, size_t length, size_t *n_bytes)
{
    static const struct {
        const char *name;
        uint32_t power;
    } scales[] = {{"mn", 6}, {"bn", 9}, {"tn", 12}, {"m", 6}, {"k", 3}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        size_t n = strlen(scales[i].name);
        bool is_there = length >= n && memcmp(text, scales[i].name, n) == 0;
        if (is_there && (length == n || !u_isalpha((UChar32)mt_utf8_decode(text + n)))) {
            *n_bytes = n;
            return scales[i].power;
        }
    }
    return 0;
}

/* The word may stand behind blanks and a hyphen. */
size_t mt_number_skip_joints(const struct mt_numbers_text *text, size_t at)
{
    while (at < text->length &&
           (is_blank(mt_utf8_decode(text->bytes + at)) || mt_utf8_decode(text->bytes + at) == '-'))
        at += mt_char_length(text->bytes + at);
    return at;
}

/* Returns 0 where there is none. */
size_t mt_number_word_at(const struct mt_numbers_text *text, size_t at,
                         enum mt_number_word_kind kind, uint32_t *value)
{
    struct mt_number_word words[MT_MAX_NUMBER_WORDS];
    size_t n = mt_number_words_at(text->language, text->bytes, text->length, at, words);
    for (size_t i = 0; i < n; i++)
        if (words[i].kind == kind) {
            *value = words[i].value;
            return words[i].length;
        }
    return 0;
}

/* Returns the power of ten of the words behind a number ("million", "千万"), and in *end where they
 * end; 0: there are none. */
static uint32_t scale_behind(const struct mt_number_side *side, const struct mt_number *number,
                             size_t *end)
{
    const struct mt_numbers_text *text = side->text;
    uint32_t power = 0, factor;
    size_t at = mt_number_skip_joints(text, number->at.end), n;
    while ((n = mt_number_word_at(text, at, MT_NUMBER_SCALE, &factor)) > 0 &&
           power + factor <= MAX_POWER) {
        power += factor;
        at += n;
    }
    if (power == 0 && at < text->length) {
        power = short_scale(text->bytes + at, text->length - at, &n);
        at += power > 0 ? n : 0;
    }
    *end = at;
    return power;
}

static uint64_t power_of_ten(uint32_t power)
{
    uint64_t result = 1;
    while (power-- > 0)
        result *= 10;
    return result;
}

/* Whether the number is a whole number below 10,000. */
static bool is_term(const struct mt_number_side *side, const struct mt_number *number,
                    uint64_t *out)
{
    *out = 0;
    if (number->n > 1 && !mt_number_is_grouped(side, number, number->n))
        return false;
    for (size_t i = 0; i < number->n; i++) {
        const struct mt_number_group *group = mt_number_group(side, number, i);
        if (group->exact < 0 || group->n_digits > 4)
            return false;
        *out = *out * 1000 + (uint64_t)group->exact;
    }
    return *out < 10000;
}

/* Joins the terms of a number such as "1億5000万", which become groups of the first. Returns how many
 * numbers there are then. */
static size_t join_terms(struct mt_number_side *side, size_t index, size_t end, uint32_t power)
{
    struct mt_number *first = &side->numbers[index];
    uint64_t sum = 0, value;
    size_t n_terms = 0;
    for (const struct mt_number *term = first; is_term(side, term, &value); term++) {
        sum += value * power_of_ten(power);
        n_terms++;
        bool is_last = power == 0 || index + n_terms >= side->n ||
                       mt_number_skip_joints(side->text, end) != term[1].at.begin;
        if (is_last)
            break;
        uint32_t next_power = scale_behind(side, term + 1, &end);
        if (next_power >= power)
            break;
        power = next_power;
    }
    if (n_terms < 2)
        return 1;
    first->n_readings = first->n_plain = 0;
    add_reading(first, mt_number_value_of_integer(sum));
    first->at.end = first[n_terms - 1].at.end;
    for (size_t i = 1; i < n_terms; i++)
        first->n += first[i].n;
    return n_terms;
}

static void scale_numbers(struct mt_number_side *side)
{
    size_t n = 0;
    for (size_t i = 0, n_terms; i < side->n; i += n_terms) {
        struct mt_number *number = &side->numbers[i];
        size_t end, n_readings = number->n_readings;
        uint32_t power = scale_behind(side, number, &end);
        n_terms = 1;
        number->n_plain = n_readings;
        number->is_scaled = power > 0;
        for (size_t k = 0; k < n_readings && power > 0; k++) {
            struct mt_number_value scaled = number->readings[k];
            if (scaled.exponent == MT_NUMBER_GROUPS)
                continue;
            scaled.exponent += scaled.digits ? (int32_t)power : 0;
            add_reading(number, scaled);
        }
        if (power > 0)
            n_terms = join_terms(side, i, end, power);
        for (size_t k = 0; k < number->n; k++)
            side->groups[number->first + k].number = n;
        side->numbers[n++] = *number;
    }
    side->n = n;
}

enum mt_status mt_numbers_find(struct mt_number_side *side, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct mt_numbers_text *text = side->text;
    for (size_t at = 0; at < text->length && !status;) {
        if (digit_at(text, at) < 0) {
            at += mt_char_length(text->bytes + at);
            continue;
        }
        status = add_number(side, at, err);
        at = status ? at : side->numbers[side->n - 1].at.end;
        if (side->n > MT_MAX_NUMBERS)
            return status;
    }
    for (size_t i = 0; i < side->n && !status; i++)
        read_number(side, &side->numbers[i]);
    if (!status)
        scale_numbers(side);
    return status;
}

/* ---- numbers in words ---- */

static enum mt_status add_said(struct mt_number_side *side, struct mt_number_value value,
                               struct mt_error *err)
{
    enum mt_status status =
        MT_ROOM(&side->said, &side->said_capacity, side->n_said + 1, "numbers of a sentence", err);
    if (!status)
        side->said[side->n_said++] = value;
    return status;
}

/* Reads characters that are digits, as in "二〇一〇", and moves *at behind them. */
static enum mt_status read_numerals(struct mt_number_side *side, size_t *at, struct mt_error *err)
{
    const struct mt_numbers_text *text = side->text;
    struct mt_digit_reader reader = mt_digit_reader();
    size_t n = 0, end = *at;
    while (end < text->length && digit_at(text, end) < 0) {
        double value = u_getNumericValue((UChar32)mt_utf8_decode(text->bytes + end));
        if (value < 0 || value > 9 || value != (double)(int)value)
            break;
        read_digit(&reader, (int)value);
        end += mt_char_length(text->bytes + end);
        n++;
    }
    if (n < 2)
        return MT_OK;
    *at = end;
    return add_said(side, mt_digits_value(&reader, 0), err);
}

/* Adds a word's value. A scale is also multiplied with the value before it, as in "two
 * thousand". */
static enum mt_status read_word(struct mt_number_side *side, const struct mt_number_word *word,
                                size_t *n_before, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (word->kind == MT_NUMBER_AFTERNOON)
        side->has_afternoon = true;
    if (word->kind == MT_NUMBER_VALUE)
        return add_said(side, mt_number_value_of_integer(word->value), err);
    if (word->kind != MT_NUMBER_SCALE)
        return MT_OK;
    for (size_t i = *n_before, n = side->n_said; i < n && !status; i++) {
        struct mt_number_value scaled = side->said[i];
        scaled.exponent += scaled.digits ? (int32_t)word->value : 0;
        status = add_said(side, scaled, err);
    }
    if (!status)
        status = add_said(side,
                          (struct mt_number_value){.digits = mt_number_value_of_integer(1).digits,
                                                   .exponent = (int32_t)word->value},
                          err);
    return status;
}

static bool is_word_begin(const struct mt_numbers_text *text, size_t at)
{
    if (at == 0)
        return true;
    uint32_t before = mt_utf8_decode(text->bytes + mt_previous_char(text->bytes, at));
    return !u_isalpha((UChar32)before) || u_charType((UChar32)before) == U_OTHER_LETTER;
}

enum mt_status mt_numbers_read_words(struct mt_number_side *side, struct mt_error *err)
{
    const struct mt_numbers_text *text = side->text;
    struct mt_number_word words[MT_MAX_NUMBER_WORDS];
    enum mt_status status = MT_OK;
    size_t n_before = 0; /* number of values of the word before */
    if (side->has_words)
        return MT_OK;
    side->has_words = true;
    for (size_t at = 0; at < text->length && !status;) {
        size_t begin = at, n = 0;
        if (is_word_begin(text, at) && side->n_said < MT_MAX_NUMBERS) {
            status = read_numerals(side, &at, err);
            n = mt_number_words_at(text->language, text->bytes, text->length, begin, words);
        }
        size_t now = side->n_said;
        for (size_t i = 0; i < n && !status; i++)
            status = read_word(side, &words[i], &n_before, err);
        if (n > 0) {
            n_before = now;
            at = mt_size_max(at, begin + words[0].length);
        } else if (at == begin) {
            at += mt_char_length(text->bytes + at);
        }
    }
    return status;
}
