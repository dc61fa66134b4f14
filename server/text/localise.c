#include "server/text/localise.h"

#include "base/ascii.h"
#include "server/text/numbers/number_notation.h"
#include "server/text/numbers/number_signs.h"

#include <string.h>

#include <unicode/uchar.h>
#include <unicode/udat.h>
#include <unicode/ulocdata.h>
#include <unicode/ustring.h>

#define MAX_QUOTE_UNITS 8
#define MAX_PATTERN_UNITS 64

/* Most UTF-16 units that a language writes before or behind a number, including the sign itself. */
#define MAX_AFFIX_UNITS 16

/* A number with the signs beside it: -5, $1,234.56, 50 %. */
struct bare {
    struct mt_range digits;
    struct mt_range minus; /* a minus or plus; empty: it has none */
    struct mt_range sign;  /* a currency's, or %; empty: it has none */
    bool is_simple;        /* otherwise there are only blanks beside it */
};

static bool is_minus(uint32_t c)
{
    return c == '-' || c == '+' || c == 0x2212 || c == 0x2013;
}

static bool is_currency(uint32_t c)
{
    return u_charType((UChar32)c) == U_CURRENCY_SYMBOL;
}

static struct bare read_bare(const char *words, size_t length)
{
    struct bare bare = {.digits = {0, length}, .is_simple = true};
    while (bare.digits.begin < length && !mt_ascii_is_digit(words[bare.digits.begin]))
        bare.digits.begin++;
    while (bare.digits.end > bare.digits.begin && !mt_ascii_is_digit(words[bare.digits.end - 1]))
        bare.digits.end--;
    for (size_t at = 0; at < length;) {
        if (at == bare.digits.begin)
            at = bare.digits.end;
        if (at == length)
            break;
        uint32_t c = mt_utf8_decode(words + at);
        size_t after = at + mt_char_length(words + at);
        if (c == '%' || is_currency(c)) {
            bare.is_simple = bare.is_simple && bare.sign.end == 0;
            bare.sign = (struct mt_range){at, after};
        } else if (is_minus(c) && at < bare.digits.begin && bare.minus.end == 0) {
            bare.minus = (struct mt_range){at, after};
        } else {
            bare.is_simple = bare.is_simple && u_isspace((UChar32)c);
        }
        at = after;
    }
    return bare;
}

/* Whether a language writes the sign on this side of an amount or a percentage. *blank gets the
 * blank between it and the number, 0: there is none. */
static bool has_sign(const UNumberFormat *format, UNumberFormatTextAttribute side, uint32_t *blank)
{
    UChar units[MAX_AFFIX_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = unum_getTextAttribute(format, side, units, MAX_AFFIX_UNITS, &code);
    *blank = 0;
    if (U_FAILURE(code) || n < 1 || n > MAX_AFFIX_UNITS)
        return false;
    UChar nearest = units[side == UNUM_POSITIVE_PREFIX ? n - 1 : 0];
    *blank = u_isspace(nearest) ? nearest : 0;
    return n > (*blank != 0);
}

/* Writes the number with its sign where the target language has it, as in 5,00 $, or nothing where
 * that is not known. */
static enum mt_status write_with_sign(const struct mt_localising *languages, const char *words,
                                      const struct bare *bare, const struct mt_text *number,
                                      struct mt_text *out, bool *is_written, struct mt_error *err)
{
    bool is_share = words[bare->sign.begin] == '%';
    uint32_t before, behind;
    UNumberFormat *format;
    enum mt_status status = mt_number_format_open(is_share ? UNUM_PERCENT : UNUM_CURRENCY,
                                                  languages->target_lang, &format, err);
    if (!format)
        return status;
    bool is_before = has_sign(format, UNUM_POSITIVE_PREFIX, &before);
    bool is_behind = has_sign(format, UNUM_POSITIVE_SUFFIX, &behind);
    unum_close(format);
    *is_written = is_before != is_behind;
    if (!*is_written)
        return MT_OK;
    size_t n_sign = bare->sign.end - bare->sign.begin;
    mt_text_append(out, words + bare->minus.begin, bare->minus.end - bare->minus.begin);
    if (is_before)
        mt_text_append(out, words + bare->sign.begin, n_sign);
    if (before && is_before)
        mt_text_append_char(out, before);
    mt_text_append(out, number->bytes, number->length);
    if (behind && is_behind)
        mt_text_append_char(out, behind);
    if (is_behind)
        mt_text_append(out, words + bare->sign.begin, n_sign);
    return MT_OK;
}

/* Whether the language counts 24 hours instead of twice 12: its short times have an H. ICU's
 * generator of patterns says so, too, but takes half a millisecond for each time that is written. */
static bool counts_24_hours(const char *language)
{
    UChar pattern[MAX_PATTERN_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    UDateFormat *format = udat_open(UDAT_SHORT, UDAT_NONE, language, NULL, 0, NULL, 0, &code);
    int32_t n =
        U_SUCCESS(code) ? udat_toPattern(format, false, pattern, MAX_PATTERN_UNITS, &code) : 0;
    udat_close(format);
    return U_SUCCESS(code) && u_memchr(pattern, 'H', n);
}

/* Returns the length of the time of day that words[0, length) begins with, 9am or 5:30pm; 0: there
 * is none. *hour and *minutes are those of 24 hours. */
static size_t read_time(const char *words, size_t length, unsigned *hour, unsigned *minutes)
{
    size_t n = 0;
    *hour = *minutes = 0;
    while (n < length && n < 2 && mt_ascii_is_digit(words[n]))
        *hour = 10 * *hour + (unsigned)(words[n++] - '0');
    if (n > 0 && length - n > 2 && (words[n] == ':' || words[n] == '.') &&
        mt_ascii_is_digit(words[n + 1]) && mt_ascii_is_digit(words[n + 2])) {
        *minutes = 10 * (unsigned)(words[n + 1] - '0') + (unsigned)(words[n + 2] - '0');
        n += 3;
    }
    n += n > 0 && n < length && words[n] == ' ';
    bool has_stop = length - n >= 3 && words[n + 1] == '.';
    if (n == 0 || *hour > 12 || length - n < 2 || (words[n + 1 + has_stop] | 0x20) != 'm' ||
        ((words[n] | 0x20) != 'a' && (words[n] | 0x20) != 'p'))
        return 0;
    *hour = *hour % 12 + ((words[n] | 0x20) == 'p' ? 12 : 0);
    n += 2 + has_stop;
    return n + (has_stop && n < length && words[n] == '.');
}

/* Writes 9am or 9am-5:30pm as a language with 24 hours does. Returns false where it does not count
 * so, or the words are something else. */
static bool write_times(const struct mt_localising *languages, const char *words, size_t length,
                        struct mt_text *out)
{
    unsigned hour, minutes, last_hour, last_minutes;
    size_t n = read_time(words, length, &hour, &minutes);
    size_t last = n > 0 && n < length ? n + mt_char_length(words + n) : n; /* behind a dash */
    bool is_range = last > n;
    size_t end = is_range && last < length
                     ? last + read_time(words + last, length - last, &last_hour, &last_minutes)
                     : last;
    if (n == 0 || end != length || (is_range && end == last) || !languages->target_lang[0] ||
        !counts_24_hours(languages->target_lang))
        return false;
    mt_text_appendf(out, "%u:%02u", hour, minutes);
    mt_text_append(out, words + n, last - n);
    if (is_range)
        mt_text_appendf(out, "%u:%02u", last_hour, last_minutes);
    return true;
}

/* Returns where the second of two prices with a dash between them begins, as in $5–$10; 0: there is
 * only one. *end gets the end of the first one. */
static size_t second_price(const char *words, size_t length, size_t *end)
{
    size_t second = 0;
    for (size_t at = 0, n; at < length; at += n) {
        uint32_t c = mt_utf8_decode(words + at);
        n = mt_char_length(words + at);
        bool is_dash = (c == '-' || c == 0x2013) && at > 0 && mt_ascii_is_digit(words[at - 1]);
        if (is_dash && at + n < length && is_currency(mt_utf8_decode(words + at + n))) {
            *end = at;
            second = at + n;
        }
    }
    return second;
}

/* Writes an English ordinal, or the digits and separators, in the target's notation, with a
 * currency's sign or % on the target's side. Anything else beside them stays. */
static enum mt_status write_number(const struct mt_localising *languages, const char *words,
                                   size_t length, struct mt_text *out, struct mt_error *err)
{
    const struct mt_number_signs ordinal = {.source = words,
                                            .target = words,
                                            .n_source = length,
                                            .n_target = length,
                                            .target_lang = languages->target_lang};
    if (languages->target_lang[0] && mt_is_ordinal(words, length) &&
        mt_number_sign_write(&ordinal, 0, out) > 0)
        return MT_OK;
    if (write_times(languages, words, length, out))
        return MT_OK;
    size_t end, second = second_price(words, length, &end);
    if (second > 0) {
        enum mt_status status = write_number(languages, words, end, out, err);
        mt_text_append(out, words + end, second - end);
        return status ? status : write_number(languages, words + second, length - second, out, err);
    }
    struct bare bare = read_bare(words, length);
    struct mt_text number = {0};
    bool is_sure = false;
    const struct mt_notation_input input = {
        .number = words + bare.digits.begin,
        .length = bare.digits.end - bare.digits.begin,
        .source_lang = languages->source_lang,
        .target_lang = languages->target_lang,
        .written = "", /* means the target's own separators */
    };
    enum mt_status status =
        input.length > 0 ? mt_number_write(&input, &number, &is_sure, err) : MT_OK;
    bool is_written = false;
    if (!status && is_sure && bare.is_simple && bare.sign.end > 0)
        status = write_with_sign(languages, words, &bare, &number, out, &is_written, err);
    if (!status && !is_written) {
        mt_text_append(out, words, bare.digits.begin);
        if (is_sure)
            mt_text_append(out, number.bytes, number.length);
        else
            mt_text_append(out, input.number, input.length);
        mt_text_append(out, words + bare.digits.end, length - bare.digits.end);
    }
    mt_text_finish(&number);
    return status;
}

/* Whether the language puts blanks between its quotation marks and the words, as French does. */
static bool has_blanks_within(const char *language)
{
    return strncmp(language, "fr", 2) == 0 && (language[2] == '\0' || language[2] == '-');
}

static enum mt_status write_quote(const struct mt_localising *languages, enum mt_code_form form,
                                  const char *words, size_t length, struct mt_text *out,
                                  struct mt_error *err)
{
    static const char *const single[] = {
        "'", "\xE2\x80\x98", "\xE2\x80\x99", "\xE2\x80\xB9", "\xE2\x80\xBA", "\xE2\x80\x9A"};
    bool is_single = false, is_opening = form == MT_CODE_OPENING_QUOTE;
    UChar marks[MAX_QUOTE_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        is_single = is_single || (strlen(single[i]) == length && !memcmp(single[i], words, length));
    ULocaleData *data = ulocdata_open(languages->target_lang, &code);
    bool is_known = languages->target_lang[0] && code != U_USING_DEFAULT_WARNING;
    ULocaleDataDelimiterType type =
        is_single ? (is_opening ? ULOCDATA_ALT_QUOTATION_START : ULOCDATA_ALT_QUOTATION_END)
                  : (is_opening ? ULOCDATA_QUOTATION_START : ULOCDATA_QUOTATION_END);
    int32_t n =
        U_SUCCESS(code) ? ulocdata_getDelimiter(data, type, marks, MAX_QUOTE_UNITS, &code) : 0;
    ulocdata_close(data);
    if (code == U_MEMORY_ALLOCATION_ERROR)
        return mt_fail_memory(err, 0, "a language's quotation marks");
    if (!is_known || U_FAILURE(code) || n != 1) {
        mt_text_append(out, words, length);
        return MT_OK;
    }
    bool is_guillemet = marks[0] == 0xAB || marks[0] == 0xBB;
    bool has_blank = is_guillemet && has_blanks_within(languages->target_lang);
    if (has_blank && !is_opening)
        mt_text_append_char(out, 0xA0);
    mt_text_append_char(out, marks[0]);
    if (has_blank && is_opening)
        mt_text_append_char(out, 0xA0);
    return MT_OK;
}

enum mt_status mt_localise(const struct mt_localising *languages, enum mt_code_form form,
                           const char *words, size_t length, struct mt_text *out,
                           struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (form == MT_CODE_LOCAL_NUMBER)
        status = write_number(languages, words, length, out, err);
    else if (form == MT_CODE_OPENING_QUOTE || form == MT_CODE_CLOSING_QUOTE)
        status = write_quote(languages, form, words, length, out, err);
    else
        mt_text_append(out, words, length);
    return status ? status : mt_text_check(out, "a translation", err);
}
