/* Finds what stands before the words of a line and tells of them: times, fields of subtitles, who
 * says them. */
#include "server/text/codes/codes_state.h"

#include <string.h>

#include <unicode/uchar.h>

/* Fields before the words of a subtitle, and most bytes of them. */
#define MAX_FIELDS 9
#define MAX_FIELDS_BYTES 200
#define MAX_LABEL_BYTES 40

/* Whether a capital begins a word of at least two letters at text[at]. */
static bool begins_capital(const struct mt_codes_finder *finder, size_t at)
{
    return u_isupper((UChar32)mt_codes_at(finder, at)) && at + 1 < finder->length &&
           u_islower((UChar32)mt_codes_at(finder, mt_codes_next(finder, at)));
}

/* Returns where what is in braces at text[at] ends, if it is digits or a letter and a colon with
 * something: {50}, {Y:i}; `at`: there is none. */
static size_t field_end(const struct mt_codes_finder *finder, size_t at)
{
    size_t end = at + 1;
    if (mt_codes_char(finder, at) != '{')
        return at;
    bool is_style =
        mt_ascii_is_letter(mt_codes_char(finder, end)) && mt_codes_char(finder, end + 1) == ':';
    for (end += is_style ? 2 : 0; end - at < MAX_LABEL_BYTES; end++) {
        char c = mt_codes_char(finder, end);
        if (c == '}')
            return end > at + 1 ? end + 1 : at;
        if (!(is_style ? mt_codes_is_name_char(c) || mt_codes_is_one_of(c, "$,-")
                       : mt_ascii_is_digit(c)))
            return at;
    }
    return at;
}

/* {1}{50} and {Y:i} of MicroDVD, and the nine fields of "Dialogue: 0,0:00:01.00,...,,"; any name in
 * braces that touches a word with a capital. */
size_t mt_codes_match_fields(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char label[] = "Dialogue: ";
    size_t at = line->begin, n = 0;
    if (line->end - at > strlen(label) && memcmp(finder->text + at, label, strlen(label)) == 0) {
        while (at < line->end && n < MAX_FIELDS && at - line->begin < MAX_FIELDS_BYTES)
            n += finder->text[at++] == ',';
        return n == MAX_FIELDS && at < line->end ? at - line->begin : 0;
    }
    for (size_t end; (end = field_end(finder, at)) > at; at = end)
        n += mt_ascii_is_letter(finder->text[at + 1]) ? 2 : 1;
    if (n >= 2)
        return at < line->end ? at - line->begin : 0;
    at = line->begin;
    if (mt_codes_char(finder, at) != '{')
        return 0;
    while (at < line->end && (mt_codes_is_name_char(mt_codes_char(finder, at + 1))))
        at++;
    bool is_name =
        at > line->begin && mt_codes_char(finder, at + 1) == '}' && begins_capital(finder, at + 2);
    return is_name ? at + 2 - line->begin : 0;
}

/* Returns where the time of day at text[at] ends, 10:30 or 1:02:30; `at`: there is none. */
static size_t clock_end(const struct mt_codes_finder *finder, size_t at)
{
    size_t begin = at, n_colons = 0;
    for (size_t n; n_colons < 3; at++) {
        for (n = 0; n < 3 && mt_codes_digit_at(finder, at); n++)
            at++;
        if (n == 0 || n > 2 || (n_colons > 0 && n != 2))
            return begin;
        if (mt_codes_char(finder, at) != ':' || !mt_codes_digit_at(finder, at + 1))
            break;
        n_colons++;
    }
    return n_colons > 0 ? at : begin;
}

/* Returns the length of a dash at text[at]; 0: there is none. */
static size_t dash_length(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t c = mt_codes_at(finder, at);
    return c == '-' || c == 0x2013 || c == 0x2014 ? mt_codes_next(finder, at) - at : 0;
}

/* 00:10, 1:02:30 and 9:00-10:00 before a title, with a colon or a dash or neither; not 9:30 AM. */
size_t mt_codes_match_hour(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = clock_end(finder, line->begin);
    if (at == line->begin || !mt_codes_is_english(finder))
        return 0;
    size_t n = dash_length(finder, at), second = clock_end(finder, at + n);
    if (n > 0 && second > at + n)
        at = second;
    at += mt_codes_char(finder, at) == ':';
    size_t end = at;
    if (mt_codes_char(finder, at) == ' ' && (n = dash_length(finder, at + 1)) > 0 &&
        mt_codes_char(finder, at + 1 + n) == ' ')
        at += 1 + n;
    end = at;
    return end < line->end && mt_codes_char(finder, end) == ' ' && begins_capital(finder, end + 1)
               ? end - line->begin
               : 0;
}

/* The name of somebody in a chat: "<Tom> Hello", "Tom> Hello". */
size_t mt_codes_match_nick(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const tags[] = {"b",  "i",  "u",  "s",    "p",     "q",    "a", "em",
                                       "li", "h1", "h2", "code", "small", "span", NULL};
    bool has_open = mt_codes_char(finder, line->begin) == '<';
    size_t name = line->begin + has_open, at = name;
    while (at - name < MAX_LABEL_BYTES && (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
                                           (at > name && mt_codes_char(finder, at) == '-')))
        at++;
    bool is_one = at > name + 1 && mt_ascii_is_letter(finder->text[name]) &&
                  mt_codes_char(finder, at) == '>' && mt_codes_char(finder, at + 1) == ' ' &&
                  begins_capital(finder, at + 2) &&
                  !mt_codes_is_among_any_case(tags, finder->text + name, at - name) &&
                  !(has_open && memmem(finder->text + at, line->end - at, "</", 2));
    return is_one ? at + 1 - line->begin : 0;
}

bool mt_codes_is_addressed(const struct mt_codes_finder *finder, size_t at)
{
    static const char *const titles[] = {"Mr. ", "Mrs. ", "Ms. ", "Dr. ", "Prof. "};
    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++) {
        size_t n = strlen(titles[k]);
        if (at >= n && memcmp(finder->text + at - n, titles[k], n) == 0)
            return true;
    }
    return false;
}

/* Takes how somebody says something: TOM (smiling): Hello. */
static void take_manner(struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = line->begin, n_letters = 0;
    for (; at < line->end && at - line->begin < MAX_LABEL_BYTES; at++) {
        char c = finder->text[at];
        n_letters += mt_ascii_is_capital(c);
        if (!mt_ascii_is_capital(c) && !mt_ascii_is_digit(c) && !mt_codes_is_one_of(c, " .#'"))
            break;
    }
    char open = mt_codes_char(finder, at), close = open == '(' ? ')' : ']';
    if (n_letters < 2 || !mt_codes_is_one_of(open, "(["))
        return;
    const char *found = memchr(finder->text + at, close, line->end - at);
    size_t end = found ? (size_t)(found - finder->text) : at;
    if (end < at + 3 || end - at > MAX_LABEL_BYTES || mt_codes_char(finder, end + 1) != ':' ||
        !mt_ascii_is_small(finder->text[at + 1]))
        return;
    mt_codes_claim(finder, MT_CODE_EDGE, line->begin, at + 1);
    mt_codes_claim(finder, MT_CODE_EDGE, end, end + 2);
}

/* Takes the marks of a line that is sung: #Hello, it's me#. */
static void take_song(struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text + line->begin;
    size_t n = line->end - line->begin;
    if (n < 5 || text[0] != '#' || text[n - 1] != '#' || memchr(text + 1, '#', n - 2) ||
        !memchr(text, ' ', n) || !begins_capital(finder, line->begin + 1))
        return;
    mt_codes_claim(finder, MT_CODE_EDGE, line->begin, line->begin + 1);
    mt_codes_claim(finder, MT_CODE_EDGE, line->end - 1, line->end);
}

void mt_codes_take_labels(struct mt_codes_finder *finder, const struct mt_range *line)
{
    take_manner(finder, line);
    take_song(finder, line);
}
