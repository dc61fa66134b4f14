/*
 * From attention to alignment: which source tokens an output token came from.
 *
 * The matrix is the mean (or the maximum, made to sum to 1 again) of chosen heads of the
 * cross-attention; a hard link takes the largest weight of a row. No choice is right for every
 * model, so it is always named beside the result.
 *
 * Thread-safety: safe on distinct sentences.
 */
#ifndef MT_SERVER_INSPECTION_ALIGNMENT_H
#define MT_SERVER_INSPECTION_ALIGNMENT_H

#include "server/inspection/inspection.h"

/* The layers that align best in most models when nothing is known: the upper half. */
void mt_alignment_default_layers(size_t n_decoder_layers, struct mt_index_list *out);

/* The one that Marian's guided alignment trains, as Firefox's models were: the first head of the
 * last layer. */
void mt_alignment_guided(struct mt_index_list *layers, struct mt_index_list *heads);

/* Fills out[n_steps, n_source]; every row sums to 1. sums is scratch of n_source. */
void mt_alignment_matrix(const struct mt_attention *attention, const struct mt_selection *selection,
                         enum mt_alignment_mode mode, enum mt_alignment_shift shift, size_t n_steps,
                         size_t n_source, double *sums, float *out);

/* For each output token that is not special, the source token that is not special with the largest
 * weight; of equals the first. Ascending by source, then target. links has room for n_steps.
 * Returns how many. */
size_t mt_alignment_links(const struct mt_inspected_sentence *sentence, struct mt_link *links);

#endif
