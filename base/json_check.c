#include "base/json.h"

#include "base/ascii.h"
#include "base/json_reader.h"
#include "base/size.h"
#include "base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEPTH 16
#define DEFAULT_VALUES 4096

/* A number of 10^308 or more may overflow to infinity in a double. */
#define MAX_DECIMAL_EXPONENT 308

/* Limit for counts of decimal digits, which saturate: larger than in any document, and far from
 * overflow. */
#define EXPONENT_CEILING 1000000000000

/*
 * Keys of the open objects, innermost last; an object that is closed removes its keys:
 *
 *   {"a": 1, "b": {"c": 2, "d": ...        keys: a b | c d
 *
 * Duplicates are searched once per object, by sorting its keys: this takes n log n for any keys,
 * while an attacker who chooses the keys can drive a hash table to n^2.
 */
struct key {
    uint64_t hash;
    struct mt_json_span text;
};

struct scanner {
    const char *start, *at, *end;
    size_t depth, max_depth;
    size_t n_values, max_values;
    struct key *keys;
    size_t n_keys, keys_capacity;
    const char *what;
    struct mt_error *err;
};

static enum mt_status fail_at(struct scanner *s, const char *at, enum mt_status status,
                              const char *format, ...) MT_PRINTF(4, 5);

static enum mt_status fail_at(struct scanner *s, const char *at, enum mt_status status,
                              const char *format, ...)
{
    struct mt_error detail;
    va_list args;
    va_start(args, format);
    mt_vfail(&detail, status, format, args);
    va_end(args);
    size_t line = 1;
    const char *line_start = s->start;
    for (const char *p = s->start; p < at; p++)
        if (*p == '\n') {
            line++;
            line_start = p + 1;
        }
    return mt_fail(s->err, status, "%s: line %zu, column %zu: %s", s->what, line,
                   mt_utf8_count(line_start, (size_t)(at - line_start)) + 1, detail.message);
}

static enum mt_status expected(struct scanner *s, const char *expectation)
{
    if (s->at == s->end)
        return fail_at(s, s->at, MT_FORMAT, "expected %s, found the end of the text", expectation);
    unsigned char byte = (unsigned char)*s->at;
    if (byte < 0x20 || byte == 0x7F)
        return fail_at(s, s->at, MT_FORMAT, "expected %s, found byte 0x%02x", expectation, byte);
    return fail_at(s, s->at, MT_FORMAT, "expected %s, found '%.*s'", expectation,
                   (int)mt_utf8_length(byte), s->at);
}

/* The next byte, or -1 at the end. */
static int peek(const struct scanner *s)
{
    return s->at < s->end ? (unsigned char)*s->at : -1;
}

static void skip_space(struct scanner *s)
{
    while (s->at < s->end && mt_ascii_is_blank(*s->at))
        s->at++;
}

static enum mt_status count_value(struct scanner *s)
{
    if (s->n_values == s->max_values)
        return fail_at(s, s->at, MT_LIMIT, "more than %zu values", s->max_values);
    s->n_values++;
    return MT_OK;
}

static enum mt_status scan_literal(struct scanner *s, const char *literal)
{
    size_t length = strlen(literal);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, literal, length) != 0)
        return expected(s, literal);
    s->at += length;
    return MT_OK;
}

/* Skips digits and returns how many. */
static size_t scan_digits(struct scanner *s)
{
    const char *begin = s->at;
    while (mt_ascii_is_digit(peek(s)))
        s->at++;
    return (size_t)(s->at - begin);
}

/* The decimal exponent of the first digit that is not zero: 2 for 300, -2 for 0.03. False if all
 * are zero. */
static bool leading_exponent(const char *integer, size_t n_integer, const char *fraction,
                             size_t n_fraction, int64_t *out)
{
    if (*integer != '0') {
        *out = (int64_t)n_integer - 1;
        return true;
    }
    size_t zeros = 0;
    while (zeros < n_fraction && fraction[zeros] == '0')
        zeros++;
    *out = -(int64_t)zeros - 1;
    return zeros < n_fraction;
}

/* The sign and digits behind an 'e'. */
static enum mt_status scan_exponent(struct scanner *s, int64_t *out)
{
    bool is_negative = peek(s) == '-';
    if (is_negative || peek(s) == '+')
        s->at++;
    if (!mt_ascii_is_digit(peek(s)))
        return expected(s, "a digit of the exponent");
    int64_t exponent = 0;
    for (; mt_ascii_is_digit(peek(s)); s->at++)
        if (exponent < EXPONENT_CEILING)
            exponent = exponent * 10 + (*s->at - '0');
    *out = is_negative ? -exponent : exponent;
    return MT_OK;
}

static enum mt_status scan_number(struct scanner *s)
{
    const char *begin = s->at;
    if (peek(s) == '-')
        s->at++;
    const char *integer = s->at;
    if (!mt_ascii_is_digit(peek(s)))
        return expected(s, "a digit");
    size_t n_integer = 1;
    if (*s->at == '0')
        s->at++;
    else
        n_integer = scan_digits(s);
    const char *fraction = s->at;
    size_t n_fraction = 0;
    if (peek(s) == '.') {
        fraction = ++s->at;
        n_fraction = scan_digits(s);
        if (!n_fraction)
            return expected(s, "a digit behind the point");
    }
    int64_t exponent = 0, leading;
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        enum mt_status status = scan_exponent(s, &exponent);
        if (status)
            return status;
    }
    if (leading_exponent(integer, n_integer, fraction, n_fraction, &leading) &&
        leading + exponent >= MAX_DECIMAL_EXPONENT)
        return fail_at(s, begin, MT_FORMAT, "expected a number below 1e%d, found %.*s",
                       MAX_DECIMAL_EXPONENT, (int)mt_size_min((size_t)(s->at - begin), 40), begin);
    return MT_OK;
}

/* The four hexadecimal digits at p, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)p[i] | 0x20;
        if (!mt_ascii_is_digit((unsigned char)p[i]) && (c < 'a' || c > 'f'))
            return -1;
        value = value * 16 + (mt_ascii_is_digit((unsigned char)p[i]) ? p[i] - '0' : c - 'a' + 10);
    }
    return value;
}

static enum mt_status scan_unicode_escape(struct scanner *s)
{
    int32_t unit = hex4(s->at + 2, s->end);
    if (unit < 0)
        return fail_at(s, s->at, MT_FORMAT, "expected four hexadecimal digits behind \\u");
    if (unit == 0)
        return fail_at(s, s->at, MT_FORMAT, "\\u0000 is not allowed in strings");
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return fail_at(s, s->at, MT_FORMAT, "low surrogate \\u%04x without a high one before it",
                       (unsigned)unit);
    if (unit < 0xD800 || unit > 0xDBFF) {
        s->at += 6;
        return MT_OK;
    }
    const char *second = s->at + 6;
    int32_t low = s->end - second >= 6 && second[0] == '\\' && second[1] == 'u'
                      ? hex4(second + 2, s->end)
                      : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return fail_at(s, s->at, MT_FORMAT, "high surrogate \\u%04x without a low one behind it",
                       (unsigned)unit);
    s->at += 12;
    return MT_OK;
}

static enum mt_status scan_escape(struct scanner *s)
{
    int c = s->end - s->at > 1 ? (unsigned char)s->at[1] : -1;
    if (c == 'u')
        return scan_unicode_escape(s);
    if (c <= 0 || !strchr("\"\\/bfnrt", c)) {
        s->at++;
        return expected(s, "one of \" \\ / b f n r t u behind the backslash");
    }
    s->at += 2;
    return MT_OK;
}

static enum mt_status scan_string(struct scanner *s)
{
    const char *begin = s->at++;
    for (;;) {
        while (s->at < s->end && (unsigned char)*s->at >= 0x20 && *s->at != '"' && *s->at != '\\')
            s->at++;
        int c = peek(s);
        if (c < 0)
            return fail_at(s, begin, MT_FORMAT, "expected '\"' at the end of this string");
        if (c < 0x20)
            return expected(s, "an escape sequence for a control character");
        if (c == '"')
            break;
        enum mt_status status = scan_escape(s);
        if (status)
            return status;
    }
    s->at++;
    return MT_OK;
}

/* FNV-1a over code points, so that "a" and "\u0061" are equal. A collision only costs a
 * comparison. */
static uint64_t hash_text(struct mt_json_span text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = text.bytes; at < text.bytes + text.length;)
        hash = (hash ^ mt_json_next_code_point(&at)) * 0x100000001b3u;
    return hash;
}

static int compare_text(struct mt_json_span a, struct mt_json_span b)
{
    const char *a_at = a.bytes, *a_end = a.bytes + a.length;
    const char *b_at = b.bytes, *b_end = b.bytes + b.length;
    while (a_at < a_end && b_at < b_end) {
        uint32_t a_point = mt_json_next_code_point(&a_at);
        uint32_t b_point = mt_json_next_code_point(&b_at);
        if (a_point != b_point)
            return a_point < b_point ? -1 : 1;
    }
    return (a_at < a_end) - (b_at < b_end);
}

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int order = compare_text(a->text, b->text);
    return order ? order : (a->text.bytes > b->text.bytes) - (a->text.bytes < b->text.bytes);
}

static bool is_same_key(const struct key *a, const struct key *b)
{
    return a->hash == b->hash && compare_text(a->text, b->text) == 0;
}

/* Removes the keys from first on. Of several duplicates it reports the first one in the
 * document. */
static enum mt_status close_keys(struct scanner *s, size_t first)
{
    size_t n = s->n_keys - first;
    s->n_keys = first;
    if (n < 2)
        return MT_OK;
    struct key *keys = s->keys + first;
    qsort(keys, n, sizeof *keys, compare_keys);
    const struct key *duplicate = NULL;
    for (size_t i = 1; i < n; i++)
        if (is_same_key(&keys[i - 1], &keys[i]) &&
            (!duplicate || keys[i].text.bytes < duplicate->text.bytes))
            duplicate = &keys[i];
    if (!duplicate)
        return MT_OK;
    size_t shown =
        mt_utf8_valid_prefix(duplicate->text.bytes, mt_size_min(duplicate->text.length, 80));
    return fail_at(s, duplicate->text.bytes - 1, MT_FORMAT, "key \"%.*s\" appears twice",
                   (int)shown, duplicate->text.bytes);
}

static enum mt_status push_key(struct scanner *s, struct mt_json_span text)
{
    if (MT_ROOM(&s->keys, &s->keys_capacity, s->n_keys + 1, s->what, s->err))
        return MT_MEMORY;
    s->keys[s->n_keys++] = (struct key){.hash = hash_text(text), .text = text};
    return MT_OK;
}

static enum mt_status scan_value(struct scanner *s);

static enum mt_status scan_member(struct scanner *s)
{
    if (peek(s) != '"')
        return expected(s, "a key in double quotes");
    const char *begin = s->at + 1;
    enum mt_status status = count_value(s);
    if (!status)
        status = scan_string(s);
    if (!status)
        status = push_key(s, (struct mt_json_span){begin, (size_t)(s->at - 1 - begin)});
    if (status)
        return status;
    skip_space(s);
    if (peek(s) != ':')
        return expected(s, "':' behind the key");
    s->at++;
    skip_space(s);
    return scan_value(s);
}

/* Scans what objects and arrays have in common: brackets, commas and depth. */
static enum mt_status scan_items(struct scanner *s, char close, const char *separators,
                                 enum mt_status (*scan_item)(struct scanner *))
{
    if (s->depth == s->max_depth)
        return fail_at(s, s->at, MT_LIMIT, "nested deeper than %zu", s->max_depth);
    s->depth++;
    s->at++;
    skip_space(s);
    if (peek(s) != close)
        for (;;) {
            enum mt_status status = scan_item(s);
            if (status)
                return status;
            skip_space(s);
            if (peek(s) == close)
                break;
            if (peek(s) != ',')
                return expected(s, separators);
            s->at++;
            skip_space(s);
        }
    s->at++;
    s->depth--;
    return MT_OK;
}

static enum mt_status scan_object(struct scanner *s)
{
    size_t first_key = s->n_keys;
    enum mt_status status = scan_items(s, '}', "',' or '}'", scan_member);
    return status ? status : close_keys(s, first_key);
}

/* The recursion is at most max_depth deep, which mt_json_check limits. */
static enum mt_status scan_value(struct scanner *s)
{
    enum mt_status status = count_value(s);
    if (status)
        return status;
    switch (peek(s)) {
    case '{':
        return scan_object(s);
    case '[':
        return scan_items(s, ']', "',' or ']'", scan_value);
    case '"':
        return scan_string(s);
    case 't':
        return scan_literal(s, "true");
    case 'f':
        return scan_literal(s, "false");
    case 'n':
        return scan_literal(s, "null");
    default:
        if (peek(s) == '-' || mt_ascii_is_digit(peek(s)))
            return scan_number(s);
        return expected(s, "a value");
    }
}

static enum mt_status check_encoding(struct scanner *s)
{
    size_t length = (size_t)(s->end - s->start);
    size_t valid = mt_utf8_valid_prefix(s->start, length);
    if (valid == length)
        return MT_OK;
    return fail_at(s, s->start + valid, MT_FORMAT, "expected UTF-8, found byte 0x%02x",
                   (unsigned char)s->start[valid]);
}

static enum mt_status scan_document(struct scanner *s)
{
    skip_space(s);
    enum mt_status status = scan_value(s);
    if (status)
        return status;
    skip_space(s);
    return s->at == s->end ? MT_OK : expected(s, "the end of the text");
}

enum mt_status mt_json_check(const char *bytes, size_t length, const struct mt_json_limits *limits,
                             const char *what, struct mt_error *err)
{
    if (!bytes)
        bytes = ""; /* a request without a body */
    const char *begin = bytes + mt_utf8_mark_length(bytes, length);
    struct scanner s = {
        .start = begin,
        .at = begin,
        .end = bytes + length,
        .max_depth = limits && limits->max_depth ? limits->max_depth : DEFAULT_DEPTH,
        .max_values = limits && limits->max_values ? limits->max_values : DEFAULT_VALUES,
        .what = what,
        .err = err,
    };
    s.max_depth = mt_size_min(s.max_depth, MT_JSON_MAX_DEPTH);
    enum mt_status status = check_encoding(&s);
    if (!status)
        status = scan_document(&s);
    free(s.keys);
    return status;
}
