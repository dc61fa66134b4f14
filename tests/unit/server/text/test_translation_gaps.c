/*
 * What stands between the sentences of a translation, by its language. Sentences that have not been
 * decoded are empty, so that what is rendered is the gaps alone.
 */
#include "model/model.h"
#include "server/text/translation.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

static const struct {
    const char *language; /* the model knows none of them: only the gaps depend on it */
    const char *gaps;     /* of "Hello. You run.  Hello.\nYou run. " */
} cases[] = {
    {"de", "   \n "}, {"th", "   \n "},     {"zhx", "   \n "},     {"ja", "  \n "},
    {"zh", "  \n "},  {"zh-Hans", "  \n "}, {"jpn_Jpan", "  \n "}, {"yue", "  \n "},
};

START_TEST(one_blank_goes_where_sentences_are_joined)
{
    static const char text[] = "Hello. You run.  Hello.\nYou run. ";
    struct mt_model *model;
    struct mt_splitter *splitter;
    struct mt_error err = {0};
    ck_assert_msg(
        !mt_model_open(en_de(), &(struct mt_model_options){.precision = MT_FP32}, &model, &err),
        "%s", err.message);
    ck_assert_int_eq(mt_splitter_create(&splitter, NULL), MT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_translation_options options = {
            .splitter = splitter, .source_lang = "en", .target_lang = cases[i].language};
        struct mt_translation *t;
        struct mt_text gaps = {0};
        ck_assert_int_eq(mt_translation_create(model, text, strlen(text), &options, &t, &err),
                         MT_OK);
        ck_assert_uint_eq(mt_translation_n_sentences(t), 4);
        ck_assert_int_eq(mt_translation_render_ranges(t, 0, NULL, &gaps, &err), MT_OK);
        ck_assert_msg(strcmp(gaps.bytes, cases[i].gaps) == 0, "%s: \"%s\"", cases[i].language,
                      gaps.bytes);
        mt_text_finish(&gaps);
        mt_translation_destroy(t);
    }
    mt_splitter_destroy(splitter);
    mt_model_close(model);
}
END_TEST

Suite *suite_translation_gaps(void)
{
    TCase *tcase = tcase_create("gaps");
    tcase_add_test(tcase, one_blank_goes_where_sentences_are_joined);
    Suite *suite = suite_create("translation_gaps");
    suite_add_tcase(suite, tcase);
    return suite;
}
