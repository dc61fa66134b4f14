#include "server/text/numbers/number_notation.h"

#include <string.h>

#include <unicode/uchar.h>
#include <unicode/ustring.h>

#define MAX_GROUPS 16
#define MAX_DIGITS 40

/* The digits of a number without letters as ASCII, and the positions of its separators. */
struct parsed {
    char digits[MAX_DIGITS + 1];
    size_t n_digits;
    size_t ends[MAX_GROUPS]; /* where each group ends, in digits */
    uint32_t separators[MAX_GROUPS];
    size_t n; /* number of groups */
};

enum form { FORM_UNSURE, FORM_AS_IT_IS, FORM_AMOUNT };

static bool parse(const struct mt_notation_input *input, struct parsed *out)
{
    *out = (struct parsed){.n = 1};
    for (size_t at = 0; at < input->length; at += mt_char_length(input->number + at)) {
        uint32_t c = mt_utf8_decode(input->number + at);
        int digit = u_charDigitValue((UChar32)c);
        if (digit >= 0 && out->n_digits < MAX_DIGITS) {
            out->digits[out->n_digits++] = (char)('0' + digit);
            out->ends[out->n - 1] = out->n_digits;
        } else if (digit < 0 && out->n < MAX_GROUPS && !u_isalpha((UChar32)c)) {
            out->separators[out->n++] = c;
        } else {
            return false;
        }
    }
    return true;
}

static size_t group_digits(const struct parsed *number, size_t i)
{
    return number->ends[i] - (i > 0 ? number->ends[i - 1] : 0);
}

static uint32_t symbol_of(const UNumberFormat *format, UNumberFormatSymbol which)
{
    UChar units[8];
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = unum_getSymbol(format, which, units, 8, &code);
    return U_SUCCESS(code) && n == 1 ? units[0] : 0;
}

static bool is_blank_or_apostrophe(uint32_t c)
{
    return c == ' ' || c == 0xA0 || c == 0x202F || c == 0x2009 || c == '\'' || c == 0x2019;
}

/* Whether the language groups digits with c. Blanks and apostrophes may group in every language. */
static bool groups_digits(uint32_t c, uint32_t grouping)
{
    return c == grouping || is_blank_or_apostrophe(c);
}

/* Returns how many groups make the amount's whole number; 0: in this notation it is no amount. */
static size_t count_whole_groups(const struct parsed *number, const UNumberFormat *format)
{
    uint32_t decimal = symbol_of(format, UNUM_DECIMAL_SEPARATOR_SYMBOL);
    uint32_t grouping = symbol_of(format, UNUM_GROUPING_SEPARATOR_SYMBOL);
    size_t n = number->separators[number->n - 1] == decimal ? number->n - 1 : number->n;
    for (size_t i = 1; i < n; i++)
        if (!groups_digits(number->separators[i], grouping) || group_digits(number, i) != 3)
            return 0;
    return n > 1 && group_digits(number, 0) > 3 ? 0 : n;
}

/* Whether the number is like 12.05.2024: a year at one end, and two short groups. */
static bool is_date(const struct parsed *number)
{
    if (number->n != 3)
        return false;
    size_t first = group_digits(number, 0), last = group_digits(number, 2);
    return group_digits(number, 1) <= 2 &&
           ((first <= 2 && (last == 4 || last == 2)) || (first == 4 && last <= 2));
}

static bool has_separator(const struct parsed *number, uint32_t c)
{
    for (size_t i = 1; i < number->n; i++)
        if (number->separators[i] == c)
            return true;
    return false;
}

/* Whether the translation has commas where the source has full stops and is otherwise the same:
 * 07,02,2023 for 07.02.2023. */
static bool has_commas_for_points(const struct mt_notation_input *input)
{
    if (input->n_written != input->length)
        return false;
    for (size_t i = 0; i < input->length; i++) {
        char expected = input->number[i], written = input->written[i];
        if (written != expected && !(written == ',' && expected == '.'))
            return false;
    }
    return true;
}

static enum form form_of(const struct mt_notation_input *input, const struct parsed *number,
                         const UNumberFormat *format, size_t *n_whole)
{
    *n_whole = number->n;
    if (number->n == 1 || input->is_code)
        return FORM_AS_IT_IS;
    if (is_date(number))
        return has_commas_for_points(input) ? FORM_AS_IT_IS : FORM_UNSURE;
    if (has_separator(number, ':') || has_separator(number, '/'))
        return FORM_AS_IT_IS;
    *n_whole = count_whole_groups(number, format);
    if (*n_whole > 0)
        return FORM_AMOUNT;
    bool is_version = number->n > 2 && number->separators[1] == '.';
    for (size_t i = 2; i < number->n; i++)
        is_version = is_version && number->separators[i] == '.';
    return is_version ? FORM_AS_IT_IS : FORM_UNSURE;
}

/* Returns the only separator of what the translation has, between two groups; 0: it has none, or
 * several. */
static uint32_t written_separator(const struct mt_notation_input *input)
{
    struct parsed written;
    const struct mt_notation_input other = {.number = input->written, .length = input->n_written};
    bool has_one = input->n_written > 0 && parse(&other, &written) && written.n == 2;
    return has_one ? written.separators[1] : 0;
}

static enum mt_status fail_icu(UErrorCode code, struct mt_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR)
        return mt_fail_memory(err, 0, "a number's notation");
    return MT_OK; /* *is_sure stays false */
}

enum mt_status mt_number_format_open(UNumberFormatStyle style, const char *language,
                                     UNumberFormat **out, struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UNumberFormat *format = unum_open(style, NULL, 0, language, NULL, &code);
    const char *known =
        U_SUCCESS(code) ? unum_getLocaleByType(format, ULOC_VALID_LOCALE, &code) : "root";
    *out = U_SUCCESS(code) && strcmp(known, "root") != 0 ? format : NULL;
    if (!*out)
        unum_close(format);
    return fail_icu(code, err);
}

/* Appends digits and their fraction as the target language writes them. */
static enum mt_status write_amount(const struct mt_notation_input *input,
                                   const struct parsed *number, size_t n_whole, struct mt_text *out,
                                   bool *is_sure, struct mt_error *err)
{
    char plain[MAX_DIGITS + 2], bytes[4 * MT_MAX_NOTATION_BYTES];
    UChar units[MT_MAX_NOTATION_BYTES];
    size_t n_integer = number->ends[n_whole - 1], n_fraction = number->n_digits - n_integer;
    int32_t n_plain = (int32_t)number->n_digits, n_bytes = 0;
    UErrorCode code = U_ZERO_ERROR;
    UNumberFormat *format;
    enum mt_status status = mt_number_format_open(UNUM_DECIMAL, input->target_lang, &format, err);
    if (!format)
        return status;
    memcpy(plain, number->digits, n_integer);
    if (n_fraction > 0)
        plain[n_plain++ - (int32_t)n_fraction] = '.';
    memcpy(plain + n_integer + (n_fraction > 0), number->digits + n_integer, n_fraction);
    unum_setAttribute(format, UNUM_GROUPING_USED, n_whole > 1);
    unum_setAttribute(format, UNUM_FRACTION_DIGITS, (int32_t)n_fraction);
    uint32_t separator = written_separator(input);
    UChar symbol[] = {(UChar)separator};
    if (n_whole == 1 && n_fraction > 0 && (separator == '.' || separator == ','))
        unum_setSymbol(format, UNUM_DECIMAL_SEPARATOR_SYMBOL, symbol, 1, &code);
    int32_t n =
        unum_formatDecimal(format, plain, n_plain, units, MT_MAX_NOTATION_BYTES, NULL, &code);
    unum_close(format);
    if (U_SUCCESS(code))
        u_strToUTF8(bytes, sizeof bytes, &n_bytes, units, n, &code);
    if (U_FAILURE(code))
        return fail_icu(code, err);
    mt_text_append(out, bytes, (size_t)n_bytes);
    *is_sure = true;
    return mt_text_check(out, "a number", err);
}

static enum mt_status write_as_it_is(const struct parsed *number, struct mt_text *out,
                                     bool *is_sure, struct mt_error *err)
{
    for (size_t i = 0; i < number->n; i++) {
        if (i > 0)
            mt_text_append_char(out, number->separators[i]);
        size_t begin = i > 0 ? number->ends[i - 1] : 0;
        mt_text_append(out, number->digits + begin, number->ends[i] - begin);
    }
    *is_sure = true;
    return mt_text_check(out, "a number", err);
}

enum mt_status mt_number_write(const struct mt_notation_input *input, struct mt_text *out,
                               bool *is_sure, struct mt_error *err)
{
    struct parsed number;
    size_t n_whole;
    UErrorCode code = U_ZERO_ERROR;
    *is_sure = false;
    if (!parse(input, &number))
        return MT_OK;
    UNumberFormat *format = unum_open(UNUM_DECIMAL, NULL, 0, input->source_lang, NULL, &code);
    if (U_FAILURE(code))
        return fail_icu(code, err);
    enum form form = form_of(input, &number, format, &n_whole);
    unum_close(format);
    if (form == FORM_AMOUNT)
        return write_amount(input, &number, n_whole, out, is_sure, err);
    return form == FORM_AS_IT_IS ? write_as_it_is(&number, out, is_sure, err) : MT_OK;
}
