#include "server/api/outcome.h"

#include "base/size.h"
#include "server/passages/alignment_trace.h"
#include "server/passages/passage.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

static void drop_pairs(struct mt_outcome *outcome)
{
    for (size_t i = 0; outcome->pairs && i < outcome->n; i++)
        mt_sentence_pairs_finish(&outcome->pairs[i]);
    free(outcome->pairs);
    outcome->pairs = NULL;
}

static void drop_translations(struct mt_outcome *outcome)
{
    drop_pairs(outcome);
    for (size_t i = 0; i < outcome->n; i++)
        mt_text_finish(&outcome->translations[i]);
    free(outcome->translations);
    free(outcome->scores);
    outcome->translations = NULL;
    outcome->scores = NULL;
    outcome->n = 0;
}

static enum mt_status reserve(struct mt_outcome *outcome, size_t n, struct mt_error *err)
{
    drop_translations(outcome);
    outcome->translations = calloc(n, sizeof *outcome->translations);
    outcome->scores = calloc(n, sizeof *outcome->scores);
    if (outcome->keeps_sentences)
        outcome->pairs = calloc(n, sizeof *outcome->pairs);
    bool has_pairs = outcome->pairs || !outcome->keeps_sentences;
    if (!outcome->translations || !outcome->scores || !has_pairs)
        return mt_fail_memory(err, n * sizeof *outcome->translations, "translations");
    return MT_OK;
}

/* Returns the next letter or digit, or a mark that belongs to one, such as an accent or a vowel
 * sign of Devanagari; -1 at the end. The text of a model that spells in bytes need not be UTF-8. */
static UChar32 next_letter(const char *text, size_t length, size_t *at)
{
    while (*at < length) {
        const char *from = text + *at;
        size_t n = mt_size_min(mt_utf8_length((unsigned char)*from), length - *at);
        bool is_sound = mt_utf8_valid_prefix(from, n) == n;
        *at += is_sound ? n : 1;
        UChar32 c = is_sound ? (UChar32)mt_utf8_decode(from) : 0;
        if (u_isalnum(c) || (U_GET_GC_MASK(c) & U_GC_M_MASK))
            return c;
    }
    return -1;
}

/* Whether two texts differ only in punctuation and blanks: "Hallo" and "Hallo:". */
static bool says_the_same(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t at_a = 0, at_b = 0;
    UChar32 c;
    do {
        c = next_letter(a, n_a, &at_a);
        if (c != next_letter(b, n_b, &at_b))
            return false;
    } while (c >= 0);
    return true;
}

static bool is_known(const struct mt_outcome *outcome, const struct mt_text *text)
{
    for (size_t i = 0; i < outcome->n; i++) {
        const struct mt_text *known = &outcome->translations[i];
        if (says_the_same(known->bytes, known->length, text->bytes, text->length))
            return true;
    }
    return false;
}

static enum mt_status add_rank(struct mt_outcome *outcome, struct mt_passage *passage, size_t rank,
                               struct mt_error *err)
{
    struct mt_text rendering = {0};
    struct mt_sentence_pairs pairs = {0};
    enum mt_status status =
        mt_passage_render_pairs(passage, rank, outcome->pairs ? &pairs : NULL, &rendering, err);
    if (status || is_known(outcome, &rendering)) {
        mt_text_finish(&rendering);
        mt_sentence_pairs_finish(&pairs);
        return status;
    }
    outcome->scores[outcome->n] = mt_passage_score(passage, rank);
    if (outcome->pairs)
        outcome->pairs[outcome->n] = pairs;
    outcome->translations[outcome->n++] = rendering;
    return MT_OK;
}

enum mt_status mt_outcome_keep(struct mt_outcome *outcome, const char *bytes, size_t length,
                               struct mt_error *err)
{
    enum mt_status status = reserve(outcome, 1, err);
    if (status)
        return status;
    outcome->n = 1;
    mt_text_append(&outcome->translations[0], bytes, length);
    return mt_text_check(&outcome->translations[0], "a translation", err);
}

static enum mt_status take_alignment(struct mt_outcome *outcome, struct mt_passage *passage,
                                     const struct mt_alignment_trace *alignment,
                                     struct mt_error *err)
{
    struct mt_json_writer writer;
    outcome->alignment.length = 0;
    mt_json_writer_init(&writer, &outcome->alignment);
    enum mt_status status =
        mt_alignment_trace_write(alignment, mt_passage_next(passage, &(size_t){0}), &writer, err);
    return status ? status : mt_text_check(&outcome->alignment, "an alignment", err);
}

/* ---- sentences ---- */

/* Moves the offsets to the next range of a text. */
static void move_on(const char *text, struct mt_range range, struct mt_offsets *at)
{
    const char *gap = text + at->end, *own = text + range.begin;
    size_t n_gap = range.begin - at->end, n_own = range.end - range.begin;
    at->begin = range.begin;
    at->end = range.end;
    at->begin_char = at->end_char + mt_utf8_count(gap, n_gap);
    at->end_char = at->begin_char + mt_utf8_count(own, n_own);
    at->begin_utf16 = at->end_utf16 + mt_utf8_count_utf16(gap, n_gap);
    at->end_utf16 = at->begin_utf16 + mt_utf8_count_utf16(own, n_own);
}

static bool is_same_sentence(const struct mt_outcome *outcome, size_t i, size_t a, size_t b)
{
    struct mt_range x = outcome->pairs[a].items[i].target, y = outcome->pairs[b].items[i].target;
    return says_the_same(outcome->translations[a].bytes + x.begin, x.end - x.begin,
                         outcome->translations[b].bytes + y.begin, y.end - y.begin);
}

/* Writes sentence i of the other translations, as far as they differ. */
static void write_others(struct mt_json_writer *writer, const struct mt_outcome *outcome, size_t i)
{
    mt_json_member_array(writer, "alternatives");
    for (size_t k = 1; k < outcome->n; k++) {
        struct mt_range at = outcome->pairs[k].items[i].target;
        bool is_new = true;
        for (size_t known = 0; known < k && is_new; known++)
            is_new = !is_same_sentence(outcome, i, k, known);
        if (is_new)
            mt_json_string(writer, outcome->translations[k].bytes + at.begin, at.end - at.begin);
    }
    mt_json_end_array(writer);
}

static enum mt_status take_sentences(struct mt_outcome *outcome, const char *source,
                                     size_t n_alternatives, struct mt_error *err)
{
    const struct mt_text *best = &outcome->translations[0];
    bool is_sound = mt_utf8_valid_prefix(best->bytes, best->length) == best->length;
    struct mt_offsets source_at = {0}, target_at = {0};
    struct mt_json_writer writer;
    outcome->sentences.length = 0;
    mt_json_writer_init(&writer, &outcome->sentences);
    mt_json_begin_array(&writer);
    for (size_t i = 0; is_sound && i < outcome->pairs[0].n; i++) {
        move_on(source, outcome->pairs[0].items[i].source, &source_at);
        move_on(best->bytes, outcome->pairs[0].items[i].target, &target_at);
        mt_json_begin_object(&writer);
        mt_span_write(&writer, "source", source, &source_at);
        mt_span_write(&writer, "target", best->bytes, &target_at);
        if (n_alternatives > 0)
            write_others(&writer, outcome, i);
        mt_json_end_object(&writer);
    }
    mt_json_end_array(&writer);
    drop_pairs(outcome);
    return mt_text_check(&outcome->sentences, "sentences", err);
}

enum mt_status mt_outcome_take(struct mt_outcome *outcome, struct mt_passage *passage,
                               size_t n_alternatives, const struct mt_alignment_trace *alignment,
                               struct mt_error *err)
{
    size_t n_ranks = mt_passage_n_ranks(passage);
    enum mt_status status = alignment ? take_alignment(outcome, passage, alignment, err) : MT_OK;
    outcome->n_source_tokens += mt_passage_n_source_tokens(passage);
    outcome->n_target_tokens += mt_passage_n_target_tokens(passage);
    /* translates to nothing, as in all translation programs */
    if (!status && mt_passage_is_blank(passage))
        return mt_outcome_keep(outcome, "", 0, err);
    if (!status)
        status = reserve(outcome, mt_size_min(n_ranks, n_alternatives + 1), err);
    for (size_t rank = 0; rank < n_ranks && outcome->n <= n_alternatives && !status; rank++)
        status = add_rank(outcome, passage, rank, err);
    if (!status && outcome->pairs)
        status = take_sentences(outcome, mt_passage_text(passage), n_alternatives, err);
    return status;
}

void mt_outcome_finish(struct mt_outcome *outcome)
{
    drop_translations(outcome);
    mt_text_finish(&outcome->alignment);
    mt_text_finish(&outcome->sentences);
}

static void write_text(struct mt_json_writer *writer, const struct mt_text *text)
{
    mt_json_string(writer, text->bytes ? text->bytes : "", text->length);
}

void mt_outcome_write_best(struct mt_json_writer *writer, const struct mt_outcome *outcome)
{
    write_text(writer, &outcome->translations[0]);
}

void mt_outcome_write_alternatives(struct mt_json_writer *writer, const struct mt_outcome *outcome)
{
    mt_json_begin_array(writer);
    for (size_t i = 1; i < outcome->n; i++)
        write_text(writer, &outcome->translations[i]);
    mt_json_end_array(writer);
}

void mt_outcome_write_scores(struct mt_json_writer *writer, const struct mt_outcome *outcome)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < outcome->n; i++)
        mt_json_number(writer, (double)outcome->scores[i], 6);
    mt_json_end_array(writer);
}

static void write_list(struct mt_json_writer *writer, const struct mt_text *list)
{
    if (list->length > 0) {
        mt_json_raw(writer, list->bytes, list->length);
        return;
    }
    mt_json_begin_array(writer);
    mt_json_end_array(writer);
}

void mt_outcome_write_alignment(struct mt_json_writer *writer, const struct mt_outcome *outcome)
{
    write_list(writer, &outcome->alignment);
}

void mt_outcome_write_sentences(struct mt_json_writer *writer, const struct mt_outcome *outcome)
{
    write_list(writer, &outcome->sentences);
}
