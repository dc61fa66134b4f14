#include "model/results.h"

#include "model/model_state.h"
#include "model/sentence_state.h"

#include <assert.h>
#include <string.h>

/* The attention to the source is the only trace that is copied, because alignments need it. */
static struct mt_trace_block *cross(const struct mt_sentence *s)
{
    return s->trace ? &s->trace->blocks[__builtin_ctz(MT_TRACE_CROSS)] : NULL;
}

static size_t row_bytes(const struct mt_trace_block *block)
{
    return block->n_matrices * block->column_capacity * sizeof(float);
}

/* ---- the question ---- */

bool mt_sentence_can_be_copied(const struct mt_sentence *s)
{
    return s->publish == MT_PUBLISH_NOTHING && s->is_free && s->n_top == 0 && !s->search.log &&
           !s->switches && (!s->trace || s->trace->kinds == MT_TRACE_CROSS);
}

static void append(struct mt_text *out, const void *bytes, size_t length)
{
    mt_text_append(out, bytes, length);
}

void mt_sentence_write_question(const struct mt_sentence *s, struct mt_text *out)
{
    const struct mt_search_options *search = &s->search.options;
    const uint64_t numbers[] = {
        s->model->serial,
        s->n_source,
        s->n_beams,
        s->n_wanted,
        s->max_target,
        search->min_length,
        s->wants_scores,
        s->candidates.n > 0, /* a shortlist's candidates, which depend only on the source */
        (uint64_t)(uintptr_t)s->vocabulary,
        s->trace ? 1u + (cross(s)->matrices != NULL) : 0u,
        s->has_bos,
    };
    append(out, numbers, sizeof numbers);
    if (s->trace && cross(s)->matrices) {
        const struct mt_trace_shape *shape = &cross(s)->shape;
        append(out, cross(s)->matrices,
               shape->n_layers * shape->n_heads * sizeof *cross(s)->matrices);
    }
    append(out, &search->length_penalty, sizeof search->length_penalty);
    /* tokens of a review may follow these */
    append(out, s->given, (1u + s->has_bos) * sizeof *s->given);
    append(out, s->source, s->n_source * sizeof *s->source);
}

/* ---- the results ---- */

/* Precedes each hypothesis' tokens and, if it has them, their log-probabilities. */
struct head {
    uint32_t n_ids;
    uint32_t has_eos;
    float score;
};

void mt_sentence_write_results(const struct mt_sentence *s, struct mt_text *out)
{
    const uint32_t n = (uint32_t)s->n_hypotheses;
    append(out, &n, sizeof n);
    for (size_t i = 0; i < s->n_hypotheses; i++) {
        const struct mt_hypothesis_state *hypothesis = &s->hypotheses[i];
        const struct head head = {.n_ids = (uint32_t)hypothesis->n_ids,
                                  .has_eos = hypothesis->has_eos,
                                  .score = hypothesis->score};
        append(out, &head, sizeof head);
        append(out, hypothesis->ids, head.n_ids * sizeof *hypothesis->ids);
        if (s->wants_scores)
            append(out, hypothesis->logprobs, head.n_ids * sizeof *hypothesis->logprobs);
    }
    const struct mt_trace_block *block = cross(s);
    const uint32_t n_rows = block ? (uint32_t)block->shape.n_rows : 0;
    append(out, &n_rows, sizeof n_rows);
    if (block)
        append(out, block->numbers, n_rows * row_bytes(block));
}

static void take(const char **at, void *out, size_t length)
{
    memcpy(out, *at, length);
    *at += length;
}

void mt_sentence_read_results(struct mt_sentence *s, const char *bytes, size_t length)
{
    const char *at = bytes;
    uint32_t n;
    take(&at, &n, sizeof n);
    s->n_hypotheses = n;
    for (size_t i = 0; i < n; i++) {
        struct mt_hypothesis_state *hypothesis = &s->hypotheses[i];
        struct head head;
        take(&at, &head, sizeof head);
        hypothesis->n_ids = head.n_ids;
        hypothesis->has_eos = head.has_eos;
        hypothesis->score = head.score;
        take(&at, hypothesis->ids, head.n_ids * sizeof *hypothesis->ids);
        if (s->wants_scores)
            take(&at, hypothesis->logprobs, head.n_ids * sizeof *hypothesis->logprobs);
    }
    take(&at, &n, sizeof n);
    if (s->trace) {
        mt_trace_set_target_length(s->trace, n);
        take(&at, cross(s)->numbers, n * row_bytes(cross(s)));
    }
    assert(at == bytes + length);
    s->phase = MT_ENDED;
}
