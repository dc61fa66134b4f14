/*
 * Calls of a batch in any order: sentences of any length and options are made, admitted, decoded a
 * step, dropped half-way and taken. Whatever is taken must be, to the bit, what the same sentence
 * gives alone; at the end nothing may be left in the batch.
 */
#include "model/batch.h"
#include "model/sentence.h"
#include "tests/fuzz/tiny_model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define N_SENTENCES 5
#define MAX_SOURCE 8
#define MAX_TARGET 8
#define MAX_ROWS 6
#define MAX_CALLS 64

struct input {
    const uint8_t *at, *end;
};

static unsigned next(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

struct recipe {
    int32_t source[MAX_SOURCE], target[MAX_TARGET];
    size_t n_source;
    struct mt_sentence_options options;
};

enum place { NOWHERE, MADE, IN_BATCH };

struct world {
    const struct mt_model *model;
    struct mt_batch *batch;
    struct recipe recipes[N_SENTENCES];
    struct mt_sentence *sentences[N_SENTENCES];
    enum place places[N_SENTENCES];
};

static struct mt_batch *new_batch(const struct mt_model *model)
{
    const struct mt_batch_options options = {.max_rows = MAX_ROWS,
                                             .max_source_tokens = MAX_SOURCE,
                                             .max_target_tokens = MAX_TARGET,
                                             .encode_tokens = MAX_SOURCE};
    struct mt_batch *batch;
    struct mt_error err;
    enum mt_status status = mt_batch_create(model, &options, &batch, &err);
    assert(!status);
    return batch;
}

/* Batches are kept from input to input, as a new one costs more than all the rest: one that is left
 * empty must be as good as new, which every comparison checks. */
static struct mt_batch *kept_batch(const struct mt_model *model, bool is_alone)
{
    static struct mt_batch *batches[2][2];
    struct mt_batch **kept = &batches[model->precision][is_alone];
    if (!*kept)
        *kept = new_batch(model);
    return *kept;
}

static void draw_options(struct input *input, struct recipe *recipe)
{
    struct mt_sentence_options *o = &recipe->options;
    unsigned bits = next(input);
    *o = (struct mt_sentence_options){
        .beam_size = 1 + next(input) % 4,
        .max_decoding_length = 1 + next(input) % (MAX_TARGET - 1),
        .min_decoding_length = next(input) % 4,
        .return_logprobs = bits & 1,
        .skip_scores = bits & 2,
        .trace_search = bits & 4,
        .trace = bits & 8 ? MT_TRACE_CROSS : 0,
        .n_top = bits & 16 ? next(input) % 6 : 0,
        .has_length_penalty = bits & 32,
        .length_penalty = (float)(next(input) % 3),
    };
    o->num_hypotheses = 1 + next(input) % o->beam_size;
    size_t n = next(input) % 4;
    for (size_t i = 0; i < n; i++)
        recipe->target[i] = 1 + (int32_t)(next(input) % (TINY_VOCAB - 2));
    if (bits & 64) {
        o->target_prefix = recipe->target;
        o->n_target_prefix = n;
    } else if (bits & 128) {
        recipe->target[n++] = TINY_EOS;
        o->forced_target = recipe->target;
        o->n_forced_target = n;
    }
}

static void make(struct world *world, size_t i, struct input *input)
{
    struct recipe *recipe = &world->recipes[i];
    struct mt_error err = {0};
    recipe->n_source = 1 + next(input) % MAX_SOURCE;
    for (size_t j = 0; j < recipe->n_source; j++)
        recipe->source[j] = (int32_t)(next(input) % TINY_VOCAB);
    draw_options(input, recipe);
    enum mt_status status = mt_sentence_create(world->model, recipe->source, recipe->n_source,
                                               &recipe->options, &world->sentences[i], &err);
    if (!status) {
        world->places[i] = MADE;
        mt_sentence_set_user(world->sentences[i], recipe);
        if (i % 2)
            mt_sentence_set_short(world->sentences[i]);
    } else {
        assert(err.message[0] != '\0');
    }
}

static void check_equal(const struct mt_sentence *a, const struct mt_sentence *b)
{
    size_t n = mt_sentence_n_hypotheses(a);
    assert(n == mt_sentence_n_hypotheses(b));
    for (size_t i = 0; i < n; i++) {
        struct mt_hypothesis x = mt_sentence_hypothesis(a, i), y = mt_sentence_hypothesis(b, i);
        assert(x.n_ids == y.n_ids && x.has_eos == y.has_eos);
        assert(memcmp(x.ids, y.ids, x.n_ids * sizeof *x.ids) == 0);
        assert(memcmp(&x.score, &y.score, sizeof x.score) == 0);
        assert((x.token_logprobs == NULL) == (y.token_logprobs == NULL));
        if (x.token_logprobs)
            assert(memcmp(x.token_logprobs, y.token_logprobs, x.n_ids * sizeof(float)) == 0);
        for (size_t j = 0; j < x.n_ids; j++)
            assert(x.ids[j] >= 0 && x.ids[j] < TINY_VOCAB);
    }
}

static void check_taken(const struct world *world, const struct mt_sentence *taken)
{
    const struct recipe *recipe = mt_sentence_user(taken);
    struct mt_batch *batch = kept_batch(world->model, true);
    struct mt_sentence *alone;
    struct mt_error err;
    enum mt_status status = mt_sentence_create(world->model, recipe->source, recipe->n_source,
                                               &recipe->options, &alone, &err);
    assert(!status);
    bool is_admitted = mt_batch_admit(batch, alone);
    assert(is_admitted);
    for (size_t n_steps = 0; !mt_batch_take_finished(batch); n_steps++) {
        assert(n_steps <= 2 * MAX_TARGET);
        mt_batch_step(batch);
    }
    check_equal(taken, alone);
    mt_sentence_destroy(alone);
}

static void leave(struct world *world, size_t i)
{
    mt_sentence_destroy(world->sentences[i]);
    world->sentences[i] = NULL;
    world->places[i] = NOWHERE;
}

static void take(struct world *world)
{
    struct mt_sentence *taken = mt_batch_take_finished(world->batch);
    if (!taken)
        return;
    check_taken(world, taken);
    size_t i = (size_t)((struct recipe *)mt_sentence_user(taken) - world->recipes);
    assert(world->sentences[i] == taken && world->places[i] == IN_BATCH);
    leave(world, i);
}

static void advance(struct world *world, size_t i, struct input *input)
{
    struct mt_error err;
    if (world->places[i] == NOWHERE) {
        make(world, i, input);
    } else if (world->places[i] == MADE) {
        if (mt_batch_check(world->batch, world->sentences[i], &err) != MT_OK)
            leave(world, i);
        else if (mt_batch_admit(world->batch, world->sentences[i]))
            world->places[i] = IN_BATCH;
    }
}

static void give_up(struct world *world, size_t i)
{
    if (world->places[i] == IN_BATCH)
        mt_batch_cancel(world->batch, world->sentences[i]);
    leave(world, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, data + size};
    struct world world = {.model = tiny_model(next(&input) & 1 ? MT_INT8 : MT_FP32)};
    world.batch = kept_batch(world.model, false);
    for (size_t n = 0; n < MAX_CALLS && input.at < input.end; n++) {
        unsigned call = next(&input);
        size_t i = call / 8 % N_SENTENCES;
        switch (call % 8) {
        case 0:
            give_up(&world, i);
            break;
        case 1:
            take(&world);
            break;
        case 2:
            mt_batch_step_short(world.batch);
            break;
        case 3:
        case 4:
            mt_batch_step(world.batch);
            break;
        default:
            advance(&world, i, &input);
            break;
        }
        assert(mt_batch_n_rows(world.batch) <= MAX_ROWS);
    }
    for (size_t n = 0; n < 2 * MAX_TARGET * N_SENTENCES && mt_batch_n_sentences(world.batch); n++) {
        mt_batch_step(world.batch);
        take(&world);
    }
    assert(mt_batch_n_sentences(world.batch) == 0 && mt_batch_n_rows(world.batch) == 0);
    for (size_t i = 0; i < N_SENTENCES; i++)
        leave(&world, i);
    return 0;
}
