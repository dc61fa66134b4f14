#include "server/data/glossary_entries.h"

#include "base/text.h"
#include "server/text/terms.h"

#include <check.h>
#include <string.h>

/* What is read, written again as tab-separated values; or the message. */
static const struct {
    const char *text, *expected;
    bool is_csv;
} cases[] = {
    {"a\tb", "a\tb", false},
    {"a\tb\n", "a\tb", false},
    {"\n \na\tb\r\n\r\nc d\t e  f \rg\th", "a\tb\nc d\te  f\ng\th", false},
    {"\xEF\xBB\xBF"
     "a\tb",
     "a\tb", false},
    {"\"a\",\tb", "\"a\",\tb", false},
    {"a,b", "a\tb", true},
    {"a,b,EN,pt\nc,d,en-GB,PT-pt", "a\tb\nc\td", true},
    {"\"a, \"\"b\"\"\",\"c\"\r\n\"d\",e", "a, \"b\"\tc\nd\te", true},
    {"a\"b\",c", "a\"b\"\tc", true},
    {"", "entries: found none, expected one at least", false},
    {" \n\n", "entries: found none, expected one at least", true},
    {"a\tb\nc",
     "entries, line 2: found 1 column, expected a term and its translation with a tab between",
     false},
    {"a\n",
     "entries, line 1: found 1 column, expected a term and its translation with a comma between",
     true},
    {"a\t", "entries, line 1: found a blank term, expected words", false},
    {"\tb", "entries, line 1: found a blank term, expected words", false},
    {"a,b,en", "a\tb", true},
    {"a,b,de", "entries, line 1: is in language \"de\", expected \"en\"", true},
    {"\"a\nb\",c", "entries, line 1: found a control character or a line break in a term", true},
    {"\"a\tb\",c", "entries, line 1: found a control character or a line break in a term", true},
    {"a\xEF\xBB\xBF,b", "entries, line 1: found a byte order mark in a term", true},
};

START_TEST(entries_are_read)
{
    const struct mt_entries entries = {.text = cases[_i].text,
                                       .length = strlen(cases[_i].text),
                                       .is_csv = cases[_i].is_csv,
                                       .source = "en",
                                       .target = "pt"};
    struct mt_error err;
    struct mt_terms *terms;
    struct mt_text text = {0};
    ck_assert_int_eq(mt_terms_create(&terms, &err), MT_OK);
    if (mt_entries_read(&entries, terms, &err) == MT_OK)
        mt_entries_write(terms, &text);
    else
        mt_text_append_string(&text, err.message);
    ck_assert_str_eq(text.bytes, cases[_i].expected);
    mt_text_finish(&text);
    mt_terms_destroy(terms);
}
END_TEST

Suite *suite_glossary_entries(void)
{
    Suite *suite = suite_create("glossary_entries");
    TCase *tcase = tcase_create("glossary_entries");
    tcase_add_loop_test(tcase, entries_are_read, 0, sizeof cases / sizeof cases[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
