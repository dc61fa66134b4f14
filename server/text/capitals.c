#include "server/text/capitals.h"

#include "base/ascii.h"
#include "base/text.h"
#include "server/text/codes/reading.h"
#include "server/text/splitter.h"
#include "server/text/tagged_text.h"

#include <string.h>

#include <unicode/uchar.h>

/* Most letters of an acronym that is a text by itself: NASA, HTTP. */
#define MAX_ACRONYM_LETTERS 4

bool mt_is_capital(uint32_t c)
{
    return u_isupper((UChar32)c) || u_istitle((UChar32)c);
}

/* Whether text[0, at) ends with the half of a day behind its hour: 9 PM. */
static bool ends_in_half(const char *text, size_t at)
{
    size_t begin = at >= 2 ? at - 2 : 0;
    bool is_half = begin > 0 && (text[begin] == 'A' || text[begin] == 'P') && text[at - 1] == 'M';
    begin -= is_half && text[begin - 1] == ' ';
    return is_half && begin > 0 && mt_ascii_is_digit(text[begin - 1]);
}

bool mt_is_in_capitals(const char *text, size_t length)
{
    size_t n_capitals = 0, n_words = 0;
    bool is_within = false;
    char bytes[4];
    for (size_t at = 0; at < length; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (u_islower((UChar32)c) ||
            mt_utf8_encode((uint32_t)u_tolower((UChar32)c), bytes) != mt_char_length(text + at))
            return false;
        bool is_word = mt_is_word_char(c);
        n_words += is_word && !is_within;
        is_within = is_word;
        n_capitals += mt_is_capital(c);
        n_capitals -= c == 'M' && ends_in_half(text, at + 1) ? 2 : 0;
    }
    return n_capitals > MAX_ACRONYM_LETTERS || (n_capitals > 1 && n_words > 1);
}

/* Returns the only word of the text, beside numbers, where that has 3 or 4 ASCII capitals and is no
 * acronym that is spelled like a word; otherwise an empty range. */
static struct mt_range short_word(const char *text, size_t length)
{
    static const char *const acronyms[] = {"LED", "WHO"};
    struct mt_range word = {0, length};
    while (word.begin < length && !mt_ascii_is_capital(text[word.begin]))
        word.begin += mt_char_length(text + word.begin);
    word.end = word.begin;
    while (word.end < length && mt_ascii_is_capital(text[word.end]))
        word.end++;
    size_t n = word.end - word.begin;
    bool is_one = n > 2 && n <= MAX_ACRONYM_LETTERS;
    for (size_t at = 0; at < length && is_one; at += mt_char_length(text + at))
        is_one =
            (at >= word.begin && at < word.end) || !u_isalpha((UChar32)mt_utf8_decode(text + at));
    for (size_t k = 0; k < sizeof acronyms / sizeof *acronyms; k++)
        is_one = is_one && (strlen(acronyms[k]) != n || memcmp(acronyms[k], text + word.begin, n));
    return is_one ? word : (struct mt_range){0, 0};
}

enum mt_status mt_is_shown_small(const struct mt_tokenizer *tokenizer, const char *text,
                                 size_t length, bool *out, struct mt_error *err)
{
    char small[MAX_ACRONYM_LETTERS];
    size_t n_small, n_capitals, n_least;
    struct mt_range word = short_word(text, length);
    size_t n = word.end - word.begin;
    *out = (n == 0 || !tokenizer) && mt_is_in_capitals(text, length);
    if (n == 0 || !tokenizer)
        return MT_OK;
    for (size_t i = 0; i < n && i < sizeof small; i++)
        small[i] = (char)(text[word.begin + i] | 0x20);
    enum mt_status status = mt_reading_pieces(tokenizer, small, n, &n_small, err);
    if (!status)
        status = mt_reading_pieces(tokenizer, text + word.begin, n, &n_capitals, err);
    if (!status)
        status = mt_reading_pieces(tokenizer, "a", 1, &n_least, err);
    *out = !status && n_small == n_least && n_capitals > n_small;
    return status;
}

void mt_write_small(const char *text, size_t length, char *out)
{
    bool is_first = true;
    for (size_t at = 0, n; at < length; at += n) {
        uint32_t c = mt_utf8_decode(text + at);
        n = mt_utf8_encode(is_first ? c : (uint32_t)u_tolower((UChar32)c), out + at);
        is_first = is_first && !mt_is_capital(c);
    }
}
