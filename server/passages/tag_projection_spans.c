#include "server/passages/tag_projection_state.h"

#include "base/ascii.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Value of a word of the target for a span, depending on whether it came from the span, from
 * elsewhere, or from an unknown place. The first is worth more than the second costs, so that a gap
 * of one word does not cut a span in two. */
#define OWN_WORD 1.0
#define OTHER_WORD (-0.6)
#define UNKNOWN_WORD (-0.1)

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static uint32_t char_at(const char *text, size_t at)
{
    return mt_utf8_decode(text + at);
}

static double worth_of(const struct mt_linked_word *unit, const struct mt_tag *tag)
{
    if (unit->source_begin == unit->source_end)
        return UNKNOWN_WORD;
    return mt_linked_word_came_from(unit, tag->begin, tag->end) ? OWN_WORD : OTHER_WORD;
}

/* Returns the most valuable run of untaken words in [begin, end), by Kadane's algorithm. */
static struct mt_word_run best_run(const struct mt_tag_projector *projector,
                                   const struct mt_tag *tag, struct mt_range within)
{
    struct mt_word_run best = {0}, here = {0};
    for (size_t i = 0; i < projector->n; i++) {
        const struct mt_linked_word *unit = &projector->units[i];
        bool is_out = unit->is_taken || unit->begin < within.begin || unit->end > within.end;
        if (is_out || here.worth <= 0)
            here = (struct mt_word_run){.first = i, .end = i};
        if (is_out)
            continue;
        here.worth += worth_of(unit, tag);
        here.end = i + 1;
        if (here.worth > best.worth)
            best = here;
    }
    return best;
}

static bool is_within(const struct mt_linked_word *unit, const struct mt_tag *tag)
{
    return tag->begin < tag->end && tag->kind != MT_TAG_BREAK &&
           mt_linked_word_came_from(unit, tag->begin, tag->end);
}

/* Counts once for all children of a parent: to look for siblings at each word, for each span, would
 * take time in proportion to the square of the tags times the words. */
static void count_children(struct mt_tag_projector *projector, size_t parent)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    for (size_t i = 0; i < projector->n; i++)
        projector->units[i].n_children = 0;
    for (size_t k = 0; k < tagged->n; k++)
        for (size_t i = 0; i < projector->n && tagged->tags[k].parent == parent; i++)
            projector->units[i].n_children += is_within(&projector->units[i], &tagged->tags[k]);
    projector->is_counted = true;
}

/* Whether the word came from another child of the tag's parent. */
static bool is_of_sibling(const struct mt_linked_word *unit, const struct mt_tag *tag)
{
    return unit->n_children > is_within(unit, tag);
}

/* Returns the word nearest to where the span should be, for a span to which no word is linked. */
static struct mt_word_run nearest_word(struct mt_tag_projector *projector, size_t at,
                                       struct mt_range within, const struct mt_tag *tag)
{
    struct mt_word_run best = {0};
    size_t best_distance = (size_t)-1;
    if (!projector->is_counted)
        count_children(projector, tag->parent);
    for (size_t i = 0; i < projector->n; i++) {
        const struct mt_linked_word *unit = &projector->units[i];
        size_t distance = unit->begin > at ? unit->begin - at : at - unit->begin;
        if (unit->is_taken || unit->begin < within.begin || unit->end > within.end ||
            distance >= best_distance || is_of_sibling(unit, tag))
            continue;
        best_distance = distance;
        best = (struct mt_word_run){.first = i, .end = i + 1};
    }
    return best;
}

/* Whether a span begins, or ends, with punctuation in the source. */
static bool edge_is_punctuation(const struct mt_tagged_text *tagged, const struct mt_tag *tag,
                                bool at_end)
{
    const char *text = tagged->text.bytes;
    struct mt_range inner = mt_range_trim(text, tag->begin, tag->end);
    if (inner.begin >= inner.end)
        return false;
    size_t at = at_end ? mt_previous_char(text, inner.end) : inner.begin;
    return !mt_is_word_char(char_at(text, at));
}

/* Whether the sign belongs to the word behind it: a currency's, an opening bracket. */
static bool begins_word(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return type == U_CURRENCY_SYMBOL || type == U_START_PUNCTUATION;
}

static struct mt_range with_punctuation(const struct mt_tag_projection_input *input,
                                        const struct mt_tag *tag, struct mt_range range,
                                        struct mt_range within)
{
    const char *text = input->target;
    if (edge_is_punctuation(input->tagged, tag, true))
        while (range.end < within.end && !is_blank(text[range.end]) &&
               !mt_is_word_char(char_at(text, range.end)) && !begins_word(char_at(text, range.end)))
            range.end += mt_char_length(text + range.end);
    if (edge_is_punctuation(input->tagged, tag, false))
        while (range.begin > within.begin) {
            size_t before = mt_previous_char(text, range.begin);
            bool ends_words = strchr(".,:;!?", text[before]) &&
                              text[before] != input->tagged->text.bytes[tag->begin];
            if (is_blank(text[before]) || ends_words || mt_is_word_char(char_at(text, before)))
                break;
            range.begin = before;
        }
    return range;
}

/* Returns the sign at an edge of a span that is the unit of its number, a currency or %; 0:
 * none. */
static uint32_t unit_of(const struct mt_tagged_text *tagged, const struct mt_tag *tag)
{
    const char *text = tagged->text.bytes;
    struct mt_range inner = mt_range_trim(text, tag->begin, tag->end);
    if (inner.begin >= inner.end)
        return 0;
    const uint32_t edges[] = {char_at(text, inner.begin),
                              char_at(text, mt_previous_char(text, inner.end))};
    for (size_t i = 0; i < 2; i++)
        if (edges[i] == '%' || u_charType((UChar32)edges[i]) == U_CURRENCY_SYMBOL)
            return edges[i];
    return 0;
}

static size_t over_space(const char *text, size_t at, size_t end)
{
    return at < end && u_isspace((UChar32)char_at(text, at)) ? at + mt_char_length(text + at) : at;
}

static size_t over_space_back(const char *text, size_t at, size_t begin)
{
    size_t before = at > begin ? mt_previous_char(text, at) : at;
    return at > begin && u_isspace((UChar32)char_at(text, before)) ? before : at;
}

static bool ends_with(const char *text, struct mt_range range, uint32_t c)
{
    return range.begin < range.end && char_at(text, mt_previous_char(text, range.end)) == c;
}

/* Extends the range to such a sign, which languages write on the other side of the number, and with
 * a blank: <b>$5</b>, <b>5 $</b>. Of two signs, the one that touches the number from before is its
 * own. */
static struct mt_range with_unit(const struct mt_tag_projection_input *input,
                                 const struct mt_tag *tag, struct mt_range range,
                                 struct mt_range within)
{
    const char *text = input->target;
    uint32_t unit = unit_of(input->tagged, tag);
    char bytes[4];
    size_t n = unit ? mt_utf8_encode(unit, bytes) : 0;
    size_t behind = over_space(text, range.end, within.end);
    size_t before = over_space_back(text, range.begin, within.begin);
    bool has_it = unit && memmem(text + range.begin, range.end - range.begin, bytes, n);
    if (!unit || has_it)
        return range;
    bool is_before = ends_with(text, (struct mt_range){within.begin, before}, unit);
    if (behind < within.end && char_at(text, behind) == unit &&
        !(is_before && before == range.begin))
        range.end = behind + n;
    else if (is_before)
        range.begin = before - n;
    return range;
}

/* Extends the range to the sign of the day behind a date's last number: 2020年5月5日. */
static struct mt_range with_day(const char *text, struct mt_range range, struct mt_range within)
{
    bool is_date = range.end < within.end && range.end > range.begin &&
                   mt_ascii_is_digit(text[range.end - 1]) && char_at(text, range.end) == 0x65E5 &&
                   memmem(text + range.begin, range.end - range.begin, "\xE6\x9C\x88", 3);
    range.end += is_date ? mt_char_length(text + range.end) : 0;
    return range;
}

static bool covers(const struct mt_tagged_text *tagged, const struct mt_tag *tag,
                   struct mt_range all)
{
    struct mt_range inner = mt_range_trim(tagged->text.bytes, all.begin, all.end);
    return tag->begin <= inner.begin && tag->end >= inner.end && tag->end > tag->begin;
}

/* Returns the first word up to the last in a range, without the signs around them. */
static struct mt_range words_of(const char *text, struct mt_range range)
{
    while (range.begin < range.end && !mt_is_word_char(char_at(text, range.begin)))
        range.begin += mt_char_length(text + range.begin);
    for (size_t at; range.end > range.begin; range.end = at)
        if (mt_is_word_char(char_at(text, at = mt_previous_char(text, range.end))))
            break;
    return range;
}

/* Finds the words of the target for a span that holds all words of its sentences, whatever the
 * alignment says; false for another span, and where one of these words is taken. */
static bool find_sentences(const struct mt_tag_projector *projector, const struct mt_tag *tag,
                           struct mt_range within, struct mt_range *out)
{
    const struct mt_tag_projection_input *input = projector->input;
    const char *text = input->tagged->text.bytes;
    struct mt_range own = words_of(text, (struct mt_range){tag->begin, tag->end});
    if (input->n_sentences == 0 || own.begin == own.end)
        return false;
    size_t first = mt_sentence_of(input, own.begin), last = mt_sentence_of(input, own.end - 1);
    if (mt_has_word(text, input->source_sentences[first].begin, own.begin) ||
        mt_has_word(text, own.end, input->source_sentences[last].end))
        return false;
    struct mt_range all = {input->target_sentences[first].begin, input->target_sentences[last].end};
    *out = words_of(input->target, all);
    for (size_t i = 0; i < projector->n; i++)
        if (projector->units[i].is_taken && projector->units[i].begin < out->end &&
            projector->units[i].end > out->begin)
            return false;
    return out->begin < out->end && out->begin >= within.begin && out->end <= within.end;
}

/* Finds the words of the target that came from the span or, where there are none, the one nearest to
 * `at`; false where all are taken. */
static bool find_run(struct mt_tag_projector *projector, const struct mt_tag *tag,
                     struct mt_range within, size_t at, struct mt_range *out)
{
    struct mt_word_run run = best_run(projector, tag, within);
    if (run.first == run.end)
        run = nearest_word(projector, at, within, tag);
    if (run.first == run.end)
        return false;
    const struct mt_range words = {projector->units[run.first].begin,
                                   projector->units[run.end - 1].end};
    *out = with_day(projector->input->target, words, within);
    return true;
}

/* Returns the place of the substitute that is all a span has, if the model copied it. Empty: there
 * is none. */
static struct mt_range place_of_code(const struct mt_tag_projector *projector, size_t span)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    const struct mt_tag *own = &tagged->tags[span];
    struct mt_range inner = mt_range_trim(tagged->text.bytes, own->begin, own->end);
    size_t i = span + 1;
    while (i < tagged->n && tagged->tags[i].kind == MT_TAG_SPAN)
        i++;
    if (own->kind != MT_TAG_SPAN || i == tagged->n || tagged->tags[i].kind != MT_TAG_SUBSTITUTE ||
        tagged->tags[i].begin != inner.begin || tagged->tags[i].end != inner.end)
        return (struct mt_range){0};
    return (struct mt_range){projector->out->places[i].begin, projector->out->places[i].end};
}

static void take_units(struct mt_tag_projector *projector, struct mt_range range)
{
    for (size_t i = 0; i < projector->n; i++)
        if (projector->units[i].begin >= range.begin && projector->units[i].end <= range.end)
            projector->units[i].is_taken = true;
}

/* Whether the first point in a span belongs to the word behind it. */
static bool leads(const struct mt_tagged_text *tagged, size_t span)
{
    size_t i = span + 1;
    while (i < tagged->n && tagged->tags[i].kind == MT_TAG_SPAN)
        i++;
    return i < tagged->n && tagged->tags[i].kind == MT_TAG_POINT && tagged->tags[i].leads;
}

static void place_span(struct mt_tag_projector *projector, size_t index, struct mt_range source,
                       struct mt_range within)
{
    const struct mt_tag_projection_input *input = projector->input;
    const struct mt_tag *tag = &input->tagged->tags[index];
    struct mt_projected_tag *place = &projector->out->places[index];
    if (covers(input->tagged, tag, source)) {
        struct mt_range all = mt_range_trim(input->target, within.begin, within.end);
        *place = (struct mt_projected_tag){.begin = all.begin, .end = all.end};
        return;
    }
    if (tag->begin == tag->end) { /* it holds only points, which belong to the word before it */
        size_t point = mt_project_point(projector, tag->begin, leads(input->tagged, index));
        point = mt_size_max(within.begin, mt_size_min(point, within.end));
        *place = (struct mt_projected_tag){.begin = point, .end = point};
        return;
    }
    struct mt_range code = place_of_code(projector, index);
    if (code.begin < code.end && code.begin >= within.begin && code.end <= within.end) {
        take_units(projector, code);
        *place = (struct mt_projected_tag){.begin = code.begin, .end = code.end};
        return;
    }
    size_t at = mt_size_max(within.begin,
                            mt_size_min(mt_project_point(projector, tag->begin, true), within.end));
    struct mt_range range;
    if (!find_sentences(projector, tag, within, &range) &&
        !find_run(projector, tag, within, at, &range)) {
        *place = (struct mt_projected_tag){.begin = at, .end = at};
        return;
    }
    take_units(projector, range);
    range = with_unit(input, tag, with_punctuation(input, tag, range, within), within);
    *place = (struct mt_projected_tag){.begin = range.begin, .end = range.end};
}

/* Sets what each child span of parent is worth at best, and -1 for tags that are no such spans. One
 * that is a code is worth most, because it has its place already. */
static void weigh_spans(const struct mt_tag_projector *projector, size_t parent,
                        struct mt_range within, double *worth)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        bool is_child = tag->kind == MT_TAG_SPAN && tag->parent == parent;
        struct mt_range code = is_child ? place_of_code(projector, i) : (struct mt_range){0};
        worth[i] = !is_child               ? -1
                   : code.begin < code.end ? INFINITY
                                           : best_run(projector, tag, within).worth;
    }
}

static size_t index_of_most(const double *worth, size_t n)
{
    size_t most = MT_NO_TAG;
    for (size_t i = 0; i < n; i++)
        if (worth[i] >= 0 && (most == MT_NO_TAG || worth[i] > worth[most]))
            most = i;
    return most;
}

/* Places the spans of one parent, the most valuable ones first. */
static void place_spans_in(struct mt_tag_projector *projector, size_t parent, double *worth)
{
    const struct mt_tag_projection_input *input = projector->input;
    struct mt_range source = {0, input->tagged->text.length}, within = {0, input->target_length};
    if (parent != MT_NO_TAG) {
        const struct mt_tag *tag = &input->tagged->tags[parent];
        const struct mt_projected_tag *place = &projector->out->places[parent];
        source = (struct mt_range){tag->begin, tag->end};
        within = (struct mt_range){place->begin, place->end};
    }
    for (size_t i = 0; i < projector->n; i++)
        projector->units[i].is_taken = false;
    projector->is_counted = false;
    weigh_spans(projector, parent, within, worth);
    for (size_t i; (i = index_of_most(worth, input->tagged->n)) != MT_NO_TAG;) {
        place_span(projector, i, source, within);
        worth[i] = -1;
    }
}

/* Parents come before their children. */
enum mt_status mt_project_spans(struct mt_tag_projector *projector, struct mt_error *err)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    double *worth = calloc(tagged->n + 1, sizeof *worth);
    if (!worth)
        return mt_fail_memory(err, tagged->n * sizeof *worth, "tags");
    place_spans_in(projector, MT_NO_TAG, worth);
    for (size_t i = 0; i < tagged->n; i++)
        if (tagged->tags[i].kind == MT_TAG_SPAN)
            place_spans_in(projector, i, worth);
    free(worth);
    return MT_OK;
}
