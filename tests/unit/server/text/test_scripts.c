#include "server/text/scripts.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;

static struct mt_scripts count(const char *text)
{
    struct mt_scripts scripts;
    mt_scripts_count(text, strlen(text), false, &scripts);
    return scripts;
}

START_TEST(letters_count_as_wide_as_they_are)
{
    static const struct {
        const char *text;
        UScriptCode script;
        uint32_t n_columns, n_all, n_words;
    } cases[] = {
        {"Hello", USCRIPT_LATIN, 5, 5, 1},
        {"日本", USCRIPT_HAN, 4, 4, 1},
        {"食べる", USCRIPT_HIRAGANA, 4, 6, 2},
        {"네", USCRIPT_HANGUL, 2, 2, 1},
        {"Hi, Москва!", USCRIPT_CYRILLIC, 6, 8, 2},
        /* A sign, and not a word. */
        {"π", USCRIPT_GREEK, 0, 0, 0},
        {"a b c", USCRIPT_LATIN, 0, 0, 0},
        {"Δx", USCRIPT_GREEK, 0, 0, 0},
        /* Vowel signs, joiners, hyphens and apostrophes are within words. */
        {"नमस्ते", USCRIPT_DEVANAGARI, 4, 4, 1},
        {"می‌خواهم", USCRIPT_ARABIC, 7, 7, 1},
        {"Wi-Fi don't don’t", USCRIPT_LATIN, 12, 12, 3},
        {"12:30 😀 ½ ²", USCRIPT_LATIN, 0, 0, 0},
        {"", USCRIPT_LATIN, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_scripts scripts = count(cases[i].text);
        ck_assert_msg(scripts.columns[cases[i].script] == cases[i].n_columns &&
                          scripts.n_columns == cases[i].n_all &&
                          scripts.n_words == cases[i].n_words,
                      "%s: %u of %u, %u words", cases[i].text, scripts.columns[cases[i].script],
                      scripts.n_columns, scripts.n_words);
    }
}
END_TEST

START_TEST(markup_ends_where_html_ends_it)
{
    static const struct {
        const char *html;
        uint32_t n_columns;
    } cases[] = {
        {"<b>Hallo</b>", 5},
        {"2 < 3 und 4 > 3", 3},
        {"<script>if (a < b) run()</SCRIPT >Hallo", 5},
        {"<style>p { color: red }</style>Hallo<!-- weg > weg -->", 5},
        {"&auml;&#228;Hallo &amp; AT&T", 7},
        {"Hallo <b", 5},
        {"Hallo <!-- offen", 5},
        {"Hallo <script>offen", 5},
        {"Hallo <", 5},
        {"Hallo &", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_scripts scripts;
        mt_scripts_count(cases[i].html, strlen(cases[i].html), true, &scripts);
        ck_assert_msg(scripts.n_columns == cases[i].n_columns, "%s: %u", cases[i].html,
                      scripts.n_columns);
    }
}
END_TEST

START_TEST(languages_suit_the_scripts_that_they_are_written_in)
{
    static const struct {
        const char *text, *suited, *unsuited;
    } cases[] = {
        {"Hello", "en de pt-BR sr uz", "ja ru el zh-Hans ko he"},
        {"привет", "ru bg sr uz", "en ja ro"},
        {"日本", "ja zh-Hans zh-Hant ko", "en ru"},
        {"ありがとう", "ja", "zh-Hans ko en"},
        {"안녕하세요", "ko", "ja zh-Hans"},
        {"שלום", "he yi", "en ar"},
        {"سلام", "ar fa ur", "he en"},
        /* Mixed: both, of a fifth each. */
        {"点击 Download Center", "zh-Hans en", "ru"},
        {"Tolstoy (Лев Толстой)", "ru en", "el"},
        {"Отправить сообщение OK", "ru", "en"},
        /* Nothing to go by. */
        {"123", "en ja ru", ""},
        /* Languages that ICU does not know. */
        {"Привет", "tlh xx", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_scripts scripts = count(cases[i].text);
        for (int is_suited = 0; is_suited < 2; is_suited++) {
            char list[64];
            strcpy(list, is_suited ? cases[i].suited : cases[i].unsuited);
            for (char *code = strtok(list, " "); code; code = strtok(NULL, " ")) {
                bool found = !is_suited;
                ck_assert_int_eq(mt_scripts_suit(&scripts, code, &found, &err), MT_OK);
                ck_assert_msg(found == is_suited, "%s: %s", cases[i].text, code);
            }
        }
    }
}
END_TEST

START_TEST(a_script_has_a_language)
{
    static const char *const cases[][2] = {
        {"привет", "ru"},    {"سلام", "ar"},       {"שלום", "he"}, {"नमस्ते", "hi"}, {"γεια", "el"},
        {"日本", "zh-Hans"}, {"食べ物です", "ja"}, {"한국", "ko"}, {"สวัสดี", "th"}, {"Hallo", "en"},
        {"𐌰𐌱𐌲", "got"},      {"123", ""},          {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_scripts scripts = count(cases[i][0]);
        char language[MT_LANGUAGE_BYTES] = "?";
        ck_assert_int_eq(mt_scripts_language(&scripts, language, &err), MT_OK);
        ck_assert_msg(strcmp(language, cases[i][1]) == 0, "%s: %s", cases[i][0], language);
    }
}
END_TEST

START_TEST(letters_that_an_alphabet_lacks_are_foreign)
{
    static const struct {
        const char *text, *language;
        size_t n;
    } cases[] = {
        {"Où est-ce ?", "fr", 0}, {"Où est-ce ?", "en", 1}, {"STRASSE straße", "de", 0},
        {"你好", "zh-Hans", 0},   {"你好", "ja", 1},        {"謝謝", "zh-Hans", 2},
        {"謝謝", "zh-Hant", 0},   {"привіт", "ru", 1},      {"привіт", "uk", 0},
        {"привіт", "tlh", 0}, /* CLDR does not know it */
        {"12 €", "de", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = 99;
        enum mt_status status = mt_scripts_count_foreign(cases[i].text, strlen(cases[i].text),
                                                         cases[i].language, &n, &err);
        ck_assert_int_eq(status, MT_OK);
        ck_assert_msg(n == cases[i].n, "%s in %s: %zu", cases[i].text, cases[i].language, n);
    }
}
END_TEST

/* With more languages than are kept, the answers about the others are the same. */
START_TEST(languages_without_room_have_their_letters_and_scripts)
{
    struct mt_language_scripts scripts;
    size_t n = 99;
    for (char first = 'a'; first <= 'z'; first++)
        for (char second = 'a'; second <= 'z'; second++) {
            char code[] = {first, second, '\0'};
            ck_assert_int_eq(mt_scripts_count_foreign("hello", 5, code, &n, &err), MT_OK);
        }
    ck_assert_int_eq(mt_scripts_count_foreign("привіт", strlen("привіт"), "ru", &n, &err), MT_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(mt_scripts_of_language("zh-Hant", &scripts, &err), MT_OK);
    ck_assert_uint_eq(scripts.n, 2);
}
END_TEST

/* "yi" alone is the name of a script, too. */
START_TEST(languages_have_the_scripts_that_they_are_usually_written_in)
{
    static const struct {
        const char *language;
        size_t n;
        UScriptCode first;
    } cases[] = {{"de", 1, USCRIPT_LATIN},      {"yi", 1, USCRIPT_HEBREW},
                 {"zh", 1, USCRIPT_HAN},        {"zh-Hant", 2, USCRIPT_HAN},
                 {"ja", 3, USCRIPT_KATAKANA},   {"sr", 1, USCRIPT_CYRILLIC},
                 {"sr-Latn", 1, USCRIPT_LATIN}, {"xx", 0, USCRIPT_COMMON}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_language_scripts scripts;
        ck_assert_int_eq(mt_scripts_of_language(cases[i].language, &scripts, &err), MT_OK);
        ck_assert_msg(scripts.n == cases[i].n &&
                          (scripts.n == 0 || scripts.items[0] == cases[i].first),
                      "%s: %zu, %d", cases[i].language, scripts.n, (int)scripts.items[0]);
    }
}
END_TEST

Suite *suite_scripts(void)
{
    Suite *suite = suite_create("scripts");
    TCase *tcase = tcase_create("scripts");
    tcase_add_test(tcase, letters_count_as_wide_as_they_are);
    tcase_add_test(tcase, markup_ends_where_html_ends_it);
    tcase_add_test(tcase, languages_suit_the_scripts_that_they_are_written_in);
    tcase_add_test(tcase, a_script_has_a_language);
    tcase_add_test(tcase, letters_that_an_alphabet_lacks_are_foreign);
    tcase_add_test(tcase, languages_without_room_have_their_letters_and_scripts);
    tcase_add_test(tcase, languages_have_the_scripts_that_they_are_usually_written_in);
    suite_add_tcase(suite, tcase);
    return suite;
}
