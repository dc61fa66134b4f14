/* What lies in a directory now in the place of what is in memory: see mt_served_model_succeed. */
#include "server/models/model_host.h"

#include "model/model.h"
#include "tests/unit/server/models/fake_loading.h"

#include <check.h>
#include <pthread.h>
#include <unistd.h>

#define MODEL_BYTES 100
#define MAX_MODELS 4
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
    for (size_t i = 0; i < n_models; i++)
        mt_served_model_drop(models[i]);
    mt_model_host_let_go(host);
    ck_assert_uint_eq(fake_n_loaded(), 0);
}

static void limit(uint64_t memory_bytes, int64_t idle_ms)
{
    mt_model_host_set_limits(host,
                             &(struct mt_model_host_limits){memory_bytes, idle_ms * NS_PER_MS});
}

static struct mt_served_model *add(const char *id)
{
    const struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    const struct mt_model_options options = {0};
    const struct mt_served_model_options served = {
        .info = {.id = id, .directory = "there", .defaults = &defaults},
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

static void use(struct mt_served_model *served)
{
    const struct mt_loaded_model *loaded;
    must(mt_served_model_load(served, &loaded, &err));
}

static enum mt_served_state state_of(struct mt_served_model *served)
{
    struct mt_served_model_status status;
    mt_served_model_describe(served, &status);
    return status.state;
}

/* The test case's time limit is the check. */
static void wait_for_state(struct mt_served_model *served, enum mt_served_state state)
{
    while (state_of(served) != state)
        usleep(1000);
}

static const char *reason_of(struct mt_served_model *served)
{
    static struct mt_served_model_status status;
    mt_served_model_describe(served, &status);
    return status.reason;
}

struct succession {
    struct mt_served_model *former, *newcomer;
    enum mt_status status;
};

static void *succeed(void *argument)
{
    struct succession *succession = argument;
    succession->status = mt_served_model_succeed(succession->former, succession->newcomer, NULL);
    return NULL;
}

START_TEST(the_one_in_memory_answers_until_its_successor_can)
{
    struct succession succession = {add("one"), add("one"), MT_INVALID};
    pthread_t thread;
    use(succession.former);
    fake_close_loading_gate();
    ck_assert_int_eq(pthread_create(&thread, NULL, succeed, &succession), 0);
    fake_wait_for_load();
    limit(0, 1);
    usleep(10000); /* it is not idle: it is needed */
    ck_assert_ptr_nonnull(mt_served_model_hold(succession.former));
    mt_served_model_let_go(succession.former);
    limit(0, 0);
    fake_open_loading_gate();
    pthread_join(thread, NULL);
    ck_assert_int_eq(succession.status, MT_OK);
    ck_assert_int_eq(state_of(succession.newcomer), MT_SERVED_READY);
    ck_assert_ptr_nonnull(
        mt_served_model_hold(succession.former)); /* as long as a catalog has it */
    mt_served_model_let_go(succession.former);
    ck_assert_uint_eq(fake_n_loads(), 2);
}
END_TEST

START_TEST(a_successor_that_fails_leaves_the_one_in_memory)
{
    struct mt_served_model *former = add("one"), *newcomer = add("one");
    use(former);
    fake_set_broken(true);
    ck_assert_int_eq(mt_served_model_succeed(former, newcomer, &err), MT_FORMAT);
    ck_assert_str_eq(err.message, "there: is broken");
    ck_assert_int_eq(state_of(former), MT_SERVED_READY);
    ck_assert_str_eq(reason_of(former),
                     "what lies in its directory now cannot be served: there: is broken");
    mt_served_model_drop(former); /* of the catalog that goes; the next one has it, too */
    fake_set_broken(false);

    /* It cannot be had back: it does not go for being idle, and for others it goes last. */
    limit(0, 20);
    use(add("two"));
    wait_for_state(models[2], MT_SERVED_COLD);
    ck_assert_int_eq(state_of(former), MT_SERVED_READY);
    limit(2 * MODEL_BYTES, 0);
    use(models[2]);
    use(add("three"));
    ck_assert_int_eq(state_of(models[2]), MT_SERVED_COLD);
    ck_assert_int_eq(state_of(former), MT_SERVED_READY);

    mt_served_model_share(former); /* what was there before is there again */
    mt_served_model_drop(former);
    ck_assert_str_eq(reason_of(former), "");
}
END_TEST

START_TEST(where_there_is_no_room_for_both_the_successor_is_looked_at)
{
    struct mt_served_model *former = add("one"), *newcomer = add("one");
    limit(MODEL_BYTES + MODEL_BYTES / 2, 0);
    use(former);
    fake_set_broken(true);
    ck_assert_int_eq(mt_served_model_succeed(former, newcomer, &err), MT_FORMAT);
    mt_served_model_drop(former);
    fake_set_broken(false);
    must(mt_served_model_succeed(former, newcomer, &err));
    ck_assert_uint_eq(fake_n_checks(), 2);
    ck_assert_uint_eq(fake_n_loads(), 1);
    ck_assert_int_eq(state_of(former), MT_SERVED_READY);
    ck_assert_int_eq(state_of(newcomer), MT_SERVED_COLD);
    use(newcomer); /* like any other now */
    ck_assert_int_eq(state_of(former), MT_SERVED_COLD);
}
END_TEST

START_TEST(one_that_is_not_in_memory_has_nothing_to_lose)
{
    struct mt_served_model *former = add("one"), *newcomer = add("one");
    fake_set_broken(true);
    must(mt_served_model_succeed(former, newcomer, &err));
    fake_set_broken(false);
    use(former);
    fake_damage(former);
    fake_set_broken(true);
    must(mt_served_model_succeed(former, newcomer, &err));
    ck_assert_uint_eq(fake_n_loads(), 1);
}
END_TEST

Suite *suite_succession(void)
{
    Suite *suite = suite_create("succession");
    TCase *tcase = tcase_create("hosts");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, the_one_in_memory_answers_until_its_successor_can);
    tcase_add_test(tcase, a_successor_that_fails_leaves_the_one_in_memory);
    tcase_add_test(tcase, where_there_is_no_room_for_both_the_successor_is_looked_at);
    tcase_add_test(tcase, one_that_is_not_in_memory_has_nothing_to_lose);
    suite_add_tcase(suite, tcase);
    return suite;
}
