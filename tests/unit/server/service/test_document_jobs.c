#include "server/service/document_jobs.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct mt_document_jobs *jobs;

static void setup(void)
{
    ck_assert_int_eq(mt_document_jobs_create(&jobs, NULL), MT_OK);
}

static void teardown(void)
{
    mt_document_jobs_destroy(jobs);
}

struct handle {
    char id[MT_DOCUMENT_ID_BYTES], key[MT_DOCUMENT_KEY_BYTES];
};

static struct mt_document_job *begin(struct handle *out)
{
    struct mt_document_job *job = NULL;
    ck_assert_int_eq(mt_document_jobs_begin(jobs, MT_MAX_ENDED_JOBS, 12, &job, NULL), MT_OK);
    strcpy(out->id, mt_document_job_id(job));
    strcpy(out->key, mt_document_job_key(job));
    ck_assert_uint_eq(strlen(out->id), 32);
    ck_assert_uint_eq(strlen(out->key), 64);
    return job;
}

static void end(struct mt_document_job *job, const char *failure, const char *report,
                int64_t lifetime_ms)
{
    const struct mt_document_job_end what = {
        .failure = failure, .file_name = "a.txt", .report = report, .lifetime_ms = lifetime_ms};
    mt_document_jobs_end(jobs, job, &what);
}

static void add(struct handle *out, const char *report, int64_t lifetime_ms)
{
    end(begin(out), NULL, report, lifetime_ms);
}

static enum mt_status find(const struct handle *handle, struct mt_document_job_status *out)
{
    return mt_document_jobs_find(jobs, handle->id, handle->key, out, NULL);
}

static void finish(struct mt_document_job_status *status)
{
    mt_text_finish(&status->failure);
    mt_text_finish(&status->file_name);
    mt_text_finish(&status->report);
}

static bool is_there(const struct handle *handle)
{
    struct mt_document_job_status status;
    bool is_found = find(handle, &status) == MT_OK;
    finish(&status);
    return is_found;
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

START_TEST(a_document_is_queued_translated_and_fetched)
{
    struct handle handle;
    struct mt_document_job_status status;
    struct mt_document_job *job = begin(&handle);
    ck_assert_int_eq(find(&handle, &status), MT_OK);
    ck_assert_int_eq(status.state, MT_DOCUMENT_QUEUED);
    ck_assert_uint_eq(status.n_chars, 12);
    ck_assert_int_eq(status.seconds_remaining, -1);
    finish(&status);
    ck_assert(mt_document_jobs_advance(jobs, job, 0, 4));
    ck_assert_int_eq(find(&handle, &status), MT_OK);
    ck_assert_int_eq(status.state, MT_DOCUMENT_TRANSLATING);
    ck_assert_int_eq(status.seconds_remaining, -1); /* nothing is known yet */
    finish(&status);
    pause_ms(600);
    ck_assert(mt_document_jobs_advance(jobs, job, 1, 4));
    ck_assert_int_eq(find(&handle, &status), MT_OK);
    ck_assert_int_ge(status.seconds_remaining, 2); /* 0.6 s for each of three */
    ck_assert(status.progress == 0.25);
    finish(&status);
    end(job, NULL, "\"texts\":4", 60000);
    ck_assert_int_eq(find(&handle, &status), MT_OK);
    ck_assert_int_eq(status.state, MT_DOCUMENT_DONE);
    ck_assert_int_eq(status.seconds_remaining, 0);
    ck_assert(status.progress == 1);
    ck_assert_str_eq(status.file_name.bytes, "a.txt");
    ck_assert_str_eq(status.report.bytes, "\"texts\":4");
    ck_assert_uint_eq(status.failure.length, 0);
    finish(&status);
    ck_assert_int_eq(mt_document_jobs_remove(jobs, handle.id, handle.key, NULL), MT_OK);
    ck_assert_int_eq(mt_document_jobs_remove(jobs, handle.id, handle.key, NULL), MT_NOT_FOUND);
    ck_assert(!is_there(&handle));
}
END_TEST

START_TEST(a_failure_is_told)
{
    struct handle handle;
    struct mt_document_job_status status;
    end(begin(&handle), "the weights are damaged", "", 60000);
    ck_assert_int_eq(find(&handle, &status), MT_OK);
    ck_assert_int_eq(status.state, MT_DOCUMENT_FAILED);
    ck_assert_str_eq(status.failure.bytes, "the weights are damaged");
    ck_assert_uint_eq(status.file_name.length, 0);
    ck_assert_int_eq(status.seconds_remaining, -1);
    finish(&status);
}
END_TEST

START_TEST(who_lacks_the_key_is_told_no_more_than_who_lacks_the_id)
{
    struct handle handle, other;
    struct mt_error err, same;
    struct mt_document_job_status status;
    add(&handle, "", 60000);
    add(&other, "", 60000);
    ck_assert_int_eq(mt_document_jobs_find(jobs, handle.id, other.key, &status, &err),
                     MT_NOT_FOUND);
    ck_assert_int_eq(mt_document_jobs_find(jobs, "0123", other.key, &status, &same), MT_NOT_FOUND);
    ck_assert_str_eq(err.message, same.message);
    ck_assert_int_eq(mt_document_jobs_find(jobs, handle.id, "", &status, NULL), MT_NOT_FOUND);
    handle.key[63] = handle.key[63] == '0' ? '1' : '0';
    ck_assert_int_eq(mt_document_jobs_remove(jobs, handle.id, handle.key, NULL), MT_NOT_FOUND);
    ck_assert(is_there(&other));
}
END_TEST

START_TEST(work_stops_when_its_document_is_removed)
{
    struct handle handle;
    struct mt_document_job *job = begin(&handle);
    ck_assert(mt_document_jobs_advance(jobs, job, 0, 1));
    ck_assert_int_eq(mt_document_jobs_remove(jobs, handle.id, handle.key, NULL), MT_OK);
    ck_assert(!is_there(&handle));
    ck_assert(!mt_document_jobs_advance(jobs, job, 0, 1));
    end(job, NULL, "", 60000);
    ck_assert(!is_there(&handle));
}
END_TEST

START_TEST(there_are_only_so_many_at_a_time)
{
    struct mt_document_job *first = NULL, *second = NULL, *third = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_document_jobs_begin(jobs, 2, 0, &first, NULL), MT_OK);
    ck_assert_int_eq(mt_document_jobs_begin(jobs, 2, 0, &second, NULL), MT_OK);
    ck_assert_int_eq(mt_document_jobs_begin(jobs, 2, 0, &third, &err), MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "2 documents are being translated"));
    end(first, NULL, "", 60000);
    ck_assert_int_eq(mt_document_jobs_begin(jobs, 2, 0, &third, NULL), MT_OK);
    end(second, NULL, "", 60000);
    end(third, NULL, "", 60000);
}
END_TEST

START_TEST(a_document_ends_when_its_time_is_over)
{
    struct handle handle;
    add(&handle, "", 0);
    ck_assert(!is_there(&handle));
}
END_TEST

START_TEST(the_oldest_go_first)
{
    struct handle first, second, last;
    add(&first, "", 60000);
    add(&second, "", 60000);
    for (int i = 0; i < MT_MAX_ENDED_JOBS - 1; i++)
        add(&last, "", 60000);
    ck_assert(!is_there(&first));
    ck_assert(is_there(&second));
    ck_assert(is_there(&last));
}
END_TEST

START_TEST(long_reports_have_a_limit_but_the_newest_stays)
{
    struct handle first, last;
    char *report = malloc(MT_MAX_ENDED_JOB_BYTES + 2);
    ck_assert_ptr_nonnull(report);
    memset(report, ' ', MT_MAX_ENDED_JOB_BYTES + 1);
    report[MT_MAX_ENDED_JOB_BYTES + 1] = '\0';
    add(&first, "", 60000);
    add(&last, report, 60000);
    ck_assert(!is_there(&first));
    ck_assert(is_there(&last));
    free(report);
}
END_TEST

Suite *suite_document_jobs(void)
{
    Suite *suite = suite_create("document_jobs");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_document_is_queued_translated_and_fetched);
    tcase_add_test(all, a_failure_is_told);
    tcase_add_test(all, who_lacks_the_key_is_told_no_more_than_who_lacks_the_id);
    tcase_add_test(all, work_stops_when_its_document_is_removed);
    tcase_add_test(all, there_are_only_so_many_at_a_time);
    tcase_add_test(all, a_document_ends_when_its_time_is_over);
    tcase_add_test(all, the_oldest_go_first);
    tcase_add_test(all, long_reports_have_a_limit_but_the_newest_stays);
    suite_add_tcase(suite, all);
    return suite;
}
