/*
 * How much memory a daemon may come to need: the sum, over everything that the settings limit, of
 * its limit times its size. What is measured on the way of a request stays below it; the kernel's
 * own memory and pages of mapped weights, which it can drop at any time, are not in it.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_SERVICE_MEMORY_PLAN_H
#define MT_SERVER_SERVICE_MEMORY_PLAN_H

#include "base/text.h"

#include <stdint.h>

struct mt_loaded_model;
struct mt_longest_sentence;
struct mt_settings;

/* Largest attention requests whose traces may be in memory together. */
#define MT_ATTENTION_REQUESTS_AT_ONCE 2
/* settings->model of the current generation, and the former one's until its requests are done. */
#define MT_PINNED_AT_ONCE 2

enum mt_memory_part {
    MT_MEMORY_WEIGHTS, /* settings->model's: our own copies; nothing where it is mapped */
    MT_MEMORY_CACHES,  /* keys, values and activations of all workers */
    MT_MEMORY_MODELS,  /* of models_directory: models_memory, which covers both, and mappings */
    /* max_queued_sentences of the longest, with the widest beam. Not counted: the sentences that
     * requests through several models have waiting beyond that, for their next one, and those of
     * the one request that is being prepared (mt_request_admit). */
    MT_MEMORY_QUEUE,
    MT_MEMORY_CONNECTIONS, /* libmicrohttpd's */
    MT_MEMORY_BODIES,      /* bodies, the texts in them, replies */
    MT_MEMORY_DOCUMENTS,   /* files that are being translated, where they are longer than bodies */
    MT_MEMORY_TRACES,
    MT_MEMORY_FILES,   /* that wait to be fetched */
    MT_MEMORY_RESULTS, /* that are kept for the same sentences */
    MT_MEMORY_DATA, /* glossaries that clients left here, ready to be searched, and the database */
    MT_MEMORY_PROGRAM, /* everything that does not grow */
    MT_N_MEMORY_PARTS
};

struct mt_memory_plan {
    uint64_t bytes[MT_N_MEMORY_PARTS];
    uint64_t total;        /* UINT64_MAX where it does not fit */
    uint64_t mapped_bytes; /* of weights; beside the total */
};

/* pinned: settings->model, in memory; NULL: there is none. others: of the other models. Where
 * models_memory is 0, memory_limit leaves the rest to the models of models_directory; with neither,
 * their part is 0, and they have no limit. MT_MEMORY, MT_LIMIT: no sentence of the longest kind can
 * be made. */
MT_MUST_CHECK enum mt_status mt_memory_plan_make(const struct mt_settings *settings,
                                                 const struct mt_loaded_model *pinned,
                                                 const struct mt_longest_sentence *others,
                                                 struct mt_memory_plan *out, struct mt_error *err);

/* "1234 MiB (weights 10, ...)" */
void mt_memory_plan_describe(const struct mt_memory_plan *plan, struct mt_text *out);

/* MT_INVALID over limit_bytes (0: none), with the parts. */
MT_MUST_CHECK enum mt_status mt_memory_plan_check(const struct mt_memory_plan *plan,
                                                  uint64_t limit_bytes, struct mt_error *err);

#endif
