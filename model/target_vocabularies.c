#include "model/target_vocabularies.h"

#include "base/arena.h"
#include "model/files/target_vocabulary.h"
#include "model/model_state.h"
#include "model/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

static enum mt_status take(struct mt_model *model, const char *language, const int32_t *ids,
                           size_t n, struct mt_error *err)
{
    bool is_int8 = model->precision == MT_INT8;
    size_t n_bytes = mt_candidates_columns_bytes(n, model->hparams.d_model, is_int8);
    struct mt_target_vocabulary *v = &model->target_vocabularies[model->n_target_vocabularies];
    void *copy, *memory = NULL;
    enum mt_status status =
        mt_arena_take(model->arena, n, sizeof *ids, "target vocabulary", &copy, err);
    if (!status && !model->is_unpacked)
        status = mt_arena_take(model->arena, n_bytes, 1, "target vocabulary", &memory, err);
    if (status)
        return status;
    memcpy(copy, ids, n * sizeof *ids);
    *v = (struct mt_target_vocabulary){.language = language, .allowed = {.ids = copy, .n = n}};
    if (memory)
        v->columns = mt_candidates_columns(model, copy, n, memory);
    model->n_target_vocabularies++;
    return MT_OK;
}

static enum mt_status open_one(struct mt_model *model, const struct mt_source *source,
                               const char *name, const char *language, int32_t *ids,
                               struct mt_error *err)
{
    struct mt_document file = {0};
    size_t n = 0;
    enum mt_status status =
        mt_source_read(source, name, MT_TARGET_VOCABULARY_MAX_FILE_BYTES, &file, err);
    if (!status && model->has_shortlist)
        status = mt_fail(err, MT_INVALID,
                         "%s: the model has a lexical shortlist, too, expected one of the two",
                         file.path);
    if (!status)
        status = mt_target_vocabulary_read(file.bytes, file.length, file.path, &model->hparams, ids,
                                           &n, err);
    if (!status)
        status = take(model, language, ids, n, err);
    mt_document_finish(&file);
    return status;
}

/* Looks for the files: one for each language of the model, or one if the model names none. */
enum mt_status mt_target_vocabularies_open(struct mt_model *model, const struct mt_source *source,
                                           struct mt_error *err)
{
    size_t n_languages = mt_tokenizer_n_languages(model->tokenizer),
           n = n_languages ? n_languages : 1;
    void *list;
    int32_t *ids = malloc(model->hparams.n_target_vocab * sizeof *ids);
    if (!ids)
        return mt_fail_memory(err, model->hparams.n_target_vocab * sizeof *ids,
                              "target vocabulary");
    enum mt_status status = mt_arena_take(model->arena, n, sizeof(struct mt_target_vocabulary),
                                          "target vocabularies", &list, err);
    model->target_vocabularies = status ? NULL : list;
    for (size_t i = 0; i < n && !status; i++) {
        const char *language = n_languages ? mt_tokenizer_language(model->tokenizer, i) : NULL;
        char name[MT_TARGET_VOCABULARY_NAME_BYTES];
        mt_target_vocabulary_name(language, name);
        if (mt_source_has(source, name))
            status = open_one(model, source, name, language, ids, err);
    }
    free(ids);
    return status;
}

const struct mt_target_vocabulary *mt_target_vocabulary_of(const struct mt_model *model,
                                                           const char *language)
{
    for (size_t i = 0; i < model->n_target_vocabularies; i++) {
        const struct mt_target_vocabulary *v = &model->target_vocabularies[i];
        if (!v->language || (language && strcmp(v->language, language) == 0))
            return v;
    }
    return NULL;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

bool mt_target_vocabulary_has(const struct mt_target_vocabulary *vocabulary, const int32_t *ids,
                              size_t n)
{
    const struct mt_candidates *allowed = &vocabulary->allowed;
    for (size_t i = 0; i < n; i++)
        if (!bsearch(&ids[i], allowed->ids, allowed->n, sizeof *ids, compare_ids))
            return false;
    return true;
}
