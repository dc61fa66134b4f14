#include "server/text/cue_tags.h"

#include <check.h>
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
    {"<00:01.000>b", MT_CUES_SRT, 1, 0},
    {"<00 b>", MT_CUES_SRT, 0, 0},
    {"a<br>b<BR/>c", MT_CUES_VTT, 2, 0},
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
        if (tags.items[i].mate != MT_NO_MATE)
            ck_assert_uint_eq(tags.items[tags.items[i].mate].mate, i);
}
END_TEST

START_TEST(too_many_are_refused)
{
    static char text[3 * (MT_MAX_CUE_TAGS + 1) + 1];
    struct mt_cue_tags tags;
    struct mt_coded coded = {0};
    struct mt_error err = {0};
    for (size_t i = 0; i <= MT_MAX_CUE_TAGS; i++)
        memcpy(text + 3 * i, "<i>", 3);
    ck_assert(mt_cue_tags_find(text, sizeof text - 4, MT_CUES_SRT, &tags));
    ck_assert(!mt_cue_tags_find(text, sizeof text - 1, MT_CUES_SRT, &tags));
    ck_assert_uint_eq(tags.n, MT_MAX_CUE_TAGS);
    ck_assert_int_eq(mt_read_srt(text, sizeof text - 1, NULL, &coded, &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "a subtitle has more than 192 tags");
    mt_coded_finish(&coded);
}
END_TEST

static const struct mt_coded_segment *read_cue(struct mt_coded *coded, mt_coded_reader *read,
                                               const char *text)
{
    struct mt_error err = {0};
    *coded = (struct mt_coded){0};
    ck_assert_msg(!read(text, strlen(text), NULL, coded, &err), "%s", err.message);
    ck_assert_uint_eq(coded->n, 1);
    ck_assert_uint_eq(coded->segments[0].range.begin, 0);
    ck_assert_uint_eq(coded->segments[0].range.end, strlen(text));
    return &coded->segments[0];
}

static void expect_code(const struct mt_coded *coded, size_t index, enum mt_code_kind kind,
                        size_t at, size_t mate, const char *bytes)
{
    const struct mt_code *code = &coded->segments[0].codes[index];
    ck_assert_int_eq(code->kind, kind);
    ck_assert_uint_eq(code->at.begin, at);
    ck_assert_uint_eq(code->at.end, at);
    ck_assert_uint_eq(code->mate, mate);
    ck_assert_uint_eq(code->bytes.end - code->bytes.begin, strlen(bytes));
    ck_assert_mem_eq(coded->source + code->bytes.begin, bytes, strlen(bytes));
}

START_TEST(pairs_are_pairs_and_others_points)
{
    struct mt_coded coded;
    const struct mt_coded_segment *segment =
        read_cue(&coded, mt_read_srt, "Go <i>home</i> {\\i1}now");
    ck_assert_str_eq(segment->words.bytes, "Go home now");
    ck_assert_uint_eq(segment->n, 3);
    expect_code(&coded, 0, MT_CODE_OPEN, 3, 1, "<i>");
    expect_code(&coded, 1, MT_CODE_CLOSE, 7, 0, "</i>");
    expect_code(&coded, 2, MT_CODE_POINT, 8, MT_NO_MATE, "{\\i1}");
    mt_coded_finish(&coded);
}
END_TEST

START_TEST(breaks_are_blanks)
{
    struct mt_coded coded;
    const struct mt_coded_segment *segment =
        read_cue(&coded, mt_read_vtt, "Hello<br>there <br/>now");
    ck_assert_str_eq(segment->words.bytes, "Hello there now");
    ck_assert_uint_eq(segment->n, 2);
    ck_assert_int_eq(segment->codes[0].kind, MT_CODE_GAP);
    ck_assert_uint_eq(segment->codes[0].at.end, 6);
    expect_code(&coded, 1, MT_CODE_POINT, 12, MT_NO_MATE, "<br/>");
    mt_coded_finish(&coded);
}
END_TEST

/* Entities that WebVTT has not are copied, and tags behind them still are pairs. */
START_TEST(other_entities_are_codes)
{
    struct mt_coded coded;
    struct mt_text out = {0};
    const struct mt_coded_segment *segment =
        read_cue(&coded, mt_read_vtt, "a &rarr; <i>b</i> &#8594;");
    ck_assert_uint_eq(segment->n, 4);
    ck_assert_int_eq(segment->codes[0].kind, MT_CODE_WORD);
    ck_assert_uint_eq(segment->codes[1].mate, 2);
    ck_assert_uint_eq(segment->codes[2].mate, 1);
    size_t code = 0;
    mt_coded_write_range(&coded, segment, (struct mt_range){0, segment->words.length}, &code, &out);
    ck_assert_str_eq(out.bytes, "a &rarr; <i>b</i> &#8594;");
    mt_text_finish(&out);
    mt_coded_finish(&coded);
}
END_TEST

/* codes_find.h finds them. */
START_TEST(placeholders_are_words_here)
{
    struct mt_coded coded;
    const struct mt_coded_segment *segment =
        read_cue(&coded, mt_read_srt, "Ask {name} at https://a.org/x now");
    ck_assert_str_eq(segment->words.bytes, "Ask {name} at https://a.org/x now");
    ck_assert_uint_eq(segment->n, 0);
    mt_coded_finish(&coded);
}
END_TEST

START_TEST(entities_are_characters_of_webvtt_alone)
{
    struct mt_coded coded;
    struct mt_text out = {0};
    const struct mt_coded_segment *segment =
        read_cue(&coded, mt_read_vtt, "a &lt; b &amp;&nbsp;c &gt; &x; &#39;");
    ck_assert_str_eq(segment->words.bytes, "a < b &\xC2\xA0"
                                           "c > &x; '");
    coded.write(segment, segment->words.bytes, segment->words.length, &out);
    ck_assert_str_eq(out.bytes, "a &lt; b &amp;\xC2\xA0"
                                "c &gt; &amp;x; '");
    mt_text_finish(&out);
    mt_coded_finish(&coded);
    segment = read_cue(&coded, mt_read_srt, "a &lt; b");
    ck_assert_str_eq(segment->words.bytes, "a &lt; b");
    ck_assert(!coded.write);
    mt_coded_finish(&coded);
}
END_TEST

Suite *suite_cue_tags(void)
{
    Suite *suite = suite_create("cue_tags");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, tags_are_found_and_paired, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(all, too_many_are_refused);
    tcase_add_test(all, pairs_are_pairs_and_others_points);
    tcase_add_test(all, breaks_are_blanks);
    tcase_add_test(all, other_entities_are_codes);
    tcase_add_test(all, placeholders_are_words_here);
    tcase_add_test(all, entities_are_characters_of_webvtt_alone);
    suite_add_tcase(suite, all);
    return suite;
}
