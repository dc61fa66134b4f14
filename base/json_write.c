#include "base/json.h"

#include "base/size.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* DBL_MAX has 309 digits before the point; 9 behind it, sign, point and NUL. */
#define FIXED_BYTES 336

/* Below this a double times 10^decimals converts to an integer and back without loss. */
#define MAX_FAST_SCALED 9e15

void mt_json_writer_init(struct mt_json_writer *writer, struct mt_text *out)
{
    *writer = (struct mt_json_writer){.out = out};
}

/* Writes a comma if one belongs before the next value or key. */
static bool take_comma(struct mt_json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
        return false;
    }
    if (writer->depth == 0)
        return false;
    bool had_member = writer->has_member[writer->depth - 1];
    writer->has_member[writer->depth - 1] = true;
    return had_member;
}

static void before_value(struct mt_json_writer *writer)
{
    assert(writer->after_key || writer->depth == 0 || !writer->is_object[writer->depth - 1]);
    if (take_comma(writer))
        mt_text_append(writer->out, ",", 1);
}

static void begin(struct mt_json_writer *writer, bool is_object)
{
    before_value(writer);
    assert(writer->depth < MT_JSON_WRITER_DEPTH);
    writer->is_object[writer->depth] = is_object;
    writer->has_member[writer->depth] = false;
    writer->depth++;
    mt_text_append(writer->out, is_object ? "{" : "[", 1);
}

static void end(struct mt_json_writer *writer, bool is_object)
{
    assert(writer->depth > 0 && !writer->after_key);
    writer->depth--;
    assert(writer->is_object[writer->depth] == is_object);
    mt_text_append(writer->out, is_object ? "}" : "]", 1);
}

void mt_json_begin_object(struct mt_json_writer *writer)
{
    begin(writer, true);
}

void mt_json_end_object(struct mt_json_writer *writer)
{
    end(writer, true);
}

void mt_json_begin_array(struct mt_json_writer *writer)
{
    begin(writer, false);
}

void mt_json_end_array(struct mt_json_writer *writer)
{
    end(writer, false);
}

static void append_escape(struct mt_text *out, unsigned char byte)
{
    static const char letters[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
    const char *letter = byte ? strchr(letters, byte) : NULL;
    char escape[8];
    if (letter)
        snprintf(escape, sizeof escape, "\\%c", names[letter - letters]);
    else
        snprintf(escape, sizeof escape, "\\u%04x", byte);
    mt_text_append_string(out, escape);
}

/* Appends well-formed UTF-8 in runs that are as long as possible. */
static void append_escaped(struct mt_text *out, const char *bytes, size_t length)
{
    size_t run = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        mt_text_append(out, bytes + run, i - run);
        append_escape(out, byte);
        run = i + 1;
    }
    mt_text_append(out, bytes + run, length - run);
}

static void append_quoted(struct mt_text *out, const char *bytes, size_t length)
{
    mt_text_append(out, "\"", 1);
    while (length > 0) {
        size_t valid = mt_utf8_valid_prefix(bytes, length);
        append_escaped(out, bytes, valid);
        if (valid == length)
            break;
        mt_text_append_string(out, "\xEF\xBF\xBD"); /* U+FFFD */
        bytes += valid + 1;
        length -= valid + 1;
    }
    mt_text_append(out, "\"", 1);
}

void mt_json_key(struct mt_json_writer *writer, const char *key)
{
    assert(writer->depth > 0 && writer->is_object[writer->depth - 1] && !writer->after_key);
    if (take_comma(writer))
        mt_text_append(writer->out, ",", 1);
    append_quoted(writer->out, key, strlen(key));
    mt_text_append(writer->out, ":", 1);
    writer->after_key = true;
}

void mt_json_string(struct mt_json_writer *writer, const char *bytes, size_t length)
{
    before_value(writer);
    append_quoted(writer->out, bytes, length);
}

void mt_json_string_z(struct mt_json_writer *writer, const char *string)
{
    mt_json_string(writer, string, strlen(string));
}

void mt_json_bool(struct mt_json_writer *writer, bool value)
{
    before_value(writer);
    mt_text_append_string(writer->out, value ? "true" : "false");
}

void mt_json_null(struct mt_json_writer *writer)
{
    before_value(writer);
    mt_text_append(writer->out, "null", 4);
}

void mt_json_time(struct mt_json_writer *writer, int64_t unix_ms)
{
    char text[40], day[24];
    struct tm tm;
    time_t seconds = (time_t)(unix_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%03dZ", day, (int)(unix_ms % 1000));
    mt_json_string_z(writer, text);
}

void mt_json_raw(struct mt_json_writer *writer, const char *json, size_t length)
{
    before_value(writer);
    mt_text_append(writer->out, json, length);
}

void mt_json_integer(struct mt_json_writer *writer, int64_t value)
{
    before_value(writer);
    mt_text_appendf(writer->out, "%lld", (long long)value);
}

/* printf writes the locale's decimal point, which may be several bytes; JSON wants '.'. */
static size_t repair_decimal_point(char *number)
{
    char *point = number + strspn(number, "+-0123456789e");
    if (*point == '\0')
        return (size_t)(point - number);
    char *behind = point + strcspn(point, "+-0123456789e");
    *point = '.';
    memmove(point + 1, behind, strlen(behind) + 1);
    return strlen(number);
}

size_t mt_json_format_number(double value, int digits, char out[MT_JSON_NUMBER_BYTES])
{
    assert(digits >= 1 && digits <= 17);
    if (!isfinite(value)) {
        memcpy(out, "null", sizeof "null");
        return strlen(out);
    }
    snprintf(out, MT_JSON_NUMBER_BYTES, "%.*g", digits, value);
    return repair_decimal_point(out);
}

void mt_json_number(struct mt_json_writer *writer, double value, int digits)
{
    char number[MT_JSON_NUMBER_BYTES];
    before_value(writer);
    mt_text_append(writer->out, number, mt_json_format_number(value, digits, number));
}

/* Length of the number without trailing zeros behind its point, and without the point if nothing is
 * left. */
static size_t cut_zeros(const char *number, size_t length)
{
    if (!memchr(number, '.', length))
        return length;
    while (number[length - 1] == '0')
        length--;
    return number[length - 1] == '.' ? length - 1 : length;
}

/* A slower way, for numbers with 16 or more digits. */
static void append_fixed_large(struct mt_text *out, double value, int decimals)
{
    char number[FIXED_BYTES];
    snprintf(number, sizeof number, "%.*f", decimals, value);
    mt_text_append(out, number, cut_zeros(number, repair_decimal_point(number)));
}

/* Writes the digits of scaled / 10^decimals backwards, so that they end where the buffer ends, and
 * returns where they begin. Zeros at the end of the fraction are left out. */
static char *write_fixed(char *end, uint64_t scaled, int decimals)
{
    for (; decimals > 0 && scaled % 10 == 0; decimals--)
        scaled /= 10;
    if (decimals > 0) {
        for (; decimals > 0; decimals--, scaled /= 10)
            *--end = (char)('0' + scaled % 10);
        *--end = '.';
    }
    do
        *--end = (char)('0' + scaled % 10);
    while (scaled /= 10);
    return end;
}

size_t mt_json_format_ms(int64_t ns, char out[MT_JSON_NUMBER_BYTES])
{
    char number[32], *end = number + sizeof number;
    char *at = write_fixed(end, (uint64_t)(ns / 1000), 3);
    size_t length = (size_t)(end - at);
    memcpy(out, at, length);
    out[length] = '\0';
    return length;
}

/* Attention arrays have 100,000s of values: integer arithmetic and one append per value. The
 * product is exact for values that were floats (24 + 21 bits), so the rounding is printf's. */
void mt_json_fixed(struct mt_json_writer *writer, double value, int decimals)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    assert(decimals >= 0 && decimals <= 9);
    if (!isfinite(value)) {
        mt_json_null(writer);
        return;
    }
    double scaled = fabs(value) * powers[decimals];
    if (!(scaled < MAX_FAST_SCALED)) {
        before_value(writer);
        append_fixed_large(writer->out, value, decimals);
        return;
    }
    assert(writer->after_key || writer->depth == 0 || !writer->is_object[writer->depth - 1]);
    char number[32], *number_end = number + sizeof number;
    uint64_t rounded = (uint64_t)llrint(scaled);
    char *at = write_fixed(number_end, rounded, decimals);
    if (value < 0 && rounded)
        *--at = '-';
    if (take_comma(writer))
        *--at = ',';
    mt_text_append(writer->out, at, (size_t)(number_end - at));
}

void mt_json_float(struct mt_json_writer *writer, double value, int decimals)
{
    size_t before = writer->out->length;
    mt_json_fixed(writer, value, decimals);
    const char *bytes = writer->out->bytes;
    if (isfinite(value) && bytes && !writer->out->status &&
        !memchr(bytes + before, '.', writer->out->length - before))
        mt_text_append(writer->out, ".0", 2);
}

void mt_json_member_bytes(struct mt_json_writer *writer, const char *key, const char *bytes,
                          size_t length)
{
    mt_json_key(writer, key);
    mt_json_string(writer, bytes, length);
}

void mt_json_member(struct mt_json_writer *writer, const char *key, const char *string)
{
    mt_json_member_bytes(writer, key, string, strlen(string));
}

void mt_json_member_bool(struct mt_json_writer *writer, const char *key, bool value)
{
    mt_json_key(writer, key);
    mt_json_bool(writer, value);
}

void mt_json_member_integer(struct mt_json_writer *writer, const char *key, int64_t value)
{
    mt_json_key(writer, key);
    mt_json_integer(writer, value);
}

void mt_json_member_count(struct mt_json_writer *writer, const char *key, uint64_t value)
{
    mt_json_member_integer(writer, key, (int64_t)value);
}

void mt_json_member_number(struct mt_json_writer *writer, const char *key, double value, int digits)
{
    mt_json_key(writer, key);
    mt_json_number(writer, value, digits);
}

void mt_json_member_array(struct mt_json_writer *writer, const char *key)
{
    mt_json_key(writer, key);
    mt_json_begin_array(writer);
}

void mt_json_member_object(struct mt_json_writer *writer, const char *key)
{
    mt_json_key(writer, key);
    mt_json_begin_object(writer);
}
