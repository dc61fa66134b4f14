/*
 * Numbers and bytes one behind the other: what two processes of ours hand each other. Whoever reads
 * them believes nothing: what is not as it must be is broken, and then everything reads as 0 and
 * empty.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_FLAT_H
#define MT_BASE_FLAT_H

#include "base/text.h"

void mt_flat_put_number(struct mt_text *out, size_t number);
/* A text that was never written is an empty one. */
void mt_flat_put_text(struct mt_text *out, const struct mt_text *text);
/* With a NUL behind it, so that mt_flat_string can lend it. */
void mt_flat_put_string(struct mt_text *out, const char *bytes, size_t length);

struct mt_flat {
    const char *bytes; /* borrowed */
    size_t length, at;
    bool is_broken;
};

/* most: what is above is broken. */
size_t mt_flat_number(struct mt_flat *flat, size_t most);
/* How many items follow, of at least one number each: never more than there are bytes for. */
size_t mt_flat_count(struct mt_flat *flat);
/* Appends well-formed UTF-8 without NUL to out, which ends in NUL then; out is empty otherwise. */
void mt_flat_text(struct mt_flat *flat, struct mt_text *out);
/* Borrowed from flat: well-formed UTF-8 without NUL that ends in NUL. length may be NULL. */
const char *mt_flat_string(struct mt_flat *flat, size_t *length);
/* MT_OK, if all was read and nothing is broken; else MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_flat_end(const struct mt_flat *flat, const char *what,
                                         struct mt_error *err);

#endif
