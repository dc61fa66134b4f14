#include "server/text/numbers/number_times.h"

#include "base/text.h"
#include "server/text/numbers/number_state.h"

#include <stdlib.h>

#include <unicode/uchar.h>

/* Between a number and its half of the day there may be one word, and further words of at most
 * MAX_JOINT_BYTES, as in "3 heures de l'après-midi". In "9 Uhr bis abends" the evening says nothing
 * about the 9. */
#define MAX_JOINT_BYTES 2
#define MAX_BYTES_BEHIND 24
/* Most characters before a number that are searched for a word: 午後, and a blank. */
#define MAX_CHARS_BEFORE 5

enum half { NOT_SAID, MORNING, AFTERNOON };

struct time {
    struct mt_range at; /* includes the word */
    int64_t hour;       /* 0 to 11 */
    int64_t minutes;    /* -1: none */
    enum half half;
    bool is_said; /* a word tells its half of the day */
    bool is_noon; /* 12 o'clock: in the afternoon unless a word says otherwise */
};

static enum half half_at(const struct mt_numbers_text *text, size_t at, size_t *length)
{
    uint32_t value;
    if ((*length = mt_number_word_at(text, at, MT_NUMBER_MORNING, &value)) > 0)
        return MORNING;
    if ((*length = mt_number_word_at(text, at, MT_NUMBER_AFTERNOON, &value)) > 0)
        return AFTERNOON;
    return NOT_SAID;
}

/* Finds the half of the day directly before a number, in scripts without blanks. */
static enum half half_before(const struct mt_numbers_text *text, struct mt_range *at)
{
    size_t begin = at->begin, length;
    for (size_t i = 0; i < MAX_CHARS_BEFORE && begin > 0; i++) {
        begin = mt_previous_char(text->bytes, begin);
        if (u_charType((UChar32)mt_utf8_decode(text->bytes + begin)) != U_OTHER_LETTER)
            continue;
        enum half half = half_at(text, begin, &length);
        bool is_beside = half && mt_number_skip_joints(text, begin + length) == at->begin;
        if (is_beside) {
            at->begin = begin;
            return half;
        }
    }
    return NOT_SAID;
}

static size_t word_length(const struct mt_numbers_text *text, size_t at)
{
    size_t end = at;
    while (end < text->length && u_isalpha((UChar32)mt_utf8_decode(text->bytes + end)))
        end += mt_char_length(text->bytes + end);
    return end - at;
}

/* Returns where the next word begins, unless something ends the expression that the number belongs
 * to. */
static size_t next_word(const struct mt_numbers_text *text, size_t at)
{
    at += word_length(text, at);
    while (at < text->length) {
        uint32_t c = mt_utf8_decode(text->bytes + at);
        if (u_isalpha((UChar32)c))
            return at;
        if (!u_isUWhiteSpace((UChar32)c) && c != '\'' && c != 0x2019 && c != '-')
            break;
        at += mt_char_length(text->bytes + at);
    }
    return text->length;
}

/* Finds the half of the day behind a number and a particle, in scripts without blanks: 11:15に午後. */
static enum half half_behind_particle(const struct mt_numbers_text *text, struct mt_range *at)
{
    size_t length, next;
    if (at->end == text->length ||
        u_charType((UChar32)mt_utf8_decode(text->bytes + at->end)) != U_OTHER_LETTER)
        return NOT_SAID;
    next = at->end + mt_char_length(text->bytes + at->end);
    enum half half = half_at(text, next, &length);
    if (half)
        at->end = next + length;
    return half;
}

static enum half half_behind(const struct mt_numbers_text *text, struct mt_range *at)
{
    size_t length, n_words = 0, word = mt_number_skip_joints(text, at->end);
    while (word < text->length && word - at->end <= MAX_BYTES_BEHIND &&
           u_isalpha((UChar32)mt_utf8_decode(text->bytes + word)) &&
           u_charType((UChar32)mt_utf8_decode(text->bytes + word)) != U_OTHER_LETTER) {
        enum half half = half_at(text, word, &length);
        if (half) {
            at->end = word + length;
            return half;
        }
        if (n_words++ > 0 && word_length(text, word) > MAX_JOINT_BYTES)
            return NOT_SAID;
        word = next_word(text, word);
    }
    return NOT_SAID;
}

static bool is_time(const struct mt_number_side *side, const struct mt_number *number,
                    struct time *out)
{
    const struct mt_number_group *groups = mt_number_group(side, number, 0);
    bool has_minutes = number->n == 2 && groups[1].n_digits == 2 && groups[1].exact < 60;
    if (groups[0].n_digits > 2 || groups[0].exact > 24 || (number->n > 1 && !has_minutes))
        return false;
    int64_t hour = groups[0].exact;
    *out = (struct time){
        .at = number->at, .hour = hour % 12, .minutes = has_minutes ? groups[1].exact : -1};
    out->half = half_before(side->text, &out->at);
    if (!out->half)
        out->half = half_behind(side->text, &out->at);
    if (!out->half)
        out->half = half_behind_particle(side->text, &out->at);
    out->is_said = out->half != NOT_SAID;
    out->is_noon = hour == 12;
    if (hour > 12)
        out->half = hour == 24 ? MORNING : AFTERNOON;
    else if (hour == 0 && !out->half)
        out->half = MORNING;
    return true;
}

struct times {
    struct time *items;
    size_t n;
    bool says_afternoon; /* a word anywhere says afternoon or night: "heute Abend um 9" */
};

static bool says_afternoon(const struct mt_numbers_text *text)
{
    uint32_t value;
    for (size_t at = 0; at < text->length; at += mt_char_length(text->bytes + at))
        if (mt_number_word_at(text, at, MT_NUMBER_AFTERNOON, &value) > 0 ||
            mt_number_word_at(text, at, MT_NUMBER_NIGHT, &value) > 0)
            return true;
    return false;
}

static enum mt_status find_times(const struct mt_number_side *side, struct times *out,
                                 struct mt_error *err)
{
    out->items = calloc(side->n + 1, sizeof *out->items);
    if (!out->items)
        return mt_fail_memory(err, (side->n + 1) * sizeof *out->items, "times of day");
    for (size_t i = 0; i < side->n; i++)
        out->n += is_time(side, &side->numbers[i], &out->items[out->n]);
    out->says_afternoon = out->n > 0 && says_afternoon(side->text);
    return MT_OK;
}

static bool is_same_time(const struct time *a, const struct time *b)
{
    return a->hour == b->hour && (a->minutes == b->minutes || a->minutes < 0 || b->minutes < 0);
}

/* Returns the time that differs from the wanted one by half a day, or that has lost the word for
 * its afternoon; NULL: there is none. */
static const struct time *find_moved(const struct times *times, const struct time *wanted)
{
    const struct time *moved = NULL;
    for (size_t i = 0; i < times->n; i++) {
        const struct time *time = &times->items[i];
        bool is_unsaid = time->half == NOT_SAID && !time->is_noon && wanted->half == AFTERNOON &&
                         !times->says_afternoon;
        bool is_opposite = time->half != NOT_SAID && time->half != wanted->half;
        if (!is_same_time(time, wanted))
            continue;
        if (!is_opposite && !is_unsaid)
            return NULL;
        if ((time->is_said || is_unsaid) && !moved)
            moved = time;
    }
    return moved;
}

static bool is_listed(const struct mt_ranges *ranges, struct mt_range range)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (ranges->items[i].begin < range.end && ranges->items[i].end > range.begin)
            return true;
    return false;
}

static enum mt_status compare(const struct times *source, const struct times *target,
                              struct mt_numbers_difference *difference, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < source->n && !status; i++) {
        const struct time *from = &source->items[i];
        const struct time *to = from->is_said ? find_moved(target, from) : NULL;
        if (!to || is_listed(&difference->missing, from->at) ||
            is_listed(&difference->added, to->at))
            continue;
        status = mt_ranges_append(&difference->missing, from->at.begin, from->at.end, err);
        if (!status)
            status = mt_ranges_append(&difference->added, to->at.begin, to->at.end, err);
    }
    return status;
}

enum mt_status mt_number_times_compare(const struct mt_numbers_text *source,
                                       const struct mt_numbers_text *target,
                                       struct mt_numbers_difference *difference,
                                       struct mt_error *err)
{
    struct mt_number_side from = {.text = source}, to = {.text = target};
    struct times from_times = {0}, to_times = {0};
    enum mt_status status = mt_numbers_find(&from, err);
    if (!status)
        status = mt_numbers_find(&to, err);
    bool is_compared = from.n <= MT_MAX_NUMBERS && to.n <= MT_MAX_NUMBERS;
    if (!status && is_compared)
        status = find_times(&from, &from_times, err);
    if (!status && is_compared)
        status = find_times(&to, &to_times, err);
    if (!status && is_compared)
        status = compare(&from_times, &to_times, difference, err);
    free(from_times.items);
    free(to_times.items);
    mt_number_side_finish(&from);
    mt_number_side_finish(&to);
    return status;
}
