#include "server/http/client.h"

#include "server/http/http_gate.h"

#include <check.h>
#include <netinet/in.h>
#include <string.h>

static struct mt_address address(const char *text)
{
    struct mt_address out;
    ck_assert_msg(mt_address_parse(text, strlen(text), &out), "%s", text);
    return out;
}

static uint64_t client(const char *text)
{
    struct mt_address parsed = address(text);
    return mt_address_client(&parsed);
}

static struct mt_proxies proxies(const char *list)
{
    struct mt_proxies out;
    struct mt_error err;
    ck_assert_msg(mt_proxies_parse(list, "trust_forwarded_for", &out, &err) == MT_OK, "%s",
                  err.message);
    return out;
}

START_TEST(an_ipv6_network_is_one_client_and_so_is_an_ipv4_address)
{
    ck_assert_uint_eq(client("2001:db8:1:2:3:4:5:6"), client("2001:db8:1:2::"));
    ck_assert_uint_ne(client("2001:db8:1:2::"), client("2001:db8:1:3::"));
    ck_assert_uint_eq(client("192.0.2.1"), client("::ffff:192.0.2.1"));
    ck_assert_uint_ne(client("192.0.2.1"), client("192.0.2.2"));
    ck_assert_uint_ne(client("::1"), 0);
    ck_assert_uint_ne(client("0.0.0.0"), 0);
}
END_TEST

START_TEST(addresses_of_sockets_are_read)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000201)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr none = {.sa_family = AF_UNIX};
    struct mt_address found = mt_address_of((struct sockaddr *)&ipv4);
    struct mt_address expected = address("192.0.2.1");
    ck_assert_mem_eq(&found, &expected, sizeof found);
    ck_assert(!mt_address_is_loopback(&found));
    found = mt_address_of((struct sockaddr *)&ipv6);
    ck_assert(mt_address_is_loopback(&found));
    found = address("127.8.9.10");
    ck_assert(mt_address_is_loopback(&found));
    found = mt_address_of(&none);
    ck_assert_uint_eq(mt_address_client(&found), 1);
    found = mt_address_of(NULL);
    ck_assert_uint_eq(mt_address_client(&found), 1);
}
END_TEST

static const struct {
    const char *list, *address;
    bool is_in;
} members[] = {
    {"", "127.0.0.1", false},
    {"127.0.0.1", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.2", false},
    {" 10.0.0.0/8 , 192.0.2.128/25", "10.255.1.2", true},
    {"10.0.0.0/8,192.0.2.128/25", "192.0.2.127", false},
    {"10.0.0.0/8,192.0.2.128/25", "192.0.2.200", true},
    {"10.0.0.0/8", "::ffff:10.1.2.3", true},
    {"10.0.0.0/8", "a00::1", false},
    {"0.0.0.0/0", "203.0.113.9", true},
    {"0.0.0.0/0", "2001:db8::1", false},
    {"::/0", "203.0.113.9", true},
    {"fd00::/7", "fcff::1", true},
    {"fd00::/8", "fe00::1", false},
    {"::1", "::1", true},
};

START_TEST(proxies_are_addresses_and_networks)
{
    struct mt_proxies list = proxies(members[_i].list);
    struct mt_address one = address(members[_i].address);
    ck_assert_int_eq(mt_proxies_have(&list, &one), members[_i].is_in);
}
END_TEST

static const char *const wrong[] = {
    "localhost",   "10.0.0.0/33", "10.0.0/8", "::/129",       "10.0.0.1/", "10.0.0.1/8x",
    "10.0.0.1/-1", "1.2.3.4, x",  "/8",       "1.2.3.4/0008", "[::1]",
};

START_TEST(what_is_no_address_is_refused)
{
    struct mt_proxies list;
    struct mt_error err;
    ck_assert_int_eq(mt_proxies_parse(wrong[_i], "trust_forwarded_for", &list, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "trust_forwarded_for has \""));
}
END_TEST

START_TEST(too_many_proxies_are_refused)
{
    char list[8 * (MT_MAX_PROXIES + 2)] = "";
    struct mt_proxies out;
    for (size_t i = 0; i <= MT_MAX_PROXIES; i++)
        strcat(list, "1.1.1.1,");
    ck_assert_int_eq(mt_proxies_parse(list, "x", &out, NULL), MT_LIMIT);
}
END_TEST

#define PROXIES "127.0.0.1,10.0.0.0/8"

static const struct {
    const char *peer, *first, *second, *client;
} forwarded[] = {
    /* From nobody that we trust, the header is nothing. */
    {"192.0.2.7", "203.0.113.1", NULL, "192.0.2.7"},
    {"10.0.0.1", NULL, NULL, "10.0.0.1"},
    {"10.0.0.1", "203.0.113.1", NULL, "203.0.113.1"},
    {"127.0.0.1", " 203.0.113.1\t", NULL, "203.0.113.1"},
    /* What the client wrote stands before what the proxy added. */
    {"10.0.0.1", "1.1.1.1, 203.0.113.1", NULL, "203.0.113.1"},
    {"10.0.0.1", "1.1.1.1", "203.0.113.1", "203.0.113.1"},
    {"10.0.0.1", "127.0.0.1, 203.0.113.1", NULL, "203.0.113.1"},
    /* Proxies behind proxies. */
    {"10.0.0.1", "203.0.113.1, 10.9.9.9", NULL, "203.0.113.1"},
    {"10.0.0.1", "1.1.1.1, 203.0.113.1", "10.9.9.9,10.0.0.3", "203.0.113.1"},
    {"10.0.0.1", "10.1.1.1,10.2.2.2", NULL, "10.1.1.1"},
    /* What cannot be read ends the walk at the last proxy. */
    {"10.0.0.1", "203.0.113.1, unknown", NULL, "10.0.0.1"},
    {"10.0.0.1", "203.0.113.1, x, 10.5.5.5", NULL, "10.5.5.5"},
    {"10.0.0.1", "", NULL, "10.0.0.1"},
    {"10.0.0.1", "203.0.113.1,", NULL, "10.0.0.1"},
    {"10.0.0.1", ",,,", NULL, "10.0.0.1"},
    /* With ports. */
    {"10.0.0.1", "203.0.113.1:4711", NULL, "203.0.113.1"},
    {"10.0.0.1", "[2001:db8::5]:4711", NULL, "2001:db8::5"},
    {"10.0.0.1", "[2001:db8::5]", NULL, "2001:db8::5"},
    {"10.0.0.1", "2001:db8::5", NULL, "2001:db8::5"},
    {"10.0.0.1", "[2001:db8::5", NULL, "10.0.0.1"},
};

START_TEST(the_client_is_whom_the_last_proxy_speaks_for)
{
    struct mt_proxies list = proxies(PROXIES);
    struct mt_address peer = address(forwarded[_i].peer);
    struct mt_gate_header headers[3] = {{"Host", "x", 4, 1}};
    const char *const values[] = {forwarded[_i].first, forwarded[_i].second};
    size_t n = 1;
    for (size_t i = 0; i < 2; i++)
        if (values[i])
            headers[n++] = (struct mt_gate_header){i ? "x-forwarded-for" : "X-Forwarded-For",
                                                   values[i], 15, strlen(values[i])};
    const struct mt_gate_head head = {.headers = headers, .n_headers = n};
    ck_assert_uint_eq(mt_client_of(&list, &peer, &head), client(forwarded[_i].client));
}
END_TEST

Suite *suite_client(void)
{
    Suite *suite = suite_create("client");
    TCase *tcase = tcase_create("client");
    tcase_add_test(tcase, an_ipv6_network_is_one_client_and_so_is_an_ipv4_address);
    tcase_add_test(tcase, addresses_of_sockets_are_read);
    tcase_add_loop_test(tcase, proxies_are_addresses_and_networks, 0,
                        sizeof members / sizeof members[0]);
    tcase_add_loop_test(tcase, what_is_no_address_is_refused, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tcase, too_many_proxies_are_refused);
    tcase_add_loop_test(tcase, the_client_is_whom_the_last_proxy_speaks_for, 0,
                        sizeof forwarded / sizeof forwarded[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
