/*
 * Rewrite: shortens a text by replacements and remembers where every byte went, so that spans into
 * the first text can be carried over to the last.
 */
#ifndef MT_MODEL_TOKENIZER_REWRITE_H
#define MT_MODEL_TOKENIZER_REWRITE_H

#include "base/status.h"

#include <stdbool.h>

struct mt_rewrite {
    char *text; /* as it is now, NUL-terminated */
    size_t length;
    size_t *moved; /* [original_length + 1]: where byte i of the original text is now */
    size_t original_length;
};

/* Copies text[0, length). mt_rewrite_finish it, also after a failure. */
MT_MUST_CHECK enum mt_status mt_rewrite_init(struct mt_rewrite *rewrite, const char *text,
                                             size_t length, struct mt_error *err);
void mt_rewrite_finish(struct mt_rewrite *rewrite);

/* Replaces every occurrence of from by to, left to right, which is not longer than from. Where to
 * occurs in from, what stands around it counts as deleted. */
void mt_rewrite_replace(struct mt_rewrite *rewrite, const char *from, const char *to);

/* Deletes white space at both ends: Unicode's, and U+001C to U+001F, as Python's str.strip does. */
void mt_rewrite_strip(struct mt_rewrite *rewrite);

/* Takes the blanks away that stand before punctuation and English contractions: the reference's
 * clean_up_tokenization. */
void mt_rewrite_clean_up(struct mt_rewrite *rewrite);

#endif
