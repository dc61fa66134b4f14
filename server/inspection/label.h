/*
 * Short texts beside matrices: how wide they are and how they are cut.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_LABEL_H
#define MT_SERVER_INSPECTION_LABEL_H

#include "base/text.h"

/* Columns that a terminal gives to well-formed UTF-8: 2 for wide East Asian characters and faces, 0
 * for combining marks and control characters. */
size_t mt_label_columns(const char *text);

/* Appends text, cut to at most max_columns (1 or more) with an ellipsis at its end. Control
 * characters and what Unicode says is no character (U+FFFE) become U+FFFD, since XML 1.0 has
 * neither. Returns the columns taken. */
size_t mt_label_append(struct mt_text *out, const char *text, size_t max_columns);

#endif
