/*
 * The projection to the vocabulary, and the selection of tokens: logits are processed block by
 * block, by the member that computed them, and never stored.
 */
#ifndef MT_MODEL_PROJECT_H
#define MT_MODEL_PROJECT_H

#include "model/decoder.h"

/* Fills the output of every row that wants one, from workspace->x. All members call it. */
void mt_project(const struct mt_member *me, const struct mt_model *model,
                const struct mt_workspace *workspace, const struct mt_decoder_row *rows,
                size_t n_rows);

#endif
