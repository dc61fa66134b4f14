/*
 * Files that are meant to do harm, read as the daemon reads them, in a process of its own: each is
 * refused, or read, within a second and 128 MiB.
 */
#include "make_package.h"

#include "base/file.h"
#include "base/sanitized.h"
#include "base/size.h"
#include "server/documents/document_confined.h"

#include <check.h>
#include <stdio.h>
#include <sys/resource.h>

#define MAX_NS (INT64_C(1000000000) * (MT_IS_SANITIZED ? 20 : 1))
#define MAX_KIB ((long)128 << 10)
/* As many characters as a request may have. */
#define MAX_TEXTS 100000
#define N_TEXTS_OF_RUNS 250

/* Of the processor, since other tests run beside this one. */
static int64_t spent_ns(int who)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage((__rusage_who_t)who, &usage), 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static long peak_kib(int who)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage((__rusage_who_t)who, &usage), 0);
    return usage.ru_maxrss;
}

/* What of the file's making is still there is no cost of reading it. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

/* Takes the file. Message: NULL where it is read. */
static void read_within_bounds(char *file, size_t length, const char *message, size_t *n_texts)
{
    const struct mt_document_options options = {
        .format = MT_DOCUMENT_DOCX, .max_texts = MAX_TEXTS, .confines = true};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    forget_peak();
    long before = peak_kib(RUSAGE_SELF);
    enum mt_status status = MT_OK;
    int64_t elapsed = INT64_MAX;
    /* The best of ten, because other programs slow this one. */
    for (int i = 0; i < 10 && elapsed >= MAX_NS; i++) {
        mt_document_destroy(document);
        document = NULL;
        int64_t begin = spent_ns(RUSAGE_SELF) + spent_ns(RUSAGE_CHILDREN);
        status = mt_document_create(file, length, &options, &document, &err);
        elapsed = spent_ns(RUSAGE_SELF) + spent_ns(RUSAGE_CHILDREN) - begin;
    }
    long child = peak_kib(RUSAGE_CHILDREN) - before, here = peak_kib(RUSAGE_SELF) - before;
    if (message) {
        ck_assert_msg(status == MT_FORMAT || status == MT_LIMIT, "%d: %s", (int)status,
                      err.message);
        ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message,
                      err.message);
    } else {
        ck_assert_msg(!status, "%s", err.message);
        *n_texts = mt_document_n_texts(document);
    }
    if (getenv("MT_TEST_VERBOSE"))
        printf("%-70.70s %5.3f s, %ld KiB, here %ld KiB\n", message ? message : "read",
               (double)elapsed / 1e9, child, here);
    ck_assert_msg(elapsed < MAX_NS, "%.3f s", (double)elapsed / 1e9);
    if (!MT_IS_SANITIZED) {
        ck_assert_msg(child < MAX_KIB, "%ld KiB in the other process", child);
        ck_assert_msg(here < MAX_KIB, "%ld KiB here", here);
    }
    mt_document_destroy(document);
    free(file);
}

static void expect_refused(char *file, size_t length, const char *message)
{
    read_within_bounds(file, length, message, NULL);
}

static const struct entry types = {"[Content_Types].xml", CONTENT_TYPES, 0, ZIP_CM_STORE, false};

#define HEAD "<w:document xmlns:w=\"" NAMESPACE "\"><w:body>"
#define TAIL "</w:body></w:document>"

/* begin, n times middle, end, as the main part. */
static char *make_repeated(const char *begin, const char *middle, size_t n, const char *end,
                           size_t *length)
{
    struct mt_text xml = {0};
    mt_text_append_string(&xml, begin);
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&xml, middle);
    mt_text_append_string(&xml, end);
    ck_assert_int_eq(xml.status, MT_OK);
    const struct entry entries[] = {
        types, {"word/document.xml", xml.bytes, xml.length, ZIP_CM_DEFLATE, false}};
    char *file = make_package(entries, 2, length);
    mt_text_finish(&xml);
    return file;
}

/* ---- bombs ---- */

START_TEST(zip_bomb_of_one_part)
{
    size_t length;
    char *file = make_repeated(HEAD, "<w:p/><w:p/><w:p/><w:p/>", (size_t)4 << 20, TAIL, &length);
    expect_refused(file, length, "\"word/document.xml\": the parts have more than 33554432 bytes");
}
END_TEST

/* Within what parts may have, and made of nothing but texts. */
START_TEST(zip_bomb_of_texts)
{
    size_t length;
    char *file = make_repeated(HEAD, "<w:p><w:r><w:t>a</w:t></w:r></w:p>", 900000, TAIL, &length);
    expect_refused(file, length, "more than 100000 texts");
}
END_TEST

/* ... or of nothing but elements, as many as half of that has. */
START_TEST(zip_bomb_of_elements)
{
    size_t length, n;
    char *file = make_repeated(HEAD, "<a/>", 4000000, TAIL, &length);
    read_within_bounds(file, length, NULL, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

#define N_PARTS 2000
#define PART_BYTES 65536

START_TEST(zip_bomb_of_many_parts)
{
    static char names[N_PARTS][32];
    struct entry *entries = calloc(N_PARTS + 1, sizeof *entries);
    char *part = malloc(PART_BYTES);
    struct mt_text table = {0};
    memset(part, ' ', PART_BYTES);
    mt_text_append_string(&table, "<Types><Override PartName=\"/a\" ContentType=\"wordprocessingml."
                                  "document.main+xml\"/>");
    for (size_t i = 0; i < N_PARTS; i++) {
        (void)snprintf(names[i], sizeof names[i], "word/header%zu.xml", i);
        mt_text_appendf(&table,
                        "<Override PartName=\"/%s\" ContentType=\"wordprocessingml.header+xml\"/>",
                        names[i]);
        entries[i + 1] = (struct entry){names[i], part, PART_BYTES, ZIP_CM_DEFLATE, false};
    }
    mt_text_append_string(&table, "</Types>");
    entries[0] =
        (struct entry){"[Content_Types].xml", table.bytes, table.length, ZIP_CM_STORE, false};
    size_t length;
    char *file = make_package(entries, N_PARTS + 1, &length);
    mt_text_finish(&table);
    free(entries);
    free(part);
    expect_refused(file, length, "the parts have more than 33554432 bytes");
}
END_TEST

/* ---- directories that lie ---- */

static void put(char *at, size_t n_bytes, size_t number)
{
    for (size_t i = 0; i < n_bytes; i++)
        at[i] = (char)(number >> 8 * i & 0xFF);
}

/* The record of the directory's for the entry of that number. */
static char *find_record(char *file, size_t length, size_t index)
{
    char *at = memmem(file, length, "PK\1\2", 4);
    while (at && index-- > 0)
        at = memmem(at + 4, length - (size_t)(at + 4 - file), "PK\1\2", 4);
    ck_assert_ptr_nonnull(at);
    return at;
}

START_TEST(zip_bomb_of_overlapping_entries)
{
    static char names[500][8], bytes[65536];
    struct entry entries[501] = {types};
    memset(bytes, 'a', sizeof bytes);
    for (size_t i = 0; i < 500; i++) {
        (void)snprintf(names[i], sizeof names[i], "a%zu", i);
        entries[i + 1] =
            (struct entry){names[i], bytes, i == 0 ? sizeof bytes : 1, ZIP_CM_STORE, false};
    }
    size_t length;
    char *file = make_package(entries, 501, &length);
    for (size_t i = 2; i <= 500; i++) /* each has the bytes of the first */
        memcpy(find_record(file, length, i) + 16, find_record(file, length, 1) + 16, 12);
    expect_refused(file, length, "expected entries that do not overlap");
}
END_TEST

/* 24: of the bytes that it has unpacked. */
START_TEST(declared_sizes_that_lie)
{
    static const size_t sizes[] = {1, 0x7FFFFFFF};
    for (size_t i = 0; i < 2; i++) {
        size_t length, n;
        char *file =
            make_repeated(HEAD, "<w:p><w:r><w:t>Hello.</w:t></w:r></w:p>", 1000, TAIL, &length);
        put(find_record(file, length, 1) + 24, 4, sizes[i]);
        read_within_bounds(file, length, NULL, &n);
        ck_assert_uint_eq(n, 1000);
    }
}
END_TEST

START_TEST(wrong_crc)
{
    size_t length;
    char *file = make_repeated(HEAD, "<w:p><w:r><w:t>Hello.</w:t></w:r></w:p>", 100, TAIL, &length);
    find_record(file, length, 1)[16] ^= 1;
    expect_refused(file, length, "word/document.xml");
}
END_TEST

START_TEST(cut_short)
{
    size_t length;
    char *file = make_repeated(HEAD, "<w:p><w:r><w:t>Hello.</w:t></w:r></w:p>", 100, TAIL, &length);
    expect_refused(file, length - 10, "cut short");
}
END_TEST

/* ---- entries ---- */

static const struct {
    struct entry entry;
    const char *message;
} bad_entries[] = {
    {{"../../etc/passwd", "a", 0, ZIP_CM_STORE, false}, "expected a name without \"..\""},
    {{"WORD/Document.xml", "a", 0, ZIP_CM_STORE, false}, "is there twice, expected once"},
    {{"word/a.xml", "a", 0, ZIP_CM_STORE, true},
     "is encrypted: expected a file without a password"},
};

START_TEST(entry_with_dots_twice_or_encrypted)
{
    const struct entry entries[] = {
        types,
        {"word/document.xml", HEAD TAIL, 0, ZIP_CM_STORE, false},
        bad_entries[_i].entry,
    };
    size_t length;
    char *file = make_package(entries, 3, &length);
    expect_refused(file, length, bad_entries[_i].message);
}
END_TEST

START_TEST(no_content_types)
{
    const struct entry entries[] = {{"word/document.xml", HEAD TAIL, 0, ZIP_CM_STORE, false}};
    size_t length;
    char *file = make_package(entries, 1, &length);
    expect_refused(file, length, "a zip without \"[Content_Types].xml\"");
}
END_TEST

#define OLE "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

static const struct {
    const char *bytes;
    size_t length;
    const char *message;
} other_files[] = {
    {OLE "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e", 40, "has a password: save it without"},
    {OLE "W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t", 32, "of Word before 2007 (.doc)"},
    {"%PDF-1.7\n", 9, "is a PDF"},
    {"{\\rtf1", 6, "is RTF"},
    {"<html></html>", 13, "expected a zip"},
    {"", 0, "expected a zip"},
};

START_TEST(wrong_content_for_the_name)
{
    char *file = malloc(other_files[_i].length + 1);
    memcpy(file, other_files[_i].bytes, other_files[_i].length);
    expect_refused(file, other_files[_i].length, other_files[_i].message);
}
END_TEST

/* ---- XML ---- */

static const struct {
    const char *begin, *middle;
    size_t n;
    const char *end, *message;
} bad_xml[] = {
    {"<!DOCTYPE a [<!ENTITY b \"b\"><!ENTITY c \"&b;&b;\">]><a>", "&c;", 10, "</a>",
     "line 1: an entity is declared (b)"},
    {"<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>", "&b;", 1, "</a>",
     "line 1: an entity is declared (b)"},
    {"<!DOCTYPE a [<!ENTITY % b SYSTEM \"http://127.0.0.1/\">%b;]><a>", "", 1, "</a>",
     "line 1: an entity is declared (b)"},
    {"", "<a>", 200000, "", "nested deeper than 256"},
    {"<a ", "b='' ", 100000, "/>", "duplicate attribute"},
    {"<", "a", 100000, "/>", "an element's name has 100000 bytes"},
    {"<a", "", 0, "", "line 1"},
    {"\xFF\xFE<", "a", 1, "\xD8\xD8>", "is no UTF-8, expected UTF-8"},
    {"<?xml version='1.0' encoding='UTF-16'?><a/>", "", 0, "", "encoding is \"UTF-16\""},
};

START_TEST(xml_that_is_refused)
{
    size_t length;
    char *file = make_repeated(bad_xml[_i].begin, bad_xml[_i].middle, bad_xml[_i].n,
                               bad_xml[_i].end, &length);
    expect_refused(file, length, bad_xml[_i].message);
}
END_TEST

START_TEST(attributes_100000)
{
    struct mt_text xml = {0};
    size_t length;
    mt_text_append_string(&xml, "<a");
    for (size_t i = 0; i < 100000; i++)
        mt_text_appendf(&xml, " a%zu=''", i);
    char *file = make_repeated(xml.bytes, "/>", 1, "", &length);
    mt_text_finish(&xml);
    expect_refused(file, length, "<a> has 100000 attributes, expected 1000 at most");
}
END_TEST

/* Translated, if in pieces. */
START_TEST(runs_100000_in_one_paragraph)
{
    size_t length, n;
    char *file = make_repeated(
        HEAD "<w:p>", "<w:r><w:t>a </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r>", 50000,
        "</w:p>" TAIL, &length);
    read_within_bounds(file, length, NULL, &n);
    ck_assert_uint_eq(n, N_TEXTS_OF_RUNS);
}
END_TEST

/* ---- what comes back of the other process ---- */

static char *read_sample(const char *name, size_t *length)
{
    char path[4096], *bytes = NULL;
    struct mt_error err;
    (void)snprintf(path, sizeof path, "%s/tests/documents/%s", getenv("MT_SOURCE_DIR"), name);
    ck_assert_int_eq(mt_file_read(path, SIZE_MAX, &bytes, length, &err), MT_OK);
    return bytes;
}

/* Every text with a mark before it. */
static void write_marked(const struct mt_document *document, struct mt_text *out)
{
    size_t n = mt_document_n_texts(document);
    struct mt_text *translations = calloc(n + 1, sizeof *translations);
    struct mt_document_report report;
    struct mt_error err = {0};
    for (size_t i = 0; i < n; i++) {
        mt_text_append_string(&translations[i], "X ");
        mt_text_append_string(&translations[i], mt_document_text(document, i).bytes);
    }
    ck_assert_msg(!mt_document_write(document, translations, out, &report, &err), "%s",
                  err.message);
    ck_assert_uint_eq(report.n_translated, n);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
}

static const char *const samples[] = {"letter.docx", "fields.docx"};

START_TEST(confined_is_the_same_as_here)
{
    struct mt_document *documents[2] = {NULL};
    struct mt_text written[2] = {{0}};
    struct mt_error err = {0};
    size_t length;
    char *file = read_sample(samples[_i], &length);
    for (size_t i = 0; i < 2; i++) {
        const struct mt_document_options options = {.format = MT_DOCUMENT_DOCX, .confines = i == 1};
        ck_assert_msg(!mt_document_create(file, length, &options, &documents[i], &err), "%s",
                      err.message);
        write_marked(documents[i], &written[i]);
    }
    ck_assert_uint_gt(mt_document_n_texts(documents[0]), 1);
    ck_assert_uint_eq(mt_document_n_texts(documents[0]), mt_document_n_texts(documents[1]));
    ck_assert_uint_eq(written[0].length, written[1].length);
    ck_assert_mem_eq(written[0].bytes, written[1].bytes, written[0].length);
    for (size_t i = 0; i < 2; i++) {
        mt_document_destroy(documents[i]);
        mt_text_finish(&written[i]);
    }
    free(file);
}
END_TEST

/* As if the other process had been taken over: each byte of its table is another one. Writing must not
 * leave what the document has. */
START_TEST(tables_that_lie)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xFF};
    const struct mt_document_options options = {.format = MT_DOCUMENT_DOCX};
    struct mt_document *document = NULL;
    struct mt_text table = {0};
    struct mt_error err = {0};
    size_t length, n_refused = 0, n_tried = 0;
    char *file = read_sample("fields.docx", &length);
    ck_assert_int_eq(mt_document_create(file, length, &options, &document, &err), MT_OK);
    mt_document_put_table(document, &table);
    size_t n_texts = mt_document_n_texts(document);
    struct mt_text *translations = calloc(n_texts + 1, sizeof *translations);
    for (size_t i = 0; i < n_texts; i++)
        mt_text_append_string(&translations[i], "<0>X</0><1/><2:w/> Y");
    size_t begin = document->length, step = table.length > 40000 ? 7 : 1;
    for (size_t at = 0; at < table.length; at = at == 8 ? begin : at + step)
        for (size_t k = 0; k < sizeof flips; k++) {
            struct mt_document *other = calloc(1, sizeof *other);
            struct mt_document_report report;
            struct mt_text out = {0};
            other->reader = document->reader;
            other->bytes = malloc(length);
            memcpy(other->bytes, file, length);
            other->length = length;
            table.bytes[at] ^= (char)flips[k];
            n_tried++;
            if (mt_document_take_table(other, table.bytes, table.length, &err))
                n_refused++;
            else
                (void)!mt_document_write(other, translations, &out, &report, &err);
            table.bytes[at] ^= (char)flips[k];
            mt_text_finish(&out);
            mt_document_destroy(other);
        }
    ck_assert_uint_gt(n_refused, n_tried / 4);
    for (size_t i = 0; i < n_texts; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    mt_text_finish(&table);
    mt_document_destroy(document);
    free(file);
}
END_TEST

Suite *suite_hostile(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tcase = tcase_create("hostile");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, zip_bomb_of_one_part);
    tcase_add_test(tcase, zip_bomb_of_texts);
    tcase_add_test(tcase, zip_bomb_of_elements);
    tcase_add_test(tcase, zip_bomb_of_many_parts);
    tcase_add_test(tcase, zip_bomb_of_overlapping_entries);
    tcase_add_test(tcase, declared_sizes_that_lie);
    tcase_add_test(tcase, wrong_crc);
    tcase_add_test(tcase, cut_short);
    tcase_add_loop_test(tcase, entry_with_dots_twice_or_encrypted, 0,
                        sizeof bad_entries / sizeof *bad_entries);
    tcase_add_test(tcase, no_content_types);
    tcase_add_loop_test(tcase, wrong_content_for_the_name, 0,
                        sizeof other_files / sizeof *other_files);
    tcase_add_loop_test(tcase, xml_that_is_refused, 0, sizeof bad_xml / sizeof *bad_xml);
    tcase_add_test(tcase, attributes_100000);
    tcase_add_test(tcase, runs_100000_in_one_paragraph);
    tcase_add_loop_test(tcase, confined_is_the_same_as_here, 0, sizeof samples / sizeof *samples);
    tcase_add_test(tcase, tables_that_lie);
    suite_add_tcase(suite, tcase);
    return suite;
}
