#include "server/passages/number_repair.h"

#include "base/ascii.h"
#include "base/vector.h"
#include "server/text/numbers/number_notation.h"
#include "server/text/tagged_text.h"

#include <stdlib.h>
#include <string.h>

/* Most bytes between two pieces of what was one number, as in "1. 250". */
#define MAX_GAP 2

/* What repairing one sentence needs. Ranges are relative to the sentence, unless said otherwise. */
struct mender {
    const struct mt_number_repair_input *input;
    struct mt_range source, target; /* the sentence in the whole texts */
    struct mt_numbers_difference difference;
    /* numbers that only the target has, their pieces joined */
    struct mt_range wrong[MT_MAX_REPAIRS];
    size_t n_wrong;
    /* for each, the index of the missing number that replaces it; SIZE_MAX: none */
    size_t chosen[MT_MAX_REPAIRS];
    struct mt_text written[MT_MAX_REPAIRS];
    struct mt_range *ignored;
    size_t n_ignored;
};

void mt_number_repairs_finish(struct mt_number_repairs *repairs)
{
    free(repairs->items);
    *repairs = (struct mt_number_repairs){0};
}

static enum mt_status add_repair(struct mt_number_repairs *repairs, size_t sentence,
                                 struct mt_range at, struct mt_error *err)
{
    if (MT_ROOM(&repairs->items, &repairs->capacity, repairs->n + 1, "repaired numbers", err))
        return MT_MEMORY;
    repairs->items[repairs->n++] = (struct mt_number_repair){.sentence = sentence, .at = at};
    return MT_OK;
}

static const char *source_of(const struct mender *mender)
{
    return mender->input->source + mender->source.begin;
}

static const char *target_of(const struct mender *mender)
{
    return mender->input->target + mender->target.begin;
}

/* ---- what is wrong ---- */

/* Returns false where there are too many wrong numbers. */
static bool join_pieces(struct mender *mender)
{
    const struct mt_ranges *added = &mender->difference.added;
    mender->n_wrong = 0;
    for (size_t i = 0; i < added->n; i++) {
        struct mt_range piece = added->items[i];
        struct mt_range *last = mender->n_wrong > 0 ? &mender->wrong[mender->n_wrong - 1] : NULL;
        if (last && piece.begin - last->end <= MAX_GAP &&
            !mt_has_word(target_of(mender), last->end, piece.begin)) {
            last->end = piece.end;
            continue;
        }
        if (mender->n_wrong == MT_MAX_REPAIRS)
            return false;
        mender->chosen[mender->n_wrong] = SIZE_MAX;
        mender->wrong[mender->n_wrong++] = piece;
    }
    return mender->difference.missing.n <= MT_MAX_REPAIRS;
}

enum mt_status mt_number_repair_compare(const struct mt_proofreader *reader,
                                        const struct mt_proofread_pair *pair,
                                        struct mt_numbers_difference *out, struct mt_error *err)
{
    enum mt_status status = mt_proofread_numbers(reader, pair, out, err);
    if (!status)
        status = mt_proofread_times(reader, pair, out, err);
    for (size_t i = 1; i < out->added.n; i++) /* times are behind the others */
        for (size_t k = i; k > 0; k--) {
            struct mt_range *range = &out->added.items[k], before = range[-1];
            if (before.begin <= range->begin)
                break;
            range[-1] = *range;
            *range = before;
        }
    return status;
}

static enum mt_status compare(const struct mender *mender, const char *target, size_t n,
                              struct mt_numbers_difference *out, struct mt_error *err)
{
    const struct mt_proofread_pair pair = {.source = source_of(mender),
                                           .n_source = mender->source.end - mender->source.begin,
                                           .target = target,
                                           .n_target = n,
                                           .ignored = mender->ignored,
                                           .n_ignored = mender->n_ignored};
    return mt_number_repair_compare(mender->input->reader, &pair, out, err);
}

/* ---- where it came from ---- */

static bool overlaps(size_t begin, size_t end, struct mt_range range, size_t base)
{
    return begin < base + range.end && end > base + range.begin;
}

/* Returns how much of all the links of a wrong number lead to a missing one. */
static double share_of(const struct mender *mender, size_t wrong, struct mt_range missing)
{
    const struct mt_word_links *links = mender->input->links;
    double all = 0, own = 0;
    for (size_t i = 0; i < links->n; i++) {
        const struct mt_word_link *link = &links->items[i];
        if (!overlaps(link->target.begin, link->target.end, mender->wrong[wrong],
                      mender->target.begin))
            continue;
        all += (double)link->score;
        if (overlaps(link->source.begin, link->source.end, missing, mender->source.begin))
            own += (double)link->score;
    }
    return all > 0 ? own / all : 0;
}

/* Chooses for each wrong number the missing one that most of it came from. Where two wrong ones
 * came from the same, neither is replaced, because neither is certain. */
static void choose(struct mender *mender)
{
    const struct mt_ranges *missing = &mender->difference.missing;
    for (size_t i = 0; i < mender->n_wrong; i++)
        for (size_t k = 0; k < missing->n; k++)
            if (share_of(mender, i, missing->items[k]) > 0.5)
                mender->chosen[i] = k;
    for (size_t i = 0; i < mender->n_wrong; i++)
        for (size_t k = i + 1; k < mender->n_wrong; k++)
            if (mender->chosen[i] != SIZE_MAX && mender->chosen[i] == mender->chosen[k])
                mender->chosen[i] = mender->chosen[k] = SIZE_MAX;
}

/* ---- what is put there ---- */

static bool has_letter_before(const char *text, size_t at)
{
    return at > 0 && mt_is_word_char(mt_utf8_decode(text + mt_previous_char(text, at)));
}

/* Writes 19:45 in the place of 7:45 where the source has 7:45 PM. Returns false where it has not, or
 * the place is none of a time, as in 7日. */
static bool write_afternoon(const struct mender *mender, struct mt_range missing,
                            struct mt_range place, struct mt_text *out)
{
    const char *source = source_of(mender) + missing.begin, *target = target_of(mender);
    size_t length = mender->source.end - mender->source.begin - missing.begin, n_hour = 0;
    size_t n_target = mender->target.end - mender->target.begin, rest = place.begin;
    unsigned hour = 0;
    while (n_hour < length && mt_ascii_is_digit(source[n_hour]))
        hour = 10 * hour + (unsigned)(source[n_hour++] - '0');
    bool has_minutes = n_hour + 2 < length && strchr(":.", source[n_hour]) &&
                       mt_ascii_is_digit(source[n_hour + 1]) &&
                       mt_ascii_is_digit(source[n_hour + 2]);
    size_t half = n_hour + (has_minutes ? 3 : 0);
    half += half < length && source[half] == ' ';
    while (rest < place.end && (mt_ascii_is_digit(target[rest]) || strchr(":.", target[rest])))
        rest++;
    uint32_t behind = rest < n_target ? mt_utf8_decode(target + rest) : 0;
    if (n_hour == 0 || n_hour > 2 || hour > 11 || length - half < 2 ||
        (source[half] | 0x20) != 'p' || !strchr("mM.", source[half + 1]) || rest == place.begin ||
        (behind >= MT_FIRST_IDEOGRAPH && behind != 0x6642))
        return false;
    mt_text_appendf(out, "%u%s%.*s%.*s", hour + 12, has_minutes ? ":" : "", has_minutes ? 2 : 0,
                    source + n_hour + has_minutes, (int)(place.end - rest), target + rest);
    return true;
}

static enum mt_status write_number(struct mender *mender, size_t wrong, struct mt_error *err)
{
    const struct mt_proofreader *reader = mender->input->reader;
    struct mt_range missing = mender->difference.missing.items[mender->chosen[wrong]];
    struct mt_range place = mender->wrong[wrong];
    bool is_sure;
    if (write_afternoon(mender, missing, place, &mender->written[wrong]))
        return mt_text_check(&mender->written[wrong], "a number", err);
    const struct mt_notation_input input = {
        .number = source_of(mender) + missing.begin,
        .length = missing.end - missing.begin,
        .is_code = has_letter_before(source_of(mender), missing.begin),
        .source_lang = reader->source_lang,
        .target_lang = reader->target_lang,
        .written = target_of(mender) + place.begin,
        .n_written = place.end - place.begin,
    };
    enum mt_status status = mt_number_write(&input, &mender->written[wrong], &is_sure, err);
    if (!status && !is_sure)
        mender->chosen[wrong] = SIZE_MAX;
    return status;
}

/* Writes the sentence with the numbers chosen so far, and notes where each of them is. */
static void render(const struct mender *mender, struct mt_range *places, struct mt_text *out)
{
    size_t at = 0, n = mender->target.end - mender->target.begin;
    const char *target = target_of(mender);
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < mender->n_wrong; i++) {
        if (mender->chosen[i] == SIZE_MAX)
            continue;
        mt_text_append(out, target + at, mender->wrong[i].begin - at);
        places[i].begin = out->length;
        mt_text_append(out, mender->written[i].bytes, mender->written[i].length);
        places[i].end = out->length;
        at = mender->wrong[i].end;
    }
    mt_text_append(out, target + at, n - at);
}

/* *is_better: each number that was put in was missing before and is there now, and no wrong number
 * has come in. */
static enum mt_status check(struct mender *mender, bool *is_better, struct mt_error *err)
{
    struct mt_range places[MT_MAX_REPAIRS];
    struct mt_numbers_difference after = {0};
    struct mt_text text = {0};
    size_t n_put = 0;
    for (size_t i = 0; i < mender->n_wrong; i++)
        n_put += mender->chosen[i] != SIZE_MAX;
    render(mender, places, &text);
    enum mt_status status = mt_text_check(&text, "a translation", err);
    if (!status)
        status = compare(mender, text.bytes, text.length, &after, err);
    *is_better = !status && after.missing.n + n_put == mender->difference.missing.n &&
                 after.added.n + n_put <= mender->difference.added.n;
    mt_numbers_difference_finish(&after);
    mt_text_finish(&text);
    return status;
}

/* Tries the chosen numbers one by one and keeps those that make the sentence better. */
static enum mt_status keep_sure(struct mender *mender, struct mt_error *err)
{
    size_t wanted[MT_MAX_REPAIRS];
    enum mt_status status = MT_OK;
    memcpy(wanted, mender->chosen, sizeof wanted);
    for (size_t i = 0; i < mender->n_wrong; i++)
        mender->chosen[i] = SIZE_MAX;
    for (size_t i = 0; i < mender->n_wrong && !status; i++) {
        bool is_better = false;
        if (wanted[i] == SIZE_MAX)
            continue;
        mender->chosen[i] = wanted[i];
        status = check(mender, &is_better, err);
        if (!is_better)
            mender->chosen[i] = SIZE_MAX;
    }
    return status;
}

static enum mt_status mend(struct mender *mender, struct mt_error *err)
{
    size_t n = mender->target.end - mender->target.begin;
    enum mt_status status = compare(mender, target_of(mender), n, &mender->difference, err);
    if (status || mender->difference.missing.n == 0 || mender->difference.added.n == 0)
        return status;
    if (!join_pieces(mender)) {
        mender->n_wrong = 0;
        return MT_OK;
    }
    choose(mender);
    for (size_t i = 0; i < mender->n_wrong && !status; i++)
        if (mender->chosen[i] != SIZE_MAX)
            status = write_number(mender, i, err);
    return status ? status : keep_sure(mender, err);
}

/* ---- the whole text ---- */

/* Takes the ignored ranges of one sentence, relative to it. */
static enum mt_status take_ignored(struct mender *mender, struct mt_error *err)
{
    const struct mt_number_repair_input *input = mender->input;
    mender->ignored = calloc(input->n_ignored + 1, sizeof *mender->ignored);
    if (!mender->ignored)
        return mt_fail_memory(err, input->n_ignored * sizeof *mender->ignored, "terms");
    for (size_t i = 0; i < input->n_ignored; i++)
        if (input->ignored[i].begin >= mender->source.begin &&
            input->ignored[i].end <= mender->source.end)
            mender->ignored[mender->n_ignored++] =
                (struct mt_range){input->ignored[i].begin - mender->source.begin,
                                  input->ignored[i].end - mender->source.begin};
    return MT_OK;
}

/* Copies the target's bytes [begin, end), which do not change. */
static void copy(const struct mt_number_repair_input *input, size_t begin, size_t end, size_t *map,
                 struct mt_text *out)
{
    for (size_t at = begin; at < end; at++)
        map[at] = out->length + at - begin;
    mt_text_append(out, input->target + begin, end - begin);
}

static enum mt_status write_sentence(const struct mender *mender, size_t sentence, size_t *at,
                                     size_t *map, struct mt_text *out,
                                     struct mt_number_repairs *repairs, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < mender->n_wrong && !status; i++) {
        if (mender->chosen[i] == SIZE_MAX)
            continue;
        size_t begin = mender->target.begin + mender->wrong[i].begin;
        size_t end = mender->target.begin + mender->wrong[i].end;
        copy(mender->input, *at, begin, map, out);
        struct mt_range place = {out->length, out->length + mender->written[i].length};
        map[begin] = place.begin;
        for (size_t byte = begin + 1; byte < end; byte++)
            map[byte] = place.end;
        mt_text_append(out, mender->written[i].bytes, mender->written[i].length);
        *at = end;
        status = add_repair(repairs, sentence, place, err);
    }
    return status;
}

enum mt_status mt_number_repair(const struct mt_number_repair_input *input, size_t *map,
                                struct mt_text *out, struct mt_number_repairs *repairs,
                                struct mt_error *err)
{
    enum mt_status status = MT_OK;
    size_t at = 0;
    for (size_t i = 0; i < input->n_sentences && !status; i++) {
        struct mender mender = {.input = input,
                                .source = input->source_sentences[i],
                                .target = input->target_sentences[i]};
        status = take_ignored(&mender, err);
        if (!status)
            status = mend(&mender, err);
        if (!status)
            status = write_sentence(&mender, i, &at, map, out, repairs, err);
        for (size_t k = 0; k < MT_MAX_REPAIRS; k++)
            mt_text_finish(&mender.written[k]);
        mt_numbers_difference_finish(&mender.difference);
        free(mender.ignored);
    }
    if (status)
        return status;
    copy(input, at, input->target_length, map, out);
    map[input->target_length] = out->length;
    return mt_text_check(out, "a translation", err);
}
