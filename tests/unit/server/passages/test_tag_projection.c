#include "server/passages/tag_projection.h"
#include "server/text/terms.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;
static struct mt_tagged_text tagged;

static void mark_term(const char *notation, size_t length)
{
    const char *equals = memchr(notation, '=', length);
    size_t n_words = equals ? (size_t)(equals - notation) : length;
    const char *target = equals ? equals + 1 : notation;
    size_t n_forms = equals ? length - n_words - 1 : length, at = 0;
    struct mt_range first = {.begin = 0, .end = n_forms};
    if (equals)
        (void)mt_term_next_form(target, n_forms, &at, &first);
    size_t n_target = first.end;
    mt_tagged_term(&tagged, &(struct mt_tagged_term){.words = notation,
                                                     .n_words = n_words,
                                                     .target = target,
                                                     .n_target = n_target,
                                                     .written = target,
                                                     .n_written = n_target,
                                                     .forms = target,
                                                     .n_forms = n_forms,
                                                     .is_verbatim = !equals});
}

/* The text's tags in a notation of their own: "<b>" and "</b>" are spans, "[x]" a point, "{x:W}" a
 * substitute W, "|" a break, "(a=A)" a term a that becomes A, or "(a=A|As)" A or As, "(a)" one that stays. */
static void tag(const char *notation)
{
    mt_tagged_init(&tagged);
    for (const char *at = notation; *at;) {
        size_t n = strcspn(at, "<[{|(");
        mt_tagged_append(&tagged, at, n);
        at += n;
        if (*at == '<') {
            n = strcspn(at, ">") + 1;
            if (at[1] == '/')
                mt_tagged_close(&tagged, at, n);
            else
                mt_tagged_open(&tagged, at, n);
        } else if (*at == '[') {
            n = strcspn(at, "]") + 1;
            mt_tagged_point(&tagged, at, n);
        } else if (*at == '{') {
            n = strcspn(at, "}") + 1;
            char word[16] = {0};
            memcpy(word, at + 3, n - 4);
            char content[] = {'{', at[1], '}', '\0'};
            mt_tagged_substitute(&tagged, word, content, 3);
        } else if (*at == '(') {
            mark_term(at + 1, strcspn(at, ")") - 1);
            n = strcspn(at, ")") + 1;
        } else if (*at == '|') {
            n = 1;
            mt_tagged_break(&tagged, "<br>", 4);
        } else {
            n = 0;
        }
        at += n;
    }
    ck_assert_int_eq(mt_tagged_check(&tagged, &err), MT_OK);
}

static struct mt_range word_at(const char *text, size_t index)
{
    size_t at = 0;
    for (size_t i = 0;; i++) {
        at += strcspn(text + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        size_t n = strspn(text + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        ck_assert_uint_gt(n, 0);
        if (i == index)
            return (struct mt_range){at, at + n};
        at += n;
    }
}

static void write_plain(const void *context, const char *bytes, size_t length, struct mt_text *out)
{
    (void)context;
    mt_text_append(out, bytes, length);
}

/* links: for each word of the target the number of its source word, '-' for none. */
static void check_placement(const char *notation, const char *target, const char *links,
                            const char *expected)
{
    struct mt_word_link items[16];
    struct mt_word_links list = {.items = items, .capacity = 16};
    struct mt_tag_projection projection = {0};
    struct mt_text out = {0};
    tag(notation);
    for (size_t i = 0; links[i]; i++) {
        if (links[i] == '-')
            continue;
        struct mt_range from = word_at(tagged.text.bytes, (size_t)(links[i] - '0'));
        struct mt_range to = word_at(target, i);
        items[list.n++] = (struct mt_word_link){.source = {.begin = from.begin, .end = from.end},
                                                .target = {.begin = to.begin, .end = to.end},
                                                .score = 1};
    }
    const struct mt_range source_all = {0, tagged.text.length}, target_all = {0, strlen(target)};
    const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                  .target = target,
                                                  .target_length = strlen(target),
                                                  .links = &list,
                                                  .source_sentences = &source_all,
                                                  .target_sentences = &target_all,
                                                  .n_sentences = 1};
    ck_assert_int_eq(mt_tag_projection_find(&input, &projection, &err), MT_OK);
    ck_assert_int_eq(mt_tag_projection_render(&input, &projection, write_plain, NULL, &out, &err),
                     MT_OK);
    ck_assert_str_eq(out.bytes, expected);
    mt_tag_projection_finish(&projection);
    mt_text_finish(&out);
    mt_tagged_finish(&tagged);
}

static const struct {
    const char *source, *target, *links, *expected;
} cases[] = {
    /* Spans go where their words went. */
    {"a <b>c</b> d", "x y z", "021", "x y <b>z</b>"},
    {"<b>a c</b> d", "x y z", "210", "x <b>y z</b>"},
    {"<b>a c d</b>.", "x y.", "02", "<b>x y</b>."},
    {"<b>a c d.</b>", "x y.", "02", "<b>x y.</b>"},
    {"a: <b>$c</b>", "x:$z", "01", "x:<b>$z</b>"},
    {"a<b>: c</b>", "x: z", "01", "x: <b>z</b>"},
    {"<i>a</i> <b>c</b>", "y x", "10", "<b>y</b> <i>x</i>"},
    /* all words of the sentence, of which one came from nowhere */
    {"<i>a c</i>.", "x y.", "-1", "<i>x y</i>."},
    {"- <i>a c</i>!", "- x y z!", "01-", "- <i>x y z</i>!"},
    {"<b><i>a</i> c</b>.", "x y.", "0-", "<b><i>x</i> y</b>."},
    {"<b>a</b> <i>c</i>.", "x y z.", "-01", "x <b>y</b> <i>z</i>."},
    /* Nesting stays, and what is outside a span stays outside. */
    {"a <b>c <i>d</i></b> e", "w x y z", "0213", "w <b><i>x</i> y</b> z"},
    {"<b><i>a</i></b> c", "y x", "10", "y <b><i>x</i></b>"},
    /* A word from elsewhere does not cut a span, two do: the larger part wins. */
    {"<b>a c d</b> e", "x w y z", "0312", "<b>x w y z</b>"},
    {"<b>a c d</b> e f g", "x u v w y z", "034512", "x u v w <b>y z</b>"},
    /* Words that came from nowhere are no one's. */
    {"a <b>c</b> d", "x u y z", "0-12", "x u <b>y</b> z"},
    /* Punctuation goes along if it was inside. */
    {"a <b>c!</b>", "x y!", "01", "x <b>y!</b>"},
    {"a <b>c</b>!", "x y!", "01", "x <b>y</b>!"},
    {"a <b>\"c\"</b> d", "x \"y\" z", "012", "x <b>\"y\"</b> z"},
    /* No word came from it: the nearest that is no other's, else none. */
    {"a <b>c</b> d", "x y", "02", "x <b>y</b>"},
    {"<i>a</i> <b>c</b>", "x", "0", "<i>x</i><b></b>"},
    /* Points: behind the word before, with the blank that they took. */
    {"a [*] c", "x y", "01", "x [*] y"},
    {"a [*] c", "y x", "10", "y x [*]"},
    {"[*] a c", "x y", "01", "[*] x y"},
    {"a c [*]", "x y", "01", "x y [*]"},
    {"a c [*].", "x y.", "01", "x y [*]."},
    {"a c. [*]", "x y.", "01", "x y. [*]"},
    {"a [*]c", "x y", "01", "x [*]y"},
    {"a[*] c", "x y", "01", "x[*] y"},
    {"a [*] [+] c", "x y", "01", "x [*] [+] y"},
    {"a [*][+]c", "x y", "01", "x [*][+]y"},
    {"a, [*] c", "x, y", "01", "x, [*] y"},
    /* Substitutes: copies, then what came of them, then as points. */
    {"a {1:Tom} c", "x Tom y", "012", "x {1} y"},
    {"a {1:Tom} c", "x Toms y", "012", "x {1} y"},
    {"a {1:Tom} c", "x y", "02", "x {1} y"},
    {"{1:Tom} a", "x", "1", "{1} x"},
    {"{1:Tom} a {2:Ann}", "Ann x Tom", "210", "{2} x {1}"},
    {"{1:Tom} a {2:Tom}", "Tom x Tom", "210", "{2} x {1}"},
    {"a {1:Tom}.", "x Tom Tom.", "011", "x {1}."},
    {"a <b>{1:Tom} c</b>", "x y Tom", "021", "x <b>y {1}</b>"},
    /* Terms: a copy of what they become, then what came from them, never more words than theirs. */
    {"a (c=C) d", "x y z", "012", "x C z"},
    {"a (c d=C) e", "x y w z", "0123", "x C z"},
    {"a (c=C) d", "x y w z", "0112", "x C w z"},
    {"a (c=C) d", "x C z", "0-2", "x C z"},
    {"a (c=C) d", "x Cs z", "012", "x C z"},
    {"a (c) d", "c x z", "012", "c x z"},
    {"(a=A) (c=C)", "y x", "10", "C A"},
    {"(a=A).", "x y z.", "---", "A."},
    {"(a), {1:Tom}", "x, Tom", "01", "a, {1}"},
    {"a <b>(c=C) d</b>", "x y z", "012", "x <b>C z</b>"},
    /* No word came from it: what stays is put in as a point, a given translation is not. */
    {"a (c) d", "x z", "02", "x c z"},
    /* Of several forms the one that was written stays; else the first is put in. */
    {"a (c=C|Cs) d", "x Cs z", "012", "x Cs z"},
    {"a (c=C|Cs) d", "x C z", "012", "x C z"},
    {"a (c=C|Cs) d", "x y z", "012", "x C z"},
    {"a (c=C|Cs) d", "Cs x y", "102", "Cs x y"},
    {"a (c=C|Cs) d (e=E|Cs) f", "x Cs z Cs w", "01234", "x Cs z Cs w"},
    {"(a=A|As).", "As.", "0", "As."},
    {"(a=A|As).", "x As.", "-0", "A."},
    {"(a|as).", "a.", "0", "a|as."}, /* words that stay have no forms */
    {"(a=n|ns) c", "Ns y", "01", "N y"},
    {"a <b>(c=C|Cs) d</b>", "x Cs z", "012", "x <b>Cs z</b>"},
    {"a (c=C|Cs) d", "x z", "02", "x z"},
    {"a (c=C) d", "x z", "02", "x z"},
    /* First of its sentence, a word in lower case gets the capital that stood there. */
    {"(a=n) c", "X y", "01", "N y"},
    {"(a=n) c", "y X", "10", "y n"},
    {"(a=\xC3\xA4r) c", "X y", "01", "\xC3\x84r y"},
    {"(a=iN) c", "X y", "01", "iN y"},
    /* Breaks are the line feeds. */
    {"a|c", "x\ny", "01", "x<br>y"},
    {"<b>a|c</b>", "x\ny", "01", "<b>x<br>y</b>"},
    {"a||<b>c</b> d", "x\n\ny z", "012", "x<br><br><b>y</b> z"},
};

START_TEST(marks_go_with_their_words)
{
    check_placement(cases[_i].source, cases[_i].target, cases[_i].links, cases[_i].expected);
}
END_TEST

/* Whatever the alignment says, nothing is lost and nesting holds. */
START_TEST(every_mark_is_written_once_whatever_the_links)
{
    static const char source[] = "a <b>c {1:Tom} <i>d</i></b> [*] e|<u>f {2:Ann}</u>";
    static const char target[] = "x Tom y z\nv Ann";
    static const char *const pieces[] = {"<b>",  "</b>", "<i>", "</i>", "<u>",
                                         "</u>", "{1}",  "{2}", "[*]",  "<br>"};
    unsigned seed = 1;
    for (size_t round = 0; round < 500; round++) {
        struct mt_word_link items[6];
        struct mt_word_links list = {.items = items, .capacity = 6};
        struct mt_tag_projection projection = {0};
        struct mt_text out = {0};
        tag(source);
        for (size_t i = 0; i < 6; i++) {
            seed = seed * 1103515245 + 12345;
            struct mt_range to = word_at(target, i);
            struct mt_range from = word_at(tagged.text.bytes, (seed >> 16) % 7);
            items[list.n++] =
                (struct mt_word_link){.source = {.begin = from.begin, .end = from.end},
                                      .target = {.begin = to.begin, .end = to.end},
                                      .score = 1};
        }
        const struct mt_range from = {0, tagged.text.length}, to = {0, sizeof target - 1};
        const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                      .target = target,
                                                      .target_length = sizeof target - 1,
                                                      .links = &list,
                                                      .source_sentences = &from,
                                                      .target_sentences = &to,
                                                      .n_sentences = 1};
        ck_assert_int_eq(mt_tag_projection_find(&input, &projection, &err), MT_OK);
        ck_assert_int_eq(
            mt_tag_projection_render(&input, &projection, write_plain, NULL, &out, &err), MT_OK);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            const char *at = strstr(out.bytes, pieces[i]);
            ck_assert_msg(at && !strstr(at + 1, pieces[i]), "%s in %s", pieces[i], out.bytes);
        }
        ck_assert(strstr(out.bytes, "<b>") < strstr(out.bytes, "<i>"));
        ck_assert(strstr(out.bytes, "</i>") < strstr(out.bytes, "</b>"));
        ck_assert_ptr_null(strstr(out.bytes, "Tom"));
        mt_tag_projection_finish(&projection);
        mt_text_finish(&out);
        mt_tagged_finish(&tagged);
    }
}
END_TEST

/* A given translation stands only where the alignment says so. */
START_TEST(terms_are_not_put_where_links_are_guessed)
{
    static const char target[] = "x y z";
    struct mt_word_link item = {
        .source = {.begin = 2, .end = 3}, .target = {.begin = 2, .end = 3}, .score = 1};
    const struct mt_word_links links = {.items = &item, .n = 1, .capacity = 1};
    tag("a (c=C) d");
    const struct mt_range from = {0, tagged.text.length}, to = {0, sizeof target - 1};
    struct mt_tag_projection_input input = {.tagged = &tagged,
                                            .target = target,
                                            .target_length = sizeof target - 1,
                                            .links = &links,
                                            .source_sentences = &from,
                                            .target_sentences = &to,
                                            .n_sentences = 1};
    for (int guessed = 0; guessed < 2; guessed++) {
        struct mt_tag_projection projection = {0};
        input.is_guessed = guessed;
        ck_assert_int_eq(mt_tag_projection_find(&input, &projection, &err), MT_OK);
        ck_assert_int_eq(projection.places[0].is_lost, guessed);
        mt_tag_projection_finish(&projection);
    }
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(another_translation_takes_the_links_of_shared_words)
{
    static const char first[] = "das alte Haus", other[] = "ein altes schwarzes Haus";
    struct mt_word_link items[] = {
        {.source = {.begin = 0, .end = 3}, .target = {.begin = 0, .end = 3}, .score = 1},
        {.source = {.begin = 4, .end = 7}, .target = {.begin = 4, .end = 8}, .score = 1},
        {.source = {.begin = 8, .end = 13}, .target = {.begin = 9, .end = 13}, .score = 1},
    };
    const struct mt_word_links links = {.items = items, .n = 3, .capacity = 3};
    struct mt_word_links found = {0};
    ck_assert_int_eq(mt_tag_projection_transfer(&links, first, sizeof first - 1, other,
                                                sizeof other - 1, &found, &err),
                     MT_OK);
    ck_assert_uint_ge(found.n, 1);
    const struct mt_word_link *last = &found.items[found.n - 1];
    ck_assert_uint_eq(last->source.begin, 8);
    ck_assert_uint_eq(last->target.begin, 20);
    mt_word_links_finish(&found);
}
END_TEST

START_TEST(without_an_alignment_words_keep_their_order)
{
    static const char target[] = "x y z";
    tag("a <b>c</b> d");
    const struct mt_range from = {0, tagged.text.length}, to = {0, sizeof target - 1};
    const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                  .target = target,
                                                  .target_length = sizeof target - 1,
                                                  .source_sentences = &from,
                                                  .target_sentences = &to,
                                                  .n_sentences = 1};
    struct mt_word_links links = {0};
    ck_assert_int_eq(mt_tag_projection_guess(&input, &links, &err), MT_OK);
    ck_assert_uint_eq(links.n, 3);
    ck_assert_uint_eq(links.items[1].source.begin, 2);
    ck_assert_uint_eq(links.items[1].target.begin, 2);
    mt_word_links_finish(&links);
    mt_tagged_finish(&tagged);
}
END_TEST

/* One sentence, each word of the target from the given bytes of the source. The same work for each
 * tag at each word, or for each word at each other, would take minutes;
 * Check's limit is seconds. */
static void find_in_long(size_t n_words, const char *word, struct mt_offsets from,
                         struct mt_tag_projection *out)
{
    struct mt_text target = {0};
    struct mt_word_links links = {.items = calloc(n_words, sizeof *links.items)};
    ck_assert_ptr_nonnull(links.items);
    for (size_t i = 0; i < n_words; i++) {
        size_t begin = target.length;
        mt_text_append(&target, word, strlen(word));
        links.items[links.n++] = (struct mt_word_link){
            .source = from, .target = {.begin = begin, .end = target.length}, .score = 1};
        mt_text_append(&target, " ", 1);
    }
    ck_assert_int_eq(mt_text_check(&target, "a target", &err), MT_OK);
    const struct mt_range source_all = {0, tagged.text.length}, target_all = {0, target.length};
    const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                  .target = target.bytes,
                                                  .target_length = target.length,
                                                  .links = &links,
                                                  .source_sentences = &source_all,
                                                  .target_sentences = &target_all,
                                                  .n_sentences = 1};
    ck_assert_int_eq(mt_tag_projection_find(&input, out, &err), MT_OK);
    free(links.items);
    mt_text_finish(&target);
}

START_TEST(spans_without_words_of_their_own_take_what_is_no_others)
{
    enum { N_SPANS = 4000, N_WORDS = 8000 };
    struct mt_tag_projection projection = {0};
    mt_tagged_init(&tagged);
    mt_tagged_append(&tagged, "a ", 2);
    for (size_t i = 0; i < N_SPANS; i++) {
        mt_tagged_open(&tagged, "<b>", 3);
        mt_tagged_append(&tagged, "c", 1);
        mt_tagged_close(&tagged, "</b>", 4);
        mt_tagged_append(&tagged, " ", 1);
    }
    ck_assert_int_eq(mt_tagged_check(&tagged, &err), MT_OK);
    find_in_long(N_WORDS, "x", (struct mt_offsets){.begin = 0, .end = 1}, &projection);
    for (size_t i = 0; i < N_SPANS; i++)
        ck_assert_uint_eq(projection.places[i].end, projection.places[i].begin + 1);
    mt_tag_projection_finish(&projection);
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(a_substitute_among_many_copies_that_came_from_elsewhere_takes_the_first)
{
    enum { N_WORDS = 400000 };
    struct mt_tag_projection projection = {0};
    tag("a {1:Tom} c");
    find_in_long(N_WORDS, "Tom", (struct mt_offsets){.begin = 0, .end = 1}, &projection);
    ck_assert_uint_eq(projection.places[0].begin, 0);
    ck_assert_uint_eq(projection.places[0].end, 3);
    mt_tag_projection_finish(&projection);
    mt_tagged_finish(&tagged);
}
END_TEST

/* What became of the digits is known. */
START_TEST(a_span_whose_words_are_lost_has_those_of_its_source)
{
    static const struct {
        const char *notation, *target, *expected;
    } rows[] = {
        {"See <a>Bug 12</a> now", "Siehe 12 nun", "Siehe <a>Bug 12</a> nun"},
        {"See <a>Bug 12</a>, too", "Siehe 12, auch", "Siehe <a>Bug 12</a>, auch"},
        {"<a><i>Bug 12</i></a> is", "12 ist", "<a><i>Bug 12</i></a> ist"},
        {"<a>12</a> cats", "12 Katzen", "<a>12</a> Katzen"},
        {"<a>Bug 12</a>", "12 Bug", "<a>12 Bug</a>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mt_tag_projection projection = {0};
        struct mt_text out = {0};
        tag(rows[i].notation);
        const char *from = strstr(tagged.text.bytes, "12"), *to = strstr(rows[i].target, "12");
        size_t source = (size_t)(from - tagged.text.bytes), target = (size_t)(to - rows[i].target);
        struct mt_word_link link = {.source = {.begin = source, .end = source + 2},
                                    .target = {.begin = target, .end = target + 2},
                                    .score = 1};
        struct mt_word_links links = {.items = &link, .n = 1, .capacity = 1};
        const struct mt_range whole[] = {{0, tagged.text.length}, {0, strlen(rows[i].target)}};
        const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                      .target = rows[i].target,
                                                      .target_length = whole[1].end,
                                                      .links = &links,
                                                      .source_sentences = &whole[0],
                                                      .target_sentences = &whole[1],
                                                      .n_sentences = 1};
        ck_assert_int_eq(mt_tag_projection_find(&input, &projection, &err), MT_OK);
        mt_tag_projection_restore(&input, &projection);
        ck_assert_int_eq(
            mt_tag_projection_render(&input, &projection, write_plain, NULL, &out, &err), MT_OK);
        ck_assert_str_eq(out.bytes, rows[i].expected);
        mt_tag_projection_finish(&projection);
        mt_text_finish(&out);
        mt_tagged_finish(&tagged);
    }
}
END_TEST

/* "24" came from "on" or "many", if the alignment is right. */
START_TEST(a_span_of_words_has_no_other_ones_digits)
{
    static const struct {
        const char *notation, *target;
        bool keeps;
    } rows[] = {
        {"<a>on</a> May 24", "24 am", false},        {"<a>many</a> cats", "24 am", true},
        {"<a>24</a> cats", "24 am", true},           {"<a>noon</a> is it", "12.00 ist", true},
        {"<a>Mandarin</a>, 1.3%", "1,3,3 %", false}, {"<a>doi</a>:/013", "30101012013/013", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mt_tag_projection projection = {0};
        tag(rows[i].notation);
        struct mt_word_link link = {
            .source = {.begin = 0, .end = strcspn(rows[i].notation + 3, "<")},
            .target = {.begin = 0, .end = strcspn(rows[i].target, " /")},
            .score = 1};
        struct mt_word_links links = {.items = &link, .n = 1, .capacity = 1};
        const struct mt_range whole[] = {{0, tagged.text.length}, {0, strlen(rows[i].target)}};
        const struct mt_tag_projection_input input = {.tagged = &tagged,
                                                      .target = rows[i].target,
                                                      .target_length = whole[1].end,
                                                      .links = &links,
                                                      .source_sentences = &whole[0],
                                                      .target_sentences = &whole[1],
                                                      .n_sentences = 1};
        ck_assert_int_eq(mt_tag_projection_find(&input, &projection, &err), MT_OK);
        projection.places[0] = (struct mt_projected_tag){.begin = 0, .end = link.target.end};
        ck_assert_int_eq(mt_tag_projection_keeps_words(&input, &projection), rows[i].keeps);
        mt_tag_projection_finish(&projection);
        mt_tagged_finish(&tagged);
    }
}
END_TEST

Suite *suite_tag_projection(void)
{
    Suite *suite = suite_create("tag_projection");
    TCase *tcase = tcase_create("tag_projection");
    tcase_add_loop_test(tcase, marks_go_with_their_words, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, every_mark_is_written_once_whatever_the_links);
    tcase_add_test(tcase, terms_are_not_put_where_links_are_guessed);
    tcase_add_test(tcase, another_translation_takes_the_links_of_shared_words);
    tcase_add_test(tcase, without_an_alignment_words_keep_their_order);
    tcase_add_test(tcase, spans_without_words_of_their_own_take_what_is_no_others);
    tcase_add_test(tcase, a_span_of_words_has_no_other_ones_digits);
    tcase_add_test(tcase, a_span_whose_words_are_lost_has_those_of_its_source);
    tcase_add_test(tcase, a_substitute_among_many_copies_that_came_from_elsewhere_takes_the_first);
    suite_add_tcase(suite, tcase);
    return suite;
}
