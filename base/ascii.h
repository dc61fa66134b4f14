/*
 * Letters, digits and blanks of ASCII, in any locale. Bytes of other characters are none of them,
 * and neither is -1, which readers return at the end.
 *
 * Thread-safety: the functions are safe.
 */
#ifndef MT_BASE_ASCII_H
#define MT_BASE_ASCII_H

#include <stdbool.h>

static inline bool mt_ascii_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool mt_ascii_is_capital(int c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool mt_ascii_is_small(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool mt_ascii_is_letter(int c)
{
    return mt_ascii_is_capital(c) || mt_ascii_is_small(c);
}

static inline bool mt_ascii_is_letter_or_digit(int c)
{
    return mt_ascii_is_letter(c) || mt_ascii_is_digit(c);
}

/* Whether JSON and XML take it for white space. */
static inline bool mt_ascii_is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
