#include "server/http/cors.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *origins;
    bool is_good;
} lists[] = {
    {"*", true},
    {"", true},
    {"https://example.org", true},
    {" https://example.org , http://localhost:3000", true},
    {"https://example.org,", true},
    {"chrome-extension://abcdefgh", true},
    {"http://[::1]:5000", true},
    {"*, https://example.org", false},
    {"https://*.example.org", false},
    {"example.org", false},
    {"https://", false},
    {"https://:80", false},
    {"https://example.org/", false},
    {"https://example.org/path", false},
    {"https://user@example.org", false},
    {"https://a https://b", false},
    {"null", false},
    {"https://a,,https://b", false},
    {"https:/a", false},
    {"://a", false},
    {"https://a;script-src", false},
    {"https;x://a", false},
    {"https://a'b", false},
    {"https://a\nb", false},
    {"https://b\xc3\xbc\x63her.example", false}, /* a browser sends punycode */
    {"vscode-webview://abc", true},
};

START_TEST(lists_are_checked)
{
    struct mt_error err;
    bool is_good = mt_cors_check("cors_origins", lists[_i].origins, &err) == MT_OK;
    ck_assert_msg(is_good == lists[_i].is_good, "%s", lists[_i].origins);
    if (!is_good)
        ck_assert_ptr_nonnull(strstr(err.message, "https://example.org, without a path"));
}
END_TEST

static const struct {
    const char *origins, *origin, *allowed;
} questions[] = {
    {"*", NULL, "*"},
    {"*", "https://example.org", "*"},
    {"", NULL, NULL},
    {"", "https://example.org", NULL},
    {"https://example.org", NULL, NULL},
    {"https://example.org", "https://example.org", "https://example.org"},
    {"http://a:1, HTTPS://Example.org ,http://b", "https://example.org", "https://example.org"},
    {"http://a:1, https://example.org", "http://a", NULL},
    {"https://example.org", "https://example.org.evil", NULL},
    {"https://example.org", "https://example.or", NULL},
    {"https://example.org", "http://example.org", NULL},
    {"https://example.org", "null", NULL},
    {"https://example.org", "*", NULL},
    {"https://example.org", "", NULL},
    {"", "", NULL},
};

START_TEST(origins_are_allowed_as_listed)
{
    const char *allowed = mt_cors_allowed(questions[_i].origins, questions[_i].origin);
    ck_assert_pstr_eq(allowed, questions[_i].allowed);
}
END_TEST

static const struct {
    const char *origins, *host;
    bool is_known;
} hosts[] = {
    {"", "localhost", true},
    {"", "LOCALHOST:5000", true},
    {"", "localhost.", true},
    {"", "a.localhost:1", true},
    {"", "127.0.0.1:5000", true},
    {"", "192.0.2.1", true},
    {"", "[::1]:5000", true},
    {"", "[fd00::1]", true},
    {"", "evil.org", false},
    {"", "evil.org:5000", false},
    {"", "notlocalhost", false},
    {"", "localhost.evil.org", false},
    {"", "127.0.0.1.evil.org", false},
    {"", "2130706433", false},
    {"", "", false},
    {"", ":5000", false},
    {"https://translate.example.org", "translate.example.org", true},
    {"https://a, https://Translate.example.org:8443", "translate.EXAMPLE.org:1", true},
    {"https://translate.example.org", "example.org", false},
    {"https://translate.example.org", "https", false},
};

START_TEST(names_that_may_mean_another_machine_are_known_or_not)
{
    bool is_known = mt_cors_has_host(hosts[_i].origins, hosts[_i].host, strlen(hosts[_i].host));
    ck_assert_msg(is_known == hosts[_i].is_known, "%s with \"%s\"", hosts[_i].host,
                  hosts[_i].origins);
}
END_TEST

Suite *suite_cors(void)
{
    Suite *suite = suite_create("cors");
    TCase *tcase = tcase_create("cors");
    tcase_add_loop_test(tcase, lists_are_checked, 0, sizeof lists / sizeof lists[0]);
    tcase_add_loop_test(tcase, origins_are_allowed_as_listed, 0,
                        sizeof questions / sizeof questions[0]);
    tcase_add_loop_test(tcase, names_that_may_mean_another_machine_are_known_or_not, 0,
                        sizeof hosts / sizeof hosts[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
