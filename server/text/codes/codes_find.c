#include "server/text/codes/codes_find.h"

#include "base/ascii.h"
#include "server/text/codes/codes_state.h"
#include "server/text/codes/reading.h"
#include "server/text/terms.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Most bytes of a word with a full stop that may be an abbreviation alone: Corp. */
#define MAX_SHORT_BYTES 6

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz"

/* ---- in order ---- */

/* Orders codes by their beginning, the longer one first, and then the one that was found later. */
static int compare(const void *a, const void *b)
{
    const struct mt_found *one = a, *other = b;
    if (one->code.at.begin != other->code.at.begin)
        return one->code.at.begin < other->code.at.begin ? -1 : 1;
    if (one->code.at.end != other->code.at.end)
        return one->code.at.end > other->code.at.end ? -1 : 1;
    return one->place > other->place ? -1 : 1;
}

/* Sorts the codes, and drops those that begin inside another one. */
static enum mt_status sort(struct mt_codes_finder *finder)
{
    size_t *moved = calloc(finder->n + 1, sizeof *moved), n = 0, end = 0;
    if (!moved)
        return mt_fail_memory(finder->err, finder->n * sizeof *moved, "codes of a text");
    for (size_t i = 0; i < finder->n; i++)
        finder->found[i].place = i;
    if (finder->n > 1)
        qsort(finder->found, finder->n, sizeof *finder->found, compare);
    for (size_t i = 0; i < finder->n; i++) {
        const struct mt_found found = finder->found[i];
        bool is_covered = n > 0 && found.code.at.begin < end;
        moved[found.place] = is_covered ? MT_NO_MATE : n;
        if (is_covered)
            continue;
        finder->found[n++] = found;
        end = found.code.at.end;
    }
    for (size_t i = 0; i < n; i++) {
        struct mt_code *code = &finder->found[i].code;
        if (code->mate != MT_NO_MATE)
            code->mate = moved[code->mate];
        if (code->mate == MT_NO_MATE && (code->kind == MT_CODE_OPEN || code->kind == MT_CODE_CLOSE))
            code->kind = MT_CODE_POINT;
    }
    finder->n = n;
    free(moved);
    return MT_OK;
}

/* ---- pairs are nested, including the reader's ---- */

struct nest {
    struct mt_codes_finder *finder;
    size_t *open; /* twice the index of a code that was found; plus one: of the reader's codes */
    size_t n;
};

static void part(struct mt_codes_finder *finder, size_t found)
{
    struct mt_code *code = &finder->found[found].code;
    struct mt_code *mate = &finder->found[code->mate].code;
    code->kind = mate->kind = MT_CODE_POINT;
    code->mate = mate->mate = MT_NO_MATE;
}

static bool is_parted(const struct nest *nest, size_t open)
{
    return open % 2 == 0 && nest->finder->found[open / 2].code.mate == MT_NO_MATE;
}

static void close_own(struct nest *nest, size_t mate)
{
    while (nest->n > 0) {
        size_t top = nest->open[--nest->n];
        if (top == 2 * mate + 1)
            break;
        if (top % 2 == 0 && !is_parted(nest, top))
            part(nest->finder, top / 2);
    }
}

static void close_found(struct nest *nest, size_t found)
{
    while (nest->n > 0 && is_parted(nest, nest->open[nest->n - 1]))
        nest->n--;
    if (nest->n > 0 && nest->open[nest->n - 1] == 2 * nest->finder->found[found].code.mate)
        nest->n--;
    else
        part(nest->finder, found);
}

static enum mt_status nest_pairs(struct mt_codes_finder *finder)
{
    const struct mt_coded_segment *segment = finder->segment;
    struct nest nest = {.finder = finder,
                        .open = calloc(finder->n + segment->n + 1, sizeof *nest.open)};
    if (!nest.open)
        return mt_fail_memory(finder->err, finder->n * sizeof *nest.open, "codes of a text");
    for (size_t own = 0, i = 0; own < segment->n || i < finder->n;) {
        bool is_own = i == finder->n || (own < segment->n && segment->codes[own].at.begin <=
                                                                 finder->found[i].code.at.begin);
        const struct mt_code *code = is_own ? &segment->codes[own] : &finder->found[i].code;
        if (code->mate != MT_NO_MATE) {
            if (code->kind == MT_CODE_OPEN)
                nest.open[nest.n++] = is_own ? 2 * own + 1 : 2 * i;
            else if (is_own)
                close_own(&nest, code->mate);
            else
                close_found(&nest, i);
        }
        own += is_own;
        i += !is_own;
    }
    free(nest.open);
    return MT_OK;
}

/* ---- terms ---- */

/* Whether a code that the reader found, other than blanks, lies in [begin, end). *own is where to
 * look first, 0 before the first call; begin must not decrease from call to call. */
static bool is_across_own(const struct mt_codes_finder *finder, size_t *own, size_t begin,
                          size_t end)
{
    const struct mt_coded_segment *segment = finder->segment;
    while (*own < segment->n && segment->codes[*own].at.end <= begin)
        ++*own;
    for (size_t i = *own; i < segment->n && segment->codes[i].at.begin < end; i++)
        if (segment->codes[i].kind != MT_CODE_GAP && segment->codes[i].at.end > begin)
            return true;
    return false;
}

/* Separates the pairs of codes that begin inside a term, which replaces them; sort() then drops
 * these codes. */
static void give_way(struct mt_codes_finder *finder, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (finder->found[i].code.mate != MT_NO_MATE)
            part(finder, i);
}

/* Where a term and codes overlap, the one that begins first counts, and if both begin together the
 * longer one. */
static enum mt_status find_terms(struct mt_codes_finder *finder)
{
    struct mt_terms *terms = finder->options->terms;
    size_t n_codes = finder->n, first = 0, own = 0;
    mt_terms_search(terms, finder->text, finder->length, false);
    for (size_t from = 0; from < finder->length && !finder->status;) {
        struct mt_term_match match = mt_terms_find(terms, from);
        if (match.term == MT_NO_TERM)
            break;
        while (first < n_codes && finder->found[first].code.at.end <= match.begin)
            first++;
        size_t end = first;
        while (end < n_codes && finder->found[end].code.at.begin < match.end)
            end++;
        const struct mt_range none = {match.end, match.end};
        struct mt_range other = end > first ? finder->found[first].code.at : none;
        bool gives_way =
            other.begin < match.begin || (other.begin == match.begin && other.end > match.end);
        from = gives_way ? other.end : match.end;
        if (gives_way || is_across_own(finder, &own, match.begin, match.end))
            continue;
        give_way(finder, first, end);
        size_t found = mt_codes_claim_over(finder, MT_CODE_TERM, match.begin, match.end);
        if (found != MT_NO_MATE)
            finder->found[found].code.term = match.term;
    }
    return finder->status ? finder->status : sort(finder);
}

/* ---- prose ---- */

/* Returns the length of a word of ASCII letters in which only the first letter of each part may be
 * a capital: "don't", "Berlin", "I", "two-year". 0 for other words, and for A-Z, X-Real-IP and
 * O'Reilly. */
static size_t plain_word(const char *text)
{
    size_t n = 0;
    for (;;) {
        size_t begin = n;
        n += mt_ascii_is_capital(text[n]);
        n += strspn(text + n, SMALL_LETTERS);
        if (n == begin)
            return 0;
        if (text[n] != '\'' && text[n] != '-')
            return n == 3 && text[1] == '-' ? 0 : n;
        if (mt_ascii_is_capital(text[++n]))
            return 0;
    }
}

/* Whether the text consists of plain words (plain_word), with single blanks between them and at
 * most one of .,!? behind each, as in nearly all sentences. Such texts have no codes, so they are
 * not searched. */
static bool is_prose(const struct mt_codes_finder *finder)
{
    const char *text = finder->text, *as;
    size_t before = 0, n_before = 0;
    const struct mt_range all = {0, finder->length};
    if (finder->segment->n > 0 || finder->length == 1 || mt_codes_is_command(finder, all))
        return false;
    for (size_t at = 0;;) {
        size_t n = plain_word(text + at);
        bool is_repeat = n == n_before && strncasecmp(text + before, text + at, n) == 0;
        bool has_stop = text[at + n] == '.';
        if (has_stop && ((n == 2 && memcmp(text + at, "al", n) == 0) || /* et al. */
                         (at == 0 && at + n + 1 == finder->length && n < MAX_SHORT_BYTES)))
            return false;
        if (n == 0 || is_repeat || mt_codes_match_command(finder, at, finder->length))
            return false;
        before = at;
        n_before = n;
        at += n;
        at += n > 1 && text[at] != '\0' && strchr(".,!?", text[at]);
        if (at == finder->length && n == 1 && text[before] == 'A')
            return false; /* Type A */
        if (at == finder->length)
            break;
        if (text[at++] != ' ')
            return false;
    }
    for (size_t at = 0; at < finder->length && finder->options->tokenizer; at++)
        if (text[at] != ' ' &&
            mt_reading_of(finder->options->tokenizer, (unsigned char)text[at], &as) != MT_READS)
            return false;
    return true;
}

/* ---- all of it ---- */

static void take_own(struct mt_codes_finder *finder)
{
    const struct mt_coded_segment *segment = finder->segment;
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i];
        bool is_blank = code->kind == MT_CODE_GAP || code->kind == MT_CODE_BREAK;
        memset(finder->taken + code->at.begin, is_blank ? MT_TAKEN_BLANK : MT_TAKEN_OWN,
               code->at.end - code->at.begin);
    }
}

static void find(struct mt_codes_finder *finder)
{
    static void (*const finders[])(struct mt_codes_finder * finder) = {
        mt_codes_find_lines, mt_codes_find_icu,     mt_codes_find_syntax, mt_codes_find_words,
        mt_codes_find_edges, mt_codes_find_numbers, mt_codes_find_repeats};
    mt_codes_learn(finder);
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++)
        if (!finder->status)
            finders[i](finder);
}

static enum mt_status merge(struct mt_codes_finder *finder, struct mt_coded_segment *segment)
{
    if (finder->n == 0)
        return MT_OK;
    struct mt_code *codes = calloc(finder->n, sizeof *codes);
    if (!codes)
        return mt_fail_memory(finder->err, finder->n * sizeof *codes, "codes of a text");
    for (size_t i = 0; i < finder->n; i++)
        codes[i] = finder->found[i].code;
    enum mt_status status = mt_coded_merge(segment, codes, finder->n, finder->err);
    free(codes);
    return status;
}

enum mt_status mt_codes_find(struct mt_coded_segment *segment,
                             const struct mt_codes_options *options, struct mt_error *err)
{
    struct mt_codes_finder finder = {.text = segment->words.bytes,
                                     .length = segment->words.length,
                                     .options = options,
                                     .segment = segment,
                                     .err = err};
    if (finder.length == 0 || (!options->finds_codes && !options->terms))
        return MT_OK;
    if (!options->terms && is_prose(&finder))
        return MT_OK;
    finder.taken = calloc(finder.length, 1);
    if (!finder.taken)
        return mt_fail_memory(err, finder.length, "codes of a text");
    take_own(&finder);
    if (options->finds_codes)
        find(&finder);
    enum mt_status status = finder.status ? finder.status : sort(&finder);
    if (!status && options->terms)
        status = find_terms(&finder);
    if (!status)
        status = nest_pairs(&finder);
    if (!status)
        status = merge(&finder, segment);
    free(finder.taken);
    free(finder.found);
    free(finder.items);
    return status;
}
