#include "server/text/capitals.h"

#include "base/ascii.h"
#include "base/text.h"
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

void mt_write_small(const char *text, size_t length, char *out)
{
    bool is_first = true;
    for (size_t at = 0, n; at < length; at += n) {
        uint32_t c = mt_utf8_decode(text + at);
        n = mt_utf8_encode(is_first ? c : (uint32_t)u_tolower((UChar32)c), out + at);
        is_first = is_first && !mt_is_capital(c);
    }
}
