#include "model/model_state.h"

#include "base/arena.h"
#include "base/file.h"
#include "model/bind.h"
#include "model/tokenizer.h"
#include "weights/safetensors.h"

#include <stdlib.h>

static enum mt_status open_file(struct mt_model *model, const char *directory, struct mt_error *err)
{
    char *path;
    enum mt_status status = mt_path_join(directory, "model.safetensors", &path, err);
    if (!status)
        status = mt_safetensors_open(path, &model->file, err);
    else
        path = NULL;
    free(path);
    return status;
}

/* The vocabulary, the tensors and the configuration must speak of the same tokens. */
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

static size_t count_parameters(const struct mt_safetensors *file)
{
    size_t n = 0;
    for (size_t i = 0; i < mt_safetensors_count(file); i++)
        n += mt_safetensors_at(file, i)->n_elements;
    return n;
}

enum mt_status mt_model_open(const char *directory, const struct mt_model_options *options,
                             struct mt_model **out, struct mt_error *err)
{
    struct mt_model *model = calloc(1, sizeof *model);
    if (!model)
        return mt_fail_memory(err, sizeof *model, "model");
    model->precision = options ? options->precision : MT_FP32;
    enum mt_status status = mt_hparams_read(directory, &model->hparams, err);
    if (!status)
        status = mt_kernels_find("auto", &model->kernels, err);
    if (!status)
        status = mt_arena_create(0, &model->arena, err);
    if (!status)
        status = open_file(model, directory, err);
    if (!status)
        status = mt_bind_marian(model->file, &model->hparams, model->arena, &model->weights, err);
    if (!status)
        status = mt_tokenizer_open(directory, &model->tokenizer, err);
    if (!status)
        status = check_vocabulary(model, directory, err);
    if (status) {
        mt_model_close(model);
        return status;
    }
    model->n_parameters = count_parameters(model->file);
    *out = model;
    return MT_OK;
}

void mt_model_close(struct mt_model *model)
{
    if (!model)
        return;
    mt_tokenizer_close(model->tokenizer);
    mt_safetensors_close(model->file);
    mt_arena_destroy(model->arena);
    free(model);
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

size_t mt_model_n_parameters(const struct mt_model *model)
{
    return model->n_parameters;
}

size_t mt_model_mapped_bytes(const struct mt_model *model)
{
    return mt_safetensors_bytes(model->file);
}

size_t mt_model_private_bytes(const struct mt_model *model)
{
    return mt_arena_bytes(model->arena);
}
