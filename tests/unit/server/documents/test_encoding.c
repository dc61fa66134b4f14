/* In which encodings files are read and written: encoding.h, and document.h with it. */
#include "server/documents/document.h"
#include "server/documents/encoding.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXTS 8

/* Letters in upper case, so that what was translated shows. */
static void shout(const struct mt_document_text *text, struct mt_text *out)
{
    for (size_t i = 0; i < text->length; i++) {
        char c = (char)toupper((unsigned char)text->bytes[i]);
        mt_text_append(out, &c, 1);
    }
}

/* What is read of bytes, and what is written of it in upper case, or untouched. */
static void expect_encoded(const char *bytes, size_t length, enum mt_document_format format,
                           const char *encoding, const char *texts, const char *written,
                           size_t n_written, const char *of_encoding)
{
    const struct mt_document_options options = {.format = format, .encoding = encoding};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    ck_assert_msg(!mt_document_create(bytes, length, &options, &document, &err), "%s", err.message);
    struct mt_text translations[MAX_TEXTS] = {{0}}, out = {0}, kept_out = {0}, all = {0};
    struct mt_document_report report;
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        struct mt_document_text text = mt_document_text(document, i);
        mt_text_append_string(&all, text.bytes);
        shout(&text, &translations[i]);
    }
    ck_assert_str_eq(all.bytes, texts);
    ck_assert_int_eq(mt_document_write(document, NULL, &kept_out, &report, &err), MT_OK);
    ck_assert_uint_eq(kept_out.length, length);
    ck_assert_mem_eq(kept_out.bytes, bytes, length);
    ck_assert_uint_eq(report.n_translated, 0);
    ck_assert_uint_eq(report.n_left, mt_document_n_texts(document));
    ck_assert_int_eq(mt_document_write(document, translations, &out, &report, &err), MT_OK);
    ck_assert_str_eq(report.encoding, of_encoding);
    ck_assert_uint_eq(out.length, n_written);
    ck_assert_mem_eq(out.bytes, written, n_written);
    for (size_t i = 0; i < mt_document_n_texts(document); i++)
        mt_text_finish(&translations[i]);
    mt_text_finish(&out);
    mt_text_finish(&kept_out);
    mt_text_finish(&all);
    mt_document_destroy(document);
}

/* Literals, which may hold NUL. */
#define ENCODED(bytes, format, asked, texts, written, of) \
    expect_encoded(bytes, sizeof bytes - 1, format, asked, texts, written, sizeof written - 1, of)

START_TEST(files_are_read_and_written_in_their_encoding)
{
    /* byte order marks */
    ENCODED("\xEF\xBB\xBFgr\xC3\xBC\xC3\x9F", MT_DOCUMENT_TEXT, "windows-1252",
            "gr\xC3\xBC\xC3\x9F", "\xEF\xBB\xBFGR\xC3\xBC\xC3\x9F", "UTF-8");
    ENCODED("\xFF\xFEh\0\xE4\0\r\0\n\0", MT_DOCUMENT_TEXT, NULL, "h\xC3\xA4\r\n",
            "\xFF\xFEH\0\xE4\0\r\0\n\0", "UTF-16LE");
    ENCODED("\xFE\xFF\0h\0i", MT_DOCUMENT_TEXT, "", "hi", "\xFE\xFF\0H\0I", "UTF-16BE");
    ENCODED("\xFF\xFE\0\0h\0\0\0", MT_DOCUMENT_TEXT, "", "h", "\xFF\xFE\0\0H\0\0\0", "UTF-32LE");
    /* by their zeros */
    ENCODED("h\0i\0", MT_DOCUMENT_TEXT, "", "hi", "H\0I\0", "UTF-16LE");
    ENCODED("\0h\0i", MT_DOCUMENT_TEXT, "", "hi", "\0H\0I", "UTF-16BE");
    ENCODED("h\0i\0", MT_DOCUMENT_TEXT, "utf-16", "hi", "H\0I\0", "UTF-16LE");
    /* as they are said to be; names as people write them */
    ENCODED("a\xA4", MT_DOCUMENT_TEXT, "latin-9", "a\xE2\x82\xAC", "A\xA4", "ISO-8859-15");
    ENCODED("a\x93\xFC\x94", MT_DOCUMENT_TEXT, "cp1252", "a\xE2\x80\x9C\xC3\xBC\xE2\x80\x9D",
            "A\x93\xFC\x94", "windows-1252");
    ENCODED("\x93\xFA\x96\x7B a", MT_DOCUMENT_TEXT, "sjis", "\xE6\x97\xA5\xE6\x9C\xAC a",
            "\x93\xFA\x96\x7B A", "Shift_JIS");
    /* a Macintosh's line ends tell its encoding */
    ENCODED("Caf\x8E na\x95ve \xD0\rr\x8Esum\x8E\r", MT_DOCUMENT_TEXT, NULL,
            "Caf\xC3\xA9 na\xC3\xAFve \xE2\x80\x93\rr\xC3\xA9sum\xC3\xA9\r",
            "CAF\x8E NA\x95VE \xD0\rR\x8ESUM\x8E\r", "macintosh");
    ENCODED("gr\xFC\xDF"
            "e\rK\xE4se\r",
            MT_DOCUMENT_TEXT, NULL,
            "gr\xC3\xBC\xC3\x9F"
            "e\rK\xC3\xA4se\r",
            "GR\xFC\xDF"
            "E\rK\xE4SE\r",
            "windows-1252");
    /* as they say themselves */
    ENCODED("<meta charset=iso-8859-1>gr\xFC\xDF", MT_DOCUMENT_HTML, NULL,
            "<meta charset=iso-8859-1>gr\xC3\xBC\xC3\x9F", "<META CHARSET=ISO-8859-1>GR\xFC\xDF",
            "ISO-8859-1");
    ENCODED("<meta charset=iso-8859-1>\x84gr\xFC\xDF\x93", MT_DOCUMENT_HTML, NULL,
            "<meta charset=iso-8859-1>\xE2\x80\x9Egr\xC3\xBC\xC3\x9F\xE2\x80\x9C",
            "<META CHARSET=ISO-8859-1>\x84GR\xFC\xDF\x93", "windows-1252");
    ENCODED("<meta charset=x-nothing>gr\xC3\xBC", MT_DOCUMENT_HTML, NULL,
            "<meta charset=x-nothing>gr\xC3\xBC", "<META CHARSET=X-NOTHING>GR\xC3\xBC", "UTF-8");
    /* UTF-8 was saved, and the declaration left. */
    ENCODED("<meta charset=gb2312>gr\xC3\xBC\xC3\x9F\xE2\x80\x9C", MT_DOCUMENT_HTML, NULL,
            "<meta charset=gb2312>gr\xC3\xBC\xC3\x9F\xE2\x80\x9C",
            "<META CHARSET=GB2312>GR\xC3\xBC\xC3\x9F\xE2\x80\x9C", "UTF-8");
    ENCODED("<meta charset=iso-8859-1>gr\xC3\xBC", MT_DOCUMENT_HTML, NULL,
            "<meta charset=iso-8859-1>gr\xC3\xBC", "<META CHARSET=ISO-8859-1>GR\xC3\xBC", "UTF-8");
    ENCODED("<meta charset=utf-16>gr\xC3\xBC", MT_DOCUMENT_HTML, NULL,
            "<meta charset=utf-16>gr\xC3\xBC", "<META CHARSET=UTF-16>GR\xC3\xBC", "UTF-8");
    ENCODED("# J\xFCrgen\nmsgid \"\"\nmsgstr \"charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\n"
            "msgstr \"\"\n",
            MT_DOCUMENT_PO, NULL, "a",
            "# J\xFCrgen\nmsgid \"\"\nmsgstr \"charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\n"
            "msgstr \"A\"\n",
            "ISO-8859-1");
    ENCODED("<?xml version='1.0' encoding='windows-1252'?>\n<resources>\n"
            "<string name='a'>gr\xFC\xDF</string>\n</resources>\n",
            MT_DOCUMENT_ANDROID, NULL, "gr\xC3\xBC\xC3\x9F",
            "<?xml version='1.0' encoding='windows-1252'?>\n<resources>\n"
            "<string name='a'>GR\xFC\xDF</string>\n</resources>\n",
            "windows-1252");
    /* but not what stands in a message */
    ENCODED("msgid \"charset=ISO-8859-1 \xC3\xBC\"\nmsgstr \"\"\n", MT_DOCUMENT_PO, NULL,
            "charset=ISO-8859-1 \xC3\xBC",
            "msgid \"charset=ISO-8859-1 \xC3\xBC\"\nmsgstr \"CHARSET=ISO-8859-1 \xC3\xBC\"\n",
            "UTF-8");
}
END_TEST

/* Of people's files; each is the beginning of the Universal Declaration of Human Rights. */
static const struct {
    const char *text, *name;
} detected[] = {
    {"Alle Menschen sind frei und gleich an W\xC3\xBCrde und Rechten geboren. Sie sind mit "
     "Vernunft "
     "und Gewissen begabt und sollen einander im Geiste der Br\xC3\xBC"
     "derlichkeit begegnen.\n",
     "windows-1252"},
    {"\xD0\x92\xD1\x81\xD0\xB5 \xD0\xBB\xD1\x8E\xD0\xB4\xD0\xB8 "
     "\xD1\x80\xD0\xBE\xD0\xB6\xD0\xB4\xD0\xB0\xD1\x8E\xD1\x82\xD1\x81\xD1\x8F "
     "\xD1\x81\xD0\xB2\xD0\xBE\xD0\xB1\xD0\xBE\xD0\xB4\xD0\xBD\xD1\x8B\xD0\xBC\xD0\xB8 \xD0\xB8 "
     "\xD1\x80\xD0\xB0\xD0\xB2\xD0\xBD\xD1\x8B\xD0\xBC\xD0\xB8 \xD0\xB2 "
     "\xD1\x81\xD0\xB2\xD0\xBE\xD0\xB5\xD0\xBC "
     "\xD0\xB4\xD0\xBE\xD1\x81\xD1\x82\xD0\xBE\xD0\xB8\xD0\xBD\xD1\x81\xD1\x82\xD0\xB2\xD0\xB5 "
     "\xD0\xB8 \xD0\xBF\xD1\x80\xD0\xB0\xD0\xB2\xD0\xB0\xD1\x85.\n",
     "windows-1251"},
    {"\xE3\x81\x99\xE3\x81\xB9\xE3\x81\xA6\xE3\x81\xAE\xE4\xBA\xBA\xE9\x96\x93\xE3\x81\xAF\xE3\x80"
     "\x81\xE7\x94\x9F\xE3\x81\xBE\xE3\x82\x8C\xE3\x81\xAA\xE3\x81\x8C\xE3\x82\x89\xE3\x81\xAB\xE3"
     "\x81\x97\xE3\x81\xA6\xE8\x87\xAA\xE7\x94\xB1\xE3\x81\xA7\xE3\x81\x82\xE3\x82\x8A\xE3\x80\x82"
     "\n",
     "Shift_JIS"},
};

START_TEST(an_encoding_that_nobody_names_is_found_out)
{
    const struct mt_encoding encoding = {.name = "windows-1252"};
    struct mt_encoding of_case = encoding;
    struct mt_text file = {0};
    snprintf(of_case.name, sizeof of_case.name, "%s", detected[_i].name);
    for (int i = 0; i < 3; i++)
        ck_assert(
            mt_encoding_encode(&of_case, detected[_i].text, strlen(detected[_i].text), &file));
    const struct mt_document_options options = {.format = MT_DOCUMENT_TEXT};
    struct mt_document *document = NULL;
    struct mt_text out = {0};
    struct mt_document_report report;
    struct mt_error err = {0};
    ck_assert_msg(!mt_document_create(file.bytes, file.length, &options, &document, &err), "%s",
                  err.message);
    ck_assert_ptr_nonnull(strstr(mt_document_text(document, 0).bytes, detected[_i].text));
    ck_assert_int_eq(mt_document_write(document, NULL, &out, &report, &err), MT_OK);
    ck_assert_str_eq(report.encoding, detected[_i].name);
    ck_assert_uint_eq(out.length, file.length);
    ck_assert_mem_eq(out.bytes, file.bytes, file.length);
    mt_text_finish(&file);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

/* Detectors say ISO-8859-2, which has no letters for French. */
START_TEST(a_letter_that_is_the_same_in_many_is_in_the_most_common_one)
{
    ENCODED("the caf\xE9 is open\n", MT_DOCUMENT_TEXT, NULL, "the caf\u00E9 is open\n",
            "THE CAF\xE9 IS OPEN\n", "windows-1252");
}
END_TEST

/* All texts become one that the encoding lacks. */
static void expect_utf8(const char *file, enum mt_document_format format, const char *translation,
                        const char *expected)
{
    const struct mt_document_options options = {.format = format};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    struct mt_text translated = {0}, out = {0};
    struct mt_document_report report;
    ck_assert_msg(!mt_document_create(file, strlen(file), &options, &document, &err), "%s",
                  err.message);
    mt_text_append_string(&translated, translation);
    ck_assert_int_eq(mt_document_write(document, &translated, &out, &report, &err), MT_OK);
    ck_assert_str_eq(out.bytes, expected);
    ck_assert_str_eq(report.encoding, "UTF-8");
    mt_text_finish(&translated);
    mt_text_finish(&out);
    mt_document_destroy(document);
}

START_TEST(what_an_encoding_lacks_makes_the_file_utf8)
{
    expect_utf8("<meta charset='iso-8859-1'><p>b", MT_DOCUMENT_HTML,
                "<meta charset='iso-8859-1'><p>\xD0\xB0", "<meta charset='UTF-8'><p>\xD0\xB0");
    expect_utf8("msgid \"\"\nmsgstr \"charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n",
                MT_DOCUMENT_PO, "\xD0\xB0",
                "msgid \"\"\nmsgstr \"charset=UTF-8\\n\"\n\nmsgid \"a\"\nmsgstr \"\xD0\xB0\"\n");
}
END_TEST

static void expect_error(const char *file, size_t length, enum mt_document_format format,
                         const char *message)
{
    const struct mt_document_options options = {.format = format};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_document_create(file, length, &options, &document, &err);
    ck_assert_msg(status == MT_FORMAT, "%s: status %d", message, (int)status);
    ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message, err.message);
}

START_TEST(what_is_no_text_in_any_encoding_is_refused_by_what_was_seen)
{
    expect_error("a\nb\0c", 5, MT_DOCUMENT_TEXT, "line 2 holds a NUL byte");
    expect_error("\xFF\xFE\0", 3, MT_DOCUMENT_TEXT,
                 "line 1 holds bytes that are no characters of UTF-16LE");
    expect_error("\xFF\xFE\0\xD8\0\0", 6, MT_DOCUMENT_TEXT, "no characters of UTF-16LE");
    expect_error("\xFF\xFE\0\0a\0", 6, MT_DOCUMENT_TEXT, "no characters of UTF-32LE");
    expect_error("\xFF\xFE"
                 "a\0\0\0",
                 6, MT_DOCUMENT_TEXT, "holds a NUL character");
    expect_error("\xEF\xBB\xBF\n\xFC", 5, MT_DOCUMENT_TEXT,
                 "line 2 holds byte 0xFC, which is no UTF-8, although a byte order mark says so");
    expect_error(
        "<meta charset=utf-8>\xFC", 21, MT_DOCUMENT_HTML,
        "line 1 holds byte 0xFC, which is no UTF-8, although the file says so: expected its "
        "encoding to be named (encoding)");
    expect_error("<meta charset=euc-jp>\n\xFF\xFF", 24, MT_DOCUMENT_HTML,
                 "line 2 holds bytes that are no characters of EUC-JP");
    static const char *const names[] = {"utf-7",
                                        "x",
                                        "ibm-37",
                                        "SCSU",
                                        "a,b",
                                        "a b",
                                        "0123456789012345678901234567890123456789012345678"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct mt_document_options options = {.format = MT_DOCUMENT_TEXT,
                                                    .encoding = names[i]};
        struct mt_document *document = NULL;
        struct mt_error err = {0};
        ck_assert_int_eq(mt_document_create("a", 1, &options, &document, &err), MT_INVALID);
        ck_assert_msg(strstr(err.message, "expected the name of one"), "%s", err.message);
    }
}
END_TEST

Suite *suite_encoding(void)
{
    Suite *suite = suite_create("encoding");
    TCase *all = tcase_create("all");
    tcase_add_test(all, files_are_read_and_written_in_their_encoding);
    tcase_add_test(all, a_letter_that_is_the_same_in_many_is_in_the_most_common_one);
    tcase_add_loop_test(all, an_encoding_that_nobody_names_is_found_out, 0,
                        (int)(sizeof detected / sizeof *detected));
    tcase_add_test(all, what_an_encoding_lacks_makes_the_file_utf8);
    tcase_add_test(all, what_is_no_text_in_any_encoding_is_refused_by_what_was_seen);
    suite_add_tcase(suite, all);
    return suite;
}
