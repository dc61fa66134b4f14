/*
 * Rewrite: shortens a text by replacements and remembers the new position of every byte, so that
 * spans in the original text can be converted to spans in the result.
 */
#ifndef MT_MODEL_TOKENIZER_REWRITE_H
#define MT_MODEL_TOKENIZER_REWRITE_H

#include "base/status.h"

#include <stdbool.h>

struct mt_rewrite {
    char *text; /* current text, NUL-terminated */
    size_t length;
    size_t *moved; /* [original_length + 1]: current position of byte i of the original text */
    size_t original_length;
};

/* Copies text[0, length). mt_rewrite_finish has to be called even after a failure. */
MT_MUST_CHECK enum mt_status mt_rewrite_init(struct mt_rewrite *rewrite, const char *text,
                                             size_t length, struct mt_error *err);
void mt_rewrite_finish(struct mt_rewrite *rewrite);

/* Replaces every occurrence of `from` by `to`, which is not longer, from left to right. If `from`
 * contains `to`, then the rest of it counts as deleted. */
void mt_rewrite_replace(struct mt_rewrite *rewrite, const char *from, const char *to);

/* Deletes white space at both ends: Unicode's, and U+001C to U+001F, like Python's str.strip. */
void mt_rewrite_strip(struct mt_rewrite *rewrite);

/* Deletes the blanks before punctuation and English contractions: the reference's
 * clean_up_tokenization. */
void mt_rewrite_clean_up(struct mt_rewrite *rewrite);

#endif
