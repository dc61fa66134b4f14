/*
 * What a model has to do before it gets requests: translate a sentence, which touches its weights,
 * and shows whether anything sensible comes out.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_WARM_UP_H
#define MT_SERVER_WARM_UP_H

#include "base/status.h"

struct mt_loaded_model;

/* The warm-up must have been translated by then. */
#define MT_WARM_UP_TIMEOUT_MS 300000

/* Waits for the translation of text. MT_INVALID: its score is not a number, or it is not answer
 * ("": it may be anything); name, the model's directory, goes into messages. MT_TIMEOUT, MT_MEMORY,
 * and mt_engine_submit's. */
MT_MUST_CHECK enum mt_status mt_warm_up(const struct mt_loaded_model *loaded, const char *text,
                                        const char *answer, const char *name, struct mt_error *err);

#endif
