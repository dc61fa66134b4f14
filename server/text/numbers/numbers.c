#include "server/text/numbers/number_state.h"

#include "base/size.h"
#include "base/text.h"

#include <stdlib.h>

#include <unicode/uchar.h>

/* Digits from which on two runs of digits are the same code, wherever they are divided. */
#define MIN_CODE_DIGITS 6

static bool says(const struct mt_number_side *side, struct mt_number_value value)
{
    for (size_t i = 0; i < side->n_said; i++)
        if (mt_number_is_same(side->said[i], value))
            return true;
    return false;
}

/* ---- comparing ---- */

static void match(struct mt_number_side *side, struct mt_number *number)
{
    number->is_matched = true;
    for (size_t i = 0; i < number->n; i++)
        side->groups[number->first + i].is_matched = true;
}

/* Whether a word behind the number says its power of ten, and its readings have that. A list, such as
 * the ratio in "2:300 million", has none. */
static bool has_scale(const struct mt_number *number)
{
    return number->is_scaled && number->n_readings > number->n_plain;
}

/* Whether two numbers can be the same. If both have a word for a power of ten, these have to agree:
 * three million are not 3万. */
static bool can_be_same(const struct mt_number *a, const struct mt_number *b)
{
    bool are_scaled = has_scale(a) && has_scale(b);
    for (size_t i = are_scaled ? a->n_plain : 0; i < a->n_readings; i++)
        for (size_t k = are_scaled ? b->n_plain : 0; k < b->n_readings; k++)
            if (mt_number_is_same(a->readings[i], b->readings[k]))
                return true;
    return false;
}

static void match_numbers(struct mt_number_side *source, struct mt_number_side *target)
{
    for (size_t i = 0; i < source->n; i++)
        for (size_t k = 0; k < target->n && !source->numbers[i].is_matched; k++)
            if (!target->numbers[k].is_matched &&
                can_be_same(&source->numbers[i], &target->numbers[k])) {
                match(source, &source->numbers[i]);
                match(target, &target->numbers[k]);
            }
}

typedef bool is_pair(const struct mt_number_side *source, const struct mt_number_group *from,
                     const struct mt_number_side *target, const struct mt_number_group *to);

static void match_groups(struct mt_number_side *source, struct mt_number_side *target,
                         is_pair *are_same)
{
    for (size_t i = 0; i < source->n_groups; i++)
        for (size_t k = 0; k < target->n_groups && !source->groups[i].is_matched; k++)
            if (!target->groups[k].is_matched &&
                are_same(source, &source->groups[i], target, &target->groups[k]))
                source->groups[i].is_matched = target->groups[k].is_matched = true;
}

/* Whether a group is part of an amount: 1,250,000 is not 1,250 and another number. Ordinary blanks
 * may stand between two numbers. */
static bool is_of_amount(const struct mt_number_side *side, const struct mt_number_group *group)
{
    const struct mt_number *number = &side->numbers[group->number];
    return number->n > 1 && mt_number_group(side, number, 1)->separator != ' ' &&
           mt_number_is_grouped(side, number, number->n);
}

/* Whether one group belongs to a version or a date, and the other to a list. */
static bool are_of_other_kinds(const struct mt_number_side *source,
                               const struct mt_number_group *from,
                               const struct mt_number_side *target,
                               const struct mt_number_group *to)
{
    const struct mt_number *a = &source->numbers[from->number], *b = &target->numbers[to->number];
    return a->n > 2 && b->n > 2 && mt_number_is_list(source, a) != mt_number_is_list(target, b);
}

/* Whether the group is minutes, "08:00", and the other one has a digit too many for that. */
static bool is_longer_than_minutes(const struct mt_number_group *minutes,
                                   const struct mt_number_group *other)
{
    return minutes->separator == ':' && minutes->n_digits == 2 && other->n_digits == 3;
}

static bool have_same_value(const struct mt_number_side *source, const struct mt_number_group *from,
                            const struct mt_number_side *target, const struct mt_number_group *to)
{
    const struct mt_number *a = &source->numbers[from->number], *b = &target->numbers[to->number];
    bool has_other_scale = has_scale(a) && has_scale(b) && !can_be_same(a, b);
    return mt_number_is_same(from->value, to->value) && !has_other_scale &&
           !is_longer_than_minutes(from, to) && !is_of_amount(source, from) &&
           !is_of_amount(target, to) && !are_of_other_kinds(source, from, target, to);
}

/* Whether the group is the first of two, with a colon or a full stop behind it, as in an hour. */
static bool is_hour(const struct mt_number_side *side, const struct mt_number_group *group)
{
    const struct mt_number *number = &side->numbers[group->number];
    if (number->n != 2 || group != mt_number_group(side, number, 0))
        return false;
    const struct mt_number_group *minutes = group + 1;
    return (minutes->separator == ':' || minutes->separator == '.') && minutes->n_digits == 2 &&
           minutes->exact < 60;
}

static bool is_half_a_day_later(const struct mt_number_side *early, const struct mt_number_group *a,
                                const struct mt_number_side *late, const struct mt_number_group *b)
{
    bool is_later = (a->exact >= 1 && a->exact < 12 && b->exact == a->exact + 12) ||
                    (a->exact == 12 && (b->exact == 0 || b->exact == 24));
    bool is_said = early->has_afternoon || a->exact == 12;
    return is_later && (is_said || (is_hour(early, a) && is_hour(late, b)));
}

static bool is_same_hour(const struct mt_number_side *source, const struct mt_number_group *from,
                         const struct mt_number_side *target, const struct mt_number_group *to)
{
    return is_half_a_day_later(source, from, target, to) ||
           is_half_a_day_later(target, to, source, from);
}

/* Whether the group is the short form of a year: "'98", "98er", "1997-98", "SS98". */
static bool is_short_year(const struct mt_number_side *side, const struct mt_number_group *group)
{
    const struct mt_numbers_text *text = side->text;
    if (group->n_digits != 2)
        return false;
    if (group->at.begin == 0)
        return false;
    uint32_t before = mt_utf8_decode(text->bytes + mt_previous_char(text->bytes, group->at.begin));
    return mt_number_is_apostrophe(before) || before == 0x2018 || before == '/' || before == '-' ||
           before == 0x2013 || before == '.' || u_isalpha((UChar32)before);
}

static bool has_letter_behind(const struct mt_number_side *side,
                              const struct mt_number_group *group)
{
    const struct mt_numbers_text *text = side->text;
    return group->at.end < text->length &&
           u_isalpha((UChar32)mt_utf8_decode(text->bytes + group->at.end));
}

/* Whether the short year means the long one. A decade has letters behind it: "1930s" are "les
 * années 30". */
static bool is_year_of(const struct mt_number_side *long_side, const struct mt_number_group *year,
                       const struct mt_number_side *side, const struct mt_number_group *group)
{
    return year->exact >= 1000 && year->exact < 3000 && year->exact % 100 == group->exact &&
           group->n_digits == 2 &&
           (has_letter_behind(long_side, year) || has_letter_behind(side, group) ||
            is_short_year(side, group));
}

static bool is_same_year(const struct mt_number_side *source, const struct mt_number_group *from,
                         const struct mt_number_side *target, const struct mt_number_group *to)
{
    return is_year_of(source, from, target, to) || is_year_of(target, to, source, from);
}

static bool is_open(const struct mt_number_side *side, const struct mt_number *number)
{
    for (size_t i = 0; i < number->n; i++)
        if (!mt_number_group(side, number, i)->is_matched)
            return true;
    return false;
}

/* ---- units ---- */

/* 5 miles may be translated as 8 km, or 8.05, or 7.5. */
#define UNIT_TOLERANCE 0.12
#define DEGREES_TOLERANCE 1.0
/* Most bytes between two numbers that share a unit, as in "2 to 4 inches". */
#define MAX_RANGE_GAP 8

struct quantity {
    struct mt_number_unit unit;
    double value; /* in the dimension's base unit */
};

static bool read_value(const struct mt_number_side *side, const struct mt_number *number,
                       double *out)
{
    const struct mt_number_group *groups = mt_number_group(side, number, 0);
    for (size_t i = 0; i < number->n; i++)
        if (groups[i].exact < 0)
            return false;
    *out = (double)groups[0].exact;
    if (number->n == 2 && mt_number_is_decimal(groups[1].separator) && groups[1].n_digits < 3) {
        *out += (double)groups[1].exact / (groups[1].n_digits == 1 ? 10 : 100);
        return true;
    }
    for (size_t i = 1; i < number->n; i++)
        *out = *out * 1000 + (double)groups[i].exact;
    return mt_number_is_grouped(side, number, number->n);
}

static bool has_quantity(const struct mt_number_side *side, const struct mt_number *number,
                         struct quantity *out)
{
    const struct mt_numbers_text *text = side->text;
    const struct mt_number *named = number;
    double value;
    uint32_t unit;
    if (!read_value(side, number, &value))
        return false;
    bool has_unit = mt_number_word_at(text, mt_number_skip_joints(text, named->at.end),
                                      MT_NUMBER_UNIT, &unit) > 0;
    bool has_next = number + 1 < side->numbers + side->n &&
                    number[1].at.begin - number->at.end <= MAX_RANGE_GAP;
    if (!has_unit && has_next)
        has_unit = mt_number_word_at(text, mt_number_skip_joints(text, number[1].at.end),
                                     MT_NUMBER_UNIT, &unit) > 0;
    if (!has_unit)
        return false;
    out->unit = mt_number_unit(unit);
    out->value = (value - out->unit.zero) * out->unit.factor;
    return true;
}

/* Whether both are the same quantity in different units. In the same unit the numbers would be
 * equal. */
static bool is_converted(const struct quantity *a, const struct quantity *b)
{
    double difference = a->value > b->value ? a->value - b->value : b->value - a->value;
    double larger = a->value > b->value ? a->value : b->value;
    bool has_same_unit = a->unit.factor == b->unit.factor;
    return a->unit.dimension == b->unit.dimension && !has_same_unit &&
           difference <=
               (a->unit.dimension == MT_TEMPERATURE ? DEGREES_TOLERANCE : UNIT_TOLERANCE * larger);
}

/* Whether "80 degrees" became "27 ºC", or "27 Grad", which does not name the scale. */
static bool is_in_celsius(const struct quantity *from, const struct mt_number_side *target,
                          const struct mt_number *to)
{
    double value;
    if (from->unit.dimension != MT_TEMPERATURE || !read_value(target, to, &value))
        return false;
    double difference = value > from->value ? value - from->value : from->value - value;
    return difference <= DEGREES_TOLERANCE;
}

static void match_converted(struct mt_number_side *source, struct mt_number_side *target)
{
    struct quantity from, to;
    for (size_t i = 0; i < source->n; i++) {
        struct mt_number *number = &source->numbers[i];
        bool is_wanted = is_open(source, number) && has_quantity(source, number, &from);
        for (size_t k = 0; k < target->n && is_wanted; k++) {
            struct mt_number *other = &target->numbers[k];
            bool is_same = (has_quantity(target, other, &to) && is_converted(&from, &to)) ||
                           is_in_celsius(&from, target, other);
            if (!is_open(target, other) || !is_same)
                continue;
            match(source, number);
            match(target, other);
            break;
        }
    }
}

/* Matches a quantity that is given in two units, as in "800 kph (497 mph)", where the translation
 * has one of them. */
static void match_said_twice(struct mt_number_side *side)
{
    struct quantity own, other;
    for (size_t i = 0; i < side->n; i++) {
        struct mt_number *number = &side->numbers[i];
        bool is_wanted = is_open(side, number) && has_quantity(side, number, &own);
        for (size_t k = 0; k < side->n && is_wanted; k++)
            if (!is_open(side, &side->numbers[k]) &&
                has_quantity(side, &side->numbers[k], &other) && is_converted(&own, &other))
                match(side, number);
    }
}

/* ---- all of it ---- */

/* Whether languages often write the number as a word, or not at all: "a week" is "1週間", "twice" is
 * "2回", "a decade" is "10年". If only the translation has it, that alone is no fault. */
static bool is_often_a_word(int64_t number)
{
    return (number >= 1 && number <= 3) || number == 10 || number == 100;
}

/* Such a number of the source may also be missing where it is joined to what it counts: "1週間". */
static bool is_counter(const struct mt_numbers_text *text, size_t at)
{
    return at < text->length &&
           u_charType((UChar32)mt_utf8_decode(text->bytes + at)) == U_OTHER_LETTER;
}

static void pass_over_words(struct mt_number_side *side, const struct mt_number_side *other,
                            bool is_source)
{
    for (size_t i = 0; i < other->n; i++)
        if (is_open(other, &other->numbers[i]))
            return;
    for (size_t i = 0; i < side->n; i++) {
        struct mt_number *number = &side->numbers[i];
        const struct mt_number_group *group = mt_number_group(side, number, 0);
        bool is_wanted = is_source && !is_counter(side->text, group->at.end);
        if (number->n == 1 && is_often_a_word(group->exact) && !is_wanted)
            match(side, number);
    }
}

/* Whether a group has no value, so that it may be missing: the minutes of a full hour, the zero of
 * 0.5. */
static bool may_be_missing(const struct mt_number_side *side, const struct mt_number_group *group)
{
    return mt_number_is_zero(group) &&
           (group->n_digits == 2 || (group->n_digits == 1 && side->numbers[group->number].n > 1));
}

static bool is_done(const struct mt_number_side *side)
{
    for (size_t i = 0; i < side->n_groups; i++)
        if (!side->groups[i].is_matched && !may_be_missing(side, &side->groups[i]))
            return false;
    return true;
}

static void pass_over_zeros(struct mt_number_side *side)
{
    for (size_t i = 0; i < side->n_groups; i++)
        if (may_be_missing(side, &side->groups[i]))
            side->groups[i].is_matched = true;
}

/* Matches quarters of an hour that became words: "2:30" is "halb drei" and "2時半". The other side
 * then has the hour, or the next one, and no minutes. */
static void match_quarters(struct mt_number_side *side, const struct mt_number_side *other)
{
    for (size_t i = 0; i < side->n && is_done(other); i++) {
        struct mt_number *number = &side->numbers[i];
        const struct mt_number_group *hour = mt_number_group(side, number, 0);
        if (number->n != 2 || !is_hour(side, hour) || hour[1].is_matched)
            continue;
        bool is_quarter = hour[1].exact > 0 && hour[1].exact % 15 == 0;
        uint64_t next = hour->exact % 12 == 0 ? 1 : (uint64_t)hour->exact % 12 + 1;
        if (is_quarter && (hour->is_matched || says(other, hour->value) ||
                           says(other, mt_number_value_of_integer(next))))
            match(side, number);
    }
}

/* Matches digits with words of the other side. */
static void match_words(struct mt_number_side *side, const struct mt_number_side *other)
{
    for (size_t i = 0; i < side->n; i++) {
        struct mt_number *number = &side->numbers[i];
        bool is_said = false;
        for (size_t k = 0; k < number->n_readings && is_open(side, number) && !is_said; k++)
            is_said = number->readings[k].exponent != MT_NUMBER_GROUPS &&
                      says(other, number->readings[k]);
        if (is_said)
            match(side, number);
    }
    for (size_t i = 0; i < side->n_groups; i++) {
        struct mt_number_group *group = &side->groups[i];
        if (!group->is_matched && says(other, group->value))
            group->is_matched = true;
    }
}

/* Reads the digits of all groups that are not matched as one number, and counts the digits and
 * their numbers. */
static struct mt_number_value read_rest(const struct mt_number_side *side, size_t *n_digits,
                                        size_t *n_numbers)
{
    struct mt_digit_reader reader = mt_digit_reader();
    size_t last = SIZE_MAX;
    *n_digits = *n_numbers = 0;
    for (size_t i = 0; i < side->n_groups; i++) {
        const struct mt_number_group *group = &side->groups[i];
        if (group->is_matched)
            continue;
        mt_digits_read(&reader, side->text, group->at);
        *n_digits += group->n_digits;
        *n_numbers += group->number != last;
        last = group->number;
    }
    return mt_digits_value(&reader, 0);
}

static void match_codes(struct mt_number_side *source, struct mt_number_side *target)
{
    size_t n_digits, n_others, n_numbers, n_other_numbers;
    struct mt_number_value from = read_rest(source, &n_digits, &n_numbers);
    struct mt_number_value to = read_rest(target, &n_others, &n_other_numbers);
    if (n_digits != n_others || n_digits < MIN_CODE_DIGITS || n_numbers + n_other_numbers < 3 ||
        !mt_number_is_same(from, to))
        return;
    for (size_t i = 0; i < source->n_groups; i++)
        source->groups[i].is_matched = true;
    for (size_t i = 0; i < target->n_groups; i++)
        target->groups[i].is_matched = true;
}

static enum mt_status compare(struct mt_number_side *source, struct mt_number_side *target,
                              struct mt_error *err)
{
    match_numbers(source, target);
    if (is_done(source) && is_done(target))
        return MT_OK;
    match_groups(source, target, have_same_value);
    if (is_done(source) && is_done(target)) {
        pass_over_zeros(source);
        pass_over_zeros(target);
        return MT_OK;
    }
    enum mt_status status = mt_numbers_read_words(source, err);
    if (!status)
        status = mt_numbers_read_words(target, err);
    if (status)
        return status;
    match_groups(source, target, is_same_hour);
    match_groups(source, target, is_same_year);
    pass_over_zeros(source);
    pass_over_zeros(target);
    match_words(source, target);
    match_words(target, source);
    match_quarters(source, target);
    match_quarters(target, source);
    match_codes(source, target);
    match_converted(source, target);
    match_converted(target, source);
    match_said_twice(source);
    match_said_twice(target);
    pass_over_words(target, source, false);
    pass_over_words(source, target, true);
    return MT_OK;
}

static void ignore(struct mt_number_side *source, const struct mt_range *ignored, size_t n)
{
    for (size_t i = 0; i < source->n_groups; i++)
        for (size_t k = 0; k < n; k++)
            if (source->groups[i].at.begin < ignored[k].end &&
                source->groups[i].at.end > ignored[k].begin)
                source->groups[i].is_matched = true;
}

static enum mt_status list_open(const struct mt_number_side *side, struct mt_ranges *out,
                                struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < side->n && !status; i++) {
        const struct mt_number *number = &side->numbers[i];
        if (is_open(side, number))
            status = mt_ranges_append(out, number->at.begin, number->at.end, err);
    }
    return status;
}

void mt_number_side_finish(struct mt_number_side *side)
{
    free(side->numbers);
    free(side->groups);
    free(side->said);
}

void mt_numbers_difference_finish(struct mt_numbers_difference *difference)
{
    mt_ranges_finish(&difference->missing);
    mt_ranges_finish(&difference->added);
}

enum mt_status mt_numbers_compare(const struct mt_numbers_text *source,
                                  const struct mt_numbers_text *target,
                                  const struct mt_range *ignored, size_t n_ignored,
                                  struct mt_numbers_difference *out, struct mt_error *err)
{
    struct mt_number_side from = {.text = source}, to = {.text = target};
    out->missing.n = out->added.n = 0;
    enum mt_status status = mt_numbers_find(&from, err);
    if (!status)
        status = mt_numbers_find(&to, err);
    bool is_compared = from.n <= MT_MAX_NUMBERS && to.n <= MT_MAX_NUMBERS;
    if (!status && is_compared)
        status = compare(&from, &to, err);
    if (!status && is_compared) {
        ignore(&from, ignored, n_ignored);
        status = list_open(&from, &out->missing, err);
    }
    if (!status && is_compared)
        status = list_open(&to, &out->added, err);
    mt_number_side_finish(&from);
    mt_number_side_finish(&to);
    return status;
}
