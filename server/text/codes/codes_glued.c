/* Finds signs that touch words without belonging to them: "Back->", "Home>News", "Price²"; and signs
 * that a sentence is about: "the > sign". */
#include "server/text/codes/codes_state.h"

#include <unicode/uchar.h>

/* Fewest letters of a word in a path without blanks. */
#define LEAST_PATH_LETTERS 3
/* Fewest letters before the number of a note; cm² has fewer. */
#define LEAST_NOTED_LETTERS 4

static bool is_arrow(uint32_t c)
{
    return (c >= 0x2190 && c <= 0x21FF) || (c >= 0x2794 && c <= 0x27BE);
}

static bool is_superscript(uint32_t c)
{
    return c == 0xB9 || c == 0xB2 || c == 0xB3 || (c >= 0x2070 && c <= 0x2079);
}

static bool is_letter(const struct mt_codes_finder *finder, size_t at)
{
    return mt_codes_is_letter(mt_codes_at(finder, at));
}

/* Returns where the letters end that begin at text[at]. */
static size_t letters_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end && finder->taken[at] == MT_FREE && is_letter(finder, at))
        at = mt_codes_next(finder, at);
    return at;
}

static size_t letters_begin(const struct mt_codes_finder *finder, size_t at, size_t begin)
{
    while (at > begin && finder->taken[at - 1] == MT_FREE &&
           mt_codes_is_letter(mt_codes_before(finder, at)))
        at = mt_previous_char(finder->text, at);
    return at;
}

/* ---- at the ends of a text ---- */

/* Whether these signs may stand before a word without belonging to it. A few may begin a name, a
 * path or a placeholder, so the word has to look like one of a sentence. */
static bool may_lead(const struct mt_codes_finder *finder, size_t begin, size_t end, size_t word,
                     size_t word_end)
{
    bool has_arrow = false;
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        bool is_one = is_arrow(c) || is_superscript(c) ||
                      (c < 0x80 && c > ' ' && strchr("=+/~%:;,!?|\\^)]}<>-", (int)c));
        if (!is_one)
            return false;
        has_arrow = has_arrow || is_arrow(c) || is_superscript(c) || c == '>' || c == '<';
    }
    size_t second = mt_codes_next(finder, word);
    bool is_capital = u_isupper((UChar32)mt_codes_at(finder, word)) &&
                      u_islower((UChar32)mt_codes_at(finder, second));
    bool is_single = mt_codes_is_one_of(finder->text[begin], "-<>!?") &&
                     begin + 1 == end; /* is known elsewhere */
    bool is_path = end - begin == 2 && memcmp(finder->text + begin, "~/", 2) == 0;
    return second < word_end && !is_single && !is_path && (has_arrow || is_capital);
}

static void take_leading(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && finder->taken[at] == MT_FREE && !is_letter(finder, at) &&
           !mt_codes_is_blank(mt_codes_at(finder, at)) && !mt_codes_digit_at(finder, at))
        at = mt_codes_next(finder, at);
    size_t stop = letters_end(finder, at, end);
    uint32_t behind = stop < end ? mt_codes_at(finder, stop) : '\n';
    bool is_word = mt_codes_is_blank(behind) || mt_codes_is_one_of((char)behind, ".,!?:");
    is_word = is_word && (mt_codes_is_blank(behind) ||
                          mt_codes_is_blank(mt_codes_at(finder, stop + 1)) || stop + 1 >= end);
    if (at > begin && at < stop && is_word && may_lead(finder, begin, at, at, stop))
        mt_codes_claim(finder, MT_CODE_EDGE, begin, at);
}

static bool may_trail(const struct mt_codes_finder *finder, size_t part, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        char open = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0';
        if (open && memchr(finder->text + part, open, begin - part))
            return false;
        if (!is_arrow(c) && (c >= 0x80 || c <= ' ' || !strchr("=+/%~^>|\\&$#@({[)}]<-", (int)c)))
            return false;
    }
    return !(finder->text[begin] == '+' && end == begin + 2); /* Notepad++ */
}

static void take_trailing(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && finder->taken[at - 1] == MT_FREE) {
        uint32_t c = mt_codes_before(finder, at);
        if (mt_codes_is_letter(c) || mt_codes_is_blank(c) || mt_codes_is_digit(c))
            break;
        at = mt_previous_char(finder->text, at);
    }
    size_t word = letters_begin(finder, at, begin);
    bool is_word = word == begin || mt_codes_is_blank(mt_codes_before(finder, word)) ||
                   finder->taken[word - 1] == MT_TAKEN_EDGE;
    if (at < end && word + 1 < at && is_word && u_islower((UChar32)mt_codes_before(finder, at)) &&
        may_trail(finder, begin, at, end))
        mt_codes_claim(finder, MT_CODE_EDGE, at, end);
}

static void take_ends(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range part = mt_range_trim(finder->text, begin, end);
    if (part.end - part.begin < 3)
        return;
    take_trailing(finder, part.begin, part.end);
    take_leading(finder, part.begin, part.end);
}

/* ---- between words ---- */

/* Takes a sign of a path without blanks between two names: Home>News, Home→News. */
static void take_path(struct mt_codes_finder *finder, size_t at, size_t begin, size_t end)
{
    size_t next = mt_codes_next(finder, at);
    size_t from = letters_begin(finder, at, begin), stop = letters_end(finder, next, end);
    if (at - from < LEAST_PATH_LETTERS || stop - next < LEAST_PATH_LETTERS ||
        !u_isupper((UChar32)mt_codes_at(finder, from)) ||
        !u_isupper((UChar32)mt_codes_at(finder, next)) ||
        !u_islower((UChar32)mt_codes_before(finder, at)) ||
        !u_islower((UChar32)mt_codes_before(finder, stop)))
        return;
    uint32_t before = from > begin ? mt_codes_before(finder, from) : ' ', sign;
    uint32_t behind = stop < end ? mt_codes_at(finder, stop) : ' ';
    sign = mt_codes_at(finder, at);
    bool is_one = (mt_codes_is_blank(before) || before == sign) &&
                  (mt_codes_is_blank(behind) || behind == sign || behind == '.');
    if (is_one)
        mt_codes_claim(finder, MT_CODE_EDGE, at, next);
}

/* Takes wide punctuation that the model cannot read, beside a letter that it can: Hello，world. */
static void take_wide(struct mt_codes_finder *finder, size_t at)
{
    uint32_t before = mt_codes_before(finder, at), c = mt_codes_at(finder, at);
    size_t next = mt_codes_next(finder, at);
    uint32_t behind = mt_codes_at(finder, next);
    bool is_read = (mt_codes_is_letter(before) && !mt_codes_is_unread(finder, before)) ||
                   (mt_codes_is_letter(behind) && !mt_codes_is_unread(finder, behind));
    if (is_read && mt_codes_is_unread(finder, c))
        mt_codes_claim(finder, MT_CODE_EDGE, at, next);
}

/* Takes the number of a note behind a word: Price². */
static void take_note_number(struct mt_codes_finder *finder, size_t at, size_t begin, size_t end)
{
    size_t from = letters_begin(finder, at, begin), stop = at;
    while (stop < end && is_superscript(mt_codes_at(finder, stop)))
        stop = mt_codes_next(finder, stop);
    if (at - from >= LEAST_NOTED_LETTERS && !is_letter(finder, stop))
        mt_codes_claim(finder, MT_CODE_POINT, at, stop);
}

bool mt_codes_is_mentioned(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    static const char *const nouns[] = {"sign",   "symbol", "character", "operator", "key",
                                        "button", "signs",  "symbols",   "Symbol",   "arrow",
                                        "icon",   "emoji",  "means",     "stands",   NULL};
    if (!mt_codes_is_english(finder) || mt_codes_char(finder, end) != ' ' || begin < 2 ||
        finder->text[begin - 1] != ' ')
        return false;
    size_t stop = letters_end(finder, end + 1, finder->length);
    size_t from = letters_begin(finder, begin - 1, 0);
    return mt_codes_is_among(nouns, finder->text + end + 1, stop - end - 1) ||
           mt_codes_is_among(nouns, finder->text + from, begin - 1 - from);
}

/* Takes one to three signs between blanks that a sentence is about: "The > sign". */
static void take_mentioned(struct mt_codes_finder *finder, size_t at, size_t end)
{
    size_t stop = at;
    while (stop < end && stop < at + 3 && mt_codes_is_sign(mt_codes_at(finder, stop)))
        stop = mt_codes_next(finder, stop);
    if (stop > at && mt_codes_is_mentioned(finder, at, stop))
        mt_codes_claim(finder, MT_CODE_WORD, at, stop);
}

void mt_codes_take_glued(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t from = begin;
    for (size_t at = begin; at < end && !finder->status; at = mt_codes_next(finder, at)) {
        uint32_t c = mt_codes_at(finder, at);
        if (finder->taken[at] == MT_TAKEN_EDGE) {
            take_ends(finder, from, at);
            from = mt_codes_next(finder, at);
        }
        if (finder->taken[at] != MT_FREE || (c < 0x80 && !mt_codes_is_sign(c)) ||
            mt_codes_is_letter(c))
            continue;
        if (at > begin && finder->text[at - 1] == ' ')
            take_mentioned(finder, at, end);
        else if (c == '>' || is_arrow(c) || c == 0xBB || c == 0x203A)
            take_path(finder, at, begin, end);
        else if (is_superscript(c))
            take_note_number(finder, at, begin, end);
        else if (c == 0xFF0C || c == 0x3001 || c == 0x3002 || c == 0xFF1A || c == 0xFF1B ||
                 c == 0xFF01 || c == 0xFF1F)
            take_wide(finder, at);
    }
    take_ends(finder, from, end);
}
