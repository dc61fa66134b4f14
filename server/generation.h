/*
 * One generation of the service: settings, the model that they name, and the engine that runs it.
 * It does not change; another model or other settings are another generation (generations.h).
 *
 * Thread-safety: create and destroy one thread at a time, the others safe.
 */
#ifndef MT_SERVER_GENERATION_H
#define MT_SERVER_GENERATION_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine;
struct mt_generation;
struct mt_model;
struct mt_service;
struct mt_settings;

/* The warm-up must have been translated by then. */
#define MT_WARM_UP_TIMEOUT_MS 300000

struct mt_generation_options {
    const struct mt_service *common; /* what all generations share; the rest of it is filled in
                                        here, in a copy */
    uint64_t number;                 /* 1 for the first */
    bool shows_progress;             /* of packing weights, on a terminal */
};

/*
 * Opens settings->model, starts its engine and lets it translate settings->warm_up_text. Takes the
 * content of *settings over and zeroes it, on failure too. MT_INVALID for settings that do not fit
 * the model or its answer to the warm-up, MT_LIMIT over memory_limit, mt_model_open's and
 * mt_engine_create's.
 */
MT_MUST_CHECK enum mt_status mt_generation_create(const struct mt_generation_options *options,
                                                  struct mt_settings *settings,
                                                  struct mt_generation **out, struct mt_error *err);

/* Takes NULL. Ends what the engine still has. */
void mt_generation_destroy(struct mt_generation *generation);

const struct mt_service *mt_generation_service(const struct mt_generation *generation);
uint64_t mt_generation_number(const struct mt_generation *generation);

/* Whether what this generation has decoded so far is sound: MT_BUSY, with a message for clients,
 * from the moment on that its weights are found damaged (mt_model_check). The first to find it so
 * logs it. */
MT_MUST_CHECK enum mt_status mt_generation_check(struct mt_generation *generation,
                                                 struct mt_error *err);

#endif
