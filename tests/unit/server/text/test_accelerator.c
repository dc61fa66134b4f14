#include "server/text/accelerator.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A label, and the same without its mark; NULL: there is none. */
static const struct {
    const char *label, *bare;
} labels[] = {
    {"&File", "File"},
    {"_File", "File"},
    {"Save &as...", "Save as..."},
    {"E&xit", "Exit"},
    {"E_xit", "Exit"},
    {"Cu_t", "Cut"},
    {"Open &%s", NULL},
    {"Open %s&", NULL},
    {"&Open %s", "Open %s"},
    {"&\xC3\x96"
     "ffnen",
     "\xC3\x96"
     "ffnen"},
    {"(&1)", "(1)"},
    {"S&ave && exit", NULL},
    {"&Save && e&xit", NULL},
    {"Save & exit", NULL},
    {"R&D", NULL},
    {"AT&T", NULL},
    {"1&2", NULL},
    {"&amp;", NULL},
    {"a &lt; b", NULL},
    {"https://a.b/?c=1&d=2", NULL},
    {"file_name", NULL},
    {"MAX_SIZE", NULL},
    {"API_call", NULL},
    {"File_Name", NULL},
    {"_a_", NULL},
    {"{_x}", NULL},
    {"&", NULL},
    {"", NULL},
};

START_TEST(a_mark_is_told_from_what_looks_alike)
{
    const char *label = labels[_i].label;
    struct mt_accelerator found = mt_accelerator_find(label, strlen(label));
    ck_assert_msg((found.mark != '\0') == (labels[_i].bare != NULL), "%s: '%c'", label, found.mark);
    if (!labels[_i].bare)
        return;
    ck_assert_int_eq(label[found.at], found.mark);
    ck_assert_int_eq(strncmp(label, labels[_i].bare, found.at), 0);
    ck_assert_str_eq(label + found.at + 1, labels[_i].bare + found.at);
}
END_TEST

START_TEST(long_texts_are_no_labels)
{
    char text[MT_MAX_LABEL_BYTES + 2];
    memset(text, 'a', sizeof text);
    text[0] = '&';
    ck_assert_int_eq(mt_accelerator_find(text, MT_MAX_LABEL_BYTES).mark, '&');
    ck_assert_int_eq(mt_accelerator_find(text, MT_MAX_LABEL_BYTES + 1).mark, '\0');
}
END_TEST

static const struct {
    char mark;
    uint32_t letter;
    const char *translation, *expected;
} places[] = {
    {'&', 'F', "Datei", "&Datei"},
    {'_', 'f', "Im Fenster", "Im _Fenster"},
    {'&', 'F', "(leer)", "(&leer)"},
    {'&', 'F', "%s Fenster", "%s &Fenster"},
    {'&', 'F', "%s {f}", "%s {f}(&F)"},
    {'&', 'O', "%1 open", "%1 &open"},
    {'&', 'O',
     "\xC3\x96"
     "ffnen",
     "&\xC3\x96"
     "ffnen"},
    {'&', 'f', "\xE6\x96\x87\xE4\xBB\xB6", "\xE6\x96\x87\xE4\xBB\xB6(&F)"},
    {'_', 'a', "\xE5\x8F\xA6...", "\xE5\x8F\xA6(_A)..."},
    {'&', 'a', "A & B", "A & B"},
    {'&', 'a', "", ""},
};

START_TEST(a_mark_is_put_before_a_word)
{
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    mt_accelerator_place(places[_i].mark, places[_i].letter, places[_i].translation,
                         strlen(places[_i].translation), &out);
    ck_assert_str_eq(out.bytes, places[_i].expected);
    mt_text_finish(&out);
}
END_TEST

Suite *suite_accelerator(void)
{
    Suite *suite = suite_create("accelerator");
    TCase *tcase = tcase_create("accelerator");
    tcase_add_loop_test(tcase, a_mark_is_told_from_what_looks_alike, 0,
                        (int)(sizeof labels / sizeof *labels));
    tcase_add_test(tcase, long_texts_are_no_labels);
    tcase_add_loop_test(tcase, a_mark_is_put_before_a_word, 0,
                        (int)(sizeof places / sizeof *places));
    suite_add_tcase(suite, tcase);
    return suite;
}
