/*
 * The engine's waiting room: bounded, fair to clients, with a lane for each model.
 *
 *                                                      received, in cost
 *   lane en-de:  client 7:  job [s0 s1 s2 ... s499]                  120
 *                client 9:  job [s0]  job [s0 s1]                     80   <- next
 *   lane en-fr:  client 7:  job [s0 s1]                               40   <- next
 *
 * Each lane has a next one of its own, so that one whose batches are full holds up no other. Next
 * in a lane is always the first sentence of the client that has received least in it: a document of
 * 500 sentences does not hold up another client's single one. Cost is what a sentence asks of a
 * batch (mt_queue_cost). A client that comes back after a pause starts level with those
 * that are being served; it cannot save up (start-time fair queueing: Goyal, Vin and Cheng 1996).
 * And those that come with one sentence again and again, or never again, go before a document only
 * as often as they would if they had stayed. The jobs of one client in a lane share by cost, too,
 * so that its document does not hold up its own single sentence either; but a job that has little
 * time left goes before the others of its client, or a large one among many would share until its
 * deadline had come, and all that was done of it would be lost. Jobs of client 0 are each a
 * client of their own. The bound is one for all lanes, and a client's share of it, too.
 *
 * Who asks for far more than there is room for would find places for single sentences free again
 * and again, and never those for twenty. So after a job was refused the queue is full to those that
 * come until there is room for as many sentences: as many as the largest had that was refused since
 * it was half empty, but at most one place in MT_QUEUE_RESERVED is reserved so. That also saves them being
 * made ready in vain.
 *
 * A job that continues an accepted request (job->n_follow_up) is not refused for what has come
 * meanwhile: it stands beyond the limit, and newcomers wait until there is room again.
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

/* Takes its memory here and for each lane: putting never fails for lack of it. late_ns: with less
 * than that until its deadline a job has little time left; 0: none ever has. max_follow_up: jobs
 * that continue a request which may wait at once, beyond max_sentences; what is over it is treated
 * as a newcomer. 0: all are. */
MT_MUST_CHECK enum mt_status mt_queue_create(size_t max_sentences, size_t max_follow_up,
                                             int64_t late_ns, struct mt_queue **out,
                                             struct mt_error *err);

/* Takes NULL. Lanes that are left go with it; jobs still waiting are dropped, not touched. */
void mt_queue_destroy(struct mt_queue *queue);

/* A lane of the queue, for as many jobs as the queue holds. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_queue_add_lane(struct mt_queue *queue, struct mt_queue_lane **out,
                                               struct mt_error *err);

/* The lane must be empty. Takes NULL. */
void mt_queue_remove_lane(struct mt_queue *queue, struct mt_queue_lane *lane);

/* What a sentence asks of a batch: source tokens times rows. */
uint64_t mt_queue_cost(const struct mt_sentence *sentence);

/* Sentences waiting. */
size_t mt_queue_n_sentences(const struct mt_queue *queue);

#define MT_QUEUE_RESERVED 8

/* Whether a new job is not worth making ready. Put takes it nevertheless, if it fits. */
bool mt_queue_is_full(const struct mt_queue *queue);

/* Borrows the job until its last sentence is taken or it is removed, and uses its next, previous,
 * sooner, later, flow, finish, is_short, is_late and n_taken. MT_BUSY: no room for all its sentences.
 * MT_THROTTLED: its client would have more than job->max_client_sentences waiting; one that has
 * none waiting may put any job, and so may one whose job has no more sentences than
 * job->n_follow_up. */
MT_MUST_CHECK enum mt_status mt_queue_put(struct mt_queue *queue, struct mt_queue_lane *lane,
                                          struct mt_job *job, struct mt_error *err);

/* The sentence whose turn it is in this lane and its job, or NULL. The same one until one is taken
 * or the lane changes. is_short: of short jobs alone, which have no more than so many source
 * tokens altogether, some sentences; that takes time proportional to the lane's clients. */
#define MT_QUEUE_SHORT_TOKENS 64
struct mt_sentence *mt_queue_peek(const struct mt_queue_lane *lane, bool is_short,
                                  struct mt_job **out_job);

/* Takes what peek showed, of the job that it named: its n_taken counts it. */
void mt_queue_take(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job);

/* Removes a job of which at least one sentence is waiting in this lane, and counts these as
 * taken. */
void mt_queue_remove(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job);

/* Looks for jobs that have little time left. Costs a comparison, and little for each that is
 * found. */
void mt_queue_promote_late(struct mt_queue *queue, int64_t now_ns);

/* A job that is waiting in any lane although its deadline has passed, or NULL. Costs a
 * comparison. */
struct mt_job *mt_queue_find_expired(const struct mt_queue *queue, int64_t now_ns);

#endif
