/*
 * Prepares a model for requests. It translates a sentence, which reads its weights into memory and
 * shows whether the output makes sense. Data that are created only once for the model's languages
 * are created here, so that the first request does not wait for them: words of numbers, rules of
 * sentences, tables of ICU and CLD2.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_WARM_UP_H
#define MT_SERVER_MODELS_WARM_UP_H

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>

struct mt_loaded_model;
struct mt_number_words;
struct mt_served_model_info;
struct mt_splitter;

/* Time limit of the translation. */
#define MT_WARM_UP_TIMEOUT_MS 300000

struct mt_warm_up_options {
    const char *text;
    const char *answer; /* "": any answer is accepted */
    size_t beam_size;   /* 0: the model's default */
};

/* Waits for the translation of the text. MT_INVALID: its score is not a number, or it is not the
 * answer; name, which messages contain, is the model's directory. MT_TIMEOUT, MT_MEMORY, and the
 * errors of mt_engine_submit. */
MT_MUST_CHECK enum mt_status mt_warm_up(const struct mt_loaded_model *loaded,
                                        const struct mt_warm_up_options *options, const char *name,
                                        struct mt_error *err);

/* Most languages of a model that are prepared. A model with more leaves them to their first
 * requests: all of M2M100's would take more than a second, and most of them are never used. */
#define MT_MAX_WARM_LANGUAGES 8

/* All pointers are borrowed from begin to end. */
struct mt_text_warm_up {
    const struct mt_served_model_info *info; /* has the languages */
    struct mt_splitter *splitter;            /* NULL: there is none */
    struct mt_number_words *number_words;    /* NULL: there are none */

    /* Used by the functions below. */
    pthread_t thread;
    bool is_apart;
};

/* Work is done in a separate thread while the caller loads the model; end waits for it. Errors are
 * ignored, because the requests try again. */
void mt_text_warm_up_begin(struct mt_text_warm_up *warm_up);
void mt_text_warm_up_end(struct mt_text_warm_up *warm_up);

#endif
