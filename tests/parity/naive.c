#include "tests/parity/naive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct naive {
    const struct mt_hparams *h;
    const struct mt_safetensors *file;
};

static const float *tensor(const struct naive *n, const char *format, const char *side,
                           size_t layer, const char *name)
{
    char full[256];
    snprintf(full, sizeof full, format, side, layer, name);
    const struct mt_tensor *t = mt_safetensors_find(n->file, full);
    if (!t) {
        fprintf(stderr, "naive: no tensor %s\n", full);
        abort();
    }
    return t->data;
}

#define LAYER "model.%s.layers.%zu.%s"

static double *zeros(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (!x)
        abort();
    return x;
}

/* y [rows, out] = x [rows, in] w^T + b */
static double *linear(const double *x, size_t rows, size_t in, size_t out, const float *w,
                      const float *b)
{
    double *y = zeros(rows * out);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < out; o++) {
            double sum = b ? (double)b[o] : 0.0;
            for (size_t i = 0; i < in; i++)
                sum += x[r * in + i] * (double)w[o * in + i];
            y[r * out + o] = sum;
        }
    return y;
}

static double *layer_linear(const struct naive *n, const double *x, size_t rows, size_t in,
                            size_t out, const char *side, size_t layer, const char *name)
{
    char weight[96], bias[96];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    return linear(x, rows, in, out, tensor(n, LAYER, side, layer, weight),
                  tensor(n, LAYER, side, layer, bias));
}

static void normalize(const struct naive *n, double *x, size_t rows, const float *gamma,
                      const float *beta)
{
    size_t d = n->h->d_model;
    for (size_t r = 0; r < rows; r++) {
        double mean = 0.0, variance = 0.0, *row = x + r * d;
        for (size_t i = 0; i < d && beta; i++) /* an RMS norm has none, nor a mean */
            mean += row[i] / (double)d;
        for (size_t i = 0; i < d; i++)
            variance += (row[i] - mean) * (row[i] - mean) / (double)d;
        for (size_t i = 0; i < d; i++)
            row[i] = (row[i] - mean) / sqrt(variance + (double)n->h->norm_eps) * (double)gamma[i] +
                     (beta ? (double)beta[i] : 0.0);
    }
}

static void layer_norm(const struct naive *n, double *x, size_t rows, const char *side,
                       size_t layer, const char *name)
{
    char weight[96], bias[96];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    normalize(n, x, rows, tensor(n, LAYER, side, layer, weight),
              n->h->norm_kind == MT_NORM_RMS ? NULL : tensor(n, LAYER, side, layer, bias));
}

static void side_norm(const struct naive *n, double *x, size_t rows, const char *side,
                      const char *name)
{
    char weight[128], bias[128];
    snprintf(weight, sizeof weight, "model.%s.%s.weight", side, name);
    snprintf(bias, sizeof bias, "model.%s.%s.bias", side, name);
    normalize(n, x, rows, mt_safetensors_find(n->file, weight)->data,
              n->h->norm_kind == MT_NORM_RMS ? NULL : mt_safetensors_find(n->file, bias)->data);
}

static double *attention(const struct naive *n, const double *x, size_t rows, const double *memory,
                         size_t n_memory, size_t heads, bool is_causal, const char *side,
                         size_t layer, const char *name)
{
    size_t d = n->h->d_model, dk = d / heads;
    char part[80];
    double *projected[3];
    const char *const names[3] = {"q_proj", "k_proj", "v_proj"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(part, sizeof part, "%s.%s", name, names[i]);
        projected[i] =
            layer_linear(n, i ? memory : x, i ? n_memory : rows, d, d, side, layer, part);
    }
    double *context = zeros(rows * d), *weights = zeros(n_memory);
    for (size_t r = 0; r < rows; r++)
        for (size_t h = 0; h < heads; h++) {
            size_t seen = is_causal ? r + 1 : n_memory;
            double total = 0.0;
            for (size_t t = 0; t < seen; t++) {
                double dot = 0.0;
                for (size_t i = 0; i < dk; i++)
                    dot += projected[0][r * d + h * dk + i] * projected[1][t * d + h * dk + i];
                weights[t] = exp(dot / sqrt((double)dk));
                total += weights[t];
            }
            for (size_t t = 0; t < seen; t++)
                for (size_t i = 0; i < dk; i++)
                    context[r * d + h * dk + i] +=
                        weights[t] / total * projected[2][t * d + h * dk + i];
        }
    snprintf(part, sizeof part, "%s.out_proj", name);
    double *out = layer_linear(n, context, rows, d, d, side, layer, part);
    for (size_t i = 0; i < 3; i++)
        free(projected[i]);
    free(context);
    free(weights);
    return out;
}

/* The cell's state goes through the whole target, one position after the other. */
static double *recurrence(const struct naive *n, const double *x, size_t rows, size_t layer)
{
    size_t d = n->h->d_model;
    double *input =
        linear(x, rows, d, d, tensor(n, LAYER, "decoder", layer, "cell.input.weight"), NULL);
    double *forget = layer_linear(n, x, rows, d, d, "decoder", layer, "cell.forget");
    double *state = zeros(d), *out = zeros(rows * d);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < d; i++) {
            double keep = 1.0 / (1.0 + exp(-forget[r * d + i]));
            state[i] = keep * state[i] + (1.0 - keep) * input[r * d + i];
            out[r * d + i] = state[i] > 0.0 ? state[i] : 0.0;
        }
    free(input);
    free(forget);
    free(state);
    return out;
}

static double activate(enum mt_activation activation, double v)
{
    switch (activation) {
    case MT_RELU:
        return v > 0.0 ? v : 0.0;
    case MT_SILU:
        return v / (1.0 + exp(-v));
    case MT_GELU:
        return 0.5 * v * (1.0 + erf(v / sqrt(2.0)));
    case MT_GELU_TANH:
        return 0.5 * v * (1.0 + tanh(sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v)));
    case MT_QUICK_GELU:
        return v / (1.0 + exp(-1.702 * v));
    }
    return NAN;
}

static double *feed_forward(const struct naive *n, const double *x, size_t rows, size_t d_ff,
                            const char *side, size_t layer)
{
    double *hidden = layer_linear(n, x, rows, n->h->d_model, d_ff, side, layer, "fc1");
    for (size_t i = 0; i < rows * d_ff; i++)
        hidden[i] = activate(n->h->activation, hidden[i]);
    if (n->h->feed_forward_kind == MT_FEED_FORWARD_GATED) {
        double *factor = layer_linear(n, x, rows, n->h->d_model, d_ff, side, layer, "fc1_factor");
        for (size_t i = 0; i < rows * d_ff; i++)
            hidden[i] *= factor[i];
        free(factor);
    }
    double *out = layer_linear(n, hidden, rows, d_ff, n->h->d_model, side, layer, "fc2");
    free(hidden);
    return out;
}

/* x = LN(x + f(x)), or x + f(LN(x)) */
static double *copy_for_sublayer(const struct naive *n, const double *x, size_t rows,
                                 const char *side, size_t layer, const char *norm)
{
    double *copy = zeros(rows * n->h->d_model);
    memcpy(copy, x, rows * n->h->d_model * sizeof *copy);
    if (n->h->normalize_before)
        layer_norm(n, copy, rows, side, layer, norm);
    return copy;
}

static void add_sublayer(const struct naive *n, double *x, double *copy, double *added, size_t rows,
                         const char *side, size_t layer, const char *norm)
{
    for (size_t i = 0; i < rows * n->h->d_model; i++)
        x[i] += added[i];
    if (!n->h->normalize_before)
        layer_norm(n, x, rows, side, layer, norm);
    free(copy);
    free(added);
}

/* The paper's geometric progression from 1, its ratio 10000^(-2/d); or one that ends at exactly
 * 1/10000. */
static double frequency(const struct naive *n, size_t pair)
{
    double d = (double)n->h->d_model;
    bool is_paper = n->h->position_formula == MT_POSITIONS_PAPER;
    double ratio = exp(-log(10000.0) / (is_paper ? d / 2.0 : d / 2.0 - 1.0));
    double product = 1.0;
    for (size_t i = 0; i < pair; i++)
        product *= ratio;
    return product;
}

/* What transformers' create_position_ids_from_input_ids gives for padding: a zero instead of a
 * position, and no place in the count of those behind it. A decoder with a cache sees one token at a
 * time, and counts what the cache holds, padding and all. */
static bool has_position(const struct naive *n, int32_t id)
{
    return !n->h->positions_skip_padding || id != n->h->pad_id;
}

static size_t place_of(const struct naive *n, const int32_t *ids, size_t t, const char *side)
{
    size_t place = 0;
    for (size_t before = 0; before < t; before++)
        place += side[0] == 'd' || has_position(n, ids[before]);
    return place;
}

/* Of a negative id the position alone. */
static double *embed(const struct naive *n, const int32_t *ids, size_t rows, const float *table,
                     const char *side)
{
    size_t d = n->h->d_model, half = d / 2;
    double *x = zeros(rows * d), scale = n->h->scale_embedding ? sqrt((double)d) : 1.0;
    for (size_t t = 0; t < rows; t++)
        for (size_t i = 0; i < d; i++) {
            bool interleaved = n->h->position_layout == MT_POSITIONS_INTERLEAVED;
            size_t pair = interleaved ? i / 2 : i % half;
            bool is_sine = interleaved ? i % 2 == 0 : i < half;
            double angle =
                (double)(place_of(n, ids, t, side) + n->h->first_position) * frequency(n, pair);
            double word = ids[t] >= 0 ? (double)table[(size_t)ids[t] * d + i] : 0.0;
            double wave = is_sine ? sin(angle) : cos(angle);
            x[t * d + i] = word * scale + (has_position(n, ids[t]) ? wave : 0.0);
        }
    if (n->h->normalize_embedding)
        side_norm(n, x, rows, side, "layernorm_embedding");
    return x;
}

static const float *table_of(const struct naive *n, const char *name)
{
    const struct mt_tensor *t = mt_safetensors_find(n->file, name);
    return t ? t->data : mt_safetensors_find(n->file, "model.shared.weight")->data;
}

static double *encode(const struct naive *n, const int32_t *source, size_t rows)
{
    double *x = embed(n, source, rows, table_of(n, "model.encoder.embed_tokens.weight"), "encoder");
    for (size_t l = 0; l < n->h->n_encoder_layers; l++) {
        double *in = copy_for_sublayer(n, x, rows, "encoder", l, "self_attn_layer_norm");
        add_sublayer(n, x, in,
                     attention(n, in, rows, in, rows, n->h->n_encoder_heads, false, "encoder", l,
                               "self_attn"),
                     rows, "encoder", l, "self_attn_layer_norm");
        in = copy_for_sublayer(n, x, rows, "encoder", l, "final_layer_norm");
        add_sublayer(n, x, in, feed_forward(n, in, rows, n->h->d_ff_encoder, "encoder", l), rows,
                     "encoder", l, "final_layer_norm");
    }
    if (n->h->final_norm)
        side_norm(n, x, rows, "encoder", "layer_norm");
    return x;
}

static double *decode(const struct naive *n, const int32_t *input, size_t rows,
                      const double *memory, size_t n_memory)
{
    double *x = embed(n, input, rows, table_of(n, "model.decoder.embed_tokens.weight"), "decoder");
    size_t heads = n->h->n_decoder_heads;
    for (size_t l = 0; l < n->h->n_decoder_layers; l++) {
        bool recurs = n->h->decoder_cell == MT_CELL_SSRU;
        const char *norm = recurs ? "cell_layer_norm" : "self_attn_layer_norm";
        double *in = copy_for_sublayer(n, x, rows, "decoder", l, norm);
        add_sublayer(n, x, in,
                     recurs
                         ? recurrence(n, in, rows, l)
                         : attention(n, in, rows, in, rows, heads, true, "decoder", l, "self_attn"),
                     rows, "decoder", l, norm);
        in = copy_for_sublayer(n, x, rows, "decoder", l, "encoder_attn_layer_norm");
        add_sublayer(
            n, x, in,
            attention(n, in, rows, memory, n_memory, heads, false, "decoder", l, "encoder_attn"),
            rows, "decoder", l, "encoder_attn_layer_norm");
        in = copy_for_sublayer(n, x, rows, "decoder", l, "final_layer_norm");
        add_sublayer(n, x, in, feed_forward(n, in, rows, n->h->d_ff_decoder, "decoder", l), rows,
                     "decoder", l, "final_layer_norm");
    }
    if (n->h->final_norm)
        side_norm(n, x, rows, "decoder", "layer_norm");
    return x;
}

double *naive_logits(const struct mt_hparams *hparams, const struct mt_safetensors *file,
                     const int32_t *source, size_t n_source, const int32_t *target, size_t n_target)
{
    const struct naive n = {.h = hparams, .file = file};
    int32_t *input = calloc(n_target, sizeof *input);
    if (!input)
        abort();
    for (size_t t = 0; t < n_target; t++)
        input[t] = t ? target[t - 1] : hparams->zero_start ? -1 : hparams->start_id;
    double *memory = encode(&n, source, n_source);
    double *x = decode(&n, input, n_target, memory, n_source);
    const float *output = hparams->tied_output ? table_of(&n, "model.decoder.embed_tokens.weight")
                                               : mt_safetensors_find(file, "lm_head.weight")->data;
    double *logits = linear(x, n_target, hparams->d_model, hparams->n_target_vocab, output,
                            mt_safetensors_find(file, "final_logits_bias")->data);
    free(input);
    free(memory);
    free(x);
    return logits;
}
