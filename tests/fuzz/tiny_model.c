#include "tests/fuzz/tiny_model.h"

#include "base/arena.h"
#include "model/files/bind.h"
#include "model/kernels/kernels.h"
#include "model/files/packed.h"
#include "weights/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define D 16
#define F 32

static const struct mt_hparams hparams = {
    .d_model = D,
    .n_encoder_layers = 1,
    .n_decoder_layers = 1,
    .n_encoder_heads = 2,
    .n_decoder_heads = 2,
    .d_ff_encoder = F,
    .d_ff_decoder = F,
    .n_source_vocab = TINY_VOCAB,
    .n_target_vocab = TINY_VOCAB,
    .max_positions = TINY_POSITIONS,
    .activation = MT_SILU,
    .norm_eps = 1e-5f,
    .scale_embedding = true,
    .shared_embeddings = true,
    .tied_output = true,
    .eos_id = TINY_EOS,
    .pad_id = TINY_PAD,
    .start_id = TINY_PAD,
    .forced_bos_id = MT_NO_TOKEN,
    .forced_eos_id = TINY_EOS,
    .suppressed = {TINY_PAD},
    .n_suppressed = 1,
    .max_length = TINY_POSITIONS,
    .n_beams = 2,
    .length_penalty = 1.0f,
};

const struct mt_hparams *tiny_hparams(void)
{
    return &hparams;
}

static void must(enum mt_status status, const struct mt_error *err)
{
    if (status) {
        fprintf(stderr, "tiny model: %s\n", err->message);
        abort();
    }
}

/* Uniform, of the given mean and spread. */
static float next_number(float mean, float spread)
{
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return mean + spread * ((float)(state >> 40) / (float)(1 << 23) - 1.0f);
}

struct maker {
    struct mt_image *image;
    bool is_planned; /* the second pass fills in the numbers */
    size_t n;
};

static void add(struct maker *m, const char *name, size_t rows, size_t columns, float mean,
                float spread)
{
    struct mt_error err;
    const size_t shape[2] = {rows ? rows : columns, columns};
    size_t index = m->n++;
    if (!m->is_planned) {
        must(mt_image_add(m->image, name, MT_F32, rows ? 2 : 1, shape, &index, &err), &err);
        return;
    }
    float *numbers = mt_image_data(m->image, index);
    for (size_t i = 0; i < (rows ? rows : 1) * columns; i++)
        mt_store_f32(next_number(mean, spread), &numbers[i]);
}

static void add_linear(struct maker *m, const char *side, const char *name, size_t n_out,
                       size_t n_in)
{
    char full[128];
    snprintf(full, sizeof full, "model.%s.layers.0.%s.weight", side, name);
    add(m, full, n_out, n_in, 0.0f, 2.0f / sqrtf((float)n_in));
    snprintf(full, sizeof full, "model.%s.layers.0.%s.bias", side, name);
    add(m, full, 0, n_out, 0.0f, 0.2f);
}

static void add_norm(struct maker *m, const char *side, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "model.%s.layers.0.%s_layer_norm.weight", side, name);
    add(m, full, 0, D, 1.0f, 0.2f);
    snprintf(full, sizeof full, "model.%s.layers.0.%s_layer_norm.bias", side, name);
    add(m, full, 0, D, 0.0f, 0.2f);
}

static void add_attention(struct maker *m, const char *side, const char *name)
{
    static const char *const parts[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    char full[64];
    for (size_t i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        add_linear(m, side, full, D, D);
    }
    add_norm(m, side, name);
}

static void add_all(struct maker *m)
{
    static const char *const sides[] = {"encoder", "decoder"};
    m->n = 0;
    add(m, "model.shared.weight", TINY_VOCAB, D, 0.0f, 0.5f);
    add(m, "final_logits_bias", 1, TINY_VOCAB, 0.0f, 0.5f);
    for (size_t i = 0; i < 2; i++) {
        add_attention(m, sides[i], "self_attn");
        if (i == 1)
            add_attention(m, sides[i], "encoder_attn");
        add_linear(m, sides[i], "fc1", F, D);
        add_linear(m, sides[i], "fc2", D, F);
        add_norm(m, sides[i], "final");
    }
}

static struct mt_model *new_model(enum mt_precision precision)
{
    struct mt_error err;
    struct mt_model *model = calloc(1, sizeof *model);
    if (!model)
        abort();
    model->hparams = hparams;
    model->precision = precision;
    must(mt_arena_create(0, &model->arena, &err), &err);
    must(mt_kernels_find("auto", &model->kernels, &err), &err);
    return model;
}

static const struct mt_model *make_fp32(void)
{
    struct mt_error err;
    struct mt_model *model = new_model(MT_FP32);
    struct maker m = {0};
    size_t length;
    must(mt_image_create(&m.image, &err), &err);
    add_all(&m);
    must(mt_image_allocate(m.image, &err), &err);
    m.is_planned = true;
    add_all(&m);
    model->image = m.image;
    const void *bytes = mt_image_bytes(m.image, &length);
    must(mt_safetensors_open_memory(bytes, length, "tiny", &model->file, &err), &err);
    must(mt_bind_marian(model->file, &hparams, MT_BIND_FP32, model->arena, &model->weights, NULL,
                        &err),
         &err);
    return model;
}

static const struct mt_model *make_int8(void)
{
    struct mt_error err;
    struct mt_model *model = new_model(MT_INT8);
    const struct mt_source_identity source = {.text = "tiny"};
    struct mt_weights stored;
    size_t length;
    must(mt_bind_marian(tiny_model(MT_FP32)->file, &hparams, MT_BIND_STORED, model->arena, &stored,
                        NULL, &err),
         &err);
    must(mt_packed_make(&hparams, &stored, &source, NULL, NULL, &model->image, &err), &err);
    const void *bytes = mt_image_bytes(model->image, &length);
    must(mt_safetensors_open_memory(bytes, length, "tiny", &model->file, &err), &err);
    must(mt_packed_bind(model->file, &hparams, model->arena, &model->weights, &err), &err);
    return model;
}

const struct mt_model *tiny_model(enum mt_precision precision)
{
    static const struct mt_model *models[2];
    if (!models[precision])
        models[precision] = precision == MT_INT8 ? make_int8() : make_fp32();
    return models[precision];
}

const unsigned char *tiny_packed(size_t *length)
{
    return mt_image_bytes(tiny_model(MT_INT8)->image, length);
}
