#include "server/service/document_jobs.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/random.h"
#include "server/service/keys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mt_document_job {
    struct mt_document_job *next, *previous;
    char id[MT_DOCUMENT_ID_BYTES], key[MT_DOCUMENT_KEY_BYTES];
    enum mt_document_job_state state;
    bool is_removed; /* it was removed while it was worked on, so it cannot be found any more */
    size_t n_chars, n_done, n_all;
    int64_t start_ns; /* when the work began */
    int64_t end_ms;   /* when it is forgotten */
    struct mt_text failure, file_name, report;
};

struct job_list {
    struct mt_document_job *first, *last;
};

struct mt_document_jobs {
    pthread_mutex_t mutex;
    struct job_list running, ended; /* the oldest first */
    size_t n_running, n_ended, n_ended_bytes;
};

enum mt_status mt_document_jobs_create(struct mt_document_jobs **out, struct mt_error *err)
{
    struct mt_document_jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return mt_fail_memory(err, sizeof *jobs, "a table of documents");
    pthread_mutex_init(&jobs->mutex, NULL);
    *out = jobs;
    return MT_OK;
}

static void free_job(struct mt_document_job *job)
{
    mt_text_finish(&job->failure);
    mt_text_finish(&job->file_name);
    mt_text_finish(&job->report);
    free(job);
}

static void free_all(const struct job_list *list)
{
    for (struct mt_document_job *job = list->first, *next; job; job = next) {
        next = job->next;
        free_job(job);
    }
}

void mt_document_jobs_destroy(struct mt_document_jobs *jobs)
{
    if (!jobs)
        return;
    free_all(&jobs->running);
    free_all(&jobs->ended);
    pthread_mutex_destroy(&jobs->mutex);
    free(jobs);
}

/* ---- under the mutex ---- */

static void forget(struct mt_document_jobs *jobs, struct mt_document_job *job)
{
    MT_LIST_REMOVE(&jobs->ended, job);
    jobs->n_ended--;
    jobs->n_ended_bytes -= job->report.length;
    free_job(job);
}

/* Forgets jobs that are too old or too many. The newest one stays in any case. */
static void forget_old(struct mt_document_jobs *jobs)
{
    int64_t now_ms = mt_now_ms();
    for (struct mt_document_job *job = jobs->ended.first, *next; job; job = next) {
        next = job->next;
        bool is_too_much = next && (jobs->n_ended > MT_MAX_ENDED_JOBS ||
                                    jobs->n_ended_bytes > MT_MAX_ENDED_JOB_BYTES);
        if (is_too_much || job->end_ms <= now_ms)
            forget(jobs, job);
    }
}

static struct mt_document_job *find_in(const struct job_list *list, const char *id, const char *key)
{
    for (struct mt_document_job *job = list->first; job; job = job->next)
        if (!job->is_removed && strcmp(job->id, id) == 0)
            return mt_secret_equals(job->key, key) ? job : NULL;
    return NULL;
}

static struct mt_document_job *find(struct mt_document_jobs *jobs, const char *id, const char *key)
{
    forget_old(jobs);
    struct mt_document_job *job = find_in(&jobs->running, id, key);
    return job ? job : find_in(&jobs->ended, id, key);
}

static enum mt_status fail_unknown(struct mt_error *err)
{
    return mt_fail(err, MT_NOT_FOUND,
                   "there is no such document: its id or key is wrong, or it was fetched or "
                   "deleted, has expired, or the server was restarted since; send it again");
}

static int64_t seconds_remaining(const struct mt_document_job *job)
{
    if (job->state == MT_DOCUMENT_DONE)
        return 0;
    if (job->state != MT_DOCUMENT_TRANSLATING || job->n_done == 0)
        return -1;
    double passed = (double)(mt_now_ns() - job->start_ns) * 1e-9;
    return (int64_t)(passed * (double)(job->n_all - job->n_done) / (double)job->n_done + 0.5);
}

static double progress(const struct mt_document_job *job)
{
    if (job->state == MT_DOCUMENT_DONE)
        return 1;
    return job->n_all > 0 ? (double)job->n_done / (double)job->n_all : 0;
}

/* ---- from outside ---- */

enum mt_status mt_document_jobs_begin(struct mt_document_jobs *jobs, size_t max_jobs,
                                      size_t n_chars, struct mt_document_job **out,
                                      struct mt_error *err)
{
    struct mt_document_job *job = calloc(1, sizeof *job);
    if (!job)
        return mt_fail_memory(err, sizeof *job, "a document");
    job->n_chars = n_chars;
    enum mt_status status =
        mt_random_hex((MT_DOCUMENT_ID_BYTES - 1) / 2, "a document's id", job->id, err);
    if (!status)
        status = mt_random_hex((MT_DOCUMENT_KEY_BYTES - 1) / 2, "a document's key", job->key, err);
    pthread_mutex_lock(&jobs->mutex);
    if (!status && jobs->n_running >= max_jobs)
        status = mt_fail(err, MT_BUSY,
                         "%zu documents are being translated, as many as may be at a time: "
                         "try again later",
                         jobs->n_running);
    if (!status) {
        MT_LIST_APPEND(&jobs->running, job);
        jobs->n_running++;
        *out = job;
    }
    pthread_mutex_unlock(&jobs->mutex);
    if (status)
        free_job(job);
    return status;
}

const char *mt_document_job_id(const struct mt_document_job *job)
{
    return job->id;
}

const char *mt_document_job_key(const struct mt_document_job *job)
{
    return job->key;
}

bool mt_document_jobs_advance(struct mt_document_jobs *jobs, struct mt_document_job *job,
                              size_t n_done, size_t n_all)
{
    pthread_mutex_lock(&jobs->mutex);
    if (job->state == MT_DOCUMENT_QUEUED)
        job->start_ns = mt_now_ns();
    job->state = MT_DOCUMENT_TRANSLATING;
    job->n_done = n_done;
    job->n_all = n_all;
    bool goes_on = !job->is_removed;
    pthread_mutex_unlock(&jobs->mutex);
    return goes_on;
}

/* Where there is no memory to keep the result, the job counts as failed. */
static void keep(struct mt_document_job *job, const struct mt_document_job_end *end)
{
    mt_text_append_string(&job->report, end->report);
    mt_text_append_string(&job->file_name, end->failure ? "" : end->file_name);
    mt_text_append_string(&job->failure, end->failure ? end->failure : "");
    bool is_kept = !job->report.status && !job->file_name.status && !job->failure.status;
    job->state = end->failure || !is_kept ? MT_DOCUMENT_FAILED : MT_DOCUMENT_DONE;
    if (job->report.status)
        mt_text_finish(&job->report);
}

void mt_document_jobs_end(struct mt_document_jobs *jobs, struct mt_document_job *job,
                          const struct mt_document_job_end *end)
{
    pthread_mutex_lock(&jobs->mutex);
    MT_LIST_REMOVE(&jobs->running, job);
    jobs->n_running--;
    if (job->is_removed) {
        free_job(job);
    } else {
        keep(job, end);
        job->end_ms = mt_now_ms() + end->lifetime_ms;
        MT_LIST_APPEND(&jobs->ended, job);
        jobs->n_ended++;
        jobs->n_ended_bytes += job->report.length;
        forget_old(jobs);
    }
    pthread_mutex_unlock(&jobs->mutex);
}

static void copy(struct mt_text *out, const struct mt_text *text)
{
    mt_text_append(out, text->length > 0 ? text->bytes : "", text->length);
}

enum mt_status mt_document_jobs_find(struct mt_document_jobs *jobs, const char *id, const char *key,
                                     struct mt_document_job_status *out, struct mt_error *err)
{
    *out = (struct mt_document_job_status){0};
    pthread_mutex_lock(&jobs->mutex);
    const struct mt_document_job *job = find(jobs, id, key);
    if (job) {
        out->state = job->state;
        out->n_chars = job->n_chars;
        out->seconds_remaining = seconds_remaining(job);
        out->progress = progress(job);
        copy(&out->failure, &job->failure);
        copy(&out->file_name, &job->file_name);
        copy(&out->report, &job->report);
    }
    pthread_mutex_unlock(&jobs->mutex);
    if (!job)
        return fail_unknown(err);
    enum mt_status status = mt_text_check(&out->report, "a document's report", err);
    if (!status)
        status = mt_text_check(&out->failure, "a document's failure", err);
    return status ? status : mt_text_check(&out->file_name, "a document's name", err);
}

enum mt_status mt_document_jobs_remove(struct mt_document_jobs *jobs, const char *id,
                                       const char *key, struct mt_error *err)
{
    pthread_mutex_lock(&jobs->mutex);
    struct mt_document_job *job = find(jobs, id, key);
    bool is_there = job != NULL;
    if (is_there && job->state >= MT_DOCUMENT_DONE)
        forget(jobs, job);
    else if (is_there)
        job->is_removed = true;
    pthread_mutex_unlock(&jobs->mutex);
    return is_there ? MT_OK : fail_unknown(err);
}

size_t mt_document_jobs_count(struct mt_document_jobs *jobs)
{
    pthread_mutex_lock(&jobs->mutex);
    size_t n = jobs->n_running;
    pthread_mutex_unlock(&jobs->mutex);
    return n;
}
