#include "inspection_sample.h"

#include <string.h>

static const char source_text[] = "Wörld € 😀.  Ja";
static const char target_text[] = "Welt 😀!  Yes";

/* "Wörld" 0-6, "€" 7-10, "😀." 11-16 of the first sentence */
static const struct mt_token source_0[] = {
    {.id = 11, .begin = 0, .end = 6, .begin_char = 0, .end_char = 5, .piece = "▁Wörld"},
    {.id = 12, .begin = 7, .end = 10, .begin_char = 6, .end_char = 7, .piece = "▁€"},
    {.id = 1,
     .begin = 11,
     .end = 16,
     .begin_char = 8,
     .end_char = 10,
     .unknown = true,
     .piece = "▁😀."},
    {.id = 0,
     .begin = 16,
     .end = 16,
     .begin_char = 10,
     .end_char = 10,
     .special = true,
     .piece = "</s>"},
};
static const struct mt_token output_0[] = {
    {.id = 21, .begin = 0, .end = 4, .begin_char = 0, .end_char = 4, .piece = "▁Welt"},
    {.id = 22, .begin = 5, .end = 10, .begin_char = 5, .end_char = 7, .piece = "▁😀!"},
    {.id = 0,
     .begin = 10,
     .end = 10,
     .begin_char = 7,
     .end_char = 7,
     .special = true,
     .piece = "</s>"},
};
static const struct mt_token source_1[] = {
    {.id = 13, .begin = 0, .end = 2, .begin_char = 0, .end_char = 2, .piece = "▁Ja"},
    {.id = 0,
     .begin = 2,
     .end = 2,
     .begin_char = 2,
     .end_char = 2,
     .special = true,
     .piece = "</s>"},
};
static const struct mt_token output_1[] = {
    {.id = 23, .begin = 0, .end = 3, .begin_char = 0, .end_char = 3, .piece = "▁Yes"},
    {.id = 0,
     .begin = 3,
     .end = 3,
     .begin_char = 3,
     .end_char = 3,
     .special = true,
     .piece = "</s>"},
};
static const struct mt_token start = {.id = 99, .special = true, .piece = "<pad>"};

static const float logprobs_0[] = {-0.1F, -0.25F, -0.5F};
static const float logprobs_1[] = {-1.0F, -0.125F};
static const float entropy_0[] = {0.5F, 1.5F, 0.25F};
static const float entropy_1[] = {0.75F, 0.0F};
static const struct mt_top_token top_tokens[] = {{21, -0.1F}, {22, -2.5F}};

static size_t kind_index(enum mt_trace_kind kind)
{
    return kind == MT_TRACE_ENCODER ? 0 : kind == MT_TRACE_DECODER ? 1 : 2;
}

static struct mt_trace_shape sample_shape(const void *context, enum mt_trace_kind kind)
{
    const struct sample_attention *attention = context;
    bool is_encoder = kind == MT_TRACE_ENCODER;
    return (struct mt_trace_shape){
        .n_layers = is_encoder ? SAMPLE_ENCODER_LAYERS : SAMPLE_DECODER_LAYERS,
        .n_heads = SAMPLE_HEADS,
        .n_rows = is_encoder ? attention->n_source : attention->n_steps,
        .n_columns = kind == MT_TRACE_DECODER ? attention->n_steps : attention->n_source,
    };
}

static const float *sample_row(const void *context, enum mt_trace_kind kind, size_t layer,
                               size_t head, size_t row)
{
    const struct sample_attention *attention = context;
    return attention->rows[kind_index(kind)][layer][head][row];
}

static void fill_row(float *row, size_t n, uint32_t *seed)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525U + 1013904223U;
        row[i] = (float)(*seed >> 8) / 16777216.0F + 0.001F;
        sum += row[i];
    }
    for (size_t i = 0; i < n; i++)
        row[i] /= sum;
}

static void fill_attention(struct sample_attention *attention, size_t n_source, size_t n_steps)
{
    uint32_t seed = 1;
    attention->n_source = n_source;
    attention->n_steps = n_steps;
    for (size_t l = 0; l < SAMPLE_DECODER_LAYERS; l++) {
        for (size_t h = 0; h < SAMPLE_HEADS; h++) {
            for (size_t s = 0; s < n_source; s++)
                fill_row(attention->rows[0][l][h][s], n_source, &seed);
            for (size_t t = 0; t < n_steps; t++) {
                fill_row(attention->rows[1][l][h][t], t + 1, &seed);
                fill_row(attention->rows[2][l][h][t], n_source, &seed);
            }
        }
    }
}

static const char *target_piece(const void *context, int32_t id)
{
    (void)context;
    return id == 21 ? "▁Welt" : id == 22 ? "▁😀!" : NULL;
}

void sample_init(struct sample *sample)
{
    memset(sample, 0, sizeof *sample);
    fill_attention(&sample->attention[0], 4, 3);
    fill_attention(&sample->attention[1], 2, 2);
    for (size_t i = 0; i < 2; i++)
        for (size_t t = 0; t < SAMPLE_MAX_TOKENS; t++)
            sample->top[i][t] = top_tokens;
    sample->parts[0] = (struct mt_inspection_part){
        .source_begin = 0,
        .source_end = 16,
        .target_begin = 0,
        .target_end = 10,
        .source_tokens = source_0,
        .n_source = 4,
        .output_tokens = output_0,
        .n_output = 3,
        .logprobs = logprobs_0,
        .entropy = entropy_0,
    };
    sample->parts[1] = (struct mt_inspection_part){
        .source_begin = 18,
        .source_end = 20,
        .target_begin = 12,
        .target_end = 15,
        .source_tokens = source_1,
        .n_source = 2,
        .output_tokens = output_1,
        .n_output = 2,
        .logprobs = logprobs_1,
        .entropy = entropy_1,
    };
    for (size_t i = 0; i < 2; i++) {
        sample->parts[i].start = start;
        sample->parts[i].top = sample->top[i];
        sample->parts[i].score = -0.5F;
        sample->parts[i].has_eos = true;
        sample->parts[i].attention =
            (struct mt_attention){sample_shape, sample_row, &sample->attention[i]};
    }
    sample->input = (struct mt_inspection_input){
        .model = {.id = "en-de",
                  .source_lang = "en",
                  .target_lang = "de",
                  .n_encoder_layers = SAMPLE_ENCODER_LAYERS,
                  .n_decoder_layers = SAMPLE_DECODER_LAYERS,
                  .n_encoder_heads = SAMPLE_HEADS,
                  .n_decoder_heads = SAMPLE_HEADS,
                  .d_model = 8},
        .source_text = source_text,
        .source_length = sizeof source_text - 1,
        .target_text = target_text,
        .target_length = sizeof target_text - 1,
        .parts = sample->parts,
        .n_parts = 2,
        .target_piece = target_piece,
    };
}
