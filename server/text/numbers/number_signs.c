#include "server/text/numbers/number_signs.h"

#include "base/ascii.h"
#include "server/text/tagged_text.h"

#include <stdbool.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/unum.h>
#include <unicode/ustring.h>

/* Most letters, and most characters that are no blanks, in the mark of a note. */
#define MAX_MARK_LETTERS 2
#define MAX_MARK_CHARS 6
/* The same for one in brackets with a number, as in [n 3] and [note 12], which may have a blank. */
#define MAX_NUMBERED_LETTERS 4
#define MAX_NUMBERED_CHARS 10

/* Most bytes of a number whose sign is checked: enough for trillions with cents and separators. */
#define MAX_AMOUNT_BYTES 32
/* Most UTF-16 units in an ordinal of a language. */
#define MAX_ORDINAL_UNITS 32
#define MAX_ORDINAL_BYTES 96
#define MAX_ORDINAL_DIGITS 9
/* Most bytes of the letters behind an ordinal's digits, as in 4ème. */
#define MAX_ENDING_BYTES 5

static bool is_currency(uint32_t c)
{
    return u_charType((UChar32)c) == U_CURRENCY_SYMBOL;
}

/* ---- currency ---- */

/* The digits of an amount without separators. */
struct amount {
    char digits[MAX_AMOUNT_BYTES];
    size_t n;
};

static bool is_same_amount(const struct amount *a, const struct amount *b)
{
    return a->n == b->n && memcmp(a->digits, b->digits, a->n) == 0;
}

static size_t skip_blank(const char *text, size_t length, size_t at)
{
    return at < length && u_isspace((UChar32)mt_utf8_decode(text + at))
               ? at + mt_char_length(text + at)
               : at;
}

static size_t skip_blank_back(const char *text, size_t at)
{
    size_t before = at > 0 ? mt_previous_char(text, at) : 0;
    return at > 0 && u_isspace((UChar32)mt_utf8_decode(text + before)) ? before : at;
}

/* Returns the length of a separator of thousands or decimals between two digits; 0: there is
 * none. */
static size_t separator_at(const char *text, size_t length, size_t at)
{
    uint32_t c = at < length ? mt_utf8_decode(text + at) : 0;
    size_t n = c ? mt_char_length(text + at) : 0;
    bool is_one = c == '.' || c == ',' || c == '\'' || c == 0x2019 || c == 0xA0 || c == 0x202F;
    return is_one && at + n < length && mt_ascii_is_digit(text[at + n]) ? n : 0;
}

/* Reads the amount that begins at text[at] and returns where it ends; `at`: there is none. */
static size_t read_amount(const char *text, size_t length, size_t at, struct amount *out)
{
    size_t end = at;
    out->n = 0;
    while (end < length && out->n < MAX_AMOUNT_BYTES) {
        size_t n = out->n ? separator_at(text, length, end) : 0;
        if (!mt_ascii_is_digit(text[end + n]))
            break;
        out->digits[out->n++] = text[end + n];
        end += n + 1;
    }
    return end;
}

/* Returns where the amount that ends before text[end] begins; `end`: there is none. */
static size_t amount_begin(const char *text, size_t length, size_t end)
{
    size_t begin = end;
    while (begin > 0 && end - begin < MAX_AMOUNT_BYTES) {
        size_t before = mt_previous_char(text, begin);
        if (!mt_ascii_is_digit(text[before]) &&
            (begin == end || !separator_at(text, length, before)))
            break;
        begin = before;
    }
    return begin;
}

/* Finds the amount that a sign at text[at] belongs to: the one that it touches, or else the one
 * behind a blank. Returns false where there is none. */
static bool amount_of_sign(const char *text, size_t length, size_t at, struct amount *out)
{
    size_t behind = at + mt_char_length(text + at);
    size_t starts[] = {behind, amount_begin(text, length, at),
                       amount_begin(text, length, skip_blank_back(text, at)),
                       skip_blank(text, length, behind)};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (read_amount(text, length, starts[i], out) > starts[i])
            return true;
    return false;
}

/* Returns the sign that this amount has in the source; 0: it has none or several. *is_there: the
 * translation's own sign is among them. */
static uint32_t sign_in_source(const struct mt_number_signs *pair, const struct amount *amount,
                               uint32_t own, bool *is_there)
{
    uint32_t found = 0;
    bool has_others = false;
    *is_there = false;
    for (size_t at = 0; at < pair->n_source;) {
        uint32_t c = mt_utf8_decode(pair->source + at);
        struct amount other;
        if (is_currency(c) && amount_of_sign(pair->source, pair->n_source, at, &other) &&
            is_same_amount(amount, &other)) {
            *is_there = *is_there || c == own;
            has_others = has_others || (found && c != found);
            found = c;
        }
        at += mt_char_length(pair->source + at);
    }
    return has_others ? 0 : found;
}

static size_t write_currency(const struct mt_number_signs *pair, size_t at, uint32_t sign,
                             struct mt_text *out)
{
    struct amount amount;
    bool is_there;
    if (!amount_of_sign(pair->target, pair->n_target, at, &amount))
        return 0;
    uint32_t wanted = sign_in_source(pair, &amount, sign, &is_there);
    if (!wanted || is_there)
        return 0;
    mt_text_append_char(out, wanted);
    return mt_char_length(pair->target + at);
}

/* ---- ordinals ---- */

static bool is_word_char_at(const char *text, size_t length, size_t at)
{
    return at < length && mt_is_word_char(mt_utf8_decode(text + at));
}

/* Whether a word in Latin letters ends there. Other scripts need no blank behind it. */
static bool is_end(const char *text, size_t length, size_t at)
{
    return !is_word_char_at(text, length, at) || mt_utf8_decode(text + at) >= MT_FIRST_IDEOGRAPH;
}

bool mt_is_note_mark(const struct mt_raised *words)
{
    size_t n_chars = words->letters + words->digits + words->signs;
    bool is_numbered = words->digits > 0 && words->signs == 2 && words->blanks <= 1 &&
                       words->letters <= MAX_NUMBERED_LETTERS && n_chars <= MAX_NUMBERED_CHARS;
    bool is_one_word = words->blanks == 0 && words->letters <= MAX_MARK_LETTERS;
    return is_numbered || (n_chars > 0 && n_chars <= MAX_MARK_CHARS &&
                           (is_one_word || words->letters == 0)); /* a page, as in [3]: 207 */
}

bool mt_is_ordinal_ending(const char *bytes, size_t length)
{
    static const char *const endings[] = {"st", "nd", "rd",         "th",       "e",
                                          "er", "re", "\xC3\xA8me", "\xC2\xAA", "\xC2\xBA"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strlen(endings[i]) == length && memcmp(bytes, endings[i], length) == 0)
            return true;
    return false;
}

static const char *ending_of(uint32_t number)
{
    uint32_t last = number % 10, tens = number % 100 / 10;
    if (tens == 1 || last == 0 || last > 3)
        return "th";
    return last == 1 ? "st" : last == 2 ? "nd" : "rd";
}

/* Reads the digits at text[at] into *number and returns where they end. */
static size_t read_digits(const char *text, size_t length, size_t at, uint32_t *number)
{
    size_t end = at;
    for (*number = 0; end < length && mt_ascii_is_digit(text[end]) && end - at < MAX_ORDINAL_DIGITS;
         end++)
        *number = *number * 10 + (uint32_t)(text[end] - '0');
    return end;
}

/* Whether an English ordinal such as "1st", "2nd", "23rd" or "11th" begins at text[at]. */
static bool is_ordinal_at(const char *text, size_t length, size_t at, uint32_t *number)
{
    size_t end = read_digits(text, length, at, number);
    return end > at && end + 2 <= length && memcmp(text + end, ending_of(*number), 2) == 0 &&
           is_end(text, length, end + 2) &&
           (at == 0 || is_end(text, length, mt_previous_char(text, at)));
}

bool mt_is_ordinal(const char *text, size_t length)
{
    uint32_t number;
    return is_ordinal_at(text, length, 0, &number) &&
           read_digits(text, length, 0, &number) + 2 == length;
}

/* Returns the length of an English month's name at text[at]; 0: there is none. */
static size_t month_at(const char *text, size_t length, size_t at)
{
    static const char *const months[] = {
        "January",   "February", "March",    "April",    "May", "June", "July", "August",
        "September", "October",  "November", "December", "Jan", "Feb",  "Mar",  "Apr",
        "Jun",       "Jul",      "Aug",      "Sept",     "Sep", "Oct",  "Nov",  "Dec"};
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        size_t n = strlen(months[i]);
        if (length - at >= n && memcmp(text + at, months[i], n) == 0 &&
            is_end(text, length, at + n))
            return n;
    }
    return 0;
}

/* Whether the ordinal text[begin, end) is the day of a date: May 3rd, Dec. 3rd, 3rd May, 3rd of
 * May. */
static bool is_day(const char *text, size_t length, size_t begin, size_t end)
{
    size_t before = begin > 0 ? begin - 1 : 0;
    before -= before > 0 && text[before - 1] == '.';
    while (before > 0 && mt_ascii_is_letter(text[before - 1]))
        before--;
    if (before + 2 < begin && text[begin - 1] == ' ' && month_at(text, length, before))
        return true;
    if (length - end >= 4 && memcmp(text + end, " of ", 4) == 0)
        end += 3;
    return end < length && text[end] == ' ' && month_at(text, length, end + 1);
}

/* Whether the source has the ordinal. *as_day: it is the day of a date there. */
static bool is_in_source(const struct mt_number_signs *pair, uint32_t wanted, bool *as_day)
{
    uint32_t number, digits;
    for (size_t at = 0; at < pair->n_source; at++)
        if (mt_ascii_is_digit(pair->source[at]) &&
            is_ordinal_at(pair->source, pair->n_source, at, &number) && number == wanted) {
            size_t end = read_digits(pair->source, pair->n_source, at, &digits) + 2;
            *as_day = is_day(pair->source, pair->n_source, at, end);
            return true;
        }
    return false;
}

/* Whether the language has cardinal numbers for days except the first: le 1er mai, le 3 mai. */
static bool has_cardinal_days(const char *language)
{
    static const char *const languages[] = {"fr", "es", "it", "pt", "ca", "ro", "gl"};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strncmp(language, languages[i], 2) == 0 && !mt_ascii_is_letter(language[2]))
            return true;
    return false;
}

/* Returns the length of the letters behind an ordinal in these languages, as in 3e, 3er, 4ème and
 * 2º, but not in 3h. */
static size_t ending_at(const char *text, size_t length, size_t at)
{
    size_t end = at;
    uint32_t first = at < length ? mt_utf8_decode(text + at) : 0;
    if (first < 0x80 ? !first || !strchr("eirntd", (int)first) : first > 0xFF)
        return 0;
    while (is_word_char_at(text, length, end) && end - at < MAX_ENDING_BYTES)
        end += mt_char_length(text + end);
    return is_word_char_at(text, length, end) ? 0 : end - at;
}

/* Returns the length of an ordinal at target[at] that is English, or that a model misspelt: "2nd",
 * "2n", "1ster"; 0: there is none. */
static size_t copied_ordinal(const struct mt_number_signs *pair, size_t at, uint32_t *number)
{
    const char *text = pair->target;
    size_t end = read_digits(text, pair->n_target, at, number), n_letters = 0;
    while (end + n_letters < pair->n_target && mt_ascii_is_small(text[end + n_letters]))
        n_letters++;
    bool is_one = n_letters > 0 &&
                  memcmp(text + end, ending_of(*number), n_letters < 2 ? 1 : 2) == 0 &&
                  is_end(text, pair->n_target, end + n_letters);
    return is_one ? end + n_letters - at : 0;
}

static size_t write_ordinal(const struct mt_number_signs *pair, size_t at, struct mt_text *out)
{
    uint32_t number;
    size_t n = copied_ordinal(pair, at, &number);
    size_t end = read_digits(pair->target, pair->n_target, at, &number);
    size_t n_ending = ending_at(pair->target, pair->n_target, end);
    bool as_day;
    if (n + n_ending == 0 || !pair->target_lang || strncmp(pair->target_lang, "en", 2) == 0 ||
        !is_in_source(pair, number, &as_day))
        return 0;
    if (as_day && has_cardinal_days(pair->target_lang) && number > 1 && n_ending > 0) {
        mt_text_append(out, pair->target + at, end - at);
        return end + n_ending - at;
    }
    if (n == 0)
        return 0;
    UErrorCode code = U_ZERO_ERROR;
    UChar units[MAX_ORDINAL_UNITS];
    UNumberFormat *format = unum_open(UNUM_ORDINAL, NULL, 0, pair->target_lang, NULL, &code);
    int32_t n_units = U_SUCCESS(code)
                          ? unum_formatDouble(format, number, units, MAX_ORDINAL_UNITS, NULL, &code)
                          : 0;
    char bytes[MAX_ORDINAL_BYTES];
    int32_t n_bytes = 0;
    u_strToUTF8(bytes, sizeof bytes, &n_bytes, units, n_units, &code);
    bool is_written = U_SUCCESS(code) && (size_t)n_bytes <= sizeof bytes;
    mt_text_append(out, bytes, is_written ? (size_t)n_bytes : 0);
    unum_close(format);
    bool ends_in_stop = is_written && n_bytes > 0 && bytes[n_bytes - 1] == '.';
    char behind = at + n < pair->n_target ? pair->target[at + n] : '\0';
    if (ends_in_stop && behind == '-') /* "2.-Ausgabe" is no word */
        mt_text_append(out, " ", 1);
    return is_written ? n + (ends_in_stop && (behind == '.' || behind == '-')) : 0;
}

size_t mt_number_sign_write(const struct mt_number_signs *pair, size_t at, struct mt_text *out)
{
    char first = pair->target[at];
    if (mt_ascii_is_digit(first))
        return at > 0 && mt_ascii_is_digit(pair->target[at - 1]) ? 0 : write_ordinal(pair, at, out);
    if ((unsigned char)first < 0x80 && first != '$')
        return 0;
    uint32_t c = mt_utf8_decode(pair->target + at);
    return is_currency(c) ? write_currency(pair, at, c, out) : 0;
}
