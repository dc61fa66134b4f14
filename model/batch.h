/*
 * A worker's batch: the sentences in flight and all the memory that changes while decoding.
 *
 *   admit -> [ encoder pass over all newcomers, unpadded ]
 *         -> [ decoder step over all live rows ] -> search -> ... -> take
 *
 * Sentences join and leave between steps; each keeps its own options, so mixed requests share a
 * step. After creation nothing here allocates or fails for lack of memory.
 *
 * Thread-safety: one thread at a time; the team inside shares each pass (model/partition.h).
 */
#ifndef MT_MODEL_BATCH_H
#define MT_MODEL_BATCH_H

#include "base/status.h"

#include <stdbool.h>

struct mt_batch;
struct mt_model;
struct mt_scratch;
struct mt_sentence;
struct mt_team;

/* {0} means the defaults. */
struct mt_batch_options {
    size_t max_rows;          /* rows of a decoder step, and sentences in flight; default 64 */
    size_t max_source_tokens; /* longest source; default the model's max_positions */
    size_t max_target_tokens; /* longest target; default the model's max_positions */
    size_t encode_tokens;     /* source tokens of one encoder pass; default 512, at least
                                 max_source_tokens */
    struct mt_team *team;     /* borrowed, must outlive the batch; NULL: the calling thread alone */
    /* For batches that one thread steps in turn, so that they share memory for activations: the
     * batch holds *scratch too, or replaces it by a larger one (or NULL by the first one). In each
     * case the caller has to let go of *scratch, as of the one before. NULL: the batch has its own.
     * Only create uses it. */
    struct mt_scratch **scratch;
};

/* model and options->team are borrowed. The key/value cache is address space for the largest
 * sentences. The memory that a sentence needs becomes usable when it is admitted, and the kernel
 * commits it as it is touched. There is always memory for one sentence. */
MT_MUST_CHECK enum mt_status mt_batch_create(const struct mt_model *model,
                                             const struct mt_batch_options *options,
                                             struct mt_batch **out, struct mt_error *err);

/* NULL is allowed. Sentences in flight are dropped, not destroyed. */
void mt_batch_destroy(struct mt_batch *batch);

/* Whether the sentence could ever be admitted: MT_LIMIT names what is too large. It reads only what
 * create has set, so any thread may call it while another steps. */
MT_MUST_CHECK enum mt_status mt_batch_check(const struct mt_batch *batch,
                                            const struct mt_sentence *sentence,
                                            struct mt_error *err);

/* Takes the sentence in for the next step, or returns false if there is no room now (then the
 * sentence remains the caller's). A sentence of another model, or one that mt_batch_check refuses,
 * must not be passed. */
bool mt_batch_admit(struct mt_batch *batch, struct mt_sentence *sentence);

/* Runs one encoder pass over newcomers, if there are any, and one decoder step over all live rows.
 * Does nothing if the batch is empty. */
void mt_batch_step(struct mt_batch *batch);

/* Steps only the sentences for which mt_sentence_set_short was called, which takes less time if
 * they are few. This changes no result, only the order in which sentences end. */
void mt_batch_step_short(struct mt_batch *batch);

/* Returns a sentence that has ended, which belongs to the caller again, or NULL. */
struct mt_sentence *mt_batch_take_finished(struct mt_batch *batch);

/* Drops a sentence in flight at once: its rows are free for the next step, and it belongs to the
 * caller again. */
void mt_batch_cancel(struct mt_batch *batch, struct mt_sentence *sentence);

/* Numbers of those in flight, including finished ones that were not taken yet. */
size_t mt_batch_n_sentences(const struct mt_batch *batch);
size_t mt_batch_n_rows(const struct mt_batch *batch);

/* Returns the number of rows for each thread from which on threads with batches of their own are
 * about as fast as a team that shares one batch. It depends only on the model's shape, and is at
 * least 1 (mt_partition_rows_apart). */
size_t mt_batch_rows_apart(const struct mt_batch *batch);

/* Counted since creation. */
struct mt_batch_stats {
    size_t n_steps, n_step_rows;              /* decoder steps, and the sum of their rows */
    size_t n_encoder_passes, n_source_tokens; /* encoder passes, and the sum of their tokens */
    double encode_seconds, step_seconds;
};
struct mt_batch_stats mt_batch_stats(const struct mt_batch *batch);

/* Bytes that are reserved (not necessarily resident), including activations that are shared. */
size_t mt_batch_reserved_bytes(const struct mt_batch *batch);

/* An upper estimate of how much of the key/value cache, which is nearly all that is reserved, has
 * been written since the last trim. */
size_t mt_batch_resident_bytes(const struct mt_batch *batch);

/* Bytes of the key/value cache if every row has a sentence of n_tokens. This includes the states of
 * a decoder with a recurrent cell, and the columns of the output layer for a shortlist's
 * candidates. */
size_t mt_batch_cache_bytes(const struct mt_batch *batch, size_t n_tokens);

/* Returns the memory of the key/value cache and of the activations to the kernel, which commits it
 * again as it is touched. The batch has to be empty; other batches that share its scratch must be
 * between two steps. */
void mt_batch_trim(struct mt_batch *batch);

#endif
