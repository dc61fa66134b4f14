#include "server/inspection/label.h"

#include <unicode/uchar.h>

static size_t columns_of(uint32_t c)
{
    switch (u_charType((UChar32)c)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_FORMAT_CHAR:
        return 0;
    default:
        break;
    }
    int width = u_getIntPropertyValue((UChar32)c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

size_t mt_label_columns(const char *text)
{
    size_t n = 0;
    for (const char *at = text; *at; at += mt_utf8_length((unsigned char)*at))
        n += columns_of(mt_utf8_decode(at));
    return n;
}

static void append_character(struct mt_text *out, const char *at)
{
    UChar32 c = (UChar32)mt_utf8_decode(at);
    if (u_iscntrl(c) || U_IS_UNICODE_NONCHAR(c))
        mt_text_append_string(out, "\xEF\xBF\xBD");
    else
        mt_text_append(out, at, mt_utf8_length((unsigned char)*at));
}

size_t mt_label_append(struct mt_text *out, const char *text, size_t max_columns)
{
    bool fits = mt_label_columns(text) <= max_columns;
    size_t room = fits ? max_columns : max_columns - 1, n = 0;
    for (const char *at = text; *at; at += mt_utf8_length((unsigned char)*at)) {
        size_t width = columns_of(mt_utf8_decode(at));
        if (n + width > room)
            break;
        append_character(out, at);
        n += width;
    }
    if (fits)
        return n;
    mt_text_append_string(out, "\xE2\x80\xA6");
    return n + 1;
}
