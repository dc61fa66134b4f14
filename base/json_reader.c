#include "base/json_reader.h"

#include "base/ascii.h"
#include "base/size.h"
#include "base/text.h"

#include <string.h>

#define EXCERPT_BYTES 40

static void skip_space(struct mt_json_reader *reader)
{
    while (reader->at < reader->end && mt_ascii_is_blank(*reader->at))
        reader->at++;
}

/* There is a colon behind a key. It is skipped together with white space, which saves the caller a
 * call between key and value. */
static void skip_to_value(struct mt_json_reader *reader)
{
    skip_space(reader);
    if (reader->at < reader->end && *reader->at == ':') {
        reader->at++;
        skip_space(reader);
    }
}

void mt_json_reader_init(struct mt_json_reader *reader, const char *bytes, size_t length)
{
    *reader = (struct mt_json_reader){.at = bytes + mt_utf8_mark_length(bytes, length),
                                      .end = bytes + length};
}

char mt_json_reader_peek(struct mt_json_reader *reader)
{
    skip_to_value(reader);
    return reader->at < reader->end ? *reader->at : '\0';
}

void mt_json_reader_enter(struct mt_json_reader *reader)
{
    skip_to_value(reader);
    reader->at++;
}

bool mt_json_reader_next(struct mt_json_reader *reader)
{
    skip_space(reader);
    if (*reader->at == ',') {
        reader->at++;
        skip_space(reader);
    }
    if (*reader->at != ']' && *reader->at != '}')
        return true;
    reader->at++;
    return false;
}

struct mt_json_span mt_json_reader_string(struct mt_json_reader *reader)
{
    skip_to_value(reader);
    const char *begin = ++reader->at;
    while (*reader->at != '"')
        reader->at += *reader->at == '\\' ? 2 : 1;
    struct mt_json_span span = {begin, (size_t)(reader->at - begin)};
    reader->at++;
    return span;
}

/* The end of a number, true, false or null. */
static void skip_word(struct mt_json_reader *reader)
{
    while (reader->at < reader->end && !mt_ascii_is_blank(*reader->at) &&
           !strchr(",]}", *reader->at))
        reader->at++;
}

void mt_json_reader_skip(struct mt_json_reader *reader)
{
    size_t depth = 0;
    skip_to_value(reader);
    do {
        skip_space(reader);
        switch (*reader->at) {
        case '{':
        case '[':
            depth++;
            reader->at++;
            break;
        case '}':
        case ']':
            depth--;
            reader->at++;
            break;
        case ',':
        case ':':
            reader->at++;
            break;
        case '"':
            mt_json_reader_string(reader);
            break;
        default:
            skip_word(reader);
        }
    } while (depth > 0);
}

bool mt_json_reader_u64(struct mt_json_reader *reader, uint64_t *out)
{
    skip_to_value(reader);
    const char *at = reader->at;
    uint64_t value = 0;
    for (; at < reader->end && mt_ascii_is_digit(*at); at++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    bool is_integer = at > reader->at && (at == reader->end || !strchr(".eE", *at));
    if (!is_integer)
        return false;
    reader->at = at;
    *out = value;
    return true;
}

struct mt_json_span mt_json_reader_excerpt(struct mt_json_reader *reader)
{
    skip_to_value(reader);
    struct mt_json_reader behind = *reader;
    mt_json_reader_skip(&behind);
    size_t length = mt_size_min((size_t)(behind.at - reader->at), EXCERPT_BYTES);
    return (struct mt_json_span){reader->at, mt_utf8_valid_prefix(reader->at, length)};
}

static uint32_t hex_digit(char c)
{
    return (uint32_t)(mt_ascii_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}

static uint32_t hex4(const char *p)
{
    return hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 | hex_digit(p[3]);
}

uint32_t mt_json_next_code_point(const char **at)
{
    const char *p = *at;
    if (*p != '\\') {
        *at = p + mt_utf8_length((unsigned char)*p);
        return mt_utf8_decode(p);
    }
    if (p[1] != 'u') {
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        *at = p + 2;
        return (uint32_t)meanings[strchr(letters, p[1]) - letters];
    }
    uint32_t unit = hex4(p + 2);
    *at = p + 6;
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit;
    *at = p + 12; /* the check has seen the low surrogate */
    return 0x10000 + ((unit - 0xD800) << 10) + (hex4(p + 8) - 0xDC00);
}

bool mt_json_span_equals(struct mt_json_span span, const char *text)
{
    const char *at = span.bytes, *end = span.bytes + span.length;
    while (at < end) {
        if (!*text || mt_json_next_code_point(&at) != mt_utf8_decode(text))
            return false;
        text += mt_utf8_length((unsigned char)*text);
    }
    return !*text;
}

static size_t encode_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80u | (c & 0x3Fu));
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[n] | c);
    return n;
}

size_t mt_json_span_unescape(struct mt_json_span span, char *out)
{
    const char *at = span.bytes, *end = span.bytes + span.length;
    size_t n = 0;
    while (at < end)
        n += encode_utf8(mt_json_next_code_point(&at), out + n);
    return n;
}
