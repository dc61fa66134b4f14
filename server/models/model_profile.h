/*
 * What a model directory is, as far as its small files tell without loading it.
 *
 * Languages, each side by itself, from the first of these that says something:
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
    char licence[MT_LICENCE_BYTES];  /* as it was pulled under, else its card's; "": nobody says */
    char from[MT_ORIGIN_FROM_BYTES]; /* what attentiond pull takes; "": not known */
    struct mt_model_defaults defaults;
    size_t max_positions; /* tokens of the longest sentence */
    size_t n_beams;       /* where nobody says how many */
    /* Changes whenever a file of the directory that belongs to the model does. */
    uint64_t files_hash;
    uint64_t largest_file_bytes; /* the weights */
};

/* name: what the languages may be read from, the directory's own. Also checks config.json. On
 * failure there is nothing to finish. MT_NOT_FOUND: no directory; and what its files are refused
 * for. */
MT_MUST_CHECK enum mt_status mt_model_profile_read(const char *directory, const char *name,
                                                   struct mt_model_profile *out,
                                                   struct mt_error *err);
/* Takes zeroed ones. */
void mt_model_profile_finish(struct mt_model_profile *profile);

/* Whether a file of this name, in a model's directory, is one of the model's. */
bool mt_model_profile_counts(const char *name);

/* Replaces the languages of one side by a single one, as settings say it. */
MT_MUST_CHECK enum mt_status mt_model_profile_set_language(struct mt_model_profile *profile,
                                                           bool is_target, const char *code,
                                                           struct mt_error *err);

#endif
