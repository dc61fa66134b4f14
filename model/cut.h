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

/* Where a member's part begins. */
struct mt_cut {
    size_t sentence, row;
};

/* Cuts sentences of n_rows[n_sentences] rows, which stay whole and in order, into a part for each
 * member: cuts[i] to cuts[i + 1]; [n_members + 1]. False: better together, because there are too
 * few rows or they would be shared too unevenly. */
bool mt_cut_apart(const size_t *n_rows, size_t n_sentences, size_t n_members, struct mt_cut *cuts);

#endif
