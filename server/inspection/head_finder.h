/*
 * Which heads of a model align source and target best, measured on a sample.
 *
 * A line of the sample is a source sentence, where it is known a TAB and its translation (else the
 * model's own is taken), and where that is known another TAB and the alignment of its words,
 * separated by blanks, as pairs "0-0 1-2". What a head is measured by:
 *
 *   known      for a target word with known links, the weight on the pieces of its source words
 *   anchors    where no links are known: for a piece that occurs once on both sides (names,
 *              numbers, punctuation), the weight on its twin
 *   diagonal   the weight near the diagonal, which counts little: it decides where the others are
 *              silent
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_HEAD_FINDER_H
#define MT_SERVER_INSPECTION_HEAD_FINDER_H

#include "base/text.h"

struct mt_model;
struct mt_settings;

/* Most lines of a sample that are read. */
#define MT_HEAD_SAMPLE_LINES 2000

/* Appends a report: every layer and head with its score, and the best choice as flags and as the
 * alignment object of a request. MT_INVALID: a line of another form, or nothing to measure by. */
MT_MUST_CHECK enum mt_status mt_find_alignment_heads(const struct mt_model *model,
                                                     const struct mt_settings *settings,
                                                     const char *path, struct mt_text *out,
                                                     struct mt_error *err);

#endif
