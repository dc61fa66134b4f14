#include "model/files/packed.h"

#include "base/cores.h"
#include "base/size.h"
#include "base/team.h"
#include "model/kernels/kernels.h"
#include "weights/pack.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* More inputs could overflow the int32 sums: 255 * 127 * 32,768 < 2^31. */
#define MAX_INPUTS 32768

/* How many numbers are widened to fp32 at once: 128 KiB, and at least a row. */
#define WIDENED_NUMBERS MAX_INPUTS

/* Most threads that pack, since more would only wait for memory. */
#define MAX_PACKERS 4

/*
 * The content of a packed file, as one list that writing and reading share: the entries of a model
 * with these hyper-parameters, in order. An entry points to the member that it is written from or
 * read into.
 */
struct entry {
    char name[64];
    size_t n_in, n_out; /* for a linear; for others n_in is 0 */
    /* n_linears of them, stride bytes apart, which together make one matrix of n_out columns */
    struct mt_linear *linears;
    size_t n_linears, stride;
    struct mt_norm *norm;    /* if it is a norm */
    const float **positions; /* if it is a table of positions [max_positions, D] */
    size_t first_tensor;     /* in an image */
};

/* 7 entries of a layer, 3 more in the decoder, and a few others. */
#define MAX_ENTRIES (128 * (7 + 10) + 16)

struct entries {
    const struct mt_hparams *hparams;
    struct entry *list;
    size_t n;
};

static struct entry *next_entry(struct entries *e, const char *side, size_t layer, const char *name)
{
    assert(e->n < MAX_ENTRIES);
    struct entry *entry = &e->list[e->n++];
    *entry = (struct entry){0};
    if (layer == SIZE_MAX)
        snprintf(entry->name, sizeof entry->name, "%s.%s", side, name);
    else
        snprintf(entry->name, sizeof entry->name, "%s.%zu.%s", side, layer, name);
    return entry;
}

static void add_linear(struct entries *e, const char *side, size_t layer, const char *name,
                       size_t n_in, size_t n_out, struct mt_linear *linear)
{
    struct entry *entry = next_entry(e, side, layer, name);
    entry->n_in = n_in;
    entry->n_out = n_out;
    entry->linears = linear;
    entry->n_linears = 1;
}

static void add_norm(struct entries *e, const char *side, size_t layer, const char *name,
                     struct mt_norm *norm)
{
    next_entry(e, side, layer, name)->norm = norm;
}

static void add_self_attention(struct entries *e, const char *side, size_t layer,
                               struct mt_self_attention *a)
{
    size_t d = e->hparams->d_model;
    add_linear(e, side, layer, "self.qkv", d, 3 * d, &a->qkv);
    add_linear(e, side, layer, "self.out", d, d, &a->out);
    add_norm(e, side, layer, "self.norm", &a->norm);
}

static void add_feed_forward(struct entries *e, const char *side, size_t layer, size_t d_ff,
                             struct mt_feed_forward *f)
{
    size_t d = e->hparams->d_model;
    add_linear(e, side, layer, "ffn.fc1", d, d_ff, &f->fc1);
    if (e->hparams->feed_forward_kind == MT_FEED_FORWARD_GATED)
        add_linear(e, side, layer, "ffn.factor", d, d_ff, &f->factor);
    add_linear(e, side, layer, "ffn.fc2", d_ff, d, &f->fc2);
    add_norm(e, side, layer, "ffn.norm", &f->norm);
}

static void add_cell(struct entries *e, const char *side, size_t layer, struct mt_cell *c)
{
    size_t d = e->hparams->d_model;
    add_linear(e, side, layer, "cell.gates", d, 2 * d, &c->gates);
    add_norm(e, side, layer, "cell.norm", &c->norm);
}

static void add_decoder_layer(struct entries *e, size_t layer, struct mt_decoder_layer *l)
{
    size_t d = e->hparams->d_model;
    if (e->hparams->decoder_cell == MT_CELL_SSRU)
        add_cell(e, "decoder", layer, &l->cell);
    else
        add_self_attention(e, "decoder", layer, &l->self);
    add_linear(e, "decoder", layer, "cross.q", d, d, &l->cross.q);
    add_linear(e, "decoder", layer, "cross.out", d, d, &l->cross.out);
    add_norm(e, "decoder", layer, "cross.norm", &l->cross.norm);
    add_feed_forward(e, "decoder", layer, e->hparams->d_ff_decoder, &l->ffn);
}

/* The keys and values of all decoder layers have the same input, so they are one matrix. */
static void add_cross_kv(struct entries *e, struct mt_weights *w)
{
    const struct mt_hparams *h = e->hparams;
    struct entry *entry = next_entry(e, "decoder", SIZE_MAX, "cross.kv");
    entry->n_in = h->d_model;
    entry->n_out = 2 * h->d_model * h->n_decoder_layers;
    entry->linears = &w->decoder[0].cross.kv;
    entry->n_linears = h->n_decoder_layers;
    entry->stride = sizeof w->decoder[0];
}

static void add_tables(struct entries *e, struct mt_weights *w)
{
    const struct mt_hparams *h = e->hparams;
    add_linear(e, "target", SIZE_MAX, "output", h->d_model, h->n_target_vocab, &w->output);
    if (!h->tied_output)
        add_linear(e, "target", SIZE_MAX, "embedding", h->d_model, h->n_target_vocab,
                   &w->target.packed);
    if (!h->shared_embeddings)
        add_linear(e, "source", SIZE_MAX, "embedding", h->d_model, h->n_source_vocab,
                   &w->source.packed);
    next_entry(e, "source", SIZE_MAX, "positions")->positions = &w->source.positions;
    next_entry(e, "target", SIZE_MAX, "positions")->positions = &w->target.positions;
    if (h->normalize_embedding) {
        add_norm(e, "source", SIZE_MAX, "embedding.norm", &w->source.norm);
        add_norm(e, "target", SIZE_MAX, "embedding.norm", &w->target.norm);
    }
    if (h->final_norm) {
        add_norm(e, "encoder", SIZE_MAX, "norm", &w->encoder_norm);
        add_norm(e, "decoder", SIZE_MAX, "norm", &w->decoder_norm);
    }
}

static enum mt_status list_entries(const struct mt_hparams *h, struct mt_weights *w,
                                   struct mt_arena *arena, struct entries *out,
                                   struct mt_error *err)
{
    void *list;
    enum mt_status status =
        mt_arena_take(arena, MAX_ENTRIES, sizeof(struct entry), "packed form", &list, err);
    if (status)
        return status;
    *out = (struct entries){.hparams = h, .list = list};
    for (size_t i = 0; i < h->n_encoder_layers; i++) {
        add_self_attention(out, "encoder", i, &w->encoder[i].self);
        add_feed_forward(out, "encoder", i, h->d_ff_encoder, &w->encoder[i].ffn);
    }
    add_cross_kv(out, w);
    for (size_t i = 0; i < h->n_decoder_layers; i++)
        add_decoder_layer(out, i, &w->decoder[i]);
    add_tables(out, w);
    return MT_OK;
}

/* --- the tensors of an entry --- */

struct tensor_plan {
    const char *suffix;
    enum mt_dtype dtype;
    size_t rank;
    size_t shape[4];
};

#define MAX_TENSORS 4

static size_t plan_tensors(const struct mt_hparams *h, const struct entry *entry,
                           struct tensor_plan out[MAX_TENSORS])
{
    if (entry->norm) {
        out[0] = (struct tensor_plan){".gamma", MT_F32, 1, {h->d_model}};
        out[1] = (struct tensor_plan){".beta", MT_F32, 1, {h->d_model}};
        return h->norm_kind == MT_NORM_RMS ? 1 : 2;
    }
    if (entry->positions) {
        out[0] = (struct tensor_plan){"", MT_F32, 2, {h->max_positions, h->d_model}};
        return 1;
    }
    size_t n = mt_pack_padded_n(entry->n_out), k = mt_pack_padded_k(entry->n_in);
    out[0] =
        (struct tensor_plan){".weight", MT_I8, 4, {n / MT_PACK_COLUMNS, k / 4, MT_PACK_COLUMNS, 4}};
    out[1] = (struct tensor_plan){".scale", MT_F32, 1, {n}};
    out[2] = (struct tensor_plan){".sum", MT_I32, 1, {n}};
    out[3] = (struct tensor_plan){".bias", MT_F32, 1, {n}};
    return 4;
}

/* --- making --- */

static enum mt_status add_to_image(struct mt_image *image, const struct mt_hparams *h,
                                   struct entry *entry, struct mt_error *err)
{
    struct tensor_plan plan[MAX_TENSORS];
    size_t n = plan_tensors(h, entry, plan);
    for (size_t i = 0; i < n; i++) {
        char name[96];
        size_t index;
        snprintf(name, sizeof name, "%s%s", entry->name, plan[i].suffix);
        enum mt_status status =
            mt_image_add(image, name, plan[i].dtype, plan[i].rank, plan[i].shape, &index, err);
        if (status)
            return status;
        if (i == 0)
            entry->first_tensor = index;
    }
    return MT_OK;
}

static struct mt_linear *linear_at(const struct entry *entry, size_t index)
{
    return (struct mt_linear *)(void *)((char *)entry->linears + index * entry->stride);
}

/* What the members of a team need to fill an image. */
struct filling {
    struct mt_image *image;
    const struct mt_hparams *hparams;
    const struct entries *entries;
    float *widened; /* [n_members, WIDENED_NUMBERS] */
    mt_packed_progress *progress;
    void *progress_context;
    size_t member, n_members;
};

/* A matrix is widened a few rows at a time: the rows stay in the cache, and loading a model needs
 * no memory for a second one of twice its size. */
static void pack_part(const struct filling *f, const struct mt_linear_part *part, size_t n_in,
                      size_t first_column, int8_t *weights, float *scales, int32_t *sums)
{
    const struct mt_tensor *tensor = part->stored;
    size_t row_bytes = n_in * mt_dtype_bytes(tensor->dtype), n_at_once = WIDENED_NUMBERS / n_in;
    float *widened = f->widened + f->member * WIDENED_NUMBERS;
    size_t begin, end;
    mt_team_share(part->n_out, MT_PACK_COLUMNS, f->member, f->n_members, &begin, &end);
    if (tensor->dtype == MT_I8 && begin < end) {
        mt_pack_int8_columns((const int8_t *)tensor->data + begin * n_in, part->stored_scale,
                             end - begin, n_in, first_column + begin, weights, scales, sums);
        return;
    }
    for (size_t row = begin; row < end; row += n_at_once) {
        size_t n = mt_size_min(n_at_once, end - row);
        mt_widen_f32(tensor->dtype, (const char *)tensor->data + row * row_bytes, n * n_in,
                     widened);
        mt_pack_columns(widened, n, n_in, first_column + row, weights, scales, sums);
    }
}

static void pack_entry(const struct filling *f, const struct entry *entry)
{
    int8_t *weights = mt_image_data(f->image, entry->first_tensor);
    float *scales = mt_image_data(f->image, entry->first_tensor + 1);
    int32_t *sums = mt_image_data(f->image, entry->first_tensor + 2);
    float *bias = mt_image_data(f->image, entry->first_tensor + 3);
    size_t column = 0;
    for (size_t i = 0; i < entry->n_linears; i++) {
        const struct mt_linear *linear = linear_at(entry, i);
        for (size_t p = 0; p < linear->n_parts; p++) {
            const struct mt_linear_part *part = &linear->parts[p];
            pack_part(f, part, linear->n_in, column, weights, scales, sums);
            if (part->bias && f->member == 0)
                memcpy(bias + column, part->bias, part->n_out * sizeof *bias);
            column += part->n_out;
        }
    }
    assert(column == entry->n_out);
    for (; column < mt_pack_padded_n(entry->n_out) && f->member == 0; column++)
        scales[column] = 1.0f;
}

static void copy_entry(struct mt_image *image, const struct mt_hparams *h,
                       const struct entry *entry)
{
    size_t n_bytes = h->d_model * sizeof(float);
    if (entry->norm) {
        memcpy(mt_image_data(image, entry->first_tensor), entry->norm->gamma, n_bytes);
        if (entry->norm->beta)
            memcpy(mt_image_data(image, entry->first_tensor + 1), entry->norm->beta, n_bytes);
    } else {
        memcpy(mt_image_data(image, entry->first_tensor), *entry->positions,
               h->max_positions * n_bytes);
    }
}

/* Every member packs its share of each matrix, and the first one also what is small. */
static void fill(void *context, size_t member, size_t n_members)
{
    struct filling f = *(const struct filling *)context;
    f.member = member;
    f.n_members = n_members;
    for (size_t i = 0; i < f.entries->n; i++) {
        const struct entry *entry = &f.entries->list[i];
        if (entry->linears)
            pack_entry(&f, entry);
        else if (member == 0)
            copy_entry(f.image, f.hparams, entry);
        if (f.progress && member == 0)
            f.progress(f.progress_context, i + 1, f.entries->n);
    }
}

static enum mt_status fill_together(struct filling *f, struct mt_arena *arena, struct mt_error *err)
{
    struct mt_team *team;
    void *widened;
    enum mt_status status =
        mt_team_try_create(mt_size_min(mt_cores_available(), MAX_PACKERS), &team, err);
    if (!status)
        status = mt_arena_take(arena, mt_team_size(team) * WIDENED_NUMBERS, sizeof(float),
                               "widened rows", &widened, err);
    if (!status) {
        f->widened = widened;
        mt_team_run(team, fill, f);
    }
    mt_team_destroy(team);
    return status;
}

enum mt_status mt_packed_check_shape(const struct mt_hparams *h, struct mt_error *err)
{
    if (h->d_model % MT_PACK_COLUMNS)
        return mt_fail(err, MT_UNSUPPORTED,
                       "int8: d_model: expected a multiple of %d, found %zu (use fp32)",
                       MT_PACK_COLUMNS, h->d_model);
    size_t widest = mt_size_max(h->d_model, mt_size_max(h->d_ff_encoder, h->d_ff_decoder));
    if (widest > MAX_INPUTS)
        return mt_fail(err, MT_UNSUPPORTED,
                       "int8: expected layers of at most %d inputs, found %zu (use fp32)",
                       MAX_INPUTS, widest);
    return MT_OK;
}

/* The settings of a model that determine its packed form, and the sizes before padding, which are
 * not in the file's shapes. */
struct settings_text {
    char text[384];
};

static struct settings_text settings_of(const struct mt_hparams *h)
{
    struct settings_text s;
    snprintf(s.text, sizeof s.text,
             "layers %zu and %zu, positions %zu layout %d formula %d first %zu learned %d, "
             "shared embeddings %d, tied output %d, final norm %d, normalized embedding %d, "
             "d_model %zu, d_ff %zu and %zu, vocabularies %zu and %zu%s%s%s",
             h->n_encoder_layers, h->n_decoder_layers, h->max_positions, (int)h->position_layout,
             (int)h->position_formula, h->first_position, h->learned_positions,
             h->shared_embeddings, h->tied_output, h->final_norm, h->normalize_embedding,
             h->d_model, h->d_ff_encoder, h->d_ff_decoder, h->n_source_vocab, h->n_target_vocab,
             h->decoder_cell == MT_CELL_SSRU ? ", cell ssru" : "",
             h->norm_kind == MT_NORM_RMS ? ", norm rms" : "",
             h->feed_forward_kind == MT_FEED_FORWARD_GATED ? ", feed-forward gated" : "");
    return s;
}

static enum mt_status describe(struct mt_image *image, const struct mt_hparams *hparams,
                               const struct mt_source_identity *source, struct mt_error *err)
{
    struct settings_text settings = settings_of(hparams);
    enum mt_status status = mt_image_add_metadata(image, "format", MT_PACKED_FORMAT, err);
    if (!status)
        status = mt_image_add_metadata(image, "version", MT_PACKED_VERSION, err);
    if (!status)
        status = mt_image_add_metadata(image, "source", source->text, err);
    if (!status)
        status = mt_image_add_metadata(image, "settings", settings.text, err);
    return status;
}

enum mt_status mt_packed_make(const struct mt_hparams *hparams, const struct mt_weights *weights,
                              const struct mt_source_identity *source, mt_packed_progress *progress,
                              void *progress_context, struct mt_image **out, struct mt_error *err)
{
    struct mt_arena *arena = NULL;
    struct mt_image *image = NULL;
    struct mt_weights from = *weights;
    struct entries entries = {0};
    enum mt_status status = mt_packed_check_shape(hparams, err);
    if (!status)
        status = mt_arena_create(0, &arena, err);
    if (!status)
        status = list_entries(hparams, &from, arena, &entries, err);
    if (!status)
        status = mt_image_create(&image, err);
    if (!status)
        status = describe(image, hparams, source, err);
    for (size_t i = 0; i < entries.n && !status; i++)
        status = add_to_image(image, hparams, &entries.list[i], err);
    if (!status)
        status = mt_image_allocate(image, err);
    if (!status) {
        struct filling filling = {.image = image,
                                  .hparams = hparams,
                                  .entries = &entries,
                                  .progress = progress,
                                  .progress_context = progress_context};
        status = fill_together(&filling, arena, err);
    }
    mt_arena_destroy(arena);
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    return status;
}

/* --- reading --- */

/* The file has this machine's byte order, while files of models are little-endian. */
static size_t find_not_finite(const float *numbers, size_t n)
{
    size_t at = 0;
    if (MT_IS_LITTLE_ENDIAN)
        return mt_find_not_finite(MT_F32, numbers, n);
    while (at < n && isfinite(numbers[at]))
        at++;
    return at;
}

static enum mt_status find_tensor(const struct mt_safetensors *file, const struct entry *entry,
                                  const struct tensor_plan *plan, const void **out,
                                  struct mt_error *err)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s", entry->name, plan->suffix);
    const struct mt_tensor *tensor = mt_safetensors_find(file, name);
    if (!tensor)
        return mt_fail(err, MT_FORMAT, "%s: expected a tensor \"%s\", found none",
                       mt_safetensors_path(file), name);
    bool matches = tensor->dtype == plan->dtype && tensor->rank == plan->rank;
    for (size_t i = 0; matches && i < plan->rank; i++)
        matches = tensor->shape[i] == plan->shape[i];
    if (!matches)
        return mt_fail(
            err, MT_FORMAT,
            "%s: tensor \"%s\" does not have the dtype and shape that config.json implies",
            mt_safetensors_path(file), name);
    if ((uintptr_t)tensor->data % MT_PACK_K)
        return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\" does not start at a multiple of %d bytes",
                       mt_safetensors_path(file), name, MT_PACK_K);
    const float *numbers = tensor->data;
    size_t n = tensor->dtype == MT_F32 ? tensor->n_elements : 0;
    size_t at = find_not_finite(numbers, n);
    if (at < n)
        return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\": expected numbers, found %g at index %zu",
                       mt_safetensors_path(file), name, (double)numbers[at], at);
    *out = tensor->data;
    return MT_OK;
}

/* Makes each linear point to its columns in the entry's matrix. */
static void view_linears(const struct entry *entry, const void *const tensors[MAX_TENSORS])
{
    size_t padded_k = mt_pack_padded_k(entry->n_in), n_each = entry->n_out / entry->n_linears;
    for (size_t i = 0; i < entry->n_linears; i++) {
        size_t column = i * n_each;
        struct mt_linear *linear = linear_at(entry, i);
        bool has_activation = linear->has_activation;
        enum mt_activation activation = linear->activation;
        *linear = (struct mt_linear){
            .n_in = entry->n_in,
            .n_out = n_each,
            .weights = (const int8_t *)tensors[0] + column * padded_k,
            .scales = (const float *)tensors[1] + column,
            .column_sums = (const int32_t *)tensors[2] + column,
            .bias = (const float *)tensors[3] + column,
            .k_padded = padded_k,
            .has_activation = has_activation,
            .activation = activation,
        };
    }
}

static enum mt_status bind_entry(const struct mt_safetensors *file, const struct mt_hparams *h,
                                 struct entry *entry, size_t *n_tensors, struct mt_error *err)
{
    struct tensor_plan plan[MAX_TENSORS];
    const void *tensors[MAX_TENSORS] = {0};
    size_t n = plan_tensors(h, entry, plan);
    *n_tensors += n;
    for (size_t i = 0; i < n; i++) {
        enum mt_status status = find_tensor(file, entry, &plan[i], &tensors[i], err);
        if (status)
            return status;
    }
    if (entry->norm)
        *entry->norm =
            (struct mt_norm){.gamma = tensors[0], .beta = tensors[1], .eps = h->norm_eps};
    else if (entry->positions)
        *entry->positions = tensors[0];
    else
        view_linears(entry, tensors);
    return MT_OK;
}

static enum mt_status take_layers(const struct mt_hparams *h, struct mt_arena *arena,
                                  struct mt_weights *w, struct mt_error *err)
{
    void *encoder, *decoder;
    enum mt_status status =
        mt_arena_take(arena, h->n_encoder_layers, sizeof *w->encoder, "layers", &encoder, err);
    if (!status)
        status =
            mt_arena_take(arena, h->n_decoder_layers, sizeof *w->decoder, "layers", &decoder, err);
    if (status)
        return status;
    w->encoder = encoder;
    w->decoder = decoder;
    for (size_t i = 0; i < h->n_encoder_layers; i++)
        w->encoder[i].ffn.fc1 =
            (struct mt_linear){.has_activation = true, .activation = h->activation};
    for (size_t i = 0; i < h->n_decoder_layers; i++)
        w->decoder[i].ffn.fc1 =
            (struct mt_linear){.has_activation = true, .activation = h->activation};
    return MT_OK;
}

enum mt_status mt_packed_bind(const struct mt_safetensors *file, const struct mt_hparams *hparams,
                              struct mt_arena *arena, struct mt_weights *out, struct mt_error *err)
{
    struct mt_weights w = {0};
    struct entries entries = {0};
    enum mt_status status = mt_packed_check_shape(hparams, err);
    if (!status)
        status = take_layers(hparams, arena, &w, err);
    if (!status)
        status = list_entries(hparams, &w, arena, &entries, err);
    size_t n_tensors = 0;
    for (size_t i = 0; i < entries.n && !status; i++)
        status = bind_entry(file, hparams, &entries.list[i], &n_tensors, err);
    if (!status && n_tensors != mt_safetensors_count(file))
        status =
            mt_fail(err, MT_FORMAT, "%s: expected %zu tensors, as config.json implies, found %zu",
                    mt_safetensors_path(file), n_tensors, mt_safetensors_count(file));
    if (status)
        return status;
    if (hparams->tied_output)
        w.target.packed = w.output;
    if (hparams->shared_embeddings)
        w.source.packed = w.target.packed;
    *out = w;
    return MT_OK;
}

/* --- identity --- */

enum mt_status mt_packed_check_identity(const struct mt_safetensors *file,
                                        const struct mt_hparams *hparams,
                                        const struct mt_source_identity *source,
                                        struct mt_error *err)
{
    struct settings_text settings = settings_of(hparams);
    const struct {
        const char *key, *expected;
    } pairs[] = {{"format", MT_PACKED_FORMAT},
                 {"version", MT_PACKED_VERSION},
                 {"source", source ? source->text : NULL},
                 {"settings", settings.text}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *found = mt_safetensors_metadata(file, pairs[i].key);
        if (pairs[i].expected && (!found || strcmp(found, pairs[i].expected) != 0))
            return mt_fail(err, MT_FORMAT, "%s: metadata %s: expected \"%s\", found \"%s\"",
                           mt_safetensors_path(file), pairs[i].key, pairs[i].expected,
                           found ? found : "nothing");
    }
    return MT_OK;
}
