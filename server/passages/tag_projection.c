#include "server/passages/tag_projection_state.h"

#include "base/size.h"
#include "server/text/terms.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

static uint32_t char_at(const char *text, size_t at)
{
    return mt_utf8_decode(text + at);
}

/* Links are ordered by target; only the strongest one of a target word counts. */
static enum mt_status read_units(struct mt_tag_projector *projector, struct mt_error *err)
{
    const struct mt_word_links *links = projector->input->links;
    float best = 0;
    projector->units = calloc(links->n + 1, sizeof *projector->units);
    if (!projector->units)
        return mt_fail_memory(err, links->n * sizeof *projector->units, "words");
    for (size_t i = 0; i < links->n; i++) {
        const struct mt_word_link *link = &links->items[i];
        bool is_new =
            projector->n == 0 || projector->units[projector->n - 1].begin != link->target.begin;
        if (!is_new && link->score <= best)
            continue;
        projector->n += is_new;
        best = link->score;
        projector->units[projector->n - 1] =
            (struct mt_linked_word){.begin = link->target.begin,
                                    .end = link->target.end,
                                    .source_begin = link->source.begin,
                                    .source_end = link->source.end,
                                    .score = link->score};
    }
    return MT_OK;
}

bool mt_linked_word_came_from(const struct mt_linked_word *unit, size_t begin, size_t end)
{
    return unit->source_begin < end && unit->source_end > begin;
}

/* ---- points ---- */

size_t mt_sentence_of(const struct mt_tag_projection_input *input, size_t at)
{
    size_t k = 0;
    while (k + 1 < input->n_sentences && input->source_sentences[k + 1].begin <= at)
        k++;
    return k;
}

/* Returns the end of a range's last word, which is where its final punctuation begins. */
static size_t end_of_words(const char *text, struct mt_range range)
{
    size_t at = range.end;
    while (at > range.begin) {
        size_t before = mt_previous_char(text, at);
        if (mt_is_word_char(char_at(text, before)))
            return at;
        at = before;
    }
    return range.end;
}

static size_t at_sentence_end(const struct mt_tag_projection_input *input, size_t source, size_t k)
{
    struct mt_range from = input->source_sentences[k], to = input->target_sentences[k];
    const char *text = input->tagged->text.bytes;
    size_t words_end = end_of_words(text, from);
    bool is_before_punctuation = source < from.end && source <= words_end;
    return is_before_punctuation ? end_of_words(input->target, to) : to.end;
}

/* Moves a position behind the comma that follows a word, if the source has one there, too. */
static size_t over_punctuation(const struct mt_tag_projection_input *input, size_t source,
                               size_t at)
{
    const char *text = input->tagged->text.bytes;
    if (source == 0 || at >= input->target_length)
        return at;
    char c = text[mt_previous_char(text, source)];
    return strchr(",;:", c) && input->target[at] == c ? at + 1 : at;
}

static size_t before_next_word(const struct mt_tag_projector *projector, size_t source,
                               size_t fallback)
{
    const struct mt_linked_word *best = NULL;
    for (size_t i = 0; i < projector->n; i++) {
        const struct mt_linked_word *unit = &projector->units[i];
        if (unit->source_begin >= source && (!best || unit->source_begin < best->source_begin))
            best = unit;
    }
    return best ? best->begin : fallback;
}

static size_t behind_last_word(const struct mt_tag_projector *projector, size_t source,
                               size_t fallback)
{
    const struct mt_linked_word *best = NULL;
    for (size_t i = 0; i < projector->n; i++) {
        const struct mt_linked_word *unit = &projector->units[i];
        if (unit->source_end <= source && (!best || unit->source_end >= best->source_end))
            best = unit;
    }
    return best ? over_punctuation(projector->input, source, best->end) : fallback;
}

static size_t end_of_first_word(const char *text, struct mt_range range)
{
    size_t at = range.begin;
    while (at < range.end && !mt_is_word_char(char_at(text, at)))
        at += mt_char_length(text + at);
    while (at < range.end && mt_is_word_char(char_at(text, at)))
        at += mt_char_length(text + at);
    return at;
}

static bool is_at_word_end(const char *text, size_t at)
{
    return mt_is_word_char(char_at(text, mt_previous_char(text, at))) &&
           !mt_is_word_char(char_at(text, at));
}

/* Returns where the word begins that `at` is in the middle of; `at`: it is in none. */
static size_t begin_of_word(const char *text, size_t at)
{
    size_t begin = at;
    while (mt_is_word_char(char_at(text, at)) && begin > 0 &&
           mt_is_word_char(char_at(text, mt_previous_char(text, begin))) &&
           char_at(text, begin) < MT_FIRST_IDEOGRAPH)
        begin = mt_previous_char(text, begin);
    return begin;
}

/* Returns where a position of the source is in the target. A position in a word, like an
 * accelerator's, is before that word; one at the end of a word, like that of a footnote's number,
 * is at the end of a word in the target, too, even if that word has no link. */
size_t mt_project_point(const struct mt_tag_projector *projector, size_t source, bool leads)
{
    const struct mt_tag_projection_input *input = projector->input;
    const char *text = input->tagged->text.bytes;
    if (input->n_sentences == 0)
        return source == 0 ? 0 : input->target_length;
    size_t within = source;
    source = begin_of_word(text, source);
    leads = leads || source < within;
    size_t k = mt_sentence_of(input, source);
    struct mt_range from = input->source_sentences[k], to = input->target_sentences[k];
    if (source <= from.begin || !mt_has_word(text, from.begin, source))
        return source < from.begin ? 0 : to.begin;
    if (source >= from.end || !mt_has_word(text, source, from.end))
        return at_sentence_end(input, source, k);
    bool is_behind_word = is_at_word_end(text, source);
    size_t at = leads && !is_behind_word ? before_next_word(projector, source, to.end)
                                         : behind_last_word(projector, source, to.begin);
    at = mt_size_max(to.begin, mt_size_min(at, to.end));
    return at == to.begin && is_behind_word ? end_of_first_word(input->target, to) : at;
}

/* ---- substitutes ---- */

/* Whether a word that ends beside c really ends there. */
static bool parts_from(uint32_t c)
{
    return !mt_is_word_char(c) || c >= MT_FIRST_IDEOGRAPH;
}

static bool is_whole_word(const char *text, size_t length, size_t begin, size_t end)
{
    return (begin == 0 || parts_from(char_at(text, mt_previous_char(text, begin)))) &&
           (end >= length || parts_from(char_at(text, end)));
}

/* Inserts a range so that removed stays ascending; false where it meets a range that is there. */
static bool remove_range(struct mt_tag_projection *out, size_t begin, size_t end)
{
    size_t i = out->n_removed;
    while (i > 0 && out->removed[i - 1].begin >= end)
        i--;
    if (i > 0 && out->removed[i - 1].end > begin)
        return false;
    memmove(&out->removed[i + 1], &out->removed[i], (out->n_removed - i) * sizeof *out->removed);
    out->removed[i] = (struct mt_range){begin, end};
    out->n_removed++;
    return true;
}

/* Whether the links say that the word at begin came from elsewhere than the tag. */
static bool came_from_elsewhere(const struct mt_tag_projector *projector, size_t begin,
                                const struct mt_tag *tag)
{
    size_t low = 0, high = projector->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (projector->units[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < projector->n && projector->units[low].begin == begin &&
           !mt_linked_word_came_from(&projector->units[low], tag->begin, tag->end);
}

static struct mt_range target_sentence(const struct mt_tag_projection_input *input,
                                       const struct mt_tag *tag)
{
    if (input->n_sentences == 0)
        return (struct mt_range){0, input->target_length};
    return input->target_sentences[mt_sentence_of(input, tag->begin)];
}

/* Returns the next position from `at` on at which the word stands in the target as a whole and
 * within `end`; `end` if there is none. */
static size_t next_copy(const struct mt_tag_projection_input *input, const char *word,
                        size_t length, size_t at, size_t end)
{
    const char *found = at < end ? memmem(input->target + at, end - at, word, length) : NULL;
    return found ? (size_t)(found - input->target) : end;
}

/* Takes the word where it stands unchanged in the tag's sentence of the target; with is_strict
 * only where it came from the tag. */
static bool take_copy(struct mt_tag_projector *projector, size_t index, const char *word,
                      size_t length, bool is_strict)
{
    const struct mt_tag_projection_input *input = projector->input;
    const struct mt_tag *tag = &input->tagged->tags[index];
    struct mt_range to = target_sentence(input, tag);
    for (size_t at = to.begin; (at = next_copy(input, word, length, at, to.end)) < to.end; at++) {
        if (!is_whole_word(input->target, input->target_length, at, at + length) ||
            (is_strict && came_from_elsewhere(projector, at, tag)))
            continue;
        if (!remove_range(projector->out, at, at + length))
            continue;
        projector->out->places[index] = (struct mt_projected_tag){.begin = at, .end = at + length};
        return true;
    }
    return false;
}

static bool take_substitute(struct mt_tag_projector *projector, size_t index, bool is_strict)
{
    const struct mt_tag *tag = &projector->input->tagged->tags[index];
    return take_copy(projector, index, projector->input->tagged->text.bytes + tag->begin,
                     tag->end - tag->begin, is_strict);
}

/* Takes the word that came from the tag although it is inflected, transliterated or wrong. */
static bool take_word(struct mt_tag_projector *projector, size_t index)
{
    const struct mt_tag *tag = &projector->input->tagged->tags[index];
    for (size_t i = 0; i < projector->n; i++) {
        const struct mt_linked_word *unit = &projector->units[i];
        if (!mt_linked_word_came_from(unit, tag->begin, tag->end) ||
            !remove_range(projector->out, unit->begin, unit->end))
            continue;
        projector->out->places[index] =
            (struct mt_projected_tag){.begin = unit->begin, .end = unit->end};
        return true;
    }
    return false;
}

/* Removes copies of a tag's word that the model wrote more often than the source has it. */
static void remove_other_copies(struct mt_tag_projector *projector, const struct mt_tag *tag,
                                size_t n_most)
{
    const struct mt_tag_projection_input *input = projector->input;
    const char *word = input->tagged->text.bytes + tag->begin;
    size_t length = tag->end - tag->begin, end = input->target_length;
    for (size_t at = 0; projector->out->n_removed < n_most; at++) {
        at = next_copy(input, word, length, at, end);
        if (at == end)
            return;
        if (is_whole_word(input->target, input->target_length, at, at + length))
            (void)remove_range(projector->out, at - (at > 0 && input->target[at - 1] == ' '),
                               at + length);
    }
}

/* ---- terms ---- */

static size_t count_words(const char *text, size_t begin, size_t end)
{
    size_t n = 0;
    bool was_word = false;
    for (size_t at = begin; at < end; at += mt_char_length(text + at)) {
        bool is_word = mt_is_word_char(char_at(text, at));
        n += is_word && !was_word;
        was_word = is_word;
    }
    return n;
}

static bool take_term_at(struct mt_tag_projector *projector, size_t index, size_t begin, size_t end)
{
    if (begin >= end || !remove_range(projector->out, begin, end))
        return false;
    projector->out->places[index] = (struct mt_projected_tag){.begin = begin, .end = end};
    return true;
}

static size_t length_of(struct mt_range range)
{
    return range.end - range.begin;
}

/* Whether target[begin, end) is one of several forms of the term. Words that stay have no forms: a
 * bar in them is an ordinary sign. */
static bool is_form(const struct mt_tag_projector *projector, const struct mt_tag *tag,
                    size_t begin, size_t end)
{
    size_t n_forms = length_of(tag->forms);
    return n_forms > length_of(tag->closing) &&
           mt_term_has_form(projector->input->tagged->strings.bytes + tag->forms.begin, n_forms,
                            projector->input->target + begin, end - begin);
}

/* A sentence that is nothing but the term becomes the term's translation whatever the model wrote,
 * unless that is another form of the term. */
static bool take_sentence(struct mt_tag_projector *projector, size_t index)
{
    const struct mt_tag_projection_input *input = projector->input;
    const struct mt_tag *tag = &input->tagged->tags[index];
    const char *text = input->tagged->text.bytes;
    if (input->n_sentences == 0)
        return false;
    size_t k = mt_sentence_of(input, tag->begin);
    struct mt_range from = input->source_sentences[k], to = input->target_sentences[k];
    if (tag->begin < from.begin || tag->end > from.end ||
        mt_has_word(text, from.begin, tag->begin) || mt_has_word(text, tag->end, from.end))
        return false;
    size_t begin = to.begin;
    while (begin < to.end && !mt_is_word_char(char_at(input->target, begin)))
        begin += mt_char_length(input->target + begin);
    size_t end = end_of_words(input->target, to);
    if (!take_term_at(projector, index, begin, end))
        return false;
    projector->out->places[index].is_own = is_form(projector, tag, begin, end);
    return true;
}

static bool is_removed(const struct mt_tag_projector *projector, const struct mt_linked_word *unit)
{
    const struct mt_tag_projection *out = projector->out;
    for (size_t i = 0; i < out->n_removed; i++)
        if (out->removed[i].begin < unit->end && out->removed[i].end > unit->begin)
            return true;
    return false;
}

/* Takes the run of words that most came from the term, and that is no longer than the term. Without
 * that limit it took in neighbours, which a weak alignment links to the term, too: BLEU was 29.9
 * instead of 30.1 with terms, and 17.4 instead of 19.9 with words that the model does not know. */
static bool take_run(struct mt_tag_projector *projector, size_t index)
{
    const struct mt_tag_projection_input *input = projector->input;
    const struct mt_tag *tag = &input->tagged->tags[index];
    size_t n_most = mt_size_max(1, count_words(input->tagged->text.bytes, tag->begin, tag->end));
    struct mt_word_run best = {0};
    for (size_t i = 0; i < projector->n; i++) {
        double worth = 0;
        for (size_t k = i; k < projector->n && k < i + n_most; k++) {
            const struct mt_linked_word *unit = &projector->units[k];
            if (!mt_linked_word_came_from(unit, tag->begin, tag->end) ||
                is_removed(projector, unit))
                break;
            worth += (double)unit->score;
            if (worth > best.worth)
                best = (struct mt_word_run){.first = i, .end = k + 1, .worth = worth};
        }
    }
    return best.first < best.end &&
           take_term_at(projector, index, projector->units[best.first].begin,
                        projector->units[best.end - 1].end);
}

/* Takes a word that came more from another word, but also from the term. */
static bool take_second_best(struct mt_tag_projector *projector, size_t index)
{
    const struct mt_word_links *links = projector->input->links;
    const struct mt_tag *tag = &projector->input->tagged->tags[index];
    const struct mt_word_link *best = NULL;
    for (size_t i = 0; i < links->n; i++) {
        const struct mt_word_link *link = &links->items[i];
        const struct mt_linked_word unit = {.begin = link->target.begin, .end = link->target.end};
        if (link->source.begin < tag->end && link->source.end > tag->begin &&
            (!best || link->score > best->score) && !is_removed(projector, &unit))
            best = link;
    }
    return best && take_term_at(projector, index, best->target.begin, best->target.end);
}

static bool has_capital(const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += mt_char_length(text + at))
        if (u_isupper((UChar32)char_at(text, at)))
            return true;
    return false;
}

/* Whether the term replaces a sentence's first word, which has a capital for that reason alone. */
static bool is_raised(const struct mt_tag_projector *projector, const struct mt_tag *tag,
                      const struct mt_projected_tag *place)
{
    const struct mt_tag_projection_input *input = projector->input;
    struct mt_range to = target_sentence(input, tag);
    const char *target = input->tagged->strings.bytes + tag->closing.begin;
    return !tag->is_verbatim && !place->is_own && place->begin < place->end &&
           u_isupper((UChar32)char_at(input->target, place->begin)) &&
           !mt_has_word(input->target, to.begin, place->begin) &&
           !has_capital(target, tag->closing.end - tag->closing.begin);
}

static bool take_form(struct mt_tag_projector *projector, size_t index, bool is_strict)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    const struct mt_tag *tag = &tagged->tags[index];
    const char *word = tagged->strings.bytes + tag->closing.begin;
    const char *forms = tagged->strings.bytes + tag->forms.begin;
    size_t length = length_of(tag->closing), n_forms = length_of(tag->forms);
    struct mt_range form;
    if (n_forms == length)
        return take_copy(projector, index, word, length, is_strict);
    for (size_t at = 0; mt_term_next_form(forms, n_forms, &at, &form);)
        if (take_copy(projector, index, forms + form.begin, length_of(form), is_strict)) {
            projector->out->places[index].is_own = true;
            return true;
        }
    return false;
}

static bool take_term(struct mt_tag_projector *projector, size_t index, int pass)
{
    switch (pass) {
    case 0:
        return take_sentence(projector, index);
    case 1:
        return take_form(projector, index, true);
    case 2:
        return take_form(projector, index, false);
    case 3:
        return !projector->input->is_guessed && take_run(projector, index);
    default:
        return !projector->input->is_guessed && take_second_best(projector, index);
    }
}

/* As with substitutes, copies that the alignment confirms come before others. */
static void place_terms(struct mt_tag_projector *projector, bool *is_placed)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    for (int pass = 0; pass < 5; pass++)
        for (size_t i = 0; i < tagged->n; i++)
            if (tagged->tags[i].kind == MT_TAG_TERM && !is_placed[i])
                is_placed[i] = take_term(projector, i, pass);
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        struct mt_projected_tag *place = &projector->out->places[i];
        if (tag->kind != MT_TAG_TERM)
            continue;
        if (is_placed[i]) {
            place->is_raised = is_raised(projector, tag, place);
            continue;
        }
        size_t at = mt_project_point(projector, tag->begin, false);
        *place = (struct mt_projected_tag){
            .begin = at, .end = at, .is_inserted = tag->is_verbatim, .is_lost = !tag->is_verbatim};
    }
}

/* ---- substitutes, all of them ---- */

static enum mt_status place_substitutes(struct mt_tag_projector *projector, struct mt_error *err)
{
    const struct mt_tagged_text *tagged = projector->input->tagged;
    size_t n_most = tagged->n * 4 + 1;
    bool *is_placed = calloc(tagged->n + 1, sizeof *is_placed);
    projector->out->removed = calloc(n_most + 1, sizeof *projector->out->removed);
    if (!projector->out->removed || !is_placed) {
        free(is_placed);
        return mt_fail_memory(err, n_most * sizeof *projector->out->removed, "substitutes");
    }
    /* Pass 0 takes copies that the alignment confirms, pass 1 any copy, pass 2 altered copies. */
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < tagged->n; i++)
            if (tagged->tags[i].kind == MT_TAG_SUBSTITUTE && !is_placed[i])
                is_placed[i] =
                    pass == 2 ? take_word(projector, i) : take_substitute(projector, i, pass == 0);
    place_terms(projector, is_placed);
    for (size_t i = 0; i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->kind != MT_TAG_SUBSTITUTE)
            continue;
        remove_other_copies(projector, tag, n_most);
        if (is_placed[i])
            continue;
        size_t at = mt_project_point(projector, tag->begin, false);
        projector->out->places[i] =
            (struct mt_projected_tag){.begin = at, .end = at, .is_inserted = true};
    }
    free(is_placed);
    return MT_OK;
}

/* ---- breaks ---- */

static void place_breaks(struct mt_tag_projector *projector)
{
    const struct mt_tag_projection_input *input = projector->input;
    size_t at = 0;
    for (size_t i = 0; i < input->tagged->n; i++) {
        if (input->tagged->tags[i].kind != MT_TAG_BREAK)
            continue;
        const char *feed = at < input->target_length
                               ? memchr(input->target + at, '\n', input->target_length - at)
                               : NULL;
        size_t begin = feed ? (size_t)(feed - input->target) : input->target_length;
        at = feed ? begin + 1 : begin;
        projector->out->places[i] = (struct mt_projected_tag){.begin = begin, .end = at};
    }
}

enum mt_status mt_tag_projection_find(const struct mt_tag_projection_input *input,
                                      struct mt_tag_projection *out, struct mt_error *err)
{
    const struct mt_tagged_text *tagged = input->tagged;
    struct mt_tag_projector projector = {.input = input, .out = out};
    out->places = calloc(tagged->n + 1, sizeof *out->places);
    if (!out->places)
        return mt_fail_memory(err, tagged->n * sizeof *out->places, "places");
    enum mt_status status = read_units(&projector, err);
    if (!status)
        status = place_substitutes(&projector, err);
    if (!status)
        status = mt_project_spans(&projector, err);
    for (size_t i = 0; i < tagged->n && !status; i++) {
        if (tagged->tags[i].kind != MT_TAG_POINT)
            continue;
        size_t at = mt_project_point(&projector, tagged->tags[i].begin, tagged->tags[i].leads);
        out->places[i] = (struct mt_projected_tag){.begin = at, .end = at};
    }
    if (!status)
        place_breaks(&projector);
    free(projector.units);
    return status;
}

void mt_tag_projection_finish(struct mt_tag_projection *projection)
{
    free(projection->places);
    free(projection->removed);
    *projection = (struct mt_tag_projection){0};
}
