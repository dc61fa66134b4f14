
#include "tests/unit/server/documents/translated_file.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters in upper case, so that what was translated shows. */
static void shout(const struct mt_document_text *text, struct mt_text *out)
{
    for (size_t i = 0; i < text->length; i++) {
        char c = (char)toupper((unsigned char)text->bytes[i]);
        mt_text_append(out, &c, 1);
    }
}

/* Every word twice. */
static void repeat(const struct mt_document_text *text, struct mt_text *out)
{
    const char *end = text->bytes + text->length;
    for (const char *at = text->bytes; at < end;) {
        size_t n = strcspn(at, " ");
        mt_text_append(out, at, n);
        mt_text_append(out, " ", 1);
        mt_text_append(out, at, n);
        at += n;
        if (at < end)
            mt_text_append(out, at++, 1);
    }
}

static struct mt_document *read_file(const char *file, size_t length,
                                     enum mt_document_format format, bool retranslate)
{
    const struct mt_document_options options = {.format = format, .retranslate = retranslate};
    return read_with(file, length, &options);
}

static char *translate(const char *file, enum mt_document_format format, bool retranslate,
                       translate_fn *with, size_t *n_left)
{
    const struct mt_document_options options = {.format = format, .retranslate = retranslate};
    struct mt_document_report report;
    char *result = translate_with(file, &options, with, &report);
    if (n_left)
        *n_left = report.n_left;
    return result;
}

static void expect(const char *file, enum mt_document_format format, translate_fn *with,
                   const char *expected)
{
    char *result = translate(file, format, false, with, NULL);
    ck_assert_str_eq(result, expected);
    free(result);
}

static void expect_texts(const char *file, enum mt_document_format format, const char *expected)
{
    const struct mt_document_options options = {.format = format};
    expect_texts_with(file, &options, expected);
}

static void expect_error(const char *file, size_t length, enum mt_document_format format,
                         const char *message)
{
    const struct mt_document_options options = {.format = format};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_document_create(file, length, &options, &document, &err);
    ck_assert_msg(status == MT_FORMAT, "%s: status %d", message, (int)status);
    ck_assert_ptr_null(document);
    ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message, err.message);
}

/* ---- every format ---- */

static const struct {
    enum mt_document_format format;
    const char *file;
} kept[] = {
    {MT_DOCUMENT_TEXT, ""},
    {MT_DOCUMENT_TEXT, "Hello.\r\n\r\n  How are you?\t\r\n"},
    {MT_DOCUMENT_TEXT, "\xEF\xBB\xBFHello.\n"},
    {MT_DOCUMENT_TEXT, "1\n2\n\n---\n"},
    {MT_DOCUMENT_TEXT, "    It was the best of times, it was the worst of times, it was\n"
                       "the age of wisdom, it was the age of foolishness, it was the epoch\n"
                       "of belief.\n\n  * one\n  * two\n"},
    {MT_DOCUMENT_TEXT, "\r\nIt was the best of times, it was the worst of times, it was\n"
                       "the age of wisdom"},
    {MT_DOCUMENT_SRT, ""},
    {MT_DOCUMENT_SRT, "\n\n1\n00:00:01,000 --> 00:00:02,000\nHello.\n"},
    {MT_DOCUMENT_SRT, "\xEF\xBB\xBF"
                      "1\r\n00:00:01,000 --> 00:00:02,000 X1:1 X2:2\r\n"
                      "<i>I think that</i>\r\n<i>we should go</i>\r\n\r\n\r\n2\r\n"
                      "0:00:02,5 --> 00:00:03,000\r\nhome, {\\an8}before it rains.\r\n"},
    {MT_DOCUMENT_SRT, "7\n00:00:01,000 --> 00:00:02,000\n- Hi.\n- <b>Hello  there</b>, John.\n\n"
                      "9\n00:00:02,000 --> 00:00:03,000\n\n"
                      "00:00:04,000 --> 00:00:05,000\n\xE2\x99\xAA la la \xE2\x99\xAA\n \nmore"},
    {MT_DOCUMENT_VTT, "WEBVTT - a file\nKind: captions\n\nNOTE a --> b\nnone\n\nSTYLE\n::cue{}\n\n"
                      "intro\n00:01.000 --> 00:02.000 align:start\n<v Anna>Tom &amp; I\n"
                      "<c.loud>will go</c>\n\n00:02.000 --> 01:00:03.000\nhome &lt;3\n"},
    {MT_DOCUMENT_PO, "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
                     "#: a.c:3\n#, fuzzy\n#| msgid \"B\"\nmsgid \"A\"\nmsgstr \"X\"\n\n"
                     "#~ msgid \"old\"\n#~ msgstr \"alt\"\n"},
};

START_TEST(a_file_whose_texts_stay_is_the_same_file)
{
    expect(kept[_i].file, kept[_i].format, same, kept[_i].file);
}
END_TEST

START_TEST(texts_without_translation_stay)
{
    expect(kept[_i].file, kept[_i].format, nothing, kept[_i].file);
}
END_TEST

START_TEST(formats_are_known_by_name_and_extension)
{
    enum mt_document_format format;
    for (size_t i = 0; i < MT_N_DOCUMENT_FORMATS; i++) {
        ck_assert(mt_document_format_of_name(mt_document_format_name((enum mt_document_format)i),
                                             &format));
        ck_assert_uint_eq(format, i);
        ck_assert(
            mt_document_format_of_file(mt_document_extension((enum mt_document_format)i), &format));
        ck_assert_uint_eq(format, i);
    }
    ck_assert(mt_document_format_of_file("My film.de.SRT", &format));
    ck_assert_int_eq(format, MT_DOCUMENT_SRT);
    ck_assert(mt_document_format_of_file("index.htm", &format));
    ck_assert_int_eq(format, MT_DOCUMENT_HTML);
    ck_assert(mt_document_format_of_file("prices.xlsm", &format)); /* with macros, or a template */
    ck_assert_int_eq(format, MT_DOCUMENT_XLSX);
    ck_assert_str_eq(mt_document_extension_of_file("prices.XLSM", format), ".xlsm");
    ck_assert_str_eq(mt_document_extension_of_file("prices.xlsx", format), ".xlsx");
    ck_assert_str_eq(mt_document_extension_of_file("index.htm", MT_DOCUMENT_HTML), ".html");
    ck_assert(mt_document_format_of_file("letter.docx.sdlxliff", &format));
    ck_assert_int_eq(format, MT_DOCUMENT_XLIFF);
    ck_assert_str_eq(mt_document_extension_of_file("letter.docx.sdlxliff", format), ".sdlxliff");
    ck_assert(mt_document_format_of_file("Resources.resw", &format));
    ck_assert_uint_eq(format, MT_DOCUMENT_RESX);
    ck_assert_str_eq(mt_document_extension_of_file("Resources.resw", format), ".resw");
    ck_assert(mt_document_format_of_file("app.pot", &format)); /* becomes a catalogue */
    ck_assert_str_eq(mt_document_extension_of_file("app.pot", format), ".po");
    ck_assert(!mt_document_format_of_file("letter.doc", &format));
    ck_assert(!mt_document_format_of_file("srt", &format));
    ck_assert(!mt_document_format_of_file("", &format));
    ck_assert(!mt_document_format_of_name("doc", &format));
}
END_TEST

START_TEST(lines_may_end_with_two_carriage_returns)
{
    expect("1\r\r\n00:00:01,000 --> 00:00:02,000\r\r\n<b>hello</b>\r\r\n\r\r\n2\r\r\n"
           "00:00:03,000 --> 00:00:04,000\r\r\nbye\r\r\n",
           MT_DOCUMENT_SRT, same,
           "1\r\r\n00:00:01,000 --> 00:00:02,000\r\r\n<b>hello</b>\r\r\n\r\r\n2\r\r\n"
           "00:00:03,000 --> 00:00:04,000\r\r\nbye\r\r\n");
    expect_texts("1\r\r\n00:00:01,000 --> 00:00:02,000\r\r\nHello\r\r\nthere.\r\r\n\r\r\n2\r\r\n"
                 "00:00:03,000 --> 00:00:04,000\r\r\nBye.\r\r\n",
                 MT_DOCUMENT_SRT, "Hello there.|Bye.");
}
END_TEST

/* ---- text ---- */

START_TEST(lines_of_text_are_one_text)
{
    expect_texts("Hello.\nHow are you?\n\nBye\n", MT_DOCUMENT_TEXT,
                 "Hello.\nHow are you?\n\nBye\n");
    expect_texts("1\n2\n---\n", MT_DOCUMENT_TEXT, "");
    /* marks of lists, quotations and headings */
    expect_texts("# Title\nText\n* one\n  - two - three\n10. four\n> five\n\xE2\x80\xA2 six\n",
                 MT_DOCUMENT_TEXT, "Title\nText\n|one\n|two - three\n|four\n|five\n|six\n");
    expect_texts("*one\n1.5 two\n-\n", MT_DOCUMENT_TEXT, "*one\n1.5 two\n-\n");
    /* verses: short, or no line goes on for certain */
    expect_texts("I wandered lonely as a cloud\nthat floats on high\no'er vales\n",
                 MT_DOCUMENT_TEXT,
                 "I wandered lonely as a cloud\nthat floats on high\no'er vales\n");
    expect_texts("Twinkle, twinkle, little star, how I wonder what\nHow I wonder what you are!\n",
                 MT_DOCUMENT_TEXT,
                 "Twinkle, twinkle, little star, how I wonder what\nHow I wonder what you are!\n");
}
END_TEST

START_TEST(wrapped_paragraphs_are_joined_and_wrapped_again)
{
    static const char file[] = "Title\n\n"
                               "    The quick brown fox jumps over the lazy dog and\n"
                               "  runs away before anybody has seen it in the wood.\n"
                               "\nEnd\n";
    expect_texts(file, MT_DOCUMENT_TEXT,
                 "Title\n\n|The quick brown fox jumps over the lazy dog and runs away before "
                 "anybody has seen it in the wood.|\n\nEnd\n");
    expect(file, MT_DOCUMENT_TEXT, same, file);
    expect("The quick brown fox jumps over the lazy dog and\r\nruns away.", MT_DOCUMENT_TEXT,
           repeat,
           "The The quick quick brown brown fox fox jumps\r\njumps over over the the lazy lazy dog "
           "dog and\r\nand runs runs away. away.");
}
END_TEST

START_TEST(line_ends_that_differ_are_kept)
{
    static const char file[] =
        "The quick brown fox jumps over the lazy dog,\r\nruns away from all of "
        "the others there, and\rcomes back.\r\n";
    expect(file, MT_DOCUMENT_TEXT, same, file);
}
END_TEST

/* ---- subtitles ---- */

#define CUE(number, begin, end, text) \
    number "\n00:00:" begin ",000 --> 00:00:" end ",000\n" text "\n\n"

START_TEST(cues_are_texts_of_their_own)
{
    expect_texts(CUE("1", "01", "02", "Hello.") CUE("2", "02", "03", "Who are you?"),
                 MT_DOCUMENT_SRT, "Hello.|Who are you?");
    expect_texts(CUE("1", "01", "02", "[DOOR OPENS]\nJOHN: Come in!"), MT_DOCUMENT_SRT,
                 "[DOOR OPENS]|JOHN: Come in!");
    expect_texts(CUE("1", "01", "02", ">> Hello.\n>> Hi."), MT_DOCUMENT_SRT, "Hello.|Hi.");
    expect_texts(CUE("1", "01", "02", "He is out.\nHe left an hour ago."), MT_DOCUMENT_SRT,
                 "He is out.|He left an hour ago.");
    expect_texts(CUE("1", "01", "02", "<b>She is gone</b>\n<i>Nobody knows</i>"), MT_DOCUMENT_SRT,
                 "She is gone|Nobody knows");
    expect_texts(CUE("1", "01", "02", "I saw Mr.\nSmith there."), MT_DOCUMENT_SRT,
                 "I saw Mr. Smith there.");
    expect_texts(CUE("1", "01", "02", "- Are you there?\n- Yes,\nof course."), MT_DOCUMENT_SRT,
                 "Are you there?|Yes, of course.");
    expect_texts(CUE("1", "01", "02", "...\n") CUE("2", "02", "03", "\xE2\x99\xAA"),
                 MT_DOCUMENT_SRT, "");
}
END_TEST

START_TEST(a_sentence_that_goes_on_is_one_text)
{
    expect_texts(CUE("1", "01", "02", "I think that") CUE("2", "02", "03", "we should go."),
                 MT_DOCUMENT_SRT, "I think that we should go.");
    expect_texts(CUE("1", "01", "02", "Well,") CUE("2", "02", "03", "Tom is here."),
                 MT_DOCUMENT_SRT, "Well, Tom is here.");
    expect_texts(CUE("1", "01", "02", "He said that") CUE("2", "02", "03", "I'm late."),
                 MT_DOCUMENT_SRT, "He said that I'm late.");
    expect_texts(CUE("1", "01", "02", "<i>I think</i>") CUE("2", "02", "03", "<i>we go.</i>"),
                 MT_DOCUMENT_SRT, "I think we go.");
    /* nothing shows it, a pause, somebody else, broken off */
    expect_texts(CUE("1", "01", "02", "Twinkle little star") CUE("2", "02", "03", "How I wonder"),
                 MT_DOCUMENT_SRT, "Twinkle little star|How I wonder");
    expect_texts(CUE("1", "01", "02", "I think that") CUE("2", "09", "10", "we should go."),
                 MT_DOCUMENT_SRT, "I think that|we should go.");
    expect_texts(CUE("1", "01", "02", "I think that") CUE("2", "02", "03", "- we should go."),
                 MT_DOCUMENT_SRT, "I think that|we should go.");
    expect_texts(CUE("1", "01", "02", "I think...") CUE("2", "02", "03", "we should go."),
                 MT_DOCUMENT_SRT, "I think...|we should go.");
    expect_texts("WEBVTT\n00:01.000 --> 00:02.000\nI go.\n\n", MT_DOCUMENT_VTT, "I go.");
    expect_texts("WEBVTT\n\n00:01.000 --> 00:02.000\nI think that\n\nNOTE x\n\n"
                 "00:02.000 --> 00:03.000\nwe go.\n",
                 MT_DOCUMENT_VTT, "I think that we go.");
}
END_TEST

START_TEST(tags_notes_and_dashes_around_words_stay_out)
{
    expect_texts(CUE("1", "01", "02", "{\\an8}<i>- Hello, <b>Tom</b>.</i>"), MT_DOCUMENT_SRT,
                 "Hello, <b>Tom</b>.");
    expect_texts(CUE("1", "01", "02", "<i>Hello</i>, Tom."), MT_DOCUMENT_SRT, "<i>Hello</i>, Tom.");
    expect_texts(CUE("1", "01", "02", "\xE2\x99\xAA Sing with me \xE2\x99\xAA"), MT_DOCUMENT_SRT,
                 "Sing with me");
    expect_texts("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hello &amp; bye\n", MT_DOCUMENT_VTT,
                 "Hello &amp; bye");
}
END_TEST

START_TEST(a_translation_is_laid_out_over_the_same_cues)
{
    expect(CUE("1", "01", "02", "I think that") CUE("2", "02", "03", "we should go."),
           MT_DOCUMENT_SRT, repeat,
           CUE("1", "01", "02", "I I think think that that")
               CUE("2", "02", "03", "we we should should go. go."));
    /* the tag is closed where the cue ends, and opened again */
    expect("1\n00:00:01,000 --> 00:00:02,000\nOh <i>you think\n\n"
           "2\n00:00:02,000 --> 00:00:03,000\nso</i> too.\n",
           MT_DOCUMENT_SRT, same,
           "1\n00:00:01,000 --> 00:00:02,000\nOh <i>you think</i>\n\n"
           "2\n00:00:02,000 --> 00:00:03,000\n<i>so</i> too.\n");
    /* one line that becomes too long for the screen is two */
    expect(CUE("1", "01", "02", "This is a sentence of 33 letters."), MT_DOCUMENT_SRT, repeat,
           CUE("1", "01", "02",
               "This This is is a a sentence sentence\nof of 33 33 letters. letters."));
}
END_TEST

/* A line comes word by word, then whole, then above the next one. */
START_TEST(captions_that_roll_up_show_each_translation_as_often)
{
    static const char file[] = "WEBVTT\n\n00:00.1 --> 00:02.0\n \nhello<00:00.4><c> you</c>\n\n"
                               "00:02.0 --> 00:02.1\nhello you\n \n\n"
                               "00:02.1 --> 00:04.0\nhello you\nwe<00:02.5><c> go</c>\n";
    expect_texts(file, MT_DOCUMENT_VTT, "hello you we go");
    expect(file, MT_DOCUMENT_VTT, same, file);
    expect(file, MT_DOCUMENT_VTT, repeat,
           "WEBVTT\n\n00:00.1 --> 00:02.0\n \nhello hello you you\n\n"
           "00:02.0 --> 00:02.1\nhello hello you you\n \n\n"
           "00:02.1 --> 00:04.0\nhello hello you you\nwe we go go\n");
}
END_TEST

static void arrow(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    mt_text_append_string(out, "00:00:01,000 --> 00:00:02,000");
}

static const char *said;

static void say(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    mt_text_append_string(out, said);
}

START_TEST(scripts_without_blanks_are_laid_out_too)
{
    said = "我认为，我们走。";
    expect(CUE("1", "01", "02", "I think") CUE("2", "02", "03", "we go."), MT_DOCUMENT_SRT, say,
           CUE("1", "01", "02", "我认为，") CUE("2", "02", "03", "我们走。"));
}
END_TEST

START_TEST(lines_of_japanese_begin_with_words)
{
    said = "あなたを傷つけたくなかったので、本当に残念です。";
    expect(CUE("1", "01", "02", "I never wanted to hurt you")
               CUE("2", "02", "03", "and I am really sorry."),
           MT_DOCUMENT_SRT, say,
           CUE("1", "01", "02", "あなたを傷つけたくなかったので、")
               CUE("2", "02", "03", "本当に残念です。"));
    expect(CUE("1", "01", "02", "I never")
               CUE("2", "02", "03", "wanted to hurt you, and I am so sorry now."),
           MT_DOCUMENT_SRT, say,
           CUE("1", "01", "02", "あなたを")
               CUE("2", "02", "03", "傷つけたくなかったので、本当に残念です。"));
    expect(CUE("1", "01", "02", "I never wanted")
               CUE("2", "02", "03", "to hurt anybody, and I am so sorry."),
           MT_DOCUMENT_SRT, say,
           CUE("1", "01", "02", "あなたを")
               CUE("2", "02", "03", "傷つけたくなかったので、本当に残念です。"));
    said = "電車は7時に出ます。";
    expect(CUE("1", "01", "02", "The train goes") CUE("2", "02", "03", "there at seven o'clock."),
           MT_DOCUMENT_SRT, say,
           CUE("1", "01", "02", "電車は7時に") CUE("2", "02", "03", "出ます。"));
    static const char file[] =
        CUE("1", "01", "02", "傷つけたくなか") CUE("2", "02", "03", "ったので。");
    expect(file, MT_DOCUMENT_SRT, same, file); /* wherever its lines end */
}
END_TEST

START_TEST(nothing_that_looks_like_a_time_becomes_text)
{
    expect_texts(CUE("1", "01", "02", "a --> b"), MT_DOCUMENT_SRT, "");
    expect(CUE("1", "01", "02", "Hello."), MT_DOCUMENT_SRT, arrow, CUE("1", "01", "02", "Hello."));
}
END_TEST

static void one_word(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    mt_text_append_string(out, "Geh!");
}

START_TEST(a_cue_for_which_no_word_is_left_is_empty)
{
    expect(CUE("1", "01", "02", "I think that") CUE("2", "02", "03", "we should go."),
           MT_DOCUMENT_SRT, one_word, CUE("1", "01", "02", "Geh!") CUE("2", "02", "03", ""));
}
END_TEST

static const struct {
    const char *file, *message;
    enum mt_document_format format;
} broken[] = {
    {"Hello.\n", "line 1: \"Hello.\" begins no subtitle", MT_DOCUMENT_SRT},
    {"1\n", "line 1: \"1\" is the last line", MT_DOCUMENT_SRT},
    {"1\nHello\n", "line 2: \"Hello\" is no time of a subtitle", MT_DOCUMENT_SRT},
    {"1\n00:00:01,000 -> 00:00:02,000\n", "line 2: \"00:00:01,000 -> 00:00:02,000\" is no time",
     MT_DOCUMENT_SRT},
    {"1\n00:00:01,000 --> 00:61:02,000\n", "line 2: ", MT_DOCUMENT_SRT},
    {CUE("1", "01", "02", "A") "2\n00:00:xx,000 --> 00:00:03,000\nB\n",
     "line 6: ", MT_DOCUMENT_SRT},
    {"1\n00:00:01,000 --> 00:00:02,000\n", "begins no WebVTT file", MT_DOCUMENT_VTT},
    {"WEBVTTX\n", "begins no WebVTT file", MT_DOCUMENT_VTT},
    {"", "begins no WebVTT file", MT_DOCUMENT_VTT},
    {"WEBVTT\n\n00:01.000 --> 2\nHi\n", "line 3: \"00:01.000 --> 2\" is no time of a cue",
     MT_DOCUMENT_VTT},
    {"msgid \"a\"\n", "line 1: the entry has no msgstr", MT_DOCUMENT_PO},
    {"\nmsgctxt \"a\"\n", "line 2: the entry has no msgid", MT_DOCUMENT_PO},
    {"msgstr \"a\"\n", "line 1: \"msgstr \"a\"\" stands alone", MT_DOCUMENT_PO},
    {"\"a\"\n", "line 1: \"\"a\"\" is a string that belongs to nothing", MT_DOCUMENT_PO},
    {"msgid \"a\nmsgstr \"\"\n", "line 1: \"msgid \"a\" holds a string that does not end",
     MT_DOCUMENT_PO},
    {"msgid \"a\" b\nmsgstr \"\"\n", "line 1: \"msgid \"a\" b\" has more than strings",
     MT_DOCUMENT_PO},
    {"msgid \"\\q\"\nmsgstr \"\"\n", "line 1: \"msgid \"\\q\"\" holds an escape", MT_DOCUMENT_PO},
    {"msgid \"\\377\"\nmsgstr \"\"\n", "line 1: the message's escapes are no UTF-8",
     MT_DOCUMENT_PO},
    {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr \"\"\n", "line 3: \"msgstr \"\"\" has no index",
     MT_DOCUMENT_PO},
    {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"\"\n", "line 3: \"msgstr[1] \"\"\" comes out",
     MT_DOCUMENT_PO},
    {"msgid \"a\"\nmsgstr \"\"\nmsgstr \"\"\n", "line 3: \"msgstr \"\"\" is the entry's second",
     MT_DOCUMENT_PO},
    {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[x] \"\"\n", "has no index: expected msgstr[0]",
     MT_DOCUMENT_PO},
    {"msgid \"a\"\nmsgstr[0] \"\"\n", "has an index, but the entry no msgid_plural",
     MT_DOCUMENT_PO},
    {"msgid_plural \"b\"\n", "stands alone: expected msgid before msgid_plural", MT_DOCUMENT_PO},
    {"msgid \"\\x\"\n", "holds an escape", MT_DOCUMENT_PO},
    {"msgid \"\\x00\"\n", "holds an escape", MT_DOCUMENT_PO},
    {"msgid \"\\400\"\n", "holds an escape", MT_DOCUMENT_PO},
    {"Hello\n", "line 1: \"Hello\" is no line of a PO file", MT_DOCUMENT_PO},
};

START_TEST(broken_files_are_refused_with_their_line)
{
    expect_error(broken[_i].file, strlen(broken[_i].file), broken[_i].format, broken[_i].message);
}
END_TEST

/* ---- po ---- */

START_TEST(untranslated_entries_are_filled_in)
{
    expect("# c\nmsgid \"Save\"\nmsgstr \"\"\n\n#, fuzzy\nmsgid \"Open\"\nmsgstr \"Auf\"\n",
           MT_DOCUMENT_PO, shout,
           "# c\nmsgid \"Save\"\nmsgstr \"SAVE\"\n\n#, fuzzy\nmsgid \"Open\"\nmsgstr \"Auf\"\n");
    expect("msgid \"one\"\nmsgid_plural \"many\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n",
           MT_DOCUMENT_PO, shout,
           "msgid \"one\"\nmsgid_plural \"many\"\nmsgstr[0] \"ONE\"\nmsgstr[1] \"MANY\"\n"
           "msgstr[2] \"MANY\"\n");
    expect("msgid \"one\"\nmsgid_plural \"many\"\nmsgstr[0] \"\"\n", MT_DOCUMENT_PO, shout,
           "msgid \"one\"\nmsgid_plural \"many\"\nmsgstr[0] \"MANY\"\n");
    expect("msgctxt \"menu\"\nmsgid \"\"\n\"a\\n\"\n\"b\\t\\\"c\\\"\"\nmsgstr \"\"", MT_DOCUMENT_PO,
           shout,
           "msgctxt \"menu\"\nmsgid \"\"\n\"a\\n\"\n\"b\\t\\\"c\\\"\"\nmsgstr \"\"\n\"A\\n\"\n"
           "\"B\\t\\\"C\\\"\"");
}
END_TEST

START_TEST(entries_are_translated_again_where_that_is_asked_for)
{
    /* Escapes of every kind; control characters come back in octal. */
    expect("  msgid \"\\x41\\x6a\\101\\a\\033\"\nmsgstr \"\"\n", MT_DOCUMENT_PO, shout,
           "  msgid \"\\x41\\x6a\\101\\a\\033\"\nmsgstr \"AJA\\a\\033\"\n");
    char *result = translate("msgid \"\"\nmsgstr \"charset=UTF-8\\n\"\n\nmsgid \"a\"\n"
                             "msgstr \"x\"\n\"y\"\n",
                             MT_DOCUMENT_PO, true, shout, NULL);
    ck_assert_str_eq(result, "msgid \"\"\nmsgstr \"charset=UTF-8\\n\"\n\nmsgid \"a\"\n"
                             "msgstr \"A\"\n");
    free(result);
}
END_TEST

START_TEST(accelerators_of_labels_are_put_into_their_translations)
{
    expect_texts("msgid \"&Save %s as...\"\nmsgstr \"\"\n", MT_DOCUMENT_PO, "Save %s as...");
    expect("msgid \"Save &as...\"\nmsgstr \"\"\n\nmsgid \"\"\n\"_File\"\nmsgstr \"\"\n",
           MT_DOCUMENT_PO, shout,
           "msgid \"Save &as...\"\nmsgstr \"SAVE &AS...\"\n\nmsgid \"\"\n\"_File\"\nmsgstr \"\"\n"
           "\"_FILE\"\n");
}
END_TEST

static const char *swapped;
static void swap(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    mt_text_append_string(out, swapped);
}

/* The header's charset is what msgfmt and gettext believe of the translations. */
static const struct {
    const char *header, *expected;
} headers[] = {
    {"msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=ASCII\\n\"\n\"Language: "
     "de\\n\"\n",
     "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Language: "
     "de\\n\"\n"},
    {"msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1; x\\n\"\n",
     "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1; x\\n\"\n"},
    {"# J\xC3\xBCrgen\nmsgid \"\"\nmsgstr \"charset=\\n\"\n",
     "# J\xC3\xBCrgen\nmsgid \"\"\nmsgstr \"charset=UTF-8\\n\"\n"},
    {"msgid \"\"\nmsgstr \"charset=utf-8\\n\"\n", "msgid \"\"\nmsgstr \"charset=utf-8\\n\"\n"},
    {"msgid \"\"\nmsgstr \"Language: de\\n\"\n",
     "msgid \"\"\nmsgstr \"Language: de\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n"},
    {"msgid \"\"\r\nmsgstr \"Language: de\"\r\n",
     "msgid \"\"\r\nmsgstr \"Language: de\"\r\n\"\\n\"\r\n"
     "\"Content-Type: text/plain; charset=UTF-8\\n\"\r\n"},
    {"msgid \"\"\nmsgstr \"\"\n",
     "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n"},
    {"msgctxt \"a\"\nmsgid \"\"\nmsgstr \"charset=ASCII\"\n",
     "msgctxt \"a\"\nmsgid \"\"\nmsgstr \"charset=ASCII\"\n"},
    {"", ""},
};

START_TEST(the_header_of_a_catalogue_says_utf_8)
{
    char file[512], expected[512];
    snprintf(file, sizeof file, "%s#: a.c:1\nmsgid \"a\"\nmsgstr \"\"\n# end", headers[_i].header);
    snprintf(expected, sizeof expected, "%s#: a.c:1\nmsgid \"a\"\nmsgstr \"A\"\n# end",
             headers[_i].expected);
    expect(file, MT_DOCUMENT_PO, shout, expected);
    expect(headers[_i].header, MT_DOCUMENT_PO, shout, headers[_i].expected);
}
END_TEST

/* Readers would take the line for a time. */
START_TEST(no_arrow_arises_in_a_cue)
{
    expect_texts(CUE("1", "01", "02", "Hello-->>"), MT_DOCUMENT_SRT, "");
    expect_texts(CUE("1", "01", "02", "{\\an8}--><i>Hello</i>"), MT_DOCUMENT_SRT, "");
    swapped = "Ja--";
    expect(CUE("1", "01", "02", "Yes>>"), MT_DOCUMENT_SRT, swap, CUE("1", "01", "02", "Ja-- >>"));
    expect(CUE("1", "01", "02", "Yes >>"), MT_DOCUMENT_SRT, swap, CUE("1", "01", "02", "Ja-- >>"));
    swapped = ">Ja";
    expect(CUE("1", "01", "02", "--Yes"), MT_DOCUMENT_SRT, swap, CUE("1", "01", "02", "-- >Ja"));
    swapped = "->Ja";
    expect(CUE("1", "01", "02", "-Yes"), MT_DOCUMENT_SRT, swap, CUE("1", "01", "02", "- ->Ja"));
    swapped = "Ja --> nein"; /* stays as it was */
    expect(CUE("1", "01", "02", "Yes."), MT_DOCUMENT_SRT, swap, CUE("1", "01", "02", "Yes."));
}
END_TEST

static const struct {
    const char *message, *translation;
    bool is_kept;
} placeholders[] = {
    {"%d of %s", "%d von %s", true},
    {"%d of %s", "%s von %d", false},
    {"%d of %s", "von %s", false},
    {"%d of %s", "%d von %s %s", false},
    {"%1$d of %2$s", "%2$s von %1$d", true},
    {"{a} of {b}", "{b} von {a}", true},
    {"{a} of {b}", "{b} von {b}", false},
    {"100%", "100 %", true},
    {"line\\n", "Zeile", false},
};

START_TEST(a_translation_that_would_crash_a_program_is_left_out)
{
    char file[128], expected[128];
    size_t n_left;
    snprintf(file, sizeof file, "msgid \"%s\"\nmsgstr \"\"\n", placeholders[_i].message);
    snprintf(expected, sizeof expected, "msgid \"%s\"\nmsgstr \"%s\"\n", placeholders[_i].message,
             placeholders[_i].is_kept ? placeholders[_i].translation : "");
    swapped = placeholders[_i].translation;
    char *result = translate(file, MT_DOCUMENT_PO, false, swap, &n_left);
    ck_assert_str_eq(result, expected);
    ck_assert_uint_eq(n_left, placeholders[_i].is_kept ? 0 : 1);
    free(result);
}
END_TEST

/* ---- html ---- */

static const char *const tails[] = {
    "<html><body><p>a</p>\n</body>\n\n</html>\n\n",
    "<html><body><p>a</p></body></html>",
    "<html><body><p>a</p>",
    "<html><body><p>a</p>\r\n</BODY >\r\n<!-- b -->\r\n</html\n>\r\n<!-- c -->",
    "<html><body><p>a</p></html>\n",
    "<html><body><p>a</p> \n",
    "<p>a</p>\n</body>\n</html>\n",
    "<p>a</p><!-- </body></html> --><p>a</p>\n",
    "<p>a</p>\n</body>\n<p>a</p>\n</html>\n",
    "<html><body><p>a</p></body><!-- <b> --></html>\n",
    "</body>\n</html>\n",
};

START_TEST(what_ends_a_page_stays)
{
    expect(tails[_i], MT_DOCUMENT_HTML, same, tails[_i]);
}
END_TEST

START_TEST(a_page_is_one_text)
{
    swapped = "<html><body><p>b</p>\n</body>\n</html>\n";
    expect("<html><body><p>a</p>\n</body>\n</html>\n", MT_DOCUMENT_HTML, swap, swapped);
    expect_texts("<html><body><p>a</p>\n</body>\n<!-- b -->\n</html>\n", MT_DOCUMENT_HTML,
                 "<html><body><p>a</p>\n</body>\n<!-- b -->\n</html>\n");
}
END_TEST

START_TEST(a_page_says_that_it_is_utf8)
{
    expect("<html><head><title>a</title></head><p>b", MT_DOCUMENT_HTML, same,
           "<html><head><title>a</title></head><p>b");
    expect("<html><head><meta charset='iso-8859-1'><p>b", MT_DOCUMENT_HTML, same,
           "<html><head><meta charset='iso-8859-1'><p>b");
    swapped = "<html><head><meta charset='iso-8859-1'><p>\xC3\xA4";
    expect("<html><head><meta charset='iso-8859-1'><p>b", MT_DOCUMENT_HTML, swap,
           "<html><head><meta charset='iso-8859-1'><p>\xE4");
    swapped = "<html><head><title>\xC3\xA4</title>";
    expect("<html><head><title>a</title>", MT_DOCUMENT_HTML, swap,
           "<html><head><meta charset=\"utf-8\"><title>\xC3\xA4</title>");
    swapped = "<p>\xC3\xA4";
    expect("<p>a", MT_DOCUMENT_HTML, swap, "<p>\xC3\xA4");
}
END_TEST

/* ---- random files ---- */

static uint32_t random_below(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static void append_random(struct mt_text *out, uint32_t *seed, const char *const *choices,
                          uint32_t n)
{
    mt_text_append_string(out, choices[random_below(seed, n)]);
}

/* A turn: words with tags among them, over one or two lines. */
static void append_turn(struct mt_text *out, uint32_t *seed, bool is_vtt)
{
    static const char *const words[] = {
        "I",        "think",     "that,",  "we",           "go.", "<i>so", "so</i>",
        "<b>x</b>", "\xC3\xA4h", "{name}", "\xE2\x99\xAA", "Tom", "-",     "a<b"};
    static const char *const vtt[] = {"&amp;", "<c.loud>", "</c>", "<00:00:01.000>"};
    uint32_t n = random_below(seed, 9);
    for (uint32_t i = 0; i < n; i++) {
        if (is_vtt && random_below(seed, 4) == 0)
            append_random(out, seed, vtt, 4);
        else
            append_random(out, seed, words, sizeof words / sizeof *words);
        if (i + 1 < n)
            mt_text_append_string(out, random_below(seed, 4) ? " " : "\n");
    }
    mt_text_append_string(out, "\n");
}

static void append_random_cues(struct mt_text *out, uint32_t *seed, bool is_vtt)
{
    uint32_t n = random_below(seed, 8);
    mt_text_append_string(out, is_vtt ? "WEBVTT\n\n" : "");
    for (uint32_t i = 0; i < n; i++) {
        if (!is_vtt)
            mt_text_appendf(out, "%u\n", i + 1);
        mt_text_appendf(out, "00:00:%02u%c000 --> 00:00:%02u%c900\n", i, is_vtt ? '.' : ',', i,
                        is_vtt ? '.' : ',');
        append_turn(out, seed, is_vtt);
        mt_text_append_string(out, "\n");
    }
}

static size_t count_lines_with(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* Whether a text goes on in another cue with a tag open: then its tags double. */
START_TEST(random_subtitles_come_out_as_they_went_in)
{
    uint32_t seed = (uint32_t)_i + 1;
    struct mt_text file = {0};
    enum mt_document_format format = _i % 2 ? MT_DOCUMENT_VTT : MT_DOCUMENT_SRT;
    append_random_cues(&file, &seed, _i % 2);
    mt_text_append(&file, "", 0);
    char *again = translate(file.bytes, format, false, same, NULL);
    bool has_pairs = strstr(file.bytes, "<i>") && strstr(file.bytes, "</i>");
    has_pairs = has_pairs || (strstr(file.bytes, "<c") && strstr(file.bytes, "</c>"));
    if (!has_pairs)
        ck_assert_str_eq(again, file.bytes);
    free(again);
    /* whatever is said, the cues stay */
    char *longer = translate(file.bytes, format, false, repeat, NULL);
    ck_assert_uint_eq(count_lines_with(longer, "-->"), count_lines_with(file.bytes, "-->"));
    mt_document_destroy(read_file(longer, strlen(longer), format, false));
    free(longer);
    mt_text_finish(&file);
}
END_TEST

START_TEST(random_text_comes_out_as_it_went_in)
{
    static const char *const words[] = {"time",  "of",     "wisdom,", "It",   "epoch.", "\xC3\xBC",
                                        "light", "season", "a",       "1789", "Paris"};
    static const char *const gaps[] = {" ",  " ",  " ",  " ",    " ",    " ",
                                       "\n", "\n", "  ", "\n\n", "\r\n", "\n  "};
    uint32_t seed = (uint32_t)_i + 1;
    struct mt_text file = {0};
    uint32_t n = random_below(&seed, 60);
    mt_text_append(&file, "", 0);
    for (uint32_t i = 0; i < n; i++) {
        append_random(&file, &seed, words, sizeof words / sizeof *words);
        append_random(&file, &seed, gaps, sizeof gaps / sizeof *gaps);
    }
    char *again = translate(file.bytes, MT_DOCUMENT_TEXT, false, same, NULL);
    ck_assert_str_eq(again, file.bytes);
    free(again);
    mt_text_finish(&file);
}
END_TEST

/* Wrapped at any width, a paragraph is one text and comes out as it was. */
START_TEST(text_wrapped_at_any_width_is_recognised)
{
    static const char *const words[] = {"it", "was",   "the",    "best",
                                        "of", "times", "wisdom", "incredulity"};
    uint32_t seed = (uint32_t)_i + 1;
    struct mt_text file = {0};
    size_t width = 45 + random_below(&seed, 40), column = 0;
    for (uint32_t i = 0; i < 80; i++) {
        const char *word = words[random_below(&seed, 8)];
        size_t n = strlen(word);
        if (column > 0 && column + 1 + n > width) {
            mt_text_append_string(&file, "\n");
            column = 0;
        }
        mt_text_append(&file, " ", column > 0);
        mt_text_append_string(&file, word);
        column += n + (column > 0);
    }
    struct mt_document *document = read_file(file.bytes, file.length, MT_DOCUMENT_TEXT, false);
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    ck_assert_ptr_null(strchr(mt_document_text(document, 0).bytes, '\n'));
    mt_document_destroy(document);
    expect(file.bytes, MT_DOCUMENT_TEXT, same, file.bytes);
    mt_text_finish(&file);
}
END_TEST

START_TEST(no_more_texts_are_read_than_asked_for)
{
    const char file[] = "[\"a\", \"b\", \"c\"]";
    struct mt_document_options options = {.format = MT_DOCUMENT_JSON, .max_texts = 2};
    struct mt_document *document = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_document_create(file, strlen(file), &options, &document, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "more than 2 texts"));
    options.max_texts = 3;
    ck_assert_int_eq(mt_document_create(file, strlen(file), &options, &document, &err), MT_OK);
    mt_document_destroy(document);
}
END_TEST

Suite *suite_document(void)
{
    Suite *suite = suite_create("document");
    TCase *all = tcase_create("all");
    const int n_kept = (int)(sizeof kept / sizeof *kept);
    tcase_add_loop_test(all, a_file_whose_texts_stay_is_the_same_file, 0, n_kept);
    tcase_add_loop_test(all, texts_without_translation_stay, 0, n_kept);
    tcase_add_test(all, formats_are_known_by_name_and_extension);
    tcase_add_test(all, lines_may_end_with_two_carriage_returns);
    tcase_add_test(all, lines_of_text_are_one_text);
    tcase_add_test(all, wrapped_paragraphs_are_joined_and_wrapped_again);
    tcase_add_test(all, line_ends_that_differ_are_kept);
    tcase_add_test(all, cues_are_texts_of_their_own);
    tcase_add_test(all, no_arrow_arises_in_a_cue);
    tcase_add_test(all, a_sentence_that_goes_on_is_one_text);
    tcase_add_test(all, tags_notes_and_dashes_around_words_stay_out);
    tcase_add_test(all, a_translation_is_laid_out_over_the_same_cues);
    tcase_add_test(all, captions_that_roll_up_show_each_translation_as_often);
    tcase_add_test(all, scripts_without_blanks_are_laid_out_too);
    tcase_add_test(all, lines_of_japanese_begin_with_words);
    tcase_add_test(all, nothing_that_looks_like_a_time_becomes_text);
    tcase_add_test(all, a_cue_for_which_no_word_is_left_is_empty);
    tcase_add_loop_test(all, broken_files_are_refused_with_their_line, 0,
                        (int)(sizeof broken / sizeof *broken));
    tcase_add_test(all, untranslated_entries_are_filled_in);
    tcase_add_test(all, entries_are_translated_again_where_that_is_asked_for);
    tcase_add_test(all, accelerators_of_labels_are_put_into_their_translations);
    tcase_add_loop_test(all, the_header_of_a_catalogue_says_utf_8, 0,
                        (int)(sizeof headers / sizeof *headers));
    tcase_add_loop_test(all, a_translation_that_would_crash_a_program_is_left_out, 0,
                        (int)(sizeof placeholders / sizeof *placeholders));
    tcase_add_test(all, a_page_says_that_it_is_utf8);
    tcase_add_loop_test(all, what_ends_a_page_stays, 0, (int)(sizeof tails / sizeof *tails));
    tcase_add_test(all, a_page_is_one_text);
    tcase_add_test(all, no_more_texts_are_read_than_asked_for);
    tcase_add_loop_test(all, random_subtitles_come_out_as_they_went_in, 0, 400);
    tcase_add_loop_test(all, random_text_comes_out_as_it_went_in, 0, 200);
    tcase_add_loop_test(all, text_wrapped_at_any_width_is_recognised, 0, 100);
    suite_add_tcase(suite, all);
    return suite;
}
