#include "server/documents/message.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Whether the text is a pattern of dates: runs of one letter, as in DD/MM/YYYY and h:mm a, or
 * letters with %, as in %b %-d, %Y. */
static bool is_date_pattern(const char *text, size_t length)
{
    size_t n_runs = 0;
    for (size_t at = 0; at < length; at++) {
        if ((unsigned char)text[at] >= 0x80)
            return false;
        if (!u_isalpha((unsigned char)text[at]))
            continue;
        size_t begin = at;
        bool is_percent = begin > 0 && strchr("%-^", text[begin - 1]) && memchr(text, '%', begin);
        while (at + 1 < length && text[at + 1] == text[begin])
            at++;
        bool goes_on = at + 1 < length && u_isalpha((unsigned char)text[at + 1]);
        if (goes_on || !(is_percent || strchr("YyMDdHhmsSaAEZzL", text[begin])))
            return false;
        n_runs += is_percent ? 2 : 1;
    }
    return n_runs > 1;
}

bool mt_message_has_words(const char *text, size_t length)
{
    if (is_date_pattern(text, length))
        return false;
    for (size_t at = 0; at < length; at += mt_char_length(text + at))
        if (u_isalpha((UChar32)mt_utf8_decode(text + at)))
            return true;
    return false;
}

enum mt_status mt_message_fail(const struct mt_document *document, size_t at, struct mt_error *err,
                               const char *message)
{
    struct mt_document_line line = {.next = document->begin};
    bool has_line = mt_document_next_line(document, &line);
    while (has_line && line.next <= at && mt_document_next_line(document, &line))
        continue;
    return mt_document_fail(document, &line, err, message);
}

enum mt_status mt_message_add(struct mt_document *document, struct mt_range range,
                              struct mt_text *text, struct mt_document_piece **out,
                              struct mt_error *err)
{
    struct mt_document_piece *piece = NULL;
    enum mt_status status = mt_text_check(text, "a message", err);
    bool is_utf8 = !status && mt_utf8_valid_prefix(text->bytes, text->length) == text->length;
    if (!status && !is_utf8)
        status = mt_message_fail(document, range.begin, err, "holds escapes that are no UTF-8");
    *out = NULL;
    if (!status && text->length > 0 && !memchr(text->bytes, '\0', text->length) &&
        mt_message_has_words(text->bytes, text->length))
        status = mt_document_add(document, range, &piece, err);
    if (!status && piece) {
        mt_text_append(&piece->text, text->bytes, text->length);
        *out = piece;
    }
    text->length = 0;
    return status;
}

static int hex4(const char *at)
{
    int value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = mt_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

size_t mt_message_read_unicode(const char *text, size_t at, uint32_t *out)
{
    int unit = hex4(text + at), low = -1;
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return 0;
    *out = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDBFF)
        return 4;
    if (text[at + 4] == '\\' && (text[at + 5] == 'u' || text[at + 5] == 'U'))
        low = hex4(text + at + 6);
    *out = 0x10000u + (((uint32_t)unit - 0xD800u) << 10) + ((uint32_t)low - 0xDC00u);
    return low >= 0xDC00 && low <= 0xDFFF ? 10 : 0;
}

void mt_message_write_unicode(uint32_t c, struct mt_text *out)
{
    if (c < 0x10000)
        mt_text_appendf(out, "\\u%04x", (unsigned)c);
    else
        mt_text_appendf(out, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((c - 0x10000) >> 10)),
                        (unsigned)(0xDC00 + ((c - 0x10000) & 0x3FF)));
}

bool mt_message_file_is_ascii(const struct mt_document *document)
{
    for (size_t i = document->begin; i < document->length; i++)
        if ((unsigned char)document->bytes[i] >= 0x80)
            return false;
    return true;
}
