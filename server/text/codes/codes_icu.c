/* Finds ICU's messages: {count, plural, one {# item} other {# items}}. The syntax around the
 * branches becomes edges, each branch a text, and # a number. */
#include "server/text/codes/codes_state.h"

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

/* Returns where the first selector is in the message that begins at `begin`; 0 where none begins
 * there. */
static size_t match_head(const struct icu *icu, size_t begin, bool *is_plural)
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
    *is_plural = is_word(finder, kind, at, "plural") || is_word(finder, kind, at, "selectordinal");
    if (!*is_plural && !is_word(finder, kind, at, "select"))
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

static bool is_message(const struct icu *icu, size_t begin, bool *is_plural)
{
    size_t end = icu->closing[begin], n_branches = 0;
    size_t at = match_head(icu, begin, is_plural);
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

static void take_message(const struct icu *icu, size_t begin, bool is_plural, size_t depth);

static void take_branch(const struct icu *icu, size_t begin, size_t end, bool is_plural,
                        size_t depth)
{
    const struct mt_codes_finder *finder = icu->finder;
    for (size_t i = begin; i < end; i++) {
        bool is_inner_plural = false;
        if (finder->text[i] == '{' && icu->closing[i]) {
            if (depth < MAX_DEPTH && is_message(icu, i, &is_inner_plural))
                take_message(icu, i, is_inner_plural, depth + 1);
            i = icu->closing[i];
        } else if (finder->text[i] == '#' && is_plural) {
            mt_codes_claim(icu->finder, MT_CODE_NUMBER, i, i + 1);
        }
    }
}

static void take_message(const struct icu *icu, size_t begin, bool is_plural, size_t depth)
{
    size_t end = icu->closing[begin], from = begin, at = match_head(icu, begin, &is_plural);
    while (skip_blanks(icu->finder, at, end) < end) {
        size_t branch = match_selector(icu, at, end), branch_end = icu->closing[branch];
        mt_codes_claim(icu->finder, MT_CODE_EDGE, from, branch + 1);
        take_branch(icu, branch + 1, branch_end, is_plural, depth);
        from = branch_end;
        at = branch_end + 1;
    }
    mt_codes_claim(icu->finder, MT_CODE_EDGE, from, end + 1);
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
            memmem(finder->text, finder->length, "select", 6));
}

void mt_codes_find_icu(struct mt_codes_finder *finder)
{
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
