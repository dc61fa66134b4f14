#include "server/text/terms.h"

#include "base/text.h"
#include "base/vector.h"
#include "server/text/marked.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

struct term {
    char *source, *target; /* target NULL: stays */
    size_t length;
    bool is_exact; /* written with a capital */
};

/*
 * What a term is found by: its letters, folded unless it is exact, any run of blanks as one ' '.
 * Keys are sorted, the exact ones first, and know how many letters they share with the one before:
 *
 *   c a r             0
 *   c a r t           3        Where "cat" meets the 'r' of the first key, what shares more than
 *   c a r t   b y     4        two letters has it too: the next to look at is "cat".
 *   c a t             2
 *
 * So each letter of the text is looked at once, at most MT_MAX_TERM_BYTES of them, and each key
 * passed at most once, however many terms begin alike.
 */
struct key {
    size_t begin, length; /* in letters */
    size_t n_shared;
    size_t term;
};

struct mt_terms {
    struct term *items;
    struct key *keys;
    size_t n, capacity, keys_capacity;
    uint32_t *letters; /* of all keys: at most MT_MAX_TERM_BYTES each */
    size_t n_letters, letters_capacity;
    /* what is searched */
    const char *text;
    size_t length;
    bool crosses_lines;
    UBreakIterator *words; /* made when a text first holds the first letter of a term */
    UText view;
    bool is_set;               /* words has the text */
    unsigned char *boundaries; /* a bit for each byte of the text, set as far as known_to */
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
    if (!terms)
        return mt_fail_memory(err, sizeof *terms, "terms");
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
    free(terms->keys);
    free(terms->letters);
    free(terms->boundaries);
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
    if (MT_ROOM(&terms->keys, &terms->keys_capacity, terms->n + 1, "terms", err))
        return MT_MEMORY;
    return MT_ROOM(&terms->items, &terms->capacity, terms->n + 1, "terms", err);
}

static enum mt_status reserve_letters(struct mt_terms *terms, struct mt_error *err)
{
    return MT_ROOM(&terms->letters, &terms->letters_capacity, terms->n_letters + MT_MAX_TERM_BYTES,
                   "terms", err);
}

/* Behind the letters that are in use; they are when the key is. */
static struct key write_key(struct mt_terms *terms, const char *source, bool is_exact)
{
    struct key key = {.begin = terms->n_letters};
    for (const char *at = source; *at;) {
        uint32_t c = mt_utf8_decode(at);
        bool is_blank = mt_is_space(c);
        at += mt_utf8_length((unsigned char)*at);
        while (is_blank && mt_is_space(mt_utf8_decode(at)))
            at += mt_utf8_length((unsigned char)*at);
        terms->letters[key.begin + key.length++] = is_blank ? ' ' : is_exact ? c : fold(c);
    }
    return key;
}

static size_t count_shared(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
    size_t n = 0;
    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

static bool is_exact_key(const struct mt_terms *terms, const struct key *key)
{
    return terms->items[key->term].is_exact;
}

/* The first key that does not come before these letters. */
static size_t find_place(const struct mt_terms *terms, const uint32_t *letters, size_t length,
                         bool is_exact)
{
    size_t begin = 0, end = terms->n;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        const struct key *key = &terms->keys[middle];
        const uint32_t *own = terms->letters + key->begin;
        size_t n = count_shared(own, key->length, letters, length);
        bool is_before = is_exact_key(terms, key) != is_exact
                             ? !is_exact
                             : n < length && (n == key->length || own[n] < letters[n]);
        if (is_before)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* How many letters the key at `place` shares with the one before. */
static void share(struct mt_terms *terms, size_t place)
{
    struct key *key = &terms->keys[place];
    const struct key *before = place > 0 ? key - 1 : NULL;
    bool is_first = !before || is_exact_key(terms, key) != is_exact_key(terms, before);
    key->n_shared = is_first ? 0
                             : count_shared(terms->letters + before->begin, before->length,
                                            terms->letters + key->begin, key->length);
}

/* "a b" and "a  b" have one key. */
static const struct term *find_source(const struct mt_terms *terms, const struct key *key,
                                      size_t place, const char *source)
{
    for (; place < terms->n; place++) {
        const struct key *other = &terms->keys[place];
        const struct term *term = &terms->items[other->term];
        if (strcmp(term->source, source) == 0)
            return term;
        if (count_shared(terms->letters + other->begin, other->length, terms->letters + key->begin,
                         key->length) < key->length)
            return NULL;
    }
    return NULL;
}

/* Takes the strings over where *added. */
static enum mt_status insert(struct mt_terms *terms, const char *field, char *source, char *target,
                             bool *added, struct mt_error *err)
{
    enum mt_status status = reserve(terms, err);
    if (!status)
        status = reserve_letters(terms, err);
    if (status)
        return status;
    bool is_exact = has_capital(source);
    struct key key = write_key(terms, source, is_exact);
    size_t place = find_place(terms, terms->letters + key.begin, key.length, is_exact);
    const struct term *known = find_source(terms, &key, place, source);
    if (known && is_same(known->target, target))
        return MT_OK;
    if (known)
        return mt_fail(
            err, MT_INVALID, "%s: \"%s\" is to become \"%s\", but before it was to become \"%s\"",
            field, source, target ? target : source, known->target ? known->target : known->source);
    key.term = terms->n;
    terms->n_letters += key.length;
    terms->items[terms->n] = (struct term){
        .source = source, .target = target, .length = strlen(source), .is_exact = is_exact};
    struct key *slot = &terms->keys[place];
    memmove(slot + 1, slot, (terms->n - place) * sizeof *slot);
    *slot = key;
    terms->n++;
    share(terms, place);
    if (place + 1 < terms->n)
        share(terms, place + 1);
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
                            .is_kept = !term->target};
}

/* ---- finding ---- */

void mt_terms_search(struct mt_terms *terms, const char *text, size_t length, bool crosses_lines)
{
    terms->text = text;
    terms->length = length;
    terms->crosses_lines = crosses_lines;
    terms->is_set = false;
}

static bool is_blank(const struct mt_terms *terms, uint32_t c)
{
    return mt_is_space(c) && (terms->crosses_lines || c != '\n');
}

/* Behind the blanks from `at` on. */
static size_t skip_blanks(const struct mt_terms *terms, size_t at)
{
    while (at < terms->length && is_blank(terms, mt_utf8_decode(terms->text + at)))
        at += mt_utf8_length((unsigned char)terms->text[at]);
    return at;
}

/* The letter at `at` as a key would have it, and where the next one is; 0 at the text's end, and at
 * that of a line which is not to be crossed. */
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

/* A bit for each byte of the text and its end, all of them 0. */
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
        ubrk_setUText(terms->words, &terms->view, &code); /* stands at its beginning */
    terms->is_set = U_SUCCESS(code) && clear_boundaries(terms);
    terms->has_run_out = terms->has_run_out || !terms->is_set;
    return terms->is_set;
}

/* Word by word from the text's beginning, each once. ICU remembers a few boundaries around the
 * place it was asked about last, and begins anew for a term that ends beyond them. */
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
    return is_word_boundary(terms, at);
}

/* Whether it is longer, or as long and was known before. */
static bool comes_first(const struct mt_terms *terms, size_t term, size_t other)
{
    if (other == MT_NO_TERM)
        return true;
    size_t length = terms->items[term].length, other_length = terms->items[other].length;
    return length != other_length ? length > other_length : term < other;
}

/* Looks at the terms of one kind that begin at `begin`; *best becomes the longest of them. */
static void match_keys(struct mt_terms *terms, size_t begin, bool is_exact,
                       struct mt_term_match *best)
{
    size_t at = begin, next = begin, n = 0;
    uint32_t letter = read_letter(terms, at, is_exact, &next);
    size_t i = find_place(terms, &letter, 1, is_exact);
    bool begins = i < terms->n && is_exact_key(terms, &terms->keys[i]) == is_exact &&
                  terms->letters[terms->keys[i].begin] == letter;
    if (!begins || !is_boundary(terms, begin))
        return;
    /* The text has the first n letters of the key, and ends before `at`. */
    do {
        const struct key *key = &terms->keys[i];
        while (n < key->length && terms->letters[key->begin + n] == letter) {
            n++;
            at = next;
            letter = read_letter(terms, at, is_exact, &next);
        }
        if (n == key->length && comes_first(terms, key->term, best->term) && is_boundary(terms, at))
            *best = (struct mt_term_match){.begin = begin, .end = at, .term = key->term};
        for (i++; i < terms->n && terms->keys[i].n_shared > n;)
            i++;
    } while (i < terms->n && terms->keys[i].n_shared == n);
}

struct mt_term_match mt_terms_find(struct mt_terms *terms, size_t from)
{
    struct mt_term_match match = {terms->length, terms->length, MT_NO_TERM};
    for (size_t at = skip_blanks(terms, from); at < terms->length && match.term == MT_NO_TERM;
         at = skip_blanks(terms, at + mt_utf8_length((unsigned char)terms->text[at]))) {
        match_keys(terms, at, true, &match);
        match_keys(terms, at, false, &match);
    }
    return match;
}
