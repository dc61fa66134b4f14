/*
 * Facts about a model that its directory's small files tell without loading it.
 *
 * The languages of each side come from the first of these that names any:
 *
 *   attentiond.json           source_lang, target_lang
 *   vocab.json                >>deu<<, >>fra<<, ...: the targets of a model with several
 *   tokenizer_config.json     languages, of a model of many: each of them on both sides
 *   tokenizer_config.json     source_lang, target_lang
 *   the directory's name      opus-mt-en-de, en-de, my-model.en-de
 *
 * Thread-safety: immutable after it was read.
 */
#ifndef MT_SERVER_MODELS_MODEL_PROFILE_H
#define MT_SERVER_MODELS_MODEL_PROFILE_H

#include "server/models/served_model.h"

struct mt_model_profile {
    struct mt_arena *arena;
    const struct mt_model_language *sources, *targets;
    size_t n_sources, n_targets;
    struct mt_model_shape shape;
    char licence[MT_LICENCE_BYTES];  /* of the download, otherwise of its model card; "": unknown */
    char from[MT_ORIGIN_FROM_BYTES]; /* the name for attentiond pull; "": unknown */
    struct mt_model_defaults defaults;
    size_t max_positions; /* tokens of the longest sentence */
    size_t n_beams;       /* the model's default beam */
    /* Changes whenever one of the model's files in the directory changes. */
    uint64_t files_hash;
    uint64_t largest_file_bytes; /* size of the weights */
};

/* name is the directory's name, which may tell the languages. config.json is checked, too. After a
 * failure there is nothing to finish. MT_NOT_FOUND: the directory does not exist; other statuses
 * come from its files. */
MT_MUST_CHECK enum mt_status mt_model_profile_read(const char *directory, const char *name,
                                                   struct mt_model_profile *out,
                                                   struct mt_error *err);
/* A zeroed profile is allowed. */
void mt_model_profile_finish(struct mt_model_profile *profile);

/* Whether a file of this name in a model's directory belongs to the model. */
bool mt_model_profile_counts(const char *name);

/* Replaces the languages of one side by a single one, which the settings name. */
MT_MUST_CHECK enum mt_status mt_model_profile_set_language(struct mt_model_profile *profile,
                                                           bool is_target, const char *code,
                                                           struct mt_error *err);

#endif
