#include "server/http/router.h"

#include <check.h>
#include <string.h>

static const struct mt_route routes[] = {
    {.method = "GET", .path = "/"},      {.method = "GET", .path = "/both"},
    {.method = "POST", .path = "/both"}, {.method = "GET", .path = "/files/", .is_folder = true},
    {.method = "POST", .path = "/post"}, {.method = "GET", .also = "POST, PUT", .path = "/usage"},
};

static const struct {
    const char *method, *path;
    enum mt_route_match match;
    int route; /* -1: none */
    const char *allow;
} cases[] = {
    {"POST", "/usage", MT_ROUTE_FOUND, 5, "GET, HEAD, POST, PUT, OPTIONS"},
    {"HEAD", "/usage", MT_ROUTE_FOUND, 5, "GET, HEAD, POST, PUT, OPTIONS"},
    {"PUT", "/usage", MT_ROUTE_FOUND, 5, "GET, HEAD, POST, PUT, OPTIONS"},
    {"PU", "/usage", MT_ROUTE_WRONG_METHOD, -1, "GET, HEAD, POST, PUT, OPTIONS"},
    {"DELETE", "/usage", MT_ROUTE_WRONG_METHOD, -1, "GET, HEAD, POST, PUT, OPTIONS"},
    {"GET", "/", MT_ROUTE_FOUND, 0, "GET, HEAD, OPTIONS"},
    {"HEAD", "/", MT_ROUTE_FOUND, 0, "GET, HEAD, OPTIONS"},
    {"POST", "/post", MT_ROUTE_FOUND, 4, "POST, OPTIONS"},
    {"GET", "/both", MT_ROUTE_FOUND, 1, "GET, HEAD, POST, OPTIONS"},
    {"POST", "/both", MT_ROUTE_FOUND, 2, "GET, HEAD, POST, OPTIONS"},
    {"GET", "/files/a.js", MT_ROUTE_FOUND, 3, "GET, HEAD, OPTIONS"},
    {"GET", "/files/a/b", MT_ROUTE_FOUND, 3, "GET, HEAD, OPTIONS"},
    {"GET", "/files/", MT_ROUTE_FOUND, 3, "GET, HEAD, OPTIONS"},
    {"GET", "/files", MT_ROUTE_UNKNOWN, -1, ""},
    {"GET", "/filesa", MT_ROUTE_UNKNOWN, -1, ""},
    {"POST", "/files/a.js", MT_ROUTE_WRONG_METHOD, -1, "GET, HEAD, OPTIONS"},
    {"OPTIONS", "/both", MT_ROUTE_OPTIONS, -1, "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "*", MT_ROUTE_OPTIONS, -1, "GET, HEAD, POST, OPTIONS"},
    {"GET", "/post", MT_ROUTE_WRONG_METHOD, -1, "POST, OPTIONS"},
    {"HEAD", "/post", MT_ROUTE_WRONG_METHOD, -1, "POST, OPTIONS"},
    {"post", "/post", MT_ROUTE_WRONG_METHOD, -1, "POST, OPTIONS"},
    {"DELETE", "/", MT_ROUTE_WRONG_METHOD, -1, "GET, HEAD, OPTIONS"},
    {"GET", "/post/", MT_ROUTE_UNKNOWN, -1, ""},
    {"GET", "/Post", MT_ROUTE_UNKNOWN, -1, ""},
    {"GET", "//", MT_ROUTE_UNKNOWN, -1, ""},
    {"GET", "", MT_ROUTE_UNKNOWN, -1, ""},
    {"OPTIONS", "/nowhere", MT_ROUTE_UNKNOWN, -1, ""},
    {"GET", "*", MT_ROUTE_UNKNOWN, -1, ""},
};

START_TEST(finds_exactly_the_route_that_is_named)
{
    struct mt_routing routing;
    mt_route_find(routes, sizeof routes / sizeof routes[0], cases[_i].method, cases[_i].path,
                  strlen(cases[_i].path), &routing);
    ck_assert_int_eq(routing.match, cases[_i].match);
    ck_assert_ptr_eq(routing.route, cases[_i].route < 0 ? NULL : &routes[cases[_i].route]);
    ck_assert_str_eq(routing.allow, cases[_i].allow);
}
END_TEST

START_TEST(the_path_says_which_dialect_is_spoken)
{
    static const char *const deepl[] = {"/v2/translate", "/v3/x?y", "/v2/", "http://a.b:5/v2/usage",
                                        "https://a/v1/%00"};
    static const char *const others[] = {"/",    "/translate",         "/v2",     "/v2x/", "/vv/x",
                                         "v2/x", "http://a/translate", "http://", "?/v2/", "*",
                                         "",     "/x?u=http://a/v2/"};
    for (size_t i = 0; i < sizeof deepl / sizeof deepl[0]; i++)
        ck_assert_msg(mt_route_dialect(deepl[i]) == MT_DEEPL, "%s", deepl[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(mt_route_dialect(others[i]) == MT_LIBRETRANSLATE, "%s", others[i]);
}
END_TEST

START_TEST(looks_at_no_more_than_the_path)
{
    struct mt_routing routing;
    mt_route_find(routes, sizeof routes / sizeof routes[0], "POST", "/post?q=x", 5, &routing);
    ck_assert_int_eq(routing.match, MT_ROUTE_FOUND);
}
END_TEST

START_TEST(knows_each_route_of_the_daemon_once)
{
    for (size_t i = 0; i < mt_n_routes; i++) {
        struct mt_routing routing;
        const struct mt_route *route = &mt_routes[i];
        ck_assert_ptr_nonnull(route->handler);
        mt_route_find(mt_routes, mt_n_routes, route->method, route->path, strlen(route->path),
                      &routing);
        ck_assert_ptr_eq(routing.route, route);
        ck_assert(i == 0 || strcmp(mt_routes[i - 1].path, route->path) <= 0);
    }
}
END_TEST

Suite *suite_router(void)
{
    Suite *suite = suite_create("router");
    TCase *tcase = tcase_create("router");
    tcase_add_loop_test(tcase, finds_exactly_the_route_that_is_named, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, the_path_says_which_dialect_is_spoken);
    tcase_add_test(tcase, looks_at_no_more_than_the_path);
    tcase_add_test(tcase, knows_each_route_of_the_daemon_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
