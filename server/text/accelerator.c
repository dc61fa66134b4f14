#include "server/text/accelerator.h"

#include "server/text/placeholders.h"
#include "server/text/splitter.h"

#include <string.h>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

static bool is_alnum_at(const char *text, size_t length, size_t at)
{
    return at < length && u_isalnum((UChar32)mt_utf8_decode(text + at));
}

/* Whether the "&" begins an entity such as "&amp;", so that it marks no accelerator. */
static bool is_entity(const char *text, size_t length, size_t at)
{
    size_t end = at + 1;
    while (is_alnum_at(text, length, end))
        end += mt_char_length(text + end);
    return end < length && text[end] == ';';
}

/* Within a word, the marks of "E&xit" and "E_xit" are accelerators; those of "R&D", "AT&T",
 * "file_name", "MAX_SIZE" and "API_call" are not. */
static bool is_within_label(const char *text, char mark, size_t word, size_t at)
{
    size_t last = mt_previous_char(text, at);
    uint32_t before = mt_utf8_decode(text + last), behind = mt_utf8_decode(text + at + 1);
    if (mark == '&')
        return u_isalpha((UChar32)before) &&
               !(u_isupper((UChar32)before) && u_isupper((UChar32)behind));
    return u_isupper((UChar32)mt_utf8_decode(text + word)) && u_islower((UChar32)behind) &&
           (last == word || u_islower((UChar32)before));
}

static bool is_mark(const char *text, size_t length, char mark, size_t word, size_t at)
{
    if (!is_alnum_at(text, length, at + 1) || (mark == '&' && is_entity(text, length, at)))
        return false;
    return word == at || is_within_label(text, mark, word, at);
}

/* Returns the mark's position, or length where there is none. */
static size_t find_mark(const char *text, size_t length, char mark)
{
    size_t found = length, n = 0, word = 0; /* word: where the word that holds `at` begins */
    struct mt_placeholder next = mt_placeholder_find(text, length, 0);
    for (size_t at = 0; at < length;) {
        if (next.kind != MT_NO_PLACEHOLDER && at >= next.begin) {
            at = word = next.end;
            next = mt_placeholder_find(text, length, at);
            continue;
        }
        if (text[at] == mark) {
            n++;
            found = is_mark(text, length, mark, word, at) ? at : length;
        }
        bool is_in_word = is_alnum_at(text, length, at) || text[at] == mark;
        at += mt_char_length(text + at);
        if (!is_in_word)
            word = at;
    }
    return n == 1 ? found : length;
}

struct mt_accelerator mt_accelerator_find(const char *text, size_t length)
{
    static const char marks[] = {'&', '_'};
    for (size_t i = 0; i < sizeof marks && length <= MT_MAX_LABEL_BYTES; i++) {
        size_t at = find_mark(text, length, marks[i]);
        if (at < length)
            return (struct mt_accelerator){marks[i], at};
    }
    return (struct mt_accelerator){0};
}

/* Chinese, Japanese and Korean letters have no keys of their own. */
static bool has_key(uint32_t c)
{
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)c, &code);
    return script != USCRIPT_HAN && script != USCRIPT_HIRAGANA && script != USCRIPT_KATAKANA &&
           script != USCRIPT_HANGUL && script != USCRIPT_BOPOMOFO;
}

/* Returns the position where the mark goes before a word: the first word that begins with this
 * letter, else the first word; length where there is none. */
static size_t find_place(const char *text, size_t length, uint32_t letter)
{
    size_t first = length;
    bool is_in_word = false;
    struct mt_placeholder next = mt_placeholder_find(text, length, 0);
    for (size_t at = 0; at < length;) {
        if (next.kind != MT_NO_PLACEHOLDER && at >= next.begin) {
            at = next.end;
            next = mt_placeholder_find(text, length, at);
            is_in_word = true;
            continue;
        }
        uint32_t c = mt_utf8_decode(text + at);
        bool begins = !is_in_word && u_isalnum((UChar32)c) && has_key(c);
        if (begins && u_tolower((UChar32)c) == u_tolower((UChar32)letter))
            return at;
        if (begins && first == length)
            first = at;
        /* no mark goes into %1 or &1 either */
        is_in_word = u_isalnum((UChar32)c) || (c < 0x80 && strchr("%&$@#{<\\", (int)c));
        at += mt_char_length(text + at);
    }
    return first;
}

/* Returns where the words end, before an ellipsis, a colon or blanks. */
static size_t find_end(const char *text, size_t length)
{
    while (length > 0) {
        size_t at = mt_previous_char(text, length);
        uint32_t c = mt_utf8_decode(text + at);
        bool is_passed = mt_is_space(c) || c == '.' || c == ':' || c == 0x2026 || c == 0xFF1A;
        if (!is_passed)
            break;
        length = at;
    }
    return length;
}

void mt_accelerator_place(char mark, uint32_t letter, const char *translation, size_t length,
                          struct mt_text *out)
{
    size_t at = find_place(translation, length, letter);
    if (memchr(translation, mark, length) || length == 0) {
        mt_text_append(out, translation, length);
    } else if (at < length) {
        mt_text_append(out, translation, at);
        mt_text_append(out, &mark, 1);
        mt_text_append(out, translation + at, length - at);
    } else {
        at = find_end(translation, length);
        mt_text_append(out, translation, at);
        mt_text_appendf(out, "(%c", mark);
        mt_text_append_char(out, (uint32_t)u_toupper((UChar32)letter));
        mt_text_append(out, ")", 1);
        mt_text_append(out, translation + at, length - at);
    }
}
