/*
 * Finds the heads of a model that align source and target best, measured on a sample
 * (head_sample.h).
 *
 * A head is measured by these criteria:
 *
 *   known      for a target word with known links, the weight on the pieces of its source words
 *   anchors    where no links are known: for a piece that occurs once on both sides (names,
 *              numbers, punctuation), the weight on its twin
 *   diagonal   the weight near the diagonal, which counts little: it decides where the others give
 *              no difference
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_HEAD_FINDER_H
#define MT_SERVER_INSPECTION_HEAD_FINDER_H

#include "base/text.h"

struct mt_model;
struct mt_settings;

/* Appends a report: every layer and head with its score, and the best choice, as flags and as the
 * alignment object of a request. MT_INVALID: a line is malformed, or the sample has nothing to
 * measure by. */
MT_MUST_CHECK enum mt_status mt_find_alignment_heads(const struct mt_model *model,
                                                     const struct mt_settings *settings,
                                                     const char *path, struct mt_text *out,
                                                     struct mt_error *err);

#endif
