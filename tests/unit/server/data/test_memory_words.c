#include "server/data/memory_words.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;
static struct mt_word_reader *reader;

static void setup(void)
{
    ck_assert_int_eq(mt_word_reader_create(&reader, &err), MT_OK);
}

static void teardown(void)
{
    mt_word_reader_destroy(reader);
}

static struct mt_memory_words words_of(const char *text)
{
    struct mt_memory_words words;
    ck_assert_int_eq(mt_memory_words_read(reader, text, strlen(text), &words, &err), MT_OK);
    return words;
}

static int similarity(const char *a, const char *b)
{
    struct mt_memory_words x = words_of(a), y = words_of(b);
    ck_assert_int_eq(mt_memory_words_similarity(&x, &y), mt_memory_words_similarity(&y, &x));
    return mt_memory_words_similarity(&x, &y);
}

START_TEST(words_are_compared)
{
    ck_assert_int_eq(similarity("Press the red button.", "press the RED button!"), 100);
    ck_assert_int_eq(similarity("Press the red button.", "Press the green button."), 75);
    ck_assert_int_eq(similarity("Press the red button.", "Press the button."), 75);
    ck_assert_int_eq(similarity("Page 7 of 12", "Page 1,234 of 5"), 100);
    ck_assert_int_eq(similarity("one two", "three four"), 0);
    ck_assert_int_eq(similarity("", "!"), 100);
    ck_assert_int_eq(similarity("", "a"), 0);
    ck_assert_int_eq(similarity("a b c d", "b c d a"), 50);
}
END_TEST

START_TEST(languages_without_blanks_have_words)
{
    ck_assert_uint_gt(words_of("私は東京に住んでいます。").n, 3);
    ck_assert_int_ge(similarity("私は東京に住んでいます。", "私は大阪に住んでいます。"), 60);
}
END_TEST

static bool share_a_key(const struct mt_memory_words *a, const struct mt_memory_words *b)
{
    for (size_t i = 0; i < a->n_keys; i++)
        for (size_t k = 0; k < b->n_keys; k++)
            if (a->keys[i] == b->keys[k])
                return true;
    return false;
}

/* Words of a small vocabulary, one of them in many places: what is alike is often so with words that
 * stand in a text twice. */
static void make_text(unsigned *seed, size_t n, char *out)
{
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        static const char *const words[] = {"the",   "a",      "station", "button", "of",
                                            "press", "window", "7",       "green",  "is"};
        *seed = *seed * 1103515245 + 12345;
        strcat(out, words[(*seed >> 16) % 10]);
        strcat(out, " ");
    }
}

/* The promise of the prefix filter, on all pairs of generated texts. */
START_TEST(who_is_alike_shares_a_key)
{
    enum { N = 1000 };
    static struct mt_memory_words all[N];
    char text[1024];
    unsigned seed = 1;
    size_t n_alike = 0;
    for (size_t i = 0; i < N; i++) {
        make_text(&seed, 3 + i % 6, text);
        all[i] = words_of(text);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i; k++) {
            struct mt_memory_word_range range = mt_memory_words_range(all[i].n);
            if (mt_memory_words_similarity(&all[i], &all[k]) < MT_LEAST_SIMILARITY)
                continue;
            ck_assert(share_a_key(&all[i], &all[k]));
            ck_assert(mt_memory_words_may_be_alike(&all[i], all[k].n, all[k].signature,
                                                   MT_LEAST_SIMILARITY));
            ck_assert_uint_ge(all[k].n, range.low);
            ck_assert_uint_le(all[k].n, range.high);
            n_alike++;
        }
    ck_assert_uint_gt(n_alike, 100);
}
END_TEST

START_TEST(signatures_tell_most_others_apart)
{
    struct mt_memory_words a = words_of("Press the red button to stop the train at once."),
                           b = words_of("We met the old men who press apples in the village.");
    ck_assert(!mt_memory_words_may_be_alike(&a, b.n, b.signature, MT_LEAST_SIMILARITY));
    ck_assert(mt_memory_words_may_be_alike(&a, a.n, a.signature, 100));
}
END_TEST

START_TEST(long_texts_have_an_end)
{
    static char text[8 * MT_MAX_MEMORY_WORDS + 1];
    for (size_t i = 0; i < 2 * MT_MAX_MEMORY_WORDS; i++)
        strcat(text, "a b ");
    struct mt_memory_words words = words_of(text);
    ck_assert_uint_eq(words.n, MT_MAX_MEMORY_WORDS);
    ck_assert_uint_eq(words.n_keys, 1);
    ck_assert_int_eq(mt_memory_words_similarity(&words, &words), 100);
}
END_TEST

Suite *suite_memory_words(void)
{
    Suite *suite = suite_create("memory_words");
    TCase *tcase = tcase_create("memory_words");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, words_are_compared);
    tcase_add_test(tcase, languages_without_blanks_have_words);
    tcase_add_test(tcase, who_is_alike_shares_a_key);
    tcase_add_test(tcase, signatures_tell_most_others_apart);
    tcase_add_test(tcase, long_texts_have_an_end);
    suite_add_tcase(suite, tcase);
    return suite;
}
