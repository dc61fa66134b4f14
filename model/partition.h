/*
 * How a team divides a pass among its members. There are two ways, with the same result:
 *
 *   together  each member computes its columns of every linear layer for all rows, and its rows of
 *             everything else, with a barrier after each operation. Each weight is read once, by
 *             one core: best for few rows, where reading the weights takes most of the time.
 *   apart     each member takes whole sentences through the pass alone: no barriers, and
 *             activations stay in the caches of one core. Each member reads all weights: best for
 *             many rows, where arithmetic takes most of the time.
 *
 * Thread-safety: pure.
 */
#ifndef MT_MODEL_PARTITION_H
#define MT_MODEL_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

struct mt_hparams;

/*
 * Returns about how many rows a member needs to be as fast alone as in a team whose other members
 * have as many, from MT_MIN_ROWS_APART to MT_MAX_ROWS_APART. Alone it reads all weights. In a team
 * it reads a part of them, but its members wait for each other several times in each layer. The two
 * are equally fast if multiplying takes longer than reading and no longer than waiting. n_columns:
 * those of the output layer that a step computes.
 */
size_t mt_partition_rows_apart(const struct mt_hparams *hparams, size_t n_columns);
#define MT_MIN_ROWS_APART 1
#define MT_MAX_ROWS_APART 32

/* Where a member's part begins. */
struct mt_part_begin {
    size_t sentence, row;
};

/* Divides sentences of n_rows[n_sentences] rows, which stay whole and in order, into a part for
 * each member: begins[i] to begins[i + 1]; [n_members + 1]. Returns false if together is better,
 * because there are fewer than rows_apart for each member, or the parts would be too unequal. */
bool mt_partition_by_sentence(const size_t *n_rows, size_t n_sentences, size_t n_members,
                              size_t rows_apart, struct mt_part_begin *begins);

#endif
