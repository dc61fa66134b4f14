/*
 * Reports what the heads of a model do, measured on sentences with known links (head_sample.h): the
 * error rate of the links that each head makes, and of combinations of heads; which part of its
 * weight each head puts on which positions; and the setting with which the model aligns best.
 *
 * The error rate (AER, Och and Ney 2003) of links A, where all known links K are sure, is 1 - 2 |A
 * and K| / (|A| + |K|). A links each word of the translation to the word of the source with the
 * largest weight.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_HEAD_REPORT_H
#define MT_SERVER_INSPECTION_HEAD_REPORT_H

#include "base/text.h"

struct mt_alignment_choice;
struct mt_model;
struct mt_settings;

/* Appends the report. alignment is the one in use, for comparison. MT_INVALID: a line is malformed,
 * lacks one of the three fields, or has links beyond the words of its sentence. */
MT_MUST_CHECK enum mt_status mt_report_heads(const struct mt_model *model,
                                             const struct mt_settings *settings,
                                             const struct mt_alignment_choice *alignment,
                                             const char *path, struct mt_text *out,
                                             struct mt_error *err);

#endif
