/*
 * Texts in capitals, which a model is shown in small letters because it has hardly seen others.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_CAPITALS_H
#define MT_SERVER_TEXT_CAPITALS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_tokenizer;

bool mt_is_capital(uint32_t code_point);

/* Whether all letters are capitals, in at least two words or in one that is too long for an
 * acronym, and small letters would have as many bytes. The PM of 9 PM does not count. */
bool mt_is_in_capitals(const char *text, size_t length);

/* Whether the model is shown the text in small letters: it is in capitals. For a single short word
 * the vocabulary decides, which has ROOM only in small letters, but VAT in none. MT_MEMORY, and the
 * errors of mt_tokenize. */
MT_MUST_CHECK enum mt_status mt_is_shown_small(const struct mt_tokenizer *tokenizer,
                                               const char *text, size_t length, bool *out,
                                               struct mt_error *err);

/* Copies such a text to out, which is as long, with small letters except for the first. */
void mt_write_small(const char *text, size_t length, char *out);

#endif
