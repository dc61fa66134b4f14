/*
 * Texts in capitals, which a model is shown in small letters because it has hardly seen others.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_CAPITALS_H
#define MT_SERVER_TEXT_CAPITALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool mt_is_capital(uint32_t code_point);

/* Whether all letters are capitals, in at least two words or in one that is too long for an
 * acronym, and small letters would have as many bytes. The PM of 9 PM does not count. */
bool mt_is_in_capitals(const char *text, size_t length);

/* Copies such a text to out, which is as long, with small letters except for the first. */
void mt_write_small(const char *text, size_t length, char *out);

#endif
