#include "base/text.h"
#include "inspection_sample.h"
#include "server/inspection/word_links.h"

#include <check.h>
#include <string.h>

static struct sample sample;
static struct mt_error err;

/* One layer and head aligns: rows of the sample's first sentence are set by hand. */
static void set_row(size_t step, float a, float b, float c, float d)
{
    float *row = sample.attention[0].rows[2][0][0][step];
    const float values[] = {a, b, c, d};
    memcpy(row, values, sizeof values);
}

static struct mt_inspection *inspect(void)
{
    const struct mt_inspection_options options = {
        .alignment = {.layers = {1, {0}}, .heads = {1, {0}}}};
    struct mt_inspection *inspection;
    ck_assert_int_eq(mt_inspection_create(&sample.input, &options, &inspection, &err), MT_OK);
    return inspection;
}

START_TEST(words_are_linked_where_their_pieces_are)
{
    struct mt_word_links links = {0};
    sample_init(&sample);
    set_row(0, 0.9F, 0.05F, 0, 0.05F);
    struct mt_inspection *inspection = inspect();
    ck_assert_int_eq(mt_word_links_find(inspection, &links, &err), MT_OK);
    ck_assert_uint_eq(links.n, 2); /* signs and faces are no words */
    ck_assert_uint_eq(links.items[0].source.begin, 0);
    ck_assert_uint_eq(links.items[0].source.end, strlen("Wörld"));
    ck_assert_uint_eq(links.items[0].source.end_char, 5);
    ck_assert_uint_eq(links.items[0].target.end, 4);
    ck_assert_float_eq_tol(links.items[0].score, 0.9F, 1e-6F);
    ck_assert_uint_eq(links.items[1].source.begin, 18); /* "Ja", in the second sentence */
    ck_assert_uint_eq(links.items[1].source.begin_char, 12);
    ck_assert_uint_eq(links.items[1].source.begin_utf16, 13);
    ck_assert_uint_eq(links.items[1].target.begin, 12);
    mt_word_links_finish(&links);
    mt_inspection_destroy(inspection);
}
END_TEST

/* "Wörld" as two pieces, and a second word behind it. */
START_TEST(pieces_of_a_word_count_together)
{
    static const struct mt_token source[] = {
        {.begin = 0, .end = 3, .piece = "▁ab"},
        {.begin = 3, .end = 5, .piece = "cd"},
        {.begin = 6, .end = 8, .piece = "▁ef"},
        {.begin = 8, .end = 8, .piece = "</s>", .special = true},
    };
    static const struct {
        float row[4];
        size_t n_links;
    } cases[] = {
        {{0.3F, 0.3F, 0.4F, 0}, 2},   /* 0.6 and 0.4: both */
        {{0.4F, 0.4F, 0.2F, 0}, 1},   /* 0.8 and 0.2: the first */
        {{0.1F, 0.1F, 0.5F, 0.3F}, 1} /* 0.2 and 0.5: the second */
    };
    for (size_t i = 0; i < 3; i++) {
        struct mt_word_links links = {0};
        sample_init(&sample);
        sample.input.source_text = "abccd ef";
        sample.input.source_length = 8;
        sample.input.n_parts = 1;
        sample.parts[0].source_tokens = source;
        sample.parts[0].source_end = 8;
        set_row(0, cases[i].row[0], cases[i].row[1], cases[i].row[2], cases[i].row[3]);
        struct mt_inspection *inspection = inspect();
        ck_assert_int_eq(mt_word_links_find(inspection, &links, &err), MT_OK);
        ck_assert_uint_eq(links.n, cases[i].n_links);
        ck_assert_uint_eq(links.items[0].source.begin, i == 2 ? 6 : 0);
        mt_word_links_finish(&links);
        mt_inspection_destroy(inspection);
    }
}
END_TEST

/* "und" came from it, and not from the word before it. */
START_TEST(an_ampersand_is_a_word)
{
    static const struct mt_token source[] = {
        {.begin = 0, .end = 3, .piece = "\u2581abc"},
        {.begin = 4, .end = 5, .piece = "\u2581&"},
        {.begin = 6, .end = 8, .piece = "\u2581ef"},
        {.begin = 8, .end = 8, .piece = "</s>", .special = true},
    };
    struct mt_word_links links = {0};
    sample_init(&sample);
    sample.input.source_text = "abc & ef";
    sample.input.source_length = 8;
    sample.input.n_parts = 1;
    sample.parts[0].source_tokens = source;
    sample.parts[0].source_end = 8;
    set_row(0, 0.3F, 0.7F, 0, 0);
    struct mt_inspection *inspection = inspect();
    ck_assert_int_eq(mt_word_links_find(inspection, &links, &err), MT_OK);
    ck_assert_uint_eq(links.n, 1);
    ck_assert_uint_eq(links.items[0].source.begin, 4);
    mt_word_links_finish(&links);
    mt_inspection_destroy(inspection);
}
END_TEST

/* What is measured is counted (meson.build: --wrap). */
static size_t n_measured;
size_t __real_mt_utf8_count(const char *bytes, size_t length);
size_t __wrap_mt_utf8_count(const char *bytes, size_t length);

size_t __wrap_mt_utf8_count(const char *bytes, size_t length)
{
    n_measured += length;
    return __real_mt_utf8_count(bytes, length);
}

/* One token touches all words, so that each is linked. */
START_TEST(words_are_measured_once)
{
    enum { N_WORDS = 500 };
    struct mt_text text = {0};
    struct mt_word_links links = {0};
    for (size_t i = 0; i < N_WORDS; i++)
        mt_text_append_string(&text, "Wörd 😀"); /* 4 letters, a blank, and no word */
    const struct mt_token source[] = {
        {.begin = 0, .end = text.length, .piece = "▁x"},
        {.begin = text.length, .end = text.length, .piece = "</s>", .special = true},
        {.begin = text.length, .end = text.length, .piece = "</s>", .special = true},
        {.begin = text.length, .end = text.length, .piece = "</s>", .special = true},
    };
    sample_init(&sample);
    sample.input.source_text = text.bytes;
    sample.input.source_length = text.length;
    sample.input.n_parts = 1;
    sample.parts[0].source_tokens = source;
    sample.parts[0].source_end = text.length;
    set_row(0, 1, 0, 0, 0);
    struct mt_inspection *inspection = inspect();
    n_measured = 0;
    ck_assert_int_eq(mt_word_links_find(inspection, &links, &err), MT_OK);
    ck_assert_uint_le(n_measured, text.length + strlen(sample.input.target_text));
    ck_assert_uint_eq(links.n, N_WORDS);
    for (size_t i = 0; i < N_WORDS; i++) {
        const struct mt_offsets *at = &links.items[i].source;
        ck_assert_uint_eq(at->begin, 10 * i);
        ck_assert_uint_eq(at->end, 10 * i + 5);
        ck_assert_uint_eq(at->begin_char, 6 * i);
        ck_assert_uint_eq(at->end_char, 6 * i + 4);
        ck_assert_uint_eq(at->begin_utf16, 7 * i);
        ck_assert_uint_eq(at->end_utf16, 7 * i + 4);
    }
    mt_word_links_finish(&links);
    mt_inspection_destroy(inspection);
    mt_text_finish(&text);
}
END_TEST

Suite *suite_word_links(void)
{
    Suite *suite = suite_create("word_links");
    TCase *tests = tcase_create("word_links");
    tcase_add_test(tests, words_are_linked_where_their_pieces_are);
    tcase_add_test(tests, pieces_of_a_word_count_together);
    tcase_add_test(tests, words_are_measured_once);
    tcase_add_test(tests, an_ampersand_is_a_word);
    suite_add_tcase(suite, tests);
    return suite;
}
