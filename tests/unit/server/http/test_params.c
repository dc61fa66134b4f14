#include "server/http/params.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

static struct mt_params parse(const char *text, bool is_json)
{
    struct mt_params params = {0};
    struct mt_error err;
    enum mt_status status = is_json ? mt_params_parse_json(&params, text, strlen(text), &err)
                                    : mt_params_parse_form(&params, text, strlen(text), true, &err);
    ck_assert_msg(!status, "%s: %s", text, status ? err.message : "");
    return params;
}

static const struct {
    const char *form, *name, *value; /* value NULL: absent */
} fields[] = {
    {"q=Hello", "q", "Hello"},
    {"q=a+b%20c%2B", "q", "a b c+"},
    {"a=1&q=%C3%A4&b=2", "q", "\xC3\xA4"},
    {"q=first&Q=second", "q", "first"},
    {"q=a=b", "q", "a=b"},
    {"q", "q", ""},
    {"q=", "q", ""},
    {"&&q=x&&", "q", "x"},
    {"=x", "", "x"},
    {"%71=x", "q", "x"},
    {"Q=x", "q", NULL},
    {"", "q", NULL},
    {"q=a%0D%0Ab%0Dc%0Ad", "q", "a\nb\nc\nd"},
    {"q=a%0D%0A", "q", "a"},
    {"q=a%0A%0A", "q", "a\n"},
};

START_TEST(form_fields_are_decoded)
{
    struct mt_params params = parse(fields[_i].form, false);
    const char *value = NULL;
    bool found;
    ck_assert_int_eq(mt_params_string(&params, fields[_i].name, &value, &found, NULL), MT_OK);
    ck_assert(found == (fields[_i].value != NULL));
    if (found)
        ck_assert_str_eq(value, fields[_i].value);
    mt_params_finish(&params);
}
END_TEST

static const char *const malformed[] = {
    "q=%",
    "q=%4",
    "q=%4g",
    "q=%zz",
    "q=%00",
    "%ff=x",
    "q=%C3",
    "q=%ED%A0%80",
    "q=\xFF",
    "q=a&q=a",
    "q=a&Q=b&q=",
    "q&q",
    "api_key=K&text=a&text=b&api%5Fkey=x",
    "=&=",
};

START_TEST(repeated_fields_stand_behind_the_first)
{
    struct mt_params params = {0};
    static const char form[] = "text=a&q=x&text=b%0D%0A&Text=no&text=";
    ck_assert_int_eq(mt_params_parse_form(&params, form, strlen(form), true, NULL), MT_OK);
    const struct cJSON *value = mt_params_get(&params, "text");
    ck_assert_str_eq(value->valuestring, "a");
    value = mt_params_next(value);
    ck_assert_str_eq(value->valuestring, "b");
    value = mt_params_next(value);
    ck_assert_str_eq(value->valuestring, "");
    ck_assert_ptr_null(mt_params_next(value));
    ck_assert_ptr_null(mt_params_next(mt_params_get(&params, "q")));
    mt_params_finish(&params);
}
END_TEST

START_TEST(malformed_forms_are_refused)
{
    struct mt_params params = {0};
    struct mt_error err;
    ck_assert_int_eq(
        mt_params_parse_form(&params, malformed[_i], strlen(malformed[_i]), true, &err), MT_FORMAT);
    ck_assert_ptr_null(params.object);
}
END_TEST

START_TEST(number_of_fields_is_limited)
{
    static char form[6 * (MT_MAX_FORM_FIELDS + 1) + 1];
    for (size_t i = 0; i <= MT_MAX_FORM_FIELDS; i++)
        snprintf(form + 6 * i, 7, "%05u&", (unsigned)(i % 100000));
    struct mt_params params = {0};
    struct mt_error err;
    ck_assert_int_eq(mt_params_parse_form(&params, form, 6 * MT_MAX_FORM_FIELDS, true, &err),
                     MT_OK);
    mt_params_finish(&params);
    ck_assert_int_eq(mt_params_parse_form(&params, form, 6 * (MT_MAX_FORM_FIELDS + 1), true, &err),
                     MT_LIMIT);
}
END_TEST

#define MULTIPART "multipart/form-data; boundary=X"
#define PART(disposition, value) \
    "--X\r\nContent-Disposition: form-data; " disposition "\r\n\r\n" value "\r\n"

START_TEST(multipart_gives_fields_and_files)
{
    const char *body = PART("name=q", "a\r\nb\r\n") PART("name=n", "5")
        PART("name=file; filename=\"x.txt\"", "one\r\n") PART("name=r", "second")
            PART("name=other; filename=y", "two") "--X--";
    struct mt_params params = {0};
    struct mt_error err;
    const char *q = NULL;
    int64_t n = 0;
    ck_assert_int_eq(mt_params_parse_multipart(&params, MULTIPART, body, strlen(body), &err),
                     MT_OK);
    ck_assert_int_eq(mt_params_string(&params, "q", &q, NULL, NULL), MT_OK);
    ck_assert_str_eq(q, "a\nb");
    ck_assert_int_eq(mt_params_integer(&params, "n", 0, 9, &n, NULL, NULL), MT_OK);
    ck_assert_int_eq(n, 5);
    const struct mt_params_file *file = mt_params_file(&params, "file");
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(file->file_name, "x.txt");
    ck_assert_str_eq(file->content_type, "");
    ck_assert_uint_eq(file->length, 5); /* as it is: only fields lose their last line end */
    ck_assert_ptr_eq(file->bytes, strstr(body, "one"));
    ck_assert_ptr_null(mt_params_get(&params, "file"));
    ck_assert_ptr_null(mt_params_file(&params, "q"));
    ck_assert_uint_eq(params.n_files, 2);
    mt_params_finish(&params);
    ck_assert_uint_eq(params.n_files, 0);
}
END_TEST

START_TEST(encodings_add_up_and_the_first_counts)
{
    const char *body = PART("name=q", "body") PART("name=b", "2") "--X--";
    struct mt_params params = parse("q=query&a=1", false);
    struct mt_error err;
    ck_assert_int_eq(mt_params_parse_multipart(&params, MULTIPART, body, strlen(body), &err),
                     MT_OK);
    ck_assert_str_eq(cJSON_GetStringValue(mt_params_get(&params, "q")), "query");
    ck_assert_str_eq(cJSON_GetStringValue(mt_params_get(&params, "a")), "1");
    ck_assert_str_eq(cJSON_GetStringValue(mt_params_get(&params, "b")), "2");
    mt_params_finish(&params);
}
END_TEST

static const struct {
    const char *body;
    bool has_nul; /* in the place of '?' */
    enum mt_status status;
} bad_parts[] = {
    {PART("name=q", "\xFF") "--X--", false, MT_FORMAT},
    {PART("name=q", "a?b") "--X--", true, MT_FORMAT},
    {PART("name=q", "a"), false, MT_FORMAT},
    {PART("name=q", "b") PART("name=q", "b") "--X--", false, MT_FORMAT},
    {PART("name=f; filename=g", "b") PART("name=f; filename=h", "c") "--X--", false, MT_FORMAT},
};

START_TEST(malformed_multipart_leaves_nothing)
{
    char body[256];
    struct mt_params params = parse("a=1", false);
    struct mt_error err;
    strcpy(body, bad_parts[_i].body);
    size_t length = strlen(body);
    if (bad_parts[_i].has_nul)
        *strchr(body, '?') = '\0';
    ck_assert_int_eq(mt_params_parse_multipart(&params, MULTIPART, body, length, &err),
                     bad_parts[_i].status);
    ck_assert_ptr_null(params.object);
}
END_TEST

/* n parts of one kind, one more than allowed, are refused. */
START_TEST(number_of_parts_is_limited)
{
    static const char *const kinds[] = {PART("name=q%zu", ""), PART("name=q%zu; filename=f", "")};
    static const size_t limits[] = {MT_MAX_FORM_FIELDS, MT_MAX_FORM_FILES};
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t more = 0; more < 2; more++) {
            struct mt_text body = {0};
            struct mt_params params = {0};
            struct mt_error err;
            for (size_t i = 0; i < limits[kind] + more; i++)
                mt_text_appendf(&body, kinds[kind], i);
            mt_text_append_string(&body, "--X--");
            ck_assert_int_eq(
                mt_params_parse_multipart(&params, MULTIPART, body.bytes, body.length, &err),
                more ? MT_LIMIT : MT_OK);
            mt_params_finish(&params);
            mt_text_finish(&body);
        }
}
END_TEST

START_TEST(json_must_be_an_object)
{
    static const char *const others[] = {"[]", "\"q\"", "5", "null", "true"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct mt_params params = {0};
        struct mt_error err;
        ck_assert_int_eq(mt_params_parse_json(&params, others[i], strlen(others[i]), &err),
                         MT_FORMAT);
        ck_assert_str_eq(err.message, "Invalid JSON format");
    }
}
END_TEST

/* As many texts as max_batch_texts may be, each with a source and a target, fit; a body of nothing
 * but values does not. */
START_TEST(number_of_json_values_is_limited)
{
    static const char *const texts[] = {"\"\",", "0,"};
    static const size_t counts[] = {3 * 65536, MT_MAX_JSON_VALUES};
    for (size_t i = 0; i < 2; i++) {
        struct mt_text body = {0};
        struct mt_params params = {0};
        struct mt_error err;
        mt_text_append_string(&body, "{\"q\":[");
        for (size_t n = 0; n < counts[i]; n++)
            mt_text_append_string(&body, texts[i]);
        mt_text_append_string(&body, "0]}");
        ck_assert_int_eq(mt_params_parse_json(&params, body.bytes, body.length, &err),
                         i == 0 ? MT_OK : MT_LIMIT);
        mt_params_finish(&params);
        mt_text_finish(&body);
    }
}
END_TEST

/* Each value as JSON and as form text; the two doors lead to the same answers. */
static const struct {
    const char *json, *form;
    enum mt_status status;
    bool found;
    int64_t value;
} integers[] = {
    {"{\"n\":5}", "n=5", MT_OK, true, 5},
    {"{\"n\":-3}", "n=-3", MT_OK, true, -3},
    {"{\"n\":null}", "n=", MT_OK, false, 0},
    {"{}", "m=1", MT_OK, false, 0},
    {"{\"n\":11}", "n=11", MT_INVALID, false, 0},
    {"{\"n\":-11}", "n=-11", MT_INVALID, false, 0},
    {"{\"n\":5.5}", "n=5.5", MT_INVALID, false, 0},
    {"{\"n\":\"x\"}", "n=x", MT_INVALID, false, 0},
    {"{\"n\":[5]}", "n=+5", MT_INVALID, false, 0},
    {"{\"n\":true}", "n=5-", MT_INVALID, false, 0},
    {"{\"n\":99999999999999999999}", "n=99999999999999999999", MT_INVALID, false, 0},
};

START_TEST(integers_are_read_within_their_range)
{
    for (int is_json = 0; is_json < 2; is_json++) {
        struct mt_params params = parse(is_json ? integers[_i].json : integers[_i].form, is_json);
        struct mt_error err;
        int64_t value = 0;
        bool found = false;
        ck_assert_int_eq(mt_params_integer(&params, "n", -10, 10, &value, &found, &err),
                         integers[_i].status);
        ck_assert_int_eq(value, integers[_i].value);
        ck_assert(integers[_i].status || found == integers[_i].found);
        mt_params_finish(&params);
    }
}
END_TEST

START_TEST(numbers_do_not_depend_on_the_locale)
{
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
    for (int is_json = 0; is_json < 2; is_json++) {
        struct mt_params params =
            parse(is_json ? "{\"x\":0.25,\"y\":2e3}" : "x=0.25&y=2e3", is_json);
        double x = 0, y = 0;
        ck_assert_int_eq(mt_params_number(&params, "x", 0, 1, &x, NULL, NULL), MT_OK);
        ck_assert_double_eq(x, 0.25);
        ck_assert_int_eq(mt_params_number(&params, "y", 0, 5000, &y, NULL, NULL), MT_OK);
        ck_assert_double_eq(y, 2000);
        struct mt_error err;
        ck_assert_int_eq(mt_params_number(&params, "y", 0, 1000, &y, NULL, &err), MT_INVALID);
        mt_params_finish(&params);
    }
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(texts_that_are_no_number_are_refused)
{
    static const char *const others[] = {"nan", "inf", "0x10", "1e999", "1,5", " 1", "1 ", "", "e"};
    double value;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!mt_parse_number(others[i], &value), "%s", others[i]);
    char many_digits[200];
    memset(many_digits, '1', sizeof many_digits - 1);
    many_digits[sizeof many_digits - 1] = '\0';
    ck_assert(!mt_parse_number(many_digits, &value));
    ck_assert(mt_parse_number("-1.5e-3", &value));
    ck_assert_double_eq(value, -0.0015);
}
END_TEST

START_TEST(booleans_have_words_in_forms)
{
    struct mt_params params = parse("a=true&b=1&c=false&d=0&e=yes&f=", false);
    static const struct {
        const char *name;
        enum mt_status status;
        bool found, value;
    } cases[] = {
        {"a", MT_OK, true, true},   {"b", MT_OK, true, true},        {"c", MT_OK, true, false},
        {"d", MT_OK, true, false},  {"e", MT_INVALID, false, false}, {"f", MT_OK, false, false},
        {"g", MT_OK, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_error err;
        bool value = false, found = false;
        ck_assert_int_eq(mt_params_bool(&params, cases[i].name, &value, &found, &err),
                         cases[i].status);
        ck_assert(value == cases[i].value);
        ck_assert(cases[i].status || found == cases[i].found);
    }
    mt_params_finish(&params);
}
END_TEST

START_TEST(without_fields_everything_is_absent)
{
    const struct mt_params params = {0};
    const char *text = "as before";
    bool found = true;
    ck_assert_ptr_null(mt_params_get(&params, "q"));
    ck_assert_int_eq(mt_params_string(&params, "q", &text, &found, NULL), MT_OK);
    ck_assert(!found);
    ck_assert_str_eq(text, "as before");
}
END_TEST

Suite *suite_params(void)
{
    Suite *suite = suite_create("params");
    TCase *tcase = tcase_create("params");
    tcase_add_test(tcase, repeated_fields_stand_behind_the_first);
    tcase_add_loop_test(tcase, form_fields_are_decoded, 0, sizeof fields / sizeof fields[0]);
    tcase_add_loop_test(tcase, malformed_forms_are_refused, 0,
                        sizeof malformed / sizeof malformed[0]);
    tcase_add_test(tcase, number_of_fields_is_limited);
    tcase_add_test(tcase, multipart_gives_fields_and_files);
    tcase_add_test(tcase, encodings_add_up_and_the_first_counts);
    tcase_add_loop_test(tcase, malformed_multipart_leaves_nothing, 0,
                        sizeof bad_parts / sizeof bad_parts[0]);
    tcase_add_test(tcase, number_of_parts_is_limited);
    tcase_add_test(tcase, json_must_be_an_object);
    tcase_add_test(tcase, number_of_json_values_is_limited);
    tcase_add_loop_test(tcase, integers_are_read_within_their_range, 0,
                        sizeof integers / sizeof integers[0]);
    tcase_add_test(tcase, numbers_do_not_depend_on_the_locale);
    tcase_add_test(tcase, texts_that_are_no_number_are_refused);
    tcase_add_test(tcase, booleans_have_words_in_forms);
    tcase_add_test(tcase, without_fields_everything_is_absent);
    suite_add_tcase(suite, tcase);
    return suite;
}
