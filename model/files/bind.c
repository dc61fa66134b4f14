#include "model/files/bind.h"

#include "base/nearest.h"
#include "base/size.h"
#include "model/files/positions.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* Most names that one tensor may have, in the order in which they are tried. */
#define MAX_ALIASES 4

/* The one linear layer that has no bias. */
#define CELL_INPUT "cell.input"

struct binder {
    const struct mt_safetensors *file;
    const struct mt_hparams *hparams;
    enum mt_bind_form form;
    struct mt_arena *arena;
    struct mt_error *err;
    bool *used; /* by the tensors' numbers; NULL if nobody needs it */
};

static void mark_used(const struct binder *b, const struct mt_tensor *tensor)
{
    if (b->used)
        b->used[tensor - mt_safetensors_at(b->file, 0)] = true;
}

struct shape {
    size_t rank;
    size_t sizes[2];
};

static struct shape vector_of(size_t n)
{
    return (struct shape){.rank = 1, .sizes = {n}};
}

static struct shape matrix_of(size_t rows, size_t columns)
{
    return (struct shape){.rank = 2, .sizes = {rows, columns}};
}

static void describe_shape(const size_t *sizes, size_t rank, char *out, size_t capacity)
{
    size_t at = (size_t)snprintf(out, capacity, "[");
    for (size_t i = 0; i < rank && at < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%zu", i ? ", " : "", sizes[i]);
    if (at < capacity)
        snprintf(out + at, capacity - at, "]");
}

static enum mt_status check_shape(const struct binder *b, const struct mt_tensor *tensor,
                                  struct shape shape)
{
    bool same = tensor->rank == shape.rank;
    for (size_t i = 0; same && i < shape.rank; i++)
        same = tensor->shape[i] == shape.sizes[i];
    if (!same) {
        char expected[80], found[200];
        describe_shape(shape.sizes, shape.rank, expected, sizeof expected);
        describe_shape(tensor->shape, tensor->rank, found, sizeof found);
        return mt_fail(b->err, MT_FORMAT, "%s: tensor \"%s\": expected shape %s, found %s",
                       mt_safetensors_path(b->file), tensor->name, expected, found);
    }
    return MT_OK;
}

static bool is_floating(enum mt_dtype dtype)
{
    return dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16;
}

static enum mt_status check_dtype(const struct binder *b, const struct mt_tensor *tensor)
{
    if (!is_floating(tensor->dtype))
        return mt_fail(b->err, MT_UNSUPPORTED,
                       "%s: tensor \"%s\": expected dtype F32, F16 or BF16, found %s",
                       mt_safetensors_path(b->file), tensor->name, mt_dtype_name(tensor->dtype));
    return MT_OK;
}

/* A single NaN would make every translation useless without an error. */
static enum mt_status check_finite(const struct binder *b, const struct mt_tensor *tensor)
{
    size_t at = mt_find_not_finite(tensor->dtype, tensor->data, tensor->n_elements);
    if (at == tensor->n_elements)
        return MT_OK;
    float found;
    mt_widen_f32(tensor->dtype, (const char *)tensor->data + at * mt_dtype_bytes(tensor->dtype), 1,
                 &found);
    return mt_fail(b->err, MT_FORMAT, "%s: tensor \"%s\": expected numbers, found %g at index %zu",
                   mt_safetensors_path(b->file), tensor->name, (double)found, at);
}

/* Finds the tensor of this name, if it exists, and checks its shape. */
static enum mt_status find_shape(const struct binder *b, const char *name, struct shape shape,
                                 const struct mt_tensor **out)
{
    const struct mt_tensor *tensor = mt_safetensors_find(b->file, name);
    if (!tensor) {
        char expected[80];
        describe_shape(shape.sizes, shape.rank, expected, sizeof expected);
        return mt_fail(b->err, MT_FORMAT, "%s: expected a tensor \"%s\" of shape %s, found none",
                       mt_safetensors_path(b->file), name, expected);
    }
    mark_used(b, tensor);
    *out = tensor;
    return check_shape(b, tensor, shape);
}

/* Finds a tensor as find_shape does, and checks that its floating-point numbers are finite. */
static enum mt_status find_tensor(const struct binder *b, const char *name, struct shape shape,
                                  const struct mt_tensor **out)
{
    const struct mt_tensor *tensor = NULL;
    enum mt_status status = find_shape(b, name, shape, &tensor);
    if (!status)
        status = check_dtype(b, tensor);
    if (!status)
        status = check_finite(b, tensor);
    if (!status)
        *out = tensor;
    return status;
}

/* Returns the tensor's numbers as fp32, in place if they are fp32 already. */
static enum mt_status view(const struct binder *b, const struct mt_tensor *tensor,
                           const float **out)
{
    if (MT_IS_LITTLE_ENDIAN && tensor->dtype == MT_F32 && mt_tensor_is_aligned(tensor)) {
        *out = tensor->data;
        return MT_OK;
    }
    void *copy;
    enum mt_status status =
        mt_arena_take(b->arena, tensor->n_elements, sizeof(float), tensor->name, &copy, b->err);
    if (status)
        return status;
    mt_widen_f32(tensor->dtype, tensor->data, tensor->n_elements, copy);
    *out = copy;
    return MT_OK;
}

static enum mt_status bind_tensor(const struct binder *b, const char *name, struct shape shape,
                                  const float **out)
{
    const struct mt_tensor *tensor = NULL;
    enum mt_status status = find_tensor(b, name, shape, &tensor);
    return status ? status : view(b, tensor, out);
}

/* Kernels require the symmetric range, without -128. */
static enum mt_status check_int8(const struct binder *b, const struct mt_tensor *tensor)
{
    const int8_t *found = memchr(tensor->data, INT8_MIN & 0xFF, tensor->n_elements);
    return found ? mt_fail(b->err, MT_FORMAT,
                           "%s: tensor \"%s\": expected numbers from -127 to 127, found -128 at "
                           "index %zu",
                           mt_safetensors_path(b->file), tensor->name,
                           (size_t)(found - (const int8_t *)tensor->data))
                 : MT_OK;
}

static enum mt_status bind_scale(const struct binder *b, const char *name, float *out)
{
    char full[256];
    const float *scale;
    snprintf(full, sizeof full, "%s" MT_BIND_SCALE_SUFFIX, name);
    enum mt_status status = bind_tensor(b, full, vector_of(1), &scale);
    if (!status && !(*scale >= FLT_MIN))
        return mt_fail(b->err, MT_FORMAT, "%s: tensor \"%s\": expected a number above 0, found %g",
                       mt_safetensors_path(b->file), full, (double)*scale);
    if (!status)
        *out = *scale;
    return status;
}

static enum mt_status widen_int8(const struct binder *b, const struct mt_tensor *tensor,
                                 float scale, const float **out)
{
    void *copy;
    enum mt_status status =
        mt_arena_take(b->arena, tensor->n_elements, sizeof(float), tensor->name, &copy, b->err);
    if (status)
        return status;
    const int8_t *numbers = tensor->data;
    for (size_t i = 0; i < tensor->n_elements; i++)
        ((float *)copy)[i] = (float)numbers[i] * scale;
    *out = copy;
    return MT_OK;
}

static enum mt_status bind_int8(const struct binder *b, const struct mt_tensor *tensor,
                                struct mt_linear_part *part)
{
    enum mt_status status = check_int8(b, tensor);
    if (!status)
        status = bind_scale(b, tensor->name, &part->stored_scale);
    if (status || b->form == MT_BIND_FP32)
        return status ? status : widen_int8(b, tensor, part->stored_scale, &part->weight);
    part->stored = tensor;
    return MT_OK;
}

/* Binds a matrix [part->n_out, n_in]. */
static enum mt_status bind_matrix(const struct binder *b, const char *name, size_t n_in,
                                  struct mt_linear_part *part)
{
    const struct mt_tensor *tensor = NULL;
    enum mt_status status = find_shape(b, name, matrix_of(part->n_out, n_in), &tensor);
    if (!status && tensor->dtype == MT_I8)
        return bind_int8(b, tensor, part);
    if (!status)
        status = find_tensor(b, name, matrix_of(part->n_out, n_in), &tensor);
    if (status || b->form == MT_BIND_FP32)
        return status ? status : view(b, tensor, &part->weight);
    part->stored = tensor;
    return MT_OK;
}

/* Binds prefix.weight [n_out, n_in] and prefix.bias [n_out]. */
static enum mt_status bind_part(const struct binder *b, const char *prefix, const char *name,
                                size_t n_in, struct mt_linear_part *part)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    enum mt_status status = bind_matrix(b, full, n_in, part);
    if (status || strcmp(name, CELL_INPUT) == 0)
        return status;
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    return bind_tensor(b, full, vector_of(part->n_out), &part->bias);
}

static enum mt_status bind_linear(const struct binder *b, const char *prefix,
                                  const char *const *names, size_t n_names, size_t n_in,
                                  size_t n_out_each, struct mt_linear *out)
{
    *out = (struct mt_linear){.n_in = n_in, .n_out = n_names * n_out_each, .n_parts = n_names};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n_names && !status; i++) {
        out->parts[i].n_out = n_out_each;
        status = bind_part(b, prefix, names[i], n_in, &out->parts[i]);
    }
    return status;
}

static enum mt_status bind_norm(const struct binder *b, const char *prefix, const char *name,
                                struct mt_norm *out)
{
    struct mt_linear_part part = {.n_out = b->hparams->d_model};
    char full[256];
    out->eps = b->hparams->norm_eps;
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    enum mt_status status = bind_tensor(b, full, vector_of(part.n_out), &out->gamma);
    if (status || b->hparams->norm_kind == MT_NORM_RMS)
        return status;
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    return bind_tensor(b, full, vector_of(part.n_out), &out->beta);
}

/* One row of a layer's table: a linear (out) with its tensors, or a norm. */
struct layer_row {
    struct mt_linear *linear;
    struct mt_norm *norm;
    size_t n_in, n_out_each, n_names;
    const char *names[MT_LINEAR_MAX_PARTS];
};

static enum mt_status bind_rows(const struct binder *b, const char *prefix,
                                const struct layer_row *rows, size_t n)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = rows[i].linear ? bind_linear(b, prefix, rows[i].names, rows[i].n_names,
                                              rows[i].n_in, rows[i].n_out_each, rows[i].linear)
                                : bind_norm(b, prefix, rows[i].names[0], rows[i].norm);
    return status;
}

/* Binds the block's two layers, or three of a gated one, and its norm. */
static enum mt_status bind_feed_forward(const struct binder *b, const char *prefix, size_t d_ff,
                                        struct mt_feed_forward *f)
{
    size_t d = b->hparams->d_model;
    const struct layer_row gated[] = {{&f->factor, NULL, d, d_ff, 1, {"fc1_factor"}}};
    const struct layer_row rows[] = {
        {&f->fc1, NULL, d, d_ff, 1, {"fc1"}},
        {&f->fc2, NULL, d_ff, d, 1, {"fc2"}},
        {NULL, &f->norm, d, d, 1, {"final_layer_norm"}},
    };
    enum mt_status status = MT_OK;
    if (b->hparams->feed_forward_kind == MT_FEED_FORWARD_GATED)
        status = bind_rows(b, prefix, gated, 1);
    return status ? status : bind_rows(b, prefix, rows, sizeof rows / sizeof *rows);
}

static enum mt_status bind_encoder_layer(const struct binder *b, size_t index,
                                         struct mt_encoder_layer *l)
{
    size_t d = b->hparams->d_model;
    const struct layer_row rows[] = {
        {&l->self.qkv, NULL, d, d, 3, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
        {&l->self.out, NULL, d, d, 1, {"self_attn.out_proj"}},
        {NULL, &l->self.norm, d, d, 1, {"self_attn_layer_norm"}},
    };
    char prefix[64];
    snprintf(prefix, sizeof prefix, "model.encoder.layers.%zu.", index);
    enum mt_status status = bind_rows(b, prefix, rows, sizeof rows / sizeof *rows);
    return status ? status : bind_feed_forward(b, prefix, b->hparams->d_ff_encoder, &l->ffn);
}

static enum mt_status bind_decoder_layer(const struct binder *b, size_t index,
                                         struct mt_decoder_layer *l)
{
    size_t d = b->hparams->d_model;
    const struct layer_row attention[] = {
        {&l->self.qkv, NULL, d, d, 3, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
        {&l->self.out, NULL, d, d, 1, {"self_attn.out_proj"}},
        {NULL, &l->self.norm, d, d, 1, {"self_attn_layer_norm"}},
    };
    const struct layer_row cell[] = {
        {&l->cell.gates, NULL, d, d, 2, {CELL_INPUT, "cell.forget"}},
        {NULL, &l->cell.norm, d, d, 1, {"cell_layer_norm"}},
    };
    const struct layer_row rows[] = {
        {&l->cross.q, NULL, d, d, 1, {"encoder_attn.q_proj"}},
        {&l->cross.kv, NULL, d, d, 2, {"encoder_attn.k_proj", "encoder_attn.v_proj"}},
        {&l->cross.out, NULL, d, d, 1, {"encoder_attn.out_proj"}},
        {NULL, &l->cross.norm, d, d, 1, {"encoder_attn_layer_norm"}},
    };
    char prefix[64];
    snprintf(prefix, sizeof prefix, "model.decoder.layers.%zu.", index);
    enum mt_status status =
        b->hparams->decoder_cell == MT_CELL_SSRU
            ? bind_rows(b, prefix, cell, sizeof cell / sizeof *cell)
            : bind_rows(b, prefix, attention, sizeof attention / sizeof *attention);
    if (!status)
        status = bind_rows(b, prefix, rows, sizeof rows / sizeof *rows);
    return status ? status : bind_feed_forward(b, prefix, b->hparams->d_ff_decoder, &l->ffn);
}

static void set_activation(const struct binder *b, struct mt_linear *fc1)
{
    fc1->has_activation = true;
    fc1->activation = b->hparams->activation;
}

static enum mt_status bind_layers(const struct binder *b, struct mt_weights *out)
{
    const struct mt_hparams *h = b->hparams;
    void *encoder, *decoder;
    enum mt_status status = mt_arena_take(b->arena, h->n_encoder_layers, sizeof *out->encoder,
                                          "layers", &encoder, b->err);
    if (!status)
        status = mt_arena_take(b->arena, h->n_decoder_layers, sizeof *out->decoder, "layers",
                               &decoder, b->err);
    if (status)
        return status;
    out->encoder = encoder;
    out->decoder = decoder;
    for (size_t i = 0; i < h->n_encoder_layers && !status; i++) {
        status = bind_encoder_layer(b, i, &out->encoder[i]);
        set_activation(b, &out->encoder[i].ffn.fc1);
    }
    for (size_t i = 0; i < h->n_decoder_layers && !status; i++) {
        status = bind_decoder_layer(b, i, &out->decoder[i]);
        set_activation(b, &out->decoder[i].ffn.fc1);
    }
    return status;
}

static const struct mt_tensor *find_alias(const struct binder *b,
                                          const char *const names[MAX_ALIASES])
{
    const struct mt_tensor *tensor = NULL;
    for (size_t i = 0; i < MAX_ALIASES && names[i] && !tensor; i++)
        tensor = mt_safetensors_find(b->file, names[i]);
    return tensor;
}

/* Binds a table [V, D] under the first of its names that exists. */
static enum mt_status bind_table(const struct binder *b, const char *const names[MAX_ALIASES],
                                 size_t n_vocab, struct mt_linear_part *out)
{
    const struct mt_tensor *tensor = find_alias(b, names), *same;
    for (size_t i = 0; i < MAX_ALIASES && names[i]; i++)
        if ((same = mt_safetensors_find(b->file, names[i])))
            mark_used(b, same); /* it is the same table */
    *out = (struct mt_linear_part){.n_out = n_vocab};
    return bind_matrix(b, tensor ? tensor->name : names[0], b->hparams->d_model, out);
}

static struct mt_linear linear_of(const struct binder *b, const struct mt_linear_part *part)
{
    return (struct mt_linear){
        .n_in = b->hparams->d_model, .n_out = part->n_out, .n_parts = 1, .parts = {*part}};
}

static void set_table(const struct binder *b, const struct mt_linear_part *part,
                      struct mt_embedding *out)
{
    if (b->form == MT_BIND_FP32)
        out->table = part->weight;
    else
        out->packed = linear_of(b, part);
}

static const char *const shared_names[MAX_ALIASES] = {
    "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
    "lm_head.weight"};
static const char *const source_names[MAX_ALIASES] = {"model.encoder.embed_tokens.weight"};
static const char *const target_names[MAX_ALIASES] = {"model.decoder.embed_tokens.weight",
                                                      "lm_head.weight"};
static const char *const output_names[MAX_ALIASES] = {"lm_head.weight"};

/* For tensors that may be missing: one whose name differs in a single letter is this one,
 * damaged. */
static enum mt_status check_absent(const struct binder *b, const char *name)
{
    for (size_t i = 0; i < mt_safetensors_count(b->file); i++) {
        const char *found = mt_safetensors_at(b->file, i)->name;
        if (mt_differs_in_one_byte(found, name))
            return mt_fail(b->err, MT_FORMAT, "%s: expected tensor \"%s\", found \"%s\"",
                           mt_safetensors_path(b->file), name, found);
    }
    return MT_OK;
}

static enum mt_status bind_output_bias(const struct binder *b, const float **out)
{
    const char *name = "final_logits_bias";
    const struct mt_tensor *tensor = mt_safetensors_find(b->file, name);
    size_t n_vocab = b->hparams->n_target_vocab;
    if (!tensor) {
        *out = NULL; /* zeros */
        return check_absent(b, name);
    }
    return bind_tensor(b, name, tensor->rank == 1 ? vector_of(n_vocab) : matrix_of(1, n_vocab),
                       out);
}

static enum mt_status bind_tables(const struct binder *b, struct mt_weights *out)
{
    const struct mt_hparams *h = b->hparams;
    struct mt_linear_part source, target, output;
    enum mt_status status = bind_table(b, h->shared_embeddings ? shared_names : source_names,
                                       h->n_source_vocab, &source);
    target = source;
    if (!status && !h->shared_embeddings)
        status = bind_table(b, target_names, h->n_target_vocab, &target);
    output = target;
    if (!status && !h->tied_output)
        status = bind_table(b, output_names, h->n_target_vocab, &output);
    if (!status)
        status = bind_output_bias(b, &output.bias);
    if (status)
        return status;
    set_table(b, &source, &out->source);
    set_table(b, &target, &out->target);
    out->output = linear_of(b, &output);
    return MT_OK;
}

/* The file's table of positions is preferred; without one it is computed. */
static enum mt_status bind_positions(const struct binder *b, const char *name, const float **out)
{
    const struct mt_hparams *h = b->hparams;
    size_t n_before = h->learned_positions ? h->first_position : 0;
    void *table;
    enum mt_status status;
    if (mt_safetensors_find(b->file, name) || h->learned_positions) {
        status = bind_tensor(b, name, matrix_of(n_before + h->max_positions, h->d_model), out);
        if (!status)
            *out += n_before * h->d_model; /* fairseq never uses these rows */
        return status;
    }
    status = check_absent(b, name);
    if (!status)
        status = mt_arena_take(b->arena, h->max_positions * h->d_model, sizeof(float), "positions",
                               &table, b->err);
    if (status)
        return status;
    const struct mt_position_scheme scheme = {
        .layout = h->position_layout, .formula = h->position_formula, .first = h->first_position};
    mt_positions_fill(&scheme, h->max_positions, h->d_model, table);
    *out = table;
    return MT_OK;
}

static enum mt_status bind_all_positions(const struct binder *b, struct mt_weights *out)
{
    static const char source[] = "model.encoder.embed_positions.weight";
    static const char target[] = "model.decoder.embed_positions.weight";
    enum mt_status status = bind_positions(b, source, &out->source.positions);
    if (status)
        return status;
    bool both_computed = !b->hparams->learned_positions && !mt_safetensors_find(b->file, source) &&
                         !mt_safetensors_find(b->file, target);
    if (both_computed) {
        out->target.positions = out->source.positions;
        return MT_OK;
    }
    return bind_positions(b, target, &out->target.positions);
}

/* Binds norms that only some configurations have. If the file had one that is not in the
 * configuration, it would be left out, and every translation would be wrong. */
static enum mt_status bind_optional_norms(const struct binder *b, struct mt_weights *out)
{
    const struct {
        const char *name, *setting;
        bool wanted;
        struct mt_norm *norm;
    } rows[] = {
        {"model.encoder.layer_norm", "add_final_layer_norm", b->hparams->final_norm,
         &out->encoder_norm},
        {"model.decoder.layer_norm", "add_final_layer_norm", b->hparams->final_norm,
         &out->decoder_norm},
        {"model.encoder.layernorm_embedding", "normalize_embedding",
         b->hparams->normalize_embedding, &out->source.norm},
        {"model.decoder.layernorm_embedding", "normalize_embedding",
         b->hparams->normalize_embedding, &out->target.norm},
    };
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
        char full[128];
        snprintf(full, sizeof full, "%s.weight", rows[i].name);
        if (rows[i].wanted)
            status = bind_norm(b, "", rows[i].name, rows[i].norm);
        else if (mt_safetensors_find(b->file, full))
            status = mt_fail(b->err, MT_UNSUPPORTED,
                             "%s: tensor \"%s\" is there, but config.json does not set %s: "
                             "expected both or neither",
                             mt_safetensors_path(b->file), full, rows[i].setting);
    }
    return status;
}

/* A file with more layers than the configuration belongs to another model. */
static enum mt_status check_no_more_layers(const struct binder *b)
{
    const struct {
        const char *side, *attention, *setting;
        size_t n;
    } rows[] = {
        {"encoder", "self_attn", "encoder_layers", b->hparams->n_encoder_layers},
        {"decoder", "encoder_attn", "decoder_layers", b->hparams->n_decoder_layers},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[128];
        snprintf(name, sizeof name, "model.%s.layers.%zu.%s.q_proj.weight", rows[i].side, rows[i].n,
                 rows[i].attention);
        if (mt_safetensors_find(b->file, name))
            return mt_fail(b->err, MT_FORMAT,
                           "%s: tensor \"%s\" is there, but config.json's %s is %zu",
                           mt_safetensors_path(b->file), name, rows[i].setting, rows[i].n);
    }
    return MT_OK;
}

static void write_report(const struct binder *b, const struct mt_weights *weights,
                         struct mt_bind_report *report)
{
    *report = (struct mt_bind_report){.n_tensors = mt_safetensors_count(b->file)};
    for (size_t i = 0; i < report->n_tensors; i++) {
        const struct mt_tensor *tensor = mt_safetensors_at(b->file, i);
        report->n_bytes += tensor->n_bytes;
        *(tensor->dtype == MT_F32    ? &report->has_f32
          : tensor->dtype == MT_F16  ? &report->has_f16
          : tensor->dtype == MT_BF16 ? &report->has_bf16
          : tensor->dtype == MT_I8   ? &report->has_i8
                                     : &report->has_other) = true;
        if (!b->used[i] && report->n_unused++ < MT_BIND_MAX_NAMED)
            snprintf(report->unused[report->n_unused - 1], sizeof report->unused[0], "%s",
                     tensor->name);
    }
    report->no_output_bias = !weights->output.parts[0].bias;
    report->computed_positions =
        !mt_safetensors_find(b->file, "model.encoder.embed_positions.weight");
}

enum mt_status mt_bind_marian(const struct mt_safetensors *file, const struct mt_hparams *hparams,
                              enum mt_bind_form form, struct mt_arena *arena,
                              struct mt_weights *out, struct mt_bind_report *report,
                              struct mt_error *err)
{
    struct binder b = {.file = file, .hparams = hparams, .form = form, .arena = arena, .err = err};
    struct mt_weights weights = {0};
    void *used = NULL;
    enum mt_status status = MT_OK;
    if (report)
        status =
            mt_arena_take(arena, mt_safetensors_count(file), sizeof(bool), "report", &used, err);
    b.used = used;
    if (!status)
        status = bind_layers(&b, &weights);
    if (!status)
        status = bind_tables(&b, &weights);
    if (!status)
        status = bind_all_positions(&b, &weights);
    if (!status)
        status = bind_optional_norms(&b, &weights);
    if (!status)
        status = check_no_more_layers(&b);
    if (!status && report)
        write_report(&b, &weights, report);
    if (!status)
        *out = weights;
    return status;
}
