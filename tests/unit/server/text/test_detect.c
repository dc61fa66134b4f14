#include "server/text/detect.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;

static const struct mt_detect_languages en_de = {{"en", "de"}, 2, true};
static const struct mt_detect_languages de_en = {{"de", "en"}, 2, true};
static const struct mt_detect_languages en = {{"en"}, 1, true};
static const struct mt_detect_languages zh = {{"en", "zh-Hans"}, 2, true};
static const struct mt_detect_languages ja = {{"ja"}, 1, true};
static const struct mt_detect_languages any = {{NULL}, 0, false};
/* As the bundled models have them. */
static const struct mt_detect_languages bundled = {{"en", "de", "fr", "ja"}, 4, true};

static struct mt_detection detect(const char *text, bool is_html,
                                  const struct mt_detect_languages *languages)
{
    struct mt_detection out;
    enum mt_status status = mt_detect(text, strlen(text), is_html, languages, &out, &err);
    ck_assert_int_eq(status, MT_OK);
    ck_assert(out.confidence >= 0 && out.confidence <= 100);
    return out;
}

static const struct {
    const char *text;
    const struct mt_detect_languages *languages;
    const char *language;
    double least, most;
} cases[] = {
    {"Where is the train station? I would like to go home.", &en_de, "en", 80, 100},
    {"Wo ist der Bahnhof? Ich möchte gern nach Hause gehen.", &en_de, "de", 80, 100},
    /* One word, which CLD2 knows little about, and says so. */
    {"Hello", &en_de, "en", 1, 50},
    {"Hello", &de_en, "en", 1, 50},
    {"Servus", &en_de, "en", 0, 10},
    /* Dutch that CLD2 takes for English; it is not sure. */
    {"Waar is het station?", &en_de, "en", 50, 80},
    {"Danke", &en_de, "de", 50, 100},
    /* Finnish, were it not for what there is. */
    {"Ja", &en_de, "de", 1, 50},
    /* Nothing to go by: the first. */
    {"", &en_de, "en", 0, 0},
    {"", &de_en, "de", 0, 0},
    {" \n\t", &en_de, "en", 0, 0},
    {"12345 + 67", &de_en, "de", 0, 0},
    {"\xF0\x9F\x98\x80", &en_de, "en", 0, 0},
    {"Где вокзал? Я хотел бы поехать домой.", &any, "ru", 80, 100},
    {"", &any, "en", 0, 0},
    /* Characters that both scripts of Chinese share. */
    {"你好，世界", &zh, "zh-Hans", 50, 100},
};

START_TEST(the_language_is_one_of_those_that_there_are)
{
    struct mt_detection found = detect(cases[_i].text, false, cases[_i].languages);
    ck_assert_msg(strcmp(found.language, cases[_i].language) == 0, "%s: %s, expected %s",
                  cases[_i].text, found.language, cases[_i].language);
    ck_assert_msg(found.confidence >= cases[_i].least && found.confidence <= cases[_i].most,
                  "%s: %f", cases[_i].text, found.confidence);
}
END_TEST

/* Languages that are not among them: named, and refused where that is certain. */
static const struct {
    const char *text;
    const struct mt_detect_languages *languages;
    const char *language;
    bool is_certain;
} others[] = {
    {"Où est la gare, s'il vous plaît ? Je voudrais rentrer.", &en_de, "fr", true},
    {"Kunt u mij zeggen waar het station is?", &en_de, "nl", true},
    {"¿Dónde está la parada de autobús?", &en_de, "es", true},
    {"Где вокзал? Я хотел бы поехать домой.", &en_de, "ru", true},
    {"Wo ist der Bahnhof? Ich möchte gern nach Hause gehen.", &en, "de", true},
    {"请问火车站在哪里？我想回家。", &en_de, "zh-Hans", true},
    /* Too short: words that English has, too. */
    {"Timer", &en_de, "da", false},
    {"Presentation", &en_de, "es", false},
    /* Three words, though they have less than 16 bytes; and a script that is no source's. */
    {"Où est la gare ?", &en_de, "fr", true},
    {"你好", &en_de, "zh-Hans", true},
    {"привет", &en_de, "ru", true},
    /* An English word in each, but other grammar. */
    {"La tua password non è corretta", &en_de, "it", true},
    {"Mi password es incorrecta", &en_de, "es", true},
    /* Latin letters stand in texts of any language. */
    {"Hello world, my friends!", &ja, "en", true},
    {"Windows", &ja, "en", false},
};

START_TEST(another_language_is_named)
{
    struct mt_detection found = detect(others[_i].text, false, others[_i].languages);
    ck_assert_msg(strcmp(found.language, others[_i].language) == 0, "%s: %s, expected %s",
                  others[_i].text, found.language, others[_i].language);
    ck_assert(!found.is_served);
    ck_assert_msg(found.is_certain == others[_i].is_certain, "%s: %f", others[_i].text,
                  found.confidence);
    /* Who has to translate takes what is not certain for the first language. */
    mt_detection_decide(&found);
    ck_assert_str_eq(found.language,
                     others[_i].is_certain ? others[_i].language : others[_i].languages->codes[0]);
    ck_assert(found.is_served == !others[_i].is_certain);
}
END_TEST

/* Of 30 languages and 17 scripts: as /detect answers, and from what a text is translated into German
 * with English as the only source. */
static const struct {
    const char *text, *with_bundled, *for_en_de;
} many[] = {
    {"привет", "ru", "ru"},
    {"Доброе утро", "ru", "ru"},
    {"Guten Morgen", "de", "de"},
    {"Buenos días", "es", "es"},
    {"Спасибо большое", "ru", "ru"},
    {"Отправить", "ru", "ru"},
    {"Привіт, як справи?", "uk", "uk"},
    {"Добър ден, как сте?", "bg", "bg"},
    {"שלום", "he", "he"},
    {"איפה תחנת הרכבת?", "he", "he"},
    {"नमस्ते", "hi", "hi"},
    {"धन्यवाद", "mr", "mr"},
    {"شكرا", "ar", "ar"},
    {"أين محطة القطار؟", "ar", "ar"},
    {"متشکرم، حال شما چطور است؟", "fa", "fa"},
    {"شکریہ", "ur", "ur"},
    {"你好", "zh-Hans", "zh-Hans"},
    {"謝謝", "zh-Hant", "zh-Hant"},
    {"手机", "zh-Hans", "zh-Hans"},
    {"东西", "zh-Hans", "zh-Hans"},
    {"請問火車站在哪裡？", "zh-Hant", "zh-Hant"},
    {"請問", "ja", "ja"},
    {"ありがとう", "ja", "ja"},
    {"こんにちは", "ja", "ja"},
    {"保存", "ja", "ja"},
    {"駅はどこですか", "ja", "ja"},
    {"あ", "ja", "ja"},
    {"안녕하세요", "ko", "ko"},
    {"네", "ko", "ko"},
    {"Γειά σου", "el", "el"},
    {"Αποθήκευση", "el", "el"},
    {"สวัสดี", "th", "th"},
    {"գիրք", "hy", "hy"},
    {"საქართველო", "ka", "ka"},
    {"வணக்கம்", "ta", "ta"},
    {"ধন্যবাদ", "bn", "bn"},
    {"ᎣᏏᏲ", "chr", "chr"},
    {"𐌰𐌱𐌲", "got", "got"},
    {"Il mio computer è lento", "it", "it"},
    {"Où est la gare ?", "fr", "fr"},
    {"Je ne sais pas", "fr", "fr"},
    {"¿Dónde está el baño?", "es", "es"},
    {"Não sei", "pt", "pt"},
    {"Ik weet het niet", "nl", "nl"},
    {"Nie wiem, gdzie jest dworzec", "pl", "pl"},
    {"Kde je nádraží?", "cs", "cs"},
    {"Nerede?", "fr", "en"},
    {"Tôi không biết", "vi", "vi"},
    {"Var är tågstationen?", "sv", "sv"},
    {"Missä on rautatieasema?", "fi", "fi"},
    {"Delete", "fr", "en"},
    {"Help", "fr", "en"},
    {"Hi", "fr", "en"},
    {"OK", "en", "en"},
    {"Cancel", "en", "en"},
    {"Home", "en", "en"},
    {"Save", "en", "en"},
    {"Log out", "en", "en"},
    {"Danke", "de", "de"},
    {"Speichern", "de", "de"},
    {"Merci", "fr", "en"},
    {"Wi-Fi", "fr", "en"},
    {"\"Delete\"", "fr", "en"},
    {"123", "en", "en"},
    {"12:30", "en", "en"},
    {"😀👍", "en", "en"},
    {"…", "en", "en"},
    {"-", "en", "en"},
    {"π", "en", "en"},
    {"Δx = 5", "en", "en"},
    {"α, β, γ", "en", "en"},
    {"привет Tom", "en", "en"},
    {"Отправить OK", "ru", "ru"},
    {"I speak 日本語 and English.", "en", "en"},
    {"點擊 OK", "en", "en"},
    {"<3", "en", "en"},
    {"v2.1.3", "en", "en"},
    {"Москва is the capital of Russia.", "en", "en"},
    {"Zürich", "de", "de"},
    {"iPhone", "en", "en"},
    {"ייִדיש רעדן", "yi", "yi"},
    {"Қазақ тілі", "kk", "kk"},
    {"Ћирилица", "sr", "sr"},
};

START_TEST(every_script_has_its_languages)
{
    struct mt_detection found = detect(many[_i].text, false, &bundled);
    ck_assert_msg(strcmp(found.language, many[_i].with_bundled) == 0, "%s: %s, expected %s",
                  many[_i].text, found.language, many[_i].with_bundled);
    found = detect(many[_i].text, false, &en_de);
    mt_detection_decide(&found);
    ck_assert_msg(strcmp(found.language, many[_i].for_en_de) == 0, "%s: %s, expected %s",
                  many[_i].text, found.language, many[_i].for_en_de);
}
END_TEST

/* One word is what texts usually are, unless it is certainly something else; that may be the target
 * language. */
START_TEST(a_word_alone_is_in_the_usual_language)
{
    static const struct {
        const char *text, *language;
    } words[] = {
        {"Delete", "en"},  {"Help", "en"},      {"Hi", "en"},      {"OK", "en"},
        {"Cancel", "en"},  {"Home", "en"},      {"Name:", "en"},   {"<Enter>", "en"},
        {"Sign-in", "en"}, {"Don't!", "en"},    {"E-mail", "en"},  {"Ja", "en"},
        {"Danke", "de"},   {"Speichern", "de"}, {"Help me", "en"},
    };
    static const struct mt_detect_languages unusual = {{"fr", "de"}, 2, false};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct mt_detection found = detect(words[i].text, false, &en_de);
        mt_detection_decide(&found);
        ck_assert_msg(strcmp(found.language, words[i].language) == 0, "%s: %s", words[i].text,
                      found.language);
    }
    /* Where no language is usual, the likelier one. */
    struct mt_detection found = detect("Vielleicht", false, &unusual);
    mt_detection_decide(&found);
    ck_assert_str_eq(found.language, "de");
}
END_TEST

START_TEST(the_usual_language_comes_first)
{
    struct mt_detect_languages languages = {{"de", "en", "fr"}, 3, false};
    mt_detect_prefer(&languages, 1, "en"); /* not among the first one */
    ck_assert_str_eq(languages.codes[0], "de");
    ck_assert(!languages.has_usual);
    mt_detect_prefer(&languages, 3, "fr");
    ck_assert(languages.has_usual);
    ck_assert_str_eq(languages.codes[0], "fr");
    ck_assert_str_eq(languages.codes[1], "de");
    ck_assert_str_eq(languages.codes[2], "en");
    ck_assert_uint_eq(languages.n, 3);
}
END_TEST

START_TEST(a_page_is_in_the_language_of_most_of_its_bytes)
{
    static const struct {
        const char *text, *language;
    } texts[] = {
        {"Delete", ""},
        {"The weather is nice today.", "en"},
        {"Das Wetter ist heute sehr schön, und wir gehen mit den Kindern in den Park.", "de"},
        {"Où est la gare, s'il vous plaît ? Je voudrais rentrer.", "de"}, /* no model takes it */
        {"We are going to the park with our children because it is a very nice day.", "en"},
    };
    struct mt_detect_page page = {.n_bytes = 0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct mt_detection found = detect(texts[i].text, false, &en_de);
        mt_detect_page_add(&page, &found, strlen(texts[i].text));
        ck_assert_msg(strcmp(page.language, texts[i].language) == 0, "%s: %s", texts[i].text,
                      page.language);
    }
}
END_TEST

START_TEST(short_english_is_never_refused)
{
    static const char *const texts[] = {
        "Hello.",      "Hi!",           "OK",           "Thanks", "Cancel", "Save",
        "Unavailable", "Forever",       "Tom ran.",     "Wow!",   "I see.", "Go on.",
        "Paris",       "Angela Merkel", "Tokyo, Osaka", "v2.1.3", "Timer",  "Musik"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct mt_detection found = detect(texts[i], false, &en_de);
        mt_detection_decide(&found);
        ck_assert_msg(found.is_served, "%s: %s, %f", texts[i], found.language, found.confidence);
    }
}
END_TEST

/* Five is German, where a variable that nobody has set is taken for a language. */
static __attribute__((noinline)) void leave_fives_on_the_stack(void)
{
    volatile int numbers[8192];
    for (size_t i = 0; i < 8192; i++)
        numbers[i] = 5;
    ck_assert_int_eq(numbers[0], 5);
}

/* CLD2 sets nothing for a text with characters that are not for interchange. */
START_TEST(of_control_characters_nothing_is_known)
{
    static const char *const texts[] = {"\x01", "Hello\x02", "\xEF\xBF\xBF", "\xEF\xB7\x90"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mt_detection found;
        leave_fives_on_the_stack();
        ck_assert_int_eq(mt_detect(texts[i], strlen(texts[i]), false, &en_de, &found, &err), MT_OK);
        ck_assert_str_eq(found.language, "en");
        ck_assert_double_eq(found.confidence, 0);
    }
}
END_TEST

START_TEST(of_two_languages_the_larger_part_counts)
{
    static const char text[] =
        "Das Wetter ist heute sehr schön, und wir gehen mit den Kindern in den großen Park. "
        "Danach essen wir zusammen zu Abend und sprechen über die Reise in die Berge. "
        "The weather is nice.";
    ck_assert_str_eq(detect(text, false, &en_de).language, "de");
}
END_TEST

START_TEST(tags_do_not_count_in_html)
{
    static const char html[] =
        "<div class=\"the weather is very nice today and we are going home\" "
        "title=\"this is the house of the friend that we have seen\"><b>Wo ist der Bahnhof?</b>"
        "</div>";
    struct mt_detection found = detect(html, true, &en_de);
    ck_assert_str_eq(found.language, "de");
    ck_assert_double_gt(found.confidence, 80);
}
END_TEST

START_TEST(letters_of_markup_are_of_no_script)
{
    static const char html[] =
        "<!-- a comment --><script>var weather = 'nice'; if (1 < 2) go();</script><style>p { "
        "color: red }"
        "</style><p class=\"weather\">&Eacute;&nbsp;привет &lt; <br>спасибо</p>";
    ck_assert_str_eq(detect(html, true, &en_de).language, "ru");
    ck_assert(detect(html, true, &en_de).is_certain);
    ck_assert_str_eq(detect(html, false, &en_de).language, "en");
}
END_TEST

START_TEST(only_the_beginning_of_long_texts_is_read)
{
    static const char sentence[] = "Das Wetter ist heute schön. ";
    size_t n = 3 * MT_DETECT_MAX_BYTES / (sizeof sentence - 1);
    char *text = calloc(n + 1, sizeof sentence);
    ck_assert_ptr_nonnull(text);
    /* Every offset modulo the length of a character is a cut once. */
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'a', shift);
        text[shift] = '\0';
        for (size_t i = 0; i < n; i++)
            memcpy(text + shift + i * (sizeof sentence - 1), sentence, sizeof sentence);
        ck_assert_str_eq(detect(text, false, &en_de).language, "de");
    }
    free(text);
}
END_TEST

Suite *suite_detect(void)
{
    Suite *suite = suite_create("detect");
    TCase *tcase = tcase_create("detect");
    tcase_add_loop_test(tcase, the_language_is_one_of_those_that_there_are, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tcase, another_language_is_named, 0, sizeof others / sizeof others[0]);
    tcase_add_loop_test(tcase, every_script_has_its_languages, 0, sizeof many / sizeof many[0]);
    tcase_add_test(tcase, a_word_alone_is_in_the_usual_language);
    tcase_add_test(tcase, the_usual_language_comes_first);
    tcase_add_test(tcase, a_page_is_in_the_language_of_most_of_its_bytes);
    tcase_add_test(tcase, short_english_is_never_refused);
    tcase_add_test(tcase, of_control_characters_nothing_is_known);
    tcase_add_test(tcase, of_two_languages_the_larger_part_counts);
    tcase_add_test(tcase, tags_do_not_count_in_html);
    tcase_add_test(tcase, letters_of_markup_are_of_no_script);
    tcase_add_test(tcase, only_the_beginning_of_long_texts_is_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
