#include "server/pull/names.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HUB "https://hub.example"

static const struct {
    const char *text;
    enum mt_registry registry;
    const char *repository, *revision, *pair, *url, *local;
    bool is_package, is_assumed;
} good[] = {
    {"Helsinki-NLP/opus-mt-en-fr", MT_REGISTRY_HUGGING_FACE, "Helsinki-NLP/opus-mt-en-fr", "", "",
     "", "opus-mt-en-fr", false, false},
    {"opus-mt-en-fr", MT_REGISTRY_HUGGING_FACE, "Helsinki-NLP/opus-mt-en-fr", "", "", "",
     "opus-mt-en-fr", false, true},
    {"opus-mt-tc-big-en-fr@v1.0", MT_REGISTRY_HUGGING_FACE, "Helsinki-NLP/opus-mt-tc-big-en-fr",
     "v1.0", "", "", "opus-mt-tc-big-en-fr", false, true},
    {"hf:ORG/NAME@refs/pr/1", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "refs/pr/1", "", "", "NAME",
     false, false},
    {"hf:opus-mt-en-fr", MT_REGISTRY_HUGGING_FACE, "Helsinki-NLP/opus-mt-en-fr", "", "", "",
     "opus-mt-en-fr", false, true},
    {"https://huggingface.co/ORG/NAME", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "", "", "", "NAME",
     false, false},
    {"https://huggingface.co/ORG/NAME/", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "", "", "", "NAME",
     false, false},
    {"https://huggingface.co/ORG/NAME/tree/main", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "main", "",
     "", "NAME", false, false},
    {"https://huggingface.co/ORG/NAME/blob/v2/config.json?x=1#L3", MT_REGISTRY_HUGGING_FACE,
     "ORG/NAME", "v2", "", "", "NAME", false, false},
    {"https://hf.co/ORG/NAME?library=transformers", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "", "",
     "", "NAME", false, false},
    {HUB "/ORG/NAME", MT_REGISTRY_HUGGING_FACE, "ORG/NAME", "", "", "", "NAME", false, false},
    {"argos:en-fr", MT_REGISTRY_ARGOS, "", "", "en-fr", "", "argos-en-fr", false, false},
    {"argos:en_fr@1.9", MT_REGISTRY_ARGOS, "", "1.9", "en_fr", "", "argos-en_fr", false, false},
    {"firefox:zh-Hans-en", MT_REGISTRY_FIREFOX, "", "", "zh-Hans-en", "", "firefox-zh-Hans-en",
     false, false},
    {"firefox:en-fr@2.1", MT_REGISTRY_FIREFOX, "", "2.1", "en-fr", "", "firefox-en-fr", false,
     false},
    {"https://x.example/a/translate-en_fr-1_9.argosmodel", MT_REGISTRY_URL, "", "", "",
     "https://x.example/a/translate-en_fr-1_9.argosmodel", "translate-en_fr-1_9", true, false},
    {"https://x.example/a.argosmodel?token=1&b=%2F#top", MT_REGISTRY_URL, "", "", "",
     "https://x.example/a.argosmodel?token=1&b=%2F", "a", true, false},
    {"https://x.example/models/my%20model", MT_REGISTRY_URL, "", "", "",
     "https://x.example/models/my%20model/", "my_model", false, false},
    {"https://x.example/models/.hidden/", MT_REGISTRY_URL, "", "", "",
     "https://x.example/models/.hidden/", "_hidden", false, false},
    {"https://x.example/..%2f..%2fetc/", MT_REGISTRY_URL, "", "", "",
     "https://x.example/..%2f..%2fetc/", "_._.._etc", false, false},
};

START_TEST(accepted)
{
    struct mt_pull_name name;
    struct mt_error err;
    char local[MT_PULL_LOCAL_BYTES];
    ck_assert_msg(!mt_pull_name_parse(good[_i].text, HUB, &name, &err), "%s: %s", good[_i].text,
                  err.message);
    ck_assert_int_eq(name.registry, good[_i].registry);
    ck_assert_str_eq(name.repository, good[_i].repository);
    ck_assert_str_eq(name.revision, good[_i].revision);
    ck_assert_str_eq(name.pair, good[_i].pair);
    ck_assert_str_eq(name.url, good[_i].url);
    ck_assert_int_eq(name.is_package, good[_i].is_package);
    ck_assert_int_eq(name.is_assumed, good[_i].is_assumed);
    mt_pull_name_local(&name, local);
    ck_assert_str_eq(local, good[_i].local);
    ck_assert(mt_pull_is_local_name(local));
}
END_TEST

static const struct {
    const char *text, *complaint;
} bad[] = {
    {"", "no name of a model"},
    {"marian-en-fr", "has no organisation"},
    {"ORG/", "no name of a model"},
    {"/NAME", "no name of a model"},
    {"ORG/NAME/more", "no name of a model"},
    {"../NAME", "no name of a model"},
    {"ORG/..", "no name of a model"},
    {"ORG/a..b", "no name of a model"},
    {"ORG/a--b", "no name of a model"},
    {"ORG/.hidden", "no name of a model"},
    {"ORG/NA ME", "no name of a model"},
    {"ORG/NAME\n", "no name of a model"},
    {"ORG/NAM\xc3\x89", "no name of a model"},
    {"ORG/NAME@", "no revision"},
    {"ORG/NAME@../x", "no revision"},
    {"ORG/NAME@a//b", "no revision"},
    {"ORG/NAME@a b", "no revision"},
    {"https://huggingface.co/ORG", "no model's page"},
    {"https://huggingface.co/", "no model's page"},
    {"https://huggingface.co/datasets/ORG/NAME", "a data set"},
    {"https://huggingface.co/spaces/ORG/NAME", "a space"},
    {"argos:", "two languages"},
    {"argos:en", "two languages"},
    {"argos:-fr", "two languages"},
    {"argos:en-", "two languages"},
    {"argos:en-f r", "two languages"},
    {"firefox:en-fr@", "no version"},
    {"https://", "no host"},
    {"https:///x.argosmodel", "no host"},
    {"https://user:word@x.example/", "password"},
    {"https://x.example/a b/", "character"},
    {"https://x.example/a\x7f/", "character"},
    {"https://x.example/dir/?list=1", "? or #"},
    {"http://x.example/dir/", "not encrypted"},
    {"ftp://x.example/dir/", "another kind"},
    {"file:///etc/", "another kind"},
};

START_TEST(refused)
{
    struct mt_pull_name name;
    struct mt_error err;
    ck_assert_msg(mt_pull_name_parse(bad[_i].text, HUB, &name, &err) == MT_INVALID, "\"%s\"",
                  bad[_i].text);
    ck_assert_msg(strstr(err.message, bad[_i].complaint), "%s", err.message);
    ck_assert_msg(strstr(err.message, "argos:en-fr"), "%s", err.message);
    ck_assert_ptr_null(strchr(err.message, '\n'));
}
END_TEST

START_TEST(of_any_length)
{
    struct mt_pull_name name;
    static const char *const beginnings[] = {"",          "ORG/",
                                             "hf:",       "ORG/NAME@",
                                             "argos:en-", "https://x.example/",
                                             "firefox:",  "https://hf.co/ORG/"};
    char *text = malloc(8192);
    ck_assert_ptr_nonnull(text);
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++)
        for (size_t n = 0; n < 4000; n += 1 + n / 16) {
            size_t length = strlen(beginnings[b]);
            memcpy(text, beginnings[b], length);
            memset(text + length, 'a', n);
            text[length + n] = '\0';
            char local[MT_PULL_LOCAL_BYTES];
            if (mt_pull_name_parse(text, HUB, &name, NULL) == MT_OK) {
                mt_pull_name_local(&name, local);
                ck_assert(mt_pull_is_local_name(local));
            }
        }
    free(text);
}
END_TEST

START_TEST(pairs_in_any_spelling)
{
    ck_assert(mt_pull_is_pair("en-fr", "en", "fr"));
    ck_assert(mt_pull_is_pair("en_fr", "en", "fr"));
    ck_assert(mt_pull_is_pair("zh-hans-en", "zh-Hans", "en"));
    ck_assert(mt_pull_is_pair("en-pt_BR", "en", "pt-br"));
    ck_assert(!mt_pull_is_pair("en-fr", "fr", "en"));
    ck_assert(!mt_pull_is_pair("en-fr", "e", "n-fr"));
    ck_assert(!mt_pull_is_pair("en-fr", "", "en-fr"));
    ck_assert(!mt_pull_is_pair("en", "en", ""));
}
END_TEST

START_TEST(registries_by_word)
{
    enum mt_registry registry;
    struct mt_error err;
    ck_assert_int_eq(mt_registry_parse("argos", &registry, &err), MT_OK);
    ck_assert_int_eq(registry, MT_REGISTRY_ARGOS);
    ck_assert_int_eq(mt_registry_parse("firefx", &registry, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "did you mean firefox?"));
    ck_assert_int_eq(mt_registry_parse("", &registry, &err), MT_INVALID);
}
END_TEST

Suite *suite_names(void)
{
    Suite *suite = suite_create("names");
    TCase *tcase = tcase_create("names");
    tcase_add_loop_test(tcase, accepted, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(tcase, refused, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tcase, of_any_length);
    tcase_add_test(tcase, pairs_in_any_spelling);
    tcase_add_test(tcase, registries_by_word);
    suite_add_tcase(suite, tcase);
    return suite;
}
