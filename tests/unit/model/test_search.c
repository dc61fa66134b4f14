/*
 * The rules of search, by hand, on a model that does not care what it has written: eos 1/2, a 3/10,
 * b 1/5 at the first step; eos 3/5, a 3/10, b 1/10 afterwards.
 */
#include "model/search.h"

#include <check.h>
#include <math.h>

enum { EOS, A, B, N_TOKENS };

static const double probabilities[2][N_TOKENS] = {{0.5, 0.3, 0.2}, {0.6, 0.3, 0.1}};

static const struct rules {
    const char *name;
    struct mt_search_options options;
    size_t n_steps, n_finished;
    double products[2]; /* of each hypothesis's probabilities, best first */
    double offsets[2];  /* score = (log product + offset) / divisor */
    double divisors[2];
    size_t lengths[2];
} cases[] = {
    /* [eos] and [a eos]; after two steps nothing live is better than the pool. */
    {"generate", {.length_penalty = 1.0f}, 2, 2, {0.5, 0.18}, {0}, {1, 2}, {1, 2}},
    /* eos takes one of the two places, so b is never tried. */
    {"marian",
     {.rules = MT_SEARCH_MARIAN, .length_penalty = 0.0f},
     2,
     2,
     {0.5, 0.18},
     {0},
     {1, 1},
     {1, 2}},
    {"marian, normalised",
     {.rules = MT_SEARCH_MARIAN, .length_penalty = 1.0f},
     2,
     2,
     {0.5, 0.18},
     {0},
     {1, 2},
     {1, 2}},
    /* A reward for each token lets the longer one win. */
    {"marian, word penalty",
     {.rules = MT_SEARCH_MARIAN, .length_penalty = 0.0f, .word_penalty = -2.0f},
     2,
     2,
     {0.18, 0.5},
     {4, 2},
     {1, 1},
     {2, 1}},
    /* No eos at first; then the best of a step has ended, which is enough for one hypothesis. */
    {"ctranslate2",
     {.rules = MT_SEARCH_CTRANSLATE2, .length_penalty = 0.0f, .n_wanted = 1},
     2,
     2,
     {0.18, 0.12},
     {0},
     {1, 1},
     {2, 2}},
    /* eos is not counted: a divisor of 1 for two tokens. */
    {"ctranslate2, length penalty",
     {.rules = MT_SEARCH_CTRANSLATE2, .length_penalty = 1.0f, .n_wanted = 1},
     2,
     2,
     {0.18, 0.12},
     {0},
     {1, 1},
     {2, 2}},
};

static void step(struct mt_search *search)
{
    const double *p = probabilities[search->n_generated > 0];
    struct mt_scored_token top[N_TOKENS + 2];
    for (int32_t i = 0; i < N_TOKENS + 2; i++)
        top[i] = i < N_TOKENS ? (struct mt_scored_token){.id = i, .logit = (float)log(p[i])}
                              : (struct mt_scored_token){.id = MT_NO_TOKEN};
    const struct mt_row_output output = {
        .top = top, .n_top = N_TOKENS + 2, .eos_logit = (float)log(p[EOS])};
    const struct mt_row_output *outputs[MT_MAX_BEAMS];
    for (size_t i = 0; i < MT_MAX_BEAMS; i++)
        outputs[i] = &output;
    mt_search_advance(search, outputs);
}

START_TEST(follows_the_rules_of_each_family)
{
    const struct rules *rules = &cases[_i];
    struct mt_search_options options = rules->options;
    struct mt_search search;
    struct mt_arena *arena;
    struct mt_error err;
    options.n_beams = 2;
    options.max_length = 10;
    options.eos_id = EOS;
    ck_assert_int_eq(mt_arena_create(0, &arena, &err), MT_OK);
    ck_assert_int_eq(mt_search_init(&search, &options, arena, &err), MT_OK);
    size_t n_steps = 0;
    while (!search.is_done && n_steps++ < 10)
        step(&search);
    ck_assert_msg(n_steps == rules->n_steps, "%s: %zu steps", rules->name, n_steps);
    ck_assert_msg(search.n_finished == rules->n_finished, "%s: %zu hypotheses", rules->name,
                  search.n_finished);
    for (size_t i = 0; i < rules->n_finished; i++) {
        double expected = (log(rules->products[i]) + rules->offsets[i]) / rules->divisors[i];
        ck_assert_msg(fabs((double)search.pool[i].score - expected) < 1e-6,
                      "%s: hypothesis %zu scores %g, expected %g", rules->name, i,
                      (double)search.pool[i].score, expected);
        ck_assert_uint_eq(search.pool[i].n_tokens, rules->lengths[i]);
        ck_assert(search.pool[i].has_eos);
    }
    mt_arena_destroy(arena);
}
END_TEST

/* An end that is forced is certain: nothing is taken off the score for it, nor told of it. */
START_TEST(a_forced_end_costs_nothing)
{
    const struct mt_search_options options = {.n_beams = 1 + (size_t)_i,
                                              .length_penalty = 1.0f,
                                              .max_length = 2,
                                              .min_length = 2,
                                              .eos_id = EOS,
                                              .force_eos = true};
    struct mt_search search;
    struct mt_arena *arena;
    struct mt_error err;
    int32_t ids[2];
    float logprobs[2];
    ck_assert_int_eq(mt_arena_create(0, &arena, &err), MT_OK);
    ck_assert_int_eq(mt_search_init(&search, &options, arena, &err), MT_OK);
    step(&search);
    step(&search);
    ck_assert(search.is_done);
    mt_search_path(&search, &search.pool[0], ids, logprobs);
    ck_assert_int_eq(ids[1], EOS);
    ck_assert_float_lt(logprobs[0], 0.0f);
    ck_assert_float_eq(logprobs[1], 0.0f);
    ck_assert_float_eq_tol(search.pool[0].score, logprobs[0] / 2, 1e-6f);
    mt_arena_destroy(arena);
}
END_TEST

/* What is cut off at the limit is a hypothesis, too: Marian takes all that are left. */
START_TEST(at_the_length_limit_the_beam_ends)
{
    const struct mt_search_options options = {
        .n_beams = 2, .max_length = 1, .eos_id = EOS, .rules = MT_SEARCH_MARIAN};
    struct mt_search search;
    struct mt_arena *arena;
    struct mt_error err;
    ck_assert_int_eq(mt_arena_create(0, &arena, &err), MT_OK);
    ck_assert_int_eq(mt_search_init(&search, &options, arena, &err), MT_OK);
    step(&search);
    ck_assert(search.is_done);
    ck_assert_uint_eq(search.n_finished, 2);
    ck_assert(search.pool[0].has_eos);
    ck_assert_int_eq(search.pool[1].token, A);
    mt_arena_destroy(arena);
}
END_TEST

/* A model that is sure of the end, and may not end yet: a is 3, b 2 of the 5 parts that are left,
 * however little that is. */
static const float end_logits[] = {0, 10, 15, 17, 20, 30, 80, 1000};

START_TEST(what_is_left_beside_a_masked_end_is_shared_out)
{
    const struct mt_search_options options = {.n_beams = 2,
                                              .max_length = 1,
                                              .min_length = 2,
                                              .eos_id = EOS,
                                              .renormalize = true,
                                              .rules = MT_SEARCH_MARIAN};
    float end = end_logits[_i];
    struct mt_scored_token top[] = {
        {.id = EOS, .logit = end}, {A, logf(3.0f)}, {B, logf(2.0f)}, {.id = MT_NO_TOKEN}};
    const struct mt_row_output output = {
        .top = top,
        .n_top = 4,
        .eos_logit = end,
        .log_sum_exp = end + (float)log1p(5 * exp(-(double)end)),
    };
    const struct mt_row_output *outputs[] = {&output, &output};
    struct mt_search search;
    struct mt_arena *arena;
    struct mt_error err;
    ck_assert_int_eq(mt_arena_create(0, &arena, &err), MT_OK);
    ck_assert_int_eq(mt_search_init(&search, &options, arena, &err), MT_OK);
    mt_search_advance(&search, outputs);
    ck_assert_uint_eq(search.n_finished, 2);
    ck_assert_int_eq(search.pool[0].token, A);
    ck_assert_int_eq(search.pool[1].token, B);
    ck_assert_float_le(search.pool[0].score, 1e-6f);
    ck_assert_float_ge(search.pool[0].score, -2.0f);
    ck_assert_float_eq_tol(search.pool[0].score - search.pool[1].score, logf(1.5f), 1e-3f);
    if (end <= 10)
        ck_assert_float_eq_tol(search.pool[0].score, logf(0.6f), 2e-2f);
    mt_arena_destroy(arena);
}
END_TEST

Suite *suite_search(void)
{
    Suite *suite = suite_create("search");
    TCase *tcase = tcase_create("rules");
    tcase_add_loop_test(tcase, follows_the_rules_of_each_family, 0, sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tcase, a_forced_end_costs_nothing, 0, 2);
    tcase_add_test(tcase, at_the_length_limit_the_beam_ends);
    tcase_add_loop_test(tcase, what_is_left_beside_a_masked_end_is_shared_out, 0,
                        sizeof end_logits / sizeof *end_logits);
    suite_add_tcase(suite, tcase);
    return suite;
}
