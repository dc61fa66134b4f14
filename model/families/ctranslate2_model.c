#include "model/families/ctranslate2_model.h"

#include "base/size.h"
#include "base/vector.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_REVISION 7
#define REVISION_WITH_SETTINGS_BY_SIDE 5
#define MAX_LAYERS 128
/* CTranslate2's max_input_length. */
#define MAX_POSITIONS 1024
#define NAME_BYTES 160

enum side { ENCODER, DECODER, N_SIDES };
static const char *const side_names[N_SIDES] = {"encoder", "decoder"};

/* One tensor to be made: rows [first, first + n) of a variable, or zeros. */
struct piece {
    char name[NAME_BYTES];
    const struct mt_ctranslate2_variable *variable; /* NULL: zeros */
    size_t first, n;
    size_t index; /* in the image */
};

struct plan {
    const struct mt_ctranslate2_model *model;
    struct piece *pieces;
    size_t n, capacity;
    struct mt_error *err;
};

static const struct mt_ctranslate2_variable *find(const struct mt_ctranslate2 *file,
                                                  const char *format, ...) MT_PRINTF(2, 3);
static const struct mt_ctranslate2_variable *find(const struct mt_ctranslate2 *file,
                                                  const char *format, ...)
{
    char name[NAME_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return mt_ctranslate2_find(file, name);
}

static enum mt_status missing(const struct mt_ctranslate2 *file, const char *name,
                              struct mt_error *err)
{
    return mt_fail(err, MT_FORMAT, "%s: expected a variable \"%s\", found none",
                   mt_ctranslate2_path(file), name);
}

/* --- The architecture --- */

struct reader {
    const struct mt_ctranslate2 *file;
    struct mt_ctranslate2_model *model;
    struct mt_error *err;
};

/* Reads a setting of one side; older revisions have one for both. */
static double setting(const struct reader *r, enum side side, const char *name, double otherwise)
{
    const struct mt_ctranslate2_variable *v = find(r->file, "%s/%s", side_names[side], name);
    double value;
    if (!v && mt_ctranslate2_revision(r->file) < REVISION_WITH_SETTINGS_BY_SIDE)
        v = mt_ctranslate2_find(r->file, name);
    return v && mt_ctranslate2_scalar(v, &value) ? value : otherwise;
}

static bool flag(const struct reader *r, const char *name, bool otherwise)
{
    const struct mt_ctranslate2_variable *v = mt_ctranslate2_find(r->file, name);
    double value;
    return v && mt_ctranslate2_scalar(v, &value) ? value != 0 : otherwise;
}

/* Checks that both sides have the same value, because the engine has one setting for both. */
static enum mt_status same_on_both_sides(const struct reader *r, const char *what, double encoder,
                                         double decoder)
{
    if (encoder == decoder)
        return MT_OK;
    return mt_fail(r->err, MT_UNSUPPORTED,
                   "%s: %s is %g in the encoder and %g in the decoder, "
                   "expected the same",
                   mt_ctranslate2_path(r->file), what, encoder, decoder);
}

/* Features of an encoder-decoder that the format supports and we do not: a part of a name, and its
 * meaning. Some of them are off if their number is 0. */
static const struct {
    const char *last, *what;
    bool is_off_at_0;
} refused[] = {
    {"rotary_dim", "rotary positions", false},
    {"relative_position_keys", "relative positions", false},
    {"relative_asymmetric_position_keys", "relative positions", false},
    {"relative_attention_bias", "a relative attention bias", false},
    {"alibi", "attention with linear biases (ALiBi)", true},
    {"sliding_window", "attention within a window", true},
    {"multi_query_attention", "multi-query attention", true},
    {"layer_norm_use_residual", "norms whose gamma is less by one", true},
    {"scale_outputs", "outputs that are multiplied by a number", true},
};

/* Layers with names of their own: "q_norm/gamma". */
static const struct {
    const char *part, *what;
} refused_parts[] = {
    {"/q_norm/", "norms of queries and keys"},
    {"/k_norm/", "norms of queries and keys"},
    {"/post_attention_layer_norm/", "norms before and behind each sublayer"},
    {"/external_post_encoder_attention_layer_norm/", "norms before and behind each sublayer"},
    {"/project_in/", "a projection behind the embeddings"},
    {"/embeddings_1/", "features of the source's words"},
};

/* Returns the meaning of a variable that is not supported, or NULL. */
static const char *what_is_refused(const struct mt_ctranslate2_variable *v, size_t n_heads)
{
    const char *slash = strrchr(v->name, '/'), *last = slash ? slash + 1 : v->name;
    double value = 0;
    bool is_number = mt_ctranslate2_scalar(v, &value);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!strcmp(last, refused[i].last) && !(refused[i].is_off_at_0 && is_number && value == 0))
            return refused[i].what;
    if (!strcmp(last, "num_heads_kv") && !(is_number && value == (double)n_heads))
        return "keys and values of fewer heads than queries";
    for (size_t i = 0; i < sizeof refused_parts / sizeof *refused_parts; i++)
        if (strstr(v->name, refused_parts[i].part))
            return refused_parts[i].what;
    return NULL;
}

static enum mt_status refuse_by_name(const struct reader *r)
{
    for (size_t i = 0; i < mt_ctranslate2_count(r->file); i++) {
        const struct mt_ctranslate2_variable *v = mt_ctranslate2_at(r->file, i);
        bool is_encoder = !strncmp(v->name, "encoder/", strlen("encoder/"));
        const char *what =
            what_is_refused(v, is_encoder ? r->model->n_encoder_heads : r->model->n_decoder_heads);
        if (what)
            return mt_fail(r->err, MT_UNSUPPORTED,
                           "%s: variable \"%s\": the model has %s, which is not implemented, "
                           "expected attention and norms as in the paper, RMS norms or gated "
                           "feed-forward blocks",
                           mt_ctranslate2_path(r->file), v->name, what);
    }
    return MT_OK;
}

static enum mt_status check_kind(const struct reader *r)
{
    static const char *const specs[] = {"", "TransformerBase", "TransformerBig", "TransformerSpec"};
    const char *spec = mt_ctranslate2_spec(r->file);
    bool is_known = false;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        is_known = is_known || !strcmp(spec, specs[i]);
    if (!is_known)
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: a model of kind \"%.80s\", expected an "
                       "encoder-decoder Transformer (TransformerSpec)",
                       mt_ctranslate2_path(r->file), spec);
    unsigned revision = mt_ctranslate2_revision(r->file);
    if (revision < 1 || revision > NEWEST_REVISION)
        return mt_fail(r->err, MT_UNSUPPORTED, "%s: revision %u of %s, expected 1 to %d",
                       mt_ctranslate2_path(r->file), revision, spec, NEWEST_REVISION);
    return MT_OK;
}

/* Returns the table of embeddings. The encoder's may be in a list, whose other items would be
 * features of the words. */
static const struct mt_ctranslate2_variable *table_of(const struct mt_ctranslate2 *file,
                                                      enum side side)
{
    const struct mt_ctranslate2_variable *table =
        find(file, "%s/embeddings/weight", side_names[side]);
    return table ? table : find(file, "%s/embeddings_0/weight", side_names[side]);
}

static enum mt_status get_table(const struct reader *r, enum side side,
                                const struct mt_ctranslate2_variable **out)
{
    const struct mt_ctranslate2_variable *table = table_of(r->file, side);
    if (!table)
        return missing(r->file,
                       side == ENCODER ? "encoder/embeddings/weight" : "decoder/embeddings/weight",
                       r->err);
    if (table->rank != 2)
        return mt_fail(r->err, MT_FORMAT, "%s: \"%s\": expected two dimensions, found %zu",
                       mt_ctranslate2_path(r->file), table->name, table->rank);
    *out = table;
    return MT_OK;
}

/* Whether both tables are equal: files before version 3 have tied tables several times. */
static bool is_same(const struct mt_ctranslate2_variable *a,
                    const struct mt_ctranslate2_variable *b)
{
    if (a == b)
        return true;
    bool same = a->dtype == b->dtype && a->rank == b->rank && a->n_elements == b->n_elements &&
                !memcmp(a->shape, b->shape, sizeof a->shape) &&
                !memcmp(a->bytes, b->bytes, a->n_elements * mt_dtype_bytes(a->dtype));
    if (!same || !a->scale || !b->scale)
        return same && !a->scale == !b->scale;
    return is_same(a->scale, b->scale);
}

static enum mt_status read_tables(const struct reader *r)
{
    const struct mt_ctranslate2_variable *source = NULL, *target = NULL, *output = NULL;
    struct mt_ctranslate2_model *m = r->model;
    enum mt_status status = get_table(r, ENCODER, &source);
    if (!status)
        status = get_table(r, DECODER, &target);
    if (status)
        return status;
    output = mt_ctranslate2_find(r->file, "decoder/projection/weight");
    if (!output)
        return missing(r->file, "decoder/projection/weight", r->err);
    m->d_model = source->shape[1];
    m->n_source_vocab = source->shape[0];
    m->n_target_vocab = target->shape[0];
    m->shared_embeddings = is_same(source, target);
    m->tied_output = is_same(target, output);
    return MT_OK;
}

/* Reads a flag that may also be the factor itself; if it is absent, as in old files, the flag is
 * set. */
static enum mt_status read_embedding_scale(const struct reader *r, enum side side, bool *out)
{
    const char *name = side_names[side];
    const struct mt_ctranslate2_variable *v = find(r->file, "%s/scale_embeddings", name);
    if (!v)
        v = find(r->file, "%s/embeddings/multiply_by_sqrt_depth", name);
    double value = 1, d_model = (double)r->model->d_model;
    if (v && !mt_ctranslate2_scalar(v, &value))
        return mt_fail(r->err, MT_FORMAT, "%s: \"%s\": expected one number",
                       mt_ctranslate2_path(r->file), v->name);
    bool is_flag = !v || v->dtype == MT_I8;
    bool is_root =
        value > 1 && value * value > d_model * 0.9999 && value * value < d_model * 1.0001;
    if (!is_flag && value != 1 && !is_root)
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: embeddings are multiplied by %g, expected 1 or the square root of %zu",
                       mt_ctranslate2_path(r->file), value, r->model->d_model);
    *out = is_flag ? value != 0 : is_root;
    return MT_OK;
}

static enum mt_status read_positions(const struct reader *r)
{
    size_t n[N_SIDES] = {0};
    for (enum side side = ENCODER; side < N_SIDES; side++) {
        const struct mt_ctranslate2_variable *v =
            find(r->file, "%s/position_encodings/encodings", side_names[side]);
        if (v && (v->rank != 2 || v->shape[1] != r->model->d_model))
            return mt_fail(r->err, MT_FORMAT, "%s: \"%s\": expected rows of %zu numbers",
                           mt_ctranslate2_path(r->file), v->name, r->model->d_model);
        n[side] = v ? v->shape[0] : 0;
    }
    if (!n[ENCODER] != !n[DECODER])
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: one side has a table of positions, expected both or neither",
                       mt_ctranslate2_path(r->file));
    r->model->n_positions = mt_size_min(mt_size_min(n[ENCODER], n[DECODER]), MAX_POSITIONS);
    if (!n[ENCODER])
        r->model->n_positions = MAX_POSITIONS;
    r->model->has_positions = n[ENCODER] > 0;
    return MT_OK;
}

static enum mt_status read_activation(const struct reader *r)
{
    double encoder = setting(r, ENCODER, "activation", 0),
           decoder = setting(r, DECODER, "activation", 0);
    enum mt_status status = same_on_both_sides(r, "the activation", encoder, decoder);
    if (status)
        return status;
    char number[32]; /* with no more digits than an fp32 has */
    snprintf(number, sizeof number, "%.9g", encoder);
    status = mt_activation_find(MT_NAMED_BY_CTRANSLATE2, "activation", number,
                                &r->model->activation, r->err);
    return status ? mt_fail_in(r->err, status, mt_ctranslate2_path(r->file)) : MT_OK;
}

static enum mt_status read_layers(const struct reader *r, enum side side, size_t *n_layers,
                                  size_t *d_ff)
{
    size_t n = 0;
    while (n <= MAX_LAYERS &&
           find(r->file, "%s/layer_%zu/self_attention/linear_0/weight", side_names[side], n))
        n++;
    if (n < 1 || n > MAX_LAYERS)
        return mt_fail(r->err, MT_FORMAT, "%s: expected 1 to %d layers of the %s, found %zu",
                       mt_ctranslate2_path(r->file), MAX_LAYERS, side_names[side], n);
    const struct mt_ctranslate2_variable *fc1 =
        find(r->file, "%s/layer_0/ffn/linear_0/weight", side_names[side]);
    if (!fc1 || fc1->rank != 2)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: expected a matrix \"%s/layer_0/ffn/linear_0/weight\"",
                       mt_ctranslate2_path(r->file), side_names[side]);
    *n_layers = n;
    *d_ff = fc1->shape[0];
    return MT_OK;
}

static enum mt_status read_heads(const struct reader *r)
{
    size_t *out[N_SIDES] = {&r->model->n_encoder_heads, &r->model->n_decoder_heads};
    double otherwise = strcmp(mt_ctranslate2_spec(r->file), "TransformerBig") ? 8 : 16;
    for (enum side side = ENCODER; side < N_SIDES; side++) {
        double n = setting(r, side, "num_heads", otherwise);
        if (!(n >= 1 && n <= 1024))
            return mt_fail(r->err, MT_FORMAT, "%s: %s of %g heads", mt_ctranslate2_path(r->file),
                           side_names[side], n);
        *out[side] = (size_t)n;
    }
    return MT_OK;
}

/* Reads a norm that some models have, on both sides or on neither. */
static enum mt_status read_optional_norm(const struct reader *r, const char *name, bool *out)
{
    bool has[N_SIDES];
    for (enum side side = ENCODER; side < N_SIDES; side++)
        has[side] = find(r->file, "%s/%s/gamma", side_names[side], name) != NULL;
    *out = has[ENCODER];
    return same_on_both_sides(r, name, has[ENCODER], has[DECODER]);
}

/* Whether the first layers have it, on both sides or on neither. */
static enum mt_status read_layer_part(const struct reader *r, const char *what, const char *name,
                                      bool *out)
{
    bool has[N_SIDES];
    for (enum side side = ENCODER; side < N_SIDES; side++)
        has[side] = find(r->file, "%s/layer_0/%s", side_names[side], name) != NULL;
    *out = has[ENCODER];
    return same_on_both_sides(r, what, has[ENCODER], has[DECODER]);
}

static enum mt_status read_settings(const struct reader *r)
{
    struct mt_ctranslate2_model *m = r->model;
    bool scales[N_SIDES] = {0};
    double pre_norm = setting(r, ENCODER, "pre_norm", 1);
    enum mt_status status =
        same_on_both_sides(r, "pre_norm", pre_norm, setting(r, DECODER, "pre_norm", 1));
    if (!status)
        status = read_embedding_scale(r, ENCODER, &scales[ENCODER]);
    if (!status)
        status = read_embedding_scale(r, DECODER, &scales[DECODER]);
    if (!status)
        status = same_on_both_sides(r, "scale_embeddings", scales[ENCODER], scales[DECODER]);
    if (!status)
        status = read_activation(r);
    if (!status)
        status = read_optional_norm(r, "layer_norm", &m->final_norm);
    if (!status)
        status = read_optional_norm(r, "layernorm_embedding", &m->normalize_embedding);
    bool has_beta = false;
    if (!status)
        status =
            read_layer_part(r, "beta of the norms", "self_attention/layer_norm/beta", &has_beta);
    m->has_rms_norms = !has_beta;
    if (!status)
        status = read_layer_part(r, "the gate of feed-forward blocks", "ffn/linear_0_noact/weight",
                                 &m->is_gated);
    m->normalize_before = pre_norm != 0;
    m->scale_embedding = scales[ENCODER];
    m->start_from_zero_embedding = flag(r, "decoder/start_from_zero_embedding", false);
    m->source_bos = flag(r, "with_source_bos", false);
    m->source_eos = flag(r, "with_source_eos", false);
    m->target_bos = flag(r, "with_target_bos", true);
    return status;
}

enum mt_status mt_ctranslate2_model_read(const struct mt_ctranslate2 *file,
                                         struct mt_ctranslate2_model *out, struct mt_error *err)
{
    struct mt_ctranslate2_model model = {.file = file};
    const struct reader r = {.file = file, .model = &model, .err = err};
    enum mt_status status = check_kind(&r);
    if (!status)
        status = read_tables(&r);
    if (!status)
        status = read_positions(&r);
    if (!status)
        status = read_layers(&r, ENCODER, &model.n_encoder_layers, &model.d_ff_encoder);
    if (!status)
        status = read_layers(&r, DECODER, &model.n_decoder_layers, &model.d_ff_decoder);
    if (!status)
        status = read_heads(&r);
    if (!status)
        status = refuse_by_name(&r);
    if (!status)
        status = read_settings(&r);
    if (!status)
        *out = model;
    return status;
}

/* --- Its tensors --- */

static enum mt_status add(struct plan *p, const struct mt_ctranslate2_variable *variable,
                          size_t first, size_t n, const char *format, ...) MT_PRINTF(5, 6);
static enum mt_status add(struct plan *p, const struct mt_ctranslate2_variable *variable,
                          size_t first, size_t n, const char *format, ...)
{
    if (MT_ROOM(&p->pieces, &p->capacity, p->n + 1, "tensors", p->err))
        return MT_MEMORY;
    struct piece *piece = &p->pieces[p->n++];
    *piece = (struct piece){.variable = variable, .first = first, .n = n};
    va_list args;
    va_start(args, format);
    vsnprintf(piece->name, sizeof piece->name, format, args);
    va_end(args);
    return MT_OK;
}

static bool is_vector(const struct mt_ctranslate2_variable *v, size_t n)
{
    return v && v->rank == 1 && v->n_elements == n;
}

/* Adds a linear layer that is stored as n_parts with equal numbers of rows. Without a bias it gets
 * one of zeros. */
static enum mt_status add_linear(struct plan *p, const char *from, const char *to,
                                 const char *const *parts, size_t n_parts)
{
    const struct mt_ctranslate2 *file = p->model->file;
    const struct mt_ctranslate2_variable *weight = find(file, "%s/weight", from);
    const struct mt_ctranslate2_variable *bias = find(file, "%s/bias", from);
    if (!weight || weight->rank != 2)
        return mt_fail(p->err, MT_FORMAT, "%s: expected a matrix \"%s/weight\", found %s",
                       mt_ctranslate2_path(file), from, weight ? "something else" : "none");
    size_t n_rows = weight->shape[0], n = n_rows / n_parts;
    if (n_rows % n_parts || (bias && !is_vector(bias, n_rows)) ||
        (n_parts > 1 && n != p->model->d_model))
        return mt_fail(p->err, MT_UNSUPPORTED,
                       "%s: \"%s\" has %zu rows and %zu biases, expected %zu times %zu of both",
                       mt_ctranslate2_path(file), from, n_rows, bias ? bias->n_elements : 0,
                       n_parts, n_parts > 1 ? p->model->d_model : n);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n_parts && !status; i++) {
        status = add(p, weight, i * n, n, "%s%s.weight", to, parts[i]);
        if (!status)
            status = add(p, bias, i * n, n, "%s%s.bias", to, parts[i]);
    }
    return status;
}

static enum mt_status add_norm(struct plan *p, const char *from, const char *to)
{
    const struct mt_ctranslate2 *file = p->model->file;
    const struct mt_ctranslate2_variable *gamma = find(file, "%s/gamma", from);
    const struct mt_ctranslate2_variable *beta = find(file, "%s/beta", from);
    size_t d_model = p->model->d_model;
    bool is_rms = p->model->has_rms_norms;
    if (!is_vector(gamma, d_model) || (is_rms ? beta != NULL : !is_vector(beta, d_model)))
        return mt_fail(p->err, MT_FORMAT,
                       "%s: \"%s\": expected gamma%s of %zu numbers%s, as in the encoder's first "
                       "layer",
                       mt_ctranslate2_path(file), from, is_rms ? "" : " and beta", d_model,
                       is_rms ? " and no beta (an RMS norm)" : " each");
    enum mt_status status = add(p, gamma, 0, d_model, "%s.weight", to);
    return status || is_rms ? status : add(p, beta, 0, d_model, "%s.bias", to);
}

#define GATE "ffn/linear_0_noact" /* of gated feed-forward blocks */

/* One row of a layer's table: its name in the file, and MarianMT's names for its parts. */
struct layer_row {
    bool is_norm, only_decoder;
    const char *from;
    size_t n_parts;
    const char *parts[3];
};

static const struct layer_row layer_rows[] = {
    {false,
     false,
     "self_attention/linear_0",
     3,
     {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {false, false, "self_attention/linear_1", 1, {"self_attn.out_proj"}},
    {true, false, "self_attention/layer_norm", 1, {"self_attn_layer_norm"}},
    {false, true, "attention/linear_0", 1, {"encoder_attn.q_proj"}},
    {false, true, "attention/linear_1", 2, {"encoder_attn.k_proj", "encoder_attn.v_proj"}},
    {false, true, "attention/linear_2", 1, {"encoder_attn.out_proj"}},
    {true, true, "attention/layer_norm", 1, {"encoder_attn_layer_norm"}},
    {false, false, "ffn/linear_0", 1, {"fc1"}},
    {false, false, GATE, 1, {"fc1_factor"}},
    {false, false, "ffn/linear_1", 1, {"fc2"}},
    {true, false, "ffn/layer_norm", 1, {"final_layer_norm"}},
};

static enum mt_status add_layer(struct plan *p, enum side side, size_t layer)
{
    char from[NAME_BYTES], to[NAME_BYTES];
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof layer_rows / sizeof *layer_rows && !status; i++) {
        const struct layer_row *row = &layer_rows[i];
        if ((row->only_decoder && side == ENCODER) ||
            (!p->model->is_gated && !strcmp(row->from, GATE)))
            continue;
        snprintf(from, sizeof from, "%s/layer_%zu/%s", side_names[side], layer, row->from);
        snprintf(to, sizeof to, "model.%s.layers.%zu.%s", side_names[side], layer,
                 row->is_norm ? row->parts[0] : "");
        status = row->is_norm ? add_norm(p, from, to)
                              : add_linear(p, from, to, row->parts, row->n_parts);
    }
    return status;
}

static enum mt_status add_side(struct plan *p, enum side side)
{
    const struct mt_ctranslate2_model *m = p->model;
    const char *name = side_names[side];
    size_t n_layers = side == ENCODER ? m->n_encoder_layers : m->n_decoder_layers;
    enum mt_status status = MT_OK;
    char from[NAME_BYTES], to[NAME_BYTES];
    for (size_t i = 0; i < n_layers && !status; i++)
        status = add_layer(p, side, i);
    const struct {
        bool wanted;
        const char *from, *to;
    } norms[] = {{m->final_norm, "layer_norm", "layer_norm"},
                 {m->normalize_embedding, "layernorm_embedding", "layernorm_embedding"}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms && !status; i++) {
        snprintf(from, sizeof from, "%s/%s", name, norms[i].from);
        snprintf(to, sizeof to, "model.%s.%s", name, norms[i].to);
        if (norms[i].wanted)
            status = add_norm(p, from, to);
    }
    if (!status && m->has_positions)
        status = add(p, find(m->file, "%s/position_encodings/encodings", name), 0, m->n_positions,
                     "model.%s.embed_positions.weight", name);
    return status;
}

static enum mt_status add_tables(struct plan *p)
{
    const struct mt_ctranslate2_model *m = p->model;
    const struct mt_ctranslate2_variable *source = table_of(m->file, ENCODER),
                                         *target = table_of(m->file, DECODER);
    const struct mt_ctranslate2_variable *bias =
        mt_ctranslate2_find(m->file, "decoder/projection/bias");
    enum mt_status status =
        add(p, source, 0, m->n_source_vocab,
            m->shared_embeddings ? "model.shared.weight" : "model.encoder.embed_tokens.weight");
    if (!status && !m->shared_embeddings)
        status = add(p, target, 0, m->n_target_vocab, "model.decoder.embed_tokens.weight");
    if (!status && !m->tied_output) {
        const struct mt_ctranslate2_variable *output =
            mt_ctranslate2_find(m->file, "decoder/projection/weight");
        status = add(p, output, 0, output->rank ? output->shape[0] : 1, "lm_head.weight");
    }
    if (!status && bias)
        status = add(p, bias, 0, bias->rank ? bias->shape[0] : 1, "final_logits_bias");
    return status;
}

/* Whether the name is a setting that was read, or one that only matters for training or
 * alignment. */
static bool is_setting(const char *name)
{
    static const char *const known[] = {"num_heads",
                                        "num_heads_kv",
                                        "pre_norm",
                                        "activation",
                                        "alignment_layer",
                                        "alignment_heads",
                                        "scale_embeddings",
                                        "embeddings_merge",
                                        "multiply_by_sqrt_depth",
                                        "start_from_zero_embedding",
                                        "with_source_bos",
                                        "with_source_eos",
                                        "with_target_bos"};
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(last, known[i]))
            return true;
    return false;
}

/* Checks that all other variables are copies of a tied table, or settings that are off. */
static enum mt_status check_all_used(const struct plan *p)
{
    const struct mt_ctranslate2 *file = p->model->file;
    size_t n = mt_ctranslate2_count(file);
    bool *used = calloc(n ? n : 1, sizeof *used);
    if (!used)
        return mt_fail_memory(p->err, n, "variables");
    const struct mt_ctranslate2_variable *base = mt_ctranslate2_at(file, 0);
    const struct mt_ctranslate2_variable *tied[] = {
        table_of(file, ENCODER), table_of(file, DECODER),
        mt_ctranslate2_find(file, "decoder/projection/weight")};
    for (size_t i = 0; i < p->n + sizeof tied / sizeof *tied; i++) {
        const struct mt_ctranslate2_variable *v = i < p->n ? p->pieces[i].variable : tied[i - p->n];
        if (v)
            used[v - base] = true;
        if (v && v->scale)
            used[v->scale - base] = true;
    }
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const struct mt_ctranslate2_variable *v = mt_ctranslate2_at(file, i);
        double value;
        if (used[i] || (mt_ctranslate2_scalar(v, &value) && (value == 0 || is_setting(v->name))))
            continue;
        status = mt_fail(p->err, MT_UNSUPPORTED,
                         "%s: variable \"%s\" belongs to something that is not implemented",
                         mt_ctranslate2_path(file), v->name);
    }
    free(used);
    return status;
}

static enum mt_status plan_image(struct plan *p, struct mt_image *image)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < p->n && !status; i++) {
        struct piece *piece = &p->pieces[i];
        const struct mt_ctranslate2_variable *v = piece->variable;
        size_t shape[MT_CTRANSLATE2_MAX_RANK] = {piece->n};
        size_t rank = v && v->rank ? v->rank : 1;
        for (size_t d = 1; d < rank; d++)
            shape[d] = v->shape[d];
        status = mt_image_add(image, piece->name, v ? mt_ctranslate2_copied_dtype(v) : MT_F32, rank,
                              shape, &piece->index, p->err);
    }
    return status ? status : mt_image_allocate(image, p->err);
}

static enum mt_status make_image(struct plan *p, struct mt_image **out)
{
    struct mt_image *image = NULL;
    enum mt_status status = mt_image_create(&image, p->err);
    if (!status)
        status = plan_image(p, image);
    for (size_t i = 0; i < p->n && !status; i++) {
        const struct piece *piece = &p->pieces[i];
        if (piece->variable)
            status = mt_ctranslate2_copy(p->model->file, piece->variable, piece->first, piece->n,
                                         mt_image_data(image, piece->index), p->err);
    }
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    return status;
}

enum mt_status mt_ctranslate2_model_weights(const struct mt_ctranslate2_model *model,
                                            struct mt_image **out, struct mt_error *err)
{
    struct plan p = {.model = model, .err = err};
    enum mt_status status = add_tables(&p);
    for (enum side side = ENCODER; side < N_SIDES && !status; side++)
        status = add_side(&p, side);
    if (!status)
        status = check_all_used(&p);
    if (!status)
        status = make_image(&p, out);
    free(p.pieces);
    return status;
}
