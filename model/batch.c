#include "model/batch.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/size.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/model_state.h"
#include "model/partition.h"
#include "model/scratch.h"
#include "model/sentence_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROWS 64
/* Sentences in flight have to wait for an encoder pass; this limits its duration. */
#define DEFAULT_ENCODE_TOKENS 512
/* Assumed number of candidates of a sentence if the model has a shortlist. */
#define USUAL_CANDIDATES 1024

struct sentence_list {
    struct mt_sentence *first, *last;
};

struct mt_batch {
    const struct mt_model *model;
    struct mt_batch_options options;
    struct mt_arena *arena;
    struct mt_scratch *scratch; /* for the workspace */
    struct mt_workspace workspace;
    struct mt_kvcache self, cross;
    /* columns of the output layer: [max_rows] of columns_bytes, by cross_slot; NULL: the model has
     * no shortlist */
    struct mt_scratch *columns;
    size_t columns_bytes, n_columns_written;

    struct sentence_list waiting, running, ended;
    size_t n_sentences;
    size_t n_reserved_rows;  /* rows that the sentences in flight may need */
    size_t n_waiting_tokens; /* of the next encoder pass */
    size_t n_short_tokens;   /* of these, those of short sentences */

    /* The current pass. */
    struct mt_encoder_input *inputs; /* [max_rows] */
    size_t n_inputs;
    struct mt_decoder_row *rows;       /* [max_rows] */
    struct mt_row_output *row_outputs; /* [max_rows]: outputs of rows that read given tokens */
    struct mt_scored_token *row_tops;  /* [max_rows, MT_MAX_TOP] */
    size_t n_rows;
    bool is_for_short; /* it includes only short sentences */

    /* How the pass is divided: each sentence's rows, and where the members' parts begin. */
    size_t *sentence_rows; /* [max_rows] */
    bool is_apart;
    size_t rows_apart;
    struct mt_part_begin begins[MT_TEAM_MAX_THREADS + 1];

    /* Recent durations, for the encoder's budget. */
    double token_seconds, step_seconds;
    struct mt_batch_stats stats;
};

static struct mt_batch_options with_defaults(const struct mt_model *model,
                                             const struct mt_batch_options *options)
{
    struct mt_batch_options o = options ? *options : (struct mt_batch_options){0};
    size_t max_positions = model->hparams.max_positions;
    o.max_rows = o.max_rows ? o.max_rows : DEFAULT_ROWS;
    o.max_source_tokens =
        mt_size_min(o.max_source_tokens ? o.max_source_tokens : max_positions, max_positions);
    o.max_target_tokens =
        mt_size_min(o.max_target_tokens ? o.max_target_tokens : max_positions, max_positions);
    o.encode_tokens =
        mt_size_max(o.encode_tokens ? o.encode_tokens : DEFAULT_ENCODE_TOKENS, o.max_source_tokens);
    return o;
}

/* Uses *options->scratch, or replaces it by a larger one. */
static enum mt_status take_scratch(struct mt_batch *b, size_t n_bytes, struct mt_error *err)
{
    struct mt_scratch **shared = b->options.scratch, *larger;
    if (shared && *shared && mt_scratch_n_bytes(*shared) >= n_bytes) {
        b->scratch = mt_scratch_hold(*shared);
        return MT_OK;
    }
    enum mt_status status = mt_scratch_create(n_bytes, &larger, err);
    if (status)
        return status;
    b->scratch = larger;
    if (shared) {
        mt_scratch_let_go(*shared);
        *shared = mt_scratch_hold(larger);
    }
    return MT_OK;
}

static enum mt_status make_workspace(struct mt_batch *b, struct mt_error *err)
{
    const struct mt_batch_options *o = &b->options;
    const struct mt_workspace_shape shape = {
        .hparams = &b->model->hparams,
        .is_int8 = b->model->precision == MT_INT8,
        .has_candidates = b->model->has_shortlist || b->model->n_target_vocabularies > 0,
        .max_rows = o->max_rows,
        .encode_tokens = o->encode_tokens,
        .max_attended = mt_size_max(o->max_source_tokens, o->max_target_tokens),
        .n_members = mt_team_size(o->team),
    };
    size_t n_bytes;
    enum mt_status status = mt_workspace_lay_out(&b->workspace, &shape, NULL, &n_bytes, err);
    if (!status)
        status = take_scratch(b, n_bytes, err);
    if (!status)
        status = mt_workspace_lay_out(&b->workspace, &shape, mt_scratch_bytes(b->scratch), &n_bytes,
                                      err);
    return status;
}

static enum mt_status take_arrays(struct mt_batch *b, struct mt_error *err)
{
    const struct mt_batch_options *o = &b->options;
    enum mt_status status = make_workspace(b, err);
    void *inputs, *rows, *outputs, *tops, *sentence_rows;
    if (!status)
        status = mt_arena_take(b->arena, o->max_rows, sizeof *b->inputs, "batch", &inputs, err);
    if (!status)
        status = mt_arena_take(b->arena, o->max_rows, sizeof *b->rows, "batch", &rows, err);
    if (!status)
        status =
            mt_arena_take(b->arena, o->max_rows, sizeof *b->row_outputs, "batch", &outputs, err);
    if (!status)
        status = mt_arena_take(b->arena, o->max_rows * MT_MAX_TOP, sizeof *b->row_tops, "batch",
                               &tops, err);
    if (!status)
        status = mt_arena_take(b->arena, o->max_rows, sizeof *b->sentence_rows, "batch",
                               &sentence_rows, err);
    if (status)
        return status;
    b->inputs = inputs;
    b->sentence_rows = sentence_rows;
    b->rows = rows;
    b->row_outputs = outputs;
    b->row_tops = tops;
    for (size_t i = 0; i < o->max_rows; i++)
        b->row_outputs[i].top = b->row_tops + i * MT_MAX_TOP;
    return MT_OK;
}

enum mt_status mt_batch_create(const struct mt_model *model, const struct mt_batch_options *options,
                               struct mt_batch **out, struct mt_error *err)
{
    struct mt_batch_options o = with_defaults(model, options);
    if (o.max_rows > MT_KVCACHE_MAX_SLOTS)
        return mt_fail(err, MT_LIMIT, "max_batch_rows: expected at most %d, found %zu",
                       MT_KVCACHE_MAX_SLOTS, o.max_rows);
    const struct mt_hparams *h = &model->hparams;
    struct mt_batch *b = calloc(1, sizeof *b);
    if (!b)
        return mt_fail_memory(err, sizeof *b, "batch");
    b->model = model;
    b->options = o;
    b->rows_apart =
        mt_partition_rows_apart(h, model->has_shortlist ? USUAL_CANDIDATES : h->n_target_vocab);
    size_t element_bytes = model->precision == MT_INT8 ? sizeof(uint16_t) : sizeof(float);
    size_t n_positions = mt_decoder_cache_positions(h, o.max_target_tokens);
    enum mt_status status = mt_arena_create(0, &b->arena, err);
    if (!status)
        status = take_arrays(b, err);
    if (!status)
        status = mt_kvcache_init(&b->self, o.max_rows, h->n_decoder_layers, n_positions, h->d_model,
                                 mt_decoder_cache_element_bytes(h, element_bytes),
                                 mt_size_min(o.max_rows, MT_MAX_BEAMS), err);
    if (!status)
        status = mt_kvcache_init(&b->cross, o.max_rows, h->n_decoder_layers, o.max_source_tokens,
                                 h->d_model, element_bytes, 1, err);
    if (!status && model->has_shortlist) {
        b->columns_bytes = mt_candidates_columns_bytes(MT_MAX_CACHED_CANDIDATES, h->d_model,
                                                       model->precision == MT_INT8);
        status = mt_scratch_create(o.max_rows * b->columns_bytes, &b->columns, err);
    }
    if (status) {
        mt_batch_destroy(b);
        return status;
    }
    *out = b;
    return MT_OK;
}

void mt_batch_destroy(struct mt_batch *batch)
{
    if (!batch)
        return;
    mt_kvcache_finish(&batch->self);
    mt_kvcache_finish(&batch->cross);
    mt_scratch_let_go(batch->scratch);
    mt_scratch_let_go(batch->columns);
    mt_arena_destroy(batch->arena);
    free(batch);
}

enum mt_status mt_batch_check(const struct mt_batch *batch, const struct mt_sentence *s,
                              struct mt_error *err)
{
    const struct mt_batch_options *o = &batch->options;
    if (s->n_source > o->max_source_tokens)
        return mt_fail(err, MT_LIMIT, "source: expected at most %zu tokens, found %zu",
                       o->max_source_tokens, s->n_source);
    if (s->max_target > o->max_target_tokens)
        return mt_fail(err, MT_LIMIT, "target: expected at most %zu tokens, found %zu",
                       o->max_target_tokens, s->max_target);
    if (s->n_beams > o->max_rows)
        return mt_fail(err, MT_LIMIT, "beam_size: expected at most max_batch_rows (%zu), found %zu",
                       o->max_rows, s->n_beams);
    return MT_OK;
}

/*
 * Returns how many source tokens the next encoder pass may have. While sentences are running, it
 * may take about as long as a step, so that no running sentence is delayed by more than that; one
 * newcomer is always encoded. The budget changes only the order, never the results.
 */
static size_t encode_budget(const struct mt_batch *b)
{
    if (!b->running.first || b->token_seconds <= 0.0)
        return b->options.encode_tokens;
    double tokens = b->step_seconds / b->token_seconds;
    return tokens < (double)b->options.encode_tokens ? (size_t)tokens : b->options.encode_tokens;
}

/* While there are short sentences, those of long jobs are not encoded before them. */
static bool may_be_encoded(const struct mt_batch *b, const struct mt_sentence *s)
{
    size_t n_waiting = s->is_short ? b->n_short_tokens : b->n_waiting_tokens;
    return b->n_waiting_tokens == 0 ||
           ((n_waiting == 0 || n_waiting + s->n_source <= encode_budget(b)) &&
            b->n_waiting_tokens + s->n_source <= b->options.encode_tokens);
}

bool mt_batch_admit(struct mt_batch *b, struct mt_sentence *s)
{
    assert(s->model == b->model && s->phase == MT_WAITING && !mt_batch_check(b, s, NULL));
    if (b->n_reserved_rows + s->n_beams > b->options.max_rows || !may_be_encoded(b, s))
        return false;
    /* An empty batch always has slots for a sentence: they were opened at creation. */
    if (!mt_kvcache_open(&b->cross, 1) || !mt_kvcache_open(&b->self, s->n_beams))
        return false;
    s->cross_slot = mt_kvcache_take_slot(&b->cross);
    mt_kvcache_count(&b->cross, s->cross_slot, s->n_source);
    for (size_t i = 0; i < s->n_beams; i++)
        s->self_slots[i] = mt_kvcache_take_slot(&b->self);
    for (size_t i = 0; i < s->max_target; i++)
        mt_sentence_table(s, 0)[i] = s->self_slots[0];
    b->n_reserved_rows += s->n_beams;
    b->n_waiting_tokens += s->n_source;
    b->n_short_tokens += s->is_short ? s->n_source : 0;
    b->n_sentences++;
    MT_LIST_APPEND(&b->waiting, s);
    return true;
}

static void release(struct mt_batch *b, struct mt_sentence *s)
{
    mt_kvcache_release_slot(&b->cross, s->cross_slot);
    for (size_t i = 0; i < s->n_beams; i++)
        mt_kvcache_release_slot(&b->self, s->self_slots[i]);
    b->n_reserved_rows -= s->n_beams;
}

static void end_sentence(struct mt_batch *b, struct mt_sentence *s)
{
    release(b, s);
    s->phase = MT_ENDED;
    MT_LIST_REMOVE(&b->running, s);
    MT_LIST_APPEND(&b->ended, s);
    mt_sentence_publish_end(s);
}

static void count_out_of_waiting(struct mt_batch *b, const struct mt_sentence *s)
{
    b->n_waiting_tokens -= s->n_source;
    b->n_short_tokens -= s->is_short ? s->n_source : 0;
}

void mt_batch_cancel(struct mt_batch *b, struct mt_sentence *s)
{
    if (s->phase == MT_WAITING) {
        count_out_of_waiting(b, s);
        MT_LIST_REMOVE(&b->waiting, s);
        release(b, s);
    } else if (s->phase == MT_ENDED) {
        MT_LIST_REMOVE(&b->ended, s);
    } else {
        MT_LIST_REMOVE(&b->running, s);
        release(b, s);
    }
    s->phase = MT_ENDED;
    b->n_sentences--;
}

/* --- building a pass --- */

/* Gathers the columns of the sentence's candidates once for all its steps. */
static void keep_columns(struct mt_batch *b, struct mt_sentence *s)
{
    s->columns = (struct mt_linear){0};
    if (!b->columns || !s->candidates.n || s->candidates.n > MT_MAX_CACHED_CANDIDATES)
        return;
    unsigned char *memory = mt_scratch_bytes(b->columns);
    s->columns = mt_candidates_columns(b->model, s->candidates.ids, s->candidates.n,
                                       memory + s->cross_slot * b->columns_bytes);
    b->n_columns_written = mt_size_max(b->n_columns_written, (size_t)s->cross_slot + 1);
}

static bool takes(const struct mt_batch *b, const struct mt_sentence *s)
{
    return s->is_short || !b->is_for_short;
}

/* Returns their number of tokens. */
static size_t collect_inputs(struct mt_batch *b)
{
    size_t n_before = b->n_waiting_tokens;
    b->n_inputs = 0;
    for (struct mt_sentence *s = b->waiting.first, *next; s; s = next) {
        next = s->next;
        if (!takes(b, s))
            continue;
        b->sentence_rows[b->n_inputs] = s->n_source;
        b->inputs[b->n_inputs++] = (struct mt_encoder_input){.ids = s->source,
                                                             .n = s->n_source,
                                                             .cross_slot = s->cross_slot,
                                                             .trace = s->trace,
                                                             .switches = s->switches};
        count_out_of_waiting(b, s);
        MT_LIST_REMOVE(&b->waiting, s);
        MT_LIST_APPEND(&b->running, s);
        s->phase = MT_READING;
        keep_columns(b, s);
    }
    size_t n_tokens = n_before - b->n_waiting_tokens;
    b->stats.n_source_tokens += n_tokens;
    b->stats.n_encoder_passes += b->n_inputs > 0;
    b->is_apart = mt_partition_by_sentence(
        b->sentence_rows, b->n_inputs, mt_team_width(b->options.team), b->rows_apart, b->begins);
    return n_tokens;
}

static struct mt_decoder_row row_of(const struct mt_sentence *s, size_t beam, int32_t token,
                                    size_t position)
{
    const struct mt_target_vocabulary *vocabulary = s->vocabulary;
    return (struct mt_decoder_row){.token = token,
                                   .position = position,
                                   .slot = mt_sentence_table(s, beam)[position],
                                   .slots = mt_sentence_table(s, beam),
                                   .cross_slot = s->cross_slot,
                                   .n_source = s->n_source,
                                   .switches = s->switches,
                                   .columns = vocabulary         ? &vocabulary->columns
                                              : s->columns.n_out ? &s->columns
                                                                 : NULL,
                                   .candidates = vocabulary        ? &vocabulary->allowed
                                                 : s->candidates.n ? &s->candidates
                                                                   : NULL};
}

/* Adds positions that read given tokens, as many as there are free rows in this step. What follows
 * such a position is known, so only its probability is wanted, except after the last position of a
 * prefix, where the search begins. */
static void add_reading_rows(struct mt_batch *b, struct mt_sentence *s, size_t *n_spare)
{
    bool is_search = !s->is_forced && s->phase == MT_READING;
    size_t n = mt_size_min(s->n_given - s->n_read, s->n_beams + *n_spare);
    if (n > s->n_beams)
        *n_spare -= n - s->n_beams;
    for (size_t i = 0; i < n; i++) {
        size_t position = s->n_read + i;
        bool begins_search = is_search && position + 1 == s->n_given;
        struct mt_decoder_row *row = &b->rows[b->n_rows];
        *row = row_of(s, 0, s->given[position], position);
        row->trace = is_search ? NULL : s->trace;
        row->output = begins_search ? &s->outputs[0] : &b->row_outputs[b->n_rows];
        row->output->n_top = begins_search ? mt_search_n_top(&s->search) : is_search ? 0 : s->n_top;
        row->output->wants_sum = true;
        row->output->target_id = begins_search ? MT_NO_TOKEN : s->given[position + 1];
        b->n_rows++;
    }
}

static void add_searching_rows(struct mt_batch *b, struct mt_sentence *s)
{
    size_t position = s->search.n_generated; /* the start token is at position 0 */
    for (size_t beam = 0; beam < s->search.n_live; beam++) {
        struct mt_decoder_row *row = &b->rows[b->n_rows++];
        mt_sentence_table(s, beam)[position] = s->self_slots[beam];
        *row = row_of(s, beam, mt_search_last_token(&s->search, beam), position);
        row->output = &s->outputs[beam];
        row->output->n_top = mt_search_n_top(&s->search);
        row->output->wants_sum = s->wants_scores;
        row->output->target_id = MT_NO_TOKEN;
    }
}

static void collect_rows(struct mt_batch *b)
{
    size_t n_spare = b->options.max_rows - b->n_reserved_rows, n_sentences = 0;
    b->n_rows = 0;
    for (struct mt_sentence *s = b->running.first; s; s = s->next) {
        size_t n_before = b->n_rows;
        if (!takes(b, s))
            continue;
        if (s->phase == MT_SEARCHING)
            add_searching_rows(b, s);
        else
            add_reading_rows(b, s, &n_spare);
        b->sentence_rows[n_sentences++] = b->n_rows - n_before;
    }
    b->is_apart = mt_partition_by_sentence(
        b->sentence_rows, n_sentences, mt_team_width(b->options.team), b->rows_apart, b->begins);
    for (size_t i = 0; i < b->n_rows; i++)
        mt_kvcache_count(&b->self, b->rows[i].slot,
                         mt_decoder_cache_positions(&b->model->hparams, b->rows[i].position + 1));
}

/* --- handling the results of a pass --- */

/* The new beams' pasts are those of the rows that they continue. */
static void reorder_tables(struct mt_sentence *s)
{
    size_t n_positions =
        /* the start token and all generated tokens except the last are in the cache */
        s->search.n_generated;
    uint16_t *scratch = s->tables[1];
    for (size_t beam = 0; beam < s->search.n_live; beam++)
        memcpy(scratch + beam * s->max_target, mt_sentence_table(s, s->search.beams[beam].parent),
               n_positions * sizeof *scratch);
    s->tables[1] = s->tables[0];
    s->tables[0] = scratch;
}

/* Begins to read the best hypothesis again, as a given target, if a trace or runners-up are
 * wanted. */
static bool begin_review(struct mt_sentence *s)
{
    if (!s->trace && !s->n_top)
        return false;
    const struct mt_hypothesis_state *winner = &s->hypotheses[0];
    memcpy(s->given + 1, winner->ids, winner->n_ids * sizeof *winner->ids);
    s->n_given = winner->n_ids;
    s->n_read = 0;
    for (size_t i = 0; i < s->max_target; i++)
        mt_sentence_table(s, 0)[i] = s->self_slots[0];
    s->phase = MT_REVIEWING;
    return true;
}

static void advance_search(struct mt_batch *b, struct mt_sentence *s)
{
    const struct mt_row_output *outputs[MT_MAX_BEAMS];
    for (size_t i = 0; i < s->search.n_live; i++)
        outputs[i] = &s->outputs[i];
    mt_search_advance(&s->search, outputs);
    if (!s->search.is_done) {
        s->phase = MT_SEARCHING;
        reorder_tables(s);
        mt_sentence_publish_tokens(s);
        return;
    }
    mt_sentence_collect(s);
    if (!begin_review(s))
        end_sentence(b, s);
}

static void keep_top(struct mt_sentence *s, size_t position, const struct mt_row_output *output)
{
    for (size_t i = 0; i < s->n_top; i++)
        s->top[position * s->n_top + i] =
            (struct mt_top_token){.id = output->top[i].id,
                                  .logprob = output->top[i].id == MT_NO_TOKEN
                                                 ? -INFINITY
                                                 : output->top[i].logit - output->log_sum_exp};
}

/* Ends the reading of a given target, which becomes the hypothesis. */
static void end_reading(struct mt_batch *b, struct mt_sentence *s)
{
    struct mt_hypothesis_state *hypothesis = &s->hypotheses[0];
    if (s->is_forced) {
        double sum = 0.0;
        for (size_t i = 0; i < s->n_given; i++)
            sum += (double)hypothesis->logprobs[i];
        memcpy(hypothesis->ids, s->given + 1, s->n_given * sizeof *s->given);
        hypothesis->n_ids = s->n_given;
        hypothesis->score = (float)(sum / (double)s->n_given);
        hypothesis->has_eos = s->given[s->n_given] == s->model->hparams.eos_id;
        s->n_hypotheses = 1;
    }
    if (s->trace)
        mt_trace_set_target_length(s->trace, s->n_given);
    end_sentence(b, s);
}

/* Handles the results of rows[0, n), which read given tokens of a sentence. */
static void take_reading_rows(struct mt_batch *b, struct mt_sentence *s,
                              const struct mt_decoder_row *rows, size_t n)
{
    bool is_search = !s->is_forced && s->phase == MT_READING;
    for (size_t i = 0; i < n; i++) {
        const struct mt_row_output *output = rows[i].output;
        size_t position = rows[i].position;
        if (output->target_id == MT_NO_TOKEN)
            continue;
        float logprob = output->target_logit - output->log_sum_exp;
        /* A token with which the model always begins is not chosen, so it does not count for the
         * score. */
        bool is_bos = position == 0 && s->has_bos;
        if (is_search)
            mt_search_force(&s->search, output->target_id, is_bos ? 0.0f : logprob);
        else if (s->is_forced)
            s->hypotheses[0].logprobs[position] = logprob;
        if (!is_search)
            keep_top(s, position, output);
    }
    s->n_read += n;
    if (s->n_read < s->n_given)
        return;
    if (is_search)
        advance_search(b, s);
    else
        end_reading(b, s);
}

static void take_rows(struct mt_batch *b)
{
    size_t at = 0;
    for (struct mt_sentence *s = b->running.first, *next; s; s = next) {
        next = s->next;
        if (!takes(b, s))
            continue;
        if (s->phase == MT_SEARCHING) {
            at += s->search.n_live;
            advance_search(b, s);
            continue;
        }
        size_t n = 0;
        while (at + n < b->n_rows && b->rows[at + n].cross_slot == s->cross_slot)
            n++;
        take_reading_rows(b, s, b->rows + at, n);
        at += n;
    }
    assert(at == b->n_rows);
}

/* --- the step --- */

static double now_seconds(void)
{
    return 1e-9 * (double)mt_now_ns();
}

/* Each of these functions takes a member's part of the rows through the pass alone. */
static const struct mt_member alone = {.n_members = 1};

static void encode_member(void *context, size_t member, size_t n_members)
{
    struct mt_batch *b = context;
    const struct mt_member me = {.team = b->options.team, .index = member, .n_members = n_members};
    if (!b->is_apart) {
        mt_encoder_run(&me, b->model, &b->workspace, b->inputs, b->n_inputs, &b->cross);
        return;
    }
    const struct mt_part_begin *begin = &b->begins[member];
    struct mt_workspace part = mt_workspace_part(&b->workspace, member, begin->row);
    mt_encoder_run(&alone, b->model, &part, b->inputs + begin->sentence,
                   begin[1].sentence - begin->sentence, &b->cross);
}

static void decode_member(void *context, size_t member, size_t n_members)
{
    struct mt_batch *b = context;
    const struct mt_member me = {.team = b->options.team, .index = member, .n_members = n_members};
    if (!b->is_apart) {
        mt_decoder_step(&me, b->model, &b->workspace, b->rows, b->n_rows, &b->self, &b->cross);
        return;
    }
    const struct mt_part_begin *begin = &b->begins[member];
    struct mt_workspace part = mt_workspace_part(&b->workspace, member, begin->row);
    mt_decoder_step(&alone, b->model, &part, b->rows + begin->row, begin[1].row - begin->row,
                    &b->self, &b->cross);
}

/* A moving average over about the last eight values. */
static void average(double *mean, double value)
{
    *mean = *mean > 0.0 ? *mean + (value - *mean) / 8 : value;
}

static void step(struct mt_batch *batch)
{
    double start = now_seconds();
    size_t n_tokens = collect_inputs(batch);
    if (batch->n_inputs)
        mt_team_run(batch->options.team, encode_member, batch);
    double encoded = now_seconds();
    if (n_tokens)
        average(&batch->token_seconds, (encoded - start) / (double)n_tokens);
    collect_rows(batch);
    if (batch->n_rows) {
        mt_team_run(batch->options.team, decode_member, batch);
        batch->stats.n_steps++;
        batch->stats.n_step_rows += batch->n_rows;
        take_rows(batch);
        if (!batch->is_for_short)
            average(&batch->step_seconds, now_seconds() - encoded);
    }
    batch->stats.encode_seconds += encoded - start;
    batch->stats.step_seconds += now_seconds() - encoded;
}

void mt_batch_step(struct mt_batch *batch)
{
    batch->is_for_short = false;
    step(batch);
}

void mt_batch_step_short(struct mt_batch *batch)
{
    batch->is_for_short = true;
    step(batch);
}

struct mt_sentence *mt_batch_take_finished(struct mt_batch *batch)
{
    struct mt_sentence *s = batch->ended.first;
    if (!s)
        return NULL;
    MT_LIST_REMOVE(&batch->ended, s);
    batch->n_sentences--;
    return s;
}

size_t mt_batch_n_sentences(const struct mt_batch *batch)
{
    return batch->n_sentences;
}

size_t mt_batch_rows_apart(const struct mt_batch *batch)
{
    return batch->rows_apart;
}

size_t mt_batch_n_rows(const struct mt_batch *batch)
{
    return batch->n_reserved_rows;
}

struct mt_batch_stats mt_batch_stats(const struct mt_batch *batch)
{
    return batch->stats;
}

size_t mt_batch_reserved_bytes(const struct mt_batch *batch)
{
    return mt_arena_bytes(batch->arena) + mt_scratch_n_bytes(batch->scratch) + batch->self.n_bytes +
           batch->cross.n_bytes + (batch->columns ? mt_scratch_n_bytes(batch->columns) : 0);
}

size_t mt_batch_resident_bytes(const struct mt_batch *batch)
{
    return batch->self.resident_bytes + batch->cross.resident_bytes +
           batch->n_columns_written * batch->columns_bytes;
}

size_t mt_batch_cache_bytes(const struct mt_batch *batch, size_t n_tokens)
{
    const struct mt_batch_options *o = &batch->options;
    size_t n_target = mt_decoder_cache_positions(&batch->model->hparams,
                                                 mt_size_min(n_tokens, o->max_target_tokens));
    return o->max_rows *
           (mt_kvcache_slot_bytes(&batch->cross, mt_size_min(n_tokens, o->max_source_tokens)) +
            mt_kvcache_slot_bytes(&batch->self, n_target) + batch->columns_bytes);
}

void mt_batch_trim(struct mt_batch *batch)
{
    assert(!batch->n_sentences);
    mt_kvcache_trim(&batch->self);
    mt_kvcache_trim(&batch->cross);
    mt_scratch_trim(batch->scratch);
    if (batch->columns)
        mt_scratch_trim(batch->columns);
    batch->n_columns_written = 0;
}
