#include "server/http/fields.h"

#include "config/settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;
static struct mt_settings settings;
static struct mt_params params;

static void begin(void)
{
    ck_assert_int_eq(mt_settings_init(&settings, &err), MT_OK);
}

static void end(void)
{
    mt_params_finish(&params);
    mt_settings_finish(&settings);
}

static enum mt_status read_json(const char *json, enum mt_fields_of route, struct mt_fields *out)
{
    mt_params_finish(&params);
    ck_assert_int_eq(mt_params_parse_json(&params, json, strlen(json), &err), MT_OK);
    return mt_fields_read(&params, route, &settings, out, &err);
}

START_TEST(what_is_absent_is_its_default_or_the_setting)
{
    struct mt_fields fields;
    settings.post_edit = false;
    ck_assert_int_eq(read_json("{\"n\":7}", MT_FIELDS_OF_TRANSLATE, &fields), MT_OK);
    ck_assert(!fields.post_edit && fields.repair_numbers && fields.outline_detection);
    ck_assert_str_eq(fields.stream_mode, "sentence");
    ck_assert_str_eq(fields.split_sentences, settings.split_sentences);
    ck_assert_str_eq(fields.target_prefix, "");
    ck_assert(fields.length_penalty == -1);
    ck_assert_int_eq(fields.n, 0); /* of another route */
    ck_assert_int_eq(read_json("{}", MT_FIELDS_OF_POSITIONS, &fields), MT_OK);
    ck_assert_int_eq(fields.n, 64);
}
END_TEST

START_TEST(values_are_read_by_their_type)
{
    static const char form[] = "stream=1&length_penalty=0.5&stream_mode=token&target_prefix=";
    struct mt_fields fields;
    ck_assert_int_eq(mt_params_parse_form(&params, form, strlen(form), true, &err), MT_OK);
    ck_assert_int_eq(mt_fields_read(&params, MT_FIELDS_OF_TRANSLATE, &settings, &fields, &err),
                     MT_OK);
    ck_assert(fields.stream && fields.length_penalty == 0.5);
    ck_assert_str_eq(fields.stream_mode, "token");
    ck_assert_int_eq(read_json("{\"sentence\":2147483647,\"logit_lens\":0,\"search\":true}",
                               MT_FIELDS_OF_ATTENTION, &fields),
                     MT_OK);
    ck_assert_int_eq(fields.sentence, 2147483647);
    ck_assert_int_eq(fields.logit_lens, 0);
    ck_assert(fields.search);
}
END_TEST

START_TEST(a_name_may_be_of_another_type_elsewhere)
{
    struct mt_fields fields;
    const char *asked = "{\"split_sentences\":\"nonewlines\"}";
    ck_assert_int_eq(read_json(asked, MT_FIELDS_OF_DEEPL, &fields), MT_OK);
    ck_assert_str_eq(fields.split_sentences, "nonewlines");
    ck_assert_int_eq(read_json(asked, MT_FIELDS_OF_FILE, &fields), MT_INVALID);
    ck_assert_str_eq(err.message,
                     "split_sentences is \"nonewlines\", expected \"on\", \"off\" or \"newlines\"");
}
END_TEST

START_TEST(a_wrong_value_is_named)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"stream_mode\":\"\"}", "stream_mode is \"\", expected \"sentence\" or \"token\""},
        {"{\"shortlist\":\"of\"}", "shortlist is \"of\", expected \"on\" or \"off\""},
        {"{\"length_penalty\":11}", "length_penalty"},
        {"{\"stream\":\"yes\"}", "stream"},
        {"{\"target_prefix\":1}", "target_prefix"},
    };
    struct mt_fields fields;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_json(cases[i].json, MT_FIELDS_OF_TRANSLATE, &fields), MT_INVALID);
        ck_assert_msg(strncmp(err.message, cases[i].message, strlen(cases[i].message)) == 0, "%s",
                      err.message);
    }
}
END_TEST

START_TEST(an_unknown_name_gets_the_nearest_one)
{
    struct mt_fields fields;
    ck_assert_int_eq(read_json("{\"logitlens\":1}", MT_FIELDS_OF_ATTENTION, &fields), MT_OK);
    ck_assert_int_eq(
        mt_fields_check_names(params.object, MT_FIELDS_OF_ATTENTION, "/attention", &err),
        MT_INVALID);
    ck_assert_str_eq(err.message,
                     "logitlens: /attention has no such field, did you mean logit_lens?");
    ck_assert_int_eq(mt_fields_check_names(NULL, MT_FIELDS_OF_ATTENTION, "/attention", &err),
                     MT_OK);
}
END_TEST

START_TEST(lists_alone_may_repeat)
{
    ck_assert(mt_field_may_repeat("text") && mt_field_may_repeat("splitting_tags"));
    ck_assert(!mt_field_may_repeat("q") && !mt_field_may_repeat("nonsense"));
}
END_TEST

Suite *suite_fields(void)
{
    Suite *suite = suite_create("fields");
    TCase *tests = tcase_create("fields");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, what_is_absent_is_its_default_or_the_setting);
    tcase_add_test(tests, values_are_read_by_their_type);
    tcase_add_test(tests, a_name_may_be_of_another_type_elsewhere);
    tcase_add_test(tests, a_wrong_value_is_named);
    tcase_add_test(tests, an_unknown_name_gets_the_nearest_one);
    tcase_add_test(tests, lists_alone_may_repeat);
    suite_add_tcase(suite, tests);
    return suite;
}
