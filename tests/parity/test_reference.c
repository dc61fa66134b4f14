/*
 * The numbers inside the Transformer against those of the reference implementation (Hugging Face
 * transformers 4.55, fp32): encoder and decoder states of every layer, attention of every layer and
 * head, logits; and the equivalences that hold inside our own: one batch or one by one, incremental
 * or given, traced or not.
 */
#include "base/team.h"
#include "model/batch.h"
#include "model/model.h"
#include "model/sentence.h"
#include "weights/safetensors.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bar: states, logits and attention within 1e-4 absolute. */
#define TOLERANCE 1e-4

#define ALL_KINDS                                                                     \
    (MT_TRACE_ENCODER | MT_TRACE_DECODER | MT_TRACE_CROSS | MT_TRACE_ENCODER_STATES | \
     MT_TRACE_DECODER_STATES | MT_TRACE_LOGITS)

static struct mt_model *model;

static const char *source_path(const char *relative, char *out, size_t capacity)
{
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(out, capacity, "%s/%s", root ? root : ".", relative);
    return out;
}

static void open_model(void)
{
    char path[1024];
    struct mt_error err = {0};
    ck_assert_msg(mt_model_open(source_path("tests/models/en-de", path, sizeof path), NULL, &model,
                                &err) == MT_OK,
                  "%s", err.message);
}

static void close_model(void)
{
    mt_model_close(model);
}

struct vector {
    struct mt_safetensors *file;
    int32_t *source, *target;
    size_t n_source, n_target;
};

static int32_t *ids_of(const struct mt_safetensors *file, const char *name, size_t *n)
{
    const struct mt_tensor *tensor = mt_safetensors_find(file, name);
    ck_assert_msg(tensor && tensor->dtype == MT_I64, "%s", name);
    int32_t *ids = calloc(tensor->n_elements, sizeof *ids);
    ck_assert_ptr_nonnull(ids);
    for (size_t i = 0; i < tensor->n_elements; i++) {
        int64_t id;
        memcpy(&id, (const char *)tensor->data + i * sizeof id, sizeof id);
        ids[i] = (int32_t)id;
    }
    *n = tensor->n_elements;
    return ids;
}

static bool open_vector(int number, struct vector *v)
{
    char relative[256], path[1024];
    const char *shared = getenv("MT_SHARED_DIR");
    struct mt_error err = {0};
    if (shared) {
        snprintf(path, sizeof path, "%s/vectors/en-de/attention/%d.safetensors", shared, number);
    } else {
        snprintf(relative, sizeof relative, "tests/parity/data/attention/%d.safetensors", number);
        source_path(relative, path, sizeof path);
    }
    enum mt_status status = mt_safetensors_open(path, &v->file, &err);
    if (status == MT_NOT_FOUND)
        return false;
    ck_assert_msg(!status, "%s", err.message);
    v->source = ids_of(v->file, "input_ids", &v->n_source);
    v->target = ids_of(v->file, "labels", &v->n_target);
    return true;
}

static void close_vector(struct vector *v)
{
    mt_safetensors_close(v->file);
    free(v->source);
    free(v->target);
}

static struct mt_batch *make_batch(size_t max_rows, struct mt_team *team)
{
    struct mt_error err = {0};
    struct mt_batch *batch;
    const struct mt_batch_options options = {.max_rows = max_rows, .team = team};
    ck_assert_msg(mt_batch_create(model, &options, &batch, &err) == MT_OK, "%s", err.message);
    return batch;
}

static struct mt_sentence *make_sentence(const struct vector *v,
                                         const struct mt_sentence_options *options)
{
    struct mt_error err = {0};
    struct mt_sentence *s;
    ck_assert_msg(mt_sentence_create(model, v->source, v->n_source, options, &s, &err) == MT_OK,
                  "%s", err.message);
    return s;
}

static void run_all(struct mt_batch *batch, struct mt_sentence **sentences, size_t n)
{
    size_t admitted = 0, taken = 0;
    while (taken < n) {
        while (admitted < n && mt_batch_admit(batch, sentences[admitted]))
            admitted++;
        mt_batch_step(batch);
        while (mt_batch_take_finished(batch))
            taken++;
    }
}

/* Largest difference between a kind of trace and a tensor [L, H, R, C] (or with fewer leading
 * dimensions). */
static double difference(const struct mt_trace *trace, enum mt_trace_kind kind,
                         const struct mt_safetensors *file, const char *name)
{
    const struct mt_tensor *tensor = mt_safetensors_find(file, name);
    struct mt_trace_shape shape = mt_trace_shape(trace, kind);
    ck_assert_msg(tensor && tensor->dtype == MT_F32, "%s", name);
    ck_assert_uint_eq(tensor->n_elements,
                      shape.n_layers * shape.n_heads * shape.n_rows * shape.n_columns);
    const char *at = tensor->data;
    double largest = 0.0;
    for (size_t l = 0; l < shape.n_layers; l++)
        for (size_t h = 0; h < shape.n_heads; h++)
            for (size_t r = 0; r < shape.n_rows; r++)
                for (size_t c = 0; c < shape.n_columns; c++, at += sizeof(float)) {
                    float expected;
                    memcpy(&expected, at, sizeof expected);
                    double d =
                        fabs((double)expected - (double)mt_trace_row(trace, kind, l, h, r)[c]);
                    largest = isnan(d) || d > largest ? d : largest;
                }
    return largest;
}

START_TEST(every_number_inside_equals_the_reference)
{
    struct vector v;
    if (!open_vector(_i, &v))
        return;
    struct mt_batch *batch =
        make_batch(8, NULL); /* fewer rows than positions: the target is read in several steps */
    const struct mt_sentence_options options = {
        .forced_target = v.target, .n_forced_target = v.n_target, .trace = ALL_KINDS};
    struct mt_sentence *s = make_sentence(&v, &options);
    run_all(batch, &s, 1);
    static const struct {
        enum mt_trace_kind kind;
        const char *name;
    } kinds[] = {
        {MT_TRACE_ENCODER_STATES, "encoder_hidden_states"},
        {MT_TRACE_DECODER_STATES, "decoder_hidden_states"},
        {MT_TRACE_ENCODER, "encoder_attentions"},
        {MT_TRACE_DECODER, "decoder_attentions"},
        {MT_TRACE_CROSS, "cross_attentions"},
        {MT_TRACE_LOGITS, "logits"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double d = difference(mt_sentence_trace(s), kinds[i].kind, v.file, kinds[i].name);
        printf("vector %d %s: largest difference %.2g\n", _i, kinds[i].name, d);
        ck_assert_msg(d < TOLERANCE, "vector %d: %s differs by %g", _i, kinds[i].name, d);
    }
    mt_sentence_destroy(s);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

START_TEST(attention_rows_sum_to_one_and_never_see_the_future)
{
    struct vector v;
    if (!open_vector(_i, &v))
        return;
    struct mt_batch *batch = make_batch(16, NULL);
    const struct mt_sentence_options options = {.beam_size = 4, .trace = ALL_KINDS};
    struct mt_sentence *s = make_sentence(&v, &options);
    run_all(batch, &s, 1);
    const enum mt_trace_kind kinds[] = {MT_TRACE_ENCODER, MT_TRACE_DECODER, MT_TRACE_CROSS};
    for (size_t k = 0; k < 3; k++) {
        struct mt_trace_shape shape = mt_trace_shape(mt_sentence_trace(s), kinds[k]);
        ck_assert_uint_gt(shape.n_rows, 0);
        for (size_t i = 0; i < shape.n_layers * shape.n_heads * shape.n_rows; i++) {
            size_t row = i % shape.n_rows, head = i / shape.n_rows % shape.n_heads;
            const float *weights = mt_trace_row(mt_sentence_trace(s), kinds[k],
                                                i / shape.n_rows / shape.n_heads, head, row);
            double sum = 0.0;
            for (size_t c = 0; c < shape.n_columns; c++) {
                sum += (double)weights[c];
                if (kinds[k] == MT_TRACE_DECODER && c > row)
                    ck_assert_msg(weights[c] == 0.0f, "row %zu sees position %zu", row, c);
            }
            ck_assert_double_eq_tol(sum, 1.0, 1e-5);
        }
    }
    mt_sentence_destroy(s);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

START_TEST(greedy_search_equals_the_reference)
{
    struct vector v;
    if (!open_vector(_i, &v))
        return;
    struct mt_batch *batch = make_batch(8, NULL);
    const struct mt_sentence_options options = {.beam_size = 1, .return_logprobs = true};
    struct mt_sentence *s = make_sentence(&v, &options);
    run_all(batch, &s, 1);
    struct mt_hypothesis h = mt_sentence_hypothesis(s, 0);
    ck_assert_uint_eq(h.n_ids, v.n_target);
    ck_assert_mem_eq(h.ids, v.target, v.n_target * sizeof *v.target);
    mt_sentence_destroy(s);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

/* Incremental decoding and reading the same target at once must agree: the cache and the causal
 * mask are right. */
START_TEST(step_by_step_equals_all_at_once)
{
    struct vector v;
    if (!open_vector(_i, &v))
        return;
    struct mt_batch *batch = make_batch(64, NULL);
    const struct mt_sentence_options by_step = {.beam_size = 1, .return_logprobs = true};
    const struct mt_sentence_options at_once = {
        .forced_target = v.target, .n_forced_target = v.n_target, .return_logprobs = true};
    struct mt_sentence *s[2] = {make_sentence(&v, &by_step), make_sentence(&v, &at_once)};
    run_all(batch, s, 2);
    struct mt_hypothesis a = mt_sentence_hypothesis(s[0], 0), b = mt_sentence_hypothesis(s[1], 0);
    ck_assert_uint_eq(a.n_ids, b.n_ids);
    for (size_t i = 0; i < a.n_ids; i++)
        ck_assert_float_eq(a.token_logprobs[i], b.token_logprobs[i]);
    for (size_t i = 0; i < 2; i++)
        mt_sentence_destroy(s[i]);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

/* Sentences of many lengths and options in one batch, with fewer rows than they want, against each
 * alone. */
START_TEST(a_batch_of_many_equals_one_by_one)
{
    enum { N = 24 };
    struct vector v;
    ck_assert(open_vector(1, &v));
    struct mt_team *team = NULL;
    struct mt_error err = {0};
    if (_i > 1)
        ck_assert_msg(mt_team_create((size_t)_i, &team, &err) == MT_OK, "%s", err.message);
    struct mt_batch *alone = make_batch(16, NULL), *together = make_batch(19, team);
    struct mt_sentence *one[N], *many[N];
    for (size_t i = 0; i < N; i++) {
        const struct vector part = {.source = v.source + i % 5, .n_source = v.n_source - i % 5};
        const struct mt_sentence_options options = {.beam_size = 1 + i % 5,
                                                    .num_hypotheses = 1 + i % 5,
                                                    .return_logprobs = true,
                                                    .target_prefix = v.target,
                                                    .n_target_prefix = i % 3,
                                                    .max_decoding_length = 30,
                                                    .n_top = i % 4,
                                                    .trace = i % 2 ? ALL_KINDS : 0};
        one[i] = make_sentence(&part, &options);
        many[i] = make_sentence(&part, &options);
        run_all(alone, &one[i], 1);
    }
    run_all(together, many, N);
    for (size_t i = 0; i < N; i++) {
        ck_assert_uint_eq(mt_sentence_n_hypotheses(one[i]), mt_sentence_n_hypotheses(many[i]));
        for (size_t j = 0; j < mt_sentence_n_hypotheses(one[i]); j++) {
            struct mt_hypothesis a = mt_sentence_hypothesis(one[i], j),
                                 b = mt_sentence_hypothesis(many[i], j);
            ck_assert_uint_eq(a.n_ids, b.n_ids);
            ck_assert_mem_eq(a.ids, b.ids, a.n_ids * sizeof *a.ids);
            ck_assert_float_eq(a.score, b.score);
        }
        mt_sentence_destroy(one[i]);
        mt_sentence_destroy(many[i]);
    }
    ck_assert_uint_eq(mt_batch_n_sentences(together), 0);
    ck_assert_uint_eq(mt_batch_n_rows(together), 0);
    mt_batch_destroy(alone);
    mt_batch_destroy(together);
    mt_team_destroy(team);
    close_vector(&v);
}
END_TEST

START_TEST(a_cancelled_sentence_frees_its_rows_and_disturbs_nobody)
{
    struct vector v;
    ck_assert(open_vector(1, &v));
    struct mt_batch *batch = make_batch(8, NULL);
    const struct mt_sentence_options options = {.beam_size = 4};
    struct mt_sentence *kept = make_sentence(&v, &options), *dropped = make_sentence(&v, &options);
    ck_assert(mt_batch_admit(batch, kept));
    ck_assert(mt_batch_admit(batch, dropped));
    for (int i = 0; i < _i; i++)
        mt_batch_step(batch);
    mt_batch_cancel(batch, dropped);
    ck_assert_uint_eq(mt_batch_n_rows(batch), 4);
    while (!mt_batch_take_finished(batch))
        mt_batch_step(batch);
    ck_assert_uint_eq(mt_batch_n_rows(batch), 0);
    ck_assert_int_eq(mt_sentence_hypothesis(kept, 0).has_eos, true);
    mt_sentence_destroy(kept);
    mt_sentence_destroy(dropped);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

START_TEST(runners_up_are_sorted_and_contain_the_choice)
{
    struct vector v;
    ck_assert(open_vector(1, &v));
    struct mt_batch *batch = make_batch(8, NULL);
    const struct mt_sentence_options options = {
        .beam_size = 1, .n_top = 5, .return_logprobs = true};
    struct mt_sentence *s = make_sentence(&v, &options);
    run_all(batch, &s, 1);
    struct mt_hypothesis h = mt_sentence_hypothesis(s, 0);
    for (size_t i = 0; i < h.n_ids; i++) {
        const struct mt_top_token *top = mt_sentence_top(s, i);
        ck_assert_int_eq(top[0].id, h.ids[i]);
        ck_assert_float_eq_tol(top[0].logprob, h.token_logprobs[i], 1e-4f);
        for (size_t j = 1; j < 5; j++)
            ck_assert_float_le(top[j].logprob, top[j - 1].logprob);
    }
    mt_sentence_destroy(s);
    mt_batch_destroy(batch);
    close_vector(&v);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *numbers = tcase_create("numbers");
    tcase_add_unchecked_fixture(numbers, open_model, close_model);
    tcase_set_timeout(numbers, 120);
    tcase_add_loop_test(numbers, every_number_inside_equals_the_reference, 1, 7);
    tcase_add_loop_test(numbers, attention_rows_sum_to_one_and_never_see_the_future, 1, 7);
    tcase_add_loop_test(numbers, greedy_search_equals_the_reference, 1, 7);
    tcase_add_loop_test(numbers, step_by_step_equals_all_at_once, 1, 7);
    tcase_add_loop_test(numbers, a_batch_of_many_equals_one_by_one, 1, 4);
    tcase_add_loop_test(numbers, a_cancelled_sentence_frees_its_rows_and_disturbs_nobody, 0, 6);
    tcase_add_test(numbers, runners_up_are_sorted_and_contain_the_choice);
    suite_add_tcase(suite, numbers);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
