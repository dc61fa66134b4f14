/*
 * A worker's batch: the sentences in flight and all the memory that changes while decoding.
 *
 *   admit -> [ encoder pass over all newcomers, unpadded ]
 *         -> [ decoder step over all live rows ] -> search -> ... -> take
 *
 * Sentences join and leave between steps; each keeps its own options, so mixed requests share a
 * step. After creation nothing here allocates or fails for lack of memory.
 *
 * Thread-safety: one thread at a time; the team inside shares each pass (model/cut.h).
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
    /* Where batches that one thread steps in turn share their activations' memory: *scratch is held
     * by the batch too, or replaced by a larger one (or NULL by the first), of which the caller
     * lets go as of the one before. NULL: the batch has its own. Used by create alone. */
    struct mt_scratch **scratch;
};

/* model and options->team are borrowed. The key/value cache is address space for the
 * largest; what a sentence needs of it becomes memory when it is admitted, and is committed by the
 * kernel as it is touched. For one sentence there is always some. */
MT_MUST_CHECK enum mt_status mt_batch_create(const struct mt_model *model,
                                             const struct mt_batch_options *options,
                                             struct mt_batch **out, struct mt_error *err);

/* Takes NULL. Sentences in flight are dropped, not destroyed. */
void mt_batch_destroy(struct mt_batch *batch);

/* Whether the sentence would ever fit: MT_LIMIT names what is too large. Looks only at what create
 * fixed: any thread may ask while another steps. */
MT_MUST_CHECK enum mt_status mt_batch_check(const struct mt_batch *batch,
                                            const struct mt_sentence *sentence,
                                            struct mt_error *err);

/* Takes the sentence in for the next step, or returns false where there is no room now (then the
 * sentence remains the caller's). A sentence of another model, or one that mt_batch_check refuses,
 * must not be offered. */
bool mt_batch_admit(struct mt_batch *batch, struct mt_sentence *sentence);

/* One encoder pass over newcomers, if there are any, and one decoder step over all live rows. Does
 * nothing when empty. */
void mt_batch_step(struct mt_batch *batch);

/* Steps only the sentences that mt_sentence_set_short was called for, which takes less time where
 * they are few. No result changes by it; some only come earlier and others later. */
void mt_batch_step_short(struct mt_batch *batch);

/* A sentence that has ended, or NULL. It belongs to the caller again. */
struct mt_sentence *mt_batch_take_finished(struct mt_batch *batch);

/* Drops a sentence in flight at once: its rows are free for the next step, and it is the caller's
 * again. */
void mt_batch_cancel(struct mt_batch *batch, struct mt_sentence *sentence);

/* In flight now, finished but not yet taken ones included. */
size_t mt_batch_n_sentences(const struct mt_batch *batch);
size_t mt_batch_n_rows(const struct mt_batch *batch);

/* From so many rows for each thread on, threads with batches of their own are about as fast as a
 * team that shares one batch. It depends on the model's shape alone, and is at least 1
 * (mt_cut_rows_apart). */
size_t mt_batch_rows_apart(const struct mt_batch *batch);

/* Since creation. */
struct mt_batch_stats {
    size_t n_steps, n_step_rows;              /* decoder steps, and the sum of their rows */
    size_t n_encoder_passes, n_source_tokens; /* encoder passes, and the sum of their tokens */
    double encode_seconds, step_seconds;
};
struct mt_batch_stats mt_batch_stats(const struct mt_batch *batch);

/* Bytes reserved (not necessarily resident); activations count even where they are shared. */
size_t mt_batch_reserved_bytes(const struct mt_batch *batch);

/* How much of the key/value cache, nearly all that is reserved, has been written since the last
 * trim: an upper estimate. */
size_t mt_batch_resident_bytes(const struct mt_batch *batch);

/* What the key/value cache takes for as many sentences of n_tokens as there are rows; a decoder with
 * a recurrent cell has its states there; and what a shortlist's candidates need of the output layer. */
size_t mt_batch_cache_bytes(const struct mt_batch *batch, size_t n_tokens);

/* Gives the memory of the key/value cache and of the activations back to the kernel, which commits
 * it anew as it is touched. The batch must be empty; others that share its scratch, between two
 * steps. */
void mt_batch_trim(struct mt_batch *batch);

#endif
