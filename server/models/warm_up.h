/*
 * What a model has to do before it gets requests: translate a sentence, which touches its weights,
 * and shows whether anything sensible comes out. And what texts in its languages need that is made
 * only once, so that the first request does not wait for it: words of numbers, rules of sentences,
 * ICU's and CLD2's tables.
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

/* The warm-up must have been translated by then. */
#define MT_WARM_UP_TIMEOUT_MS 300000

struct mt_warm_up_options {
    const char *text;
    const char *answer; /* "": it may be anything */
    size_t beam_size;   /* 0: the model's */
};

/* Waits for the translation of the text. MT_INVALID: its score is not a number, or it is not the
 * answer; name, the model's directory, goes into messages. MT_TIMEOUT, MT_MEMORY, and
 * mt_engine_submit's. */
MT_MUST_CHECK enum mt_status mt_warm_up(const struct mt_loaded_model *loaded,
                                        const struct mt_warm_up_options *options, const char *name,
                                        struct mt_error *err);

/* The languages of a model that has more are left to their first requests: all of M2M100's take a
 * second and more, and most of them are never asked for. */
#define MT_MAX_WARM_LANGUAGES 8

/* All of it borrowed from begin to end. */
struct mt_text_warm_up {
    const struct mt_served_model_info *info; /* whose languages */
    struct mt_splitter *splitter;            /* NULL: there is none */
    struct mt_number_words *number_words;    /* likewise */

    /* Its own. */
    pthread_t thread;
    bool is_apart;
};

/* In a thread of its own, while the caller loads the model; end waits for it. What goes wrong is
 * left to the requests, which try again. */
void mt_text_warm_up_begin(struct mt_text_warm_up *warm_up);
void mt_text_warm_up_end(struct mt_text_warm_up *warm_up);

#endif
