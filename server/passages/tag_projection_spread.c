/* Shares out words to spans that the alignment left without any. */
#include "server/passages/tag_projection.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/text/post_edit.h"

#include <string.h>

#include <unicode/uchar.h>

/* Whether a byte of the target is replaced by a substitute or term. */
static bool is_removed(const struct mt_tag_projection *projection, size_t at)
{
    size_t low = 0, high = projection->n_removed;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (projection->removed[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < projection->n_removed && projection->removed[low].begin <= at;
}

/* Whether a letter or digit of the target is written. */
static bool is_letter(const struct mt_tag_projection_input *input,
                      const struct mt_tag_projection *projection, size_t at)
{
    return mt_is_word_char(mt_utf8_decode(input->target + at)) && !is_removed(projection, at);
}

static bool held_words(const struct mt_tagged_text *tagged, const struct mt_tag *tag)
{
    return tag->kind == MT_TAG_SPAN && mt_has_word(tagged->text.bytes, tag->begin, tag->end);
}

static bool is_within(const struct mt_tagged_text *tagged, size_t tag, size_t span)
{
    while (tag != MT_NO_TAG && tag > span)
        tag = tagged->tags[tag].parent;
    return tag == span;
}

/* Whether a substitute or term is within a span. It follows the span in the list then. */
static bool holds_code(const struct mt_tagged_text *tagged, size_t span)
{
    const struct mt_tag *own = &tagged->tags[span];
    for (size_t i = span + 1; i < tagged->n && tagged->tags[i].begin <= own->end; i++) {
        bool is_code =
            tagged->tags[i].kind == MT_TAG_SUBSTITUTE || tagged->tags[i].kind == MT_TAG_TERM;
        if (is_code && is_within(tagged, i, span))
            return true;
    }
    return false;
}

static bool has_letter(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += mt_char_length(text + at))
        if (u_isalpha((UChar32)mt_utf8_decode(text + at)))
            return true;
    return false;
}

/* Whether digits may stand for a number in words: 20, 1950, 12.00. */
static bool may_be_spelled(const char *bytes, size_t length)
{
    size_t n_digits = 0;
    for (size_t i = 0; i < length; i++)
        n_digits += mt_ascii_is_digit(bytes[i]);
    return n_digits <= 4 && length - n_digits <= 1;
}

/* Whether a span of words got only digits that are no number in words, or that the source has
 * elsewhere. */
static bool has_foreign_digits(const struct mt_tag_projection_input *input,
                               const struct mt_tag *tag, struct mt_projected_tag place)
{
    const struct mt_text *source = &input->tagged->text;
    if (place.begin >= place.end || !has_letter(source->bytes, tag->begin, tag->end) ||
        has_letter(input->target, place.begin, place.end))
        return false;
    struct mt_range digits = mt_range_trim(input->target, place.begin, place.end);
    const char *bytes = input->target + digits.begin;
    size_t n = digits.end - digits.begin;
    bool is_elsewhere = memmem(source->bytes, source->length, bytes, n);
    return n > 0 && (is_elsewhere || !may_be_spelled(bytes, n)) &&
           !memmem(source->bytes + tag->begin, tag->end - tag->begin, bytes, n);
}

static bool is_empty(const struct mt_tag_projection_input *input,
                     const struct mt_tag_projection *projection, size_t index)
{
    const struct mt_tag *tag = &input->tagged->tags[index];
    struct mt_projected_tag place = projection->places[index];
    if (tag->parent != MT_NO_TAG) {
        place.begin = mt_size_max(place.begin, projection->places[tag->parent].begin);
        place.end = mt_size_min(place.end, projection->places[tag->parent].end);
    }
    if (!held_words(input->tagged, tag))
        return false;
    if (has_foreign_digits(input, tag, place))
        return true;
    for (size_t at = place.begin; at < place.end; at += mt_char_length(input->target + at))
        if (is_letter(input, projection, at))
            return false;
    return !holds_code(input->tagged, index);
}

bool mt_tag_projection_keeps_words(const struct mt_tag_projection_input *input,
                                   const struct mt_tag_projection *projection)
{
    for (size_t i = 0; i < input->tagged->n; i++)
        if (is_empty(input, projection, i))
            return false;
    return true;
}

/* A text whose letters are shared out between spans: the source, or the written part of the
 * target. */
struct shared {
    const char *text;
    const struct mt_tag_projection *projection; /* NULL for the source */
    bool has_letters;                           /* digits do not count */
};

/* Whether the letter at `at` counts: each does or, with by_words, the first of each word. */
static bool counts(const struct shared *shared, size_t begin, size_t at, bool by_words)
{
    const char *text = shared->text;
    uint32_t c = mt_utf8_decode(text + at);
    bool is_letter = (shared->has_letters ? u_isalpha((UChar32)c) : mt_is_word_char(c)) &&
                     !(shared->projection && is_removed(shared->projection, at));
    return is_letter && !(by_words && at > begin &&
                          mt_is_word_char(mt_utf8_decode(text + mt_previous_char(text, at))));
}

static size_t count_units(const struct shared *shared, struct mt_range range, bool by_words)
{
    size_t n = 0;
    for (size_t at = range.begin; at < range.end; at += mt_char_length(shared->text + at))
        n += counts(shared, range.begin, at, by_words);
    return n;
}

/* Returns the position behind n letters that count, and behind what follows up to the next one. */
static size_t behind_units(const struct shared *shared, size_t begin, size_t end, size_t n,
                           bool by_words)
{
    size_t at = begin;
    for (; at < end; at += mt_char_length(shared->text + at))
        if (counts(shared, begin, at, by_words) && n-- == 0)
            break;
    return at;
}

/* Where the target has only digits and one child of a parent had digits in the source, gives it all of
 * them: a number is not cut. Its siblings get the source's words. Returns whether that was so. */
static bool give_digits(const struct mt_tag_projection_input *input,
                        struct mt_tag_projection *projection, size_t parent, struct mt_range within)
{
    const struct mt_tagged_text *tagged = input->tagged;
    size_t of_digits = MT_NO_TAG, n_of_digits = 0;
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->parent != parent || !held_words(tagged, tag))
            continue;
        if (i + 1 < tagged->n && is_within(tagged, i + 1, i))
            return false;
        if (!has_letter(tagged->text.bytes, tag->begin, tag->end)) {
            of_digits = i;
            n_of_digits++;
        }
    }
    for (size_t i = 0; i < tagged->n && n_of_digits == 1; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->parent != parent || !held_words(tagged, tag))
            continue;
        size_t begin = i > of_digits ? within.end : within.begin;
        projection->places[i] = (struct mt_projected_tag){
            .begin = begin,
            .end = i == of_digits ? within.end : begin,
            .is_restored = i != of_digits,
        };
    }
    return n_of_digits == 1;
}

/* Shares out the words of one parent, or of the whole text, among its children. */
static void spread(const struct mt_tag_projection_input *input,
                   struct mt_tag_projection *projection, size_t parent)
{
    const struct mt_tagged_text *tagged = input->tagged;
    struct shared from = {.text = tagged->text.bytes, .has_letters = true};
    struct shared to = {.text = input->target, .projection = projection};
    struct mt_range within = {0, input->target_length}, source = {0, tagged->text.length};
    size_t n_children = 0, n_done = 0, n_given = 0;
    if (parent != MT_NO_TAG) {
        within =
            (struct mt_range){projection->places[parent].begin, projection->places[parent].end};
        source = (struct mt_range){tagged->tags[parent].begin, tagged->tags[parent].end};
    }
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->parent != parent || !held_words(tagged, tag))
            continue;
        n_children++;
        from.has_letters = from.has_letters && has_letter(tagged->text.bytes, tag->begin, tag->end);
    }
    to.has_letters = true;
    if (count_units(&to, within, false) == 0 && give_digits(input, projection, parent, within))
        return;
    to.has_letters = from.has_letters;
    to.has_letters = from.has_letters =
        from.has_letters && count_units(&to, within, true) >= n_children;
    bool by_words = count_units(&to, within, true) >= n_children;
    size_t n_source = mt_size_max(1, count_units(&from, source, by_words));
    size_t n_target = count_units(&to, within, by_words), at = within.begin;
    /* letters of the source that count before `counted` */
    size_t n_before = 0, counted = source.begin;
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->parent != parent || !held_words(tagged, tag))
            continue;
        n_before += count_units(&from, (struct mt_range){counted, tag->end}, by_words);
        counted = tag->end;
        n_done++;
        size_t n_left = n_children - n_done; /* each of these needs a letter, too */
        size_t n_until = mt_size_max(n_before * n_target / n_source, n_given + 1);
        n_until = mt_size_min(n_until, n_target > n_left ? n_target - n_left : n_given);
        size_t end = behind_units(&to, at, within.end, n_until - n_given, by_words);
        projection->places[i] = (struct mt_projected_tag){.begin = at, .end = end};
        n_given = n_until;
        at = end;
    }
}

static bool lacks_words(const struct mt_tag_projection_input *input,
                        const struct mt_tag_projection *projection, size_t parent)
{
    for (size_t i = 0; i < input->tagged->n; i++)
        if (input->tagged->tags[i].parent == parent && is_empty(input, projection, i))
            return true;
    return false;
}

void mt_tag_projection_spread(const struct mt_tag_projection_input *input,
                              struct mt_tag_projection *projection)
{
    if (lacks_words(input, projection, MT_NO_TAG))
        spread(input, projection, MT_NO_TAG);
    for (size_t i = 0; i < input->tagged->n; i++)
        if (input->tagged->tags[i].kind == MT_TAG_SPAN && lacks_words(input, projection, i))
            spread(input, projection, i);
}

void mt_tag_projection_restore(const struct mt_tag_projection_input *input,
                               struct mt_tag_projection *projection)
{
    const struct mt_tagged_text *tagged = input->tagged;
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        struct mt_projected_tag *own = &projection->places[i];
        bool has_tags = i + 1 < tagged->n && is_within(tagged, i + 1, i);
        if (tag->kind == MT_TAG_SPAN && !has_tags && own->begin < own->end)
            own->is_restored =
                mt_has_lost_words(tagged->text.bytes + tag->begin, tag->end - tag->begin,
                                  input->target + own->begin, own->end - own->begin);
    }
}
