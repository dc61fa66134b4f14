#include "model/cut.h"

#include "base/size.h"
#include "model/files/hparams.h"

/* What the waiting for each other costs, in rows. */
#define ROWS_OF_BARRIERS 2

/* The largest part decides when the pass ends. */
#define MAX_SHARE_PERCENT 125

/* Of one decoder step: keys and values of the source are computed before. */
static size_t step_weights(const struct mt_hparams *h)
{
    size_t attention = (h->decoder_cell == MT_CELL_SSRU ? 4 : 6) * h->d_model * h->d_model;
    size_t feed_forward = 2 * h->d_model * h->d_ff_decoder;
    return h->n_decoder_layers * (attention + feed_forward) + h->d_model * h->n_target_vocab;
}

size_t mt_cut_rows_apart(const struct mt_hparams *hparams, size_t weights_per_row)
{
    return ROWS_OF_BARRIERS + (step_weights(hparams) + weights_per_row / 2) / weights_per_row;
}

bool mt_cut_apart(const size_t *n_rows, size_t n_sentences, size_t n_members, size_t rows_apart,
                  struct mt_cut *cuts)
{
    size_t total = 0, row = 0, member = 1;
    for (size_t i = 0; i < n_sentences; i++)
        total += n_rows[i];
    if (n_members < 2 || total < rows_apart * n_members)
        return false;
    cuts[0] = (struct mt_cut){0};
    for (size_t i = 0; i < n_sentences; i++) {
        /* The border nearest to where an even share would end. */
        while (member < n_members && total * member / n_members <= row + n_rows[i] / 2)
            cuts[member++] = (struct mt_cut){.sentence = i, .row = row};
        row += n_rows[i];
    }
    while (member <= n_members)
        cuts[member++] = (struct mt_cut){.sentence = n_sentences, .row = total};
    size_t largest = 0;
    for (size_t i = 0; i < n_members; i++)
        largest = mt_size_max(largest, cuts[i + 1].row - cuts[i].row);
    return largest * n_members * 100 <= total * MAX_SHARE_PERCENT;
}
