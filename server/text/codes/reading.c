#include "server/text/codes/reading.h"

#include "base/ascii.h"
#include "model/tokenizer/tokenizer.h"
#include "server/text/tagged_text.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

/* Typographic signs and their equivalents on a typewriter. A dash that separates two thoughts is no
 * hyphen, so it gets blanks. */
static const struct sign {
    uint32_t code_point;
    const char *as;
} typewritten[] = {
    {0x00A0, " "},  {0x00AB, "\""}, {0x00B4, "'"},  {0x00BB, "\""},  {0x02BC, "'"},
    {0x2002, " "},  {0x2003, " "},  {0x2009, " "},  {0x200B, " "},   {0x2010, "-"},
    {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"},  {0x2014, " - "}, {0x2015, " - "},
    {0x2018, "'"},  {0x2019, "'"},  {0x201A, "'"},  {0x201B, "'"},   {0x201C, "\""},
    {0x201D, "\""}, {0x201E, "\""}, {0x201F, "\""}, {0x2026, "..."}, {0x202F, " "},
    {0x2032, "'"},  {0x2033, "\""}, {0x2039, "'"},  {0x203A, "'"},   {0x2044, "/"},
    {0x3000, " "},
};

static int compare(const void *key, const void *row)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct sign *)row)->code_point;
    return (a > b) - (a < b);
}

static bool reads_all(const struct mt_tokenizer *tokenizer, const char *ascii)
{
    for (; *ascii; ascii++)
        if (!mt_tokenizer_reads(tokenizer, (unsigned char)*ascii))
            return false;
    return true;
}

/* Returns the letter without its accent, or as a small letter; 0 where that is no letter of
 * ASCII. */
static uint32_t plain_letter(uint32_t code_point)
{
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFDInstance(&code);
    UChar parts[8];
    int32_t n = U_SUCCESS(code)
                    ? unorm2_getDecomposition(normalizer, (UChar32)code_point, parts, 8, &code)
                    : -1;
    if (U_SUCCESS(code) && n > 0)
        return parts[0] < 0x80 && u_isalpha(parts[0]) ? parts[0] : 0;
    return code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : 0;
}

/* Returns the simpler letter as a string, or NULL. */
static const char *simpler(const struct mt_tokenizer *tokenizer, uint32_t code_point)
{
    static const char letters[] =
        "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z\0"
        "A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0P\0Q\0R\0S\0T\0U\0V\0W\0X\0Y\0Z";
    uint32_t letter = plain_letter(code_point);
    if (letter && !mt_tokenizer_reads(tokenizer, letter))
        letter = letter <= 'Z' ? letter + ('a' - 'A') : 0;
    if (!letter || !mt_tokenizer_reads(tokenizer, letter))
        return NULL;
    return letters + 2 * (letter >= 'a' ? letter - 'a' : 26 + letter - 'A');
}

enum mt_reading mt_reading_of(const struct mt_tokenizer *tokenizer, uint32_t code_point,
                              const char **as)
{
    /* Normalisation removes this character before pieces are looked up. */
    if (tokenizer && code_point == 0xFEFF)
        return MT_INVISIBLE;
    if (!tokenizer || (mt_tokenizer_reads(tokenizer, code_point) && code_point != 0x200B))
        return MT_READS;
    bool is_ignorable =
        u_hasBinaryProperty((UChar32)code_point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
        u_charType((UChar32)code_point) == U_CONTROL_CHAR;
    if (is_ignorable && code_point != 0x200B) /* that one separates words */
        return MT_INVISIBLE;
    if (u_getCombiningClass((UChar32)code_point) != 0)
        return MT_READS; /* it composes with the letter before it */
    size_t n = sizeof typewritten / sizeof *typewritten;
    const struct sign *sign = bsearch(&code_point, typewritten, n, sizeof *typewritten, compare);
    const char *read_as = sign && reads_all(tokenizer, sign->as) ? sign->as : NULL;
    if (!sign)
        read_as = simpler(tokenizer, code_point);
    if (!read_as)
        return MT_READS_NOT;
    *as = read_as;
    return MT_READS_AS;
}

enum mt_reading mt_reading_at(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                              size_t end, size_t *n, const char **as)
{
    UErrorCode code = U_ZERO_ERROR;
    UChar32 c = (UChar32)mt_utf8_decode(text + at);
    size_t behind = at + mt_char_length(text + at);
    /* No combining mark has fewer than two bytes. */
    bool may_compose = behind < end && (unsigned char)text[behind] >= 0x80;
    const UNormalizer2 *normalizer = may_compose ? unorm2_getNFCInstance(&code) : NULL;
    while (normalizer && U_SUCCESS(code) && behind < end) {
        UChar32 pair = unorm2_composePair(normalizer, c, (UChar32)mt_utf8_decode(text + behind));
        if (pair < 0)
            break;
        c = pair;
        behind += mt_char_length(text + behind);
    }
    *n = behind - at;
    return mt_reading_of(tokenizer, (uint32_t)c, as);
}

size_t mt_reading_of_entity(const char *text, size_t at, size_t end)
{
    static const char *const entities[] = {"&#39;", "&#039;", "&#x27;", "&apos;", "&rsquo;", "\\'"};
    bool is_behind_letter =
        at > 0 && (text[at] == '&' || text[at] == '\\') && mt_ascii_is_letter(text[at - 1]);
    for (size_t i = 0; i < sizeof entities / sizeof *entities && is_behind_letter; i++) {
        size_t n = strlen(entities[i]);
        if (end - at > n && memcmp(text + at, entities[i], n) == 0 &&
            mt_ascii_is_letter(text[at + n]))
            return n;
    }
    return 0;
}

/* ---- days and months ---- */

/* Most bytes between two days, as in " – ". */
#define MAX_JOINT_BYTES 5

/* Returns the length of the English name of a day or month at text[at], or of its short form; 0:
 * there is none. *full gets the long form. */
static size_t day_at(const char *text, size_t at, size_t end, const char **full)
{
    static const struct {
        const char *full, *forms[3]; /* forms are the other ones, longest first */
    } names[] = {{"Monday", {"Mon"}},    {"Tuesday", {"Tues", "Tue"}},
                 {"Wednesday", {"Wed"}}, {"Thursday", {"Thurs", "Thur", "Thu"}},
                 {"Friday", {"Fri"}},    {"Saturday", {"Sat"}},
                 {"Sunday", {"Sun"}},    {"January", {"Jan"}},
                 {"February", {"Feb"}},  {"March", {"Mar"}},
                 {"April", {"Apr"}},     {"May", {NULL}},
                 {"June", {"Jun"}},      {"July", {"Jul"}},
                 {"August", {"Aug"}},    {"September", {"Sept", "Sep"}},
                 {"October", {"Oct"}},   {"November", {"Nov"}},
                 {"December", {"Dec"}}};
    bool may_be = at < end && text[at] && strchr("MTWFSJAOND", text[at]) &&
                  (at == 0 || !mt_ascii_is_letter(text[at - 1]));
    for (size_t i = 0; may_be && i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 4; k++) {
            const char *form = k == 0 ? names[i].full : names[i].forms[k - 1];
            size_t n = form ? strlen(form) : 0;
            if (n == 0)
                break;
            *full = names[i].full;
            if (end - at >= n && memcmp(text + at, form, n) == 0 &&
                (at + n == end || !mt_ascii_is_letter(text[at + n])))
                return n;
        }
    return 0;
}

bool mt_is_month(const char *text, size_t begin, size_t end)
{
    const char *full;
    return day_at(text, begin, end, &full) == end - begin && begin < end &&
           strcmp(full + strlen(full) - 3, "day") != 0;
}

/* Returns the length of a hyphen or dash at text[at]; 0: there is none. */
static size_t dash_at(const char *text, size_t at, size_t end)
{
    return at < end && text[at] == '-'                                  ? 1
           : end - at >= 3 && memcmp(text + at, "\xE2\x80\x93", 3) == 0 ? 3
                                                                        : 0;
}

/* A day has to end at text[at], and another one to follow the dash, without blanks. */
size_t mt_dash_of_days(const char *text, size_t at, size_t end)
{
    const char *full;
    size_t begin = at, n = dash_at(text, at, end);
    while (n > 0 && begin > 0 && mt_ascii_is_letter(text[begin - 1]))
        begin--;
    return n > 0 && begin < at && day_at(text, begin, at, &full) == at - begin &&
                   day_at(text, at + n, end, &full)
               ? n
               : 0;
}

static bool is_joint(char c)
{
    return !mt_ascii_is_letter_or_digit(c) && c != '\n';
}

/* Returns the length of a short day or month that is shown in full: Mon of "Mon–Fri", "Mon, Wed &
 * Fri", "Mon 9–13" and "Mon: closed"; Fri of "Fri, 3 May"; Dec. of "Dec. 31", Dec of "31 Dec". Its
 * full stop belongs to it where more follows. */
static size_t short_day_at(const char *text, size_t at, size_t end, const char **full)
{
    const char *other;
    size_t n = day_at(text, at, end, full), next = at + n, begin = at;
    if (n == 0 || n == strlen(*full))
        return 0;
    while (next < end && next - at - n < MAX_JOINT_BYTES && is_joint(text[next]))
        next++;
    while (begin > 0 && at - begin < MAX_JOINT_BYTES && is_joint(text[begin - 1]))
        begin--;
    size_t behind = begin;
    while (begin > 0 && mt_ascii_is_letter(text[begin - 1]))
        begin--;
    static const char closed[] = "closed";
    bool goes_on =
        next < end && next > at + n &&
        (day_at(text, next, end, &other) ||
         (text[next - 1] == ' ' &&
          (mt_ascii_is_digit(text[next]) ||
           (end - next >= strlen(closed) && !memcmp(text + next, closed, strlen(closed))))));
    bool is_last =
        (behind == at - 1 && text[behind] == ' ' && behind > 0 &&
         mt_ascii_is_digit(text[behind - 1])) ||
        (behind < at && day_at(text, begin, behind, &other) == behind - begin && behind > begin);
    return goes_on ? n + (text[at + n] == '.') : is_last ? n : 0;
}

/* Returns the length of "No." where "of" follows; 0: there is none. */
static size_t numero_at(const char *text, size_t at, size_t end, const char **full)
{
    static const char behind[] = "o. of ";
    if ((text[at] != 'N' && text[at] != 'n') || end - at <= sizeof behind ||
        memcmp(text + at + 1, behind, sizeof behind - 1) != 0 ||
        (at > 0 && mt_ascii_is_letter_or_digit(text[at - 1])))
        return 0;
    *full = text[at] == 'N' ? "Number" : "number";
    return strlen("No.");
}

size_t mt_reading_of_slashed(const char *text, size_t at, size_t end, const char **full)
{
    static const char *const forms[][2] = {
        {"w/o", "without"}, {"b/c", "because"}, {"w/", "with"}, {"W/o", "Without"}};
    bool may_be = at < end && strchr("wbW", text[at]) && text[at] &&
                  (at == 0 || !mt_ascii_is_letter_or_digit(text[at - 1]));
    for (size_t i = 0; may_be && i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i][0]);
        if (end - at >= n && memcmp(text + at, forms[i][0], n) == 0 &&
            (at + n == end || text[at + n] == ' ')) {
            if (full)
                *full = forms[i][1];
            return n;
        }
    }
    return 0;
}

/* Returns the length of "i.e." without a comma behind it, which models take for a sentence's end; 0:
 * there is none. */
static size_t id_est_at(const char *text, size_t at, size_t end, const char **full)
{
    static const char form[] = "i.e. ";
    if (text[at] != 'i' || end - at < sizeof form ||
        memcmp(text + at, form, sizeof form - 1) != 0 ||
        (at > 0 && mt_ascii_is_letter_or_digit(text[at - 1])))
        return 0;
    *full = at == 0 ? "that is," : "i.e.,";
    return strlen("i.e.");
}

/* Returns the length of "ca." before a number, which is shown as "about"; 0: there is none. */
static size_t circa_at(const char *text, size_t at, size_t end, const char **full)
{
    bool is_one = text[at] == 'c' && end - at > 4 && memcmp(text + at, "ca. ", 4) == 0 &&
                  mt_ascii_is_digit(text[at + 4]) &&
                  (at == 0 || !mt_ascii_is_letter_or_digit(text[at - 1]));
    *full = is_one ? "about" : *full;
    return is_one ? 3 : 0;
}

/* Returns the length of "hrs" behind a number, which is shown as "hours"; 0: there is none. */
static size_t hours_at(const char *text, size_t at, size_t end, const char **full)
{
    bool is_one = text[at] == 'h' && end - at >= 3 && memcmp(text + at, "hrs", 3) == 0 &&
                  (at + 3 == end || !mt_ascii_is_letter_or_digit(text[at + 3])) && at > 1 &&
                  text[at - 1] == ' ' && mt_ascii_is_digit(text[at - 2]);
    *full = is_one ? "hours" : *full;
    return is_one ? 3 : 0;
}

/* Returns the length of a comma between two words without a blank, as in "Hello,world", of which
 * models lose the second; 0: there is none. */
static size_t glued_comma_at(const char *text, size_t at, size_t end, const char **full)
{
    bool is_one = text[at] == ',' && at > 1 && end - at > 2 && mt_ascii_is_small(text[at - 1]) &&
                  mt_ascii_is_letter(text[at - 2]) && mt_ascii_is_letter(text[at + 1]) &&
                  mt_ascii_is_small(text[at + 2]);
    *full = is_one ? ", " : *full;
    return is_one;
}

/* Whether the vocabulary has pieces for months, but not for their short names. */
static bool lacks_short_months(const struct mt_tokenizer *tokenizer)
{
    size_t n_short = 0, n_full = 0;
    return !mt_reading_pieces(tokenizer, "Dec", 3, &n_short, NULL) &&
           !mt_reading_pieces(tokenizer, "December", 8, &n_full, NULL) && n_full < n_short;
}

size_t mt_reading_of_short_forms(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                                 size_t end, const char **as)
{
    const char *full = " - ";
    size_t n = mt_dash_of_days(text, at, end);
    if (n == 0)
        n = numero_at(text, at, end, &full);
    if (n == 0)
        n = mt_reading_of_slashed(text, at, end, &full);
    if (n == 0)
        n = id_est_at(text, at, end, &full);
    if (n == 0)
        n = hours_at(text, at, end, &full);
    if (n == 0)
        n = circa_at(text, at, end, &full);
    if (n == 0 && (n = glued_comma_at(text, at, end, &full)) == 0) {
        n = short_day_at(text, at, end, &full);
        if (n == 0 ||
            (strcmp(full + strlen(full) - 3, "day") != 0 && !lacks_short_months(tokenizer)))
            return 0;
    }
    *as = full;
    return n;
}

enum mt_status mt_reading_pieces(const struct mt_tokenizer *tokenizer, const char *text,
                                 size_t length, size_t *out, struct mt_error *err)
{
    struct mt_token_list tokens = {0};
    enum mt_status status = mt_tokenize(tokenizer, text, length, 0, &tokens, err);
    if (!status)
        *out = tokens.n;
    mt_token_list_finish(&tokens);
    return status;
}

bool mt_is_readable_word_char(const struct mt_tokenizer *tokenizer, uint32_t code_point)
{
    const char *as;
    return mt_is_word_char(code_point) && mt_reading_of(tokenizer, code_point, &as) <= MT_READS_AS;
}
