#include "server/requests/access.h"

#include "config/settings.h"
#include "server/service/keys.h"
#include "server/http/params.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define HERE 17 /* an address */
#define THERE 18

static char path[] = "/tmp/test_access_XXXXXX";
static struct mt_settings settings;
static struct mt_keys *keys;
static struct mt_meters meters;
static int64_t now_ns;
static struct mt_access access_found;
static struct mt_error err;

static void set_up(void)
{
    FILE *file = fopen(path, "we");
    fputs("alice-key-1 requests_per_minute=3 max_text_chars=5\n"
          "bob-key-222\n"
          "carol-key-3 requests_per_minute=0 chars_per_day=10\n",
          file);
    fclose(file);
    ck_assert_int_eq(mt_settings_init(&settings, &err), MT_OK);
    ck_assert_int_eq(mt_keys_read(path, &keys, &err), MT_OK);
    ck_assert_int_eq(mt_meters_create(100, &meters, &err), MT_OK);
    now_ns = 1000 * SECOND;
}

static void tear_down(void)
{
    mt_meters_destroy(&meters);
    mt_keys_destroy(keys);
    mt_settings_finish(&settings);
}

struct ask {
    const char *json, *form; /* one of them, or none */
    const char *query, *authorization;
    uint64_t address; /* 0: HERE */
    enum mt_access_kind kind;
    enum mt_dialect dialect;
    bool has_no_keys;
};

static enum mt_status ask(struct ask ask)
{
    struct mt_params params = {0};
    if (ask.json)
        ck_assert_int_eq(mt_params_parse_json(&params, ask.json, strlen(ask.json), &err), MT_OK);
    if (ask.form)
        ck_assert_int_eq(mt_params_parse_form(&params, ask.form, strlen(ask.form), true, &err),
                         MT_OK);
    const struct mt_access_question question = {
        .kind = ask.kind != MT_ACCESS_BY_METHOD ? ask.kind : MT_ACCESS_METERED,
        .dialect = ask.dialect,
        .settings = &settings,
        .keys = ask.has_no_keys ? NULL : keys,
        .meters = &meters,
        .params = &params,
        .query = ask.query ? ask.query : "",
        .authorization = ask.authorization,
        .address = ask.address != 0 ? ask.address : HERE,
        .now_ns = now_ns,
    };
    enum mt_status status = mt_access_check(&question, &access_found, &err);
    mt_params_finish(&params);
    return status;
}

static const struct {
    struct ask ask;
    const char *key; /* NULL: none; "": a wrong one */
} ways[] = {
    {{.json = "{}"}, NULL},
    {{.json = "{\"api_key\":null}"}, NULL},
    {{.json = "{\"api_key\":\"\"}"}, NULL},
    {{.json = "{\"api_key\":\"alice-key-1\"}"}, "alice-key-1"},
    {{.json = "{\"api_key\":\"alice-key-2\"}"}, ""},
    {{.json = "{\"api_key\":5}"}, ""},
    {{.json = "{\"api_key\":[\"alice-key-1\"]}"}, ""},
    {{.form = "q=x&api_key=alice-key-1"}, "alice-key-1"},
    {{.form = "q=x&api_key="}, NULL},
    {{.json = "{}", .query = "api_key=bob-key-222"}, "bob-key-222"},
    {{.json = "{}", .query = "api_key=wrong"}, ""},
    {{.json = "{}", .query = "api_key=%zz"}, ""},
    {{.json = "{}", .query = "api_key=bob-key-222&api_key=bob-key-222"}, ""},
    {{.json = "{}", .query = "x=%zz&q=a"}, NULL},
    {{.json = "{\"api_key\":\"\"}", .query = "x=1&api_key=bob-key-222"}, "bob-key-222"},
    {{.json = "{\"api_key\":\"alice-key-1\"}", .query = "api_key=bob-key-222"}, "alice-key-1"},
    {{.authorization = "Bearer bob-key-222"}, "bob-key-222"},
    {{.authorization = "bearer  bob-key-222"}, "bob-key-222"},
    {{.authorization = "DeepL-Auth-Key bob-key-222"}, "bob-key-222"},
    {{.authorization = "Bearer bob-key-22"}, ""},
    {{.authorization = "Bearer "}, NULL},
    {{.authorization = "Bearer"}, NULL},
    {{.authorization = "Basic bob-key-222"}, NULL},
    {{.authorization = "Bearerbob-key-222"}, NULL},
    {{.json = "{\"api_key\":\"alice-key-1\"}", .authorization = "Bearer wrong"}, "alice-key-1"},
};

START_TEST(a_key_may_come_in_many_ways)
{
    const char *key = ways[_i].key;
    enum mt_status status = ask(ways[_i].ask);
    if (key && *key == '\0') {
        ck_assert_int_eq(status, MT_FORBIDDEN);
        ck_assert_str_eq(err.message, "Invalid API key");
        ck_assert_int_eq(access_found.rejection, MT_REJECTED_KEY);
        return;
    }
    ck_assert_int_eq(status, MT_OK);
    ck_assert_ptr_eq(access_found.key, key ? mt_keys_find(keys, key) : NULL);
    ck_assert_uint_eq(access_found.client, key ? mt_keys_find(keys, key)->id : HERE);
}
END_TEST

START_TEST(without_a_file_keys_are_not_looked_at)
{
    ck_assert_int_eq(ask((struct ask){.json = "{\"api_key\":\"any\"}", .has_no_keys = true}),
                     MT_OK);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer any", .has_no_keys = true}), MT_OK);
}
END_TEST

START_TEST(a_key_that_is_required_must_be_there)
{
    settings.key_required = true;
    ck_assert_int_eq(ask((struct ask){.json = "{}"}), MT_FORBIDDEN);
    ck_assert_str_eq(err.message, "Please contact the server operator to get an API key");
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer bob-key-222"}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_KEYED}), MT_FORBIDDEN);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_OPEN}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_OPEN, .authorization = "Bearer x"}), MT_OK);
}
END_TEST

START_TEST(limits_are_the_keys_and_else_the_settings)
{
    settings.requests_per_minute = 7;
    settings.max_text_chars = 1000;
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer alice-key-1"}), MT_OK);
    ck_assert_int_eq(access_found.limits.rates[MT_RATE_MINUTE], 3);
    ck_assert_int_eq(access_found.limits.max_text_chars, 5);
    ck_assert_int_eq(access_found.limits.max_batch_texts, settings.max_batch_texts);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer bob-key-222"}), MT_OK);
    ck_assert_int_eq(access_found.limits.rates[MT_RATE_MINUTE], 7);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer carol-key-3"}), MT_OK);
    ck_assert_int_eq(access_found.limits.rates[MT_RATE_MINUTE], 0);
    ck_assert_int_eq(ask((struct ask){.json = "{}"}), MT_OK);
    ck_assert_int_eq(access_found.limits.max_text_chars, 1000);
}
END_TEST

START_TEST(requests_over_the_rate_are_told_when_to_come_back)
{
    settings.requests_per_minute = 20;
    ck_assert_int_eq(ask((struct ask){.json = "{\"q\":[\"a\",\"b\",\"c\"]}"}), MT_OK);
    for (int i = 3; i < 20; i++)
        ck_assert_int_eq(ask((struct ask){.json = "{\"q\":\"a\"}"}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.json = "{\"q\":\"a\"}"}), MT_THROTTLED);
    ck_assert_str_eq(err.message, "Slowdown: 20 per 1 minute");
    ck_assert_int_eq(access_found.retry_seconds, 3);
    ck_assert_int_eq(access_found.rejection, MT_REJECTED_RATE);
    /* Others, and those with keys of their own, are not concerned. */
    ck_assert_int_eq(ask((struct ask){.address = THERE}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer alice-key-1"}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_OPEN}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_KEYED}), MT_OK);
    now_ns += 3 * SECOND;
    ck_assert_int_eq(ask((struct ask){.json = "{\"q\":\"a\"}"}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.json = "{\"q\":\"a\"}"}), MT_THROTTLED);
}
END_TEST

START_TEST(a_key_is_one_client_wherever_it_is_used)
{
    for (uint64_t i = 0; i < 3; i++)
        ck_assert_int_eq(
            ask((struct ask){.authorization = "Bearer alice-key-1", .address = 100 + i}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer alice-key-1", .address = 200}),
                     MT_THROTTLED);
    ck_assert_str_eq(err.message, "Slowdown: 3 per 1 minute");
}
END_TEST

START_TEST(characters_are_counted_and_given_back)
{
    const struct ask six = {.json = "{\"q\":[\"abc\",\"\xC3\xA4\xC3\xB6\xC3\xBC\"]}",
                            .authorization = "Bearer carol-key-3"};
    const struct ask five = {
        .form = "text=abcde", .authorization = "Bearer carol-key-3", .dialect = MT_DEEPL};
    ck_assert_int_eq(ask(six), MT_OK);
    ck_assert_uint_eq(mt_access_used_chars(&access_found, &meters, now_ns), 6);
    struct mt_access first = access_found;
    ck_assert_int_eq(ask(five), MT_THROTTLED);
    ck_assert_str_eq(err.message, "Slowdown: 10 characters per 1 day");
    mt_access_give_back(&access_found, &meters); /* nothing was taken */
    ck_assert_uint_eq(mt_access_used_chars(&first, &meters, now_ns), 6);
    mt_access_give_back(&first, &meters);
    mt_access_give_back(&first, &meters); /* only once */
    ck_assert_int_eq(ask(five), MT_OK);
    ck_assert_uint_eq(mt_access_used_chars(&access_found, &meters, now_ns), 5);
    ck_assert_int_eq(mt_access_take_chars(&access_found, &meters, 6, now_ns, &err), MT_THROTTLED);
    ck_assert_int_eq(mt_access_take_chars(&access_found, &meters, 5, now_ns, &err), MT_OK);
    mt_access_give_back(&access_found, &meters);
    ck_assert_uint_eq(mt_access_used_chars(&access_found, &meters, now_ns), 0);
}
END_TEST

static const struct {
    struct ask ask;
    uint64_t n_texts, n_chars;
} fields[] = {
    {{.json = "{\"q\":\"ab\"}"}, 1, 2},
    {{.json = "{\"q\":[\"ab\",\"c\"]}"}, 2, 3},
    {{.json = "{\"q\":\"ab\",\"text\":[\"abcd\",\"e\"]}"}, 1, 2},
    {{.json = "{\"text\":[\"abcd\",\"e\"]}"}, 1, 0}, /* is going to be refused */
    {{.form = "q=ab&text=cde"}, 1, 2},
    {{.json = "{\"text\":\"ab\"}", .dialect = MT_DEEPL}, 1, 2},
    {{.json = "{\"text\":[\"ab\",\"c\"]}", .dialect = MT_DEEPL}, 2, 3},
    {{.json = "{\"q\":\"x\",\"text\":[\"abcd\",\"ef\",\"\"]}", .dialect = MT_DEEPL}, 3, 6},
    {{.json = "{\"q\":[],\"text\":\"abcd\"}", .dialect = MT_DEEPL}, 1, 4},
    {{.form = "text=ab&q=x&text=cde", .dialect = MT_DEEPL}, 2, 5},
    {{.json = "{\"q\":[\"ab\",\"cd\"]}", .dialect = MT_DEEPL}, 1, 0},
};

START_TEST(what_is_translated_is_what_counts)
{
    settings.requests_per_minute = 50;
    settings.chars_per_day = 1000;
    ck_assert_int_eq(ask(fields[_i].ask), MT_OK);
    ck_assert_uint_eq(access_found.n_chars, fields[_i].n_chars);
    const struct mt_limits limits = access_found.limits;
    ck_assert_uint_eq(
        mt_limiter_level(meters.addresses, access_found.client, &limits, MT_RATE_MINUTE, now_ns),
        fields[_i].n_texts);
}
END_TEST

START_TEST(too_many_violations_end_in_a_ban_that_ends)
{
    const struct ask plain = {.json = "{}"};
    settings.requests_per_minute = 1;
    settings.max_limit_violations = 3;
    ck_assert_int_eq(ask(plain), MT_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(ask(plain), MT_THROTTLED);
    now_ns += 120 * SECOND;
    ck_assert_int_eq(ask(plain), MT_FORBIDDEN);
    ck_assert_str_eq(err.message, "Too many request limits violations");
    ck_assert_int_eq(access_found.rejection, MT_REJECTED_BANNED);
    ck_assert_int_eq(ask((struct ask){.kind = MT_ACCESS_OPEN}), MT_OK);
    ck_assert_int_eq(ask((struct ask){.address = THERE}), MT_OK);
    now_ns += (MT_BAN_SECONDS - 121) * SECOND;
    ck_assert_int_eq(ask(plain), MT_FORBIDDEN);
    now_ns += 2 * SECOND;
    ck_assert_int_eq(ask(plain), MT_OK);
}
END_TEST

START_TEST(who_guesses_keys_is_slowed_down)
{
    const struct ask guess = {.authorization = "Bearer guessed-key"};
    settings.requests_per_minute = 2;
    ck_assert_int_eq(ask(guess), MT_FORBIDDEN);
    ck_assert_int_eq(ask(guess), MT_FORBIDDEN);
    ck_assert_int_eq(ask(guess), MT_THROTTLED);
    ck_assert_int_eq(ask((struct ask){.authorization = "Bearer bob-key-222"}), MT_OK);
}
END_TEST

START_TEST(a_required_key_needs_a_file)
{
    struct mt_keys *found;
    ck_assert_int_eq(mt_keys_open(&settings, &found, &err), MT_OK);
    ck_assert_ptr_null(found);
    settings.key_required = true;
    ck_assert_int_eq(mt_keys_open(&settings, &found, &err), MT_INVALID);
    ck_assert_int_eq(mt_settings_set(&settings, "api_keys_file", path, "x", &err), MT_OK);
    ck_assert_int_eq(mt_keys_open(&settings, &found, &err), MT_OK);
    ck_assert_uint_eq(mt_keys_count(found), 3);
    mt_keys_destroy(found);
    ck_assert_int_eq(mt_settings_set(&settings, "api_keys_file", "/nowhere", "x", &err), MT_OK);
    ck_assert_int_eq(mt_keys_open(&settings, &found, &err), MT_NOT_FOUND);
    ck_assert_str_eq(err.message,
                     "api_keys_file: /nowhere: cannot open: No such file or directory");
}
END_TEST

static void make_file(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

Suite *suite_access(void)
{
    Suite *suite = suite_create("access");
    TCase *tcase = tcase_create("access");
    tcase_add_unchecked_fixture(tcase, make_file, remove_file);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_key_may_come_in_many_ways, 0, sizeof ways / sizeof ways[0]);
    tcase_add_test(tcase, without_a_file_keys_are_not_looked_at);
    tcase_add_test(tcase, a_key_that_is_required_must_be_there);
    tcase_add_test(tcase, limits_are_the_keys_and_else_the_settings);
    tcase_add_test(tcase, requests_over_the_rate_are_told_when_to_come_back);
    tcase_add_test(tcase, a_key_is_one_client_wherever_it_is_used);
    tcase_add_test(tcase, characters_are_counted_and_given_back);
    tcase_add_loop_test(tcase, what_is_translated_is_what_counts, 0,
                        sizeof fields / sizeof fields[0]);
    tcase_add_test(tcase, too_many_violations_end_in_a_ban_that_ends);
    tcase_add_test(tcase, who_guesses_keys_is_slowed_down);
    tcase_add_test(tcase, a_required_key_needs_a_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
