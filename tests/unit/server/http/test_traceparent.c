#include "server/http/traceparent.h"

#include <check.h>
#include <string.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"
#define FIRST "00-" TRACE "-" PARENT "-01"

static const struct {
    const char *value, *normal; /* NULL: ignored */
} cases[] = {
    {FIRST, FIRST},
    {"00-" TRACE "-" PARENT "-00", "00-" TRACE "-" PARENT "-00"},
    {"00-" TRACE "-" PARENT "-ff", "00-" TRACE "-" PARENT "-ff"},
    /* later versions: their first parts, and the flag that is known */
    {"01-" TRACE "-" PARENT "-01", FIRST},
    {"cc-" TRACE "-" PARENT "-03-what-the-future-will-be-like", FIRST},
    {"fe-" TRACE "-" PARENT "-02-", "00-" TRACE "-" PARENT "-00"},
    {"01-" TRACE "-" PARENT "-01.", NULL},
    {"01-" TRACE "-" PARENT "-011", NULL},
    {"ff-" TRACE "-" PARENT "-01", NULL},
    /* of version 00 nothing may follow, and nothing be missing */
    {FIRST "-", NULL},
    {FIRST "-01", NULL},
    {FIRST " ", NULL},
    {" " FIRST, NULL},
    {"00-" TRACE "-" PARENT "-1", NULL},
    {"00-" TRACE "-" PARENT "-", NULL},
    {"00-" TRACE "-" PARENT, NULL},
    {"", NULL},
    {"00", NULL},
    {"0-" TRACE "-" PARENT "-001", NULL},
    {"00_" TRACE "-" PARENT "-01", NULL},
    {"00-" TRACE "_" PARENT "-01", NULL},
    {"00-" TRACE "-" PARENT "_01", NULL},
    /* lower case, hexadecimal, not all zeros */
    {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01", NULL},
    {"00-" TRACE "-00F067AA0BA902B7-01", NULL},
    {"00-" TRACE "-" PARENT "-0A", NULL},
    {"0A-" TRACE "-" PARENT "-01", NULL},
    {"00-gbf92f3577b34da6a3ce929d0e0e4736-" PARENT "-01", NULL},
    {"00-" TRACE "-00f067aa0ba902b.-01", NULL},
    {"00-" TRACE "-" PARENT "-0g", NULL},
    {"00-00000000000000000000000000000000-" PARENT "-01", NULL},
    {"00-" TRACE "-0000000000000000-01", NULL},
    {"00-00000000000000000000000000000001-0000000000000001-01",
     "00-00000000000000000000000000000001-0000000000000001-01"},
};

START_TEST(takes_what_the_standard_takes)
{
    struct mt_traceparent trace;
    memset(&trace, 'x', sizeof trace);
    bool is_taken = mt_traceparent_parse(cases[_i].value, &trace);
    ck_assert_msg(is_taken == (cases[_i].normal != NULL), "%s", cases[_i].value);
    ck_assert_str_eq(trace.value, is_taken ? cases[_i].normal : "");
    if (!is_taken) {
        ck_assert_str_eq(trace.trace_id, "");
        ck_assert_str_eq(trace.parent_id, "");
        return;
    }
    ck_assert_uint_eq(strlen(trace.trace_id), 32);
    ck_assert_uint_eq(strlen(trace.parent_id), 16);
    ck_assert_int_eq(strncmp(trace.value + 3, trace.trace_id, 32), 0);
    ck_assert_int_eq(strncmp(trace.value + 36, trace.parent_id, 16), 0);
}
END_TEST

/* One byte of a good one changed to any other. */
START_TEST(no_byte_gets_through_unseen)
{
    struct mt_traceparent trace;
    char value[sizeof FIRST];
    for (size_t i = 0; i < sizeof FIRST - 1; i++)
        for (int c = 1; c < 256; c++) {
            memcpy(value, FIRST, sizeof value);
            value[i] = (char)c;
            if (!mt_traceparent_parse(value, &trace))
                continue;
            ck_assert_uint_eq(strspn(trace.value, "0123456789abcdef-"), 55);
            ck_assert_uint_eq(strlen(trace.value), 55);
        }
}
END_TEST

Suite *suite_traceparent(void)
{
    Suite *suite = suite_create("traceparent");
    TCase *tcase = tcase_create("traceparent");
    tcase_add_loop_test(tcase, takes_what_the_standard_takes, 0,
                        (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(tcase, no_byte_gets_through_unseen);
    suite_add_tcase(suite, tcase);
    return suite;
}
