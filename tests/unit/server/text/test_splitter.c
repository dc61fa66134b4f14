#include "base/text.h"
#include "server/text/splitter.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mt_splitter *splitter;

static void create_splitter(void)
{
    ck_assert_int_eq(mt_splitter_create(&splitter, NULL), MT_OK);
}

static void destroy_splitter(void)
{
    mt_splitter_destroy(splitter);
}

/* The sentences of a text with '|' between them. The caller frees. */
static char *joined(const char *text, size_t length, enum mt_split mode, const char *language)
{
    struct mt_ranges ranges = {0};
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_msg(!mt_splitter_split(splitter, text, length, mode, language, 0, &ranges, &err),
                  "%s", err.message);
    mt_text_append(&out, "", 0);
    for (size_t i = 0; i < ranges.n; i++) {
        mt_text_append(&out, "|", i > 0);
        mt_text_append(&out, text + ranges.items[i].begin,
                       ranges.items[i].end - ranges.items[i].begin);
    }
    mt_ranges_finish(&ranges);
    return out.bytes;
}

static void expect(enum mt_split mode, const char *language, const char *text, const char *expected)
{
    char *found = joined(text, strlen(text), mode, language);
    ck_assert_msg(!strcmp(found, expected), "[%s] \"%s\":\n  expected \"%s\"\n  found    \"%s\"",
                  language ? language : "", text, expected, found);
    free(found);
}

struct example {
    const char *language, *text, *expected;
};

static void expect_all(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(MT_SPLIT_ON, examples[i].language, examples[i].text, examples[i].expected);
}
#define EXPECT_ALL(examples) expect_all(examples, sizeof(examples) / sizeof *(examples))

START_TEST(ends_sentences_at_full_stops)
{
    static const struct example examples[] = {
        {"en", "Hello.", "Hello."},
        {"en", "Hello. How are you? Fine! Good", "Hello.|How are you?|Fine!|Good"},
        {"en", "It costs 3.50 dollars. See www.example.org for more.",
         "It costs 3.50 dollars.|See www.example.org for more."},
        {"en", "He said: \"No.\" I left.", "He said: \"No.\"|I left."},
        {"en", "Really?! Yes... Maybe.", "Really?!|Yes...|Maybe."},
        {"en", "One\xE2\x80\xA6 two. Three.", "One\xE2\x80\xA6 two.|Three."},
        {NULL, "A b. C d.", "A b.|C d."},
        {"de", "Ich gehe. Kommst du mit? Ja!", "Ich gehe.|Kommst du mit?|Ja!"},
        {"ru", "Привет. Как дела?", "Привет.|Как дела?"},
        {"hi", "यह है। वह है।", "यह है।|वह है।"},
    };
    EXPECT_ALL(examples);
}
END_TEST

START_TEST(ends_sentences_in_scripts_without_blanks)
{
    static const struct example examples[] = {
        {"zh", "你好。今天天气很好。我们走吧！", "你好。|今天天气很好。|我们走吧！"},
        {"ja", "「はい。」と言った。行こう？うん", "「はい。」|と言った。|行こう？|うん"},
    };
    EXPECT_ALL(examples);
}
END_TEST

/* What lies behind the text in memory is none of it. */
START_TEST(a_word_ends_where_the_text_does)
{
    static const char text[] = "We live in the U.S. Andorra";
    char *found = joined(text, sizeof "We live in the U.S. An" - 1, MT_SPLIT_ON, "en");
    ck_assert_str_eq(found, "We live in the U.S.|An");
    free(found);
}
END_TEST

START_TEST(goes_on_after_abbreviations)
{
    static const struct example examples[] = {
        {"en", "Dr. Smith met Mr. Jones. They left.", "Dr. Smith met Mr. Jones.|They left."},
        {"en", "Smith & Co. Ltd. is here.", "Smith & Co. Ltd. is here."},
        {"en", "The U.S. Army is big.", "The U.S. Army is big."},
        {"en", "We live in the U.S. As for you, go.", "We live in the U.S.|As for you, go."},
        {"en", "Tel. +1 555 is busy. See ed. 2.", "Tel. +1 555 is busy.|See ed. 2."},
        {"en", "(Dr. Smith was there.) Good.", "(Dr. Smith was there.)|Good."},
        {"en", "We met in St. Louis. It rained.", "We met in St. Louis.|It rained."},
        {"en", "See Fig. 3. It is on p. 5. Done.", "See Fig. 3.|It is on p. 5.|Done."},
        {"en", "George W. Bush came. J. R. R. Tolkien wrote.",
         "George W. Bush came.|J. R. R. Tolkien wrote."},
        {"en", "Use a tool, e.g. Word. It helps.", "Use a tool, e.g. Word.|It helps."},
        {"en-GB", "Gen. Grant won. He was glad.", "Gen. Grant won.|He was glad."},
        {"en", "So can I. It is late.", "So can I.|It is late."},
        {"en", "He said no. They left.", "He said no.|They left."},
        {"en", "Look at the fig. It is ripe.", "Look at the fig.|It is ripe."},
        {"de", "Am 3. Oktober ist Feiertag. Gut.", "Am 3. Oktober ist Feiertag.|Gut."},
        {"de", "Er lebte bis 1990. Dann ging er.", "Er lebte bis 1990.|Dann ging er."},
        {"de", "Das ist z.B. Herr Dr. Mai. Ja.", "Das ist z.B. Herr Dr. Mai.|Ja."},
        {"de_AT", "Siehe Abb. 2 dort. Danke.", "Siehe Abb. 2 dort.|Danke."},
        {"en", "It was 3. October came.", "It was 3.|October came."},
        {"fr", "J'ai vu Mme. Dupont. Elle va bien.", "J'ai vu Mme. Dupont.|Elle va bien."},
        {"es", "El Sr. García vino. Adiós.", "El Sr. García vino.|Adiós."},
        {NULL, "Prof. Mai is here. Hello.", "Prof. Mai is here.|Hello."},
    };
    EXPECT_ALL(examples);
}
END_TEST

START_TEST(goes_on_after_speech)
{
    static const struct example examples[] = {
        {"en", "\"Really?\" she asked. We nodded.", "\"Really?\" she asked.|We nodded."},
        {"en", "\xE2\x80\x9CReally?\xE2\x80\x9D she asked.",
         "\xE2\x80\x9CReally?\xE2\x80\x9D she asked."},
        {"en", "\"Really?\" I asked.", "\"Really?\"|I asked."}, /* nothing tells them apart */
        {"en", "how are you? i am fine.", "how are you?|i am fine."},
    };
    EXPECT_ALL(examples);
}
END_TEST

START_TEST(always_ends_a_sentence_at_a_line_break)
{
    static const struct example examples[] = {
        {"en", "a title\nDr.\nSmith is here\r\nand so on\n", "a title|Dr.|Smith is here|and so on"},
        {"en", "one\vtwo\fthree\rfour", "one|two|three|four"},
        {"en",
         "one\xC2\x85two\xE2\x80\xA8three\xE2\x80\xA9"
         "four",
         "one|two|three|four"},
        {"en", "\n\n  \n a \n\n\n b. C \n", "a|b.|C"},
    };
    EXPECT_ALL(examples);
}
END_TEST

START_TEST(other_modes_split_less)
{
    const char *text = " One. Two.\n\nThree. \n";
    expect(MT_SPLIT_ON, "en", text, "One.|Two.|Three.");
    expect(MT_SPLIT_NEWLINES, "en", text, "One. Two.|Three.");
    expect(MT_SPLIT_OFF, "en", text, "One. Two.\n\nThree.");
}
END_TEST

START_TEST(blank_texts_have_no_sentences)
{
    static const char *const blanks[] = {
        "", " ", "\n\r\n\t", "\xC2\xA0\xE3\x80\x80", "\x01\x1F\x7F", "\xC2\x80 \xE2\x80\xA8"};
    static const enum mt_split modes[] = {MT_SPLIT_ON, MT_SPLIT_OFF, MT_SPLIT_NEWLINES};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        for (size_t k = 0; k < 3; k++)
            expect(modes[k], "en", blanks[i], "");
    char *nul = joined("\0", 1, MT_SPLIT_ON, "en");
    ck_assert_str_eq(nul, "");
    free(nul);
}
END_TEST

START_TEST(languages_nobody_knows_get_the_common_rules)
{
    static const char *const languages[] = {
        "",
        "xx",
        "qaa-Qaaa-QM-x-private",
        "en@ss=none",
        "en;drop",
        "../../etc/passwd",
        "a-very-long-language-tag-that-no-one-has-ever-registered",
    };
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        expect(MT_SPLIT_ON, languages[i], "Ab cd. Ef gh.", "Ab cd.|Ef gh.");
}
END_TEST

START_TEST(more_languages_than_are_kept_still_work)
{
    for (int i = 0; i < 200; i++) {
        char language[16];
        snprintf(language, sizeof language, "q%c%c", 'a' + i / 26 % 26, 'a' + i % 26);
        expect(MT_SPLIT_ON, language, "Ab cd. Ef gh.", "Ab cd.|Ef gh.");
    }
}
END_TEST

START_TEST(refuses_more_sentences_than_allowed)
{
    struct mt_ranges ranges = {0};
    struct mt_error err = {0};
    const char *text = "A b. C d. E f.";
    ck_assert_int_eq(
        mt_splitter_split(splitter, text, strlen(text), MT_SPLIT_ON, "en", 3, &ranges, &err),
        MT_OK);
    mt_ranges_finish(&ranges);
    ck_assert_int_eq(
        mt_splitter_split(splitter, text, strlen(text), MT_SPLIT_ON, "en", 2, &ranges, &err),
        MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "more than 2"));
    mt_ranges_finish(&ranges);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Whatever the text, the ranges are ordered, none is empty, and between them there are only blanks
 * and control characters. */
START_TEST(only_blanks_lie_between_sentences)
{
    static const char *const pieces[] = {
        ".",
        "!",
        "?",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\"",
        "(",
        ")",
        "a",
        "B",
        "Dr",
        "3",
        "\xC3\xA4",
        "\xC3\x84",
        "\xE3\x80\x82",
        "\xE6\x97\xA5",
        "\xF0\x9F\x98\x80",
        "\xC2\xA0",
        "\xE2\x80\x99",
        "e.g",
        "\x01",
        "\xCC\x81",
        "\xE2\x80\xA9",
    };
    uint32_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        struct mt_text text = {0};
        struct mt_ranges ranges = {0};
        uint32_t n = next_random(&seed) % 40;
        mt_text_append(&text, "", 0);
        for (uint32_t i = 0; i < n; i++)
            mt_text_append_string(&text,
                                  pieces[next_random(&seed) % (sizeof pieces / sizeof *pieces)]);
        ck_assert_int_eq(mt_splitter_split(splitter, text.bytes, text.length, MT_SPLIT_ON,
                                           round % 2 ? "en" : "de", 0, &ranges, NULL),
                         MT_OK);
        size_t at = 0;
        for (size_t i = 0; i <= ranges.n; i++) {
            size_t begin = i < ranges.n ? ranges.items[i].begin : text.length;
            struct mt_range gap = mt_range_trim(text.bytes, at, begin);
            ck_assert_msg(gap.begin == gap.end, "lost something of \"%s\"", text.bytes);
            if (i == ranges.n)
                break;
            ck_assert_uint_lt(ranges.items[i].begin, ranges.items[i].end);
            at = ranges.items[i].end;
        }
        mt_ranges_finish(&ranges);
        mt_text_finish(&text);
    }
}
END_TEST

/* A megabyte each of what makes rules look far ahead or back. The time limit of the test case is
 * the check. */
START_TEST(takes_time_proportional_to_the_text)
{
    static const char *const pieces[] = {
        ". ", "a. ", "A. ", "Dr. ", "? ", ".) ", "\"?\" a", " ", "aaaaaaaa", "3. ", ". 1 ", "\n",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct mt_text text = {0};
        struct mt_ranges ranges = {0};
        while (text.length < (size_t)1 << 20)
            mt_text_append_string(&text, pieces[i]);
        ck_assert_int_eq(mt_splitter_split(splitter, text.bytes, text.length, MT_SPLIT_ON, "de", 0,
                                           &ranges, NULL),
                         MT_OK);
        mt_ranges_finish(&ranges);
        mt_text_finish(&text);
    }
}
END_TEST

static void *split_often(void *unused)
{
    static const char text[] = "Dr. Who is here. He left! \xC3\x84h? Yes. No.";
    static const char *const languages[] = {"en", "de", "fr", NULL};
    for (int i = 0; i < 300; i++) {
        struct mt_ranges ranges = {0};
        if (mt_splitter_split(splitter, text, strlen(text), MT_SPLIT_ON, languages[i % 4], 0,
                              &ranges, NULL) ||
            ranges.n != 5)
            return splitter; /* failed: check must not be called from here */
        mt_ranges_finish(&ranges);
    }
    return NULL;
}

START_TEST(threads_share_a_splitter)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, split_often, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

Suite *suite_splitter(void)
{
    Suite *suite = suite_create("splitter");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, create_splitter, destroy_splitter);
    tcase_add_test(tcase, ends_sentences_at_full_stops);
    tcase_add_test(tcase, ends_sentences_in_scripts_without_blanks);
    tcase_add_test(tcase, goes_on_after_abbreviations);
    tcase_add_test(tcase, a_word_ends_where_the_text_does);
    tcase_add_test(tcase, goes_on_after_speech);
    tcase_add_test(tcase, always_ends_a_sentence_at_a_line_break);
    tcase_add_test(tcase, other_modes_split_less);
    tcase_add_test(tcase, blank_texts_have_no_sentences);
    tcase_add_test(tcase, languages_nobody_knows_get_the_common_rules);
    tcase_add_test(tcase, more_languages_than_are_kept_still_work);
    tcase_add_test(tcase, refuses_more_sentences_than_allowed);
    tcase_add_test(tcase, only_blanks_lie_between_sentences);
    tcase_add_test(tcase, takes_time_proportional_to_the_text);
    tcase_add_test(tcase, threads_share_a_splitter);
    suite_add_tcase(suite, tcase);
    return suite;
}
