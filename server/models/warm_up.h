/*
 * What a model has to do before it gets requests: translate a sentence, which touches its weights,
 * and shows whether anything sensible comes out.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_WARM_UP_H
#define MT_SERVER_MODELS_WARM_UP_H

#include "base/status.h"

struct mt_loaded_model;

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

#endif
