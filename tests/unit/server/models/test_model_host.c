#include "server/models/model_host.h"

#include "base/clock.h"
#include "model/model.h"
#include "tests/unit/server/models/fake_loading.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL_BYTES 100
#define MAX_MODELS 20
#define NS_PER_MS INT64_C(1000000)

static struct mt_model_host *host;
static struct mt_served_model *models[MAX_MODELS];
static size_t n_models;
static struct mt_error err;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", err.message);
}

static void start(void)
{
    const struct mt_model_host_options options = {
        .engine = {.n_workers = 1, .threads_per_worker = 1}};
    must(mt_model_host_create(&options, &host, &err));
}

static void stop(void)
{
    fake_open_loading_gate();
    fake_open_unloading_gate();
    for (size_t i = 0; i < n_models; i++)
        mt_served_model_drop(models[i]);
    mt_model_host_let_go(host);
    ck_assert_uint_eq(fake_n_loaded(), 0);
    n_models = 0;
}

static void limit(uint64_t memory_bytes, int64_t idle_ms)
{
    mt_model_host_set_limits(host,
                             &(struct mt_model_host_limits){memory_bytes, idle_ms * NS_PER_MS});
}

static struct mt_served_model *add(const char *id, bool is_pinned)
{
    const struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    const struct mt_model_options options = {0};
    const struct mt_served_model_options served = {
        .info = {.id = id, .directory = "there", .defaults = &defaults, .is_pinned = is_pinned},
        .model = &options,
        .warm_up_text = "",
        .warm_up_answer = "",
        .fingerprint = id,
        .expected_bytes = MODEL_BYTES,
    };
    ck_assert_uint_lt(n_models, MAX_MODELS);
    must(mt_served_model_create(host, &served, &models[n_models], &err));
    return models[n_models++];
}

static void add_many(size_t n)
{
    char id[16];
    for (size_t i = 0; i < n; i++) {
        snprintf(id, sizeof id, "m%zu", i);
        add(id, false);
    }
}

/* --- somebody who waits --- */

struct waiter {
    struct mt_model_wait wait;
    pthread_mutex_t mutex; /* guards the others */
    pthread_cond_t ended;
    int n_calls;
    enum mt_status status;
    int64_t ended_ns;
};

static void on_done(struct mt_model_wait *wait, enum mt_status status)
{
    struct waiter *waiter = wait->user;
    pthread_mutex_lock(&waiter->mutex);
    waiter->n_calls++;
    waiter->status = status;
    waiter->ended_ns = mt_now_ns();
    pthread_cond_signal(&waiter->ended);
    pthread_mutex_unlock(&waiter->mutex);
}

static enum mt_status begin_wait(struct waiter *waiter, struct mt_served_model *served,
                                 int64_t timeout_ms)
{
    *waiter = (struct waiter){
        .wait = {.on_done = on_done,
                 .user = waiter,
                 .deadline_ns = timeout_ms > 0 ? mt_now_ns() + timeout_ms * NS_PER_MS : 0},
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .ended = PTHREAD_COND_INITIALIZER,
    };
    return mt_served_model_wait(served, &waiter->wait, &err);
}

/* The test case's time limit is the check. */
static enum mt_status end_wait(struct waiter *waiter)
{
    pthread_mutex_lock(&waiter->mutex);
    while (waiter->n_calls == 0)
        pthread_cond_wait(&waiter->ended, &waiter->mutex);
    enum mt_status status = waiter->status;
    pthread_mutex_unlock(&waiter->mutex);
    ck_assert_int_eq(waiter->n_calls, 1);
    ck_assert_int_eq(!status, waiter->wait.model != NULL);
    return status;
}

/* Loads it if it must, and holds it. */
static const struct mt_loaded_model *hold(struct mt_served_model *served)
{
    struct waiter waiter;
    const struct mt_loaded_model *loaded = mt_served_model_hold(served);
    if (loaded)
        return loaded;
    must(begin_wait(&waiter, served, 0));
    ck_assert_msg(end_wait(&waiter) == MT_OK, "%s", waiter.wait.err.message);
    return waiter.wait.model;
}

static void use(struct mt_served_model *served)
{
    ck_assert_ptr_nonnull(hold(served));
    mt_served_model_let_go(served);
}

static enum mt_served_state state_of(struct mt_served_model *served)
{
    struct mt_served_model_status status;
    mt_served_model_describe(served, &status);
    return status.state;
}

/* Until the host's thread has got there. The test case's time limit is the check. */
static void wait_for_state(struct mt_served_model *served, enum mt_served_state state)
{
    while (state_of(served) != state)
        usleep(1000);
}

static struct mt_model_host_counts counts(void)
{
    struct mt_model_host_counts counts;
    mt_model_host_count(host, &counts);
    return counts;
}

/* --- loading --- */

START_TEST(a_model_is_loaded_for_who_waits_and_held)
{
    struct mt_served_model *served = add("one", false);
    struct mt_served_model_status status;
    ck_assert_int_eq(state_of(served), MT_SERVED_COLD);
    ck_assert_ptr_null(mt_served_model_hold(served));

    const struct mt_loaded_model *loaded = hold(served);
    ck_assert_ptr_eq(loaded->served, served);
    ck_assert_ptr_nonnull(loaded->model);
    ck_assert_str_eq(loaded->label, "one");
    mt_served_model_describe(served, &status);
    ck_assert_int_eq(status.state, MT_SERVED_READY);
    ck_assert_uint_eq(status.n_holders, 1);
    ck_assert_uint_eq(status.n_loads, 1);
    ck_assert_uint_eq(status.loaded_bytes, MODEL_BYTES);

    ck_assert_ptr_eq(mt_served_model_hold(served), loaded);
    mt_served_model_let_go(served);
    mt_served_model_let_go(served);
    ck_assert_uint_eq(fake_n_loads(), 1);
    ck_assert_uint_eq(counts().loaded_bytes, MODEL_BYTES);
}
END_TEST

START_TEST(who_waits_for_the_same_is_served_by_one_load)
{
    struct mt_served_model *served = add("one", false);
    struct waiter waiters[50];
    fake_close_loading_gate();
    for (size_t i = 0; i < 50; i++)
        must(begin_wait(&waiters[i], served, 0));
    fake_wait_for_load();
    ck_assert_int_eq(state_of(served), MT_SERVED_LOADING);
    ck_assert_uint_eq(counts().n_waiting, 50);
    fake_open_loading_gate();
    for (size_t i = 0; i < 50; i++)
        ck_assert_int_eq(end_wait(&waiters[i]), MT_OK);
    ck_assert_uint_eq(fake_n_loads(), 1);
    ck_assert_uint_eq(counts().n_waiting, 0);
    for (size_t i = 0; i < 50; i++)
        mt_served_model_let_go(served);
}
END_TEST

START_TEST(a_broken_model_fails_with_its_reason_and_leaves_the_rest_alone)
{
    struct mt_served_model *broken = add("broken", false), *sound = add("sound", false);
    struct mt_served_model_status status;
    struct waiter waiters[3];
    fake_close_loading_gate();
    for (size_t i = 0; i < 3; i++)
        must(begin_wait(&waiters[i], broken, 0));
    fake_open_loading_gate();
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(end_wait(&waiters[i]), MT_BUSY);
        ck_assert_str_eq(waiters[i].wait.err.message, "there: is broken");
        ck_assert_int_eq(waiters[i].wait.err.status, MT_BUSY);
    }
    use(sound);
    mt_served_model_describe(broken, &status);
    ck_assert_int_eq(status.state, MT_SERVED_FAILED);
    ck_assert_str_eq(status.reason, "there: is broken");
    ck_assert_uint_eq(status.n_failures, 1);
    ck_assert(!mt_served_model_is_usable(broken));
    ck_assert(mt_served_model_is_usable(sound));

    /* Not tried again at once, whoever asks. */
    ck_assert_int_eq(begin_wait(&waiters[0], broken, 0), MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "there: is broken"));
    ck_assert_uint_eq(fake_n_loads(), 2);

    const struct mt_loaded_model *loaded;
    ck_assert_int_eq(mt_served_model_load(broken, &loaded, &err), MT_FORMAT);
    ck_assert_str_eq(err.message, "there: is broken");
    ck_assert(!mt_served_model_is(broken, host, "broken"));
    ck_assert(mt_served_model_is(sound, host, "sound"));
    ck_assert(!mt_served_model_is(sound, host, "other"));
}
END_TEST

START_TEST(one_that_stops_waiting_is_not_called)
{
    struct mt_served_model *first = add("first", false), *second = add("second", false);
    struct waiter a, b, c;
    fake_close_loading_gate();
    must(begin_wait(&a, first, 0));
    fake_wait_for_load();
    must(begin_wait(&b, second, 0));
    must(begin_wait(&c, first, 0));
    ck_assert(mt_served_model_stop_waiting(second, &b.wait));
    ck_assert(!mt_served_model_stop_waiting(second, &b.wait));
    ck_assert(mt_served_model_stop_waiting(first, &c.wait));
    ck_assert_int_eq(state_of(second), MT_SERVED_COLD);
    fake_open_loading_gate();
    ck_assert_int_eq(end_wait(&a), MT_OK);
    ck_assert(!mt_served_model_stop_waiting(first, &a.wait));
    mt_served_model_let_go(first);
    use(first);
    ck_assert_int_eq(b.n_calls + c.n_calls, 0);
    ck_assert_uint_eq(fake_n_loads(), 1); /* nobody wanted the second any more */
}
END_TEST

START_TEST(a_deadline_is_kept_while_the_loader_is_busy)
{
    struct mt_served_model *slow = add("slow", false), *other = add("other", false);
    struct waiter forever, soon, sooner;
    fake_close_loading_gate();
    must(begin_wait(&forever, slow, 0));
    fake_wait_for_load();
    must(begin_wait(&soon, other, 60));
    must(begin_wait(&sooner, slow, 30));
    ck_assert_int_eq(end_wait(&sooner), MT_TIMEOUT);
    ck_assert_int_eq(end_wait(&soon), MT_TIMEOUT);
    ck_assert_int_ge(soon.ended_ns, soon.wait.deadline_ns);
    ck_assert_ptr_nonnull(strstr(soon.wait.err.message, "other was not loaded in time"));
    fake_open_loading_gate();
    ck_assert_int_eq(end_wait(&forever), MT_OK);
    mt_served_model_let_go(slow);
    soon.wait.deadline_ns = mt_now_ns() - 1;
    ck_assert_int_eq(mt_served_model_wait(other, &soon.wait, &err), MT_TIMEOUT);
}
END_TEST

/* --- the limit of memory --- */

START_TEST(twenty_models_share_room_for_eight)
{
    limit(8 * MODEL_BYTES + MODEL_BYTES / 2, 0);
    add_many(20);
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < 20; i++) {
            use(models[i * 7 % 20]);
            ck_assert_uint_le(counts().loaded_bytes, counts().memory_bytes);
            ck_assert_uint_le(fake_n_loaded(), 9); /* one more while it is loaded */
        }
    ck_assert_uint_eq(counts().n_loaded, 8);
    ck_assert_uint_eq(counts().n_loads - counts().n_unloads, 8);
}
END_TEST

START_TEST(the_least_recently_used_goes)
{
    limit(3 * MODEL_BYTES, 0);
    add_many(5);
    use(models[0]);
    use(models[1]);
    use(models[2]);
    use(models[0]);
    use(models[3]);
    ck_assert_int_eq(state_of(models[1]), MT_SERVED_COLD);
    hold(models[2]); /* who is held does not go, however long ago he was used */
    use(models[0]);
    use(models[3]);
    use(models[4]);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_COLD);
    ck_assert_int_eq(state_of(models[2]), MT_SERVED_READY);
    mt_served_model_let_go(models[2]);
}
END_TEST

START_TEST(who_finds_all_held_waits_until_one_is_let_go)
{
    struct waiter waiter, late;
    limit(2 * MODEL_BYTES, 0);
    add_many(3);
    hold(models[0]);
    hold(models[1]);
    must(begin_wait(&waiter, models[2], 0));
    must(begin_wait(&late, models[2], 30));
    ck_assert_int_eq(end_wait(&late), MT_TIMEOUT);
    ck_assert_int_eq(waiter.n_calls, 0);
    mt_served_model_let_go(models[1]);
    ck_assert_int_eq(end_wait(&waiter), MT_OK);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY);
    ck_assert_int_eq(state_of(models[1]), MT_SERVED_COLD);
    mt_served_model_let_go(models[0]);
    mt_served_model_let_go(models[2]);
}
END_TEST

/* Somebody holds the first at any time, and yet it must go one day. */
START_TEST(steady_traffic_does_not_keep_another_out)
{
    struct waiter waiter, again;
    int64_t start_ns = mt_now_ns();
    limit(MODEL_BYTES, 0);
    add_many(2);
    fake_set_busy(true);
    hold(models[0]);
    must(begin_wait(&waiter, models[1], 0));
    while (mt_served_model_hold(models[0])) {
        mt_served_model_let_go(models[0]);
        usleep(1000);
    }
    ck_assert_int_ge(mt_now_ns() - start_ns, MT_LOAD_PATIENCE_MS * NS_PER_MS);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY); /* for those who hold it */
    must(begin_wait(&again, models[0], 0));
    ck_assert_int_eq(waiter.n_calls + again.n_calls, 0);
    mt_served_model_let_go(models[0]);
    ck_assert_int_eq(end_wait(&waiter), MT_OK);
    mt_served_model_let_go(models[1]);
    ck_assert_int_eq(end_wait(&again), MT_OK); /* in its turn */
    mt_served_model_let_go(models[0]);
}
END_TEST

static void wait_until_closed(struct mt_served_model *served)
{
    while (mt_served_model_hold(served)) {
        mt_served_model_let_go(served);
        usleep(1000);
    }
}

/* The first of two models, held, is closed because of who waits for the second. */
static void close_first(struct waiter *waiter)
{
    limit(MODEL_BYTES, 0);
    add_many(2);
    hold(models[0]);
    must(begin_wait(waiter, models[1], 0));
    wait_until_closed(models[0]);
}

/* As by the reader of a stream who stands still: it must not take the model from all others. */
START_TEST(one_that_is_held_without_work_is_given_back)
{
    struct waiter waiter, newcomer;
    close_first(&waiter);
    must(begin_wait(&newcomer, models[0], 0));
    ck_assert_int_eq(end_wait(&newcomer), MT_OK);
    ck_assert_ptr_nonnull(mt_served_model_hold(models[0]));
    ck_assert_int_eq(waiter.n_calls, 0);
    for (size_t i = 0; i < 3; i++)
        mt_served_model_let_go(models[0]);
    ck_assert_int_eq(end_wait(&waiter), MT_OK);
    mt_served_model_let_go(models[1]);
}
END_TEST

START_TEST(one_whose_memory_nobody_wants_any_more_is_given_back)
{
    struct waiter waiter;
    fake_set_busy(true);
    close_first(&waiter);
    ck_assert(mt_served_model_stop_waiting(models[1], &waiter.wait));
    hold(models[0]);
    for (size_t i = 0; i < 2; i++)
        mt_served_model_let_go(models[0]);
}
END_TEST

START_TEST(a_pinned_model_waits_behind_nobody)
{
    const struct mt_loaded_model *loaded;
    struct waiter waiter;
    fake_set_busy(true);
    close_first(&waiter);
    must(mt_served_model_load(add("pinned", true), &loaded, &err));
    ck_assert_int_eq(waiter.n_calls, 0);
    mt_served_model_let_go(models[0]);
    ck_assert_int_eq(end_wait(&waiter), MT_OK);
    mt_served_model_let_go(models[1]);
}
END_TEST

START_TEST(one_that_never_fits_is_refused_with_its_size)
{
    struct waiter waiter;
    limit(5 << 20, 0);
    add_many(2);
    use(models[0]);
    fake_set_bytes(7 << 20); /* more than was expected: it is found out by loading */
    must(begin_wait(&waiter, models[1], 0));
    ck_assert_int_eq(end_wait(&waiter), MT_BUSY);
    ck_assert_str_eq(waiter.wait.err.message,
                     "there takes 7 MiB of memory: models_memory is 5 MiB for all models together");
    ck_assert_uint_le(counts().loaded_bytes, 5 << 20);
    ck_assert_int_eq(state_of(models[1]), MT_SERVED_FAILED);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY); /* nothing would be gained by its end */
}
END_TEST

START_TEST(one_that_is_larger_than_expected_makes_room_for_itself)
{
    limit(4 * MODEL_BYTES, 0);
    add_many(4);
    for (size_t i = 0; i < 3; i++)
        use(models[i]);
    fake_set_bytes(3 * MODEL_BYTES);
    use(models[3]);
    ck_assert_uint_eq(counts().n_loaded, 2);
    ck_assert_uint_eq(counts().loaded_bytes, 4 * MODEL_BYTES);
    ck_assert_int_eq(state_of(models[2]), MT_SERVED_READY);
}
END_TEST

static void wait_until_loaded(size_t n)
{
    while (counts().n_loaded != n)
        usleep(2000);
}

/* Keys and values take more with what is asked of the models. */
START_TEST(caches_that_grow_drive_others_out)
{
    limit(4 * MODEL_BYTES, 0);
    add_many(4);
    use(models[3]);
    for (size_t i = 0; i < 3; i++)
        use(models[i]);
    ck_assert_uint_eq(counts().n_loaded, 4);
    usleep(20000); /* nobody watches */
    const struct mt_loaded_model *used = hold(models[3]);
    fake_set_cache_bytes(MODEL_BYTES);
    wait_until_loaded(2);
    ck_assert_uint_eq(counts().loaded_bytes, 4 * MODEL_BYTES);
    ck_assert_int_eq(state_of(models[3]), MT_SERVED_READY);
    ck_assert_int_eq(state_of(models[2]), MT_SERVED_READY);
    fake_set_cache_bytes(4 * MODEL_BYTES); /* more than there is: what is in use stays */
    wait_until_loaded(1);
    ck_assert_int_eq(state_of(models[3]), MT_SERVED_READY);
    fake_set_cache_bytes(0);
    mt_served_model_let_go(used->served);
    use(models[0]); /* its former size is not held against it */
    use(models[1]);
    ck_assert_uint_eq(counts().n_loaded, 3);
}
END_TEST

START_TEST(a_pinned_model_has_its_place_beside_the_limit)
{
    const struct mt_loaded_model *loaded;
    limit(MODEL_BYTES, 1);
    struct mt_served_model *pinned = add("pinned", true);
    add_many(2);
    must(mt_served_model_load(pinned, &loaded, &err));
    use(models[1]);
    use(models[2]);
    usleep(20000);
    ck_assert_int_eq(state_of(pinned), MT_SERVED_READY);
    ck_assert_ptr_eq(loaded, mt_served_model_hold(pinned));
    mt_served_model_let_go(pinned);
    ck_assert_int_eq(mt_served_model_unload(pinned, &err), MT_INVALID);
    ck_assert_uint_le(counts().loaded_bytes, MODEL_BYTES);
}
END_TEST

START_TEST(a_lower_limit_unloads_what_is_too_much)
{
    add_many(4);
    for (size_t i = 0; i < 4; i++)
        use(models[i]);
    ck_assert_uint_eq(counts().n_loaded, 4);
    limit(2 * MODEL_BYTES, 0);
    while (counts().n_loaded > 2)
        usleep(1000);
    ck_assert_int_eq(state_of(models[3]), MT_SERVED_READY);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_COLD);
}
END_TEST

START_TEST(nothing_is_unloaded_for_what_nobody_waits_for)
{
    limit(2 * MODEL_BYTES, 0);
    add_many(3);
    use(models[0]);
    mt_served_model_prefetch(models[1]);
    wait_for_state(models[1], MT_SERVED_READY);
    mt_served_model_prefetch(models[2]);
    wait_for_state(models[2], MT_SERVED_COLD);
    ck_assert_uint_eq(fake_n_loads(), 2);
    use(models[2]);
}
END_TEST

START_TEST(nor_for_one_that_turns_out_to_be_larger)
{
    limit(2 * MODEL_BYTES, 0);
    add_many(2);
    use(models[0]);
    fake_set_bytes(2 * MODEL_BYTES);
    fake_close_loading_gate();
    mt_served_model_prefetch(models[1]);
    fake_wait_for_load();
    fake_open_loading_gate();
    wait_for_state(models[1], MT_SERVED_COLD);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY);
    use(models[1]); /* who waits for it is another matter */
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_COLD);
}
END_TEST

/* --- unloading --- */

START_TEST(an_idle_model_is_unloaded)
{
    limit(0, 40);
    add_many(2);
    hold(models[0]);
    use(models[1]);
    wait_for_state(models[1], MT_SERVED_COLD);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY);
    mt_served_model_let_go(models[0]);
    wait_for_state(models[0], MT_SERVED_COLD);
    use(models[0]);
    ck_assert_uint_eq(fake_n_loads(), 3);
}
END_TEST

START_TEST(unloading_waits_for_who_holds_it)
{
    add_many(1);
    hold(models[0]);
    must(mt_served_model_unload(models[0], &err));
    usleep(10000);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY);
    mt_served_model_let_go(models[0]);
    wait_for_state(models[0], MT_SERVED_COLD);
}
END_TEST

/* State, memory and counters change together. */
START_TEST(one_that_is_being_unloaded_is_in_memory_to_the_end)
{
    struct mt_served_model_status status;
    struct waiter waiter;
    add_many(1);
    use(models[0]);
    fake_close_unloading_gate();
    must(mt_served_model_unload(models[0], &err));
    fake_wait_for_unload();
    mt_served_model_describe(models[0], &status);
    ck_assert_int_eq(status.state, MT_SERVED_READY);
    ck_assert_uint_eq(status.loaded_bytes, MODEL_BYTES);
    ck_assert_uint_eq(counts().loaded_bytes, MODEL_BYTES);
    ck_assert_uint_eq(counts().n_loaded - counts().n_unloads, 1);
    ck_assert_ptr_null(mt_served_model_hold(models[0])); /* but it is nobody's any more */
    fake_open_unloading_gate();
    wait_for_state(models[0], MT_SERVED_COLD);
    ck_assert_uint_eq(counts().n_unloads, 1);
    ck_assert_uint_eq(counts().loaded_bytes + counts().n_loaded, 0);

    use(models[0]);
    fake_close_unloading_gate();
    must(mt_served_model_unload(models[0], &err));
    fake_wait_for_unload();
    must(begin_wait(&waiter, models[0], 0));
    fake_open_unloading_gate();
    ck_assert_int_eq(end_wait(&waiter), MT_OK); /* by another load */
    mt_served_model_let_go(models[0]);
    ck_assert_uint_eq(fake_n_loads(), 3);
}
END_TEST

START_TEST(a_damaged_model_is_loaded_again_whatever_its_traffic)
{
    struct mt_served_model_status status;
    struct waiter waiter;
    add_many(1);
    hold(models[0]);
    fake_damage(models[0]);
    mt_served_model_describe(models[0], &status);
    ck_assert_int_eq(status.state, MT_SERVED_FAILED);
    ck_assert(status.is_damaged);
    ck_assert_ptr_null(mt_served_model_hold(models[0]));
    must(begin_wait(&waiter, models[0], 0)); /* newcomers are not given what is damaged */
    usleep(20000);
    ck_assert_int_eq(waiter.n_calls, 0);
    mt_served_model_let_go(models[0]);
    ck_assert_int_eq(end_wait(&waiter), MT_OK);
    ck_assert_uint_eq(fake_n_loads(), 2);
    ck_assert_int_eq(state_of(models[0]), MT_SERVED_READY);
    mt_served_model_let_go(models[0]);
}
END_TEST

START_TEST(a_model_of_no_catalog_is_unloaded)
{
    add_many(1);
    use(models[0]);
    mt_served_model_share(models[0]);
    mt_served_model_drop(models[0]);
    usleep(10000);
    ck_assert_uint_eq(fake_n_loaded(), 1);
    mt_served_model_drop(models[0]);
    n_models = 0;
    while (fake_n_loaded() > 0)
        usleep(1000);
}
END_TEST

START_TEST(stopping_ends_all_waits)
{
    struct waiter a, b;
    add_many(2);
    fake_close_loading_gate();
    must(begin_wait(&a, models[0], 0));
    fake_wait_for_load();
    must(begin_wait(&b, models[1], 0));
    ck_assert(!mt_model_host_stop(host, 20)); /* a load is under way */
    fake_open_loading_gate();
    ck_assert_int_eq(end_wait(&a), MT_OK);
    mt_served_model_let_go(models[0]);
    ck_assert_int_eq(end_wait(&b), MT_CANCELLED);
    ck_assert(mt_model_host_stop(host, 1000));
    ck_assert_int_eq(begin_wait(&b, models[1], 0), MT_CANCELLED);
}
END_TEST

/* --- all at once --- */

#define STRESS_THREADS 4
#define STRESS_ROUNDS 400
static atomic_size_t n_held, n_timed_out, n_taken_back;

static void *stress(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    for (size_t i = 0; i < STRESS_ROUNDS; i++) {
        struct mt_served_model *served = models[(size_t)rand_r(&seed) % n_models];
        struct waiter waiter;
        struct mt_error why;
        int choice = rand_r(&seed) % 16;
        const struct mt_loaded_model *loaded = mt_served_model_hold(served);
        if (!loaded) {
            waiter = (struct waiter){
                .wait = {.on_done = on_done, .user = &waiter},
                .mutex = PTHREAD_MUTEX_INITIALIZER,
                .ended = PTHREAD_COND_INITIALIZER,
            };
            waiter.wait.deadline_ns = choice < 4 ? mt_now_ns() + 200000 : 0;
            if (mt_served_model_wait(served, &waiter.wait, &why) != MT_OK)
                continue;
            if (choice == 15 && mt_served_model_stop_waiting(served, &waiter.wait)) {
                n_taken_back++;
                continue;
            }
            if (end_wait(&waiter) != MT_OK) {
                ck_assert_int_eq(waiter.status, MT_TIMEOUT);
                n_timed_out++;
                continue;
            }
            loaded = waiter.wait.model;
        }
        ck_assert_ptr_nonnull(loaded->model);
        n_held++;
        if (choice == 14)
            must(mt_served_model_unload(served, &why));
        if (choice == 13)
            mt_served_model_prefetch(models[(size_t)rand_r(&seed) % n_models]);
        mt_served_model_let_go(served);
    }
    return NULL;
}

START_TEST(many_threads_use_more_models_than_fit)
{
    pthread_t threads[STRESS_THREADS];
    limit(5 * MODEL_BYTES, 3);
    add_many(12);
    for (size_t i = 0; i < STRESS_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, stress, (void *)(i + 1)), 0);
    for (size_t i = 0; i < STRESS_THREADS; i++)
        pthread_join(threads[i], NULL);
    struct mt_model_host_counts end = counts();
    ck_assert_uint_le(end.loaded_bytes, end.memory_bytes);
    ck_assert_uint_eq(end.n_waiting, 0);
    ck_assert_uint_gt(n_held, STRESS_ROUNDS);
    ck_assert_uint_gt(end.n_unloads, 10);
    for (size_t i = 0; i < n_models; i++) {
        struct mt_served_model_status status;
        mt_served_model_describe(models[i], &status);
        ck_assert_uint_eq(status.n_holders, 0);
    }
}
END_TEST

Suite *suite_model_host(void)
{
    Suite *suite = suite_create("model_host");
    TCase *tcase = tcase_create("hosts");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_model_is_loaded_for_who_waits_and_held);
    tcase_add_test(tcase, who_waits_for_the_same_is_served_by_one_load);
    tcase_add_test(tcase, a_broken_model_fails_with_its_reason_and_leaves_the_rest_alone);
    tcase_add_test(tcase, one_that_stops_waiting_is_not_called);
    tcase_add_test(tcase, a_deadline_is_kept_while_the_loader_is_busy);
    tcase_add_test(tcase, twenty_models_share_room_for_eight);
    tcase_add_test(tcase, the_least_recently_used_goes);
    tcase_add_test(tcase, who_finds_all_held_waits_until_one_is_let_go);
    tcase_add_test(tcase, steady_traffic_does_not_keep_another_out);
    tcase_add_test(tcase, one_that_is_held_without_work_is_given_back);
    tcase_add_test(tcase, one_whose_memory_nobody_wants_any_more_is_given_back);
    tcase_add_test(tcase, a_pinned_model_waits_behind_nobody);
    tcase_add_test(tcase, one_that_never_fits_is_refused_with_its_size);
    tcase_add_test(tcase, one_that_is_larger_than_expected_makes_room_for_itself);
    tcase_add_test(tcase, caches_that_grow_drive_others_out);
    tcase_add_test(tcase, a_pinned_model_has_its_place_beside_the_limit);
    tcase_add_test(tcase, a_lower_limit_unloads_what_is_too_much);
    tcase_add_test(tcase, nothing_is_unloaded_for_what_nobody_waits_for);
    tcase_add_test(tcase, nor_for_one_that_turns_out_to_be_larger);
    tcase_add_test(tcase, an_idle_model_is_unloaded);
    tcase_add_test(tcase, unloading_waits_for_who_holds_it);
    tcase_add_test(tcase, one_that_is_being_unloaded_is_in_memory_to_the_end);
    tcase_add_test(tcase, a_damaged_model_is_loaded_again_whatever_its_traffic);
    tcase_add_test(tcase, a_model_of_no_catalog_is_unloaded);
    tcase_add_test(tcase, stopping_ends_all_waits);
    tcase_add_test(tcase, many_threads_use_more_models_than_fit);
    suite_add_tcase(suite, tcase);
    return suite;
}
