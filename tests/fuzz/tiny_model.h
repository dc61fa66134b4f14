/*
 * A Transformer as small as the kernels allow (d_model 16, one layer each, 24 tokens), made in
 * memory from seeded numbers: what fuzzers run that need a whole model. It has no tokenizer.
 */
#ifndef MT_TESTS_FUZZ_TINY_MODEL_H
#define MT_TESTS_FUZZ_TINY_MODEL_H

#include "model/model_state.h"

#define TINY_VOCAB 24
#define TINY_POSITIONS 16
#define TINY_EOS 0
#define TINY_PAD 23

const struct mt_hparams *tiny_hparams(void);

/* Built at the first call, and never freed. */
const struct mt_model *tiny_model(enum mt_precision precision);

/* The packed form as a file's bytes, borrowed. */
const unsigned char *tiny_packed(size_t *length);

#endif
