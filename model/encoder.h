/*
 * The encoder: N layers of self-attention and feed-forward over whole sentences (Vaswani et al.
 * 2017, section 3.1).
 *
 * Several sentences pass at once, one behind the other without padding: x [N, D], where N is the
 * sum of their lengths.
 */
#ifndef MT_MODEL_ENCODER_H
#define MT_MODEL_ENCODER_H

#include "model/kvcache.h"
#include "model/layers.h"
#include "model/trace.h"
#include "model/workspace.h"

struct mt_model;

struct mt_encoder_input {
    const int32_t *ids;
    size_t n;
    uint16_t cross_slot;     /* slot in which the decoder finds this sentence's keys and values */
    struct mt_trace *trace;  /* or NULL */
    const uint8_t *switches; /* or NULL (switches.h) */
};

/* Encodes the sentences and fills the cross-attention cache of every decoder layer. All members of
 * the team call it with the same arguments. The lengths add up to at most workspace->n_rows. */
void mt_encoder_run(const struct mt_member *me, const struct mt_model *model,
                    const struct mt_workspace *workspace, const struct mt_encoder_input *inputs,
                    size_t n_inputs, const struct mt_kvcache *cross);

#endif
