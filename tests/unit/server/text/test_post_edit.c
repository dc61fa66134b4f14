#include "server/text/post_edit.h"

#include "model/tokenizer/tokenizer.h"
#include "server/text/capitals.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

static struct mt_tokenizer *tokenizer;
static struct mt_error err;

static void open_tokenizer(void)
{
    tokenizer = open_or_fail(en_de());
}

static void close_tokenizer(void)
{
    mt_tokenizer_close(tokenizer);
}

/* One sentence each, English to German. */
static const struct {
    const char *source, *target, *expected;
} cases[] = {
    /* The final mark: none for none, but the model's own where there is one. */
    {"The house", "Das Haus.", "Das Haus"},
    {"The house", "Das Haus!", "Das Haus"},
    {"The house", "Das Haus", "Das Haus"},
    {"The house", "Das Haus?", "Das Haus?"},
    {"The house", "Das Haus...", "Das Haus..."},
    {"The house.", "Das Haus", "Das Haus."},
    {"The house!", "Das Haus", "Das Haus!"},
    {"The house:", "Das Haus", "Das Haus:"},
    {"The house\xE2\x80\xA6", "Das Haus", "Das Haus\xE2\x80\xA6"},
    {"Do it.", "Tu es!", "Tu es!"},
    {"The (old) house)", "Das Haus.", "Das Haus."},
    /* What ends a label is no mere punctuation. */
    {"The house...", "Das Haus", "Das Haus..."},
    {"The house...", "Das Haus.", "Das Haus..."},
    {"The house....", "Das Haus!", "Das Haus...."},
    {"The house...", "Das Haus\xE2\x80\xA6", "Das Haus\xE2\x80\xA6"},
    {"The house...", "Das Haus?", "Das Haus?"},
    {"The house\xE2\x80\xA6", "Das Haus.", "Das Haus\xE2\x80\xA6"},
    {"The house:", "Das Haus.", "Das Haus:"},
    {"The house:", "Das Haus:", "Das Haus:"},
    {"The house,", "Das Haus.", "Das Haus."},
    {"...", ".", "..."},
    {"It is 5", "Es ist 5.", "Es ist 5"},
    {"\xD0\x94\xD0\xBE\xD0\xBC", "Haus.", "Haus"},
    {"House", "\xE5\xAE\xB6\xE3\x80\x82", "\xE5\xAE\xB6"},
    /* Words that only small letters spell. */
    {"SAVE!", "Speichern!", "SPEICHERN!"},
    {"ROOM 101", "Raum 101", "RAUM 101"},
    {"VAT (20 %)", "Vat (20 %)", "Vat (20 %)"},
    {"USB", "Usb", "Usb"},
    {"NASA", "Nasa", "Nasa"},
    {"LED", "Led", "Led"},
    /* The first letter. */
    {"The house.", "das Haus.", "Das Haus."},
    {"The house.", "\xC3\xB6lig.", "\xC3\x96lig."},
    {"the old house", "Das alte Haus", "das alte Haus"},
    {"the old house", "Das alte Haus.", "das alte Haus"},
    {"house", "Haus", "Haus"},
    {"you can", "Sie k\xC3\xB6nnen", "Sie k\xC3\xB6nnen"},
    {"the house.", "Das Haus.", "Das Haus."},
    {"a car", "PKW", "PKW"},
    {"i", "I", "I"},
    /* Names with a capital within keep theirs; others are the model's. */
    {"My iPhone is broken.", "Mein IPhone ist kaputt.", "Mein iPhone ist kaputt."},
    {"iPhone", "IPhone", "iPhone"},
    {"The iPhone is old.", "iPhone ist alt.", "iPhone ist alt."},
    {"iPhone users love YouTube", "IPhone-Nutzer lieben Youtube.", "iPhone-Nutzer lieben YouTube"},
    {"Does macOS run? iPhone!", "L\xC3\xA4uft MACOS? IPhones!", "L\xC3\xA4uft macOS? IPhones!"},
    {"my iPhone", "Mein iphone", "mein iPhone"},
    {"IT and NATO", "It und Nato", "It und Nato"},
    {"MY iPHONE AND THE OTHER ONE", "Mein iphone", "Mein iPHONE"},
    {"a \xC3\xA4\xC3\x84x.", "ein \xC3\xA4\xC3\xA4X.", "ein \xC3\xA4\xC3\x84x."},
    /* Words that are lost, and those that are numbers. */
    {"May 2017", "2017", "May 2017"},
    {"Bug 16, 76", "1676.", "Bug 16, 76"},
    {"Ecuador.", "++", "Ecuador."},
    {"Chapter 5", "...", "Chapter 5"},
    {"one hundred", "100", "100"},
    {"3 p.m.", "15:00", "15:00"},
    {"2nd edition", "2nd-Ausgabe", "2. Ausgabe"},
    {"element one", "Element eins", "Element eins"},
    {"yes", "Ja", "ja"},
    {"who", "Wer", "wer"},
    {"new element", "Neues Element", "neues Element"},
    {"At 3 p.m.", "Um 15:00", "Um 15:00."},
    {"At 3 p.m.", "3\u6642", "3\u6642\u3002"},
    {"5 - 3", "5", "5"},
    {"5 percent", "5 %", "5 %"},
    {"House 5", "5 \xE5\xAE\xB6", "5 \xE5\xAE\xB6"},
    /* Capitals. */
    {"THE STREET",
     "die Stra\xC3\x9F"
     "e",
     "DIE STRASSE"},
    {"CANCEL", "Abbrechen.", "ABBRECHEN"},
    {"NATO", "Nato", "Nato"},
    {"IT IS 5 EURO!",
     "es ist 5 \xC3\x84"
     "pfel!",
     "ES IST 5 \xC3\x84PFEL!"},
    {"THE House", "das Haus", "Das Haus"},
    /* Words over and over. */
    {"Yes.", "Ja Ja Ja.", "Ja."},
    {"Yes.", "Ja, ja.", "Ja."},
    {"I do.", "Ich tue tue tue es.", "Ich tue tue tue es."},
    {"Ones.", "Die, die die, die.", "Die."},
    {"Done.", "Ich tue tue tue es.", "Ich tue es."},
    {"Done.", "Ich tue tue es.", "Ich tue tue es."},
    {"No, no, no, no!", "Nein, nein, nein, nein!", "Nein, nein, nein, nein!"},
    {"Yes", "A-A-A-A", "A"},
    {"It is 1 1 1.", "Es ist 1 1 1 1.", "Es ist 1 1 1 1."},
    {"Yes.", "Ja. Ja. Ja.", "Ja. Ja. Ja."},
    /* A currency that is another than the source's at the same digits. */
    {"It is \xC2\xA3"
     "3.50, not $4.",
     "Es ist 3,50 $, nicht 4 $.", "Es ist 3,50 \xC2\xA3, nicht 4 $."},
    {"\xE2\x82\xAC"
     "1,250 / $21.50",
     "$1.250 / 21,50 $",
     "\xE2\x82\xAC"
     "1.250 / 21,50 $"},
    {"$5 or \xE2\x82\xAC"
     "5",
     "5 \xC2\xA3 oder 5 $", "5 \xC2\xA3 oder 5 $"},
    {"5 dollars", "5 $", "5 $"},
    {"$5", "$", "$"},
    /* An ordinal that was copied. */
    {"The 2nd and 23rd of May", "Der 2nd und 23rd Mai", "Der 2. und 23. Mai"},
    {"The 2nd", "Der 3rd", "Der 3rd"},
    {"The 1st", "Der 1ster", "Der 1."},
    {"The 2nd of May", "Der 2n. Mai", "Der 2. Mai"},
    {"The 5th bus", "Der 5te Bus, 5m", "Der 5te Bus, 5m"},
    {"The 5th took 5 s", "Der 5. nahm 5s", "Der 5. nahm 5s"},
    {"The 2 m", "Die 2n", "Die 2n"},
    {"A 2th", "Ein 2th", "Ein 2th"},
    /* Nothing of it. */
    {"Where is it?", "Wo ist es?", "Wo ist es?"},
    {"Where is it?", "", "Where is it?"},
    {"-", "-", "-"},
    /* a mark that closes a quotation */
    {"“I go,” he said.", "« Je vais, il a dit.", "« Je vais », il a dit."},
    {"“Yes, I go,” he said.", "„Ja, ich gehe, sagte er.", "„Ja, ich gehe“, sagte er."},
    {"“I go,” he said.", "„Ich gehe“, sagte er.", "„Ich gehe“, sagte er."},
    {"\"Who goes?\" he said.", "« Qui va ? Il a dit.", "« Qui va ? » Il a dit."},
    {"“No!” “Yes!” she said.", "« Non ! Oui ! dit-elle.", "« Non ! Oui ! dit-elle."},
    {"He said, “I go.”", "Il a dit, « Je vais, moi.", "Il a dit, « Je vais, moi."},
    /* blanks from nowhere */
    {"Tom Inc. is here", "Tom  Inc. da", "Tom Inc. da"},
    {"Tom  Inc. is here", "Tom  Inc. da", "Tom  Inc. da"},
    /* what stood behind a colon */
    {"Wi-Fi: on", "Wi-Fi :", "Wi-Fi: on"},
    {"Name: Tom:", "Name: Tom:", "Name: Tom:"},
    {"He said this", "Er sagte:", "Er sagte:"},
    /* names with a sign between them */
    {"Tom & Mary Inc.", "Tom und Mary Inc.", "Tom & Mary Inc."},
    {"Tom & Tom", "TomとTom", "Tom & Tom"},
    {"Tom & Mary", "Tom & Mary", "Tom & Mary"},
    {"Tom & Mary", "Mary und Tom", "Mary und Tom"},
    {"Tom & Mary", "Tom, der Mary sah", "Tom, der Mary sah"},
    {"Tom & Mary, Ann & Bob", "Tom et Mary, Ann et Bob", "Tom & Mary, Ann & Bob"},
    {"red & blue", "red und blue", "red und blue"},
    {"Tom and Mary", "Tom und Mary", "Tom und Mary"},
};

static void check_map(const char *target, const size_t *map, const struct mt_text *out)
{
    size_t n = strlen(target);
    ck_assert_uint_eq(map[n], out->length);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(map[i] <= map[i + 1], "%s: %zu goes to %zu, then %zu", target, i, map[i],
                      map[i + 1]);
}

static void check(const char *language, const char *source, const char *target,
                  const char *expected)
{
    struct mt_range from = {0, strlen(source)}, to = {0, strlen(target)};
    struct mt_range sentences[3];
    struct mt_text out = {0};
    size_t map[64];
    const struct mt_post_edit_input input = {.tokenizer = tokenizer,
                                             .target_lang = language,
                                             .source = source,
                                             .target = target,
                                             .target_length = to.end,
                                             .source_sentences = &from,
                                             .target_sentences = &to,
                                             .n_sentences = 1};
    ck_assert_int_eq(mt_post_edit(&input, map, sentences, &out, &err), MT_OK);
    ck_assert_str_eq(out.bytes, expected);
    check_map(target, map, &out);
    mt_text_finish(&out);
}

START_TEST(a_translation_looks_like_its_source)
{
    check("de", cases[_i].source, cases[_i].target, cases[_i].expected);
}
END_TEST

static const char *const days[][4] = {
    {"fr", "On May 3rd I go", "Le 3er mai, je", "Le 3 mai, je"},
    {"fr", "The 4th of July", "Le 4ème juillet", "Le 4 juillet"},
    {"fr", "Dec. 21st", "21e décembre", "21 décembre"},
    {"fr", "5th May, 3h", "5e mai, 3h", "5 mai, 3h"},
    {"fr", "May 1st", "1er mai", "1er mai"},
    {"es", "June 5th at 5", "5 de junio a las 5h", "5 de junio a las 5h"},
    {"fr", "My 30th day", "Mon 30e jour", "Mon 30e jour"},
    {"fr", "The 4th of them", "Le 4e", "Le 4e"},
    {"fr", "May is the 5th month", "Mai est le 5e mois", "Mai est le 5e mois"},
    {"de", "On May 3rd", "Am 3. Mai", "Am 3. Mai"},
};

START_TEST(days_are_written_as_the_language_does)
{
    check(days[_i][0], days[_i][1], days[_i][2], days[_i][3]);
}
END_TEST

/* What came from the digits is where they are now. */
START_TEST(words_that_were_lost_are_mapped)
{
    static const char source[] = "Bug 16 of 76", target[] = "16/76.";
    const struct mt_range from = {0, sizeof source - 1}, to = {0, sizeof target - 1};
    struct mt_range sentences[3];
    struct mt_text out = {0};
    size_t map[sizeof target];
    const struct mt_post_edit_input input = {.tokenizer = tokenizer,
                                             .source = source,
                                             .target = target,
                                             .target_length = to.end,
                                             .source_sentences = &from,
                                             .target_sentences = &to,
                                             .n_sentences = 1};
    ck_assert_int_eq(mt_post_edit(&input, map, sentences, &out, &err), MT_OK);
    ck_assert_str_eq(out.bytes, source);
    check_map(target, map, &out);
    ck_assert_uint_eq(map[0], 4);
    ck_assert_uint_eq(map[3], 10);
    ck_assert_uint_eq(sentences[0].begin, 0);
    ck_assert_uint_eq(sentences[0].end, sizeof source - 1);
    mt_text_finish(&out);
}
END_TEST

START_TEST(sentences_are_edited_each_and_mapped)
{
    static const char source[] = "Yes.  THE HOUSE\nthe end",
                      target[] = "Ja ja ja.  das Haus.\nDas Ende.";
    const struct mt_range from[] = {{0, 4}, {6, 15}, {16, 23}}, to[] = {{0, 9}, {11, 20}, {21, 30}};
    struct mt_range sentences[3];
    struct mt_text out = {0};
    size_t map[sizeof target];
    const struct mt_post_edit_input input = {.tokenizer = tokenizer,
                                             .target_lang = "de",
                                             .source = source,
                                             .target = target,
                                             .target_length = sizeof target - 1,
                                             .source_sentences = from,
                                             .target_sentences = to,
                                             .n_sentences = 3};
    ck_assert_int_eq(mt_post_edit(&input, map, sentences, &out, &err), MT_OK);
    ck_assert_str_eq(out.bytes, "Ja.  DAS HAUS\ndas Ende");
    ck_assert_uint_eq(sentences[1].begin, 5);
    ck_assert_uint_eq(sentences[1].end, 13);
    ck_assert_uint_eq(sentences[2].end, out.length);
    check_map(target, map, &out);
    static const char *const words[] = {"Haus", "HAUS", "Ende", "Ende"};
    for (size_t i = 0; i < 4; i += 2)
        ck_assert_uint_eq(map[(size_t)(strstr(target, words[i]) - target)],
                          (size_t)(strstr(out.bytes, words[i + 1]) - out.bytes));
    mt_text_finish(&out);
}
END_TEST

/* Sentences one after the other, '|' between them, and what the model is shown of each. */
static const struct {
    const char *sentences, *bare;
} bare_cases[] = {
    {"[DOOR CREAKS]", "DOOR CREAKS"},
    {"(I am tired.)", "I am tired."},
    {"[ a ]", "a"},
    {"\xEF\xBC\x88\x61\xEF\xBC\x89", "a"},
    {"[a (b)]", "a (b)"},
    {"[a] [b]", "[a] [b]"},
    {"[a] b", "[a] b"},
    {"a (b)", "a (b)"},
    {"(a) b (c)", "(a) b (c)"},
    {"[a).", "a)."},
    {"[]", "[]"},
    {"[", "["},
    {"]", "]"},
    {":)", ":)"},
    {"...and then", "and then"},
    {"\xE2\x80\xA6 and then...", "and then..."},
    {"(...and then)", "and then"},
    {"...", "..."},
    {".5 %", ".5 %"},
    {"[He laughs.|She (Ann) sings.|They leave.]|Hello.]",
     "He laughs.|She (Ann) sings.|They leave.|Hello.]"},
    {"[He laughs.|She leaves (soon)|now.]", "He laughs.|She leaves (soon)|now."},
};

START_TEST(brackets_around_sentences_are_not_shown)
{
    const char *text = bare_cases[_i].sentences;
    struct mt_text out = {0};
    uint32_t closing = 0;
    for (size_t at = 0, end; text[at]; at = end + (text[end] == '|')) {
        end = at + strcspn(text + at, "|");
        struct mt_range bare = mt_bare_sentence(text, (struct mt_range){at, end}, &closing);
        mt_text_append(&out, "|", at > 0);
        mt_text_append(&out, text + bare.begin, bare.end - bare.begin);
    }
    ck_assert_str_eq(out.bytes, bare_cases[_i].bare);
    mt_text_finish(&out);
}
END_TEST

START_TEST(capitals_become_small_in_place)
{
    static const char *const texts[][2] = {
        {"THE OLD HOUSE", "The old house"},
        {"(\xC3\x96L, \xC3\x84RZTE!)", "(\xC3\x96l, \xC3\xA4rzte!)"},
        {"\xD0\x94\xD0\x9E\xD0\x9C\xD0\x90 5", "\xD0\x94\xD0\xBE\xD0\xBC\xD0\xB0 5"},
        {"NATO", NULL},
        {"5 + 5", NULL},
        {"A 5", NULL},
        {"9:05 PM", NULL},
        {"I AM 9", "I am 9"},
        {"OPEN AT 9:05 PM", "Open at 9:05 pm"},
        {"THE house", NULL},
        {"", NULL},
        {"\xC4\xB0STANBUL IS", NULL}, /* its small i takes another number of bytes */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i][0]);
        ck_assert_msg(mt_is_in_capitals(texts[i][0], n) == (texts[i][1] != NULL), "%s",
                      texts[i][0]);
        char small[64] = {0};
        if (!texts[i][1])
            continue;
        mt_write_small(texts[i][0], n, small);
        ck_assert_str_eq(small, texts[i][1]);
    }
}
END_TEST

Suite *suite_post_edit(void)
{
    Suite *suite = suite_create("post_edit");
    TCase *tcase = tcase_create("post_edit");
    tcase_add_unchecked_fixture(tcase, open_tokenizer, close_tokenizer);
    tcase_add_loop_test(tcase, a_translation_looks_like_its_source, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tcase, days_are_written_as_the_language_does, 0,
                        sizeof days / sizeof *days);
    tcase_add_test(tcase, words_that_were_lost_are_mapped);
    tcase_add_test(tcase, sentences_are_edited_each_and_mapped);
    tcase_add_loop_test(tcase, brackets_around_sentences_are_not_shown, 0,
                        (int)(sizeof bare_cases / sizeof *bare_cases));
    tcase_add_test(tcase, capitals_become_small_in_place);
    suite_add_tcase(suite, tcase);
    return suite;
}
