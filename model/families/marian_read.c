#include "model/families/marian.h"

#include "base/size.h"
#include "model/families/marian_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How an array becomes a tensor: unchanged, transposed from [in, out], or [1, n] as [n]. */
enum form { TABLE, MATRIX, VECTOR };

/* Most bytes of a name, and of the part of it that identifies an array in its layer. With the side
 * and a number of 20 digits before it, the longest part still fits into a name. */
#define NAME_BYTES 128
#define PART_BYTES 64

/* One array, and one tensor that is made of it. */
struct pair {
    char array[NAME_BYTES], tensor[NAME_BYTES];
    enum form form;
    struct mt_marian_array from;
    size_t index;       /* of the tensor in the image */
    size_t scale_index; /* the same for the scale, if it is quantised */
};

#define PAIRS_PER_ENCODER_LAYER 16
#define PAIRS_PER_DECODER_LAYER 26
#define PAIRS_BESIDE_LAYERS 32
#define MAX_PAIRS (128 * (PAIRS_PER_ENCODER_LAYER + PAIRS_PER_DECODER_LAYER) + PAIRS_BESIDE_LAYERS)

struct list {
    const struct mt_marian_model *model;
    struct pair *pairs;
    size_t n, capacity;
    bool is_too_long;
};

static void add(struct list *list, enum form form, const char *array, const char *tensor)
{
    if (list->n == list->capacity) {
        list->is_too_long = true;
        return;
    }
    struct pair *pair = &list->pairs[list->n++];
    *pair = (struct pair){.form = form};
    snprintf(pair->array, sizeof pair->array, "%s", array);
    snprintf(pair->tensor, sizeof pair->tensor, "%s", tensor);
}

/* Adds a linear layer or a norm of layer number `layer`: array names are side_lN_NAME. */
static void add_to_layer(struct list *list, const char *side, size_t layer, enum form form,
                         const char *array, const char *tensor)
{
    char from[NAME_BYTES], to[NAME_BYTES];
    snprintf(from, sizeof from, "%s_l%zu_%s", side, layer + 1, array);
    snprintf(to, sizeof to, "model.%s.layers.%zu.%s", side, layer, tensor);
    add(list, form, from, to);
}

static void add_norm(struct list *list, const char *side, size_t layer, const char *array,
                     const char *tensor)
{
    static const char *const parts[][2] = {{"scale", "weight"}, {"bias", "bias"}};
    for (size_t i = 0; i < 2; i++) {
        char from[PART_BYTES], to[PART_BYTES];
        snprintf(from, sizeof from, "%s_ln_%s%s", array, parts[i][0],
                 list->model->normalize_before ? "_pre" : "");
        snprintf(to, sizeof to, "%s.%s", tensor, parts[i][1]);
        add_to_layer(list, side, layer, VECTOR, from, to);
    }
}

static void add_attention(struct list *list, const char *side, size_t layer, const char *array,
                          const char *tensor)
{
    static const char *const parts[][2] = {
        {"q", "q_proj"}, {"k", "k_proj"}, {"v", "v_proj"}, {"o", "out_proj"}};
    char from[PART_BYTES], to[PART_BYTES];
    for (size_t i = 0; i < 4; i++) {
        snprintf(from, sizeof from, "%s_W%s", array, parts[i][0]);
        snprintf(to, sizeof to, "%s.%s.weight", tensor, parts[i][1]);
        add_to_layer(list, side, layer, MATRIX, from, to);
        snprintf(from, sizeof from, "%s_b%s", array, parts[i][0]);
        snprintf(to, sizeof to, "%s.%s.bias", tensor, parts[i][1]);
        add_to_layer(list, side, layer, VECTOR, from, to);
    }
    snprintf(from, sizeof from, "%s_Wo", array);
    snprintf(to, sizeof to, "%s_layer_norm", tensor);
    add_norm(list, side, layer, from, to);
}

/* The norm of a pre-norm model is named after the sublayer that follows it. */
static void add_cell(struct list *list, const char *side, size_t layer)
{
    add_to_layer(list, side, layer, MATRIX, "rnn_W", "cell.input.weight");
    add_to_layer(list, side, layer, MATRIX, "rnn_Wf", "cell.forget.weight");
    add_to_layer(list, side, layer, VECTOR, "rnn_bf", "cell.forget.bias");
    add_norm(list, side, layer, list->model->normalize_before ? "rnn" : "rnn_ffn",
             "cell_layer_norm");
}

static void add_feed_forward(struct list *list, const char *side, size_t layer)
{
    add_to_layer(list, side, layer, MATRIX, "ffn_W1", "fc1.weight");
    add_to_layer(list, side, layer, VECTOR, "ffn_b1", "fc1.bias");
    add_to_layer(list, side, layer, MATRIX, "ffn_W2", "fc2.weight");
    add_to_layer(list, side, layer, VECTOR, "ffn_b2", "fc2.bias");
    add_norm(list, side, layer, "ffn_ffn", "final_layer_norm");
}

/* Adds a norm outside of the layers: side_NAME_ln_scaleSUFFIX. */
static void add_side_norm(struct list *list, const char *side, const char *array,
                          const char *suffix, const char *tensor)
{
    char from[NAME_BYTES], to[NAME_BYTES];
    snprintf(from, sizeof from, "%s_%s_ln_scale%s", side, array, suffix);
    snprintf(to, sizeof to, "model.%s.%s.weight", side, tensor);
    add(list, VECTOR, from, to);
    snprintf(from, sizeof from, "%s_%s_ln_bias%s", side, array, suffix);
    snprintf(to, sizeof to, "model.%s.%s.bias", side, tensor);
    add(list, VECTOR, from, to);
}

static void add_side(struct list *list, const char *side)
{
    const struct mt_marian_model *m = list->model;
    char name[NAME_BYTES];
    if (!m->shared_embeddings) {
        snprintf(name, sizeof name, "model.%s.embed_tokens.weight", side);
        add(list, TABLE, mt_marian_table_name(m, side[0] == 'd'), name);
    }
    if (m->n_positions) {
        snprintf(name, sizeof name, "model.%s.embed_positions.weight", side);
        add(list, TABLE, "Wpos", name);
    }
    if (m->normalize_embedding)
        add_side_norm(list, side, "emb", "_pre", "layernorm_embedding");
    if (m->final_norm)
        add_side_norm(list, side, "top", "", "layer_norm");
}

static void list_pairs(struct list *list)
{
    const struct mt_marian_model *m = list->model;
    if (m->shared_embeddings)
        add(list, TABLE, "Wemb", "model.shared.weight");
    add_side(list, "encoder");
    for (size_t l = 0; l < m->n_encoder_layers && !list->is_too_long; l++) {
        add_attention(list, "encoder", l, "self", "self_attn");
        add_feed_forward(list, "encoder", l);
    }
    add_side(list, "decoder");
    for (size_t l = 0; l < m->n_decoder_layers && !list->is_too_long; l++) {
        if (m->has_ssru)
            add_cell(list, "decoder", l);
        else
            add_attention(list, "decoder", l, "self", "self_attn");
        add_attention(list, "decoder", l, "context", "encoder_attn");
        add_feed_forward(list, "decoder", l);
    }
    struct mt_marian_array transposed;
    if (!m->tied_output &&
        mt_marian_arrays_find(&m->arrays, "decoder_ff_logit_out_Wt", &transposed))
        add(list, TABLE, "decoder_ff_logit_out_Wt", "lm_head.weight");
    else if (!m->tied_output)
        add(list, MATRIX, "decoder_ff_logit_out_W", "lm_head.weight");
    if (m->has_output_bias)
        add(list, VECTOR, "decoder_ff_logit_out_b", "final_logits_bias");
}

/* --- Arrays --- */

static enum mt_status check_form(const struct list *list, const struct pair *pair,
                                 struct mt_error *err)
{
    const struct mt_marian_item *a = &pair->from.is;
    bool is_row = a->rank == 1 || (a->rank == 2 && a->shape[0] == 1);
    if (pair->form == VECTOR ? is_row : a->rank == 2)
        return MT_OK;
    return mt_fail(err, MT_FORMAT, "%s: array \"%s\": expected %s, found %zu dimensions",
                   list->model->file->path, pair->array,
                   pair->form == VECTOR ? "a row" : "a matrix", a->rank);
}

static enum mt_status check_array(const struct list *list, const struct pair *pair,
                                  struct mt_error *err)
{
    const struct mt_marian_item *a = &pair->from.is;
    bool is_known =
        a->dtype == MT_F32 || a->dtype == MT_F16 || (a->is_quantized && pair->form != VECTOR);
    if (!is_known)
        return mt_fail(err, MT_UNSUPPORTED, "%s: array \"%s\": expected %s, found %s",
                       list->model->file->path, pair->array,
                       list->model->arrays.npz ? "<f4 or <f2" : "f32, f16 or intgemm8",
                       a->is_quantized ? "a quantised row" : mt_dtype_name(a->dtype));
    enum mt_status status = check_form(list, pair, err);
    return status ? status : mt_marian_array_check(&list->model->arrays, &pair->from, err);
}

/* Whether the array is the fixed scale of activations, which is not used, because each row gets a
 * scale of its own. The output's is "none". */
static bool is_scale_of_used(const struct list *list, const char *name)
{
    static const char suffix[] = "_QuantMultA";
    size_t length = strlen(name), n = sizeof suffix - 1;
    if (length <= n || strcmp(name + length - n, suffix) != 0)
        return false;
    bool is_used = length - n == strlen("none") && memcmp(name, "none", length - n) == 0;
    for (size_t k = 0; k < list->n && !is_used; k++)
        is_used = strlen(list->pairs[k].array) == length - n &&
                  memcmp(list->pairs[k].array, name, length - n) == 0;
    return is_used;
}

/* Refuses arrays that no tensor uses: leaving them out could make every translation wrong. */
static enum mt_status refuse_unused(const struct list *list, struct mt_error *err)
{
    const struct mt_marian_arrays *arrays = &list->model->arrays;
    for (size_t i = 0; i < mt_marian_arrays_count(arrays); i++) {
        const char *name = mt_marian_arrays_name(arrays, i);
        bool is_used = strncmp(name, "special:", strlen("special:")) == 0;
        for (size_t k = 0; k < list->n && !is_used; k++)
            is_used = strcmp(list->pairs[k].array, name) == 0;
        if (!is_used && !is_scale_of_used(list, name))
            return mt_fail(err, MT_UNSUPPORTED, "%s: array \"%.100s\" has no place in the model",
                           list->model->file->path, name);
    }
    return MT_OK;
}

static enum mt_status plan_pair(struct pair *pair, struct mt_image *image, struct mt_error *err)
{
    const struct mt_marian_item *a = &pair->from.is;
    char scale[NAME_BYTES + 8];
    const size_t one = 1;
    size_t shape[2] = {a->shape[0], a->shape[1]};
    if (pair->form == MATRIX) {
        shape[0] = a->shape[1];
        shape[1] = a->shape[0];
    }
    if (pair->form == VECTOR)
        shape[0] = a->n_elements;
    enum mt_status status = mt_image_add(image, pair->tensor, a->dtype,
                                         pair->form == VECTOR ? 1 : 2, shape, &pair->index, err);
    snprintf(scale, sizeof scale, "%s_scale", pair->tensor);
    if (!status && a->is_quantized)
        status = mt_image_add(image, scale, MT_F32, 1, &one, &pair->scale_index, err);
    return status;
}

static enum mt_status plan(struct list *list, struct mt_image *image, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < list->n && !status; i++) {
        struct pair *pair = &list->pairs[i];
        if (!mt_marian_arrays_find(&list->model->arrays, pair->array, &pair->from))
            status = mt_fail(err, MT_FORMAT, "%s: expected an array \"%s\", found none",
                             list->model->file->path, pair->array);
        if (!status)
            status = check_array(list, pair, err);
        if (!status)
            status = plan_pair(pair, image, err);
    }
    if (!status)
        status = refuse_unused(list, err);
    return status ? status : mt_image_allocate(image, err);
}

/* Size of a block for which both matrices stay in the first-level cache. */
#define BLOCK 32

/* Writes the transpose of from [rows, columns], with numbers of `width` bytes, to [columns,
 * rows]. */
static void transpose(const unsigned char *from, size_t rows, size_t columns, size_t width,
                      unsigned char *to)
{
    for (size_t r0 = 0; r0 < rows; r0 += BLOCK)
        for (size_t c0 = 0; c0 < columns; c0 += BLOCK)
            for (size_t r = r0; r < mt_size_min(r0 + BLOCK, rows); r++)
                for (size_t c = c0; c < mt_size_min(c0 + BLOCK, columns); c++)
                    memcpy(to + (c * rows + r) * width, from + (r * columns + c) * width, width);
}

/* A matrix has to be [out, in], and a table as it is declared. If the data are stored transposed, a
 * matrix already is, and a table has to be transposed. */
static void fill_pair(const struct pair *pair, struct mt_image *image)
{
    const struct mt_marian_item *a = &pair->from.is;
    unsigned char *to = mt_image_data(image, pair->index);
    size_t rows = a->shape[a->is_transposed], columns = a->shape[!a->is_transposed];
    if (pair->form != VECTOR && (pair->form == MATRIX) != a->is_transposed)
        transpose(a->data, rows, columns, mt_dtype_bytes(a->dtype), to);
    else if (a->n_bytes)
        memcpy(to, a->data, a->n_bytes);
    if (a->is_quantized)
        mt_store_f32(a->scale, mt_image_data(image, pair->scale_index));
}

static void fill(const struct list *list, struct mt_image *image)
{
    for (size_t i = 0; i < list->n; i++)
        fill_pair(&list->pairs[i], image);
}

enum mt_status mt_marian_read(const struct mt_foreign_files *files, struct mt_image **out,
                              struct mt_error *err)
{
    struct mt_marian_model model = {0};
    struct mt_image *image = NULL;
    enum mt_status status = mt_marian_model_open(files, &model, err);
    if (status)
        return status;
    size_t n_pairs = PAIRS_PER_ENCODER_LAYER * model.n_encoder_layers +
                     PAIRS_PER_DECODER_LAYER * model.n_decoder_layers + PAIRS_BESIDE_LAYERS;
    struct list list = {.model = &model, .capacity = mt_size_min(n_pairs, MAX_PAIRS)};
    list.pairs = calloc(list.capacity, sizeof *list.pairs);
    if (list.pairs)
        list_pairs(&list);
    else
        status = mt_fail_memory(err, list.capacity * sizeof *list.pairs, "names");
    if (!status && list.is_too_long)
        status = mt_fail(err, MT_LIMIT, "%s: %zu + %zu layers", files->directory,
                         model.n_encoder_layers, model.n_decoder_layers);
    if (!status)
        status = mt_image_create(&image, err);
    if (!status)
        status = plan(&list, image, err);
    if (!status)
        fill(&list, image);
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    free(list.pairs);
    mt_marian_model_finish(&model);
    return status;
}
