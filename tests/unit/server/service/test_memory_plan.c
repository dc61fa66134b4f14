#include "server/service/memory_plan.h"

#include "config/settings.h"
#include "model/model.h"
#include "server/models/catalog.h"
#include "server/engine/engine.h"
#include "server/models/served_model.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mt_settings settings;
static struct mt_model *model;
static struct mt_engine *engine;
static struct mt_lane *lane;
static struct mt_loaded_model pinned;
static struct mt_error err;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", err.message);
}

static void start(void)
{
    char path[1000];
    const struct mt_engine_options options = {.n_workers = 1, .threads_per_worker = 1};
    snprintf(path, sizeof path, "%s/tests/models/en-de", getenv("MT_SOURCE_DIR"));
    must(mt_settings_init(&settings, &err));
    must(mt_model_open(path, NULL, &model, &err));
    must(mt_engine_create(&options, &engine, &err));
    must(mt_engine_attach(engine, model, &lane, &err));
    pinned = (struct mt_loaded_model){.model = model, .engine = engine, .lane = lane};
    must(mt_settings_set(&settings, "models_directory", "models", "test", &err));
    must(mt_settings_set(&settings, "data_directory", "data", "test", &err));
    settings.models_memory = 1 << 20;
    settings.cache_bytes = 1 << 20;
    settings.max_connections = 1024;
}

static void stop(void)
{
    mt_engine_destroy(engine);
    mt_model_close(model);
    mt_settings_finish(&settings);
}

static struct mt_memory_plan make(void)
{
    struct mt_memory_plan plan;
    const struct mt_longest_sentence none = {0};
    must(mt_memory_plan_make(&settings, &pinned, &none, &plan, &err));
    return plan;
}

START_TEST(the_total_is_the_sum_of_its_parts)
{
    struct mt_memory_plan plan = make();
    uint64_t sum = 0;
    for (size_t i = 0; i < MT_N_MEMORY_PARTS; i++) {
        ck_assert_uint_gt(plan.bytes[i], 0);
        sum += plan.bytes[i];
    }
    ck_assert_uint_eq(plan.total, sum);
    ck_assert_uint_eq(plan.bytes[MT_MEMORY_CACHES], 2 * mt_lane_reserved_bytes(lane));
    ck_assert_uint_eq(plan.bytes[MT_MEMORY_WEIGHTS], 2 * mt_model_private_bytes(model));
    ck_assert_uint_eq(plan.mapped_bytes, mt_model_mapped_bytes(model));
}
END_TEST

START_TEST(each_limit_moves_its_part_alone)
{
    const struct {
        int64_t *setting;
        enum mt_memory_part part, other;
    } cases[] = {
        {&settings.max_queued_sentences, MT_MEMORY_QUEUE, MT_MEMORY_QUEUE},
        {&settings.max_beam_size, MT_MEMORY_QUEUE, MT_MEMORY_QUEUE},
        {&settings.max_attention_values, MT_MEMORY_TRACES, MT_MEMORY_TRACES},
        {&settings.max_files_bytes, MT_MEMORY_FILES, MT_MEMORY_FILES},
        {&settings.max_body_bytes, MT_MEMORY_BODIES, MT_MEMORY_DOCUMENTS},
        {&settings.max_document_bytes, MT_MEMORY_DOCUMENTS, MT_MEMORY_DOCUMENTS},
        {&settings.max_documents, MT_MEMORY_DOCUMENTS, MT_MEMORY_DOCUMENTS},
        {&settings.max_document_jobs, MT_MEMORY_DOCUMENTS, MT_MEMORY_DOCUMENTS},
        {&settings.max_connections, MT_MEMORY_BODIES, MT_MEMORY_CONNECTIONS},
        {&settings.models_memory, MT_MEMORY_MODELS, MT_MEMORY_MODELS},
        {&settings.cache_bytes, MT_MEMORY_RESULTS, MT_MEMORY_RESULTS},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct mt_memory_plan before = make();
        *cases[c].setting *= 2;
        struct mt_memory_plan after = make();
        *cases[c].setting /= 2;
        for (enum mt_memory_part i = 0; i < MT_N_MEMORY_PARTS; i++) {
            if (i == cases[c].part || i == cases[c].other)
                ck_assert_uint_gt(after.bytes[i], before.bytes[i]);
            else
                ck_assert_uint_eq(after.bytes[i], before.bytes[i]);
        }
    }
}
END_TEST

START_TEST(a_limit_below_the_total_is_refused_with_the_parts)
{
    struct mt_memory_plan plan = make();
    must(mt_memory_plan_check(&plan, 0, &err));
    must(mt_memory_plan_check(&plan, plan.total, &err));
    ck_assert_int_eq(mt_memory_plan_check(&plan, plan.total - 1, &err), MT_INVALID);
    static const char *const parts[] = {"memory_limit is", "weights ",    "queue ",
                                        "connections ",    "bodies ",     "attention traces ",
                                        "program 68",      "activations "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(err.message, parts[i]), "%s", err.message);
}
END_TEST

START_TEST(models_get_what_the_limit_leaves)
{
    struct mt_memory_plan with = make();
    settings.models_memory = 0;
    struct mt_memory_plan plan = make();
    ck_assert_uint_eq(plan.bytes[MT_MEMORY_MODELS], 0);
    ck_assert_uint_eq(plan.total, with.total - (1 << 20));

    settings.memory_limit = (int64_t)plan.total + 5000;
    ck_assert_uint_eq(make().bytes[MT_MEMORY_MODELS], 5000);

    settings.memory_limit = (int64_t)plan.total; /* nothing: that is no way to serve them */
    plan = make();
    ck_assert_int_eq(mt_memory_plan_check(&plan, (uint64_t)settings.memory_limit, &err),
                     MT_INVALID);

    must(mt_settings_set(&settings, "models_directory", "", "test", &err));
    plan = make();
    ck_assert_uint_eq(plan.bytes[MT_MEMORY_MODELS], 0);
    must(mt_memory_plan_check(&plan, (uint64_t)settings.memory_limit, &err));
}
END_TEST

/* Sentences of models that are not in memory are estimated: never below what they take. */
START_TEST(the_estimate_of_a_sentence_covers_a_real_one)
{
    struct mt_memory_plan real = make(), estimated;
    struct mt_longest_sentence longest = {.n_positions = mt_model_hparams(model)->max_positions};
    must(mt_memory_plan_make(&settings, NULL, &longest, &estimated, &err));
    ck_assert_uint_ge(estimated.bytes[MT_MEMORY_QUEUE], real.bytes[MT_MEMORY_QUEUE]);
    ck_assert_uint_le(estimated.bytes[MT_MEMORY_QUEUE], 2 * real.bytes[MT_MEMORY_QUEUE]);
    ck_assert_uint_eq(estimated.bytes[MT_MEMORY_CACHES], 0);

    longest.n_positions *= 2;
    must(mt_memory_plan_make(&settings, &pinned, &longest, &estimated, &err));
    ck_assert_uint_gt(estimated.bytes[MT_MEMORY_QUEUE], real.bytes[MT_MEMORY_QUEUE] * 3 / 2);
}
END_TEST

/* A sentence gets the beam of the settings or of its model, or one for its alternatives, where
 * max_beam_size says less. */
START_TEST(the_queue_holds_the_widest_beam_whoever_wants_it)
{
    const struct mt_longest_sentence wide = {.n_positions = 1, .n_beams = 16};
    struct mt_memory_plan narrow, plan;
    settings.max_beam_size = 16;
    uint64_t widest = make().bytes[MT_MEMORY_QUEUE];
    settings.max_beam_size = 1;
    settings.max_alternatives = 0;
    settings.beam_size = 1;
    uint64_t narrowest = make().bytes[MT_MEMORY_QUEUE];
    ck_assert_uint_lt(2 * narrowest, widest);
    must(mt_memory_plan_make(&settings, NULL, &wide, &narrow, &err));

    settings.beam_size = 16;
    ck_assert_uint_eq(make().bytes[MT_MEMORY_QUEUE], widest);
    settings.beam_size = 1;
    settings.max_alternatives = 15;
    ck_assert_uint_eq(make().bytes[MT_MEMORY_QUEUE], widest);
    settings.max_alternatives = 0;
    settings.beam_size = 0; /* the model's */
    ck_assert_uint_gt(mt_model_hparams(model)->n_beams, 1);
    ck_assert_uint_gt(make().bytes[MT_MEMORY_QUEUE], narrowest);
    must(mt_memory_plan_make(&settings, NULL, &wide, &plan, &err));
    ck_assert_uint_gt(plan.bytes[MT_MEMORY_QUEUE], narrow.bytes[MT_MEMORY_QUEUE]);
}
END_TEST

START_TEST(a_sum_that_overflows_is_too_large)
{
    settings.max_queued_sentences = INT64_MAX;
    struct mt_memory_plan plan = make();
    ck_assert_uint_eq(plan.total, UINT64_MAX);
    ck_assert_int_eq(mt_memory_plan_check(&plan, UINT64_C(1) << 60, &err), MT_INVALID);
}
END_TEST

Suite *suite_memory_plan(void)
{
    Suite *suite = suite_create("memory_plan");
    TCase *tcase = tcase_create("plans");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, the_total_is_the_sum_of_its_parts);
    tcase_add_test(tcase, each_limit_moves_its_part_alone);
    tcase_add_test(tcase, a_limit_below_the_total_is_refused_with_the_parts);
    tcase_add_test(tcase, models_get_what_the_limit_leaves);
    tcase_add_test(tcase, the_estimate_of_a_sentence_covers_a_real_one);
    tcase_add_test(tcase, the_queue_holds_the_widest_beam_whoever_wants_it);
    tcase_add_test(tcase, a_sum_that_overflows_is_too_large);
    suite_add_tcase(suite, tcase);
    return suite;
}
