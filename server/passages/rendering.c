#include "server/passages/passage_state.h"

#include "base/size.h"
#include "server/text/codes/reading.h"
#include "server/text/post_edit.h"
#include "server/text/quality_check.h"

#include <stdlib.h>
#include <string.h>

void mt_rendering_finish(struct mt_rendering *rendering)
{
    mt_text_finish(&rendering->written);
    mt_text_finish(&rendering->repaired);
    mt_text_finish(&rendering->edited);
    mt_number_repairs_finish(&rendering->repairs);
    free(rendering->map);
    free(rendering->source_sentences);
    free(rendering->target_sentences);
    free(rendering->written_sentences);
    mt_word_links_finish(&rendering->links);
    mt_tag_projection_finish(&rendering->projection);
}

/* The target becomes `changed`; `step`, which this takes over, says where its bytes are in it. */
static void move_on(struct mt_rendering *rendering, size_t n_sentences,
                    const struct mt_text *changed, size_t *step)
{
    for (size_t i = 0; i < n_sentences; i++) {
        struct mt_range *sentence = &rendering->target_sentences[i];
        sentence->begin = step[sentence->begin];
        sentence->end = step[sentence->end];
    }
    rendering->target = changed;
    if (!rendering->map) {
        rendering->map = step;
        return;
    }
    for (size_t i = 0; i <= rendering->written.length; i++)
        rendering->map[i] = step[rendering->map[i]];
    free(step);
}

/* Finds the dash of "Monday–Friday", if it is the only one: the model was shown blanks around
 * it. */
static void find_dash(const struct mt_passage *passage, const struct mt_passage_part *part,
                      struct mt_post_edit_input *input)
{
    const char *words = passage->coded.segments[part->segment].words.bytes;
    size_t end = part->range.end;
    if (strncmp(passage->source_lang, "en", 2) != 0 ||
        memmem(words + part->range.begin, end - part->range.begin, " - ", 3))
        return;
    for (size_t at = part->range.begin; at < end && input->n_dash == 0; at++) {
        input->dash = words + at;
        input->n_dash = mt_dash_of_days(words, at, end);
    }
}

static enum mt_status edit(const struct mt_passage *passage, const struct mt_passage_part *part,
                           size_t rank, struct mt_rendering *rendering, struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(part->translation), length;
    bool *are_unfinished = calloc(n + 1, sizeof *are_unfinished);
    if (!are_unfinished)
        return mt_fail_memory(err, n, "a translation");
    for (size_t i = 0; i < n; i++)
        are_unfinished[i] =
            mt_quality_is_truncated(mt_translation_part(part->translation, i).sentence, rank);
    struct mt_post_edit_input input = {
        .tokenizer = passage->editor,
        .target_lang = passage->target_lang[0] ? passage->target_lang : NULL,
        .source = mt_translation_text(part->translation, &length),
        .target = rendering->target->bytes,
        .target_length = rendering->target->length,
        .source_sentences = rendering->source_sentences,
        .target_sentences = rendering->target_sentences,
        .n_sentences = n,
        .are_unfinished = are_unfinished,
    };
    find_dash(passage, part, &input);
    enum mt_status status = MT_OK;
    size_t *step = calloc(input.target_length + 1, sizeof *step);
    struct mt_range *sentences = calloc(n + 1, sizeof *sentences);
    if (!step || !sentences)
        status = mt_fail_memory(err, input.target_length * sizeof *step, "a translation");
    if (!status)
        status = mt_post_edit(&input, step, sentences, &rendering->edited, err);
    free(are_unfinished);
    if (status) {
        free(step);
    } else { /* what was put in before a sentence's first byte is its own */
        move_on(rendering, n, &rendering->edited, step);
        memcpy(rendering->target_sentences, sentences, n * sizeof *sentences);
    }
    free(sentences);
    return status;
}

/* ---- the links of the words as the model wrote them ---- */

enum mt_status mt_rendering_find_links(const struct mt_passage *passage,
                                       struct mt_passage_part *part, size_t rank,
                                       struct mt_rendering *rendering,
                                       const struct mt_word_links **out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (!part->has_links)
        status = mt_alignment_trace_find(passage->trace, part->translation, &part->links, err);
    part->has_links = !status;
    *out = rank == 0 ? &part->links : &rendering->links;
    if (status || rank == 0 || rendering->has_links)
        return status;
    struct mt_text first = {0};
    status = mt_translation_render(part->translation, 0, &first, err);
    if (!status)
        status = mt_tag_projection_transfer(&part->links, first.bytes, first.length,
                                            rendering->written.bytes, rendering->written.length,
                                            &rendering->links, err);
    rendering->has_links = !status;
    mt_text_finish(&first);
    return status;
}

/* ---- numbers ---- */

enum mt_status mt_passage_list_ignored(const struct mt_passage_part *part, struct mt_ranges *out,
                                       struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct mt_tagged_text *tagged = part->tagged;
    for (size_t i = 0; tagged && i < tagged->n && !status; i++)
        if (tagged->tags[i].kind == MT_TAG_TERM || tagged->tags[i].kind == MT_TAG_SUBSTITUTE)
            status = mt_ranges_append(out, tagged->tags[i].begin, tagged->tags[i].end, err);
    return status;
}

enum mt_status mt_passage_describe_pair(const struct mt_passage_part *part,
                                        const struct mt_rendering *rendering, size_t sentence,
                                        const struct mt_ranges *all_ignored,
                                        struct mt_ranges *ignored, struct mt_proofread_pair *out,
                                        struct mt_error *err)
{
    size_t length;
    struct mt_range source = rendering->source_sentences[sentence];
    struct mt_range target = rendering->target_sentences[sentence];
    enum mt_status status = MT_OK;
    ignored->n = 0;
    for (size_t i = 0; i < all_ignored->n && !status; i++)
        if (all_ignored->items[i].begin >= source.begin && all_ignored->items[i].end <= source.end)
            status = mt_ranges_append(ignored, all_ignored->items[i].begin - source.begin,
                                      all_ignored->items[i].end - source.begin, err);
    *out = (struct mt_proofread_pair){
        .source = mt_translation_text(part->translation, &length) + source.begin,
        .n_source = source.end - source.begin,
        .target = rendering->written.bytes + target.begin,
        .n_target = target.end - target.begin,
        .ignored = ignored->items,
        .n_ignored = ignored->n,
    };
    return status;
}

/* Whether a sentence has both a number to put in and a place for it. */
static enum mt_status needs_repair(const struct mt_passage *passage,
                                   const struct mt_passage_part *part,
                                   const struct mt_rendering *rendering,
                                   const struct mt_ranges *all_ignored, bool *out,
                                   struct mt_error *err)
{
    struct mt_numbers_difference difference = {0};
    struct mt_ranges ignored = {0};
    enum mt_status status = MT_OK;
    *out = false;
    for (size_t i = 0; i < mt_translation_n_sentences(part->translation) && !status && !*out; i++) {
        struct mt_proofread_pair pair;
        if (!mt_sentence_trace(mt_translation_part(part->translation, i).sentence))
            continue;
        status = mt_passage_describe_pair(part, rendering, i, all_ignored, &ignored, &pair, err);
        if (!status)
            status = mt_number_repair_compare(passage->reader, &pair, &difference, err);
        *out = !status && difference.missing.n > 0 && difference.added.n > 0;
    }
    mt_numbers_difference_finish(&difference);
    mt_ranges_finish(&ignored);
    return status;
}

static enum mt_status repair(const struct mt_passage *passage, struct mt_passage_part *part,
                             size_t rank, struct mt_rendering *rendering, struct mt_error *err)
{
    struct mt_ranges all_ignored = {0};
    const struct mt_word_links *links = NULL;
    bool is_needed = false;
    size_t length, *step = NULL, n = mt_translation_n_sentences(part->translation);
    enum mt_status status = mt_passage_list_ignored(part, &all_ignored, err);
    if (!status)
        status = needs_repair(passage, part, rendering, &all_ignored, &is_needed, err);
    if (!status && is_needed)
        status = mt_rendering_find_links(passage, part, rank, rendering, &links, err);
    if (!status && is_needed && !(step = calloc(rendering->written.length + 1, sizeof *step)))
        status = mt_fail_memory(err, rendering->written.length * sizeof *step, "a translation");
    if (!status && is_needed) {
        const struct mt_number_repair_input input = {
            .reader = passage->reader,
            .source = mt_translation_text(part->translation, &length),
            .target = rendering->written.bytes,
            .target_length = rendering->written.length,
            .source_sentences = rendering->source_sentences,
            .target_sentences = rendering->target_sentences,
            .n_sentences = n,
            .ignored = all_ignored.items,
            .n_ignored = all_ignored.n,
            .links = links,
        };
        status = mt_number_repair(&input, step, &rendering->repaired, &rendering->repairs, err);
    }
    mt_ranges_finish(&all_ignored);
    if (!status && is_needed)
        move_on(rendering, n, &rendering->repaired, step);
    else
        free(step);
    return status;
}

/* ---- what stays as it is ---- */

static bool has_terms(const struct mt_tagged_text *tagged)
{
    for (size_t i = 0; tagged && i < tagged->n; i++)
        if (tagged->tags[i].kind == MT_TAG_TERM)
            return true;
    return false;
}

/* Appends the pieces that a sentence was shown as, and those of its translation. */
static void append_pieces(const struct mt_tokenizer *tokenizer,
                          const struct mt_translation_part *sentence,
                          const struct mt_hypothesis *hypothesis, struct mt_text *shown,
                          struct mt_text *written)
{
    const struct mt_token_list *tokens = sentence->source_tokens;
    for (size_t i = 0; i < tokens->n; i++)
        if (!tokens->tokens[i].special)
            mt_text_append_string(shown, tokens->tokens[i].piece);
    for (size_t i = 0; i < hypothesis->n_ids; i++) {
        const char *piece = mt_tokenizer_target_piece(tokenizer, hypothesis->ids[i]);
        if (piece && hypothesis->ids[i] != mt_tokenizer_eos_id(tokenizer))
            mt_text_append_string(written, piece);
    }
}

/* Whether a target language code, ">>fra<<", stands before the first sentence: only the model sees
 * it. */
static bool begins_with_code(const struct mt_translation *translation)
{
    size_t length;
    const char *text = mt_translation_text(translation, &length);
    size_t begin =
        mt_translation_n_sentences(translation) > 0 ? mt_translation_part(translation, 0).begin : 0;
    return begin > 0 && length > 2 && memcmp(text, ">>", 2) == 0 && memmem(text, begin, "<<", 2);
}

enum mt_status mt_rendering_is_unchanged(const struct mt_passage *passage,
                                         const struct mt_passage_part *part, size_t rank, bool *out,
                                         struct mt_error *err)
{
    struct mt_text shown = {0}, written = {0};
    bool may_be = !has_terms(part->tagged) && !begins_with_code(part->translation);
    for (size_t i = 0; i < mt_translation_n_sentences(part->translation) && may_be; i++) {
        const struct mt_translation_part sentence = mt_translation_part(part->translation, i);
        size_t n = mt_sentence_n_hypotheses(sentence.sentence);
        may_be = n > 0;
        if (!may_be)
            break;
        const struct mt_hypothesis hypothesis =
            mt_sentence_hypothesis(sentence.sentence, mt_size_min(rank, n - 1));
        append_pieces(passage->tokenizer, &sentence, &hypothesis, &shown, &written);
    }
    enum mt_status status = mt_text_check(&shown, "a text's pieces", err);
    if (!status)
        status = mt_text_check(&written, "a translation's pieces", err);
    *out = !status && may_be && shown.length == written.length &&
           (shown.length == 0 || memcmp(shown.bytes, written.bytes, shown.length) == 0);
    mt_text_finish(&shown);
    mt_text_finish(&written);
    return status;
}

/* ---- a part ---- */

enum mt_status mt_rendering_make(const struct mt_passage *passage, struct mt_passage_part *part,
                                 size_t rank, struct mt_rendering *rendering, struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(part->translation);
    rendering->source_sentences = calloc(n + 1, sizeof *rendering->source_sentences);
    rendering->target_sentences = calloc(n + 1, sizeof *rendering->target_sentences);
    rendering->written_sentences = calloc(n + 1, sizeof *rendering->written_sentences);
    if (!rendering->source_sentences || !rendering->target_sentences ||
        !rendering->written_sentences)
        return mt_fail_memory(err, n * sizeof *rendering->source_sentences, "sentences");
    for (size_t i = 0; i < n; i++) {
        struct mt_translation_part sentence = mt_translation_part(part->translation, i);
        rendering->source_sentences[i] = (struct mt_range){sentence.begin, sentence.end};
    }
    rendering->target = &rendering->written;
    enum mt_status status = mt_translation_render_ranges(
        part->translation, rank, rendering->target_sentences, &rendering->written, err);
    if (!status && passage->repairs_numbers)
        status = repair(passage, part, rank, rendering, err);
    return status || !passage->editor ? status : edit(passage, part, rank, rendering, err);
}
