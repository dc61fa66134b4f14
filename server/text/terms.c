#include "server/text/terms.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"
#include "server/text/tagged_text.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

/* A glossary may have a million terms, so this has only where its strings begin among those of the
 * set, each with its NUL. */
struct term {
    uint32_t source, target; /* NO_TARGET: the term stays as it is */
    uint32_t length;         /* of the source */
    bool is_exact;           /* it was written with a capital, so only that spelling counts */
};

#define NO_TARGET UINT32_MAX
/* Most bytes of all strings, and most letters of all keys; 32-bit numbers count both. */
#define MAX_SET_BYTES ((size_t)1 << 30)

/*
 * What a term is found by: its letters, folded unless it is exact, any run of blanks as one ' '.
 * Keys are sorted, the exact ones first. Those that begin with the same letters stand together, the
 * shortest of them first:
 *
 *   c a r
 *   c a r t           Of them "cat" has the first in common, then the first two; the third is in
 *   c a r t   b y     the last key alone, which ends there.
 *   c a t
 *
 * So each letter of the text is looked at once, at most MT_MAX_TERM_BYTES of them, and halves the
 * keys in question until those are left that have it.
 */
struct key {
    uint32_t begin, length; /* in letters */
    uint32_t term;
};

/* Terms, and their keys. A set that several hold does not change any more. */
struct set {
    atomic_size_t n_holders;
    struct term *items;
    struct key *keys;
    size_t n, capacity, keys_capacity;
    char *strings;
    size_t n_bytes, strings_capacity;
    size_t n_ordered;  /* how many keys are sorted; the others were added later */
    size_t n_exact;    /* exact ones among them */
    uint32_t *letters; /* of all keys, each at most MT_MAX_TERM_BYTES */
    size_t n_letters, letters_capacity;
    /* A hash table of sources: 1 + the term's index, at the source's hash or behind it; 0 ends a
     * run. Its size is a power of two, and at least twice the number of terms. */
    uint32_t *places;
    size_t n_places;
};

struct mt_terms {
    struct set *set;
    /* what is searched */
    const char *text;
    size_t length;
    bool crosses_lines;
    UBreakIterator *words; /* made when a text first has the first letter of a term */
    UText view;
    bool is_set;               /* words has the text */
    unsigned char *boundaries; /* one bit for each byte of the text, valid up to known_to */
    size_t boundaries_bytes, known_to;
    bool has_run_out;
};

static uint32_t fold(uint32_t c)
{
    return (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT);
}

enum mt_status mt_terms_create(struct mt_terms **out, struct mt_error *err)
{
    struct mt_terms *terms = calloc(1, sizeof *terms);
    struct set *set = calloc(1, sizeof *set);
    if (!terms || !set) {
        free(terms);
        free(set);
        return mt_fail_memory(err, sizeof *terms + sizeof *set, "terms");
    }
    terms->view = (UText)UTEXT_INITIALIZER;
    terms->set = set;
    atomic_init(&set->n_holders, 1);
    *out = terms;
    return MT_OK;
}

static void let_go(struct set *set)
{
    if (atomic_fetch_sub(&set->n_holders, 1) > 1)
        return;
    free(set->items);
    free(set->strings);
    free(set->keys);
    free(set->letters);
    free(set->places);
    free(set);
}

void mt_terms_destroy(struct mt_terms *terms)
{
    if (!terms)
        return;
    let_go(terms->set);
    free(terms->boundaries);
    ubrk_close(terms->words);
    utext_close(&terms->view);
    free(terms);
}

/* ---- adding ---- */

/* Appends the text to the strings, without the blanks around it. */
static enum mt_status add_string(struct set *set, const char *field, const char *text,
                                 uint32_t *out, struct mt_error *err)
{
    struct mt_range inner = mt_range_trim(text, 0, strlen(text));
    size_t length = inner.end - inner.begin;
    if (length == 0)
        return mt_fail(err, MT_INVALID, "%s: found a blank term, expected words", field);
    if (length > MT_MAX_TERM_BYTES)
        return mt_fail(err, MT_INVALID, "%s: \"%.40s...\" is %zu bytes, at most %d are allowed",
                       field, text + inner.begin, length, MT_MAX_TERM_BYTES);
    size_t n_bytes = set->n_bytes + length + 1;
    if (n_bytes > MAX_SET_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: the terms are more than %zu bytes", field,
                       MAX_SET_BYTES);
    if (MT_ROOM(&set->strings, &set->strings_capacity, n_bytes, "terms", err))
        return MT_MEMORY;
    memcpy(set->strings + set->n_bytes, text + inner.begin, length);
    set->strings[n_bytes - 1] = '\0';
    *out = (uint32_t)set->n_bytes;
    set->n_bytes = n_bytes;
    return MT_OK;
}

static bool has_capital(const char *text)
{
    for (; *text; text += mt_char_length(text))
        if (u_isupper((UChar32)mt_utf8_decode(text)) || u_istitle((UChar32)mt_utf8_decode(text)))
            return true;
    return false;
}

static const char *source_of(const struct set *set, size_t term)
{
    return set->strings + set->items[term].source;
}

/* Returns the term's translation. */
static const char *target_of(const struct set *set, size_t term)
{
    bool stays = set->items[term].target == NO_TARGET;
    return stays ? source_of(set, term) : set->strings + set->items[term].target;
}

static enum mt_status reserve(struct set *set, struct mt_error *err)
{
    if (MT_ROOM(&set->keys, &set->keys_capacity, set->n + 1, "terms", err) ||
        MT_ROOM(&set->letters, &set->letters_capacity, set->n_letters + MT_MAX_TERM_BYTES, "terms",
                err))
        return MT_MEMORY;
    return MT_ROOM(&set->items, &set->capacity, set->n + 1, "terms", err);
}

/* Returns the place of the source in the table, or the place where it would be. */
static uint32_t *find_source(const struct set *set, const char *source)
{
    size_t at = mt_hash(MT_HASH_BEGIN, source, strlen(source)) & (set->n_places - 1);
    while (set->places[at] != 0 && strcmp(source_of(set, set->places[at] - 1), source) != 0)
        at = (at + 1) & (set->n_places - 1);
    return &set->places[at];
}

static enum mt_status reserve_place(struct set *set, struct mt_error *err)
{
    size_t n = set->n_places > 0 ? 2 * set->n_places : 16;
    if (2 * (set->n + 1) <= set->n_places)
        return MT_OK;
    uint32_t *places = calloc(n, sizeof *places);
    if (!places)
        return mt_fail_memory(err, n * sizeof *places, "terms");
    free(set->places);
    set->places = places;
    set->n_places = n;
    for (size_t i = 0; i < set->n; i++)
        *find_source(set, source_of(set, i)) = (uint32_t)i + 1;
    return MT_OK;
}

/* Adds the term's letters behind those in use. */
static void add_key(struct set *set, const struct term *term)
{
    struct key key = {.begin = (uint32_t)set->n_letters, .term = (uint32_t)set->n};
    for (const char *at = set->strings + term->source; *at;) {
        uint32_t c = mt_utf8_decode(at);
        bool is_blank = mt_is_space(c);
        at += mt_char_length(at);
        while (is_blank && mt_is_space(mt_utf8_decode(at)))
            at += mt_char_length(at);
        set->letters[key.begin + key.length++] = is_blank ? ' ' : term->is_exact ? c : fold(c);
    }
    set->n_letters += key.length;
    set->keys[set->n] = key;
}

/* The term's strings are the last ones of the set; they are removed again unless the term is
 * new. */
static enum mt_status insert(struct set *set, const char *field, const struct term *term,
                             struct mt_error *err)
{
    enum mt_status status = reserve(set, err);
    if (!status)
        status = reserve_place(set, err);
    if (status)
        return status;
    const char *source = set->strings + term->source;
    uint32_t *place = find_source(set, source);
    if (*place == 0) {
        set->items[set->n] = *term;
        add_key(set, term);
        *place = (uint32_t)++set->n;
        return MT_OK;
    }
    const struct term *known = &set->items[*place - 1];
    const char *before = target_of(set, *place - 1);
    const char *target = term->target == NO_TARGET ? source : set->strings + term->target;
    bool is_same =
        (known->target == NO_TARGET) == (term->target == NO_TARGET) && strcmp(before, target) == 0;
    set->n_bytes = term->source;
    if (is_same)
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "%s: \"%s\" is to become \"%s\", but before it was to become \"%s\"", field,
                   source, target, before);
}

enum mt_status mt_terms_add(struct mt_terms *terms, const char *field, const char *source,
                            const char *target, struct mt_error *err)
{
    struct set *set = terms->set;
    struct term term = {.target = NO_TARGET};
    size_t n_bytes = set->n_bytes;
    assert(!mt_terms_are_shared(terms));
    enum mt_status status = add_string(set, field, source, &term.source, err);
    if (!status && target)
        status = add_string(set, field, target, &term.target, err);
    if (!status) {
        const char *own = set->strings + term.source;
        term.length = (uint32_t)strlen(own);
        term.is_exact = has_capital(own);
        status = insert(set, field, &term, err);
    }
    if (status)
        set->n_bytes = n_bytes;
    return status;
}

enum mt_status mt_terms_add_others(struct mt_terms *terms, const struct mt_terms *others,
                                   struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < others->set->n && !status; i++) {
        const struct mt_term other = mt_terms_at(others, i);
        bool is_known = terms->set->n_places > 0 && *find_source(terms->set, other.source) > 0;
        if (!is_known)
            status = mt_terms_add(terms, "terms", other.source,
                                  other.is_verbatim ? NULL : other.target, err);
    }
    return status;
}

/* ---- order ---- */

static size_t count_shared(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
    size_t n = 0;
    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

static int compare_keys(const void *left, const void *right, void *context)
{
    const struct set *set = context;
    const struct key *a = left, *b = right;
    bool is_exact = set->items[a->term].is_exact;
    if (is_exact != set->items[b->term].is_exact)
        return is_exact ? -1 : 1;
    const uint32_t *letters = set->letters + a->begin, *others = set->letters + b->begin;
    size_t n = count_shared(letters, a->length, others, b->length);
    if (n < a->length && n < b->length)
        return letters[n] < others[n] ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->term < b->term ? -1 : 1;
}

static void order(struct set *set)
{
    if (set->n_ordered == set->n)
        return;
    qsort_r(set->keys, set->n, sizeof *set->keys, compare_keys, set);
    set->n_ordered = set->n;
    set->n_exact = 0;
    while (set->n_exact < set->n && set->items[set->keys[set->n_exact].term].is_exact)
        set->n_exact++;
}

enum mt_status mt_terms_share(struct mt_terms *terms, struct mt_terms **out, struct mt_error *err)
{
    enum mt_status status = mt_terms_create(out, err);
    if (status)
        return status;
    order(terms->set);
    let_go((*out)->set);
    (*out)->set = terms->set;
    atomic_fetch_add(&terms->set->n_holders, 1);
    return MT_OK;
}

size_t mt_terms_bytes(const struct mt_terms *terms)
{
    const struct set *set = terms->set;
    return set->capacity * sizeof *set->items + set->keys_capacity * sizeof *set->keys +
           set->letters_capacity * sizeof *set->letters + set->n_places * sizeof *set->places +
           set->strings_capacity;
}

bool mt_terms_are_shared(const struct mt_terms *terms)
{
    return atomic_load(&terms->set->n_holders) > 1;
}

size_t mt_terms_count(const struct mt_terms *terms)
{
    return terms->set->n;
}

struct mt_term mt_terms_at(const struct mt_terms *terms, size_t index)
{
    return (struct mt_term){.source = source_of(terms->set, index),
                            .target = target_of(terms->set, index),
                            .is_verbatim = terms->set->items[index].target == NO_TARGET};
}

static bool is_between_forms(const char *target, size_t length, size_t at)
{
    static const char others[] = " \t|";
    return target[at] == '|' && at > 0 && at + 1 < length && !strchr(others, target[at - 1]) &&
           !strchr(others, target[at + 1]);
}

bool mt_term_next_form(const char *target, size_t length, size_t *at, struct mt_range *out)
{
    size_t end = *at;
    if (end >= length)
        return false;
    while (end < length && !is_between_forms(target, length, end))
        end++;
    *out = (struct mt_range){.begin = *at, .end = end};
    *at = end + 1;
    return true;
}

bool mt_term_has_form(const char *target, size_t length, const char *words, size_t n)
{
    struct mt_range form;
    for (size_t at = 0; mt_term_next_form(target, length, &at, &form);)
        if (form.end - form.begin == n && memcmp(target + form.begin, words, n) == 0)
            return true;
    return false;
}

/* ---- finding ---- */

void mt_terms_search(struct mt_terms *terms, const char *text, size_t length, bool crosses_lines)
{
    order(terms->set);
    terms->text = text;
    terms->length = length;
    terms->crosses_lines = crosses_lines;
    terms->is_set = false;
}

static bool is_blank(const struct mt_terms *terms, uint32_t c)
{
    return mt_is_space(c) && (terms->crosses_lines || c != '\n');
}

/* Returns the position behind the blanks from `at` on. */
static size_t skip_blanks(const struct mt_terms *terms, size_t at)
{
    while (at < terms->length && is_blank(terms, mt_utf8_decode(terms->text + at)))
        at += mt_char_length(terms->text + at);
    return at;
}

/* Returns the letter at `at` in the form that keys have, and where the next one is; 0 at the end of
 * the text or of a line that must not be crossed. */
static uint32_t read_letter(const struct mt_terms *terms, size_t at, bool is_exact, size_t *next)
{
    if (at >= terms->length)
        return 0;
    unsigned char byte = (unsigned char)terms->text[at];
    *next = at + mt_utf8_length(byte);
    if (byte > ' ' && byte < 0x80)
        return is_exact || byte < 'A' || byte > 'Z' ? byte : byte + (uint32_t)('a' - 'A');
    uint32_t c = mt_utf8_decode(terms->text + at);
    if (!mt_is_space(c))
        return is_exact ? c : fold(c);
    if (!is_blank(terms, c))
        return 0;
    *next = skip_blanks(terms, *next);
    return ' ';
}

/* Makes room for one bit for each byte of the text and its end, all cleared. */
static bool clear_boundaries(struct mt_terms *terms)
{
    size_t n = terms->length / 8 + 1;
    if (n > terms->boundaries_bytes) {
        unsigned char *boundaries = realloc(terms->boundaries, n);
        if (!boundaries)
            return false;
        terms->boundaries = boundaries;
        terms->boundaries_bytes = n;
    }
    memset(terms->boundaries, 0, n);
    terms->known_to = 0;
    return true;
}

/* Gives the text to ICU's rules; false without memory. */
static bool set_words(struct mt_terms *terms)
{
    UErrorCode code = U_ZERO_ERROR;
    if (terms->is_set)
        return true;
    if (!terms->words)
        terms->words = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    utext_openUTF8(&terms->view, terms->text, (int64_t)terms->length, &code);
    if (U_SUCCESS(code))
        ubrk_setUText(terms->words, &terms->view, &code); /* sets it to the beginning */
    terms->is_set = U_SUCCESS(code) && clear_boundaries(terms);
    terms->has_run_out = terms->has_run_out || !terms->is_set;
    return terms->is_set;
}

/* Goes through the text once, word by word: ICU remembers only a few boundaries around the last
 * position, and begins anew for a term that ends farther away. */
static bool is_word_boundary(struct mt_terms *terms, size_t at)
{
    while (terms->known_to <= at) {
        int32_t next = ubrk_next(terms->words);
        if (next == UBRK_DONE) {
            terms->known_to = terms->length + 1;
            break;
        }
        terms->boundaries[next / 8] |= (unsigned char)(1u << next % 8);
        terms->known_to = (size_t)next + 1;
    }
    return terms->boundaries[at / 8] >> at % 8 & 1;
}

bool mt_terms_have_run_out(const struct mt_terms *terms)
{
    return terms->has_run_out;
}

static bool is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019;
}

/* Unicode's words include apostrophes, as in "can't". So these count as boundaries here, or "Foo's"
 * would not have the word Foo. */
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
    return is_word_boundary(terms, at);
}

/* Whether the term is longer, or as long and was added earlier. */
static bool comes_first(const struct mt_terms *terms, size_t term, size_t other)
{
    if (other == MT_NO_TERM)
        return true;
    size_t length = terms->set->items[term].length;
    size_t other_length = terms->set->items[other].length;
    return length != other_length ? length > other_length : term < other;
}

/* Adjacent keys. */
struct keys {
    size_t begin, end;
};

/* Returns the first of the keys, all of which have the same n letters, that continues with `letter`
 * or a later one. */
static size_t find_letter(const struct set *set, struct keys keys, size_t n, uint32_t letter)
{
    while (keys.begin < keys.end) {
        size_t middle = keys.begin + (keys.end - keys.begin) / 2;
        const struct key *key = &set->keys[middle];
        if (key->length == n || set->letters[key->begin + n] < letter)
            keys.begin = middle + 1;
        else
            keys.end = middle;
    }
    return keys.begin;
}

/* Finds terms of one kind that begin at `begin`; *best becomes the longest one. */
static void match_keys(struct mt_terms *terms, size_t begin, bool is_exact,
                       struct mt_term_match *best)
{
    const struct set *set = terms->set;
    struct keys keys = {is_exact ? 0 : set->n_exact, is_exact ? set->n_exact : set->n};
    size_t at = begin, next = begin;
    /* Here all keys have the n letters of the text from `begin` to `at`. */
    for (size_t n = 0; keys.begin < keys.end; n++, at = next) {
        if (n == 1 && !is_boundary(terms, begin))
            return;
        for (size_t i = keys.begin; i < keys.end && set->keys[i].length == n; i++) {
            size_t term = set->keys[i].term;
            if (comes_first(terms, term, best->term) && is_boundary(terms, at))
                *best = (struct mt_term_match){.begin = begin, .end = at, .term = term};
        }
        uint32_t letter = read_letter(terms, at, is_exact, &next);
        if (letter == 0)
            return;
        keys.begin = find_letter(set, keys, n, letter);
        keys.end = find_letter(set, keys, n, letter + 1);
    }
}

struct mt_term_match mt_terms_find(struct mt_terms *terms, size_t from)
{
    struct mt_term_match match = {terms->length, terms->length, MT_NO_TERM};
    for (size_t at = skip_blanks(terms, from); at < terms->length && match.term == MT_NO_TERM;
         at = skip_blanks(terms, at + mt_char_length(terms->text + at))) {
        match_keys(terms, at, true, &match);
        match_keys(terms, at, false, &match);
    }
    return match;
}
