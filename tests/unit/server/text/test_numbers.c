#include "server/text/numbers/number_notation.h"
#include "server/text/proofread.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct mt_error err;
static struct mt_number_words *words;

static void set_up(void)
{
    ck_assert_int_eq(mt_number_words_create(&words, &err), MT_OK);
}

static void tear_down(void)
{
    mt_number_words_destroy(words);
}

static struct mt_proofreader reader_of(const char *source_lang, const char *target_lang)
{
    struct mt_proofreader reader;
    ck_assert_int_eq(mt_proofreader_init(&reader, words, source_lang, target_lang, &err), MT_OK);
    return reader;
}

/* "365 / 35": what is missing, and what is added. */
static void describe(const char *source_lang, const char *target_lang, const char *source,
                     const char *target, struct mt_text *out)
{
    const struct mt_proofreader reader = reader_of(source_lang, target_lang);
    struct mt_numbers_difference difference = {0};
    const struct mt_proofread_pair pair = {
        .source = source, .n_source = strlen(source), .target = target, .n_target = strlen(target)};
    ck_assert_int_eq(mt_proofread_numbers(&reader, &pair, &difference, &err), MT_OK);
    ck_assert_int_eq(mt_proofread_times(&reader, &pair, &difference, &err), MT_OK);
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < difference.missing.n; i++) {
        struct mt_range at = difference.missing.items[i];
        mt_text_appendf(out, "%.*s ", (int)(at.end - at.begin), source + at.begin);
    }
    mt_text_append_string(out, "/");
    for (size_t i = 0; i < difference.added.n; i++) {
        struct mt_range at = difference.added.items[i];
        mt_text_appendf(out, " %.*s", (int)(at.end - at.begin), target + at.begin);
    }
    mt_numbers_difference_finish(&difference);
}

struct pair {
    const char *source_lang, *target_lang, *source, *target;
};

/* Right in both directions. */
static const struct pair equal[] = {
    {"en", "de", "It costs 1,250.5 euros.", "Es kostet 1.250,5 Euro."},
    {"en", "de", "at 3 a.m.", "um 3 Uhr"},
    {"en", "de", "at 12:55 p.m.", "um 12.55 Uhr"},
    {"en", "de", "tonight at 9 p.m.", "abends um 9"},
    {"en", "de", "at 3 p.m.", "um 3 Uhr nachmittags"},
    {"en", "de", "at 11 p.m.", "um 11 Uhr nachts"},
    {"en", "de", "from 9 a.m. until late", "von 9 Uhr bis abends"},
    {"en", "de", "6 a.m. and 6 p.m.", "6 und 18 Uhr"},
    {"en", "ja", "8 a.m. to 5 p.m.", "午前8時から午後5時"},
    {"en", "ja", "at 12:30 p.m.", "午後0時30分"},
    {"en", "fr", "It costs 1,250.50.", "Cela coûte 1\u202f250,50."},
    {"en", "fr", "There are 10,000 of them.", "Il y en a 10 000."},
    {"en", "de-CH", "1,250,000 people", "1'250'000 Leute"},
    {"en", "de-CH", "1,250,000 people", "1’250’000 Leute"},
    {"en", "hi", "1,250,000 people", "12,50,000 लोग"},
    {"en", "hi", "1,250,000 people", "१२,५०,००० लोग"},
    {"en", "ar", "1,250.5", "١٬٢٥٠٫٥"},
    {"en", "ja", "1,250.5", "１，２５０．５"},
    {"en", "de", "1250000", "1.250.000"},
    {"en", "de", "7.50 euros", "7,5 Euro"},
    {"en", "de", "at 9:45", "um 9.45 Uhr"},
    {"en", "de", "at 10:00", "um 10 Uhr"},
    {"en", "fr", "at 15:30", "à 15 h 30"},
    {"en", "de", "at 3 pm", "um 15 Uhr"},
    {"en", "de", "at 3:20 p.m.", "um 15.20 Uhr"},
    {"en", "ja", "at 3 pm", "午後15時"},
    {"en", "de", "at 12:10 am", "um 0.10 Uhr"},
    {"en", "de", "at 2:30", "um halb drei"},
    {"en", "ja", "at 2:30", "2時半に"},
    {"en", "de", "12/05/2024", "12.05.2024"},
    {"en", "de", "05/12/2024", "12.05.2024"},
    {"en", "de", "2024-05-12", "12.5.2024"},
    {"en", "de", "12 May 2024", "12.05.2024"},
    {"en", "ja", "on May 12, 2024", "2024年5月12日に"},
    {"en", "de", "the summer of '98", "der Sommer 1998"},
    {"en", "fr", "in the 1930s", "dans les années 30"},
    {"en", "de", "from 1997 to 1998", "1997/98"},
    {"en", "de", "two dogs", "2 Hunde"},
    {"en", "de", "2 dogs", "zwei Hunde"},
    {"en", "fr", "21 dogs", "vingt et un chiens"},
    {"en", "fr", "97 dogs", "quatre-vingt-dix-sept chiens"},
    {"en", "de", "251 dogs", "zweihunderteinundfünfzig Hunde"},
    {"de", "en", "250 Hunde", "two hundred and fifty dogs"},
    {"de", "en", "2000 Hunde", "two thousand dogs"},
    {"en", "ru", "in the 3rd row", "в третьем ряду"},
    {"en", "de", "the 1st of May", "am ersten Mai"},
    {"en", "de", "the 21st century", "das 21. Jahrhundert"},
    {"en", "de", "at 12", "um zwölf Uhr"},
    {"de", "en", "um 12 Uhr", "at twelve o'clock"},
    {"en", "fr", "the 20th century", "le XXe siècle"},
    {"en", "de", "Louis XIV", "Ludwig der 14."},
    {"en", "ja", "in 2010", "二〇一〇年に"},
    {"en", "ja", "30 people", "三十人"},
    {"en", "ja", "1.5 million people", "150万人"},
    {"en", "ja", "150 million people", "1億5000万人"},
    {"en", "ja", "16,000 people", "1 万 6 千人"},
    {"en", "de", "1.5 million people", "1,5 Mio. Leute"},
    {"en", "de", "$2bn", "2 Milliarden Dollar"},
    {"en", "de", "20 %, or $5", "20% oder 5 $"},
    {"en", "de", "Call 555-1234-77.", "Rufen Sie 5551234 77 an."},
    {"en", "de", "v2.1.3, Error 404, A4, MP3", "v2.1.3, Fehler 404, A4, MP3"},
    {"en", "de", "My number is C4F9K2810.", "Meine Nummer ist C4F9K2810."},
    {"en", "de", "85 miles per hour", "136 Kilometer pro Stunde"},
    {"en", "de", "2 to 4 inches of rain", "5 bis 10 Zentimeter Regen"},
    {"en", "fr", "80 degrees", "27 °C"},
    {"en", "de", "007", "007"},
    {"xx", "xx", "1,250.50", "1.250,50"},
};

START_TEST(spellings_of_one_number_are_equal)
{
    const struct pair *pair = &equal[_i];
    struct mt_text there = {0}, back = {0};
    describe(pair->source_lang, pair->target_lang, pair->source, pair->target, &there);
    describe(pair->target_lang, pair->source_lang, pair->target, pair->source, &back);
    ck_assert_msg(strcmp(there.bytes, "/") == 0, "%s | %s: %s", pair->source, pair->target,
                  there.bytes);
    ck_assert_msg(strcmp(back.bytes, "/") == 0, "%s | %s: %s", pair->target, pair->source,
                  back.bytes);
    mt_text_finish(&there);
    mt_text_finish(&back);
}
END_TEST

static const struct {
    struct pair pair;
    const char *expected;
} different[] = {
    {{"en", "de", "There are 365 days.", "Es gibt 35 Tage."}, "365 / 35"},
    {{"en", "de", "7.50 euros", "70 Euro"}, "7.50 / 70"},
    {{"en", "de", "7.50 euros", "750 Euro"}, "7.50 / 750"},
    {{"en", "de", "3.5 euros", "35 Euro"}, "3.5 / 35"},
    {{"en", "fr", "time: 08:00", "heure : 08:000"}, "/ 08:000"},
    {{"en", "de", "Error 404", "Fehler 44"}, "404 / 44"},
    {{"en", "de", "Error 404", "Fehler"}, "404 /"},
    {{"en", "de", "An error", "Fehler 7"}, "/ 7"},
    {{"en", "de", "at 9:45", "um 9.15 Uhr"}, "9:45 / 9.15"},
    {{"en", "de", "at 3 am", "um 16 Uhr"}, "3 / 16"},
    {{"en", "de", "at 3", "um 15"}, "3 / 15"},
    {{"en", "de", "in 1995", "im Jahr 95"}, "1995 / 95"},
    {{"en", "de", "5 and 5", "5"}, "5 /"},
    {{"en", "de", "2 dogs", "drei Hunde"}, "2 /"},
    {{"en", "de", "5 miles", "8 Meilen"}, "5 / 8"},
    {{"en", "fr", "version 2.1.3", "version 2,1,3"}, "2.1.3 / 2,1,3"},
    {{"en", "de", "1.5 million", "15 Millionen"}, "1.5 / 15"},
    {{"en", "de", "1,250,000", "1.250"}, "1,250,000 / 1.250"},
    {{"en", "de", "1,250,000", "1.250.0000"}, "1,250,000 / 1.250.0000"},
    {{"en", "fr", "340,000 books", "340 livres"}, "340,000 / 340"},
    {{"en", "de", "340 Bücher", "340.000 books"}, "340 / 340.000"},
    {{"en", "ja", "$3 million", "$3万"}, "3 / 3"},
    {{"en", "de", "2 billion", "2 Millionen"}, "2 / 2"},
    {{"en", "ja", "150 million people", "1億6000万人"}, "150 / 1億6000"},
    {{"en", "de", "12/05/2024", "12.06.2024"}, "12/05/2024 / 12.06.2024"},
    {{"en", "de", "a week in 1990", "1 Woche im Jahr 1991"}, "1990 / 1 1991"},
    {{"en", "ja", "It opens at 6 a.m.", "午後6時に開きます。"}, "6 a.m / 午後6"},
    {{"en", "ja", "at 12:30 p.m.", "午前12時30分"}, "12:30 p.m / 午前12"},
    {{"en", "ja", "8 a.m. to 5 p.m.", "午後8時から午前5時"}, "8 a.m 5 p.m / 午後8 午前5"},
    {{"en", "de", "at 3 p.m.", "um 3 Uhr"}, "3 p.m / 3"},
    {{"en", "ja", "We meet at 11:15 a.m.", "11:15に午後に会いましょう。"},
     "11:15 a.m / 11:15に午後"},
    {{"en", "de", "at 3 in the afternoon", "um 3 Uhr morgens"},
     "3 in the afternoon / 3 Uhr morgens"},
    {{"en", "fr", "at 7 a.m.", "à 7 heures du soir"}, "7 a.m / 7 heures du soir"},
    {{"de", "en", "um 7 Uhr morgens", "at 7 p.m."}, "7 Uhr morgens / 7 p.m"},
    {{"en", "de", "at 9:45 a.m.", "um 9.15 Uhr abends"}, "9:45 / 9.15"},
    {{"en", "de", "4 weeks", "\xe2\x82"}, "/"}, /* not well-formed: nobody looks */
};

START_TEST(other_numbers_are_named)
{
    const struct pair *pair = &different[_i].pair;
    struct mt_text found = {0};
    describe(pair->source_lang, pair->target_lang, pair->source, pair->target, &found);
    ck_assert_msg(strcmp(found.bytes, different[_i].expected) == 0, "%s | %s: \"%s\", not \"%s\"",
                  pair->source, pair->target, found.bytes, different[_i].expected);
    mt_text_finish(&found);
}
END_TEST

START_TEST(numbers_of_ignored_parts_may_be_missing)
{
    const struct mt_proofreader reader = reader_of("en", "de");
    const struct mt_range ignored = {5, 9};
    struct mt_numbers_difference difference = {0};
    const struct mt_proofread_pair pair = {.source = "open 24/7, 365 days",
                                           .n_source = 19,
                                           .target = "immer offen",
                                           .n_target = 11,
                                           .ignored = &ignored,
                                           .n_ignored = 1};
    ck_assert_int_eq(mt_proofread_numbers(&reader, &pair, &difference, &err), MT_OK);
    ck_assert_uint_eq(difference.missing.n, 1);
    ck_assert_uint_eq(difference.missing.items[0].begin, 11);
    mt_numbers_difference_finish(&difference);
}
END_TEST

START_TEST(too_many_numbers_are_not_compared)
{
    struct mt_text source = {0}, found = {0};
    for (size_t i = 0; i <= MT_MAX_NUMBERS; i++)
        mt_text_append_string(&source, "7 ; ");
    describe("en", "de", source.bytes, "nichts", &found);
    ck_assert_str_eq(found.bytes, "/");
    mt_text_finish(&source);
    mt_text_finish(&found);
}
END_TEST

START_TEST(languages_beyond_the_limit_have_no_words)
{
    char code[8];
    struct mt_number_word found[MT_MAX_NUMBER_WORDS];
    const struct mt_number_language *language;
    for (size_t i = 0; i <= MT_MAX_NUMBER_LANGUAGES; i++) {
        snprintf(code, sizeof code, "q%c%c", (char)('a' + i / 26), (char)('a' + i % 26));
        ck_assert_int_eq(mt_number_words_get(words, code, &language, &err), MT_OK);
    }
    ck_assert_int_eq(mt_number_words_get(words, "de", &language, &err), MT_OK);
    ck_assert_uint_eq(mt_number_words_at(language, "zwei", 4, 0, found), 0);
    ck_assert_uint_eq(mt_number_words_at(language, "XIX", 3, 0, found), 1);
    ck_assert_uint_eq(found[0].value, 19);
}
END_TEST

static const struct {
    const char *source_lang, *target_lang, *number, *written, *expected; /* NULL: not sure */
    bool is_code;
} notations[] = {
    {"en", "de", "365", "35", "365", false},
    {"en", "de", "1,250.50", "1.22", "1.250,50", false},
    {"en", "de", "1,250,000", "1", "1.250.000", false},
    {"en", "fr", "1,250.5", "1", "1\u202f250,5", false},
    {"en", "de-CH", "1,250", "1", "1’250", false},
    {"en", "hi", "1,250,000", "1", "12,50,000", false},
    {"de", "en", "1.250,50", "1", "1,250.50", false},
    {"fr", "en", "1 250,50", "1", "1,250.50", false},
    {"en", "de", "7.50", "70", "7,50", false},
    {"en", "de", "2.5", "2.1", "2.5", false},
    {"en", "de", "2.5", "25", "2.5", true},
    {"en", "de", "2.1.3", "2", "2.1.3", false},
    {"en", "de", "9:45", "95", "9:45", false},
    {"en", "de", "24/7", "24", "24/7", false},
    {"en", "de", "12/05/2024", "12.06.2024", NULL, false},
    {"en", "fr", "07.02.2023", "07,02,2023", "07.02.2023", false},
    {"en", "fr", "07.02.2023", "02,07,2023", NULL, false},
    {"en", "fr", "07.02.2023", "7,02,2023", NULL, false},
    {"en", "fr", "0.9.75", "0,9,75", "0.9.75", false},
    {"en", "de", "1,25", "1", NULL, false},
    {"en", "de", "007", "7", "007", false},
    {"en", "de", "３６５", "35", "365", false},
};

START_TEST(numbers_are_written_as_the_target_language_does)
{
    struct mt_text out = {0};
    bool is_sure;
    const struct mt_notation_input input = {.number = notations[_i].number,
                                            .length = strlen(notations[_i].number),
                                            .is_code = notations[_i].is_code,
                                            .source_lang = notations[_i].source_lang,
                                            .target_lang = notations[_i].target_lang,
                                            .written = notations[_i].written,
                                            .n_written = strlen(notations[_i].written)};
    ck_assert_int_eq(mt_number_write(&input, &out, &is_sure, &err), MT_OK);
    ck_assert_int_eq(is_sure, notations[_i].expected != NULL);
    if (is_sure)
        ck_assert_str_eq(out.bytes, notations[_i].expected);
    mt_text_finish(&out);
}
END_TEST

static const struct {
    const char *source_lang, *target_lang, *source, *target;
    unsigned expected;
} languages[] = {
    {"en", "de", "Where is the train station?", "Wo ist der Bahnhof?", 0},
    {"en", "de", "Where is the train station?", "Where is the train station?",
     1u << MT_WARNING_UNTRANSLATED},
    {"en", "de", " delete this file", "delete this file\n", 1u << MT_WARNING_UNTRANSLATED},
    {"en", "de", "Wo ist denn hier der nächste Bahnhof, bitte?", "Was?",
     1u << MT_WARNING_SOURCE_LANGUAGE},
    {"en", "de", "Tom loves spaghetti.", "Tom liebt Spaghetti.", 0},
    {"en", "de", "He went ballistic.", "Er ist ausgerastet.", 0},
    {"en", "de", "Das ist sehr schön.", "Was?", 1u << MT_WARNING_SOURCE_LANGUAGE},
    {"", "", "Wo ist denn hier der nächste Bahnhof, bitte?", "Was?", 0},
    {"en", "de", "London", "London", 0},
    {"en", "de", "Computer", "Computer", 0},
    {"en", "de", "Ludwig van Beethoven", "Ludwig van Beethoven", 0},
    {"en", "de", "v2.1.3", "v2.1.3", 0},
    {"en", "de", "", "", 0},
    {"ja", "en", "東京", "東京", 1u << MT_WARNING_UNTRANSLATED},
    {"zh", "ja", "東京", "東京", 0},
    {"ru", "en", "Москва", "Москва", 1u << MT_WARNING_UNTRANSLATED},
    {"he", "yi", "שלום", "שלום", 0}, /* not in Yi */
};

START_TEST(what_is_in_another_language_or_stays_is_flagged)
{
    const struct mt_proofreader reader =
        reader_of(languages[_i].source_lang, languages[_i].target_lang);
    const struct mt_proofread_pair pair = {.source = languages[_i].source,
                                           .n_source = strlen(languages[_i].source),
                                           .target = languages[_i].target,
                                           .n_target = strlen(languages[_i].target)};
    unsigned found;
    ck_assert_int_eq(mt_proofread_language(&reader, &pair, &found, &err), MT_OK);
    ck_assert_msg(found == languages[_i].expected, "%s: %u, not %u", languages[_i].source, found,
                  languages[_i].expected);
}
END_TEST

static const struct {
    const char *source_lang, *target_lang, *text;
    bool is_target;
} targets[] = {
    {"en", "de", "Wo ist der Bahnhof?", true},
    {"en", "de", "Where is the train station?", false},
    {"en", "de", "Où est la gare, et quand part le train ?", false},
    {"en", "fr", "Où est la gare, et quand part le train ?", true},
    {"en", "ja", "会議は木曜の午後に変更された。", true},
    {"en", "de", "Bundesministerium der Finanzen", false}, /* names, */
    {"en", "de", "Hallo!", false},                         /* and little, say nothing */
    {"de-AT", "de-DE", "Wo ist der Bahnhof?", false},
    {"", "de", "Wo ist der Bahnhof?", false},
    {"en", "", "Wo ist der Bahnhof?", false},
    {"en", "de", "", false},
};

START_TEST(what_is_in_the_targets_language_is_known)
{
    const struct mt_proofreader reader =
        reader_of(targets[_i].source_lang, targets[_i].target_lang);
    bool found;
    ck_assert_int_eq(
        mt_proofread_is_target(&reader, targets[_i].text, strlen(targets[_i].text), &found, &err),
        MT_OK);
    ck_assert_msg(found == targets[_i].is_target, "%s: %d", targets[_i].text, found);
}
END_TEST

static const struct {
    const char *source, *target;
    bool is_other;
} lengths[] = {
    {"Use code here.", "Utilisez le style de code de code de code de code ici.", true},
    {"We meant no harm.", "Nous n'avons pas l'intention de faire du mal.", false},
    {"Delete", "Supprimer", false},
    {"The sky became dark, and the birds stopped singing at once.", "Der Himmel wurde dunkel.",
     true},
    {"OK", "オーケー", false},
    {"The meeting was moved to Thursday afternoon.", "会議は木曜の午後に変更された。", false},
    {"The meeting was moved to Thursday afternoon.", "会議は木曜。", true},
    {"会議は木曜の午後に変更された。", "The meeting was moved to Thursday afternoon.", false},
    {"", "", false},
    {"Really?", "Hm\xe2\x82", false},
};

START_TEST(letters_that_are_far_more_or_fewer_are_flagged)
{
    const struct mt_proofread_pair pair = {.source = lengths[_i].source,
                                           .n_source = strlen(lengths[_i].source),
                                           .target = lengths[_i].target,
                                           .n_target = strlen(lengths[_i].target)};
    ck_assert_msg(mt_proofread_has_other_length(&pair) == lengths[_i].is_other, "%s | %s",
                  pair.source, pair.target);
}
END_TEST

Suite *suite_numbers(void)
{
    Suite *suite = suite_create("numbers");
    TCase *tests = tcase_create("numbers");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, spellings_of_one_number_are_equal, 0,
                        sizeof equal / sizeof equal[0]);
    tcase_add_loop_test(tests, other_numbers_are_named, 0, sizeof different / sizeof different[0]);
    tcase_add_test(tests, numbers_of_ignored_parts_may_be_missing);
    tcase_add_test(tests, too_many_numbers_are_not_compared);
    tcase_add_test(tests, languages_beyond_the_limit_have_no_words);
    tcase_add_loop_test(tests, numbers_are_written_as_the_target_language_does, 0,
                        sizeof notations / sizeof notations[0]);
    tcase_add_loop_test(tests, what_is_in_another_language_or_stays_is_flagged, 0,
                        sizeof languages / sizeof languages[0]);
    tcase_add_loop_test(tests, what_is_in_the_targets_language_is_known, 0,
                        sizeof targets / sizeof targets[0]);
    tcase_add_loop_test(tests, letters_that_are_far_more_or_fewer_are_flagged, 0,
                        sizeof lengths / sizeof lengths[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
