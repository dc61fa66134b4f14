#include "server/text/cue_tags.h"

#include "server/text/protect.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    enum mt_cue_markup markup;
    size_t n, n_halves;
} cases[] = {
    {"", MT_CUES_SRT, 0, 0},
    {"a < b > c", MT_CUES_SRT, 0, 0},
    {"<i>a</i>", MT_CUES_SRT, 2, 0},
    {"<I>a</i>", MT_CUES_SRT, 2, 0},
    {"<font color=\"red\">a</font>", MT_CUES_SRT, 2, 0},
    {"<i>a", MT_CUES_SRT, 1, 1},
    {"a</i>", MT_CUES_SRT, 1, 1},
    {"<i><b>a</i></b>", MT_CUES_SRT, 4, 2},
    {"<b>a<b>b</b>", MT_CUES_SRT, 3, 1},
    {"{\\an8}a{y:i}b", MT_CUES_SRT, 2, 0},
    {"{\\an8}{name}", MT_CUES_VTT, 0, 0},
    {"{name}", MT_CUES_SRT, 0, 0},
    {"<c.loud>a</c><00:01.000>b", MT_CUES_VTT, 3, 0},
    {"<00:01.000>b", MT_CUES_SRT, 0, 0},
    {"<v Anna>b", MT_CUES_VTT, 1, 1},
    {"<i", MT_CUES_SRT, 0, 0},
    {"<i\n>", MT_CUES_SRT, 0, 0},
    {"<b a <i>b</i>", MT_CUES_SRT, 2, 0},
};

START_TEST(tags_are_found_and_paired)
{
    struct mt_cue_tags tags;
    ck_assert(mt_cue_tags_find(cases[_i].text, strlen(cases[_i].text), cases[_i].markup, &tags));
    ck_assert_msg(tags.n == cases[_i].n && tags.n_halves == cases[_i].n_halves,
                  "%s: %zu tags, %zu halves", cases[_i].text, tags.n, tags.n_halves);
    for (size_t i = 0; i < tags.n; i++)
        if (tags.items[i].mate != MT_NO_MARK)
            ck_assert_uint_eq(tags.items[tags.items[i].mate].mate, i);
}
END_TEST

START_TEST(too_many_are_refused)
{
    static char text[3 * (MT_MAX_CUE_TAGS + 1) + 1];
    struct mt_cue_tags tags;
    struct mt_marked marked;
    for (size_t i = 0; i <= MT_MAX_CUE_TAGS; i++)
        memcpy(text + 3 * i, "<i>", 3);
    ck_assert(mt_cue_tags_find(text, sizeof text - 4, MT_CUES_SRT, &tags));
    ck_assert(!mt_cue_tags_find(text, sizeof text - 1, MT_CUES_SRT, &tags));
    ck_assert_uint_eq(tags.n, MT_MAX_CUE_TAGS);
    mt_marked_init(&marked);
    const struct mt_cue_options options = {.markup = MT_CUES_SRT};
    ck_assert(!mt_cue_tags_append(&marked, &options, text, sizeof text - 1));
    ck_assert_uint_eq(marked.n, 0);
    mt_marked_finish(&marked);
}
END_TEST

static void append(struct mt_marked *marked, const char *text, enum mt_cue_markup markup)
{
    struct mt_stand_ins stand_ins;
    struct mt_error err;
    const struct mt_cue_options options = {
        .markup = markup, .stand_ins = &stand_ins, .protects = true};
    mt_stand_ins_init(&stand_ins, text, strlen(text));
    mt_marked_init(marked);
    ck_assert(mt_cue_tags_append(marked, &options, text, strlen(text)));
    ck_assert_int_eq(mt_marked_check(marked, &err), MT_OK);
}

START_TEST(pairs_are_spans_and_others_points)
{
    struct mt_marked marked;
    append(&marked, "Go <i>home</i> {\\i1}now", MT_CUES_SRT);
    ck_assert_str_eq(marked.text.bytes, "Go home now");
    ck_assert_uint_eq(marked.n, 2);
    ck_assert_int_eq(marked.marks[0].kind, MT_MARK_SPAN);
    ck_assert_uint_eq(marked.marks[0].begin, 3);
    ck_assert_uint_eq(marked.marks[0].end, 7);
    ck_assert_int_eq(marked.marks[1].kind, MT_MARK_POINT);
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(placeholders_have_stand_ins)
{
    struct mt_marked marked;
    append(&marked, "Ask {name} at https://a.org/x now", MT_CUES_SRT);
    ck_assert_uint_eq(marked.n, 2);
    ck_assert_int_eq(marked.marks[0].kind, MT_MARK_STAND_IN);
    ck_assert_ptr_null(strchr(marked.text.bytes, '{'));
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(entities_are_characters_of_webvtt_alone)
{
    struct mt_marked marked;
    struct mt_text out = {0};
    append(&marked, "a &lt; b &amp;&nbsp;c &gt; &x; &#39;", MT_CUES_VTT);
    ck_assert_str_eq(marked.text.bytes, "a < b &\xC2\xA0"
                                        "c > &x; '");
    mt_cue_write_escaped(NULL, marked.text.bytes, marked.text.length, &out);
    ck_assert_str_eq(out.bytes, "a &lt; b &amp;\xC2\xA0"
                                "c &gt; &amp;x; '");
    mt_text_finish(&out);
    mt_marked_finish(&marked);
    append(&marked, "a &lt; b", MT_CUES_SRT);
    ck_assert_str_eq(marked.text.bytes, "a &lt; b");
    mt_marked_finish(&marked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cue_tags");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, tags_are_found_and_paired, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(all, too_many_are_refused);
    tcase_add_test(all, pairs_are_spans_and_others_points);
    tcase_add_test(all, placeholders_have_stand_ins);
    tcase_add_test(all, entities_are_characters_of_webvtt_alone);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
