#include "base/file.h"
#include "base/json.h"
#include "config/settings.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mt_settings settings;
static struct mt_error err;

static void start(void)
{
    ck_assert_int_eq(mt_settings_init(&settings, &err), MT_OK);
}

static void stop(void)
{
    mt_settings_finish(&settings);
}

/* Reads content as a configuration file; its name is put into path. */
static enum mt_status read_content(const char *content, char path[32])
{
    strcpy(path, "/tmp/test_settings_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    enum mt_status status = mt_settings_read_file(&settings, path, &err);
    unlink(path);
    return status;
}

static char *printed(void (*print)(struct mt_text *))
{
    struct mt_text text = {0};
    char *bytes;
    print(&text);
    ck_assert_int_eq(mt_text_take(&text, "page", &bytes, NULL, &err), MT_OK);
    return bytes;
}

static char *effective(void)
{
    struct mt_text text = {0};
    char *bytes;
    mt_settings_print_effective(&settings, &text);
    ck_assert_int_eq(mt_text_take(&text, "settings", &bytes, NULL, &err), MT_OK);
    return bytes;
}

START_TEST(defaults_are_those_that_users_are_told)
{
    ck_assert_str_eq(settings.model, "");
    ck_assert_str_eq(settings.host, "127.0.0.1");
    ck_assert_int_eq(settings.port, 5000);
    ck_assert_int_eq(settings.max_body_bytes, 262144);
    ck_assert_int_eq(settings.workers, 0);
    ck_assert_str_eq(settings.split_sentences, "on");
    ck_assert_double_lt(settings.length_penalty, 0);
    ck_assert_str_eq(settings.log_format, "text");
    ck_assert(!settings.log_requests);
}
END_TEST

START_TEST(the_committed_example_is_what_the_table_prints)
{
    char *path, *file, *example = printed(mt_settings_print_example);
    ck_assert_int_eq(mt_path_join(getenv("MT_SOURCE_DIR"), "config/attentiond.json", &path, &err),
                     MT_OK);
    ck_assert_int_eq(mt_file_read(path, MT_SETTINGS_MAX_FILE_BYTES, &file, NULL, &err), MT_OK);
    ck_assert_msg(!strcmp(file, example), "config/attentiond.json is not what the table says; run: "
                                          "attentiond check-config --print-example");
    free(path);
    free(file);
    free(example);
}
END_TEST

START_TEST(the_example_loads_unchanged_and_changes_nothing)
{
    char *before = effective(), *example = printed(mt_settings_print_example);
    char path[32];
    ck_assert_msg(!read_content(example, path), "%s", err.message);
    char *after = effective();
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    free(example);
}
END_TEST

START_TEST(the_effective_settings_load_again_as_they_are)
{
    ck_assert_int_eq(mt_settings_set(&settings, "port", "6001", "--port", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&settings, "length_penalty", "0.6", "flag", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&settings, "log_requests", "true", "flag", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&settings, "model", "/m/\"en\"\n", "flag", &err), MT_OK);
    char *before = effective(), path[32];
    mt_settings_finish(&settings);
    start();
    ck_assert_msg(!read_content(before, path), "%s", err.message);
    char *after = effective();
    ck_assert_str_eq(before, after);
    ck_assert_str_eq(settings.model, "/m/\"en\"\n");
    free(before);
    free(after);
}
END_TEST

/* What every source refuses, as it says so. */
static const struct {
    const char *key, *value, *message;
} wrong[] = {
    {"port", "70000", "--x is 70000; expected an integer from 0 to 65535"},
    {"port", "-1", "--x is -1; expected an integer from 0 to 65535"},
    {"port", "80.5", "--x is 80.5; expected an integer from 0 to 65535"},
    {"port", "80,5", "--x is \"80,5\"; expected an integer from 0 to 65535"},
    {"port", "", "--x is \"\"; expected an integer from 0 to 65535"},
    {"port", " ", "--x is \" \"; expected an integer from 0 to 65535"},
    {"port", "0x50", "--x is \"0x50\"; expected an integer from 0 to 65535"},
    {"port", "abc", "--x is \"abc\"; expected an integer from 0 to 65535"},
    {"port", "\"80\"", "--x is \"80\"; expected an integer from 0 to 65535"},
    {"port", "true", "--x is true; expected an integer from 0 to 65535"},
    {"port", "null", "--x is null; expected an integer from 0 to 65535"},
    {"port", "[1]", "--x is an array; expected an integer from 0 to 65535"},
    {"max_body_bytes", "99999999999999999999",
     "--x is 1e+20; expected an integer from 1024 to 67108864"},
    {"length_penalty", "nan", "--x is \"nan\"; expected a number from -1 to 10"},
    {"length_penalty", "10.001", "--x is 10.001; expected a number from -1 to 10"},
    {"precision", "fp16", "--x is \"fp16\"; expected \"fp32\" or \"int8\""},
    {"precision", "", "--x is \"\"; expected \"fp32\" or \"int8\""},
    {"log_level", "INFO",
     "--x is \"INFO\"; expected \"debug\", \"info\", \"warn\", \"error\" or \"none\""},
    {"host", "", "--x is \"\"; expected a string of 1 to 255 bytes"},
    {"log_requests", "maybe", "--x is \"maybe\"; expected true or false"},
    {"log_requests", "2", "--x is 2; expected true or false"},
    {"prot", "80", "--x: there is no setting \"prot\"; did you mean \"port\"?"},
    {"", "80", "--x: there is no setting \"\""},
    {"zebra", "80", "--x: there is no setting \"zebra\""},
};

START_TEST(a_wrong_value_is_refused_with_origin_value_and_expectation)
{
    char *before = effective();
    ck_assert_int_eq(mt_settings_set(&settings, wrong[_i].key, wrong[_i].value, "--x", &err),
                     MT_INVALID);
    ck_assert_str_eq(err.message, wrong[_i].message);
    char *after = effective();
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}
END_TEST

static const struct {
    const char *content;
    enum mt_status status;
    const char *message; /* behind "PATH: " or "PATH"; NULL: any */
} wrong_files[] = {
    {"{\"port\": 70000}", MT_INVALID, ": \"port\" is 70000; expected an integer from 0 to 65535"},
    {"{\"port\": \"80\"}", MT_INVALID, ": \"port\" is \"80\"; expected an integer from 0 to 65535"},
    {"{\"port\": {}}", MT_INVALID, ": \"port\" is an object; expected an integer from 0 to 65535"},
    {"{\"host\": 1}", MT_INVALID, ": \"host\" is 1; expected a string of 1 to 255 bytes"},
    {"{\"log_requests\": 1}", MT_INVALID, ": \"log_requests\" is 1; expected true or false"},
    {"{\"Port\": 80}", MT_INVALID, ": there is no setting \"Port\"; did you mean \"port\"?"},
    {"{\"max-body-bytes\": 80}", MT_INVALID,
     ": there is no setting \"max-body-bytes\"; did you mean \"max_body_bytes\"?"},
    {"[]", MT_INVALID, ": expected an object of settings"},
    {"{\"port\": 80, \"port\": 81}", MT_FORMAT, NULL},
    {"{\"port\": 80} x", MT_FORMAT, NULL},
    {"{\"port\": 80,}", MT_FORMAT, NULL},
    {"{\"host\": \"\\u0000\"}", MT_FORMAT, NULL},
    {"", MT_FORMAT, NULL},
};

START_TEST(a_wrong_file_is_refused_with_its_name)
{
    char path[32];
    ck_assert_int_eq(read_content(wrong_files[_i].content, path), wrong_files[_i].status);
    ck_assert_msg(!strncmp(err.message, path, strlen(path)), "%s does not begin with %s",
                  err.message, path);
    if (wrong_files[_i].message)
        ck_assert_str_eq(err.message + strlen(path), wrong_files[_i].message);
}
END_TEST

START_TEST(a_file_over_the_limit_is_refused)
{
    size_t length = MT_SETTINGS_MAX_FILE_BYTES + 1;
    char *content = malloc(length + 1), path[32];
    ck_assert_ptr_nonnull(content);
    memset(content, ' ', length);
    content[length] = '\0';
    ck_assert_int_eq(read_content(content, path), MT_LIMIT);
    free(content);
    ck_assert_int_eq(mt_settings_read_file(&settings, "/nowhere/at/all", &err), MT_NOT_FOUND);
}
END_TEST

START_TEST(comments_and_null_change_nothing)
{
    char *before = effective(), path[32];
    const char *content = "{\"//\": 1, \"//port\": \"about\", \"port\": null, \"//x\": [{}]}";
    ck_assert_msg(!read_content(content, path), "%s", err.message);
    char *after = effective();
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}
END_TEST

START_TEST(what_is_read_later_wins)
{
    char path[32];
    ck_assert_int_eq(read_content("{\"port\": 81, \"workers\": 2, \"host\": \"h\"}", path), MT_OK);
    setenv("ATTENTIOND_PORT", "82", 1);
    setenv("ATTENTIOND_WORKERS", "3", 1);
    ck_assert_int_eq(mt_settings_read_environment(&settings, &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&settings, "port", "83", "--port", &err), MT_OK);
    ck_assert_str_eq(settings.host, "h");
    ck_assert_int_eq(settings.workers, 3);
    ck_assert_int_eq(settings.port, 83);
}
END_TEST

static const struct {
    const char *name, *value, *message; /* NULL: accepted */
} variables[] = {
    {"ATTENTIOND_MAX_BODY_BYTES", "2048", NULL},
    {"ATTENTIOND_PORT", "x", "ATTENTIOND_PORT is \"x\"; expected an integer from 0 to 65535"},
    {"ATTENTIOND_PROT", "1",
     "ATTENTIOND_PROT: there is no setting \"prot\"; did you mean \"port\"?"},
    {"ATTENTIOND_THERE_IS_NO_SETTING_WITH_SUCH_A_NAME", "1",
     "ATTENTIOND_THERE_IS_NO_SETTING_WITH_SUCH_A_NAME: there is no setting "
     "\"there_is_no_setting_with_such_a\""},
    {"ATTENTIOND_CONFIG", "/etc/attentiond.json", NULL}, /* the command line's */
    {"ATTENTION", "1", NULL},                            /* not ours */
    /* what Kubernetes and Docker set for a service of our name */
    {"ATTENTIOND_PORT", "tcp://10.0.0.1:5000", NULL},
    {"ATTENTIOND_SERVICE_HOST", "10.0.0.1", NULL},
    {"ATTENTIOND_SERVICE_PORT_METRICS", "9090", NULL},
    {"ATTENTIOND_PORT_5000_TCP_ADDR", "10.0.0.1", NULL},
    {"ATTENTIOND_CANARY_PORT", "tcp://10.0.0.1:5000", NULL},
};

START_TEST(the_environment_is_read_and_checked)
{
    setenv(variables[_i].name, variables[_i].value, 1);
    enum mt_status status = mt_settings_read_environment(&settings, &err);
    ck_assert_int_eq(status, variables[_i].message ? MT_INVALID : MT_OK);
    if (variables[_i].message)
        ck_assert_str_eq(err.message, variables[_i].message);
    bool is_body_limit = !strcmp(variables[_i].name, "ATTENTIOND_MAX_BODY_BYTES");
    ck_assert_int_eq(settings.max_body_bytes, is_body_limit ? 2048 : 262144);
    ck_assert_int_eq(settings.port, 5000);
}
END_TEST

START_TEST(a_boolean_takes_the_words_that_people_use)
{
    const char *const yes[] = {"true", "1", "on", "yes"}, *const no[] = {"false", "0", "off", "no"};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(mt_settings_set(&settings, "log_requests", yes[i], "--log-requests", &err),
                         MT_OK);
        ck_assert(settings.log_requests);
        ck_assert_int_eq(mt_settings_set(&settings, "log_requests", no[i], "--log-requests", &err),
                         MT_OK);
        ck_assert(!settings.log_requests);
    }
}
END_TEST

START_TEST(numbers_mean_the_same_in_every_locale)
{
    char path[32];
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is missing (CI makes it), this proves less */
    ck_assert_int_eq(mt_settings_set(&settings, "length_penalty", "0.6", "flag", &err), MT_OK);
    ck_assert_double_eq(settings.length_penalty, 0.6);
    char *text = effective();
    ck_assert_ptr_nonnull(strstr(text, "\"length_penalty\": 0.6,"));
    ck_assert_msg(!read_content(text, path), "%s", err.message);
    ck_assert_double_eq(settings.length_penalty, 0.6);
    free(text);
}
END_TEST

START_TEST(a_flag_belongs_to_its_verbs)
{
    bool takes_value = false;
    ck_assert(mt_settings_is_flag("port", MT_VERB_SERVE, &takes_value));
    ck_assert(takes_value);
    ck_assert(mt_settings_is_flag("max-body-bytes", MT_VERB_SERVE, &takes_value));
    ck_assert(mt_settings_is_flag("log-requests", MT_VERB_SERVE, &takes_value));
    ck_assert(!takes_value);
    ck_assert(mt_settings_is_flag("threads-per-worker", MT_VERB_TRANSLATE, &takes_value));
    ck_assert(!mt_settings_is_flag("port", MT_VERB_TRANSLATE, &takes_value));
    ck_assert(!mt_settings_is_flag("max_body_bytes", MT_VERB_SERVE, &takes_value));
    ck_assert(!mt_settings_is_flag("", MT_VERB_SERVE, &takes_value));
    ck_assert(!mt_settings_is_flag("model", MT_VERB_HEALTHCHECK, &takes_value));
}
END_TEST

/* Every key of the example is in serve's or translate's help, as a flag, with nothing wider than
 * the page. */
START_TEST(help_names_every_setting_and_fits_the_page)
{
    struct mt_text help = {0};
    struct cJSON *example;
    char *text = printed(mt_settings_print_example);
    mt_settings_print_help(MT_VERB_CHECK_CONFIG, &help);
    ck_assert_int_eq(mt_json_parse(text, strlen(text), NULL, "example", &example, &err), MT_OK);
    size_t n_keys = 0;
    for (const cJSON *member = example->child; member; member = member->next) {
        char flag[64];
        if (!strncmp(member->string, "//", 2))
            continue;
        n_keys++;
        snprintf(flag, sizeof flag, "\n  --%s", member->string);
        for (char *at = flag; *at; at++)
            *at = *at == '_' ? '-' : *at;
        ck_assert_msg(strstr(help.bytes, flag), "%s is not in the help", flag + 3);
    }
    ck_assert_uint_ge(n_keys, 20);
    for (const char *line = help.bytes; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 100);
    mt_text_finish(&help);
    cJSON_Delete(example);
    free(text);
}
END_TEST

START_TEST(mistyped_flags_find_the_right_one)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, "max-body-byts");
    mt_settings_offer_flags(MT_VERB_SERVE, &nearest);
    ck_assert_str_eq(nearest.best, "max_body_bytes");
    mt_nearest_begin(&nearest, "prot");
    mt_settings_offer_flags(MT_VERB_TRANSLATE, &nearest);
    ck_assert_ptr_null(nearest.best);
}
END_TEST

START_TEST(finish_takes_zeroed_settings)
{
    struct mt_settings empty = {0};
    mt_settings_finish(&empty);
    mt_settings_finish(&empty);
}
END_TEST

START_TEST(what_cannot_change_is_kept_and_named)
{
    struct mt_settings fresh;
    struct mt_text differing = {0};
    ck_assert_int_eq(mt_settings_init(&fresh, &err), MT_OK);
    ck_assert_int_eq(mt_settings_keep_fixed(&fresh, &settings, &differing, &err), MT_OK);
    ck_assert_uint_eq(differing.length, 0);

    ck_assert_int_eq(mt_settings_set(&fresh, "host", "0.0.0.0", "test", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&fresh, "port", "6000", "test", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&fresh, "log_format", "json", "test", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&fresh, "log_level", "debug", "test", &err), MT_OK);
    ck_assert_int_eq(mt_settings_set(&fresh, "max_text_chars", "5", "test", &err), MT_OK);
    ck_assert_int_eq(mt_settings_keep_fixed(&fresh, &settings, &differing, &err), MT_OK);
    ck_assert_str_eq(differing.bytes, "host, port, log_format");
    ck_assert_str_eq(fresh.host, "127.0.0.1");
    ck_assert_ptr_ne(fresh.host, settings.host);
    ck_assert_int_eq(fresh.port, 5000);
    ck_assert_str_eq(fresh.log_format, "text");
    ck_assert_str_eq(fresh.log_level, "debug");
    ck_assert_int_eq(fresh.max_text_chars, 5);
    mt_text_finish(&differing);
    mt_settings_finish(&fresh);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void add_tests(TCase *tcase)
{
    tcase_add_test(tcase, defaults_are_those_that_users_are_told);
    tcase_add_test(tcase, what_cannot_change_is_kept_and_named);
    tcase_add_test(tcase, the_committed_example_is_what_the_table_prints);
    tcase_add_test(tcase, the_example_loads_unchanged_and_changes_nothing);
    tcase_add_test(tcase, the_effective_settings_load_again_as_they_are);
    tcase_add_loop_test(tcase, a_wrong_value_is_refused_with_origin_value_and_expectation, 0,
                        COUNT(wrong));
    tcase_add_loop_test(tcase, a_wrong_file_is_refused_with_its_name, 0, COUNT(wrong_files));
    tcase_add_test(tcase, a_file_over_the_limit_is_refused);
    tcase_add_test(tcase, comments_and_null_change_nothing);
    tcase_add_test(tcase, what_is_read_later_wins);
    tcase_add_loop_test(tcase, the_environment_is_read_and_checked, 0, COUNT(variables));
    tcase_add_test(tcase, a_boolean_takes_the_words_that_people_use);
    tcase_add_test(tcase, numbers_mean_the_same_in_every_locale);
    tcase_add_test(tcase, a_flag_belongs_to_its_verbs);
    tcase_add_test(tcase, help_names_every_setting_and_fits_the_page);
    tcase_add_test(tcase, mistyped_flags_find_the_right_one);
    tcase_add_test(tcase, finish_takes_zeroed_settings);
}

Suite *suite_settings(void)
{
    Suite *suite = suite_create("settings");
    TCase *tcase = tcase_create("settings");
    tcase_add_checked_fixture(tcase, start, stop);
    add_tests(tcase);
    suite_add_tcase(suite, tcase);
    return suite;
}
