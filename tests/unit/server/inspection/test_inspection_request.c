#include "server/inspection/inspection_request.h"

#include "config/settings.h"

#include <check.h>
#include <string.h>

static struct mt_error err;

static enum mt_status read_params(const struct mt_params *params,
                                  struct mt_inspection_request *request)
{
    struct mt_settings settings;
    struct mt_fields fields;
    ck_assert_int_eq(mt_settings_init(&settings, &err), MT_OK);
    enum mt_status status =
        mt_fields_read(params, MT_FIELDS_OF_ATTENTION, &settings, &fields, &err);
    if (!status)
        status = mt_inspection_request_read(params, &fields, request, &err);
    mt_settings_finish(&settings);
    return status;
}

static enum mt_status read_json(const char *json, struct mt_inspection_request *request)
{
    struct mt_params params = {0};
    *request = (struct mt_inspection_request){0};
    ck_assert_int_eq(mt_params_parse_json(&params, json, strlen(json), &err), MT_OK);
    enum mt_status status = read_params(&params, request);
    mt_params_finish(&params);
    return status;
}

START_TEST(an_empty_request_asks_for_the_alignment_alone)
{
    struct mt_inspection_request request;
    ck_assert_int_eq(read_json("{}", &request), MT_OK);
    ck_assert_uint_eq(request.options.kinds, 0);
    ck_assert_int_eq(request.format, MT_FORMAT_JSON);
    ck_assert(request.sentence == MT_ALL_SENTENCES);
    ck_assert_uint_eq(request.options.n_top, 0);
}
END_TEST

START_TEST(every_field_is_read)
{
    struct mt_inspection_request request;
    ck_assert_int_eq(
        read_json("{\"kinds\":[\"decoder\",\"cross\"],\"layers\":[0,-1],\"heads\":3,"
                  "\"reduce\":\"layers\",\"precision\":6,\"next_tokens\":5,\"format\":\"npy\","
                  "\"sentence\":2,\"alignment\":{\"layers\":[1],\"heads\":[4,5],\"mode\":\"max\","
                  "\"shift\":\"input\"}}",
                  &request),
        MT_OK);
    const struct mt_inspection_options *options = &request.options;
    ck_assert_uint_eq(options->kinds, MT_TRACE_DECODER | MT_TRACE_CROSS);
    ck_assert_uint_eq(options->layers.n, 2);
    ck_assert_int_eq(options->layers.values[1], -1);
    ck_assert_uint_eq(options->heads.n, 1);
    ck_assert_int_eq(options->heads.values[0], 3);
    ck_assert_int_eq(options->reduce, MT_REDUCE_LAYERS);
    ck_assert_int_eq(options->decimals, 6);
    ck_assert_uint_eq(options->n_top, 5);
    ck_assert_int_eq(request.format, MT_FORMAT_NPY);
    ck_assert_uint_eq(request.sentence, 2);
    ck_assert_int_eq(options->alignment.layers.values[0], 1);
    ck_assert_int_eq(options->alignment.heads.values[1], 5);
    ck_assert_int_eq(options->alignment.mode, MT_ALIGNMENT_MAX);
    ck_assert_int_eq(options->alignment.shift, MT_SHIFT_INPUT);
}
END_TEST

START_TEST(forms_say_the_same_in_words)
{
    static const char form[] = "kinds=encoder,cross&layers=1,-2&alignment_layers=0"
                               "&alignment_shift=input&precision=3&reduce=all";
    struct mt_params params = {0};
    struct mt_inspection_request request = {0};
    ck_assert_int_eq(mt_params_parse_form(&params, form, strlen(form), true, &err), MT_OK);
    ck_assert_int_eq(read_params(&params, &request), MT_OK);
    ck_assert_uint_eq(request.options.kinds, MT_TRACE_ENCODER | MT_TRACE_CROSS);
    ck_assert_int_eq(request.options.layers.values[1], -2);
    ck_assert_uint_eq(request.options.alignment.layers.n, 1);
    ck_assert_int_eq(request.options.alignment.shift, MT_SHIFT_INPUT);
    ck_assert_int_eq(request.options.decimals, 3);
    ck_assert_int_eq(request.options.reduce, MT_REDUCE_ALL);
    mt_params_finish(&params);
}
END_TEST

START_TEST(speaking_of_layers_or_heads_means_cross_attention)
{
    static const char *const requests[] = {"{\"layers\":[0]}", "{\"heads\":[0]}",
                                           "{\"reduce\":\"all\"}"};
    struct mt_inspection_request request;
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(read_json(requests[i], &request), MT_OK);
        ck_assert_uint_eq(request.options.kinds, MT_TRACE_CROSS);
    }
    ck_assert_int_eq(read_json("{\"layers\":[0],\"kinds\":[]}", &request), MT_OK);
    ck_assert_uint_eq(request.options.kinds, 0);
}
END_TEST

START_TEST(what_the_caller_chose_stays_where_the_request_is_silent)
{
    struct mt_params params = {0};
    struct mt_inspection_request request = {
        .options = {.max_values = 7, .alignment = {.layers = {1, {2}}, .shift = MT_SHIFT_INPUT}}};
    static const char json[] = "{\"alignment\":{\"heads\":[1]}}";
    ck_assert_int_eq(mt_params_parse_json(&params, json, strlen(json), &err), MT_OK);
    ck_assert_int_eq(read_params(&params, &request), MT_OK);
    mt_params_finish(&params);
    ck_assert_uint_eq(request.options.max_values, 7);
    ck_assert_int_eq(request.options.alignment.layers.values[0], 2);
    ck_assert_int_eq(request.options.alignment.heads.values[0], 1);
    ck_assert_int_eq(request.options.alignment.shift, MT_SHIFT_INPUT);
}
END_TEST

START_TEST(wrong_values_are_named)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"kinds\":\"all\"}", "kinds: found \"all\", expected one of cross, encoder, decoder"},
        {"{\"kinds\":[\"cross\",1]}", "kinds: expected an array of strings"},
        {"{\"kinds\":\"cross,\"}", "kinds: found \"\""},
        {"{\"layers\":\"1,,2\"}", "layers: found \"1,,2\", expected numbers like 0,2,-1"},
        {"{\"layers\":\"1;2\"}", "layers: found \"1;2\""},
        {"{\"layers\":[1.5]}", "layers: found 1.5"},
        {"{\"layers\":[1e9]}", "layers: found 1e+09"},
        {"{\"layers\":{}}", "layers: expected an array of numbers"},
        {"{\"heads\":[null]}", "heads: expected an array of numbers"},
        {"{\"precision\":10}", "precision"},
        {"{\"sentence\":-1}", "sentence"},
        {"{\"format\":\"bmp\"}", "format: found \"bmp\", expected json, bertviz"},
        {"{\"alignment\":{\"layer\":1}}", "alignment: layer: /attention has no such field"},
        {"{\"alignment\":\"mean\"}", "alignment: expected an object"},
        {"{\"alignment\":{\"shift\":\"none\"}}", "alignment: shift: found \"none\""},
    };
    struct mt_inspection_request request;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_json(cases[i].json, &request), MT_INVALID);
        ck_assert_msg(strstr(err.message, cases[i].message), "%s: %s", cases[i].json, err.message);
    }
}
END_TEST

START_TEST(too_many_numbers_are_a_limit)
{
    char json[1024] = "{\"layers\":[0";
    struct mt_inspection_request request;
    for (size_t i = 0; i < MT_MAX_INDICES; i++)
        strcat(json, ",0");
    strcat(json, "]}");
    ck_assert_int_eq(read_json(json, &request), MT_LIMIT);
}
END_TEST

Suite *suite_inspection_request(void)
{
    Suite *suite = suite_create("inspection_request");
    TCase *tests = tcase_create("inspection_request");
    tcase_add_test(tests, an_empty_request_asks_for_the_alignment_alone);
    tcase_add_test(tests, every_field_is_read);
    tcase_add_test(tests, forms_say_the_same_in_words);
    tcase_add_test(tests, speaking_of_layers_or_heads_means_cross_attention);
    tcase_add_test(tests, what_the_caller_chose_stays_where_the_request_is_silent);
    tcase_add_test(tests, wrong_values_are_named);
    tcase_add_test(tests, too_many_numbers_are_a_limit);
    suite_add_tcase(suite, tests);
    return suite;
}
