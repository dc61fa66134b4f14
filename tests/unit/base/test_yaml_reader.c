#include "base/yaml_reader.h"

#include "base/text.h"

#include <check.h>
#include <string.h>

static enum mt_status list(void *context, const struct mt_yaml_value *value, struct mt_error *err)
{
    struct mt_text *text = context;
    if (!strcmp(value->key, "stop"))
        return mt_fail(err, MT_LIMIT, "stopped");
    ck_assert_uint_eq(strlen(value->value), value->length);
    ck_assert_uint_eq(strlen(value->key), value->key_length);
    if (value->index == MT_YAML_SCALAR)
        mt_text_appendf(text, "%s=%s;", value->key, value->value);
    else
        mt_text_appendf(text, "%s[%zu]=%s;", value->key, value->index, value->value);
    return MT_OK;
}

static const struct {
    const char *yaml;
    const char *expected; /* what is listed, or a part of the message */
    enum mt_status status;
} cases[] = {
    {"a: 1\nb: two words\n", "a=1;b=two words;", MT_OK},
    {"a: [x, y]\nb:\n  - 1\n  - 2\nc: []\n", "a[0]=x;a[1]=y;b[0]=1;b[1]=2;", MT_OK},
    {"\"</s>\": 0\n'it''s': 1\n\"\\u2581a\": 2\n",
     "</s>=0;it's=1;\xE2\x96\x81"
     "a=2;",
     MT_OK},
    {"{\"a\": 1, \"b\": [2]}", "a=1;b[0]=2;", MT_OK},
    {"a: {b: {c: 1}, d: [2, [3]]}\ne: 4\n", "e=4;", MT_OK},
    {"a: [1, [2, 3], 4]\n", "a[0]=1;a[2]=4;", MT_OK},
    {"a: 1\na: 2\n", "a=1;a=2;", MT_OK}, /* whoever takes them decides */
    {"a: ~\nb:\n", "a=~;b=;", MT_OK},
    {"", "empty", MT_FORMAT},
    {"- a\n- b\n", "line 1: expected a mapping", MT_FORMAT},
    {"just text", "line 1: expected a mapping", MT_FORMAT},
    {"a: 1\n---\nb: 2\n", "one document", MT_FORMAT},
    {"[a]: 1\n", "a key is not plain", MT_FORMAT},
    {"? [a]\n: 1\n", "a key is not plain", MT_FORMAT},
    {"a: &x 1\nb: 2\n", "line 1: an anchor", MT_UNSUPPORTED},
    {"a: 1\nb: *a\n", "line 2: an alias", MT_UNSUPPORTED},
    {"a: !!int 1\n", "line 1: a tag", MT_UNSUPPORTED},
    {"a: \"x\\0y\"\n", "NUL", MT_FORMAT},
    {"a: [1\nb: 2\n", "line ", MT_FORMAT},
    {"a: \"\xFF\"\n", "line ", MT_FORMAT},
    {"a: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", "nested more than 16 deep", MT_LIMIT},
    {"a: 1\nstop: 2\nb: 3\n", "stopped", MT_LIMIT},
};

START_TEST(gives_each_value_or_says_why_not)
{
    struct mt_text text = {0};
    struct mt_error err = {0};
    mt_text_append(&text, "", 0);
    enum mt_status status =
        mt_yaml_read(cases[_i].yaml, strlen(cases[_i].yaml), "case", list, &text, &err);
    ck_assert_msg(status == cases[_i].status, "%s: status %d, %s", cases[_i].yaml, (int)status,
                  err.message);
    if (status)
        ck_assert_msg(strstr(err.message, cases[_i].expected), "%s: %s", cases[_i].yaml,
                      err.message);
    else
        ck_assert_str_eq(text.bytes, cases[_i].expected);
    mt_text_finish(&text);
}
END_TEST

START_TEST(an_empty_file_has_no_bytes)
{
    struct mt_error err = {0};
    ck_assert_int_eq(mt_yaml_read(NULL, 0, "empty.yml", list, NULL, &err), MT_FORMAT);
    ck_assert_str_eq(err.message, "empty.yml: line 1: empty, expected a mapping");
}
END_TEST

Suite *suite_yaml_reader(void)
{
    Suite *suite = suite_create("yaml_reader");
    TCase *tcase = tcase_create("documents");
    tcase_add_loop_test(tcase, gives_each_value_or_says_why_not, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, an_empty_file_has_no_bytes);
    suite_add_tcase(suite, tcase);
    return suite;
}
