/*
 * How a team shares a pass. Two ways, with the same result:
 *
 *   together  each member computes its columns of every linear layer for all rows, and its rows of
 *             everything else, with a barrier after each operation. Each weight is read once, by
 *             one core: best for few rows, where reading the weights is the work.
 *   apart     each member takes whole sentences through the pass alone: no barriers, and
 *             activations stay in the caches of one core. Each member reads all weights: best for
 *             many rows, where arithmetic is the work.
 *
 * Thread-safety: pure.
 */
#ifndef MT_MODEL_CUT_H
#define MT_MODEL_CUT_H

#include <stdbool.h>
#include <stddef.h>

struct mt_hparams;

/*
 * About how many rows a member needs to be as fast by itself as in a team with others that have as
 * many, MT_MIN_ROWS_APART to MT_MAX_ROWS_APART. By itself it reads all weights; in the team a part of
 * them, but its members wait for each other several times a layer. Where multiplying takes longer
 * than the one and no longer than the other, both take the same time. n_columns: of the output layer,
 * as many as a step looks at.
 */
size_t mt_cut_rows_apart(const struct mt_hparams *hparams, size_t n_columns);
#define MT_MIN_ROWS_APART 1
#define MT_MAX_ROWS_APART 32

/* Where a member's part begins. */
struct mt_cut {
    size_t sentence, row;
};

/* Cuts sentences of n_rows[n_sentences] rows, which stay whole and in order, into a part for each
 * member: cuts[i] to cuts[i + 1]; [n_members + 1]. False: better together, because there are fewer
 * than rows_apart for each or they would be shared too unevenly. */
bool mt_cut_apart(const size_t *n_rows, size_t n_sentences, size_t n_members, size_t rows_apart,
                  struct mt_cut *cuts);

#endif
