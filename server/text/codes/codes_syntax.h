/*
 * What the finders of syntax share (codes_syntax.c, codes_symbols.c): what a matcher found, and how
 * they look at characters.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_CODES_SYNTAX_H
#define MT_SERVER_TEXT_CODES_CODES_SYNTAX_H

#include "server/text/codes/codes_state.h"

/* Most bytes of such a code, except that blocks of code and addresses may be longer. */
#define MT_MAX_SYNTAX_BYTES 256

struct mt_syntax {
    size_t n; /* length in bytes; 0: nothing was found */
    enum mt_code_kind kind;
    bool is_loose;
};

static const struct mt_syntax mt_no_syntax = {0};

static inline struct mt_syntax mt_syntax_word(size_t n)
{
    return (struct mt_syntax){.n = n, .kind = MT_CODE_WORD};
}

static inline struct mt_syntax mt_syntax_edge(size_t n)
{
    return (struct mt_syntax){.n = n, .kind = MT_CODE_EDGE};
}

static inline bool mt_syntax_starts(const struct mt_codes_finder *finder, size_t begin,
                                    const char *with)
{
    size_t n = strlen(with);
    return finder->length - begin >= n && memcmp(finder->text + begin, with, n) == 0;
}

/* Whether a letter or digit is before text[begin], or at text[at]. */
static inline bool mt_syntax_is_word_before(const struct mt_codes_finder *finder, size_t begin)
{
    uint32_t c = mt_codes_before(finder, begin);
    return mt_codes_is_letter(c) || mt_codes_is_digit(c);
}

static inline bool mt_syntax_is_word_at(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t c = mt_codes_at(finder, at);
    return mt_codes_is_letter(c) || mt_codes_is_digit(c);
}

/* Returns the bytes from text[begin] to the closing string, including it, in the same line; 0:
 * there is none, or too far away. */
size_t mt_syntax_closed_by(const struct mt_codes_finder *finder, size_t begin, const char *closing,
                           size_t most);

/* Matches what a sign marks as a name at text[begin]: :name, $name, !name, ::name, #123456, and
 * signs for colours. */
struct mt_syntax mt_syntax_match_symbol(const struct mt_codes_finder *finder, size_t begin);
/* Matches a mention or a tag: @name, #tag. */
struct mt_syntax mt_syntax_match_mention(const struct mt_codes_finder *finder, size_t begin);

#endif
