#include "model/partition.h"

#include "base/size.h"
#include "model/files/hparams.h"

/* Counted barriers in a layer of a step, and the cost of each, including the wait for the slowest
 * member: 1,000 ns on an idle machine, twice that in a server, whose other threads sometimes use a
 * processor. */
#define BARRIERS_OF_LAYER 14
#define BARRIER_NS 2000.0

/* Times for a weight of a model that is larger than a thread's own caches: to read it, and to
 * multiply one row by it, on a core with AVX512-VNNI. With AMX multiplying takes less, with AVX2
 * more. */
#define READ_NS 0.036
#define MULTIPLY_NS 0.004

/* The pass lasts as long as its largest part. */
#define MAX_SHARE_PERCENT 125

/* Returns how many weights one decoder step reads. The weights for keys and values of the source
 * are not included, because these are computed before. */
static size_t step_weights(const struct mt_hparams *h, size_t n_columns)
{
    size_t attention = (h->decoder_cell == MT_CELL_SSRU ? 4 : 6) * h->d_model * h->d_model;
    size_t n_linears = h->feed_forward_kind == MT_FEED_FORWARD_GATED ? 3 : 2;
    size_t feed_forward = n_linears * h->d_model * h->d_ff_decoder;
    return h->n_decoder_layers * (attention + feed_forward) + h->d_model * n_columns;
}

size_t mt_partition_rows_apart(const struct mt_hparams *hparams, size_t n_columns)
{
    double n_weights = (double)step_weights(hparams, n_columns);
    double n_barriers = (double)(BARRIERS_OF_LAYER * hparams->n_decoder_layers + 1);
    double saved_ns = n_weights * READ_NS - n_barriers * BARRIER_NS;
    double rows = saved_ns / (n_weights * MULTIPLY_NS) + 0.5;
    if (rows >= MT_MAX_ROWS_APART)
        return MT_MAX_ROWS_APART;
    return rows > MT_MIN_ROWS_APART ? (size_t)rows : MT_MIN_ROWS_APART;
}

bool mt_partition_by_sentence(const size_t *n_rows, size_t n_sentences, size_t n_members,
                              size_t rows_apart, struct mt_part_begin *begins)
{
    size_t total = 0, row = 0, member = 1;
    for (size_t i = 0; i < n_sentences; i++)
        total += n_rows[i];
    if (n_members < 2 || total < rows_apart * n_members)
        return false;
    begins[0] = (struct mt_part_begin){0};
    for (size_t i = 0; i < n_sentences; i++) {
        /* Chooses the border nearest to the end of an even share. */
        while (member < n_members && total * member / n_members <= row + n_rows[i] / 2)
            begins[member++] = (struct mt_part_begin){.sentence = i, .row = row};
        row += n_rows[i];
    }
    while (member <= n_members)
        begins[member++] = (struct mt_part_begin){.sentence = n_sentences, .row = total};
    size_t largest = 0;
    for (size_t i = 0; i < n_members; i++)
        largest = mt_size_max(largest, begins[i + 1].row - begins[i].row);
    return largest * n_members * 100 <= total * MAX_SHARE_PERCENT;
}
