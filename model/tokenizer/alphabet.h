/*
 * Remembers which characters a vocabulary can spell: two bits for each code point, 272 KiB, of
 * which the parts that are never used take no memory.
 *
 * Thread-safety: safe.
 */
#ifndef MT_MODEL_TOKENIZER_ALPHABET_H
#define MT_MODEL_TOKENIZER_ALPHABET_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_alphabet;

MT_MUST_CHECK enum mt_status mt_alphabet_create(struct mt_alphabet **out, struct mt_error *err);
/* NULL is allowed. */
void mt_alphabet_destroy(struct mt_alphabet *alphabet);

/* Whether the code point, at most U+10FFFF, has been learnt; then *is_read gets what was learnt. */
bool mt_alphabet_knows(const struct mt_alphabet *alphabet, uint32_t code_point, bool *is_read);
void mt_alphabet_learn(struct mt_alphabet *alphabet, uint32_t code_point, bool is_read);

#endif
