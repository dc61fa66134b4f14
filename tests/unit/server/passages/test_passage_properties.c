/* Two promises about every text, with an engine that only pretends: what the model returns as it was
 * is the input to the byte; and where it marks each word, each letter shows once, in a marked word or
 * in what is copied, no element is emptied, and nothing that is copied is lost or doubled. And the time
 * that it takes to take one apart and put it together grows with its length, and no faster. */
#include "tests/unit/server/passages/fake_sentences.h"
#include "tests/unit/server/passages/text_properties.h"

#include "base/file.h"
#include "base/sanitized.h"
#include "base/size.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_TEXTS 2500      /* of each of four formats */
#define N_ALL_TEXTS 25000 /* with MT_TEST_FULL=1 */
#define MAX_SHOWN 40      /* texts that fail, of each test */

static const char *const format_names[] = {"plain", "html", "srt", "vtt"};
static const char *const split_names[] = {
    [MT_SPLIT_ON] = "on", [MT_SPLIT_OFF] = "off", [MT_SPLIT_NEWLINES] = "newlines"};

/* ---- many texts ---- */

struct property {
    const char *name;
    enum fake_answer answer;
    check_fn *check;
    bool edits; /* with post-editing, too */
};

static const struct property properties[] = {
    {"identity", FAKE_IDENTITY, check_identity, true},
    {"marking", FAKE_MARKING, check_marks, false},
};

/* One text on its way. */
struct trial {
    const struct property *property;
    struct way way;
};

static const char *try_text(const struct trial *trial, const struct awkward_text *awkward,
                            struct mt_text *text, struct mt_text *out)
{
    *text = (struct mt_text){0};
    awkward_write(awkward, text);
    *out = translate(&trial->way, text);
    return trial->property->check(&trial->way, text, out);
}

static bool fails(void *context, const struct awkward_text *awkward)
{
    struct mt_text text, out;
    bool has_failed = try_text(context, awkward, &text, &out) != NULL;
    mt_text_finish(&text);
    mt_text_finish(&out);
    return has_failed;
}

/* What nobody would see as \x.. */
static void append_visible(struct mt_text *out, const struct mt_text *text)
{
    for (size_t at = 0, n; at < text->length; at += n) {
        uint32_t c = mt_utf8_decode(text->bytes + at);
        n = mt_utf8_length((unsigned char)text->bytes[at]);
        if (c == '\\')
            mt_text_append_string(out, "\\\\");
        else if (c < ' ' || (c >= 0x7F && c <= 0xA0))
            mt_text_appendf(out, "\\x%02X", (unsigned)c);
        else if ((c >= 0x300 && c < 0x370) || (c >= 0x2000 && c < 0x2010) || c >= 0xFE00 ||
                 c == 0xAD || c == 0x61C || c == 0x2060 || c == 0x202F || c == 0x3000)
            mt_text_appendf(out, "\\u{%X}", (unsigned)c);
        else
            mt_text_append(out, text->bytes + at, n);
    }
}

/* The smallest part of a text that fails, as a line of the report, unless it has that already. */
static size_t report(const struct trial *trial, struct awkward_text *awkward, struct mt_text *lines)
{
    struct mt_text text, out, line = {0};
    struct trial same = *trial;
    awkward_minimise(awkward, fails, &same);
    const char *reason = try_text(trial, awkward, &text, &out);
    mt_text_appendf(&line, "%s: [", trial->property->name);
    append_visible(&line, &text);
    mt_text_append_string(&line, "] -> [");
    append_visible(&line, &out);
    mt_text_appendf(&line, "] %s (%s", reason, format_names[trial->way.format]);
    bool is_new = !lines->bytes || !strstr(lines->bytes, line.bytes);
    mt_text_appendf(&line, ", split %s%s)\n", split_names[trial->way.split],
                    trial->way.post_edits ? ", post-edited" : "");
    if (is_new)
        mt_text_append(lines, line.bytes, line.length);
    mt_text_finish(&text);
    mt_text_finish(&out);
    mt_text_finish(&line);
    return is_new;
}

/* One text in so many, for builds that are slow; has no divisor in common with 2 or 3, by which texts take turns. */
static size_t one_in(void)
{
    const char *n = getenv("MT_TEST_ONE_IN");
    return n ? strtoul(n, NULL, 10) : 1;
}

/* Of each property a run for each format. */
START_TEST(every_text_comes_back_whole)
{
    const struct property *property = &properties[_i / AWKWARD_FORMATS];
    struct trial trial = {.property = property,
                          .way = {.format = (enum awkward_format)(_i % AWKWARD_FORMATS)}};
    size_t n_texts = getenv("MT_TEST_FULL") ? N_ALL_TEXTS : N_TEXTS, n_failed = 0, n_shown = 0;
    struct mt_text lines = {0};
    fake_answer_with(property->answer);
    for (size_t i = 0; i < n_texts && n_shown < MAX_SHOWN; i += one_in()) {
        struct awkward_text awkward;
        trial.way.split = (enum mt_split)(i % (sizeof split_names / sizeof *split_names));
        trial.way.post_edits = property->edits && i % 2;
        awkward_make((uint32_t)i, trial.way.format, &awkward);
        if (!fails(&trial, &awkward))
            continue;
        n_failed++;
        n_shown += report(&trial, &awkward, &lines);
    }
    if (n_failed > 0)
        fputs(lines.bytes, stderr);
    mt_text_finish(&lines);
    ck_assert_uint_eq(n_failed, 0);
}
END_TEST

/* ---- texts that once failed ---- */

/* The smallest parts of them. */
static const struct {
    struct way way;
    const char *text;
} mended[] = {
    {{AWKWARD_PLAIN, MT_SPLIT_OFF, false}, "—Übung \n- "},
    {{AWKWARD_PLAIN, MT_SPLIT_OFF, false}, "—Übung【Test】\n- "},
    {{AWKWARD_HTML, MT_SPLIT_ON, false}, "'house'<pre>a  b</pre>&x;‘&x;"},
    {{AWKWARD_HTML, MT_SPLIT_OFF, false}, "Übung&</font>"},
    {{AWKWARD_HTML, MT_SPLIT_OFF, false}, "H<sub>2</sub>O<i>it</i>H<sub>2</sub>O"},
    {{AWKWARD_SRT, MT_SPLIT_OFF, false}, "$VARcafe\u0301<Übung"},
    {{AWKWARD_SRT, MT_SPLIT_ON, false}, "ano no no 👍🏽’na<i>me</i>"},
    {{AWKWARD_VTT, MT_SPLIT_OFF, false}, "no no no ✓\u00ADthat that"},
};

START_TEST(texts_that_once_failed_come_back_whole)
{
    struct mt_text text = {0};
    const struct way *way = &mended[_i].way;
    mt_text_append_string(&text, mended[_i].text);
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++) {
        fake_answer_with(properties[k].answer);
        struct mt_text out = translate(way, &text);
        const char *reason = properties[k].check(way, &text, &out);
        ck_assert_msg(!reason, "%s: [%s] -> [%s] %s", properties[k].name, text.bytes, out.bytes,
                      reason);
        mt_text_finish(&out);
    }
    mt_text_finish(&text);
}
END_TEST

/* ---- real pages ---- */

/* Our own, or all of a directory (tests/tools/real_pages.py). */
static const char *const own_pages[] = {"server/web/index.html", "server/web/docs.html"};

struct page {
    char path[1024];
    struct mt_text text;
    size_t n_failed;
};

static bool read_page(struct page *page)
{
    struct mt_error err;
    char *bytes;
    size_t length;
    ck_assert_msg(!mt_file_read(page->path, (size_t)1 << 28, &bytes, &length, &err), "%s",
                  err.message);
    bool is_utf8 = mt_utf8_valid_prefix(bytes, length) == length && !memchr(bytes, '\0', length);
    page->text = (struct mt_text){0};
    mt_text_append(&page->text, bytes, length);
    free(bytes);
    return is_utf8;
}

static void fail_page(struct page *page, const char *property, const char *reason,
                      const struct mt_text *text, const struct mt_text *out)
{
    if (page->n_failed++ < MAX_SHOWN)
        fprintf(stderr, "%s: %s: %s: [%.*s] -> [%.*s]\n", page->path, property, reason,
                (int)mt_utf8_valid_prefix(text->bytes, mt_size_min(text->length, 3000)),
                text->bytes, (int)mt_utf8_valid_prefix(out->bytes, mt_size_min(out->length, 3000)),
                out->bytes);
}

static void try_identity(struct page *page, bool post_edits)
{
    const struct way way = {.format = AWKWARD_HTML, .post_edits = post_edits};
    fake_answer_with(FAKE_IDENTITY);
    struct mt_text out = translate(&way, &page->text);
    size_t at = 0;
    while (at < out.length && at < page->text.length && out.bytes[at] == page->text.bytes[at])
        at++;
    const struct mt_text from = {.bytes = page->text.bytes + at, .length = page->text.length - at};
    const struct mt_text to = {.bytes = out.bytes + at, .length = out.length - at};
    if (from.length > 0 || to.length > 0)
        fail_page(page, "identity", "not the same", &from, &to);
    mt_text_finish(&out);
}

/* Of each text by itself: what the checks take grows with the square of its length. */
static void try_marking(struct page *page)
{
    const struct way way = {.format = AWKWARD_HTML};
    struct mt_coded coded;
    ck_assert_int_eq(read_text(AWKWARD_HTML, &page->text, &coded, NULL), MT_OK);
    fake_answer_with(FAKE_MARKING);
    for (size_t i = 0; i < coded.n; i++) {
        struct mt_range range = coded.segments[i].range;
        struct mt_text text = {0};
        mt_text_append(&text, page->text.bytes + range.begin, range.end - range.begin);
        if (strstr(text.bytes, FAKE_OPENING) || strstr(text.bytes, FAKE_CLOSING)) {
            mt_text_finish(&text);
            continue;
        }
        struct mt_text out = translate(&way, &text);
        const char *reason = check_marks(&way, &text, &out);
        if (reason)
            fail_page(page, "marking", reason, &text, &out);
        mt_text_finish(&text);
        mt_text_finish(&out);
    }
    mt_coded_finish(&coded);
}

static size_t count_failures(struct page *page)
{
    if (!read_page(page))
        fprintf(stderr, "%s: not read, it is no UTF-8\n", page->path);
    else {
        try_identity(page, false);
        try_identity(page, true);
        try_marking(page);
    }
    mt_text_finish(&page->text);
    return page->n_failed;
}

START_TEST(pages_come_back_whole)
{
    const char *directory = getenv("MT_TEST_PAGES"), *root = getenv("MT_SOURCE_DIR");
    struct dirent *entry;
    size_t n_failed = 0;
    DIR *list = directory ? opendir(directory) : NULL;
    ck_assert(list || !directory);
    for (size_t i = 0; !list && i < sizeof own_pages / sizeof *own_pages; i++) {
        struct page page = {0};
        snprintf(page.path, sizeof page.path, "%s/%s", root ? root : ".", own_pages[i]);
        n_failed += count_failures(&page);
    }
    while (list && (entry = readdir(list))) {
        struct page page = {0};
        snprintf(page.path, sizeof page.path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            n_failed += count_failures(&page);
    }
    if (list)
        closedir(list);
    ck_assert_uint_eq(n_failed, 0);
}
END_TEST

/* ---- time ---- */

/* A sanitizer takes ten times as long. */
#define LONG_BYTES (MT_IS_SANITIZED ? 20000 : 60000)
#define MAX_RATIO 3 /* of the times for a text and for half of it */
#define MAX_SECONDS 1
#define LEAST_SECONDS .25 /* the clock says nothing about less */

/* What people repeat; with MT_TEST_FULL=1, besides, the pieces of the grammars. */
/* clang-format off */
static const char *const repeated[] = {
    "a ", "5 - ", "Hello. ", "- ", "- A. ", "1) ", "a) ", "(a", "[a] ", "*a* A ", "<", "<b>",
    "<b> ", "</b>", "<a ", "<a href=\"", "<!-- ", "{", "{{", "{x} ", "{n, plural, one {", "[",
    "[a](", "[b]", "(", "|", "| a ", "`", "```\n", "5", "5 ", "5 < ", "1.", "& ", "&lt;", "&lt;b",
    "&lt;b&gt;", "\"", "\"a\" ", "'", "\xC2\xAB ", "\xC2\xBB ", "> ", ">> A ", "# ", "#a ", "@a ",
    ":a:", "$a ", "%a%", "\\n", "a\\na", "\\\\n", "\t", "\n", "\r\n", "... ", "....", "!", "?! ",
    "_", "__a__ ", "~~", "a.b ", "a@b ", "f(1 ", "=== ", "--- ", "a = b ", "no ", "USB ",
    "5 USD ", "a_b ", "\xE2\x98\x85 ", "\xC2\xBD", "\xD0\xB0 ", "\xE6\x97\xA5", "\xE2\x80\x8B",
    "\xEF\xBB\xBF", "\xE3\x80\x90\x61", "\xF0\x9F\x98\x80", "\xCC\x81", "http://a.b ",
    "\xE2\x80\x9C", "A. a\n", "fig. 3 ", "9am ", "Tom,35,", "@:a.", "US$ 1 ", "5,5 ", "[ ] ", "___/",
    ". ", "1 2 ", "x = 1;\n", "   a", "\xE2\x80\xB9"};
/* clang-format on */
#define N_REPEATED (sizeof repeated / sizeof *repeated)

/* CPU seconds that a text takes which is nothing but the piece. */
static double time_text(const struct way *way, const char *piece, size_t length)
{
    struct mt_text text = {0};
    struct timespec begin, end;
    mt_text_append_string(&text, "A ");
    while (text.length + strlen(piece) < length)
        mt_text_append_string(&text, piece);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    struct mt_text out = translate(way, &text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    mt_text_finish(&text);
    mt_text_finish(&out);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* Once more where the machine may have been busy. */
static void check_time(const struct way *way, const char *piece)
{
    double whole = 0, half = 0;
    for (size_t n_tries = 0; n_tries < 3; n_tries++) {
        whole = time_text(way, piece, LONG_BYTES);
        if (whole < LEAST_SECONDS)
            return;
        half = time_text(way, piece, LONG_BYTES / 2);
        if (whole < MAX_RATIO * half && (whole < MAX_SECONDS || MT_IS_SANITIZED))
            return;
    }
    ck_abort_msg("%s, %s: %.2f s, and %.2f s for half of it", format_names[way->format], piece,
                 whole, half);
}

START_TEST(time_grows_with_the_length)
{
    const struct way way = {.format = (enum awkward_format)_i};
    const char *piece;
    fake_answer_with(FAKE_IDENTITY);
    for (size_t i = 0; i < N_REPEATED; i++)
        check_time(&way, repeated[i]);
    for (size_t i = 0; getenv("MT_TEST_FULL") && (piece = awkward_piece(way.format, i)); i++)
        check_time(&way, piece);
}
END_TEST

/* "Monday - Friday" was shown, and has the source's dash. */
START_TEST(days_keep_their_dash)
{
    const struct way way = {.format = AWKWARD_PLAIN, .split = MT_SPLIT_ON, .post_edits = true};
    struct mt_text text = {0};
    fake_answer_with(FAKE_MARKING);
    mt_text_append_string(&text, "Open Monday\u2013Fri now");
    struct mt_text out = translate(&way, &text);
    ck_assert_msg(strstr(out.bytes, FAKE_OPENING "Monday" FAKE_CLOSING "\u2013" FAKE_OPENING
                                                 "Friday" FAKE_CLOSING),
                  "%s", out.bytes);
    mt_text_finish(&text);
    mt_text_finish(&out);
}
END_TEST

Suite *suite_passage_properties(void)
{
    Suite *suite = suite_create("passage_properties");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600);
    tcase_add_unchecked_fixture(all, text_properties_open, text_properties_close);
    tcase_add_loop_test(all, every_text_comes_back_whole, 0,
                        (int)(sizeof properties / sizeof *properties) * AWKWARD_FORMATS);
    tcase_add_loop_test(all, texts_that_once_failed_come_back_whole, 0,
                        (int)(sizeof mended / sizeof *mended));
    tcase_add_test(all, days_keep_their_dash);
    suite_add_tcase(suite, all);
    TCase *pages = tcase_create("pages");
    tcase_set_timeout(pages, getenv("MT_TEST_PAGES") ? 3600 : 600);
    tcase_add_unchecked_fixture(pages, text_properties_open, text_properties_close);
    tcase_add_test(pages, pages_come_back_whole);
    suite_add_tcase(suite, pages);
    TCase *time = tcase_create("time");
    tcase_set_timeout(time, 600);
    tcase_add_unchecked_fixture(time, text_properties_open, text_properties_close);
    tcase_add_loop_test(time, time_grows_with_the_length, AWKWARD_PLAIN, AWKWARD_HTML + 1);
    suite_add_tcase(suite, time);
    return suite;
}
