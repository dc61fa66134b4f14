#include "server/text/left_words.h"

#include "model/sentence.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#include <math.h>

#define MAX_TOKENS 64

static struct mt_tokenizer *tokenizer;
static struct mt_error err;

/* The bundled model's, which spells what it does not know in bytes. */
static void open_tokenizer(void)
{
    const char *root = getenv("MT_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/weights/en-de", root ? root : ".");
    tokenizer = open_or_fail(path);
}

static void close_tokenizer(void)
{
    mt_tokenizer_close(tokenizer);
}

/* What is said of a translation whose tokens all have that probability. */
static bool finds(const char *source, const char *target, float probability,
                  const struct mt_range *ignored)
{
    struct mt_token_list list;
    int32_t ids[MAX_TOKENS];
    float logprobs[MAX_TOKENS];
    bool found = true;
    ck_assert_int_eq(
        mt_tokenize(tokenizer, target, strlen(target), MT_TOKENIZE_TARGET, &list, &err), MT_OK);
    ck_assert_uint_le(list.n, MAX_TOKENS);
    for (size_t i = 0; i < list.n; i++) {
        ids[i] = list.tokens[i].id;
        logprobs[i] = logf(probability);
    }
    const struct mt_hypothesis hypothesis = {
        .ids = ids, .n_ids = list.n, .token_logprobs = probability > 0 ? logprobs : NULL};
    const struct mt_proofread_pair pair = {.source = source,
                                           .n_source = strlen(source),
                                           .target = target,
                                           .n_target = strlen(target),
                                           .ignored = ignored,
                                           .n_ignored = ignored != NULL};
    ck_assert_int_eq(mt_left_words_find(tokenizer, &hypothesis, &pair, &found, &err), MT_OK);
    mt_token_list_finish(&list);
    return found;
}

/* Spelled without a doubt, a word belongs to both languages; unsurely, it was left. */
static const struct {
    const char *source, *target;
    bool is_left;
} cases[] = {
    {"The vacuum cleaner is broken.", "Der vacuum ist kaputt.", true},
    {"The zipper is broken.", "Der zipper-Verschluss ist kaputt.", true},
    {"The zipper is broken.", "ジャケットのzipperは壊れている。", true},
    {"Twenty of them came.", "Twenty von ihnen kamen.", true},
    {"The zipper is broken.", "Der Reißverschluss ist kaputt.", false},
    {"The zipper is broken.", "Die zippers sind kaputt.", false},
    {"We met Zipperle.", "Wir trafen Zipperle.", false},         /* a name */
    {"Zipperle met us.", "Zipperle traf uns.", false},           /* at the beginning, too */
    {"Use zipper_name here.", "Nutze zipper_name hier.", false}, /* parts of codes */
    {"See zipper.example now.", "Siehe zipper.example nun.", false},
    {"the file /zipper now", "die Datei /zipper nun", false},
    {"It says \"zipper\": look.", "Da steht „zipper“: schau.", true},
    {"a zap", "ein zap", false}, /* too short */
    {"", "", false},
};

START_TEST(words_that_are_spelled_unsurely_were_left)
{
    ck_assert_msg(finds(cases[_i].source, cases[_i].target, 0.4f, NULL) == cases[_i].is_left,
                  "%s | %s", cases[_i].source, cases[_i].target);
    ck_assert(!finds(cases[_i].source, cases[_i].target, 0.99f, NULL));
    ck_assert(!finds(cases[_i].source, cases[_i].target, 0, NULL));
}
END_TEST

START_TEST(terms_are_ignored)
{
    const struct mt_range term = {4, 10};
    ck_assert(finds("The zipper is broken.", "Der zipper ist kaputt.", 0.4f, NULL));
    ck_assert(!finds("The zipper is broken.", "Der zipper ist kaputt.", 0.4f, &term));
}
END_TEST

Suite *suite_left_words(void)
{
    Suite *suite = suite_create("left_words");
    TCase *tcase = tcase_create("left_words");
    tcase_add_unchecked_fixture(tcase, open_tokenizer, close_tokenizer);
    tcase_add_loop_test(tcase, words_that_are_spelled_unsurely_were_left, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, terms_are_ignored);
    suite_add_tcase(suite, tcase);
    return suite;
}
