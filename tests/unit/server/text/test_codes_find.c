/* Codes in words: a table of what is found (codes.txt), and what holds for every text. */
#include "server/text/codes/codes_find.h"
#include "server/text/html/html_reader.h"
#include "server/text/codes/reading.h"
#include "server/text/terms.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#include <time.h>

static struct mt_tokenizer *bundled;
static struct mt_error err;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", err.message);
}

static const char *in_source(const char *name)
{
    static char path[1024];
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    return path;
}

static void open_tokenizer(void)
{
    must(tokenizer_open_directory(in_source("weights/en-de"), &bundled, &err));
}

static void close_tokenizer(void)
{
    mt_tokenizer_close(bundled);
}

/* ---- what holds for all codes ---- */

static bool is_boundary(const struct mt_coded_segment *segment, size_t at)
{
    return at == segment->words.length || (segment->words.bytes[at] & 0xC0) != 0x80;
}

static void check_mate(const struct mt_coded_segment *segment, size_t i, const char *words)
{
    const struct mt_code *code = &segment->codes[i];
    bool is_half = code->kind == MT_CODE_OPEN || code->kind == MT_CODE_CLOSE;
    ck_assert_msg(is_half == (code->mate != MT_NO_MATE), "%s: mate of %zu", words, i);
    if (!is_half)
        return;
    ck_assert_uint_lt(code->mate, segment->n);
    const struct mt_code *mate = &segment->codes[code->mate];
    ck_assert_msg(mate->mate == i && mate->kind != code->kind, "%s: mate of %zu", words, i);
    ck_assert_msg((code->kind == MT_CODE_OPEN) == (i < code->mate), "%s: mate of %zu", words, i);
}

/* Ascending; of two that overlap one lies within the other, with its mate; pairs nest. */
static void check_codes(const struct mt_coded_segment *segment)
{
    const char *words = segment->words.bytes;
    size_t *open = calloc(segment->n + 1, sizeof *open), n_open = 0;
    size_t outer = MT_NO_MATE;
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i];
        ck_assert_msg(code->at.begin <= code->at.end && code->at.end <= segment->words.length &&
                          is_boundary(segment, code->at.begin) &&
                          is_boundary(segment, code->at.end),
                      "%s: code %zu", words, i);
        ck_assert_msg(i == 0 || segment->codes[i - 1].at.begin <= code->at.begin, "%s: order",
                      words);
        check_mate(segment, i, words);
        if (outer != MT_NO_MATE && code->at.begin < segment->codes[outer].at.end) {
            ck_assert_msg(code->at.end <= segment->codes[outer].at.end, "%s: %zu overlaps", words,
                          i);
            ck_assert_msg(
                code->mate == MT_NO_MATE ||
                    (segment->codes[code->mate].at.begin > segment->codes[outer].at.begin &&
                     segment->codes[code->mate].at.begin < segment->codes[outer].at.end),
                "%s: half of a pair in %zu", words, outer);
        } else if (code->at.end > code->at.begin) {
            outer = i;
        }
        if (code->kind == MT_CODE_OPEN)
            open[n_open++] = i;
        else if (code->kind == MT_CODE_CLOSE)
            ck_assert_msg(n_open > 0 && open[--n_open] == code->mate, "%s: pairs cross", words);
    }
    free(open);
}

/* ---- the table ---- */

/* Each code that was found in brackets, its kind before it. */
static void show(const struct mt_coded_segment *segment, struct mt_text *out)
{
    static const char kinds[] = {
        [MT_CODE_OPEN] = 'O', [MT_CODE_CLOSE] = 'C',  [MT_CODE_POINT] = 'P',
        [MT_CODE_WORD] = 'W', [MT_CODE_NUMBER] = 'N', [MT_CODE_EDGE] = 'E',
        [MT_CODE_TERM] = 'T', [MT_CODE_REPEAT] = 'R'};
    static const char forms[] = {
        [MT_CODE_LOCAL_NUMBER] = '#', [MT_CODE_OPENING_QUOTE] = 'Q', [MT_CODE_CLOSING_QUOTE] = 'q'};
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i];
        if (code->bytes.end > code->bytes.begin)
            continue; /* the reader's */
        ck_assert_uint_lt(code->at.begin, code->at.end);
        bool is_plain = code->form == MT_CODE_AS_IT_IS;
        char kind = is_plain                       ? kinds[code->kind]
                    : code->kind == MT_CODE_NUMBER ? 'n'
                    : code->kind == MT_CODE_WORD   ? 'w'
                                                   : forms[code->form];
        mt_text_appendf(out, "%s%c[%.*s]", out->length > 0 ? " " : "", kind,
                        (int)(code->at.end - code->at.begin),
                        segment->words.bytes + code->at.begin);
    }
}

struct looking {
    struct mt_tokenizer *tokenizer;
    const char *language;
    bool is_html, leaves_all;
    struct mt_terms *terms;
};

static void look(const struct looking *looking, const char *source, size_t length,
                 struct mt_text *out)
{
    const struct mt_coded_options reading = {.max_tags = 100000};
    const struct mt_codes_options options = {.tokenizer = looking->tokenizer,
                                             .source_lang = looking->language,
                                             .finds_codes = !looking->leaves_all,
                                             .terms = looking->terms};
    struct mt_coded coded = {0};
    must((looking->is_html ? mt_read_html : mt_read_plain)(source, length, &reading, &coded, &err));
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded.n; i++) {
        struct mt_text *words =
            &coded.segments[i].words; /* the sanitizer sees what is read behind */
        words->capacity = words->length + 1;
        words->bytes = realloc(words->bytes, words->capacity);
        must(mt_codes_find(&coded.segments[i], &options, &err));
        check_codes(&coded.segments[i]);
        show(&coded.segments[i], out);
    }
    mt_coded_finish(&coded);
}

/* Control characters as Unicode's pictures of them. */
static void replace(char *text, const char *what, char by)
{
    for (char *at = text; (at = strstr(at, what)); at++) {
        *at = by;
        memmove(at + 1, at + strlen(what), strlen(at + strlen(what)) + 1);
    }
}

START_TEST(table)
{
    struct looking looking = {.language = "en"};
    char *lines, *rest, *line;
    size_t length, number = 0, n_wrong = 0, n_rows = 0;
    must(mt_file_read(in_source("tests/unit/server/text/codes.txt"), 1 << 20, &lines, &length,
                      &err));
    for (rest = lines; (line = strsep(&rest, "\n"));) {
        number++;
        if (strncmp(line, "=== ", 4) == 0) {
            looking.tokenizer = strstr(line, "bundled") ? bundled : NULL;
            looking.is_html = strstr(line, "html") != NULL;
            looking.language = strstr(line, "German")     ? "de"
                               : strstr(line, "French")   ? "fr"
                               : strstr(line, "Japanese") ? "ja"
                                                          : "en";
            continue;
        }
        char *codes = strstr(line, "\xE2\x87\xA8"); /* an arrow, with blanks around it */
        if (!codes || line[0] == ';')
            continue;
        char *end = codes;
        while (end > line && end[-1] == ' ')
            end--;
        *end = '\0';
        codes += 3;
        while (*codes == ' ')
            codes++;
        replace(line, "\xE2\x90\xA4", '\n');
        replace(line, "\xE2\x90\x89", '\t');
        replace(codes, "\xE2\x90\xA4", '\n');
        replace(codes, "\xE2\x90\x89", '\t');
        struct mt_text seen = {0};
        look(&looking, line, strlen(line), &seen);
        n_rows++;
        if (strcmp(seen.bytes, codes) != 0) {
            n_wrong++;
            printf("codes.txt:%zu: %s\n  found    %s\n  expected %s\n", number, line, seen.bytes,
                   codes);
        }
        mt_text_finish(&seen);
    }
    free(lines);
    ck_assert_uint_gt(n_rows, 300);
    ck_assert_uint_eq(n_wrong, 0);
}
END_TEST

/* ---- any text ---- */

static const char *const pieces[] = {"<p>H<sub>2</sub>O",
                                     "<sub>2</sub>",
                                     "a",
                                     "b",
                                     "word",
                                     "Word",
                                     "no",
                                     "5",
                                     "3.5",
                                     "1,234",
                                     "\xC3\xA9t\xC3\xA9",
                                     "<b>",
                                     "</b>",
                                     "<i>",
                                     "</i>",
                                     "<br>",
                                     "<x/>",
                                     "<3",
                                     "<",
                                     ">",
                                     "<code>",
                                     "</code>",
                                     "&",
                                     "&amp;",
                                     "|",
                                     "||",
                                     "`",
                                     "``",
                                     "```",
                                     "*",
                                     "**",
                                     "_",
                                     "__",
                                     "~~",
                                     "[",
                                     "]",
                                     "](",
                                     ")",
                                     "(",
                                     "![",
                                     "[b]",
                                     "[/b]",
                                     "{",
                                     "}",
                                     "{{",
                                     "}}",
                                     "{x}",
                                     "{n, plural, one {",
                                     "} other {",
                                     "}}",
                                     "#",
                                     "{%",
                                     "%}",
                                     "%s",
                                     "%",
                                     "{\\i1}",
                                     "{\\i0}",
                                     "\\n",
                                     "\\",
                                     "\n",
                                     "\t",
                                     " ",
                                     " ",
                                     " ",
                                     "...",
                                     "....",
                                     "____",
                                     "-",
                                     "--",
                                     "- ",
                                     "> ",
                                     "1. ",
                                     ":smile:",
                                     "@you",
                                     "#tag",
                                     "$HOME",
                                     "$5",
                                     "USD",
                                     "No.",
                                     "=",
                                     "==",
                                     "+",
                                     "\"",
                                     "'",
                                     ".",
                                     ",",
                                     "!",
                                     "?",
                                     ":",
                                     "x^2",
                                     "f()",
                                     "a.com",
                                     "camelCase",
                                     "\xE2\x82\x82",
                                     "\xC3\x97",
                                     "\xC2\xBD",
                                     "\xE2\x99\xAA",
                                     "\xE2\x86\x92",
                                     "\xE6\x97\xA5\xE6\x9C\xAC",
                                     "\xE3\x80\x8C",
                                     "\xE3\x80\x8D",
                                     "\xC2\xAB",
                                     "\xC2\xBB",
                                     "\xE2\x80\x9C",
                                     "\xD0\x9C\xD0\xBE",
                                     "\xE2\x80\x8D",
                                     "\xEF\xB8\x8F",
                                     "\xF0\x9F\x98\x80",
                                     "\xE2\x84\xA2",
                                     "\xCC\x81",
                                     "\xE2\x80\x99",
                                     "\xE2\x80\xA2",
                                     "\xC2\xA0",
                                     "http://a.b",
                                     "<a href=\"x\">",
                                     "</a>",
                                     "<p>",
                                     "</p>",
                                     "[[",
                                     "]]",
                                     "[x]",
                                     "[/x]",
                                     "{{x}}",
                                     "{{/x}}",
                                     "$$",
                                     "\\(",
                                     "\\textbf{",
                                     "=A1(",
                                     "$A$1",
                                     "::a",
                                     "!a",
                                     "&&",
                                     "~2~",
                                     "YY-MM",
                                     "\u00a7a",
                                     "---",
                                     "a: b",
                                     "[!NOTE]",
                                     ".. a::",
                                     "git push",
                                     "-b"};
#define N_PIECES (sizeof pieces / sizeof *pieces)

static void append_random(struct mt_text *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mt_text_append_string(text, pieces[(size_t)rand() % N_PIECES]);
        if (rand() % 3 == 0)
            mt_text_append_string(text, " ");
    }
}

START_TEST(any_text)
{
    struct mt_terms *terms;
    must(mt_terms_create(&terms, &err));
    must(mt_terms_add(terms, "t", "word", "Wort", &err));
    must(mt_terms_add(terms, "t", "a b", NULL, &err));
    srand(42);
    for (size_t i = 0; i < 20000; i++) {
        const struct looking looking = {.tokenizer = i % 3 ? bundled : NULL,
                                        .language = "en",
                                        .is_html = i % 2 == 1,
                                        .leaves_all = i % 16 == 0,
                                        .terms = i % 4 == 0 ? terms : NULL};
        struct mt_text text = {0}, seen = {0};
        append_random(&text, 1 + (size_t)rand() % 24);
        look(&looking, text.bytes, text.length, &seen);
        mt_text_finish(&text);
        mt_text_finish(&seen);
    }
    mt_terms_destroy(terms);
}
END_TEST

static const char *const repeated[] = {"5 - ",
                                       ".... ",
                                       "\xE2\x98\x85 -- ",
                                       "-- ",
                                       "USB ",
                                       "\xC2\xAB ",
                                       "*",
                                       "*a ",
                                       "_",
                                       "~~",
                                       "`",
                                       "`a",
                                       "<",
                                       "<a ",
                                       "<a \"",
                                       "> ",
                                       "|",
                                       "[",
                                       "[a](",
                                       "{",
                                       "{x",
                                       "{n, plural, one {",
                                       "#a",
                                       "@",
                                       ":a",
                                       "%a",
                                       "$a(",
                                       "$",
                                       "(",
                                       "a(b ",
                                       "5 ",
                                       "5.",
                                       "5 < ",
                                       "x^",
                                       "no ",
                                       "...",
                                       "_ ",
                                       "\xC2\xBD",
                                       "\xE2\x86\x92 ",
                                       "\xE6\x97\xA5 ",
                                       "\xE3\x80\x8C",
                                       "\"a ",
                                       "\\n",
                                       "1. ",
                                       "```\n",
                                       "[[",
                                       "[x]",
                                       "{{x}}",
                                       "$$",
                                       "$a ",
                                       "\\(",
                                       "\\textbf{",
                                       "=A(",
                                       "A1:",
                                       "YY-",
                                       "List<",
                                       "::a ",
                                       "!a ",
                                       "a~",
                                       "git -b ",
                                       "---\n",
                                       "a: b\n",
                                       "\xC2\xA0",
                                       "\t"};

/* What takes the square of a text's length would take minutes. */
START_TEST(long_text)
{
    const struct looking looking = {.tokenizer = bundled, .language = "en"};
    struct mt_text text = {0}, seen = {0};
    mt_text_append_string(&text, "a ");
    while (text.length < 200000)
        mt_text_append_string(&text, repeated[_i]);
    mt_text_append_string(&text, " b");
    clock_t begin = clock();
    look(&looking, text.bytes, text.length, &seen);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ck_assert_msg(seconds < 10, "%s: %f s", repeated[_i], seconds);
    mt_text_finish(&text);
    mt_text_finish(&seen);
}
END_TEST

/* ---- terms ---- */

static const struct {
    const char *words, *codes;
} with_terms[] = {
    {"The train station's clock", "T[train station]"},
    {"Open report.pdf at the train station", "W[report.pdf] T[train station]"},
    {"Use foo_bar here", "T[foo_bar]"},        /* the same place: the term */
    {"See foo_bar baz now", "T[foo_bar baz]"}, /* the longer one */
    {"Say <b>train station</b>!", "O[<b>] T[train station] C[</b>]"},
    {"Say train <b>station</b>!", "O[<b>] C[</b>]"},
    {"foo {x} foo {y}", "T[foo] W[{x}] T[foo] W[{y}]"},
    {"a {n} b {x}", "T[a {n} b] W[{x}]"},
    {"tom@example.com later", "W[tom@example.com]"},
    {"tom@example.com now", "T[tom@example.com now]"},
    {"see http://foo/ foo", "W[http://foo/] T[foo]"},
    {"train station > Berlin Main", "T[train station] E[>]"},
};

START_TEST(terms_beside_codes)
{
    struct mt_terms *terms;
    must(mt_terms_create(&terms, &err));
    must(mt_terms_add(terms, "t", "train station", "Bahnhof", &err));
    must(mt_terms_add(terms, "t", "foo", NULL, &err));
    must(mt_terms_add(terms, "t", "a {n} b", NULL, &err));
    must(mt_terms_add(terms, "t", "tom@example.com now", NULL, &err));
    must(mt_terms_add(terms, "t", "foo_bar", NULL, &err));
    must(mt_terms_add(terms, "t", "foo_bar baz", NULL, &err));
    for (size_t i = 0; i < sizeof with_terms / sizeof *with_terms; i++) {
        struct mt_text seen = {0};
        look(&(struct looking){.tokenizer = bundled, .language = "en", .terms = terms},
             with_terms[i].words, strlen(with_terms[i].words), &seen);
        ck_assert_str_eq(seen.bytes, with_terms[i].codes);
        mt_text_finish(&seen);
    }
    struct mt_text seen = {0};
    look(&(struct looking){.terms = terms, .leaves_all = true}, "a train station {x}", 19, &seen);
    ck_assert_str_eq(seen.bytes, "T[train station]");
    mt_text_finish(&seen);
    mt_terms_destroy(terms);
}
END_TEST

/* ---- reading ---- */

/* Of days: each as the model is shown it. */
static const char *const days[][2] = {
    {"Mon\u2013Fri 9\u201317, Sat 9", "Monday - Friday 9\u201317, Saturday 9"},
    {"Monday-Friday", "Monday - Friday"},
    {"Sat 9-13", "Saturday 9-13"},
    {"Tues, Thurs & Sun", "Tuesday, Thursday & Sunday"},
    {"Sun - Mon", "Sunday - Monday"},
    {"Sat down on Sun\n3", "Sat down on Sun\n3"},
    {"The Sun\u2013Earth line, Wedding-Friday", "The Sun\u2013Earth line, Wedding-Friday"},
    {"Monday \u2013 Friday", "Monday \u2013 Friday"},
    {"Fri", "Fri"},
    {"Due Dec. 31, 5 Nov", "Due December 31, 5 November"},
    {"Jan\u2013Feb", "January - February"},
    {"Jan Smith, Dec.", "Jan Smith, Dec."},
    {"Fri, 3 Mar", "Friday, 3 March"},
    {"Wed. & Thu.", "Wednesday & Thursday."},
    {"A3 Dec, BMon", "A3 December, BMon"},
    {"Sat closed, Sun: closed", "Saturday closed, Sunday: closed"},
    {"No. of items, no. of", "Number of items, no. of"},
    {"He sat closed", "He sat closed"},
    {"January\u2013March", "January - March"},
};

START_TEST(short_forms_are_shown_in_full)
{
    const char *text = days[_i][0], *as;
    struct mt_text shown = {0};
    size_t length = strlen(text);
    for (size_t at = 0, n; at < length; at += n ? n : 1) {
        n = mt_reading_of_short_forms(bundled, text, at, length, &as);
        mt_text_append(&shown, n ? as : text + at, n ? strlen(as) : 1);
    }
    ck_assert_str_eq(shown.bytes, days[_i][1]);
    mt_text_finish(&shown);
}
END_TEST

START_TEST(reading)
{
    const char *as = NULL;
    ck_assert_int_eq(mt_reading_of(bundled, 0xE9, &as), MT_READS_AS);
    ck_assert_str_eq(as, "e");
    ck_assert_int_eq(mt_reading_of(bundled, 0x2011, &as), MT_READS_AS);
    ck_assert_str_eq(as, "-");
    ck_assert_int_eq(mt_reading_of(bundled, 0x65E5, &as), MT_READS_NOT);
    ck_assert_int_eq(mt_reading_of(bundled, 0xFE0F, &as), MT_INVISIBLE);
    ck_assert_int_eq(mt_reading_of(bundled, 'e', &as), MT_READS);
    ck_assert_int_eq(mt_reading_of(NULL, 0x65E5, &as), MT_READS);
}
END_TEST

Suite *suite_codes_find(void)
{
    Suite *suite = suite_create("codes_find");
    TCase *tests = tcase_create("codes_find");
    tcase_add_unchecked_fixture(tests, open_tokenizer, close_tokenizer);
    tcase_set_timeout(tests, 60); /* a busy machine */
    tcase_add_test(tests, table);
    tcase_add_loop_test(tests, short_forms_are_shown_in_full, 0, sizeof days / sizeof *days);
    tcase_add_test(tests, any_text);
    tcase_add_loop_test(tests, long_text, 0, sizeof repeated / sizeof *repeated);
    tcase_add_test(tests, terms_beside_codes);
    tcase_add_test(tests, reading);
    suite_add_tcase(suite, tests);
    return suite;
}
