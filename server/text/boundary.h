/*
 * Corrections of sentence boundaries where UAX 29 and CLDR's abbreviations are wrong. Used by
 * splitter.c alone.
 */
#ifndef MT_SERVER_TEXT_BOUNDARY_H
#define MT_SERVER_TEXT_BOUNDARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the sentence goes on across the boundary at text[at], 0 < at < length. text[0, length) is
 * one line of well-formed UTF-8, and text[at] is the first byte behind the blanks that follow the
 * full stop. language: BCP 47; NULL: unknown.
 */
bool mt_boundary_is_false(const char *text, size_t length, size_t at, const char *language);

#endif
