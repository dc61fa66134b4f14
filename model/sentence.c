#include "model/sentence_state.h"

#include "base/size.h"
#include "model/model_state.h"
#include "model/switches.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH_PENALTY 10.0f

static enum mt_status check_ids(const int32_t *ids, size_t n, size_t n_vocab, const char *what,
                                struct mt_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= n_vocab)
            return mt_fail(err, MT_INVALID, "%s: token %zu: expected an id below %zu, found %d",
                           what, i, n_vocab, ids[i]);
    return MT_OK;
}

static enum mt_status check_options(const struct mt_hparams *h, const struct mt_sentence_options *o,
                                    struct mt_error *err)
{
    if (o->beam_size > MT_MAX_BEAMS)
        return mt_fail(err, MT_INVALID, "beam_size: expected 1 to %d, found %zu", MT_MAX_BEAMS,
                       o->beam_size);
    size_t n_beams = o->beam_size ? o->beam_size : h->n_beams;
    if (o->num_hypotheses > n_beams)
        return mt_fail(err, MT_INVALID,
                       "num_hypotheses: expected at most beam_size (%zu), found %zu", n_beams,
                       o->num_hypotheses);
    if (o->has_length_penalty &&
        !(o->length_penalty >= 0.0f && o->length_penalty <= MAX_LENGTH_PENALTY))
        return mt_fail(err, MT_INVALID, "length_penalty: expected 0 to %g, found %g",
                       (double)MAX_LENGTH_PENALTY, (double)o->length_penalty);
    if (o->max_decoding_length > h->max_positions)
        return mt_fail(err, MT_INVALID, "max_decoding_length: expected at most %zu, found %zu",
                       h->max_positions, o->max_decoding_length);
    if (o->n_top > MT_MAX_TOP)
        return mt_fail(err, MT_INVALID, "top: expected at most %d, found %zu", MT_MAX_TOP,
                       o->n_top);
    if (o->n_target_prefix && o->n_forced_target)
        return mt_fail(err, MT_INVALID, "target_prefix and a given target exclude each other");
    enum mt_status status =
        check_ids(o->target_prefix, o->n_target_prefix, h->n_target_vocab, "target_prefix", err);
    if (!status && o->has_first_target)
        status = check_ids(&o->first_target, 1, h->n_target_vocab, "first_target", err);
    return status
               ? status
               : check_ids(o->forced_target, o->n_forced_target, h->n_target_vocab, "target", err);
}

/* Returns the first token of every hypothesis, or MT_NO_TOKEN. */
static int32_t first_of(const struct mt_hparams *h, const struct mt_sentence_options *o)
{
    return o->has_first_target ? o->first_target : h->forced_bos_id;
}

/* Counts the tokens at the beginning of a hypothesis that the model does not choose. */
static size_t n_begun(const struct mt_hparams *h, const struct mt_sentence_options *o)
{
    return o->n_target_prefix + (first_of(h, o) != MT_NO_TOKEN);
}

/* Returns the most generated tokens, by the options or by the model; a given target has its own
 * length. */
static size_t max_target_of(const struct mt_hparams *h, size_t n_source,
                            const struct mt_sentence_options *o)
{
    if (o->n_forced_target)
        return o->n_forced_target;
    bool is_given = o->max_decoding_length > 0, has_factor = o->max_length_factor > 0.0f;
    size_t limit =
        is_given ? o->max_decoding_length : mt_size_min(h->max_length - 1, h->max_positions);
    float by_model = is_given ? 0.0f : h->max_length_factor;
    float factor = has_factor ? o->max_length_factor : by_model;
    if (factor <= 0.0f)
        return limit;
    float by_source = ceilf(factor * (float)n_source);
    size_t least = mt_size_max(has_factor ? MT_LENGTH_FLOOR : 1, n_begun(h, o) + 1);
    return by_source < (float)limit ? mt_size_min(limit, mt_size_max((size_t)by_source, least))
                                    : limit;
}

/* There must be room for a token after those at the beginning. */
static enum mt_status check_begin(const struct mt_hparams *h, size_t max_target,
                                  const struct mt_sentence_options *o, struct mt_error *err)
{
    size_t n = n_begun(h, o), n_forced = n - o->n_target_prefix;
    if (o->n_forced_target || n < max_target)
        return MT_OK;
    if (o->n_target_prefix && n_forced)
        return mt_fail(err, MT_LIMIT,
                       "target_prefix: expected fewer tokens than max_decoding_length (%zu) less "
                       "the model's forced_bos_token_id, found %zu",
                       max_target, o->n_target_prefix);
    if (o->n_target_prefix)
        return mt_fail(
            err, MT_LIMIT,
            "target_prefix: expected fewer than max_decoding_length (%zu) tokens, found %zu",
            max_target, o->n_target_prefix);
    if (o->max_decoding_length)
        return mt_fail(err, MT_INVALID,
                       "max_decoding_length: expected at least %zu, because every translation of "
                       "this model begins with its forced_bos_token_id (%d), found %zu",
                       n + 1, first_of(h, o), max_target);
    /* The limit may come from any of the model's own settings; max_length includes the start
     * token. */
    bool is_short = max_target < h->max_positions;
    return mt_fail(err, MT_LIMIT,
                   "the model's %s: expected at least %zu, because every translation begins with "
                   "its forced_bos_token_id (%d), found %zu",
                   is_short ? "max_length" : "max_position_embeddings", n + 1 + is_short,
                   first_of(h, o), max_target + is_short);
}

static enum mt_status check_lengths(const struct mt_hparams *h, size_t n_source,
                                    const struct mt_sentence_options *o, struct mt_error *err)
{
    size_t max_target = max_target_of(h, n_source, o);
    if (n_source == 0 || n_source > h->max_positions)
        return mt_fail(err, MT_LIMIT, "source: expected 1 to %zu tokens, found %zu",
                       h->max_positions, n_source);
    if (max_target > h->max_positions)
        return mt_fail(err, MT_LIMIT, "target: expected at most %zu tokens, found %zu",
                       h->max_positions, max_target);
    enum mt_status status = check_begin(h, max_target, o, err);
    if (status)
        return status;
    if (o->min_decoding_length > max_target)
        return mt_fail(err, MT_INVALID,
                       "min_decoding_length: expected at most max_decoding_length (%zu), found %zu",
                       max_target, o->min_decoding_length);
    return MT_OK;
}

/* Each row of this table is a block to allocate. */
struct block {
    void **out;
    size_t count, element_bytes;
};

static enum mt_status take_blocks(struct mt_arena *arena, const struct block *blocks, size_t n,
                                  struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = mt_arena_take(arena, blocks[i].count, blocks[i].element_bytes, "sentence",
                               blocks[i].out, err);
    return status;
}

static enum mt_status take_memory(struct mt_sentence *s, struct mt_error *err)
{
    void *source, *given, *hypotheses, *top, *tables[2];
    const struct block blocks[] = {
        {&source, s->n_source, sizeof(int32_t)},
        {&given, s->max_target + 1, sizeof(int32_t)},
        {&hypotheses, s->n_wanted, sizeof(struct mt_hypothesis_state)},
        {&top, s->max_target * s->n_top, sizeof(struct mt_top_token)},
        {&tables[0], s->n_beams * s->max_target, sizeof(uint16_t)},
        {&tables[1], s->n_beams * s->max_target, sizeof(uint16_t)},
    };
    enum mt_status status = take_blocks(s->arena, blocks, sizeof blocks / sizeof *blocks, err);
    if (status)
        return status;
    s->source = source;
    s->given = given;
    s->hypotheses = hypotheses;
    s->top = top;
    s->tables[0] = tables[0];
    s->tables[1] = tables[1];
    for (size_t i = 0; i < s->n_wanted && !status; i++) {
        void *ids, *logprobs;
        const struct block lists[] = {{&ids, s->max_target, sizeof(int32_t)},
                                      {&logprobs, s->max_target, sizeof(float)}};
        status = take_blocks(s->arena, lists, 2, err);
        if (!status)
            s->hypotheses[i] = (struct mt_hypothesis_state){.ids = ids, .logprobs = logprobs};
    }
    return status;
}

/* Allocates the candidates of the search, or the runners-up that were asked for, whichever are
 * more. */
static enum mt_status take_outputs(struct mt_sentence *s, struct mt_error *err)
{
    size_t n_top = mt_size_max(mt_search_n_top(&s->search), s->n_top);
    for (size_t i = 0; i < s->n_beams; i++) {
        void *top;
        enum mt_status status =
            mt_arena_take(s->arena, n_top, sizeof(struct mt_scored_token), "sentence", &top, err);
        if (status)
            return status;
        s->outputs[i].top = top;
    }
    return MT_OK;
}

static enum mt_status init_search(struct mt_sentence *s, const struct mt_sentence_options *o,
                                  struct mt_error *err)
{
    const struct mt_hparams *h = &s->model->hparams;
    const struct mt_search_options options = {
        .n_beams = s->n_beams,
        .length_penalty = o->has_length_penalty ? o->length_penalty : h->length_penalty,
        .min_length = o->min_decoding_length,
        .max_length = s->max_target,
        .eos_id = h->eos_id,
        .force_eos = h->forced_eos_id != MT_NO_TOKEN,
        .renormalize = h->renormalize_logits,
        .early_stopping = h->early_stopping,
        .rules = h->search_rules,
        .word_penalty = h->word_penalty,
        .n_wanted = s->n_wanted,
    };
    enum mt_status status = mt_search_init(&s->search, &options, s->arena, err);
    return status || !o->trace_search ? status : mt_search_keep_log(&s->search, s->arena, err);
}

static enum mt_status take_published(struct mt_sentence *s, const struct mt_sentence_options *o,
                                     struct mt_error *err)
{
    void *published;
    s->publish = o->publish;
    if (o->publish != MT_PUBLISH_TOKENS)
        return MT_OK;
    enum mt_status status =
        mt_arena_take(s->arena, s->max_target, sizeof *s->published, "sentence", &published, err);
    if (!status)
        s->published = published;
    return status;
}

static enum mt_status take_trace(struct mt_sentence *s, const struct mt_sentence_options *o,
                                 struct mt_error *err)
{
    void *trace;
    if (!o->trace)
        return MT_OK;
    enum mt_status status = mt_arena_take(s->arena, 1, sizeof *s->trace, "trace", &trace, err);
    if (status)
        return status;
    s->trace = trace;
    return mt_trace_init(s->trace, &s->model->hparams, o->trace, &o->kept_heads, s->n_source,
                         s->max_target, s->arena, err);
}

static void copy_given(struct mt_sentence *s, const struct mt_sentence_options *o)
{
    const int32_t *target = s->is_forced ? o->forced_target : o->target_prefix;
    size_t n = s->is_forced ? o->n_forced_target : o->n_target_prefix;
    s->given[0] = s->model->hparams.start_id;
    int32_t bos = first_of(&s->model->hparams, o);
    size_t n_bos = bos != MT_NO_TOKEN && !s->is_forced;
    s->has_bos = bos != MT_NO_TOKEN;
    s->is_free = n == 0;
    if (n_bos)
        s->given[1] = bos;
    if (n)
        memcpy(s->given + 1 + n_bos, target, n * sizeof *target);
    n += n_bos;
    s->n_given = s->is_forced ? n : n + 1; /* the last token of a given target is never consumed */
}

/* Chooses the tokens that may be next. With a forced target every token is allowed, since it may
 * have tokens that the search would never choose. */
static enum mt_status choose_candidates(struct mt_sentence *s, const struct mt_sentence_options *o,
                                        struct mt_error *err)
{
    const struct mt_model *model = s->model;
    const int32_t *given = s->given + 1;
    size_t n_given = s->n_given - 1;
    if (s->is_forced)
        return MT_OK;
    if (model->has_shortlist && !o->skips_shortlist)
        return mt_candidates_make(model, s->source, s->n_source, given, n_given, s->arena,
                                  &s->candidates, err);
    if (!o->skips_target_vocabulary)
        s->vocabulary = mt_target_vocabulary_of(model, o->target_language);
    if (!s->vocabulary || mt_target_vocabulary_has(s->vocabulary, given, n_given))
        return MT_OK;
    const struct mt_candidates *allowed = &s->vocabulary->allowed;
    s->vocabulary = NULL;
    return mt_candidates_join(model, allowed, given, n_given, s->arena, &s->candidates, err);
}

enum mt_status mt_sentence_create(const struct mt_model *model, const int32_t *source_ids,
                                  size_t n_source, const struct mt_sentence_options *options,
                                  struct mt_sentence **out, struct mt_error *err)
{
    static const struct mt_sentence_options defaults;
    const struct mt_sentence_options *o = options ? options : &defaults;
    const struct mt_hparams *h = &model->hparams;
    enum mt_status status = check_options(h, o, err);
    if (!status)
        status = check_lengths(h, n_source, o, err);
    if (!status)
        status = check_ids(source_ids, n_source, h->n_source_vocab, "source", err);
    if (status)
        return status;
    struct mt_sentence *s = calloc(1, sizeof *s);
    if (!s)
        return mt_fail_memory(err, sizeof *s, "sentence");
    s->model = model;
    s->n_source = n_source;
    s->is_forced = o->n_forced_target > 0;
    s->n_beams = s->is_forced ? 1 : o->beam_size ? o->beam_size : h->n_beams;
    s->n_wanted = s->is_forced || !o->num_hypotheses ? 1 : o->num_hypotheses;
    s->max_target = max_target_of(h, n_source, o);
    s->wants_scores = s->n_beams > 1 || o->return_logprobs || !o->skip_scores;
    s->n_top = o->n_top;
    status = mt_arena_create(0, &s->arena, err);
    if (!status)
        status = take_memory(s, err);
    if (!status)
        status = init_search(s, o, err);
    if (!status)
        status = take_outputs(s, err);
    if (!status)
        status = take_published(s, o, err);
    if (!status)
        status = take_trace(s, o, err);
    if (!status)
        status =
            mt_switches_make(h, o->switched_off, o->n_switched_off, s->arena, &s->switches, err);
    if (status) {
        mt_sentence_destroy(s);
        return status;
    }
    memcpy(s->source, source_ids, n_source * sizeof *source_ids);
    copy_given(s, o);
    status = choose_candidates(s, o, err);
    if (status) {
        mt_sentence_destroy(s);
        return status;
    }
    *out = s;
    return MT_OK;
}

void mt_sentence_destroy(struct mt_sentence *sentence)
{
    if (!sentence)
        return;
    mt_arena_destroy(sentence->arena);
    free(sentence);
}

uint16_t *mt_sentence_table(const struct mt_sentence *sentence, size_t beam)
{
    return sentence->tables[0] + beam * sentence->max_target;
}

/* The score of greedy search is the mean log-probability of its tokens. */
static float mean(const float *numbers, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (double)numbers[i];
    return (float)(sum / (double)n);
}

void mt_sentence_collect(struct mt_sentence *s)
{
    const struct mt_search *search = &s->search;
    s->n_hypotheses = mt_size_min(s->n_wanted, search->n_finished);
    for (size_t i = 0; i < s->n_hypotheses; i++) {
        const struct mt_finished *finished = &search->pool[i];
        struct mt_hypothesis_state *hypothesis = &s->hypotheses[i];
        mt_search_path(search, finished, hypothesis->ids, hypothesis->logprobs);
        hypothesis->n_ids = finished->n_tokens;
        hypothesis->score =
            s->n_beams == 1 ? mean(hypothesis->logprobs, finished->n_tokens) : finished->score;
        if (!s->wants_scores)
            hypothesis->score = 0.0f; /* raw logits say nothing without their sum */
        hypothesis->has_eos = finished->has_eos;
    }
    if (s->n_hypotheses)
        return;
    /* The search is left without a candidate only if weights are not numbers: then the translation
     * is empty, and its score shows the fault. */
    s->n_hypotheses = 1;
    s->hypotheses[0].ids[0] = s->model->hparams.eos_id;
    s->hypotheses[0].logprobs[0] = -INFINITY;
    s->hypotheses[0].n_ids = 1;
    s->hypotheses[0].score = -INFINITY;
    s->hypotheses[0].has_eos = true;
}

void mt_sentence_publish_tokens(struct mt_sentence *s)
{
    if (s->publish != MT_PUBLISH_TOKENS)
        return;
    size_t n_known = atomic_load_explicit(&s->progress, memory_order_relaxed) >> 1;
    size_t n = mt_search_common_prefix(&s->search, s->published, n_known);
    atomic_store_explicit(&s->progress, n << 1, memory_order_release);
}

void mt_sentence_publish_end(struct mt_sentence *s)
{
    if (s->publish == MT_PUBLISH_NOTHING)
        return;
    size_t progress = atomic_load_explicit(&s->progress, memory_order_relaxed);
    atomic_store_explicit(&s->progress, progress | 1, memory_order_release);
}

struct mt_progress mt_sentence_progress(const struct mt_sentence *s)
{
    size_t progress = atomic_load_explicit(&s->progress, memory_order_acquire);
    return (struct mt_progress){
        .ids = s->published, .n_ids = progress >> 1, .has_ended = (progress & 1) != 0};
}

void mt_sentence_set_user(struct mt_sentence *sentence, void *user)
{
    sentence->user = user;
}

void *mt_sentence_user(const struct mt_sentence *sentence)
{
    return sentence->user;
}

void mt_sentence_set_short(struct mt_sentence *sentence)
{
    sentence->is_short = true;
}

size_t mt_sentence_n_source(const struct mt_sentence *sentence)
{
    return sentence->n_source;
}

size_t mt_sentence_n_rows(const struct mt_sentence *sentence)
{
    return sentence->n_beams;
}

size_t mt_sentence_bytes(const struct mt_sentence *sentence)
{
    return sizeof *sentence + mt_arena_bytes(sentence->arena);
}

size_t mt_sentence_max_target(const struct mt_sentence *sentence)
{
    return sentence->max_target;
}

size_t mt_sentence_n_hypotheses(const struct mt_sentence *sentence)
{
    return sentence->n_hypotheses;
}

struct mt_hypothesis mt_sentence_hypothesis(const struct mt_sentence *sentence, size_t index)
{
    assert(index < sentence->n_hypotheses);
    const struct mt_hypothesis_state *h = &sentence->hypotheses[index];
    return (struct mt_hypothesis){.ids = h->ids,
                                  .n_ids = h->n_ids,
                                  .score = h->score,
                                  .token_logprobs = sentence->wants_scores ? h->logprobs : NULL,
                                  .has_eos = h->has_eos};
}

const struct mt_search_candidate *mt_sentence_search(const struct mt_sentence *sentence,
                                                     size_t step, size_t *n)
{
    const struct mt_search *search = &sentence->search;
    bool has_log = search->log && step < search->options.max_length;
    *n = has_log ? search->log_counts[step] : 0;
    return has_log ? search->log + step * search->options.n_beams * 2 : NULL;
}

const struct mt_top_token *mt_sentence_top(const struct mt_sentence *sentence, size_t step)
{
    assert(sentence->n_hypotheses && step < sentence->hypotheses[0].n_ids);
    return sentence->top + step * sentence->n_top;
}

const struct mt_trace *mt_sentence_trace(const struct mt_sentence *sentence)
{
    return sentence->trace;
}
