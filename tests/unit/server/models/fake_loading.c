#include "tests/unit/server/models/fake_loading.h"

#include "server/models/served_model_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the others */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct gate {
    bool is_closed, is_standing;
} loading, unloading;
static bool is_busy, breaks_all;
static size_t next_bytes, cache_bytes, n_loaded, n_loads, n_checks;

static void expect(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "fake_loading: %s\n", what);
    abort();
}

/* With the mutex. */
static void pass(struct gate *gate)
{
    while (gate->is_closed) {
        gate->is_standing = true;
        pthread_cond_broadcast(&changed);
        pthread_cond_wait(&changed, &mutex);
    }
    gate->is_standing = false;
}

/* With the mutex. */
static enum mt_status check_is_whole(const struct mt_served_model *served, struct mt_error *err)
{
    return breaks_all || strncmp(served->info.id, "broken", 6) == 0
               ? mt_fail(err, MT_FORMAT, "%s: is broken", served->info.directory)
               : MT_OK;
}

enum mt_status mt_model_loading_begin(struct mt_served_model *served, struct mt_model_size *out,
                                      struct mt_error *err)
{
    pthread_mutex_lock(&mutex);
    expect(!served->model, "loaded twice");
    pass(&loading);
    n_loads++;
    enum mt_status status = check_is_whole(served, err);
    if (!status) {
        served->model = malloc(1); /* an address of its own, and the leak checker sees to it */
        expect(served->model, "no memory");
        served->loaded.model = served->model;
        n_loaded++;
        *out = (struct mt_model_size){
            .n_parameters = 1,
            .mapped_bytes = next_bytes > 0 ? next_bytes : served->expected_bytes,
            .cache_bytes = cache_bytes,
        };
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

enum mt_status mt_model_loading_check(const struct mt_served_model *served, struct mt_error *err)
{
    pthread_mutex_lock(&mutex);
    n_checks++;
    enum mt_status status = check_is_whole(served, err);
    pthread_mutex_unlock(&mutex);
    return status;
}

size_t mt_model_loading_cache_bytes(const struct mt_served_model *served)
{
    pthread_mutex_lock(&mutex);
    expect(served->model, "looked at, but it is not loaded");
    size_t bytes = cache_bytes;
    pthread_mutex_unlock(&mutex);
    return bytes;
}

bool mt_model_loading_is_busy(const struct mt_served_model *served)
{
    pthread_mutex_lock(&mutex);
    expect(served->model, "asked for work, but it is not loaded");
    bool is_so = is_busy;
    pthread_mutex_unlock(&mutex);
    return is_so;
}

void fake_set_broken(bool is_so)
{
    pthread_mutex_lock(&mutex);
    breaks_all = is_so;
    pthread_mutex_unlock(&mutex);
}

void fake_set_busy(bool is_so)
{
    pthread_mutex_lock(&mutex);
    is_busy = is_so;
    pthread_mutex_unlock(&mutex);
}

void fake_set_cache_bytes(size_t bytes)
{
    pthread_mutex_lock(&mutex);
    cache_bytes = bytes;
    pthread_mutex_unlock(&mutex);
}

void mt_model_loading_end(struct mt_served_model *served)
{
    pthread_mutex_lock(&mutex);
    expect(served->model, "unloaded, but it was not loaded");
    expect(served->n_holders == 0, "unloaded while somebody holds it");
    pass(&unloading);
    free(served->model);
    served->model = NULL;
    served->loaded.model = NULL;
    n_loaded--;
    pthread_mutex_unlock(&mutex);
}

void fake_set_bytes(size_t bytes)
{
    pthread_mutex_lock(&mutex);
    next_bytes = bytes;
    pthread_mutex_unlock(&mutex);
}

void fake_damage(struct mt_served_model *served)
{
    atomic_store(&served->is_damaged, true);
}

static void set_gate(struct gate *gate, bool is_closed)
{
    pthread_mutex_lock(&mutex);
    gate->is_closed = is_closed;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_for(const struct gate *gate)
{
    pthread_mutex_lock(&mutex);
    while (!gate->is_standing)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

void fake_close_loading_gate(void)
{
    set_gate(&loading, true);
}

void fake_open_loading_gate(void)
{
    set_gate(&loading, false);
}

void fake_wait_for_load(void)
{
    wait_for(&loading);
}

void fake_close_unloading_gate(void)
{
    set_gate(&unloading, true);
}

void fake_open_unloading_gate(void)
{
    set_gate(&unloading, false);
}

void fake_wait_for_unload(void)
{
    wait_for(&unloading);
}

static size_t read_count(const size_t *count)
{
    pthread_mutex_lock(&mutex);
    size_t n = *count;
    pthread_mutex_unlock(&mutex);
    return n;
}

size_t fake_n_loaded(void)
{
    return read_count(&n_loaded);
}

size_t fake_n_loads(void)
{
    return read_count(&n_loads);
}

size_t fake_n_checks(void)
{
    return read_count(&n_checks);
}
