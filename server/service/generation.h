/*
 * One generation of the service: settings, and the models that they name. It does not change; other
 * models or other settings are another generation (generations.h), which shares with this one the
 * models that are the same, and the engine that runs them.
 *
 * Thread-safety: create and destroy one thread at a time, the others safe.
 */
#ifndef MT_SERVER_SERVICE_GENERATION_H
#define MT_SERVER_SERVICE_GENERATION_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine;
struct mt_generation;
struct mt_model_host;
struct mt_service;
struct mt_settings;

struct mt_generation_options {
    const struct mt_service *common;    /* what all generations share; the rest of it is filled in
                                           here, in a copy */
    uint64_t number;                    /* 1 for the first */
    const struct mt_generation *former; /* to share with; NULL: there is none */
    bool loads_nothing;  /* another engine, or another settings->model than former's: MT_BUSY */
    bool shows_progress; /* of packing weights, on a terminal */
};

/*
 * Finds the models, and loads settings->model, which has to translate settings->warm_up_text. Takes
 * the content of *settings over and zeroes it, on failure too. MT_INVALID for settings that do not
 * fit the model or its answer to the warm-up, MT_LIMIT over memory_limit, mt_catalog_create's,
 * mt_model_host_create's and mt_model_open's.
 */
MT_MUST_CHECK enum mt_status mt_generation_create(const struct mt_generation_options *options,
                                                  struct mt_settings *settings,
                                                  struct mt_generation **out, struct mt_error *err);

/* Takes NULL. Nobody holds its models any more. */
void mt_generation_destroy(struct mt_generation *generation);

const struct mt_service *mt_generation_service(const struct mt_generation *generation);
uint64_t mt_generation_number(const struct mt_generation *generation);

/* Borrowed. */
struct mt_model_host *mt_generation_host(const struct mt_generation *generation);

/* Whether settings->model is sound: mt_served_model_check. */
MT_MUST_CHECK enum mt_status mt_generation_check(struct mt_generation *generation,
                                                 struct mt_error *err);

/* Looks at the files of all its models that are in memory: mt_served_model_look_after. */
void mt_generation_look_after(struct mt_generation *generation);

#endif
