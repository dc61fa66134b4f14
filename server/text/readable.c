#include "server/text/readable.h"

#include "model/tokenizer/tokenizer.h"
#include "server/text/marked.h"

#include <stdlib.h>

#include <unicode/uchar.h>

/* Typographic signs and what a typewriter has for them. A dash that parts two thoughts is no hyphen,
 * so it gets blanks. */
static const struct sign {
    uint32_t code_point;
    const char *as;
} typewritten[] = {
    {0x00A0, " "},  {0x00AB, "\""}, {0x00B4, "'"},   {0x00BB, "\""},  {0x02BC, "'"},
    {0x2002, " "},  {0x2003, " "},  {0x2009, " "},   {0x2010, "-"},   {0x2011, "-"},
    {0x2012, "-"},  {0x2013, "-"},  {0x2014, " - "}, {0x2015, " - "}, {0x2018, "'"},
    {0x2019, "'"},  {0x201A, "'"},  {0x201B, "'"},   {0x201C, "\""},  {0x201D, "\""},
    {0x201E, "\""}, {0x201F, "\""}, {0x2026, "..."}, {0x202F, " "},   {0x2032, "'"},
    {0x2033, "\""}, {0x2039, "'"},  {0x203A, "'"},   {0x2044, "/"},   {0x2212, "-"},
    {0x3000, " "},
};

static int compare(const void *key, const void *row)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct sign *)row)->code_point;
    return (a > b) - (a < b);
}

static bool reads_all(const struct mt_tokenizer *tokenizer, const char *ascii)
{
    for (; *ascii; ascii++)
        if (!mt_tokenizer_reads(tokenizer, (unsigned char)*ascii))
            return false;
    return true;
}

enum mt_reading mt_reading_of(const struct mt_tokenizer *tokenizer, uint32_t code_point,
                              const char **as)
{
    if (!tokenizer || mt_tokenizer_reads(tokenizer, code_point))
        return MT_READS;
    bool is_ignorable =
        u_hasBinaryProperty((UChar32)code_point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
        u_charType((UChar32)code_point) == U_CONTROL_CHAR;
    if (is_ignorable)
        return MT_INVISIBLE;
    if (u_getCombiningClass((UChar32)code_point) != 0)
        return MT_READS; /* it composes with the letter before it */
    size_t n = sizeof typewritten / sizeof *typewritten;
    const struct sign *sign = bsearch(&code_point, typewritten, n, sizeof *typewritten, compare);
    if (!sign || !reads_all(tokenizer, sign->as))
        return MT_READS_NOT;
    *as = sign->as;
    return MT_READS_AS;
}

bool mt_is_readable_word_char(const struct mt_tokenizer *tokenizer, uint32_t code_point)
{
    const char *as;
    return mt_is_word_char(code_point) && mt_reading_of(tokenizer, code_point, &as) <= MT_READS_AS;
}
