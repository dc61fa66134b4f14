/*
 * Makes an alignment of attention: which source tokens an output token came from.
 *
 * The matrix is the mean of chosen heads of the cross-attention (or the maximum, made to sum to 1
 * again). A link leads to the largest weight of a row. No choice of heads is right for every model,
 * so it is always named beside the result.
 *
 * Thread-safety: safe on distinct sentences.
 */
#ifndef MT_SERVER_INSPECTION_ALIGNMENT_H
#define MT_SERVER_INSPECTION_ALIGNMENT_H

#include "server/inspection/inspection.h"

/* Chooses the layers that align best in most models: the upper half. */
void mt_alignment_default_layers(size_t n_decoder_layers, struct mt_index_list *out);

/* Chooses the head that Marian's guided alignment trains, as for Firefox's models: the first head
 * of the last layer. */
void mt_alignment_guided(struct mt_index_list *layers, struct mt_index_list *heads);

/* Fills out[n_steps, n_source]; every row sums to 1. sums is scratch of n_source. */
void mt_alignment_matrix(const struct mt_attention *attention, const struct mt_selection *selection,
                         enum mt_alignment_mode mode, enum mt_alignment_shift shift, size_t n_steps,
                         size_t n_source, double *sums, float *out);

/* Links each output token that is not special to the source token that is not special with the
 * largest weight; of equals the first. Links are ascending by source, then target, and links has
 * room for n_steps. Returns their number. */
size_t mt_alignment_links(const struct mt_inspected_sentence *sentence, struct mt_link *links);

#endif
