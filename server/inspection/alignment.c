#include "server/inspection/alignment.h"

#include <stdlib.h>
#include <string.h>

void mt_alignment_default_layers(size_t n_decoder_layers, struct mt_index_list *out)
{
    *out = (struct mt_index_list){0};
    for (size_t layer = n_decoder_layers / 2; layer < n_decoder_layers; layer++)
        if (out->n < MT_MAX_INDICES)
            out->values[out->n++] = (int)layer;
}

void mt_alignment_guided(struct mt_index_list *layers, struct mt_index_list *heads)
{
    *layers = (struct mt_index_list){.n = 1, .values = {-1}};
    *heads = (struct mt_index_list){.n = 1, .values = {0}};
}

static void combine_row(const struct mt_attention *attention, const struct mt_selection *selection,
                        enum mt_alignment_mode mode, size_t step, size_t n_source, double *sums)
{
    memset(sums, 0, n_source * sizeof *sums);
    for (size_t l = 0; l < selection->n_layers; l++) {
        for (size_t h = 0; h < selection->n_heads; h++) {
            const float *row = attention->row(attention->context, MT_TRACE_CROSS,
                                              selection->layers[l], selection->heads[h], step);
            for (size_t s = 0; s < n_source; s++) {
                if (mode == MT_ALIGNMENT_MEAN)
                    sums[s] += row[s];
                else if (row[s] > sums[s])
                    sums[s] = row[s];
            }
        }
    }
}

/* The row is divided by its sum instead of the number of heads, because the rows of a trace sum to
 * 1 only within rounding. */
static void normalize_row(const double *sums, size_t n, float *out)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += sums[i];
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(total > 0 ? sums[i] / total : 1.0 / (double)n);
}

void mt_alignment_matrix(const struct mt_attention *attention, const struct mt_selection *selection,
                         enum mt_alignment_mode mode, enum mt_alignment_shift shift, size_t n_steps,
                         size_t n_source, double *sums, float *out)
{
    for (size_t t = 0; t < n_steps; t++) {
        size_t step = shift == MT_SHIFT_INPUT && t + 1 < n_steps ? t + 1 : t;
        combine_row(attention, selection, mode, step, n_source, sums);
        normalize_row(sums, n_source, out + t * n_source);
    }
}

static int by_source(const void *a, const void *b)
{
    const struct mt_link *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

size_t mt_alignment_links(const struct mt_inspected_sentence *sentence, struct mt_link *links)
{
    size_t n = 0;
    for (size_t t = 0; t < sentence->n_steps; t++) {
        if (sentence->output_tokens[t].special)
            continue;
        const float *row = sentence->alignment + t * sentence->n_source;
        size_t best = SIZE_MAX;
        for (size_t s = 0; s < sentence->n_source; s++)
            if (!sentence->source_tokens[s].special && (best == SIZE_MAX || row[s] > row[best]))
                best = s;
        if (best != SIZE_MAX)
            links[n++] = (struct mt_link){.source = best, .target = t};
    }
    qsort(links, n, sizeof *links, by_source);
    return n;
}
