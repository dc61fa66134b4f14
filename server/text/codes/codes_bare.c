/* Finds texts that are nothing but a number or a letter. */
#include "server/text/codes/codes_state.h"
#include "server/text/numbers/number_signs.h"

#include <unicode/uchar.h>

/* Most letters of a unit alone behind a number. */
#define MAX_UNIT_LETTERS 3
/* Most letters of an abbreviation that is a text. */
#define MOST_ABBREVIATED_LETTERS 5

/* Returns the end of digits that are one number in some language: 1,234.56, 1'234, 1 234. */
static size_t grouped_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    size_t stop = mt_codes_number_end(finder, at, end);
    while (stop > at && stop < end && stop - at <= 3 + 4 * 8) {
        uint32_t c = mt_codes_at(finder, stop);
        size_t next = mt_codes_next(finder, stop), group = mt_codes_number_end(finder, next, end);
        bool is_mark = c == '\'' || c == 0x2019 || (mt_codes_is_blank(c) && c != '\n');
        size_t n = 0;
        while (n < 4 && next + n < end && mt_codes_digit_at(finder, next + n))
            n++;
        if (!is_mark || n != 3 || group == next)
            break;
        stop = group;
    }
    return stop;
}

/* Whether the text is a number, with at most a sign, a currency's sign or % beside it, and brackets
 * around it. */
static bool is_bare(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n_numbers = 0;
    if (end - begin > 2 && finder->text[begin] == '(' && finder->text[end - 1] == ')') {
        begin++;
        end--;
    }
    for (size_t i = begin; i < end;) {
        uint32_t c = mt_codes_at(finder, i);
        size_t after = grouped_end(finder, i, end);
        bool is_sign = (c == '-' || c == '+' || c == 0x2212 || c == 0x2013) && n_numbers == 0;
        bool is_unit = c == '%' || u_charType((UChar32)c) == U_CURRENCY_SYMBOL;
        if (after == i && !is_sign && !is_unit && !mt_codes_is_blank(c))
            return false;
        n_numbers += after > i;
        i = after > i ? after : mt_codes_next(finder, i);
    }
    return n_numbers == 1;
}

/* Returns where text[begin, end) ends without the unit behind a number, as in 20°C, 5 km and 500ml,
 * of which models make hours and parts. */
static size_t without_unit(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    static const char *const units[] = {"m",   "mm",  "cm", "km",  "km/h", "mph", "g",   "mg",
                                        "kg",  "l",   "ml", "cl",  "dl",   "s",   "fps", "dpi",
                                        "px",  "pt",  "Hz", "kHz", "MHz",  "GHz", "W",   "kW",
                                        "kWh", "mAh", "V",  "dB",  "ppm",  "in",  "tsp", NULL};
    size_t unit = end;
    while (unit > begin &&
           (mt_ascii_is_letter(finder->text[unit - 1]) || finder->text[unit - 1] == '/'))
        unit--;
    if (unit < end && finder->taken[unit] != MT_FREE)
        return end;
    if (unit + 1 == end && mt_codes_before(finder, unit) == 0xB0)
        return mt_previous_char(finder->text, unit);
    return mt_codes_is_among(units, finder->text + unit, end - unit) ? unit : end;
}

/* Whether the text is a number, perhaps with its unit, or an English ordinal. */
static bool is_amount(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    return is_bare(finder, begin, without_unit(finder, begin, end)) ||
           (mt_codes_is_english(finder) && mt_is_ordinal(finder->text + begin, end - begin));
}

/* Whether the text is an English abbreviation that models guess at where it is alone. */
static bool is_abbreviation(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    static const char *const words[] = {"Ltd.",   "Co.",   "Corp.", "Inc.", "Ave.", "Blvd.",
                                        "Dept.",  "Sr.",   "Jr.",   "Mt.",  "Rd.",  "Ln.",
                                        "et al.", "i.e.",  "a.m.",  "p.m.", "cf.",  "ca.",
                                        "Est.",   "Bldg.", "Assn.", NULL};
    static const char *const numbers[] = {"No.", "no.", "NO.", "Nr.", NULL};
    struct mt_range part = mt_range_trim(finder->text, begin, end);
    const char *text = finder->text + part.begin;
    /* the head of a column of numbers, before the next cell */
    bool is_head = mt_codes_is_one_of(mt_codes_char(finder, end), "\t|") &&
                   mt_codes_is_among(numbers, text, part.end - part.begin);
    return mt_codes_is_english(finder) &&
           (is_head || mt_codes_is_among(words, text, part.end - part.begin));
}

/* Facts about a part text[begin, end) between edges or line breaks. */
struct part {
    size_t begin, end;
    size_t n_letters, letter; /* letter: where the last one is */
    bool has_letter;          /* it has a letter that the model would see */
    bool has_digit;           /* it has a digit that the model would see */
    bool has_code;            /* it has a code in the place of a word or number */
};

/* Returns the length of a name of capitals at text[at, end) that is no word of a language: without
 * vowels (HTTP, SSD), or joined with a number (UTF-8, COVID-19, U2, b42), or OK; 0: there is none. The PM of
 * 9 PM is a word. */
static size_t acronym_length(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    const char *text = finder->text;
    size_t begin = at;
    bool has_vowel = false;
    if (at < end && mt_ascii_is_small(text[at]) && mt_codes_digit_at(finder, at + 1))
        at++; /* r123 */
    else
        for (; at < end && mt_ascii_is_capital(text[at]); at++)
            has_vowel = has_vowel || strchr("AEIOUY", text[at]);
    bool has_number = mt_codes_char(finder, at) == '-' && mt_codes_digit_at(finder, at + 1);
    size_t n = at - begin, digits_end = at;
    while (digits_end < end && mt_codes_digit_at(finder, digits_end))
        digits_end++;
    if (n > 0 && digits_end > at && !mt_codes_is_letter(mt_codes_at(finder, digits_end)))
        return digits_end - begin; /* U2, MP3 */
    bool is_pm = n == 2 && memcmp(text + begin, "PM", n) == 0;
    bool is_ok = n == 2 && memcmp(text + begin, "OK", n) == 0;
    bool is_one = n > 1 && (has_number || !has_vowel) && !is_pm &&
                  !mt_codes_is_letter(mt_codes_at(finder, at));
    return is_one || is_ok ? n : 0;
}

/* Returns where the A is that a title of one or two words ends with, as in "Type A"; `end`: there is
 * none. Models take it for an article, and leave it out. */
static size_t last_letter(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n_blanks = 0, last = end - 1;
    if (end - begin < 4 || finder->text[last] != 'A' || finder->text[last - 1] != ' ' ||
        !mt_ascii_is_capital(finder->text[begin]))
        return end;
    for (size_t i = begin; i < last; i++) {
        n_blanks += finder->text[i] == ' ';
        if (finder->taken[i] != MT_FREE ||
            !(mt_ascii_is_letter(finder->text[i]) || finder->text[i] == ' ') ||
            (finder->text[i] == ' ' && !mt_ascii_is_capital(finder->text[i + 1])))
            return end;
    }
    return n_blanks <= 2 && mt_ascii_is_small(finder->text[last - 2]) ? last : end;
}

/* Whether each word of the text is such a name, as in HTTP 404 and 1 TB SSD, of which models make
 * words. */
static bool is_acronyms(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t at = begin, n; at < end; at += n) {
        bool begins = mt_codes_is_letter(mt_codes_at(finder, at)) && finder->taken[at] == MT_FREE;
        n = begins ? acronym_length(finder, at, end) : mt_codes_next(finder, at) - at;
        if (n == 0 || (begins && mt_codes_digit_at(finder, at - 1)))
            return false;
    }
    return true;
}

/* Whether the three letters of which text[last] is the last one are the code of a currency. */
static bool is_currency_code(const struct mt_codes_finder *finder, size_t last)
{
    const struct mt_codes_item item = {
        .taken = MT_FREE, .core_begin = last < 2 ? last : last - 2, .core_end = last + 1};
    return mt_codes_is_currency(finder, &item);
}

static void end_part(struct mt_codes_finder *finder, const struct part *part)
{
    size_t begin = part->begin, end = part->end;
    char letter = finder->text[part->letter];
    if (part->n_letters == 1 && !part->has_digit && !part->has_code && mt_ascii_is_letter(letter) &&
        letter != 'I') /* G, of a table or a row of chords; I is a word */
        mt_codes_claim_over(finder, MT_CODE_EDGE, part->letter, part->letter + 1);
    size_t last =
        begin < end && mt_codes_is_english(finder) ? last_letter(finder, begin, end) : end;
    if (last < end)
        mt_codes_claim(finder, MT_CODE_EDGE, last, end);
    bool is_named = part->n_letters > 0 && (part->has_digit || part->n_letters > 4) &&
                    is_acronyms(finder, begin, end);
    bool may_be_amount = part->has_letter ? part->has_digit && part->n_letters <= MAX_UNIT_LETTERS
                                          : part->has_digit || part->has_code;
    bool is_currency =
        !part->has_digit && !part->has_code &&
        ((part->n_letters == 3 && is_currency_code(finder, part->letter)) ||
         (part->n_letters <= 2 && part->n_letters > 0 && mt_ascii_is_capital(letter) &&
          mt_codes_char(finder, part->letter + 1) == '$')); /* US$ */
    bool is_short = part->n_letters <= MOST_ABBREVIATED_LETTERS && !part->has_digit &&
                    is_abbreviation(finder, begin, end);
    if (!may_be_amount && !is_named && !is_currency && !is_short)
        return;
    while (begin < end &&
           (finder->taken[begin] == MT_TAKEN_SIGN || finder->taken[begin] == MT_TAKEN_BLANK ||
            mt_codes_is_blank(mt_codes_at(finder, begin))))
        begin = mt_codes_next(finder, begin);
    while (end > begin &&
           (finder->taken[end - 1] == MT_TAKEN_SIGN || finder->taken[end - 1] == MT_TAKEN_BLANK ||
            mt_codes_is_blank(mt_codes_before(finder, end))))
        end = mt_previous_char(finder->text, end);
    for (size_t i = begin; i < end; i++)
        if (finder->taken[i] == MT_TAKEN_SIGN)
            return; /* the digits of such a mixture are shown to the model */
    bool is_number = is_amount(finder, begin, end);
    is_named = is_named || is_currency || is_short;
    if (!is_number && !is_named && (part->has_letter || !part->has_digit))
        return; /* it is translated, or nothing of it is anyway */
    size_t found = mt_codes_claim_over(finder, MT_CODE_EDGE, begin, end);
    if (found != MT_NO_MATE && is_number)
        finder->found[found].code.form = MT_CODE_LOCAL_NUMBER;
}

void mt_codes_find_numbers(struct mt_codes_finder *finder)
{
    struct part part = {0};
    for (size_t i = 0; i < finder->length; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        enum mt_taken taken = finder->taken[i];
        if (taken == MT_TAKEN_EDGE || (mt_is_line_break(c) && taken != MT_TAKEN_BLANK)) {
            part.end = i;
            end_part(finder, &part);
            part = (struct part){.begin = mt_codes_next(finder, i)};
        } else if (taken == MT_TAKEN_OWN) {
            part.has_letter = true;
            part.n_letters += 2;
        } else if (taken == MT_FREE) {
            bool is_letter = mt_codes_is_letter(c) && u_isalpha((UChar32)c);
            bool is_unread = mt_codes_is_unread(finder, c);
            part.n_letters += is_letter;
            part.letter = is_letter ? i : part.letter;
            part.has_letter = part.has_letter || (is_letter && !is_unread);
            part.has_digit = part.has_digit || (u_isdigit((UChar32)c) && !is_unread);
        } else if (taken == MT_TAKEN_WORD) {
            part.has_code = true;
        }
    }
    part.end = finder->length;
    end_part(finder, &part);
}
