#include "base/text.h"

#include "base/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0u) == 0x80u;
}

/* Returns the length of the well-formed sequence at p, or 0. The second byte's range depends on the
 * first, which excludes overlong forms, surrogates and values above U+10FFFF. */
static size_t sequence_length(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < n)
        return 0;
    unsigned char low = 0x80, high = 0xBF;
    if (p[0] == 0xE0)
        low = 0xA0;
    else if (p[0] == 0xED)
        high = 0x9F;
    else if (p[0] == 0xF0)
        low = 0x90;
    else if (p[0] == 0xF4)
        high = 0x8F;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (!is_continuation(p[i]))
            return 0;
    return n;
}

size_t mt_utf8_valid_prefix(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t at = 0;
    while (at < length) {
        size_t n = sequence_length(p + at, length - at);
        if (!n)
            break;
        at += n;
    }
    return at;
}

size_t mt_utf8_mark_length(const char *bytes, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    bool has_mark = length >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0;
    return has_mark ? sizeof mark - 1 : 0;
}

size_t mt_utf8_length(unsigned char first_byte)
{
    if (first_byte < 0xC0)
        return 1;
    return first_byte < 0xE0 ? 2 : first_byte < 0xF0 ? 3 : 4;
}

uint32_t mt_utf8_decode(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    switch (mt_utf8_length(p[0])) {
    case 2:
        return (uint32_t)(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    case 3:
        return (uint32_t)(p[0] & 0x0Fu) << 12 | (uint32_t)(p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    case 4:
        return (uint32_t)(p[0] & 0x07u) << 18 | (uint32_t)(p[1] & 0x3Fu) << 12 |
               (uint32_t)(p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    default:
        return p[0];
    }
}

size_t mt_utf8_encode(uint32_t c, char out[4])
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}

size_t mt_utf8_count(const char *bytes, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += !is_continuation((unsigned char)bytes[i]);
    return n;
}

size_t mt_utf8_count_utf16(const char *bytes, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        n += !is_continuation(byte);
        n += byte >= 0xF0; /* a code point above U+FFFF takes a surrogate pair */
    }
    return n;
}

int mt_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool mt_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/* Makes room for `extra` more bytes and a NUL. The size doubles, so that n appends cost O(n). */
static bool reserve(struct mt_text *text, size_t extra)
{
    size_t needed;
    if (text->status)
        return false;
    if (!mt_size_add(text->length, extra, &needed) || !mt_size_add(needed, 1, &needed) ||
        (text->limit_bytes && needed - 1 > text->limit_bytes)) {
        text->status = MT_LIMIT;
        return false;
    }
    if (needed <= text->capacity)
        return true;
    size_t capacity = mt_size_max(
        needed, mt_size_max(64, text->capacity < SIZE_MAX / 2 ? text->capacity * 2 : needed));
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->status = MT_MEMORY;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void mt_text_finish(struct mt_text *text)
{
    free(text->bytes);
    *text = (struct mt_text){.limit_bytes = text->limit_bytes};
}

void mt_text_append(struct mt_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void mt_text_append_own(struct mt_text *text, size_t from, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->bytes + text->length, text->bytes + from, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void mt_text_append_char(struct mt_text *text, uint32_t code_point)
{
    char bytes[4];
    mt_text_append(text, bytes, mt_utf8_encode(code_point, bytes));
}

void mt_text_append_string(struct mt_text *text, const char *string)
{
    mt_text_append(text, string, strlen(string));
}

void mt_text_append_markup(struct mt_text *text, const char *bytes, size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        const char *entity = bytes[i] == '&'   ? "&amp;"
                             : bytes[i] == '<' ? "&lt;"
                             : bytes[i] == '>' ? "&gt;"
                                               : NULL;
        if (!entity)
            continue;
        mt_text_append(text, bytes + begin, i - begin);
        mt_text_append_string(text, entity);
        begin = i + 1;
    }
    mt_text_append(text, bytes + begin, length - begin);
}

void mt_text_appendf(struct mt_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 && !text->status)
        text->status = MT_INVALID;
    if (n < 0 || !reserve(text, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(text->bytes + text->length, (size_t)n + 1, format, args);
    va_end(args);
    text->length += (size_t)n;
}

enum mt_status mt_text_check(const struct mt_text *text, const char *what, struct mt_error *err)
{
    if (text->status == MT_LIMIT)
        return mt_fail(err, MT_LIMIT, "%s is larger than the limit of %zu bytes", what,
                       text->limit_bytes);
    if (text->status == MT_MEMORY)
        return mt_fail(err, MT_MEMORY, "out of memory while writing %s (%zu bytes so far)", what,
                       text->length);
    if (text->status)
        return mt_fail(err, text->status, "%s could not be formatted", what);
    return MT_OK;
}

enum mt_status mt_text_take(struct mt_text *text, const char *what, char **out, size_t *out_length,
                            struct mt_error *err)
{
    reserve(text, 0);
    enum mt_status status = mt_text_check(text, what, err);
    if (status)
        return status;
    text->bytes[text->length] = '\0';
    *out = text->bytes;
    if (out_length)
        *out_length = text->length;
    *text = (struct mt_text){.limit_bytes = text->limit_bytes};
    return MT_OK;
}

/* The joiners (U+200C, U+200D) are not misleading, because Persian and Indic words need them. */
static bool is_misleading(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* Appends the escape in JSON's form, with a pair of surrogates for characters beyond the first
 * plane. */
static void append_escape(struct mt_text *text, uint32_t c)
{
    if (c >= 0x10000)
        mt_text_appendf(text, "\\u%04x", 0xD800u + (unsigned)((c - 0x10000) >> 10));
    mt_text_appendf(text, "\\u%04x",
                    c >= 0x10000 ? 0xDC00u + (unsigned)((c - 0x10000) & 0x3FF) : (unsigned)c);
}

void mt_text_append_printable_json(struct mt_text *text, const char *json, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        n = mt_utf8_length((unsigned char)json[at]);
        uint32_t c = mt_utf8_decode(json + at);
        if ((c >= 0x7F && c < 0xA0) || is_misleading(c))
            append_escape(text, c);
        else
            mt_text_append(text, json + at, n);
    }
}

void mt_text_append_printable(struct mt_text *text, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t n = mt_utf8_length((unsigned char)bytes[at]);
        if (n > length - at || mt_utf8_valid_prefix(bytes + at, n) != n) {
            mt_text_append_string(text, "\xEF\xBF\xBD"); /* U+FFFD */
            at++;
            continue;
        }
        uint32_t c = mt_utf8_decode(bytes + at);
        if (c == '\n')
            mt_text_append_string(text, "\\n");
        else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
            mt_text_appendf(text, "\\x%02x", (unsigned)c);
        else if (is_misleading(c))
            append_escape(text, c);
        else
            mt_text_append(text, bytes + at, n);
        at += n;
    }
}

enum mt_status mt_text_repair(struct mt_text *text, const char *what, struct mt_error *err)
{
    if (mt_utf8_valid_prefix(text->bytes, text->length) == text->length)
        return mt_text_check(text, what, err);
    struct mt_text repaired = {.limit_bytes = text->limit_bytes};
    for (size_t at = 0; at < text->length; at++) {
        size_t n = mt_utf8_valid_prefix(text->bytes + at, text->length - at);
        mt_text_append(&repaired, text->bytes + at, n);
        at += n;
        if (at < text->length)
            mt_text_append_char(&repaired, 0xFFFD);
    }
    mt_text_finish(text);
    *text = repaired;
    return mt_text_check(text, what, err);
}
