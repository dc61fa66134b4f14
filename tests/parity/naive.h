/*
 * The Transformer once more, as plainly as it can be written: whole sequences, no cache, no
 * batches, double precision. What the engine computes must agree with it for every architecture
 * that we accept; the reference implementation's vectors cover only one.
 */
#ifndef MT_TESTS_NAIVE_H
#define MT_TESTS_NAIVE_H

#include "model/files/hparams.h"
#include "weights/safetensors.h"

/* logits [n_target, V] for each position of the target: the decoder reads start, target[0], ...,
 * and what it predicts at position t is row t. calloc'd. */
double *naive_logits(const struct mt_hparams *hparams, const struct mt_safetensors *file,
                     const int32_t *source, size_t n_source, const int32_t *target,
                     size_t n_target);

#endif
