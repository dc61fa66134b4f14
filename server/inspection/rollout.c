#include "server/inspection/inspection_state.h"

#include <string.h>

/* Computes one row of the mean of a layer's heads. */
static void mean_row(const struct mt_attention *attention, enum mt_trace_kind kind, size_t layer,
                     size_t n_heads, size_t row, size_t n, double *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t h = 0; h < n_heads; h++) {
        const float *weights = attention->row(attention->context, kind, layer, h, row);
        for (size_t i = 0; i < n; i++)
            out[i] += (double)weights[i] / (double)n_heads;
    }
}

/* Adds factor * row [n] times matrix [n, n_columns] to `to`. */
static void add_product(const double *row, size_t n, const double *matrix, size_t n_columns,
                        double factor, double *to)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n_columns && row[i] != 0; c++)
            to[c] += factor * row[i] * matrix[i * n_columns + c];
}

static void add(const double *from, size_t n, double factor, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

static void swap(double **a, double **b)
{
    double *before = *a;
    *a = *b;
    *b = before;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Two matrices of [S, S], two of [T, S], and a row. */
size_t mt_rollout_work_size(size_t n_steps, size_t n_source)
{
    return 2 * n_source * n_source + 2 * n_steps * n_source + larger(n_steps, n_source);
}

void mt_rollout_run(const struct mt_inspection_model *model, const struct mt_attention *attention,
                    size_t n_steps, size_t n_source, double *work, float *out)
{
    size_t s = n_source, t = n_steps;
    double *encoded = work, *next = encoded + s * s, *read = next + s * s, *after = read + t * s;
    double *row = after + t * s;
    memset(work, 0, mt_rollout_work_size(t, s) * sizeof *work);
    for (size_t i = 0; i < s; i++)
        encoded[i * s + i] = 1;
    for (size_t l = 0; l < model->n_encoder_layers; l++) {
        memset(next, 0, s * s * sizeof *next);
        for (size_t i = 0; i < s; i++) {
            mean_row(attention, MT_TRACE_ENCODER, l, model->n_encoder_heads, i, s, row);
            add_product(row, s, encoded, s, 0.5, next + i * s);
            add(encoded + i * s, s, 0.5, next + i * s);
        }
        swap(&encoded, &next);
    }
    for (size_t l = 0; l < model->n_decoder_layers; l++) {
        memset(after, 0, t * s * sizeof *after);
        for (size_t i = 0; i < t; i++) {
            mean_row(attention, MT_TRACE_DECODER, l, model->n_decoder_heads, i, t, row);
            add_product(row, t, read, s, 0.25, after + i * s);
            add(read + i * s, s, 0.25, after + i * s);
            mean_row(attention, MT_TRACE_CROSS, l, model->n_decoder_heads, i, s, row);
            add_product(row, s, encoded, s, 0.5, after + i * s);
        }
        swap(&read, &after);
    }
    for (size_t i = 0; i < t; i++) {
        double sum = 0;
        for (size_t c = 0; c < s; c++)
            sum += read[i * s + c];
        for (size_t c = 0; c < s; c++)
            out[i * s + c] = sum > 0 ? (float)(read[i * s + c] / sum) : 0.0f;
    }
}
