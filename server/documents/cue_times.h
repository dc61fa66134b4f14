/*
 * Reads the times of cues, and recognises captions that roll up, as live ones do. Each line of
 * these appears word by word, with a time at each, and is repeated without times in the next cues:
 *
 *   00:00.160 --> 00:02.310
 *   hello<00:00.480><c> everyone</c>
 *
 *   00:02.310 --> 00:04.000
 *   hello everyone
 *   and<00:02.560><c> welcome</c>
 *
 * Texts are UTF-8, and ranges are bytes of them. Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_CUE_TIMES_H
#define MT_SERVER_DOCUMENTS_CUE_TIMES_H

#include "base/text.h"
#include "server/text/splitter.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads "01:02:03,004 --> 01:02:05,000" and moves *at behind it. The hours may be missing unless
 * needs_hours. */
bool mt_cue_read_times(const char **at, const char *end, bool needs_hours, int64_t *out_begin_ms,
                       int64_t *out_end_ms);

/* Whether a line that is not blank repeats the words of an earlier one. Tags do not count. */
bool mt_cue_repeats(const char *text, struct mt_range before, struct mt_range line);

/* Whether a line between the two positions has times between its words and is repeated after it.
 * Takes time in proportion to the text. */
bool mt_cue_rolls_up(const char *text, size_t begin, size_t end);

/* Appends a line without its tags. */
void mt_cue_append_words(const char *text, struct mt_range line, struct mt_text *out);

#endif
