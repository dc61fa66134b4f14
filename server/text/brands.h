/*
 * Names that a translation has and its source has not: models were trained with the texts of a few
 * projects, whose "us" is often their name. Of 31 English labels with "us" or "our" the Japanese of 9
 * had Mozilla: "About us" was "Mozillaについて".
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_BRANDS_H
#define MT_SERVER_TEXT_BRANDS_H

#include "base/text.h"

/* Where such a name is at target[at], the source has none, but an English "us" or "our", writes the
 * target language's word for that and returns the length of the name; otherwise 0. */
size_t mt_brand_write(const char *source, size_t n_source, const char *target, size_t n_target,
                      size_t at, const char *target_lang, struct mt_text *out);

#endif
