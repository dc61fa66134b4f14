/*
 * A sequence of numbers and texts, for data that two of our processes exchange. The reader trusts
 * nothing: invalid data mark the sequence as broken, and then everything reads as 0 or empty.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_FLAT_H
#define MT_BASE_FLAT_H

#include "base/text.h"

void mt_flat_put_number(struct mt_text *out, size_t number);
/* A text to which nothing was appended counts as empty. */
void mt_flat_put_text(struct mt_text *out, const struct mt_text *text);
/* Adds a NUL, so that mt_flat_string can return a pointer into the sequence. */
void mt_flat_put_string(struct mt_text *out, const char *bytes, size_t length);

struct mt_flat {
    const char *bytes; /* borrowed */
    size_t length, at;
    bool is_broken;
};

/* Reads a number of at most `most`; a larger one is invalid. */
size_t mt_flat_number(struct mt_flat *flat, size_t most);
/* Reads how many items follow, each with at least one number: never more than the rest has bytes
 * for. */
size_t mt_flat_count(struct mt_flat *flat);
/* Appends well-formed UTF-8 without NUL to out, which then ends in NUL; out is empty otherwise. */
void mt_flat_text(struct mt_flat *flat, struct mt_text *out);
/* Returns well-formed UTF-8 without NUL, which ends in NUL and is borrowed from flat. length may be
 * NULL. */
const char *mt_flat_string(struct mt_flat *flat, size_t *length);
/* MT_OK if everything was read and is valid; otherwise MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_flat_end(const struct mt_flat *flat, const char *what,
                                         struct mt_error *err);

#endif
