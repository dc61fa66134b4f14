/*
 * A made-up translation of two sentences with made-up attention, for tests of everything that reads
 * a struct mt_inspection. The texts have characters of 1, 2, 3 and 4 bytes.
 *
 *   "Wörld € 😀."  ->  "Welt 😀!"      3 + eos source tokens, 2 + eos output tokens
 *   "Ja"           ->  "Yes"           1 + eos, 1 + eos
 *
 * Weights are pseudo-random rows that sum to 1, decoder rows 0 for the future. The model has 2
 * encoder layers, 3 decoder layers and 2 heads.
 */
#ifndef MT_TESTS_INSPECTION_SAMPLE_H
#define MT_TESTS_INSPECTION_SAMPLE_H

#include "server/inspection/inspection.h"

#define SAMPLE_HEADS 2
#define SAMPLE_ENCODER_LAYERS 2
#define SAMPLE_DECODER_LAYERS 3
#define SAMPLE_MAX_TOKENS 4

struct sample_attention {
    size_t n_source, n_steps;
    float rows[3][SAMPLE_DECODER_LAYERS][SAMPLE_HEADS][SAMPLE_MAX_TOKENS][SAMPLE_MAX_TOKENS];
};

struct sample {
    struct mt_inspection_input input;
    struct mt_inspection_part parts[2];
    struct sample_attention attention[2];
    const struct mt_top_token *top[2][SAMPLE_MAX_TOKENS];
};

/* Fills in a sample, which must not move afterwards. */
void sample_init(struct sample *sample);

#endif
