/*
 * Measures and cuts short texts beside matrices.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_LABEL_H
#define MT_SERVER_INSPECTION_LABEL_H

#include "base/text.h"

/* Returns how many columns a terminal uses for well-formed UTF-8: 2 for wide East Asian characters
 * and emoji, 0 for combining marks and control characters. */
size_t mt_label_columns(const char *text);

/* Appends text, cut to at most max_columns (1 or more) with an ellipsis at its end. Control
 * characters and noncharacters (U+FFFE) become U+FFFD, since XML 1.0 allows neither. Returns the
 * number of columns. */
size_t mt_label_append(struct mt_text *out, const char *text, size_t max_columns);

#endif
