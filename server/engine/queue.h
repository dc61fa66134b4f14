/*
 * The engine's queue: bounded, fair to clients, with a lane for each model.
 *
 *                                                      received, in cost
 *   lane en-de:  client 7:  job [s0 s1 s2 ... s499]                  120
 *                client 9:  job [s0]  job [s0 s1]                     80   <- next
 *   lane en-fr:  client 7:  job [s0 s1]                               40   <- next
 *
 * Each lane has its own next sentence, so that a lane whose batches are full does not hold up
 * another. It is the first sentence of the client that has received least in the lane: a document
 * of 500 sentences does not hold up another client's single one. Cost is how much of a batch a
 * sentence uses (mt_queue_cost). A client that comes back after a pause starts level with those
 * that are being served; it cannot save up (start-time fair queueing: Goyal, Vin and Cheng 1996).
 * Clients that come with one sentence again and again, or only once, go before a document only as
 * often as they would if they had stayed.
 *
 * The jobs of one client in a lane share by cost, too, so that its document does not hold up its
 * own single sentence. But a job that has little time left goes before the others of its client:
 * otherwise a large job among many would still share when its deadline came, and all that was done
 * of it would be lost. Each job of client 0 is a client of its own. The limit of the queue is one
 * for all lanes, and so is a client's share of it.
 *
 * Under overload, room for single sentences becomes free again and again, and room for twenty never
 * would. So after a job was refused the queue counts as full for new ones until there is room for
 * as many sentences as the largest job had that was refused since the queue was half empty; but at
 * most one in MT_QUEUE_RESERVED of the sentences is reserved in this way. This also saves the work
 * of preparing jobs in vain.
 *
 * A further job of an accepted request (job->n_follow_up) is not refused because of what has come
 * meanwhile: it goes beyond the limit, and new jobs wait until there is room again.
 *
 * Thread-safety: one thread at a time (the engine's mutex).
 */
#ifndef MT_SERVER_ENGINE_QUEUE_H
#define MT_SERVER_ENGINE_QUEUE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_job;
struct mt_queue;
struct mt_queue_lane;
struct mt_sentence;

/* Allocates memory here and for each lane, so that putting never fails for lack of it. late_ns: a
 * job with less time until its deadline has little time left; 0: none has. max_follow_up: how many
 * further jobs of accepted requests may wait beyond max_sentences; more are treated like new
 * ones. */
MT_MUST_CHECK enum mt_status mt_queue_create(size_t max_sentences, size_t max_follow_up,
                                             int64_t late_ns, struct mt_queue **out,
                                             struct mt_error *err);

/* Frees lanes that are left, too; jobs still waiting are dropped, not touched. queue may be
 * NULL. */
void mt_queue_destroy(struct mt_queue *queue);

/* Adds a lane, for as many jobs as the queue holds. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_queue_add_lane(struct mt_queue *queue, struct mt_queue_lane **out,
                                               struct mt_error *err);

/* The lane must be empty, or NULL. */
void mt_queue_remove_lane(struct mt_queue *queue, struct mt_queue_lane *lane);

/* How much of a batch a sentence uses: source tokens times rows. */
uint64_t mt_queue_cost(const struct mt_sentence *sentence);

/* How many sentences wait. */
size_t mt_queue_n_sentences(const struct mt_queue *queue);

#define MT_QUEUE_RESERVED 8

/* Whether new jobs need not be prepared. mt_queue_put takes one nevertheless, if it fits. */
bool mt_queue_is_full(const struct mt_queue *queue);

/* Borrows the job until its last sentence is taken or it is removed, and uses its next, previous,
 * sooner, later, flow, finish, is_short, is_late and n_taken. MT_BUSY: no room for all its
 * sentences. MT_THROTTLED: its client would have more than job->max_client_sentences waiting. A
 * client that has none waiting may put any job, and a job with at most job->n_follow_up sentences
 * is always within the share. */
MT_MUST_CHECK enum mt_status mt_queue_put(struct mt_queue *queue, struct mt_queue_lane *lane,
                                          struct mt_job *job, struct mt_error *err);

/* Returns the next sentence of this lane and its job, or NULL; always the same one until one is
 * taken or the lane changes. is_short: only sentences of short jobs, whose sentences together have
 * at most MT_QUEUE_SHORT_TOKENS source tokens; this takes time in proportion to the lane's
 * clients. */
#define MT_QUEUE_SHORT_TOKENS 64
struct mt_sentence *mt_queue_peek(const struct mt_queue_lane *lane, bool is_short,
                                  struct mt_job **out_job);

/* Takes the sentence that peek returned with this job, and counts it in n_taken. */
void mt_queue_take(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job);

/* Removes a job of which at least one sentence waits in this lane, and counts these sentences as
 * taken. */
void mt_queue_remove(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job);

/* Looks for jobs that have little time left. This costs a comparison, and little for each job
 * found. */
void mt_queue_promote_late(struct mt_queue *queue, int64_t now_ns);

/* Returns a job that waits in any lane although its deadline has passed, or NULL. This costs a
 * comparison. */
struct mt_job *mt_queue_find_expired(const struct mt_queue *queue, int64_t now_ns);

#endif
