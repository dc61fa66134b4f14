#include "server/text/terms.h"

#include "base/text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

static struct mt_error err;
static struct mt_terms *terms;

#define STREET "stra\xC3\x9F\x65" /* straße */

static void setup(void)
{
    static const char *const sources[] = {
        "train", "train station", "Apple", STREET, "C++", "\xE7\x81\xAB\xE8\xBD\xA6", "a b c"};
    ck_assert_int_eq(mt_terms_create(&terms, &err), MT_OK);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        ck_assert_int_eq(mt_terms_add(terms, "glossary", sources[i], "X", &err), MT_OK);
}

static void teardown(void)
{
    mt_terms_destroy(terms);
}

/* What is found, each in brackets with its term's number. */
static const struct {
    const char *text, *found;
    bool crosses_lines;
} cases[] = {
    {"", "", false},
    {"no such thing", "", false},
    {"a train.", "0[train]", false},
    {"train", "0[train]", false},
    /* Word boundaries. */
    {"trains, trainer, strain, train2, train_x", "", false},
    {"(train)-train/train", "0[train]0[train]0[train]", false},
    {"the train's, l'train, train\xE2\x80\x99s", "0[train]0[train]0[train]", false},
    {"the tra\xC3\xAFn and traine\xCC\x81", "", false},
    {"C++, C, C++!", "4[C++]4[C++]", false},
    /* Scripts without blanks: ICU's dictionary. */
    {"\xE5\x9D\x90\xE7\x81\xAB\xE8\xBD\xA6", "5[\xE7\x81\xAB\xE8\xBD\xA6]", false},
    /* The longest, and then the next behind it. */
    {"train station train", "1[train station]0[train]", false},
    {"train stations", "0[train]", false},
    /* Case: in lower case any, else as written. */
    {"TRAIN Station Train", "1[TRAIN Station]0[Train]", false},
    {"apple Apple APPLE", "2[Apple]", false},
    {"STRA\xE1\xBA\x9E"
     "E",
     "3[STRA\xE1\xBA\x9E"
     "E]",
     false},
    /* Blanks. */
    {"train \t station", "1[train \t station]", false},
    {"trainstation", "", false},
    {"train\xC2\xA0station", "1[train\xC2\xA0station]", false},
    {"train\nstation", "0[train]", false},
    {"train\nstation", "1[train\nstation]", true},
    {"a b a b c", "6[a b c]", false},
    {"train ", "0[train]", false},
};

START_TEST(terms_are_found_between_word_boundaries)
{
    struct mt_text found = {0};
    const char *text = cases[_i].text;
    mt_text_append(&found, "", 0);
    mt_terms_search(terms, text, strlen(text), cases[_i].crosses_lines);
    for (size_t from = 0;;) {
        struct mt_term_match match = mt_terms_find(terms, from);
        if (match.term == MT_NO_TERM) {
            ck_assert_uint_eq(match.begin, strlen(text));
            break;
        }
        mt_text_appendf(&found, "%zu[%.*s]", match.term, (int)(match.end - match.begin),
                        text + match.begin);
        from = match.end;
    }
    ck_assert_str_eq(found.bytes, cases[_i].found);
    mt_text_finish(&found);
}
END_TEST

START_TEST(every_text_is_searched_for_itself)
{
    char text[] = "a train";
    for (int i = 0; i < 2; i++) {
        mt_terms_search(terms, text, sizeof text - 1, false);
        ck_assert_uint_eq(mt_terms_find(terms, 0).begin, i ? 7 : 2);
        memcpy(text, "atrains", 7); /* the same memory, as a parser's */
    }
}
END_TEST

static void check_refused(const char *source, const char *target, const char *message)
{
    ck_assert_int_eq(mt_terms_add(terms, "glossary", source, target, &err), MT_INVALID);
    ck_assert_str_eq(err.message, message);
}

START_TEST(wrong_terms_are_refused)
{
    char longest[MT_MAX_TERM_BYTES + 2];
    memset(longest, 'x', sizeof longest);
    longest[MT_MAX_TERM_BYTES + 1] = '\0';
    check_refused(" ", "x", "glossary: found a blank term, expected words");
    check_refused("x", "", "glossary: found a blank term, expected words");
    check_refused("train", "Zug",
                  "glossary: \"train\" is to become \"Zug\", but before it was to "
                  "become \"X\"");
    check_refused("train", NULL,
                  "glossary: \"train\" is to become \"train\", but before it was to "
                  "become \"X\"");
    check_refused(
        longest, "x",
        "glossary: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is 1025 bytes, at most "
        "1024 are allowed");
    ck_assert_int_eq(mt_terms_add(terms, "glossary", longest + 1, longest + 1, &err), MT_OK);
}
END_TEST

START_TEST(terms_are_kept_in_order_without_blanks_around_them)
{
    size_t n = mt_terms_count(terms);
    ck_assert_int_eq(mt_terms_add(terms, "glossary", "train", "X", &err), MT_OK);
    ck_assert_int_eq(mt_terms_add(terms, "do_not_translate", " Foo \n", NULL, &err), MT_OK);
    ck_assert_uint_eq(mt_terms_count(terms), n + 1);
    struct mt_term first = mt_terms_at(terms, 0), last = mt_terms_at(terms, n);
    ck_assert_str_eq(first.source, "train");
    ck_assert_str_eq(first.target, "X");
    ck_assert(!first.is_verbatim && last.is_verbatim);
    ck_assert_str_eq(last.source, "Foo");
    ck_assert_str_eq(last.target, "Foo");
}
END_TEST

/* A target, and its forms with '/' between. */
static const struct {
    const char *target, *forms;
} forms[] = {
    {"Bahnhof", "Bahnhof"},
    {"Bahnhof|Bahnhofs|Bahnh\xC3\xB6"
     "fe",
     "Bahnhof/Bahnhofs/Bahnh\xC3\xB6"
     "fe"},
    {"Ja | Nein", "Ja | Nein"},
    {"|a|b|", "|a/b|"},
    {"a||b", "a||b"},
    {"|", "|"},
    {"a|", "a|"},
    {"a b|c d", "a b/c d"},
    {"", ""},
};

START_TEST(a_target_has_forms)
{
    const char *target = forms[_i].target;
    struct mt_text found = {0};
    struct mt_range form;
    mt_text_append(&found, "", 0);
    for (size_t at = 0; mt_term_next_form(target, strlen(target), &at, &form);) {
        mt_text_append_string(&found, form.begin > 0 ? "/" : "");
        mt_text_append(&found, target + form.begin, form.end - form.begin);
    }
    ck_assert_str_eq(found.bytes, forms[_i].forms);
    mt_text_finish(&found);
}
END_TEST

/* ---- against a plain reference: every term at every place ---- */

struct reference {
    const char *text;
    size_t length;
    bool crosses_lines;
    UBreakIterator *words;
};

static bool is_blank_at(const struct reference *reference, size_t at)
{
    uint32_t c = at < reference->length ? mt_utf8_decode(reference->text + at) : 0;
    return mt_is_space(c) && (reference->crosses_lines || c != '\n');
}

static bool is_exact(const char *source)
{
    for (; *source; source += mt_utf8_length((unsigned char)*source)) {
        UChar32 c = (UChar32)mt_utf8_decode(source);
        if (u_isupper(c) || u_istitle(c))
            return true;
    }
    return false;
}

static bool is_same_letter(uint32_t found, uint32_t c, bool as_written)
{
    return found == c || (!as_written && u_foldCase((UChar32)found, U_FOLD_CASE_DEFAULT) ==
                                             u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT));
}

/* Where the term that begins there ends, or 0. */
static size_t match_letters(const struct reference *reference, const char *source, size_t at)
{
    const char *want = source;
    while (*want) {
        uint32_t c = mt_utf8_decode(want);
        bool is_blank = mt_is_space(c);
        if (is_blank
                ? !is_blank_at(reference, at)
                : at >= reference->length ||
                      !is_same_letter(mt_utf8_decode(reference->text + at), c, is_exact(source)))
            return 0;
        do
            want += mt_utf8_length((unsigned char)*want);
        while (is_blank && mt_is_space(mt_utf8_decode(want)));
        do
            at += mt_utf8_length((unsigned char)reference->text[at]);
        while (is_blank && is_blank_at(reference, at));
    }
    return at;
}

static bool is_apostrophe_at(const struct reference *reference, size_t at)
{
    uint32_t c = mt_utf8_decode(reference->text + at);
    return c == '\'' || c == 0x2019;
}

static bool is_boundary(const struct reference *reference, size_t at)
{
    size_t before = at;
    while (before > 0 && ((unsigned char)reference->text[--before] & 0xC0u) == 0x80u)
        continue;
    return at == 0 || at == reference->length || is_apostrophe_at(reference, before) ||
           is_apostrophe_at(reference, at) || ubrk_isBoundary(reference->words, (int32_t)at);
}

/* The longest source, and of those as long the first. */
static struct mt_term_match find_plainly(const struct reference *reference, size_t from)
{
    struct mt_term_match match = {reference->length, reference->length, MT_NO_TERM};
    for (size_t at = from; at < reference->length && match.term == MT_NO_TERM;
         at += mt_utf8_length((unsigned char)reference->text[at])) {
        size_t longest = 0;
        for (size_t i = 0; i < mt_terms_count(terms); i++) {
            const char *source = mt_terms_at(terms, i).source;
            size_t end = match_letters(reference, source, at);
            if (end == 0 || strlen(source) <= longest || !is_boundary(reference, at) ||
                !is_boundary(reference, end))
                continue;
            longest = strlen(source);
            match = (struct mt_term_match){at, end, i};
        }
    }
    return match;
}

static uint32_t random_below(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* Letters that fold to one another in fewer or more bytes, blanks, signs that are words by
 * themselves, and what clings to the letter before. */
static const char *const letters[] = {
    "a",
    "a",
    "a",
    "b",
    "A",
    " ",
    " ",
    "\t",
    "\n",
    "\xC2\xA0",
    "s",
    "\xC5\xBF", /* long s */
    "\xC3\x9F",
    "\xE1\xBA\x9E",
    "k",
    "\xE2\x84\xAA", /* the kelvin sign */
    "-",
    "'",
    "\xE2\x80\x99",
    "1",
    "\xCC\x81", /* acute */
    "\xE7\x81\xAB",
    "\xE8\xBD\xA6",
    "\xF0\x9F\x87\xA6", /* a flag's half */
    "\xC7\x84",
    "\xC7\x85",
    "\xC7\x86", /* DZ in three cases */
};

/* Of the first n_letters; fewer make more matches. */
static void write_random(uint32_t *state, size_t most, size_t n_letters, char *out)
{
    size_t n = random_below(state, (uint32_t)most + 1), first = random_below(state, 3) * 6;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        strcat(out, letters[(first + random_below(state, (uint32_t)n_letters)) %
                            (sizeof letters / sizeof *letters)]);
}

static void check_against_reference(struct reference *reference)
{
    UErrorCode code = U_ZERO_ERROR;
    UText view = UTEXT_INITIALIZER;
    utext_openUTF8(&view, reference->text, (int64_t)reference->length, &code);
    ubrk_setUText(reference->words, &view, &code);
    ck_assert(U_SUCCESS(code));
    mt_terms_search(terms, reference->text, reference->length, reference->crosses_lines);
    for (size_t from = 0; from < reference->length;) {
        struct mt_term_match want = find_plainly(reference, from);
        struct mt_term_match found = mt_terms_find(terms, from);
        ck_assert_msg(found.begin == want.begin && found.end == want.end && found.term == want.term,
                      "\"%s\" from %zu: found [%zu, %zu) %zu, expected [%zu, %zu) %zu",
                      reference->text, from, found.begin, found.end, found.term, want.begin,
                      want.end, want.term);
        /* Sometimes what follows, sometimes what it hid. */
        from = want.term == MT_NO_TERM ? reference->length
               : want.end % 2 || want.begin + 1 == want.end
                   ? want.end
                   : want.begin + mt_utf8_length((unsigned char)reference->text[want.begin]);
    }
    utext_close(&view);
}

START_TEST(what_is_found_is_what_a_plain_search_finds)
{
    uint32_t state = (uint32_t)_i + 1;
    UErrorCode code = U_ZERO_ERROR;
    struct reference reference = {.words = ubrk_open(UBRK_WORD, "", NULL, 0, &code)};
    ck_assert(U_SUCCESS(code));
    for (int round = 0; round < 300; round++) {
        char text[40 * 4 + 1], source[8 * 4 + 1];
        size_t n_letters = 2 + random_below(&state, 10);
        mt_terms_destroy(terms);
        ck_assert_int_eq(mt_terms_create(&terms, &err), MT_OK);
        for (uint32_t i = random_below(&state, 30); i > 0; i--) {
            write_random(&state, 8, n_letters, source);
            enum mt_status status = mt_terms_add(terms, "t", source, NULL, &err);
            ck_assert(!status || strstr(err.message, "blank"));
        }
        for (int i = 0; i < 20; i++) {
            write_random(&state, 40, n_letters, text);
            reference.text = text;
            reference.length = strlen(text);
            reference.crosses_lines = i % 2;
            check_against_reference(&reference);
        }
    }
    ubrk_close(reference.words);
}
END_TEST

/* ---- how much work it is ---- */

/* Every letter beyond ASCII that is looked at is decoded (meson.build: --wrap). */
static _Atomic size_t n_decoded; /* threads of other suites of the program count, too */
uint32_t __real_mt_utf8_decode(const char *text);
uint32_t __wrap_mt_utf8_decode(const char *text);

uint32_t __wrap_mt_utf8_decode(const char *text)
{
    n_decoded++;
    return __real_mt_utf8_decode(text);
}

static void repeat(const char *unit, size_t n, struct mt_text *out)
{
    out->length = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(out, unit);
}

#define AE "\xC3\xA4"   /* a letter */
#define MARK "\xC2\xA1" /* a sign: words end on both sides */

/* Terms are `shared` n times and then a number, or 1 to n_terms times `shared` and an end. */
static const struct {
    const char *text, *shared, *end;
    size_t n_shared, n_terms;
} heaps[] = {
    {AE, AE, "b", 0, 120},     {AE " ", AE " ", "", 80, 480}, {MARK, MARK, ",", 0, 120},
    {MARK, MARK, "A", 0, 120}, {MARK, MARK, "", 120, 480},    {" ", "a ", "b", 0, 2},
    {"! ", "! ", "?", 0, 120},
};

START_TEST(the_number_of_terms_does_not_multiply_the_work)
{
    enum { N = 4000 };
    struct mt_text text = {0}, source = {0};
    for (size_t i = 0; i < heaps[_i].n_terms; i++) {
        repeat(heaps[_i].shared, heaps[_i].n_shared ? heaps[_i].n_shared : i + 1, &source);
        mt_text_append_string(&source, heaps[_i].end);
        if (heaps[_i].n_shared)
            mt_text_appendf(&source, "%03zu", i);
        ck_assert_int_eq(mt_terms_add(terms, "t", source.bytes, NULL, &err), MT_OK);
    }
    repeat(heaps[_i].text, N, &text);
    n_decoded = 0;
    mt_terms_search(terms, text.bytes, text.length, false);
    ck_assert_uint_eq(mt_terms_find(terms, 0).term, MT_NO_TERM);
    /* The longest term's letters at each place, twice: as they are, and folded. */
    ck_assert_uint_gt(n_decoded, 0);
    ck_assert_uint_lt(n_decoded, (size_t)2 * N * MT_MAX_TERM_BYTES);
    mt_text_finish(&text);
    mt_text_finish(&source);
}
END_TEST

/* What is shared is found by each holder in a text of its own, also when the first one is gone. */
START_TEST(terms_are_shared)
{
    static const char text[] = "the train";
    struct mt_terms *others, *view;
    ck_assert_int_eq(mt_terms_create(&others, &err), MT_OK);
    ck_assert_int_eq(mt_terms_add(others, "t", "train", "Y", &err), MT_OK);
    ck_assert_int_eq(mt_terms_add_others(others, terms, &err), MT_OK);
    ck_assert_uint_eq(mt_terms_count(others), mt_terms_count(terms));
    ck_assert_str_eq(mt_terms_at(others, 0).target, "Y");
    ck_assert_str_eq(mt_terms_at(others, 1).source, "train station");
    ck_assert_int_eq(mt_terms_share(others, &view, &err), MT_OK);
    mt_terms_search(view, text, strlen(text), false);
    mt_terms_search(others, "C++", 3, false);
    ck_assert_uint_eq(mt_terms_find(others, 0).term, 4);
    mt_terms_destroy(others);
    ck_assert_uint_eq(mt_terms_find(view, 0).term, 0);
    ck_assert_str_eq(mt_terms_at(view, 0).target, "Y");
    mt_terms_destroy(view);
}
END_TEST

/* Each of a glossary as long as one may be is found, and what is in none of them is not. */
START_TEST(a_long_glossary_is_searched)
{
    enum { N = 20000 };
    char source[32];
    for (size_t i = 0; i < N; i++) {
        snprintf(source, sizeof source, "part %zu x", i * 7919 % N);
        ck_assert_int_eq(mt_terms_add(terms, "t", source, "X", &err), MT_OK);
    }
    for (size_t i = 0; i < N; i += 997) {
        snprintf(source, sizeof source, "Part %zu x", i);
        mt_terms_search(terms, source, strlen(source), false);
        ck_assert_uint_eq((mt_terms_find(terms, 0).term - 7) * 7919 % N, i);
        source[strlen(source) - 1] = 'y';
        ck_assert_uint_eq(mt_terms_find(terms, 0).term, MT_NO_TERM);
    }
}
END_TEST

Suite *suite_terms(void)
{
    Suite *suite = suite_create("terms");
    TCase *tcase = tcase_create("terms");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, terms_are_found_between_word_boundaries, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, every_text_is_searched_for_itself);
    tcase_add_test(tcase, wrong_terms_are_refused);
    tcase_add_test(tcase, terms_are_kept_in_order_without_blanks_around_them);
    tcase_add_loop_test(tcase, a_target_has_forms, 0, sizeof forms / sizeof forms[0]);
    tcase_add_test(tcase, terms_are_shared);
    tcase_add_test(tcase, a_long_glossary_is_searched);
    tcase_add_loop_test(tcase, what_is_found_is_what_a_plain_search_finds, 0, 8);
    tcase_add_loop_test(tcase, the_number_of_terms_does_not_multiply_the_work, 0,
                        sizeof heaps / sizeof heaps[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
