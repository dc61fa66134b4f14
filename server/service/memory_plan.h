/*
 * The most memory that a daemon may need: the sum, over everything that the settings limit, of its
 * limit times its size. What requests were measured to use stays below it. It does not include the
 * kernel's memory, and pages of mapped weights, which the kernel can drop at any time.
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
/* Pinned models: those of the current snapshot, and of a former one until its requests are
 * done. */
#define MT_PINNED_AT_ONCE 2

enum mt_memory_part {
    MT_MEMORY_WEIGHTS, /* copies of settings->model's weights; 0 if they are mapped */
    MT_MEMORY_CACHES,  /* keys, values and activations of all workers */
    /* models of models_directory: models_memory, which covers weights and caches, and mappings */
    MT_MEMORY_MODELS,
    /* max_queued_sentences of the longest, with the widest beam. Two kinds are not counted:
     * sentences that requests through several models have for their next model, and those of the
     * one request that is being prepared (mt_request_admit). */
    MT_MEMORY_QUEUE,
    MT_MEMORY_CONNECTIONS, /* of libmicrohttpd */
    MT_MEMORY_BODIES,      /* bodies, the texts in them, replies */
    MT_MEMORY_DOCUMENTS,   /* files that are being translated, if they are longer than bodies */
    MT_MEMORY_TRACES,
    MT_MEMORY_FILES,   /* files that wait to be downloaded */
    MT_MEMORY_RESULTS, /* cached translations of sentences */
    MT_MEMORY_DATA,    /* prepared glossaries of clients, and the database */
    MT_MEMORY_PROGRAM, /* everything of constant size */
    MT_N_MEMORY_PARTS
};

struct mt_memory_plan {
    uint64_t bytes[MT_N_MEMORY_PARTS];
    uint64_t total;        /* UINT64_MAX where it overflows */
    uint64_t mapped_bytes; /* of mapped weights; not in the total */
};

/* pinned: settings->model, in memory; NULL: there is none. others: sizes of the other models. If
 * models_memory is 0, then the models of models_directory get what memory_limit leaves; if there is
 * no limit either, their part is 0, and they are not limited. MT_MEMORY; MT_LIMIT: not even one
 * sentence of the longest kind fits. */
MT_MUST_CHECK enum mt_status mt_memory_plan_make(const struct mt_settings *settings,
                                                 const struct mt_loaded_model *pinned,
                                                 const struct mt_longest_sentence *others,
                                                 struct mt_memory_plan *out, struct mt_error *err);

/* Appends "1234 MiB (weights 10, ...)". */
void mt_memory_plan_describe(const struct mt_memory_plan *plan, struct mt_text *out);

/* MT_INVALID over limit_bytes (0: no limit), with the parts. */
MT_MUST_CHECK enum mt_status mt_memory_plan_check(const struct mt_memory_plan *plan,
                                                  uint64_t limit_bytes, struct mt_error *err);

#endif
