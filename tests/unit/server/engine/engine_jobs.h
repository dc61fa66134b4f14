/*
 * Jobs of pretended sentences (fake_batch.h) for tests of the engine: made, submitted, waited for,
 * and looked at afterwards. Each job counts the calls of its on_done.
 */
#ifndef MT_TESTS_ENGINE_JOBS_H
#define MT_TESTS_ENGINE_JOBS_H

#include "server/engine/engine.h"
#include "tests/unit/server/engine/fake_batch.h"

#include <pthread.h>

#define MAX_JOBS 1024
#define TEST_IDLE_MS 200
#define LONG 1000000000 /* steps: does not end by itself */

struct test_job {
    struct mt_job job;
    struct mt_sentence **sentences;
    int n_calls; /* of on_done */
    enum mt_status status;
    size_t n_done_before; /* jobs that were done before this one */
};
extern struct test_job test_jobs[MAX_JOBS];
extern struct mt_engine *test_engine;

/* Guards what on_done writes. */
extern pthread_mutex_t test_mutex;

int64_t test_now_ns(void);

/* Makes test_engine, with one thread a worker. */
void test_start(size_t n_workers, size_t max_rows, size_t max_queued);

/* Likewise of one worker of two threads, and one that is spare. */
void test_start_with_spare(size_t max_rows, size_t max_queued);

/* Opens the gate, and frees the engine and all jobs. */
void test_finish(void);

/* A lane of test_engine for this model. */
struct mt_lane *test_attach(const struct mt_model *model);

void test_on_done(struct mt_job *job, enum mt_status status);

/* A job of sentences that are alike, the next of test_jobs. One thread at a time. */
struct test_job *test_make(struct mt_lane *lane, uint64_t client, size_t n_sentences, size_t n_rows,
                           size_t n_steps);
struct test_job *test_submit(struct mt_lane *lane, uint64_t client, size_t n_sentences,
                             size_t n_rows, size_t n_steps);

/* Waits until n jobs are done altogether. The test case's time limit is the check. */
void test_wait(size_t n);
size_t test_n_done(void);

/* on_done has been called once, with what is returned. */
enum mt_status test_status(const struct test_job *test);
void test_expect_decoded(const struct test_job *test);

/* Where a sentence came in the order of admission. */
size_t test_turn(const struct mt_sentence *sentence);

#endif
