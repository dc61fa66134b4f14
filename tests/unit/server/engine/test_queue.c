#include "server/engine/engine.h"
#include "server/engine/queue.h"
#include "tests/unit/server/engine/fake_batch.h"

#include <check.h>
#include <stdlib.h>

#define MAX_JOBS 64
#define MAX_SENTENCES 512
#define LATE_NS 500

/* What a test has made, so that the end frees it. */
static struct mt_queue *queue;
static struct mt_queue_lane *lane;
static struct mt_job jobs[MAX_JOBS];
static struct mt_sentence *sentences[MAX_JOBS][MAX_SENTENCES];
static size_t n_jobs;

static void create_queue(void)
{
    ck_assert_int_eq(mt_queue_create(1000, 0, LATE_NS, &queue, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(queue, &lane, NULL), MT_OK);
    n_jobs = 0;
}

static void destroy_queue(void)
{
    mt_queue_destroy(queue);
    for (size_t i = 0; i < n_jobs; i++)
        for (size_t k = 0; k < jobs[i].n_sentences; k++)
            mt_sentence_destroy(sentences[i][k]);
}

static struct mt_job *make_job(uint64_t client, size_t n_sentences, size_t cost)
{
    struct mt_job *job = &jobs[n_jobs];
    for (size_t i = 0; i < n_sentences; i++)
        sentences[n_jobs][i] = fake_sentence(cost, 1, 1);
    *job = (struct mt_job){
        .client = client, .sentences = sentences[n_jobs], .n_sentences = n_sentences};
    n_jobs++;
    return job;
}

static struct mt_job *put(uint64_t client, size_t n_sentences, size_t cost)
{
    struct mt_job *job = make_job(client, n_sentences, cost);
    ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
    return job;
}

/* The job of the next sentence, which is taken; NULL at the end. */
static struct mt_job *take(void)
{
    struct mt_job *job;
    struct mt_sentence *sentence = mt_queue_peek(lane, false, &job);
    if (!sentence)
        return NULL;
    ck_assert_ptr_eq(sentence, job->sentences[job->n_taken]);
    size_t n = mt_queue_n_sentences(queue), n_taken = job->n_taken;
    mt_queue_take(queue, lane, job);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), n - 1);
    ck_assert_uint_eq(job->n_taken, n_taken + 1);
    return job;
}

START_TEST(serves_equal_sentences_of_one_client_first_come_first_served)
{
    struct mt_job *a = put(7, 1, 10), *b = put(7, 1, 10), *c = put(7, 1, 10);
    struct mt_job *expected[] = {a, b, c, NULL};
    for (size_t i = 0; i < 4; i++)
        ck_assert_ptr_eq(take(), expected[i]);
}
END_TEST

START_TEST(serves_jobs_of_one_client_in_turn)
{
    struct mt_job *a = put(7, 4, 10), *b = put(7, 2, 10), *c = put(7, 3, 10);
    struct mt_job *expected[] = {a, b, c, a, b, c, a, c, a, NULL};
    for (size_t i = 0; i < 10; i++)
        ck_assert_ptr_eq(take(), expected[i]);
}
END_TEST

START_TEST(shares_by_cost_between_jobs_of_one_client)
{
    struct mt_job *wide = put(7, 20, 30), *narrow = put(7, 20, 10);
    for (size_t i = 0; i < 16; i++)
        ck_assert_ptr_nonnull(take());
    ck_assert_uint_eq(wide->n_taken, 4);
    ck_assert_uint_eq(narrow->n_taken, 12);
}
END_TEST

START_TEST(serves_clients_in_turn)
{
    struct mt_job *a = put(1, 4, 10), *b = put(2, 2, 10), *c = put(3, 3, 10);
    struct mt_job *expected[] = {a, b, c, a, b, c, a, c, a, NULL};
    for (size_t i = 0; i < 10; i++)
        ck_assert_ptr_eq(take(), expected[i]);
}
END_TEST

START_TEST(a_document_does_not_hold_up_a_single_sentence)
{
    struct mt_job *document = put(1, 500, 10);
    for (size_t i = 0; i < 100; i++)
        ck_assert_ptr_eq(take(), document);
    struct mt_job *single = put(1 + (uint64_t)_i, 1, 10); /* its own, or another client's */
    ck_assert_ptr_eq(take(), single);
}
END_TEST

/* n others are always there with a sentence each, who leave with it and come again; or n requests
 * of the document's own client do. */
START_TEST(who_comes_again_and_again_does_not_hold_up_a_document)
{
    enum { N_DOCUMENT = 20, N_TURNS = 25 };
    size_t n_others = 1 + (size_t)_i / 2 * 7;
    bool is_own = _i % 2;
    uint64_t client = is_own ? 1 : 2;
    struct mt_job *document = put(1, N_DOCUMENT, 10);
    for (size_t i = 0; i < n_others; i++)
        put(is_own ? client : client++, 1, 10);
    for (size_t i = 0; i < N_TURNS * (n_others + 1) && document->n_taken < N_DOCUMENT; i++) {
        struct mt_job *job = take();
        if (job == document)
            continue;
        /* the same again, or somebody new */
        if (!is_own)
            job->client = client++ % 2 ? job->client : client;
        job->n_taken = 0;
        ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
    }
    ck_assert_uint_eq(document->n_taken, N_DOCUMENT);
}
END_TEST

/* The start of newcomers has moved on with a document that is taken back then: who came meanwhile
 * does not stand behind all who come later. */
START_TEST(who_came_behind_a_document_that_is_taken_back_is_served)
{
    struct mt_job *document = put(1, 2, 1000), *job = put(2, 1, 1000);
    put(3, 1, 10);
    ck_assert_ptr_eq(take(), document);
    ck_assert_ptr_eq(take(), job);
    const struct mt_job *other = put(4, 1, 10);
    mt_queue_remove(queue, lane, document);
    for (uint64_t client = 5; client < 500 && other->n_taken == 0; client++) {
        job->client = client; /* somebody new */
        job->n_taken = 0;
        ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
        job = take();
    }
    ck_assert_uint_eq(other->n_taken, 1);
}
END_TEST

/* Twice as long sentences come half as often. */
START_TEST(shares_by_cost)
{
    struct mt_job *heavy = put(1, 200, 20), *light = put(2, 400, 10);
    size_t n_heavy = 0;
    for (size_t i = 0; i < 300; i++)
        n_heavy += take() == heavy;
    ck_assert_uint_ge(n_heavy, 99);
    ck_assert_uint_le(n_heavy, 101);
    ck_assert_uint_eq(light->n_taken, 300 - n_heavy);
}
END_TEST

/* Being away earns nothing: afterwards the turns are equal again. */
START_TEST(a_client_that_pauses_saves_nothing_up)
{
    struct mt_job *steady = put(1, 400, 10);
    put(2, 1, 10);
    for (size_t i = 0; i < 200; i++)
        take();
    struct mt_job *back = put(2, 100, 10);
    size_t n_back = 0;
    for (size_t i = 0; i < 100; i++)
        n_back += take() == back;
    ck_assert_uint_ge(n_back, 49);
    ck_assert_uint_le(n_back, 51);
    ck_assert_ptr_nonnull(steady);
}
END_TEST

START_TEST(jobs_of_nobody_are_each_their_own_client)
{
    struct mt_job *document = put(0, 100, 10);
    take();
    struct mt_job *single = put(0, 1, 10);
    ck_assert_ptr_eq(take(), single);
    ck_assert_ptr_eq(take(), document);
}
END_TEST

START_TEST(refuses_what_does_not_fit_and_keeps_nothing_of_it)
{
    struct mt_queue *small;
    struct mt_queue_lane *small_lane;
    struct mt_error err = {0};
    struct mt_job *first = make_job(1, 3, 1), *second = make_job(2, 2, 1),
                  *third = make_job(2, 1, 1);
    ck_assert_int_eq(mt_queue_create(4, 0, 0, &small, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(small, &small_lane, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(small, small_lane, first, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(small, small_lane, second, &err), MT_BUSY);
    ck_assert_uint_eq(mt_queue_n_sentences(small), 3);
    ck_assert_int_eq(mt_queue_put(small, small_lane, third, NULL), MT_OK);
    ck_assert_uint_eq(mt_queue_n_sentences(small), 4);
    mt_queue_destroy(small);
}
END_TEST

START_TEST(keeps_places_for_a_job_that_found_none)
{
    put(1, 500, 1);
    put(2, 490, 1);
    ck_assert(!mt_queue_is_full(queue));
    struct mt_job *large = make_job(3, 20, 1);
    ck_assert_int_eq(mt_queue_put(queue, lane, large, NULL), MT_BUSY);
    for (size_t i = 0; i < 10; i++, take())
        ck_assert(mt_queue_is_full(queue));
    ck_assert(!mt_queue_is_full(queue));
    ck_assert_int_eq(mt_queue_put(queue, lane, large, NULL), MT_OK);
    ck_assert(mt_queue_is_full(queue));
    take();
    ck_assert(mt_queue_is_full(queue)); /* the next one is as large, perhaps */
    while (mt_queue_n_sentences(queue) > 500)
        take();
    put(4, 490, 1);
    ck_assert(!mt_queue_is_full(queue)); /* nobody was refused since */
    put(5, 10, 1);
    ck_assert(mt_queue_is_full(queue));
}
END_TEST

START_TEST(keeps_an_eighth_of_the_places_at_most)
{
    put(1, 500, 1);
    put(2, 375, 1);
    struct mt_job *large = make_job(3, 400, 1);
    ck_assert_int_eq(mt_queue_put(queue, lane, large, NULL), MT_BUSY);
    ck_assert(!mt_queue_is_full(queue)); /* 125 are free */
    put(4, 1, 1);
    ck_assert(mt_queue_is_full(queue));
}
END_TEST

START_TEST(removes_jobs_wherever_they_stand)
{
    struct mt_job *a = put(1, 3, 10), *b = put(1, 2, 10), *c = put(1, 1, 10), *d = put(2, 1, 10);
    ck_assert_ptr_eq(take(), a);
    mt_queue_remove(queue, lane, b);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 4);
    ck_assert_uint_eq(b->n_taken, 2);
    mt_queue_remove(queue, lane, a);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 2);
    ck_assert_ptr_eq(take(), d);
    ck_assert_ptr_eq(take(), c);
    ck_assert_ptr_null(take());
}
END_TEST

START_TEST(shows_short_jobs)
{
    struct mt_job *a = put(1, 3, 30), *b = put(2, 9, 8), *job;
    ck_assert_ptr_eq(take(), a);
    ck_assert_ptr_eq(take(), b);
    ck_assert_ptr_null(mt_queue_peek(lane, true, &job));
    struct mt_job *more = put(1, 8, 8), *other = put(3, 1, 64);
    ck_assert_ptr_nonnull(mt_queue_peek(lane, true, &job));
    ck_assert_ptr_eq(job, other); /* who has received less than client 1 */
    mt_queue_take(queue, lane, other);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_ptr_eq(mt_queue_peek(lane, true, &job), more->sentences[i]);
        mt_queue_take(queue, lane, more);
    }
    ck_assert_ptr_null(mt_queue_peek(lane, true, &job));
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 10);
}
END_TEST

START_TEST(finds_what_has_expired)
{
    struct mt_job *never = put(1, 1, 1), *late = make_job(1, 1, 1), *early = make_job(2, 2, 1);
    late->deadline_ns = 2000;
    early->deadline_ns = 1000;
    ck_assert_int_eq(mt_queue_put(queue, lane, late, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, lane, early, NULL), MT_OK);
    ck_assert_ptr_null(mt_queue_find_expired(queue, 999));
    ck_assert_ptr_eq(mt_queue_find_expired(queue, 1000), early);
    mt_queue_remove(queue, lane, early);
    ck_assert_ptr_null(mt_queue_find_expired(queue, 1999));
    ck_assert_ptr_eq(mt_queue_find_expired(queue, 3000), late);
    mt_queue_remove(queue, lane, late);
    ck_assert_ptr_null(mt_queue_find_expired(queue, INT64_MAX));
    ck_assert_ptr_eq(take(), never);
}
END_TEST

START_TEST(finds_what_expired_first)
{
    unsigned seed = 11;
    for (size_t i = 0; i < MAX_JOBS; i++) {
        struct mt_job *job = make_job(i % 5, 1 + i % 2, 1);
        seed = seed * 1664525u + 1013904223u;
        job->deadline_ns = 1 + (seed >> 24);
        ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
    }
    for (size_t i = 0; i < MAX_JOBS / 4; i++)
        ck_assert_ptr_nonnull(take());
    int64_t last = 0;
    for (struct mt_job *job; (job = mt_queue_find_expired(queue, 128));) {
        ck_assert_int_ge(job->deadline_ns, last);
        last = job->deadline_ns;
        mt_queue_remove(queue, lane, job);
    }
    size_t n_left = mt_queue_n_sentences(queue);
    ck_assert_uint_gt(n_left, 0);
    for (struct mt_job *job; (job = take()); n_left--)
        ck_assert_int_gt(job->deadline_ns, 128);
    ck_assert_uint_eq(n_left, 0);
}
END_TEST

static struct mt_job *put_until(int64_t deadline_ns, uint64_t client, size_t n, size_t cost)
{
    struct mt_job *job = make_job(client, n, cost);
    job->deadline_ns = deadline_ns;
    ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
    return job;
}

START_TEST(who_has_little_time_left_goes_before_others_of_its_client)
{
    struct mt_job *large = put_until(2000, 1, 3, 100), *newer = put_until(9000, 1, 4, 40);
    ck_assert_ptr_eq(take(), newer);
    mt_queue_promote_late(queue, 1500); /* 500 are left, not less than LATE_NS */
    ck_assert_ptr_eq(take(), newer);
    mt_queue_promote_late(queue, 1501);
    ck_assert_ptr_eq(take(), large);
    struct mt_job *hasty = put_until(1900, 1, 1, 200); /* late as soon as it comes */
    ck_assert_ptr_eq(take(), hasty);
    ck_assert_ptr_eq(take(), large);
    ck_assert_ptr_eq(take(), large);
    ck_assert_ptr_eq(take(), newer);
    ck_assert_ptr_eq(take(), newer);
    ck_assert_ptr_null(take());
}
END_TEST

START_TEST(who_has_little_time_left_takes_nothing_from_other_clients)
{
    struct mt_job *late = put_until(100, 1, 3, 10), *other = put(2, 3, 10);
    mt_queue_promote_late(queue, 99);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(take(), late);
        ck_assert_ptr_eq(take(), other);
    }
}
END_TEST

START_TEST(a_short_job_is_not_promoted)
{
    struct mt_job *long_job = put_until(100, 1, 2, 100), *short_job = put_until(90, 1, 1, 60),
                  *found;
    mt_queue_promote_late(queue, 99);
    ck_assert(mt_queue_peek(lane, true, &found));
    ck_assert_ptr_eq(found, short_job);
    ck_assert_ptr_eq(take(), long_job);
    mt_queue_remove(queue, lane, long_job);
    ck_assert_ptr_eq(take(), short_job);
}
END_TEST

START_TEST(nobody_is_promoted_where_there_is_no_such_time)
{
    mt_queue_destroy(queue);
    ck_assert_int_eq(mt_queue_create(100, 0, 0, &queue, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(queue, &lane, NULL), MT_OK);
    put_until(100, 1, 2, 100);
    struct mt_job *short_job = put_until(9000, 1, 1, 40);
    mt_queue_promote_late(queue, 101);
    ck_assert_ptr_eq(take(), short_job);
}
END_TEST

START_TEST(what_is_late_may_be_removed)
{
    struct mt_job *first = put_until(1000, 1, 2, 100), *second = put_until(1100, 1, 2, 100);
    struct mt_job *third = put_until(9000, 1, 2, 100);
    mt_queue_promote_late(queue, 900);
    mt_queue_remove(queue, lane, second);
    ck_assert_ptr_eq(take(), first);
    mt_queue_remove(queue, lane, first);
    struct mt_job *fourth = put_until(900, 1, 2, 100);
    ck_assert_ptr_eq(take(), third);
    mt_queue_promote_late(queue, 901);
    ck_assert_ptr_eq(take(), fourth);
    ck_assert_ptr_eq(take(), fourth);
    ck_assert_ptr_eq(take(), third);
    ck_assert_ptr_null(take());
}
END_TEST

/* As many clients as there are sentences; each is served once, in the order of arrival, and a
 * second round finds all memory given back. */
START_TEST(has_room_for_a_client_per_sentence)
{
    enum { N = 5000 };
    struct mt_queue *large;
    struct mt_queue_lane *large_lane;
    struct mt_job *many = calloc(N, sizeof *many);
    struct mt_sentence *sentence = fake_sentence(5, 1, 1);
    ck_assert_ptr_nonnull(many);
    ck_assert_int_eq(mt_queue_create(N, 0, 0, &large, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(large, &large_lane, NULL), MT_OK);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < N; i++) {
            many[i] = (struct mt_job){
                .client = round ? 0 : i + 1, .sentences = &sentence, .n_sentences = 1};
            ck_assert_int_eq(mt_queue_put(large, large_lane, &many[i], NULL), MT_OK);
        }
        for (size_t i = 0; i < N; i++) {
            struct mt_job *job = NULL;
            ck_assert_ptr_nonnull(mt_queue_peek(large_lane, false, &job));
            ck_assert_ptr_eq(job, &many[i]);
            mt_queue_take(large, large_lane, job);
        }
    }
    mt_queue_destroy(large);
    mt_sentence_destroy(sentence);
    free(many);
}
END_TEST

/* Random traffic against a plain count of what must be there. */
START_TEST(loses_nothing_in_random_traffic)
{
    unsigned seed = 5;
    int64_t now = 0; /* some are late soon, and some never */
    size_t n_expected = 0, n_seen = 0, n_removed = 0, n_put = 0;
    while (n_jobs < MAX_JOBS) {
        seed = seed * 1664525u + 1013904223u;
        unsigned what = seed >> 16;
        if (what % 4 == 0) {
            struct mt_job *job = make_job(what / 4 % 5, 1 + what / 32 % 20, 1 + what / 8 % 40);
            job->deadline_ns = what % 3 ? 1000 + what / 2 % 3000 : 0;
            ck_assert_int_eq(mt_queue_put(queue, lane, job, NULL), MT_OK);
            mt_queue_promote_late(queue, now += 40);
            n_expected += job->n_sentences;
            n_put += job->n_sentences;
        } else if (what % 16 == 1 && n_jobs) {
            struct mt_job *job = &jobs[what / 16 % n_jobs];
            size_t n_waiting = job->n_sentences - job->n_taken;
            if (n_waiting) {
                mt_queue_remove(queue, lane, job);
                n_expected -= n_waiting;
                n_removed += n_waiting;
            }
        } else if (take()) {
            n_expected--;
            n_seen++;
        }
        ck_assert_uint_eq(mt_queue_n_sentences(queue), n_expected);
    }
    while (take())
        n_seen++;
    ck_assert_uint_eq(n_seen + n_removed, n_put);
    ck_assert_uint_gt(n_removed, 0);
}
END_TEST

START_TEST(a_client_has_its_share_of_the_places)
{
    struct mt_job *large = make_job(7, 30, 1), *more = make_job(7, 8, 1), *last = make_job(7, 3, 1);
    struct mt_job *other = make_job(8, 10, 1), *nobody = make_job(0, 30, 1);
    struct mt_error err;
    large->max_client_sentences = more->max_client_sentences = last->max_client_sentences = 10;
    other->max_client_sentences = nobody->max_client_sentences = 10;
    /* One that has nothing waiting may put what it has. */
    ck_assert_int_eq(mt_queue_put(queue, lane, large, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, lane, last, &err), MT_THROTTLED);
    ck_assert_str_eq(err.message, "this client has 30 sentences waiting, and 3 more would be over "
                                  "its share of 10");
    ck_assert_int_eq(mt_queue_put(queue, lane, other, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, lane, nobody, NULL), MT_OK);
    mt_queue_remove(queue, lane, other);
    mt_queue_remove(queue, lane, nobody);
    while (large->n_taken < 28)
        ck_assert_ptr_eq(take(), large);
    ck_assert_int_eq(mt_queue_put(queue, lane, more, NULL), MT_OK); /* 2 and 8 */
    ck_assert_int_eq(mt_queue_put(queue, lane, last, NULL), MT_THROTTLED);
    mt_queue_remove(queue, lane, more);
    ck_assert_int_eq(mt_queue_put(queue, lane, last, NULL), MT_OK);
}
END_TEST

START_TEST(each_lane_has_a_next_one_of_its_own)
{
    struct mt_queue_lane *first_lane = lane, *second_lane;
    ck_assert_int_eq(mt_queue_add_lane(queue, &second_lane, NULL), MT_OK);
    struct mt_job *a = put(7, 2, 10);
    lane = second_lane;
    struct mt_job *b = put(7, 2, 10), *c = put(8, 1, 10);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 5);
    ck_assert_ptr_eq(take(), b);
    ck_assert_ptr_eq(take(), c);
    ck_assert_ptr_eq(take(), b);
    ck_assert_ptr_null(take());
    mt_queue_remove_lane(queue, second_lane);
    lane = first_lane;
    ck_assert_ptr_eq(take(), a);
    mt_queue_remove(queue, lane, a);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 0);
}
END_TEST

/* However much has been served elsewhere meanwhile: a newcomer does not wait until a document that
 * was held up has caught up with that. */
START_TEST(a_newcomer_starts_level_with_its_own_lane)
{
    struct mt_queue_lane *slow = lane, *fast;
    ck_assert_int_eq(mt_queue_add_lane(queue, &fast, NULL), MT_OK);
    struct mt_job *document = put(1, 100, 10);
    ck_assert_ptr_eq(take(), document);
    lane = fast;
    struct mt_job *others = put(2, 300, 10);
    for (size_t i = 0; i < 200; i++)
        ck_assert_ptr_eq(take(), others);
    lane = slow;
    struct mt_job *single = put(3, 1, 10);
    ck_assert_ptr_eq(take(), single);
    lane = fast;
    struct mt_job *same = put(1, 100, 10); /* the document's client saved nothing up here */
    size_t n_same = 0;
    for (size_t i = 0; i < 100; i++)
        n_same += take() == same;
    ck_assert_uint_ge(n_same, 49);
    ck_assert_uint_le(n_same, 51);
}
END_TEST

START_TEST(finds_what_has_expired_in_any_lane)
{
    struct mt_queue_lane *other;
    struct mt_job *late = make_job(1, 1, 1), *early = make_job(1, 2, 1);
    ck_assert_int_eq(mt_queue_add_lane(queue, &other, NULL), MT_OK);
    late->deadline_ns = 2000;
    early->deadline_ns = 1000;
    ck_assert_int_eq(mt_queue_put(queue, lane, late, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, other, early, NULL), MT_OK);
    ck_assert_ptr_eq(mt_queue_find_expired(queue, 1500), early);
    mt_queue_remove(queue, other, early);
    ck_assert_ptr_null(mt_queue_find_expired(queue, 1999));
    ck_assert_ptr_eq(mt_queue_find_expired(queue, 2000), late);
}
END_TEST

START_TEST(a_clients_share_is_one_for_all_lanes)
{
    struct mt_queue_lane *other;
    struct mt_job *here = make_job(7, 6, 1), *there = make_job(7, 4, 1), *more = make_job(7, 1, 1);
    ck_assert_int_eq(mt_queue_add_lane(queue, &other, NULL), MT_OK);
    here->max_client_sentences = there->max_client_sentences = more->max_client_sentences = 10;
    ck_assert_int_eq(mt_queue_put(queue, lane, here, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, other, there, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_put(queue, other, more, NULL), MT_THROTTLED);
    mt_queue_take(queue, lane, here);
    ck_assert_int_eq(mt_queue_put(queue, other, more, NULL), MT_OK);
}
END_TEST

/* However full it is by now, and however much its client has waiting. */
START_TEST(a_job_that_continues_a_request_finds_its_place)
{
    struct mt_job *newcomer = make_job(3, 1, 1), *next = make_job(1, 20, 1);
    next->max_client_sentences = 10;
    next->n_follow_up = 20;
    mt_queue_destroy(queue);
    ck_assert_int_eq(mt_queue_create(100, 1, 0, &queue, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(queue, &lane, NULL), MT_OK);
    struct mt_job *own = put(1, 10, 1), *others = put(2, 90, 1);
    ck_assert_int_eq(mt_queue_put(queue, lane, next, NULL), MT_OK);
    ck_assert_uint_eq(mt_queue_n_sentences(queue), 120);
    while (mt_queue_n_sentences(queue) > 100) { /* it waits for its turn as others do */
        ck_assert(mt_queue_is_full(queue));
        ck_assert_int_eq(mt_queue_put(queue, lane, newcomer, NULL), MT_BUSY);
        take();
    }
    ck_assert_uint_eq(own->n_taken + next->n_taken, 10);
    ck_assert_uint_eq(others->n_taken, 10);
    ck_assert_int_eq(mt_queue_put(queue, lane, newcomer, NULL), MT_BUSY);
    while (take() != next) {
    }
    ck_assert_int_eq(mt_queue_put(queue, lane, newcomer, NULL), MT_OK);
}
END_TEST

START_TEST(no_more_of_those_find_a_place_than_there_are_requests)
{
    enum { N_NEW = 4, N_FOLLOW_UP = 3 };
    struct mt_job *follow_up[N_FOLLOW_UP + 1];
    mt_queue_destroy(queue);
    ck_assert_int_eq(mt_queue_create(N_NEW, N_FOLLOW_UP, 0, &queue, NULL), MT_OK);
    ck_assert_int_eq(mt_queue_add_lane(queue, &lane, NULL), MT_OK);
    for (size_t round = 0; round < 2; round++) { /* all places are given back */
        for (uint64_t i = 0; i < N_NEW; i++)
            put(1 + i, 1, 1);
        for (size_t i = 0; i <= N_FOLLOW_UP; i++) { /* each a client of its own */
            follow_up[i] = make_job(10 + i, 2, 1);
            follow_up[i]->n_follow_up = 2;
            ck_assert_int_eq(mt_queue_put(queue, lane, follow_up[i], NULL),
                             i < N_FOLLOW_UP ? MT_OK : MT_BUSY);
        }
        mt_queue_remove(queue, lane, follow_up[0]);
        ck_assert_int_eq(mt_queue_put(queue, lane, follow_up[N_FOLLOW_UP], NULL), MT_OK);
        while (take()) {
        }
    }
}
END_TEST

/* A short text does not bring a long one in. */
START_TEST(a_job_that_is_larger_than_what_it_continues_has_a_share_too)
{
    struct mt_job *own = put(7, 10, 1), *long_one = make_job(7, 5, 1), *other = make_job(8, 5, 1);
    long_one->max_client_sentences = other->max_client_sentences = 10;
    long_one->n_follow_up = other->n_follow_up = 4;
    ck_assert_int_eq(mt_queue_put(queue, lane, long_one, NULL), MT_THROTTLED);
    ck_assert_int_eq(mt_queue_put(queue, lane, other, NULL), MT_OK);
    mt_queue_remove(queue, lane, own);
    ck_assert_int_eq(mt_queue_put(queue, lane, long_one, NULL), MT_OK);
}
END_TEST

Suite *suite_queue(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, create_queue, destroy_queue);
    tcase_add_test(tcase, serves_equal_sentences_of_one_client_first_come_first_served);
    tcase_add_test(tcase, serves_jobs_of_one_client_in_turn);
    tcase_add_test(tcase, shares_by_cost_between_jobs_of_one_client);
    tcase_add_test(tcase, serves_clients_in_turn);
    tcase_add_loop_test(tcase, a_document_does_not_hold_up_a_single_sentence, 0, 2);
    tcase_add_loop_test(tcase, who_comes_again_and_again_does_not_hold_up_a_document, 0, 8);
    tcase_add_test(tcase, who_came_behind_a_document_that_is_taken_back_is_served);
    tcase_add_test(tcase, shares_by_cost);
    tcase_add_test(tcase, a_client_that_pauses_saves_nothing_up);
    tcase_add_test(tcase, jobs_of_nobody_are_each_their_own_client);
    tcase_add_test(tcase, refuses_what_does_not_fit_and_keeps_nothing_of_it);
    tcase_add_test(tcase, keeps_places_for_a_job_that_found_none);
    tcase_add_test(tcase, keeps_an_eighth_of_the_places_at_most);
    tcase_add_test(tcase, removes_jobs_wherever_they_stand);
    tcase_add_test(tcase, shows_short_jobs);
    tcase_add_test(tcase, finds_what_has_expired);
    tcase_add_test(tcase, finds_what_expired_first);
    tcase_add_test(tcase, who_has_little_time_left_goes_before_others_of_its_client);
    tcase_add_test(tcase, who_has_little_time_left_takes_nothing_from_other_clients);
    tcase_add_test(tcase, a_short_job_is_not_promoted);
    tcase_add_test(tcase, nobody_is_promoted_where_there_is_no_such_time);
    tcase_add_test(tcase, what_is_late_may_be_removed);
    tcase_add_test(tcase, has_room_for_a_client_per_sentence);
    tcase_add_test(tcase, loses_nothing_in_random_traffic);
    tcase_add_test(tcase, a_client_has_its_share_of_the_places);
    tcase_add_test(tcase, each_lane_has_a_next_one_of_its_own);
    tcase_add_test(tcase, a_newcomer_starts_level_with_its_own_lane);
    tcase_add_test(tcase, finds_what_has_expired_in_any_lane);
    tcase_add_test(tcase, a_clients_share_is_one_for_all_lanes);
    tcase_add_test(tcase, a_job_that_continues_a_request_finds_its_place);
    tcase_add_test(tcase, no_more_of_those_find_a_place_than_there_are_requests);
    tcase_add_test(tcase, a_job_that_is_larger_than_what_it_continues_has_a_share_too);
    suite_add_tcase(suite, tcase);
    return suite;
}
