#include "server/text/codes/codes_state.h"

#include "base/vector.h"
#include "server/text/codes/reading.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* ---- characters ---- */

bool mt_codes_is_blank(uint32_t c)
{
    if (c > ' ' && c < 0x7F)
        return false;
    return mt_is_space(c) || mt_is_line_break(c);
}

bool mt_codes_is_letter(uint32_t c)
{
    if (c < 0x80)
        return mt_ascii_is_letter((char)c);
    return u_isalpha((UChar32)c) || (U_GET_GC_MASK((UChar32)c) & U_GC_M_MASK) != 0;
}

bool mt_codes_is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

/* Whether the character is punctuation that stands around words in sentences: full stops, commas,
 * quotation marks, brackets. */
static bool is_outer(uint32_t c)
{
    static const uint32_t marks[] = {'.',    ',',    ';',    ':',    '!',    '?',    '"',    '\'',
                                     0xA1,   0xBF,   0x2026, 0x3001, 0x3002, 0xFF01, 0xFF0C, 0xFF0E,
                                     0xFF1A, 0xFF1B, 0xFF1F, 0x60C,  0x61B,  0x61F,  0x6D4,  0x964};
    if (mt_ascii_is_letter((char)c) && c < 0x80)
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (c == marks[i])
            return true;
    return (U_GET_GC_MASK((UChar32)c) &
            (U_GC_PS_MASK | U_GC_PE_MASK | U_GC_PI_MASK | U_GC_PF_MASK)) != 0;
}

static bool is_dash(uint32_t c)
{
    return u_charType((UChar32)c) == U_DASH_PUNCTUATION || c == 0x2212;
}

bool mt_codes_is_sign(uint32_t c)
{
    if (mt_codes_is_blank(c) || is_outer(c) || is_dash(c) || mt_is_word_char(c))
        return false;
    return (U_GET_GC_MASK((UChar32)c) & (U_GC_S_MASK | U_GC_P_MASK | U_GC_NO_MASK)) != 0;
}

/* Returns how the model reads a character. For ASCII this is looked up once for the whole text. */
static enum mt_reading reading_of(const struct mt_codes_finder *finder, uint32_t c)
{
    const char *as;
    if (!finder->options->tokenizer)
        return MT_READS;
    return c < 0x80 ? (enum mt_reading)finder->ascii[c]
                    : mt_reading_of(finder->options->tokenizer, c, &as);
}

void mt_codes_learn(struct mt_codes_finder *finder)
{
    const char *as, *language = finder->options->source_lang;
    if (!finder->options->tokenizer)
        return;
    bool is_known[0x80] = {false}, is_ascii = true;
    for (size_t i = 0; i < finder->length; i++) {
        unsigned char c = (unsigned char)finder->text[i];
        if (c < 0x80 && !is_known[c])
            finder->ascii[c] = (unsigned char)mt_reading_of(finder->options->tokenizer, c, &as);
        is_known[c & 0x7F] |= c < 0x80;
        is_ascii = is_ascii && c < 0x80;
    }
    if (language && !is_ascii)
        finder->status = mt_scripts_of_language(language, &finder->scripts, finder->err);
}

/* Whether the character is of a script that the source language does not use. Latin and Greek
 * letters occur in texts of every script. */
static bool is_foreign(const struct mt_codes_finder *finder, uint32_t c)
{
    UErrorCode code = U_ZERO_ERROR;
    if (c < 0x400 || finder->scripts.n == 0)
        return false;
    bool is_east_asian = (c >= 0x3001 && c <= 0x303F) || (c >= 0xFF00 && c <= 0xFF65);
    UScriptCode script = is_east_asian ? USCRIPT_HAN : uscript_getScript((UChar32)c, &code);
    if (U_FAILURE(code) || script == USCRIPT_COMMON || script == USCRIPT_INHERITED ||
        script == USCRIPT_LATIN || script == USCRIPT_GREEK || script == USCRIPT_UNKNOWN)
        return false;
    for (size_t i = 0; i < finder->scripts.n; i++)
        if (finder->scripts.items[i] == script || finder->scripts.items[i] == USCRIPT_KOREAN)
            return false;
    return true;
}

bool mt_codes_is_unread(const struct mt_codes_finder *finder, uint32_t c)
{
    return c > ' ' && (reading_of(finder, c) == MT_READS_NOT || is_foreign(finder, c));
}

/* Whether the character is a letter that can only be read as another one, such as e for é. */
static bool is_respelt_letter(const struct mt_codes_finder *finder, uint32_t c)
{
    return mt_codes_is_letter(c) && reading_of(finder, c) == MT_READS_AS;
}

bool mt_codes_joins_numbers(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    bool is_arrow = c >= 0x2190 && c <= 0x21FF; /* arrows show nothing about the script */
    return (type == U_MATH_SYMBOL && !is_arrow) || type == U_CURRENCY_SYMBOL ||
           type == U_OTHER_NUMBER || type == U_LETTER_NUMBER || c == '^' || c == 0xA7 ||
           c == 0xB0 || c == 0xB5 || c == 0x2030 || c == 0x2032 || c == 0x2033 || c == 0x2103 ||
           c == 0x2109 || c == 0x2116;
}

bool mt_codes_is_invisible(const struct mt_codes_finder *finder, uint32_t c)
{
    return !mt_codes_is_blank(c) && reading_of(finder, c) == MT_INVISIBLE;
}

bool mt_codes_is_strange(const struct mt_codes_finder *finder, uint32_t c)
{
    return (c < 0x80 && c > ' ' && strchr("<>\\^|`=", (int)c)) || mt_codes_is_unread(finder, c);
}

bool mt_codes_is_among(const char *const *words, const char *bytes, size_t n)
{
    while (*words && (strlen(*words) != n || memcmp(*words, bytes, n) != 0))
        words++;
    return *words;
}

bool mt_codes_is_among_any_case(const char *const *words, const char *bytes, size_t n)
{
    while (*words && (strlen(*words) != n || strncasecmp(*words, bytes, n) != 0))
        words++;
    return *words;
}

size_t mt_codes_line_end(const struct mt_codes_finder *finder, size_t begin)
{
    for (; begin < finder->length; begin = mt_codes_next(finder, begin)) {
        unsigned char c = (unsigned char)finder->text[begin];
        if (c < ' ' ? mt_is_line_break(c)
                    : c >= 0x80 && mt_is_line_break(mt_codes_at(finder, begin)))
            break;
    }
    return begin;
}

size_t mt_codes_skip_blanks(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    while (begin < end && mt_codes_is_blank(mt_codes_at(finder, begin)))
        begin = mt_codes_next(finder, begin);
    return begin;
}

/* ---- claiming ---- */

bool mt_codes_is_free(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (finder->taken[i] != MT_FREE)
            return false;
    return true;
}

size_t mt_codes_first_own(const struct mt_coded_segment *segment, size_t begin)
{
    size_t low = 0, high = segment->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segment->codes[middle].at.begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the reader's codes in the range are completely in it. */
static bool holds_whole_codes(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_coded_segment *segment = finder->segment;
    for (size_t i = mt_codes_first_own(segment, begin);
         i < segment->n && segment->codes[i].at.begin < end; i++) {
        size_t mate = segment->codes[i].mate;
        if (segment->codes[i].at.end > end)
            return false;
        if (mate != MT_NO_MATE &&
            (segment->codes[mate].at.begin <= begin || segment->codes[mate].at.begin >= end))
            return false;
    }
    return true;
}

static enum mt_taken taken_by(enum mt_code_kind kind)
{
    switch (kind) {
    case MT_CODE_WORD:
    case MT_CODE_NUMBER:
    case MT_CODE_TERM:
        return MT_TAKEN_WORD;
    case MT_CODE_EDGE:
        return MT_TAKEN_EDGE;
    case MT_CODE_REPEAT:
        return MT_TAKEN_REPEAT;
    default:
        return MT_TAKEN_SIGN;
    }
}

static size_t add(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin, size_t end)
{
    if (MT_ROOM(&finder->found, &finder->capacity, finder->n + 1, "codes of a text", finder->err)) {
        finder->status = MT_MEMORY;
        return MT_NO_MATE;
    }
    finder->found[finder->n] = (struct mt_found){
        .code = {.kind = kind, .at = {begin, end}, .mate = MT_NO_MATE, .term = MT_NO_MATE}};
    memset(finder->taken + begin, (int)taken_by(kind), end - begin);
    return finder->n++;
}

static size_t claim(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                    size_t end, bool is_over)
{
    if (finder->status || begin >= end || finder->taken[begin] == MT_TAKEN_BLANK ||
        finder->taken[begin] == MT_TAKEN_OWN || finder->taken[end - 1] == MT_TAKEN_BLANK)
        return MT_NO_MATE;
    for (size_t i = begin; i < end && !is_over; i++)
        if (finder->taken[i] != MT_FREE && finder->taken[i] != MT_TAKEN_BLANK)
            return MT_NO_MATE;
    return holds_whole_codes(finder, begin, end) ? add(finder, kind, begin, end) : MT_NO_MATE;
}

size_t mt_codes_claim(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                      size_t end)
{
    return claim(finder, kind, begin, end, false);
}

size_t mt_codes_claim_over(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                           size_t end)
{
    return claim(finder, kind, begin, end, true);
}

bool mt_codes_claim_pair(struct mt_codes_finder *finder, struct mt_range open,
                         struct mt_range close)
{
    if (!mt_codes_is_free(finder, open.begin, open.end) ||
        !mt_codes_is_free(finder, close.begin, close.end) ||
        !holds_whole_codes(finder, open.begin, open.end) ||
        !holds_whole_codes(finder, close.begin, close.end))
        return false;
    size_t first = mt_codes_claim(finder, MT_CODE_OPEN, open.begin, open.end);
    size_t second = mt_codes_claim(finder, MT_CODE_CLOSE, close.begin, close.end);
    if (first == MT_NO_MATE || second == MT_NO_MATE)
        return false; /* memory is missing */
    finder->found[first].code.mate = second;
    finder->found[second].code.mate = first;
    return true;
}

void mt_codes_join(struct mt_codes_finder *finder)
{
    const struct mt_code *next = &finder->found[finder->n - 1].code;
    struct mt_code *code = &finder->found[finder->n - 2].code;
    if (!mt_codes_is_free(finder, code->at.end, next->at.begin) ||
        !holds_whole_codes(finder, code->at.end - 1, next->at.begin + 1))
        return;
    memset(finder->taken + code->at.end, (int)taken_by(code->kind), next->at.begin - code->at.end);
    code->at.end = next->at.end;
    finder->n--;
}

void mt_codes_change(struct mt_codes_finder *finder, size_t found, enum mt_code_kind kind)
{
    struct mt_code *code = &finder->found[found].code;
    code->kind = kind;
    memset(finder->taken + code->at.begin, (int)taken_by(kind), code->at.end - code->at.begin);
}

void mt_codes_loosen(struct mt_codes_finder *finder, size_t found)
{
    const struct mt_range at = finder->found[found].code.at;
    memset(finder->taken + at.begin, MT_TAKEN_LOOSE, at.end - at.begin);
}

/* ---- items ---- */

static void trim_core(const struct mt_codes_finder *finder, struct mt_codes_item *item)
{
    const char *text = finder->text;
    long n_round = 0, n_square = 0; /* opening minus closing brackets in the item */
    for (size_t i = item->begin; i < item->end; i++) {
        n_round += (text[i] == '(') - (text[i] == ')');
        n_square += (text[i] == '[') - (text[i] == ']');
    }
    size_t begin = item->begin, end = item->end;
    while (begin < end && is_outer(mt_utf8_decode(text + begin))) {
        n_round -= text[begin] == '(';
        n_square -= text[begin] == '[';
        begin = mt_codes_next(finder, begin);
    }
    while (end > begin && is_outer(mt_codes_before(finder, end))) {
        char last = text[end - 1];
        if ((last == ')' && n_round >= 0) || (last == ']' && n_square >= 0))
            break;
        n_round += last == ')';
        n_square += last == ']';
        end = mt_previous_char(text, end);
    }
    item->core_begin = begin;
    item->core_end = end;
}

static void look_at(const struct mt_codes_finder *finder, struct mt_codes_item *item)
{
    trim_core(finder, item);
    item->is_name = u_isupper((UChar32)mt_codes_at(finder, item->core_begin));
    for (size_t i = item->begin; i < item->end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (c < 0x80 && finder->ascii[c] == MT_READS && mt_ascii_is_letter((char)c)) {
            item->has_letter = true;
            continue;
        }
        bool is_unread = mt_codes_is_unread(finder, c);
        item->is_respelt = item->is_respelt || is_respelt_letter(finder, c);
        item->has_unread = item->has_unread || is_unread;
        item->has_letter = item->has_letter || (!is_unread && mt_codes_is_letter(c));
        item->has_digit = item->has_digit || (!is_unread && u_isdigit((UChar32)c));
    }
}

static struct mt_codes_item *next_item(struct mt_codes_finder *finder)
{
    if (MT_ROOM(&finder->items, &finder->items_capacity, finder->n_items + 1, "words of a text",
                finder->err)) {
        finder->status = MT_MEMORY;
        return NULL;
    }
    return &finder->items[finder->n_items++];
}

bool mt_codes_list_items(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    finder->n_items = 0;
    for (size_t i = begin; i < end;) {
        enum mt_taken taken = finder->taken[i];
        if (taken == MT_TAKEN_BLANK ||
            (taken == MT_FREE && mt_codes_is_blank(mt_codes_at(finder, i)))) {
            i = mt_codes_next(finder, i);
            continue;
        }
        struct mt_codes_item *item = next_item(finder);
        if (!item)
            return false;
        *item = (struct mt_codes_item){.begin = i, .taken = taken};
        while (i < end && finder->taken[i] == taken &&
               (taken != MT_FREE || !mt_codes_is_blank(mt_codes_at(finder, i))))
            i = mt_codes_next(finder, i);
        item->end = item->core_end = i;
        item->core_begin = item->begin;
        if (taken == MT_FREE)
            look_at(finder, item);
    }
    return true;
}
