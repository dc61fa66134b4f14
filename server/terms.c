#include "server/terms.h"

#include "base/size.h"
#include "base/text.h"
#include "server/marked.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

/* Terms by the first character of their folded form. */
#define N_BUCKETS 256

struct term {
    char *source, *target; /* target NULL: stays */
    size_t length;
    bool is_exact; /* written with a capital */
    size_t n_passed_over;
    size_t next; /* in its bucket, longest first, or MT_NO_TERM */
};

struct mt_terms {
    struct term *items;
    size_t n, capacity;
    size_t buckets[N_BUCKETS];
    /* what is searched */
    const char *text;
    size_t length;
    bool crosses_lines;
    UBreakIterator *words; /* made when a text first holds the letters of a term */
    UText view;
    bool is_set; /* words has the text */
    bool has_run_out;
};

static uint32_t fold(uint32_t c)
{
    return (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT);
}

static size_t bucket_of(const char *text)
{
    return fold(mt_utf8_decode(text)) % N_BUCKETS;
}

enum mt_status mt_terms_create(struct mt_terms **out, struct mt_error *err)
{
    struct mt_terms *terms = calloc(1, sizeof *terms);
    if (!terms)
        return mt_fail_memory(err, sizeof *terms, "terms");
    for (size_t i = 0; i < N_BUCKETS; i++)
        terms->buckets[i] = MT_NO_TERM;
    terms->view = (UText)UTEXT_INITIALIZER;
    *out = terms;
    return MT_OK;
}

void mt_terms_destroy(struct mt_terms *terms)
{
    if (!terms)
        return;
    for (size_t i = 0; i < terms->n; i++) {
        free(terms->items[i].source);
        free(terms->items[i].target);
    }
    free(terms->items);
    ubrk_close(terms->words);
    utext_close(&terms->view);
    free(terms);
}

/* ---- adding ---- */

/* The copy begins and ends with no blank. */
static enum mt_status copy_trimmed(const char *field, const char *text, char **out,
                                   struct mt_error *err)
{
    struct mt_range inner = mt_range_trim(text, 0, strlen(text));
    size_t length = inner.end - inner.begin;
    if (length == 0)
        return mt_fail(err, MT_INVALID, "%s: found a blank term, expected words", field);
    if (length > MT_MAX_TERM_BYTES)
        return mt_fail(err, MT_INVALID, "%s: \"%.40s...\" is %zu bytes, at most %d are allowed",
                       field, text + inner.begin, length, MT_MAX_TERM_BYTES);
    *out = strndup(text + inner.begin, length);
    return *out ? MT_OK : mt_fail_memory(err, length, "a term");
}

static bool has_capital(const char *text)
{
    for (; *text; text += mt_utf8_length((unsigned char)*text))
        if (u_isupper((UChar32)mt_utf8_decode(text)) || u_istitle((UChar32)mt_utf8_decode(text)))
            return true;
    return false;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static enum mt_status reserve(struct mt_terms *terms, struct mt_error *err)
{
    if (terms->n < terms->capacity)
        return MT_OK;
    size_t capacity = mt_size_max(16, terms->capacity * 2);
    struct term *items = realloc(terms->items, capacity * sizeof *items);
    if (!items)
        return mt_fail_memory(err, capacity * sizeof *items, "terms");
    terms->items = items;
    terms->capacity = capacity;
    return MT_OK;
}

/* The place in the bucket's list, longest first: a link to the term behind. */
static size_t *find_place(struct mt_terms *terms, const struct term *term)
{
    size_t *link = &terms->buckets[bucket_of(term->source)];
    while (*link != MT_NO_TERM && terms->items[*link].length >= term->length)
        link = &terms->items[*link].next;
    return link;
}

static const struct term *find_source(const struct mt_terms *terms, const char *source)
{
    for (size_t i = terms->buckets[bucket_of(source)]; i != MT_NO_TERM; i = terms->items[i].next)
        if (strcmp(terms->items[i].source, source) == 0)
            return &terms->items[i];
    return NULL;
}

/* Takes the strings over where *added. */
static enum mt_status insert(struct mt_terms *terms, const char *field, char *source, char *target,
                             bool *added, struct mt_error *err)
{
    const struct term *known = find_source(terms, source);
    *added = false;
    if (known && is_same(known->target, target))
        return MT_OK;
    if (known)
        return mt_fail(
            err, MT_INVALID, "%s: \"%s\" is to become \"%s\", but before it was to become \"%s\"",
            field, source, target ? target : source, known->target ? known->target : known->source);
    enum mt_status status = reserve(terms, err);
    if (status)
        return status;
    struct term *term = &terms->items[terms->n];
    *term = (struct term){.source = source,
                          .target = target,
                          .length = strlen(source),
                          .is_exact = has_capital(source)};
    size_t *link = find_place(terms, term);
    term->next = *link;
    *link = terms->n++;
    *added = true;
    return MT_OK;
}

enum mt_status mt_terms_add(struct mt_terms *terms, const char *field, const char *source,
                            const char *target, struct mt_error *err)
{
    char *own_source = NULL, *own_target = NULL;
    bool added = false;
    enum mt_status status = copy_trimmed(field, source, &own_source, err);
    if (!status && target)
        status = copy_trimmed(field, target, &own_target, err);
    if (!status)
        status = insert(terms, field, own_source, own_target, &added, err);
    if (!added) {
        free(own_source);
        free(own_target);
    }
    return status;
}

size_t mt_terms_count(const struct mt_terms *terms)
{
    return terms->n;
}

struct mt_term mt_terms_at(const struct mt_terms *terms, size_t index)
{
    const struct term *term = &terms->items[index];
    return (struct mt_term){.source = term->source,
                            .target = term->target ? term->target : term->source,
                            .is_kept = term->target == NULL,
                            .n_passed_over = term->n_passed_over};
}

void mt_terms_pass_over(struct mt_terms *terms, size_t index)
{
    terms->items[index].n_passed_over++;
}

/* ---- finding ---- */

void mt_terms_search(struct mt_terms *terms, const char *text, size_t length, bool crosses_lines)
{
    terms->text = text;
    terms->length = length;
    terms->crosses_lines = crosses_lines;
    terms->is_set = false;
}

static bool is_blank_at(const struct mt_terms *terms, size_t at)
{
    uint32_t c = at < terms->length ? mt_utf8_decode(terms->text + at) : 0;
    return mt_is_space(c) && (terms->crosses_lines || c != '\n');
}

/* Behind the blanks from `at` on. */
static size_t skip_blanks(const struct mt_terms *terms, size_t at)
{
    while (is_blank_at(terms, at))
        at += mt_utf8_length((unsigned char)terms->text[at]);
    return at;
}

/* Where the term that begins at text[begin] ends, or 0. */
static size_t match_letters(const struct mt_terms *terms, const struct term *term, size_t begin)
{
    const char *want = term->source;
    size_t at = begin;
    while (*want) {
        uint32_t c = mt_utf8_decode(want);
        if (mt_is_space(c)) {
            size_t end = skip_blanks(terms, at);
            if (end == at)
                return 0;
            at = end;
            while (mt_is_space(mt_utf8_decode(want)))
                want += mt_utf8_length((unsigned char)*want);
            continue;
        }
        if (at >= terms->length)
            return 0;
        uint32_t found = mt_utf8_decode(terms->text + at);
        if (found != c && (term->is_exact || fold(found) != fold(c)))
            return 0;
        want += mt_utf8_length((unsigned char)*want);
        at += mt_utf8_length((unsigned char)terms->text[at]);
    }
    return at;
}

/* Sets ICU's rules on the text; false where there is no memory for them. */
static bool set_words(struct mt_terms *terms)
{
    UErrorCode code = U_ZERO_ERROR;
    if (terms->is_set)
        return true;
    if (!terms->words)
        terms->words = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    utext_openUTF8(&terms->view, terms->text, (int64_t)terms->length, &code);
    if (U_SUCCESS(code))
        ubrk_setUText(terms->words, &terms->view, &code);
    terms->is_set = U_SUCCESS(code);
    terms->has_run_out = terms->has_run_out || !terms->is_set;
    return terms->is_set;
}

bool mt_terms_have_run_out(const struct mt_terms *terms)
{
    return terms->has_run_out;
}

static bool is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019;
}

/* Unicode's words hold the apostrophes of "can't", so "Foo's" would not hold the word Foo. */
static bool is_boundary(struct mt_terms *terms, size_t at)
{
    const char *text = terms->text;
    if (at == 0 || at == terms->length)
        return true;
    uint32_t before = mt_utf8_decode(text + mt_previous_char(text, at));
    uint32_t behind = mt_utf8_decode(text + at);
    if (is_apostrophe(before) || is_apostrophe(behind))
        return true;
    if (!set_words(terms) || at > INT32_MAX)
        return !mt_is_word_char(before) || !mt_is_word_char(behind);
    return ubrk_isBoundary(terms->words, (int32_t)at);
}

static bool find_at(struct mt_terms *terms, size_t begin, struct mt_term_match *out)
{
    for (size_t i = terms->buckets[bucket_of(terms->text + begin)]; i != MT_NO_TERM;
         i = terms->items[i].next) {
        size_t end = match_letters(terms, &terms->items[i], begin);
        if (end == 0 || !is_boundary(terms, begin) || !is_boundary(terms, end))
            continue;
        *out = (struct mt_term_match){.begin = begin, .end = end, .term = i};
        return true;
    }
    return false;
}

struct mt_term_match mt_terms_find(struct mt_terms *terms, size_t from)
{
    struct mt_term_match match = {terms->length, terms->length, MT_NO_TERM};
    for (size_t at = from; at < terms->length; at += mt_utf8_length((unsigned char)terms->text[at]))
        if (find_at(terms, at, &match))
            break;
    return match;
}
