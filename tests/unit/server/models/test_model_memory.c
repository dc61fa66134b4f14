/*
 * What settings, catalog and host do when memory runs out: each of their allocations fails once. A
 * failure is MT_MEMORY with a message, and success is all of it: no model is left out, or taken for
 * a broken one, for want of memory. The leak sanitizer sees what is not given back.
 */
#include "base/file.h"
#include "base/log.h"
#include "config/settings.h"
#include "server/models/catalog.h"
#include "server/models/model_host.h"
#include "tests/unit/failing_allocations.h"

#include <cjson/cJSON.h>
#include <check.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL "/tests/models/en-de"
#define N_MODELS 3

static char root[256], models[300];
static struct mt_settings settings;
static struct mt_model_host *host;
static struct mt_catalog *catalog;
static struct mt_error error;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", error.message);
}

/* --- the directory: en-de can be loaded, the others are only read --- */

static void write_file(const char *model, const char *file, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s/%s", models, model, file);
    must(mt_file_write(path, text, strlen(text), &error));
}

static void make_model(const char *name, const char *own)
{
    char path[600], *config;
    snprintf(path, sizeof path, "%s" REAL "/config.json", getenv("MT_SOURCE_DIR"));
    must(mt_file_read(path, 1 << 20, &config, NULL, &error));
    snprintf(path, sizeof path, "%s/%s", models, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_file(name, "config.json", config);
    write_file(name, "model.safetensors", "weights");
    write_file(name, "attentiond.json", own);
    free(config);
}

static void make_models(void)
{
    char path[600], real[600];
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/mt-memory-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(models, sizeof models, "%s/models", root);
    ck_assert_int_eq(mkdir(models, 0700), 0);
    snprintf(real, sizeof real, "%s" REAL, getenv("MT_SOURCE_DIR"));
    snprintf(path, sizeof path, "%s/en-de", models);
    ck_assert_int_eq(symlink(real, path), 0);
    make_model("de-fr", "{\"aliases\": [\"french\"], \"alignment_layers\": [1], \"beam_size\": 2}");
    make_model("many", "{\"source_lang\": [\"de\", \"nl\"]}");
    write_file("many", "vocab.json", "{\">>spa<<\": 1, \">>por<<\": 2, \"</s>\": 0}");
    write_file("many", "README.md", "---\nlicense: cc0-1.0\n---\n");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static enum mt_status scan(const struct mt_catalog *former, struct mt_catalog **out,
                           struct mt_error *err)
{
    const struct mt_catalog_options options = {
        .settings = &settings, .host = host, .former = former};
    return mt_catalog_create(&options, out, err);
}

static const struct mt_model_host_options options = {
    .engine = {.n_workers = 1, .threads_per_worker = 1}};

static void start(void)
{
    mt_log_configure(MT_LOG_NONE, false); /* of every failure */
    make_models();
    must(mt_settings_init(&settings, &error));
    must(mt_settings_set(&settings, "models_directory", models, "test", &error));
    must(mt_model_host_create(&options, &host, &error));
    must(scan(NULL, &catalog, &error));
}

static void stop(void)
{
    mt_catalog_destroy(catalog);
    mt_model_host_let_go(host);
    mt_settings_finish(&settings);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- the scenarios: each does something whole; what it leaves is looked at afterwards, because
 * libcheck takes memory, too --- */

static struct mt_catalog *found;
static struct mt_model_host *other_host;
static struct mt_model_route route;

static enum mt_status read_setting(struct mt_error *err)
{
    return mt_settings_set(&settings, "port", "0", "--port", err);
}

static enum mt_status find_models(struct mt_error *err)
{
    return scan(NULL, &found, err);
}

static enum mt_status find_them_again(struct mt_error *err)
{
    return scan(catalog, &found, err);
}

static enum mt_status find_way(struct mt_error *err)
{
    return mt_catalog_route(catalog, "en", "fr", &route, err);
}

/* That there is none is the answer. */
static enum mt_status find_no_step(struct mt_error *err)
{
    struct mt_model_route_step step;
    enum mt_status status = mt_catalog_step(mt_catalog_find(catalog, "many"), "xx", "", &step, err);
    return status == MT_INVALID ? MT_OK : status;
}

static enum mt_status open_host(struct mt_error *err)
{
    return mt_model_host_create(&options, &other_host, err);
}

static enum mt_status load(struct mt_error *err)
{
    const struct mt_loaded_model *loaded;
    return mt_served_model_load(mt_catalog_find(catalog, "en-de"), &loaded, err);
}

static const struct {
    const char *name;
    enum mt_status (*run)(struct mt_error *err);
    size_t least;   /* allocations, below which the test tests nothing */
    bool has_cache; /* of packed models, with everything in it */
} scenarios[] = {
    {"read a setting", read_setting, 1, false},
    {"find models", find_models, 100, false},
    {"find them again", find_them_again, 100, false},
    {"find a way", find_way, 4, false},
    {"find no step", find_no_step, 1, false},
    {"open a host", open_host, 5, false},
    {"load and pack", load, 100, false},
    {"load what is packed", load, 100, true},
};

static void check_whole(void)
{
    struct mt_served_model_status status;
    ck_assert_uint_eq(mt_catalog_n(found), N_MODELS);
    for (size_t i = 0; i < N_MODELS; i++) {
        mt_served_model_describe(mt_catalog_at(found, i), &status);
        ck_assert_msg(status.state != MT_SERVED_FAILED, "%s", status.reason);
    }
    const struct mt_served_model_info *info = mt_served_model_info(mt_catalog_find(found, "many"));
    ck_assert_uint_eq(info->n_sources, 2);
    ck_assert_uint_eq(info->n_targets, 2);
    ck_assert_uint_eq(mt_served_model_info(mt_catalog_find(found, "french"))->n_targets, 1);
    ck_assert_uint_eq(mt_catalog_n_languages(found), 6);
}

/* Whatever became of it; the catalog anew, so that nothing in it has failed or is loaded. */
static void clean_up(void)
{
    if (found)
        check_whole();
    ck_assert(route.n == 0 || route.n == 2);
    mt_catalog_destroy(found);
    found = NULL;
    mt_model_host_let_go(other_host);
    other_host = NULL;
    mt_catalog_destroy(catalog);
    catalog = NULL;
    must(scan(NULL, &catalog, &error));
}

static bool is_file_in(const char *directory)
{
    char pattern[400];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*.int8.safetensors", directory);
    bool is_there = glob(pattern, 0, NULL, &files) == 0;
    globfree(&files);
    return is_there;
}

/* The file is written by a thread of its own, whose allocations are not those of a scenario. */
static void fill_cache(void)
{
    char cache[300];
    const struct timespec moment = {.tv_nsec = 1000000};
    snprintf(cache, sizeof cache, "%s/cache", root);
    must(mt_settings_set(&settings, "cache_dir", cache, "test", &error));
    clean_up();
    must(load(&error));
    while (!is_file_in(cache))
        nanosleep(&moment, NULL);
    clean_up();
}

/* Of many not all, unless nothing may be left out. */
static size_t next(size_t n)
{
    bool is_full = getenv("MT_TEST_FULL") != NULL;
    return n + (is_full || n < 100 ? 1 : n / 25);
}

START_TEST(every_failed_allocation_is_reported)
{
    cJSON_Hooks hooks = {.malloc_fn = failing_allocations_malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
    if (scenarios[_i].has_cache)
        fill_cache();
    must(scenarios[_i].run(&error));
    clean_up();
    for (size_t n = 0;; n = next(n)) {
        struct mt_error err = {0};
        failing_allocations_begin(n);
        enum mt_status status = scenarios[_i].run(&err);
        bool has_failed = failing_allocations_end();
        clean_up();
        if (!has_failed) {
            ck_assert_msg(!status, "%s: %s", scenarios[_i].name, err.message);
            ck_assert_uint_ge(n, scenarios[_i].least);
            return;
        }
        ck_assert_msg(status == MT_MEMORY, "%s, allocation %zu: %s, %s", scenarios[_i].name, n,
                      mt_status_name(status), err.message);
        ck_assert_ptr_nonnull(strstr(err.message, "out of memory"));
    }
}
END_TEST

Suite *suite_model_memory(void)
{
    Suite *suite = suite_create("model_memory");
    TCase *tcase = tcase_create("allocations");
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, every_failed_allocation_is_reported, 0,
                        sizeof scenarios / sizeof *scenarios);
    suite_add_tcase(suite, tcase);
    return suite;
}
