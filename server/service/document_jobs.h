/*
 * Documents that are translated while no client waits for them: what clients are told of each until
 * they have fetched it (document_api.h).
 *
 *   begin -> advance, again and again -> end -> find, as often as one likes -> remove
 *                '----------- remove: the work has to stop ------------'
 *
 * A job is found by its id, and its key shows that the client may have it. Neither can be guessed
 * (128 and 256 random bits), and whoever has both may ask for the job, fetch it and end it. A job
 * that has ended is forgotten when it is removed, when its lifetime is over, or when too many have
 * ended after it; all are forgotten when the server ends.
 *
 * Thread-safety: safe, except create and destroy.
 */
#ifndef MT_SERVER_SERVICE_DOCUMENT_JOBS_H
#define MT_SERVER_SERVICE_DOCUMENT_JOBS_H

#include "base/text.h"

struct mt_document_job;
struct mt_document_jobs;

/* 32 and 64 hexadecimal digits. */
#define MT_DOCUMENT_ID_BYTES 33
#define MT_DOCUMENT_KEY_BYTES 65

/* Most ended jobs that are kept, and most bytes of their reports; the oldest are forgotten
 * first. */
#define MT_MAX_ENDED_JOBS 1024
#define MT_MAX_ENDED_JOB_BYTES ((size_t)4 << 20)

enum mt_document_job_state {
    MT_DOCUMENT_QUEUED,
    MT_DOCUMENT_TRANSLATING,
    MT_DOCUMENT_DONE,
    MT_DOCUMENT_FAILED
};

/* MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_jobs_create(struct mt_document_jobs **out,
                                                     struct mt_error *err);
/* jobs may be NULL. No job may be between begin and end. */
void mt_document_jobs_destroy(struct mt_document_jobs *jobs);

/* Begins a job for a document of n_chars characters. The caller has *out until it ends it. MT_BUSY:
 * max_jobs have not ended yet; MT_IO: no random numbers; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_jobs_begin(struct mt_document_jobs *jobs, size_t max_jobs,
                                                    size_t n_chars, struct mt_document_job **out,
                                                    struct mt_error *err);
const char *mt_document_job_id(const struct mt_document_job *job);
const char *mt_document_job_key(const struct mt_document_job *job);

/* Says that n_done of n_all are done. Returns false where the work has to stop, because the job was
 * removed. */
bool mt_document_jobs_advance(struct mt_document_jobs *jobs, struct mt_document_job *job,
                              size_t n_done, size_t n_all);

struct mt_document_job_end {
    const char *failure; /* NULL: it succeeded, and file_name is the result's name */
    const char *file_name;
    const char *report; /* members of a JSON object, without its braces; "" */
    int64_t lifetime_ms;
};
/* Ends the job, which the caller must not use any more. */
void mt_document_jobs_end(struct mt_document_jobs *jobs, struct mt_document_job *job,
                          const struct mt_document_job_end *end);

/* The caller finishes the texts. */
struct mt_document_job_status {
    enum mt_document_job_state state;
    size_t n_chars;
    int64_t seconds_remaining; /* -1: not known */
    double progress;           /* from 0 to 1 */
    struct mt_text failure, file_name, report;
};

/* MT_NOT_FOUND: there is no job with this id and key; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_jobs_find(struct mt_document_jobs *jobs, const char *id,
                                                   const char *key,
                                                   struct mt_document_job_status *out,
                                                   struct mt_error *err);

/* Forgets the job; the work on one that has not ended stops soon. MT_NOT_FOUND. */
MT_MUST_CHECK enum mt_status mt_document_jobs_remove(struct mt_document_jobs *jobs, const char *id,
                                                     const char *key, struct mt_error *err);

/* How many jobs have not ended. */
size_t mt_document_jobs_count(struct mt_document_jobs *jobs);

#endif
