#include "model/model_state.h"

#include "base/arena.h"
#include "base/file.h"
#include "model/files/bind.h"
#include "model/files/import.h"
#include "model/kernels/kernels.h"
#include "model/files/pack_cache.h"
#include "model/files/pack_writer.h"
#include "model/files/packed.h"
#include "model/files/source.h"
#include "model/tokenizer/tokenizer.h"
#include "model/files/tokenizer_files.h"
#include "weights/safetensors.h"

#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Checks that the vocabulary, the tensors and the configuration have the same tokens. */
static enum mt_status check_vocabulary(const struct mt_model *model, const char *directory,
                                       struct mt_error *err)
{
    const struct mt_hparams *h = &model->hparams;
    size_t n_source = mt_tokenizer_source_size(model->tokenizer);
    size_t n_target = mt_tokenizer_target_size(model->tokenizer);
    if (n_source > h->n_source_vocab)
        return mt_fail(err, MT_INVALID,
                       "%s: vocab.json: expected ids below vocab_size (%zu), found %zu", directory,
                       h->n_source_vocab, n_source - 1);
    if (n_target > h->n_target_vocab)
        return mt_fail(err, MT_INVALID,
                       "%s: vocab.json: expected ids below decoder_vocab_size (%zu), found %zu",
                       directory, h->n_target_vocab, n_target - 1);
    if (mt_tokenizer_eos_id(model->tokenizer) != h->eos_id)
        return mt_fail(err, MT_INVALID,
                       "%s: vocab.json: expected id %d (eos_token_id) for \"</s>\", found %d",
                       directory, h->eos_id, mt_tokenizer_eos_id(model->tokenizer));
    return MT_OK;
}

static enum mt_status open_shortlist(struct mt_model *model, const struct mt_source *source,
                                     struct mt_error *err)
{
    const struct mt_hparams *h = &model->hparams;
    if (!mt_source_has(source, MT_SHORTLIST_FILE_NAME))
        return MT_OK;
    struct mt_document *file = &model->shortlist_file;
    enum mt_status status =
        mt_source_read(source, MT_SHORTLIST_FILE_NAME, MT_SHORTLIST_MAX_FILE_BYTES, file, err);
    if (!status)
        status = mt_shortlist_read((const unsigned char *)file->bytes, file->length, file->path,
                                   h->n_source_vocab, h->n_target_vocab, &model->shortlist, err);
    model->has_shortlist = !status;
    return status;
}

static enum mt_status open_fp32(struct mt_model *model, const struct mt_source *source,
                                enum mt_load_mode load_mode, struct mt_error *err)
{
    enum mt_status status = mt_source_weights(source, load_mode, &model->file, err);
    if (!status)
        status = mt_bind_marian(model->file, &model->hparams, MT_BIND_FP32, model->arena,
                                &model->weights, NULL, err);
    if (!status)
        snprintf(model->note, sizeof model->note, "fp32 weights of %s",
                 mt_safetensors_path(model->file));
    return status;
}

/* Checks that every tensor exists with the right shape and valid numbers, without moving it. */
static enum mt_status check_weights(struct mt_model *model, const struct mt_source *source,
                                    struct mt_error *err)
{
    enum mt_status status = MT_OK;
    model->is_unpacked = true;
    if (model->precision == MT_INT8)
        status = mt_packed_check_shape(&model->hparams, err);
    if (!status)
        status = mt_source_weights(source, MT_LOAD_MMAP, &model->file, err);
    return status ? status
                  : mt_bind_marian(model->file, &model->hparams, MT_BIND_STORED, model->arena,
                                   &model->weights, NULL, err);
}

static struct mt_pack_options pack_options(const struct mt_model_options *o)
{
    return (struct mt_pack_options){
        .load_mode = o->load_mode,
        .cache_directory = o->cache_directory,
        .writes_cache_later = o->writes_cache_later,
        .on_cache_failure = o->on_cache_failure,
        .on_progress = o->on_progress,
        .progress_context = o->progress_context,
    };
}

/* Opens the packed form: what `import` wrote, or the cache's, or one that is made now. */
static enum mt_status open_int8(struct mt_model *model, const struct mt_source *source,
                                const struct mt_model_options *options, struct mt_error *err)
{
    const struct mt_pack_options pack = pack_options(options);
    struct mt_packed_source packed = {0};
    enum mt_status status = mt_pack_cache_open(source, &model->hparams, &pack, &packed, err);
    if (status)
        return status;
    model->file = packed.file;
    model->image = packed.image;
    model->writer = packed.writer;
    snprintf(model->note, sizeof model->note, "%s", packed.note);
    return mt_packed_bind(model->file, &model->hparams, model->arena, &model->weights, err);
}

/* The file that `import` wrote is mapped as usual even if the model is only checked. */
static enum mt_status open_weights(struct mt_model *model, const struct mt_source *source,
                                   const struct mt_model_options *options, struct mt_error *err)
{
    bool is_int8 = options->precision == MT_INT8;
    bool is_packed = is_int8 && mt_path_holds(mt_source_directory(source), MT_PACKED_FILE_NAME);
    if (options->checks_only && !is_packed)
        return check_weights(model, source, err);
    return is_int8 ? open_int8(model, source, options, err)
                   : open_fp32(model, source, options->load_mode, err);
}

enum mt_status mt_model_open(const char *directory, const struct mt_model_options *options,
                             struct mt_model **out, struct mt_error *err)
{
    static const struct mt_model_options defaults;
    const struct mt_model_options *o = options ? options : &defaults;
    struct mt_source *source = NULL;
    struct mt_model *model = calloc(1, sizeof *model);
    if (!model)
        return mt_fail_memory(err, sizeof *model, "model");
    static atomic_uint_fast64_t n_opened;
    model->serial = atomic_fetch_add(&n_opened, 1);
    model->precision = o->precision;
    model->is_copied = o->load_mode == MT_LOAD_COPY;
    enum mt_status status = mt_source_open(directory, &source, err);
    if (!status)
        status = mt_hparams_read(source, &model->hparams, err);
    if (!status)
        status = mt_kernels_find(o->kernels ? o->kernels : "auto", &model->kernels, err);
    if (!status)
        status = mt_arena_create(0, &model->arena, err);
    if (!status)
        status = open_weights(model, source, o, err);
    if (!status)
        status = mt_tokenizer_read(source, &model->tokenizer, err);
    if (!status)
        status = check_vocabulary(model, directory, err);
    if (!status)
        status = open_shortlist(model, source, err);
    if (!status)
        status = mt_target_vocabularies_open(model, source, err);
    if (!status)
        status = mt_model_check(model, err);
    if (!status && !model->is_unpacked)
        status = mt_candidates_lay_out(model, err);
    mt_source_close(source);
    if (status) {
        mt_model_close(model);
        return status;
    }
    *out = model;
    return MT_OK;
}

void mt_model_close(struct mt_model *model)
{
    if (!model)
        return;
    mt_tokenizer_close(model->tokenizer);
    mt_safetensors_close(model->file);
    if (model->writer)
        mt_pack_writer_let_go(model->writer); /* together with the image */
    else
        mt_image_destroy(model->image);
    mt_arena_destroy(model->arena);
    mt_document_finish(&model->shortlist_file);
    free(model);
}

/* Whether the model opens and could be used for translating. */
static enum mt_status check_opens(const char *directory, const struct mt_model_options *options,
                                  struct mt_error *err)
{
    const struct mt_model_options exact = {
        .precision = MT_FP32, .kernels = options->kernels, .checks_only = true};
    struct mt_model *model;
    enum mt_status status = mt_model_open(directory, &exact, &model, err);
    if (!status)
        mt_model_close(model);
    return status;
}

enum mt_status mt_model_import(const struct mt_model_import *request,
                               struct mt_import_report *report, struct mt_error *err)
{
    const struct mt_model_options *options = request->options;
    const struct mt_import_options import = {.packs = options->precision == MT_INT8,
                                             .on_progress = options->on_progress,
                                             .progress_context = options->progress_context};
    struct mt_import_stage *stage = NULL;
    enum mt_status status = mt_import_check(request->from, request->to, &import, err);
    if (!status)
        status = check_opens(request->from, options, err);
    if (!status)
        status = mt_import_write(request->from, request->to, &import, &stage, report, err);
    if (!status && request->confirm)
        status = request->confirm(request->context, mt_import_stage_path(stage), err);
    if (!status)
        status = mt_import_keep(stage, err);
    mt_import_drop(stage);
    return status;
}

enum mt_status mt_model_check(const struct mt_model *model, struct mt_error *err)
{
    return mt_safetensors_check_mapping(model->file, err);
}

const struct mt_hparams *mt_model_hparams(const struct mt_model *model)
{
    return &model->hparams;
}

const struct mt_tokenizer *mt_model_tokenizer(const struct mt_model *model)
{
    return model->tokenizer;
}

enum mt_precision mt_model_precision(const struct mt_model *model)
{
    return model->precision;
}

const char *mt_model_note(const struct mt_model *model)
{
    return model->note;
}

bool mt_model_has_shortlist(const struct mt_model *model)
{
    return model->has_shortlist;
}

size_t mt_model_target_vocabulary_size(const struct mt_model *model, const char *language)
{
    const struct mt_target_vocabulary *vocabulary = mt_target_vocabulary_of(model, language);
    return vocabulary ? vocabulary->allowed.n : 0;
}

const char *mt_model_kernels_name(const struct mt_model *model)
{
    return model->kernels->name;
}

static size_t feed_forward_parameters(const struct mt_hparams *h, size_t d_ff)
{
    size_t n_first = h->feed_forward_kind == MT_FEED_FORWARD_GATED ? 2 : 1;
    return n_first * (h->d_model * d_ff + d_ff) + d_ff * h->d_model + h->d_model;
}

/* Counts weights and biases of the layers and the tables of embeddings, each once, without
 * positions. */
size_t mt_model_n_parameters(const struct mt_model *model)
{
    const struct mt_hparams *h = &model->hparams;
    size_t d = h->d_model, attention = 4 * (d * d + d);
    size_t norm = h->norm_kind == MT_NORM_RMS ? d : 2 * d;
    size_t encoder = attention + norm + feed_forward_parameters(h, h->d_ff_encoder) + norm;
    size_t self = h->decoder_cell == MT_CELL_SSRU ? 2 * d * d + d : attention;
    size_t decoder =
        self + attention + 2 * norm + feed_forward_parameters(h, h->d_ff_decoder) + norm;
    size_t tables = h->n_target_vocab * (d + 1);
    if (!h->shared_embeddings)
        tables += h->n_source_vocab * d;
    if (!h->tied_output)
        tables += h->n_target_vocab * d;
    return h->n_encoder_layers * encoder + h->n_decoder_layers * decoder + tables;
}

size_t mt_model_mapped_bytes(const struct mt_model *model)
{
    return model->image || model->is_copied ? 0 : mt_safetensors_bytes(model->file);
}

size_t mt_model_private_bytes(const struct mt_model *model)
{
    size_t image_bytes = 0;
    if (model->image)
        mt_image_bytes(model->image, &image_bytes);
    else if (model->is_copied)
        image_bytes = mt_safetensors_bytes(model->file);
    return mt_arena_bytes(model->arena) + image_bytes + model->shortlist_file.length;
}
