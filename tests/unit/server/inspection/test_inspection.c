#include "inspection_sample.h"
#include "server/inspection/alignment.h"
#include "server/inspection/inspection.h"

#include <check.h>
#include <string.h>

static struct sample sample;
static struct mt_error err;

static struct mt_inspection *inspect(const struct mt_inspection_options *options)
{
    struct mt_inspection *inspection = NULL;
    sample_init(&sample);
    enum mt_status status = mt_inspection_create(&sample.input, options, &inspection, &err);
    ck_assert_msg(!status, "%s", err.message);
    return inspection;
}

static enum mt_status refusal(const struct mt_inspection_options *options)
{
    struct mt_inspection *inspection = NULL;
    sample_init(&sample);
    enum mt_status status = mt_inspection_create(&sample.input, options, &inspection, &err);
    ck_assert_ptr_null(inspection);
    return status;
}

START_TEST(offsets_count_bytes_code_points_and_utf16_from_the_start_of_the_text)
{
    struct mt_inspection *inspection = inspect(&(struct mt_inspection_options){0});
    const struct mt_inspected_sentence *first = &inspection->sentences[0];
    const struct mt_inspected_sentence *second = &inspection->sentences[1];
    const struct {
        const struct mt_offsets *found;
        struct mt_offsets expected;
    } cases[] = {
        {&first->source, {0, 16, 0, 10, 0, 11}},
        {&first->source_tokens[0].at, {0, 6, 0, 5, 0, 5}},
        {&first->source_tokens[1].at, {7, 10, 6, 7, 6, 7}},
        {&first->source_tokens[2].at, {11, 16, 8, 10, 8, 11}}, /* the face is two units */
        {&first->source_tokens[3].at, {16, 16, 10, 10, 11, 11}},
        {&second->source, {18, 20, 12, 14, 13, 15}},
        {&second->source_tokens[0].at, {18, 20, 12, 14, 13, 15}},
        {&first->output_tokens[1].at, {5, 10, 5, 7, 5, 8}},
        {&second->target, {12, 15, 9, 12, 10, 13}},
        {&second->output_tokens[0].at, {12, 15, 9, 12, 10, 13}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_mem_eq(cases[i].found, &cases[i].expected, sizeof(struct mt_offsets));
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(input_tokens_are_the_start_token_and_the_output_one_step_later)
{
    struct mt_inspection *inspection = inspect(&(struct mt_inspection_options){0});
    const struct mt_inspected_sentence *sentence = &inspection->sentences[0];
    ck_assert_uint_eq(sentence->n_steps, 3);
    ck_assert_str_eq(sentence->input_tokens[0].piece, "<pad>");
    ck_assert(!sentence->input_tokens[0].has_place);
    for (size_t t = 1; t < 3; t++) {
        ck_assert_str_eq(sentence->input_tokens[t].piece, sentence->output_tokens[t - 1].piece);
        ck_assert(!sentence->input_tokens[t].has_logprob);
    }
    ck_assert_float_eq(sentence->output_tokens[1].logprob, -0.25F);
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(rows_of_the_alignment_sum_to_1)
{
    for (int mode = MT_ALIGNMENT_MEAN; mode <= MT_ALIGNMENT_MAX; mode++) {
        struct mt_inspection_options options = {
            .alignment = {.mode = (enum mt_alignment_mode)mode}};
        struct mt_inspection *inspection = inspect(&options);
        for (size_t i = 0; i < inspection->n_sentences; i++) {
            const struct mt_inspected_sentence *sentence = &inspection->sentences[i];
            for (size_t t = 0; t < sentence->n_steps; t++) {
                double sum = 0;
                for (size_t s = 0; s < sentence->n_source; s++)
                    sum += (double)sentence->alignment[t * sentence->n_source + s];
                ck_assert_double_eq_tol(sum, 1, 1e-6);
            }
        }
        mt_inspection_destroy(inspection);
    }
}
END_TEST

START_TEST(the_alignment_is_the_mean_of_the_chosen_heads)
{
    struct mt_inspection_options options = {
        .alignment = {.layers = {2, {0, -1}}, .heads = {1, {1}}}};
    struct mt_inspection *inspection = inspect(&options);
    ck_assert_uint_eq(inspection->alignment_selection.n_layers, 2);
    ck_assert_uint_eq(inspection->alignment_selection.layers[1], 2);
    for (size_t t = 0; t < 3; t++) {
        for (size_t s = 0; s < 4; s++) {
            float expected = (sample.attention[0].rows[2][0][1][t][s] +
                              sample.attention[0].rows[2][2][1][t][s]) /
                             2;
            ck_assert_float_eq_tol(inspection->sentences[0].alignment[t * 4 + s], expected, 1e-6F);
        }
    }
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(the_default_alignment_uses_all_heads_of_the_upper_half)
{
    struct mt_inspection *inspection = inspect(&(struct mt_inspection_options){0});
    ck_assert_uint_eq(inspection->alignment_selection.n_layers, 2);
    ck_assert_uint_eq(inspection->alignment_selection.layers[0], 1);
    ck_assert_uint_eq(inspection->alignment_selection.layers[1], 2);
    ck_assert_uint_eq(inspection->alignment_selection.n_heads, 2);
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(shift_input_takes_the_step_that_read_the_token)
{
    struct mt_inspection_options options = {
        .alignment = {.layers = {1, {1}}, .heads = {1, {0}}, .shift = MT_SHIFT_INPUT}};
    struct mt_inspection *inspection = inspect(&options);
    static const size_t steps[] = {1, 2, 2}; /* the last token was never read */
    for (size_t t = 0; t < 3; t++)
        for (size_t s = 0; s < 4; s++)
            ck_assert_float_eq_tol(inspection->sentences[0].alignment[t * 4 + s],
                                   sample.attention[0].rows[2][1][0][steps[t]][s], 1e-6F);
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(links_leave_special_tokens_out_and_are_sorted)
{
    struct mt_inspected_token source[] = {
        {.piece = "a"}, {.piece = "b"}, {.piece = "</s>", .special = true}};
    struct mt_inspected_token output[] = {
        {.piece = "x"}, {.piece = "y"}, {.piece = "</s>", .special = true}};
    float alignment[] = {0.1F, 0.3F, 0.6F, 0.2F, 0.2F, 0.6F, 0, 0, 1};
    struct mt_inspected_sentence sentence = {.source_tokens = source,
                                             .n_source = 3,
                                             .output_tokens = output,
                                             .n_steps = 3,
                                             .alignment = alignment};
    struct mt_link links[3];
    ck_assert_uint_eq(mt_alignment_links(&sentence, links), 2);
    ck_assert_uint_eq(links[0].source, 0); /* y: the first of two equals */
    ck_assert_uint_eq(links[0].target, 1);
    ck_assert_uint_eq(links[1].source, 1);
    ck_assert_uint_eq(links[1].target, 0);
}
END_TEST

START_TEST(a_sentence_of_special_tokens_has_no_links)
{
    struct mt_inspected_token eos = {.piece = "</s>", .special = true};
    struct mt_inspected_token word = {.piece = "x"};
    float one = 1;
    struct mt_inspected_sentence sentence = {.source_tokens = &eos,
                                             .n_source = 1,
                                             .output_tokens = &word,
                                             .n_steps = 1,
                                             .alignment = &one};
    struct mt_link link;
    ck_assert_uint_eq(mt_alignment_links(&sentence, &link), 0);
}
END_TEST

/* The mean over some layers and heads, computed the plain way. */
static double mean(size_t kind, const size_t *layers, size_t n_layers, const size_t *heads,
                   size_t n_heads, size_t row, size_t column)
{
    double sum = 0;
    for (size_t l = 0; l < n_layers; l++)
        for (size_t h = 0; h < n_heads; h++)
            sum += (double)sample.attention[0].rows[kind][layers[l]][heads[h]][row][column];
    return sum / (double)(n_layers * n_heads);
}

START_TEST(reducing_averages_away_the_axis_that_it_names)
{
    static const size_t all_layers[] = {0, 1, 2}, all_heads[] = {0, 1};
    static const struct {
        enum mt_reduce reduce;
        size_t rank, shape[4];
    } cases[] = {
        {MT_REDUCE_NONE, 4, {3, 2, 3, 4}},
        {MT_REDUCE_HEADS, 3, {3, 3, 4}},
        {MT_REDUCE_LAYERS, 3, {2, 3, 4}},
        {MT_REDUCE_ALL, 2, {3, 4}},
    };
    for (size_t i = 0; i < 4; i++) {
        struct mt_inspection_options options = {.kinds = MT_TRACE_CROSS, .reduce = cases[i].reduce};
        struct mt_inspection *inspection = inspect(&options);
        struct mt_attention_tensor tensor[MT_MAX_TENSORS];
        ck_assert_uint_eq(mt_inspection_tensors(inspection, 0, tensor), 1);
        ck_assert_uint_eq(tensor->rank, cases[i].rank);
        ck_assert_mem_eq(tensor->shape, cases[i].shape, cases[i].rank * sizeof(size_t));
        bool by_layer = cases[i].reduce == MT_REDUCE_NONE || cases[i].reduce == MT_REDUCE_HEADS;
        bool by_head = cases[i].reduce == MT_REDUCE_NONE || cases[i].reduce == MT_REDUCE_LAYERS;
        for (size_t m = 0; m < tensor->n_matrices; m++) {
            size_t n_heads = by_head ? 2 : 1;
            const size_t *layers = by_layer ? &all_layers[m / n_heads] : all_layers;
            const size_t *heads = by_head ? &all_heads[m % n_heads] : all_heads;
            for (size_t row = 0; row < 3; row++) {
                const float *found = mt_attention_tensor_row(tensor, m, row);
                for (size_t s = 0; s < 4; s++)
                    ck_assert_double_eq_tol(
                        (double)found[s],
                        mean(2, layers, by_layer ? 1 : 3, heads, by_head ? 1 : 2, row, s), 1e-6);
            }
        }
        mt_inspection_destroy(inspection);
    }
}
END_TEST

START_TEST(tensors_come_in_order_with_the_tokens_of_their_rows)
{
    struct mt_inspection_options options = {.kinds = MT_TRACE_CROSS | MT_TRACE_DECODER |
                                                     MT_TRACE_ENCODER};
    struct mt_inspection *inspection = inspect(&options);
    struct mt_attention_tensor tensors[MT_MAX_TENSORS];
    ck_assert_uint_eq(mt_inspection_tensors(inspection, 0, tensors), 3);
    ck_assert_str_eq(tensors[0].name, "encoder");
    ck_assert_str_eq(tensors[1].name, "decoder");
    ck_assert_str_eq(tensors[2].name, "cross");
    ck_assert_uint_eq(tensors[0].shape[0], 2);
    ck_assert_uint_eq(tensors[1].shape[0], 3);
    const struct mt_inspected_sentence *sentence = &inspection->sentences[0];
    ck_assert_ptr_eq(mt_attention_tensor_rows(&tensors[0]), sentence->source_tokens);
    ck_assert_ptr_eq(mt_attention_tensor_rows(&tensors[1]), sentence->input_tokens);
    ck_assert_ptr_eq(mt_attention_tensor_rows(&tensors[2]), sentence->output_tokens);
    ck_assert_ptr_eq(mt_attention_tensor_columns(&tensors[1]), sentence->input_tokens);
    ck_assert_ptr_eq(mt_attention_tensor_columns(&tensors[2]), sentence->source_tokens);
    mt_inspection_destroy(inspection);
}
END_TEST

START_TEST(layers_and_heads_that_do_not_exist_are_named)
{
    static const struct {
        struct mt_inspection_options options;
        const char *message;
    } cases[] = {
        {{.kinds = MT_TRACE_CROSS, .layers = {1, {3}}}, "layer 3: cross attention has 3 layers"},
        {{.kinds = MT_TRACE_ENCODER, .layers = {1, {2}}}, "layer 2: encoder attention has 2"},
        {{.kinds = MT_TRACE_CROSS, .heads = {1, {-3}}}, "head -3: cross attention has 2 heads"},
        {{.alignment = {.layers = {1, {9}}}}, "alignment: layer 9"},
        {{.alignment = {.heads = {1, {2}}}}, "alignment: head 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(refusal(&cases[i].options), MT_INVALID);
        ck_assert_msg(strstr(err.message, cases[i].message), "%s", err.message);
    }
}
END_TEST

START_TEST(too_many_numbers_are_refused_with_both_counts)
{
    struct mt_inspection_options options = {.kinds = MT_TRACE_CROSS | MT_TRACE_ENCODER};
    struct mt_inspection *inspection = inspect(&options);
    /* alignment 3*4 + 2*2, cross 6 times that, encoder 4 times 16 + 4 */
    ck_assert_uint_eq(inspection->n_values, 16 + 96 + 80);
    mt_inspection_destroy(inspection);
    options.max_values = 192;
    mt_inspection_destroy(inspect(&options));
    options.max_values = 191;
    ck_assert_int_eq(refusal(&options), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "192 numbers needed, 191 allowed"));
}
END_TEST

START_TEST(a_trace_of_another_shape_is_refused)
{
    struct mt_inspection *inspection;
    sample_init(&sample);
    sample.attention[1].n_steps = 3;
    ck_assert_int_eq(
        mt_inspection_create(&sample.input, &(struct mt_inspection_options){0}, &inspection, &err),
        MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "expected [3, 2, 2, 2]"));
}
END_TEST

static void count_call(void *owner)
{
    ++*(int *)owner;
}

START_TEST(the_owner_of_the_attention_is_released_once)
{
    int n_calls = 0;
    struct mt_inspection *inspection = inspect(&(struct mt_inspection_options){0});
    mt_inspection_keep(inspection, &n_calls, count_call);
    mt_inspection_destroy(inspection);
    ck_assert_int_eq(n_calls, 1);
}
END_TEST

Suite *suite_inspection(void)
{
    Suite *suite = suite_create("inspection");
    TCase *tests = tcase_create("inspection");
    tcase_add_test(tests, offsets_count_bytes_code_points_and_utf16_from_the_start_of_the_text);
    tcase_add_test(tests, input_tokens_are_the_start_token_and_the_output_one_step_later);
    tcase_add_test(tests, rows_of_the_alignment_sum_to_1);
    tcase_add_test(tests, the_alignment_is_the_mean_of_the_chosen_heads);
    tcase_add_test(tests, the_default_alignment_uses_all_heads_of_the_upper_half);
    tcase_add_test(tests, shift_input_takes_the_step_that_read_the_token);
    tcase_add_test(tests, links_leave_special_tokens_out_and_are_sorted);
    tcase_add_test(tests, a_sentence_of_special_tokens_has_no_links);
    tcase_add_test(tests, reducing_averages_away_the_axis_that_it_names);
    tcase_add_test(tests, tensors_come_in_order_with_the_tokens_of_their_rows);
    tcase_add_test(tests, layers_and_heads_that_do_not_exist_are_named);
    tcase_add_test(tests, too_many_numbers_are_refused_with_both_counts);
    tcase_add_test(tests, a_trace_of_another_shape_is_refused);
    tcase_add_test(tests, the_owner_of_the_attention_is_released_once);
    suite_add_tcase(suite, tests);
    return suite;
}
