/*
 * Finds messages with branches. The syntax around these becomes edges, each branch a text, and # a
 * number:
 *
 *   {count, plural, one {# item} other {# items}}                ICU
 *   {0, choice, 0#no items|1#one item|1<{0} items}               Java's MessageFormat
 *   {0} No items|{1} One item|]1,Inf[ %count% items              Symfony, Laravel; the whole text
 */
#include "server/text/codes/codes_state.h"
#include "server/text/numbers/number_signs.h"

#include <stdlib.h>
#include <string.h>

/* Deepest nesting of messages in branches of messages. */
#define MAX_DEPTH 8

struct icu {
    struct mt_codes_finder *finder;
    size_t *closing; /* for each opening brace, where its closing one is; 0: there is none */
};

/* Inside a message line breaks count as blanks. */
static size_t skip_blanks(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end && mt_codes_is_one_of(finder->text[at], " \t\r\n"))
        at++;
    return at;
}

static size_t skip_name(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end &&
           (mt_codes_is_name_char(finder->text[at]) || mt_codes_is_one_of(finder->text[at], ".-")))
        at++;
    return at;
}

static bool is_word(const struct mt_codes_finder *finder, size_t begin, size_t end,
                    const char *word)
{
    return end - begin == strlen(word) && memcmp(finder->text + begin, word, end - begin) == 0;
}

enum kind { SELECT, PLURAL, CHOICE };

/* Returns where the first selector is in the message that begins at `begin`; 0 where none begins
 * there. */
static size_t match_head(const struct icu *icu, size_t begin, enum kind *out)
{
    const struct mt_codes_finder *finder = icu->finder;
    size_t end = icu->closing[begin];
    size_t name = skip_blanks(finder, begin + 1, end), at = skip_name(finder, name, end);
    if (!end || at == name)
        return 0;
    at = skip_blanks(finder, at, end);
    if (finder->text[at] != ',')
        return 0;
    size_t kind = skip_blanks(finder, at + 1, end);
    at = skip_name(finder, kind, end);
    *out = is_word(finder, kind, at, "plural")          ? PLURAL
           : is_word(finder, kind, at, "selectordinal") ? PLURAL
           : is_word(finder, kind, at, "choice")        ? CHOICE
                                                        : SELECT;
    if (*out == SELECT && !is_word(finder, kind, at, "select"))
        return 0;
    at = skip_blanks(finder, at, end);
    return finder->text[at] == ',' ? at + 1 : 0;
}

/* Returns the opening brace of the next branch, behind its selector (one, =0, male), before which
 * there may be offset:1; 0 where there is none. */
static size_t match_selector(const struct icu *icu, size_t at, size_t end)
{
    const struct mt_codes_finder *finder = icu->finder;
    at = skip_blanks(finder, at, end);
    if (end - at > 7 && memcmp(finder->text + at, "offset:", 7) == 0)
        at = skip_blanks(finder, skip_name(finder, at + 7, end), end);
    size_t name = at + (finder->text[at] == '=');
    at = skip_name(finder, name, end);
    if (at == name)
        return 0;
    at = skip_blanks(finder, at, end);
    return at < end && finder->text[at] == '{' && icu->closing[at] ? at : 0;
}

/* ---- limits: 0, -1.5, *, Inf ---- */

static size_t skip_limit(const struct mt_codes_finder *finder, size_t at)
{
    at += mt_codes_is_one_of(finder->text[at], "+-");
    if (finder->text[at] == '*')
        return at + 1;
    if (strncmp(finder->text + at, "Inf", 3) == 0)
        return at + 3;
    return at + strspn(finder->text + at, "0123456789.");
}

/* Behind the limit of a choice's branch and its sign, or 0. */
static size_t match_choice(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    size_t begin = skip_blanks(finder, at, end);
    at = skip_limit(finder, begin);
    size_t sign = skip_blanks(finder, at, end);
    return at > begin && sign < end && mt_codes_is_one_of(finder->text[sign], "#<") ? sign + 1 : 0;
}

/* Behind {0}, {1,2}, [2,*] or ]1,Inf[ and the blanks that follow, or 0. */
static size_t match_interval(const struct mt_codes_finder *finder, size_t at)
{
    char open = finder->text[at];
    size_t n = 0, begin, end = finder->length;
    if (open != '{' && open != '[' && open != ']')
        return 0;
    do {
        begin = skip_blanks(finder, at + 1, end);
        at = skip_limit(finder, begin);
        if (at == begin)
            return 0;
        at = skip_blanks(finder, at, end);
        n++;
    } while (finder->text[at] == ',');
    bool is_closed = open == '{' ? finder->text[at] == '}'
                                 : n == 2 && mt_codes_is_one_of(finder->text[at], "[]");
    return is_closed ? skip_blanks(finder, at + 1, end) : 0;
}

static void take_intervals(struct mt_codes_finder *finder)
{
    size_t end = match_interval(finder, 0), n = 0;
    for (size_t i = end; end > 0 && i < finder->length; i++)
        n += finder->text[i] == '|';
    if (n == 0)
        return;
    mt_codes_claim(finder, MT_CODE_EDGE, 0, end);
    for (size_t i = end; i < finder->length; i++) {
        if (finder->text[i] != '|')
            continue;
        size_t next = skip_blanks(finder, i + 1, finder->length);
        end = match_interval(finder, next);
        mt_codes_claim(finder, MT_CODE_EDGE, i, end ? end : next);
    }
}

/* ---- messages ---- */

/* Where the branch of a choice ends that begins at `at`: at a sign or the message's end. */
static size_t find_bar(const struct icu *icu, size_t at, size_t end)
{
    const char *text = icu->finder->text;
    while (at < end && text[at] != '|')
        at = text[at] == '{' && icu->closing[at] ? icu->closing[at] + 1 : at + 1;
    return at;
}

static bool is_message(const struct icu *icu, size_t begin, enum kind *kind)
{
    size_t end = icu->closing[begin], n_branches = 0;
    size_t at = match_head(icu, begin, kind);
    while (at && *kind == CHOICE) {
        at = match_choice(icu->finder, at, end);
        at = at ? find_bar(icu, at, end) : 0;
        if (at == end)
            return true;
        at += at > 0;
    }
    if (!at)
        return false;
    for (;;) {
        if (skip_blanks(icu->finder, at, end) == end)
            return n_branches > 0;
        at = match_selector(icu, at, end);
        if (!at)
            return false;
        n_branches++;
        at = icu->closing[at] + 1;
    }
}

static void take_message(const struct icu *icu, size_t begin, size_t depth);

static void take_branch(const struct icu *icu, size_t begin, size_t end, bool is_plural,
                        size_t depth)
{
    const struct mt_codes_finder *finder = icu->finder;
    for (size_t i = begin; i < end; i++) {
        enum kind kind;
        if (finder->text[i] == '{' && icu->closing[i]) {
            if (depth < MAX_DEPTH && is_message(icu, i, &kind))
                take_message(icu, i, depth + 1);
            i = icu->closing[i];
        } else if (finder->text[i] == '#' && is_plural) { /* with the ending of an ordinal: #st */
            bool is_ordinal = i + 3 == end && mt_is_ordinal_ending(finder->text + i + 1, 2);
            mt_codes_claim(icu->finder, MT_CODE_NUMBER, i, is_ordinal ? end : i + 1);
        }
    }
}

static void take_message(const struct icu *icu, size_t begin, size_t depth)
{
    enum kind kind = SELECT;
    size_t end = icu->closing[begin], from = begin, at = match_head(icu, begin, &kind);
    while (from != end && skip_blanks(icu->finder, at, end) < end) {
        bool is_choice = kind == CHOICE;
        size_t branch =
            is_choice ? match_choice(icu->finder, at, end) : match_selector(icu, at, end) + 1;
        from = is_choice ? find_bar(icu, branch, end) : icu->closing[branch - 1];
        mt_codes_claim(icu->finder, MT_CODE_EDGE, begin, branch);
        take_branch(icu, branch, from, kind == PLURAL, depth);
        begin = from;
        at = from + 1;
    }
    mt_codes_claim(icu->finder, MT_CODE_EDGE, begin, end + 1);
}

static void pair_braces(struct icu *icu, size_t *open)
{
    const struct mt_codes_finder *finder = icu->finder;
    size_t n = 0;
    for (size_t i = 0; i < finder->length; i++) {
        if (finder->taken[i] != MT_FREE && finder->taken[i] != MT_TAKEN_BLANK)
            continue;
        if (finder->text[i] == '{')
            open[n++] = i;
        else if (finder->text[i] == '}' && n > 0)
            icu->closing[open[--n]] = i;
    }
}

static bool may_have_messages(const struct mt_codes_finder *finder)
{
    return memchr(finder->text, '{', finder->length) &&
           (memmem(finder->text, finder->length, "plural", 6) ||
            memmem(finder->text, finder->length, "choice", 6) ||
            memmem(finder->text, finder->length, "select", 6));
}

void mt_codes_find_icu(struct mt_codes_finder *finder)
{
    take_intervals(finder);
    if (!may_have_messages(finder))
        return;
    struct icu icu = {.finder = finder, .closing = calloc(finder->length, sizeof *icu.closing)};
    size_t *open = calloc(finder->length, sizeof *open);
    if (icu.closing && open) {
        pair_braces(&icu, open);
        take_branch(&icu, 0, finder->length, false, 0);
    } else {
        finder->status =
            mt_fail_memory(finder->err, finder->length * sizeof *open, "braces of a text");
    }
    free(icu.closing);
    free(open);
}
