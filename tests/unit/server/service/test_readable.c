/* What root is left to read: with links that lead elsewhere, and files that are renewed. */
#include "server/service/readable.h"

#include "base/file.h"
#include "config/settings.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];
static struct mt_settings settings;
static struct mt_error error;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", error.message);
}

static const char *inside(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void make(const char *directory, const char *file)
{
    char path[512];
    mt_make_directories(inside(directory));
    snprintf(path, sizeof path, "%s/%s", directory, file);
    must(mt_file_write(inside(path), "x", 1, &error));
}

static void link_to(const char *target, const char *name)
{
    char *path = strdup(inside(target));
    ck_assert_int_eq(symlink(path, inside(name)), 0);
    free(path);
}

static void set(const char *key, const char *name)
{
    must(mt_settings_set(&settings, key, inside(name), "test", &error));
}

static void start(void)
{
    char made[] = "/tmp/mt_test_readable.XXXXXX", *real;
    ck_assert_ptr_nonnull(mkdtemp(made));
    ck_assert_ptr_nonnull(real = realpath(made, NULL));
    snprintf(root, sizeof root, "%s", real);
    free(real);
    must(mt_settings_init(&settings, &error));
    /* the places of models that nobody names */
    setenv("HOME", inside("home"), 1);
    setenv("XDG_DATA_HOME", inside("home"), 1);
}

static void stop(void)
{
    char command[300];
    mt_settings_finish(&settings);
    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

/* What of it is below root, without that, in any order. */
static bool lists(const char *config, const char *const *expected, size_t n_expected)
{
    struct mt_readable readable = {0};
    size_t n_found = 0, n_inside = 0;
    n_expected -= !expected[0];
    must(mt_readable_list(&settings, config, &readable, &error));
    for (size_t i = 0; i < readable.n; i++) {
        bool is_inside = strncmp(readable.paths[i], root, strlen(root)) == 0;
        n_inside += is_inside;
        for (size_t k = 0; k < n_expected && is_inside; k++)
            n_found += strcmp(readable.paths[i] + strlen(root), expected[k]) == 0;
        if (is_inside && n_found < n_inside)
            fprintf(stderr, "found %s\n", readable.paths[i]);
        ck_assert_str_ne(readable.paths[i], "/");
        ck_assert_str_ne(readable.paths[i], "/etc");
    }
    mt_readable_finish(&readable);
    return n_found == n_expected && n_inside == n_expected;
}

/* With NULL for none. */
#define LISTS(config, ...)                       \
    lists(config, (const char *[]){__VA_ARGS__}, \
          sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))

START_TEST(a_file_is_read_with_what_is_beside_it)
{
    make("conf", "attentiond.json");
    make("keys", "keys.json");
    char *config = strdup(inside("conf/attentiond.json"));
    ck_assert(LISTS(config, "/conf"));
    set("api_keys_file", "keys/keys.json");
    ck_assert(LISTS(config, "/conf", "/keys"));
    set("api_keys_file", "keys/none.json"); /* which may come */
    ck_assert(LISTS(config, "/conf", "/keys"));
    free(config);
}
END_TEST

START_TEST(a_link_is_read_and_what_is_beside_its_end)
{
    make("archive/site", "key1.pem");
    make("live/site", "README");
    ck_assert_int_eq(symlink("../../archive/site/key1.pem", inside("live/site/key.pem")), 0);
    set("tls_key", "live/site/key.pem");
    ck_assert(LISTS(NULL, "/live/site", "/archive/site"));
}
END_TEST

START_TEST(models_are_read_wherever_links_lead)
{
    make("models/plain", "config.json");
    make("versions/1/en-de", "config.json");
    make("shared", "vocab.json");
    make("hub/blobs", "123");
    make("hub/snapshots/abc", "README");
    link_to("versions/1/en-de", "models/en-de");
    link_to("shared/vocab.json", "models/plain/vocab.json");
    ck_assert_int_eq(symlink("../../blobs/123", inside("hub/snapshots/abc/model.bin")), 0);
    link_to("hub/snapshots/abc", "models/hub");
    ck_assert_int_eq(symlink(".", inside("models/loop")), 0);
    set("models_directory", "models");
    ck_assert(LISTS(NULL, "/models", "/versions/1", "/shared", "/hub/snapshots", "/hub/blobs"));
    set("models_directory", "none");
    ck_assert(LISTS(NULL, NULL));
    set("model", "models/plain");
    ck_assert(LISTS(NULL, "/models", "/shared"));
}
END_TEST

/* Beside it is everything. */
START_TEST(what_is_below_the_root_is_read_alone)
{
    must(mt_settings_set(&settings, "model", "/usr", "test", &error));
    ck_assert(LISTS(NULL, NULL));
}
END_TEST

Suite *suite_readable(void)
{
    Suite *suite = suite_create("readable");
    TCase *tcase = tcase_create("readable");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_file_is_read_with_what_is_beside_it);
    tcase_add_test(tcase, a_link_is_read_and_what_is_beside_its_end);
    tcase_add_test(tcase, models_are_read_wherever_links_lead);
    tcase_add_test(tcase, what_is_below_the_root_is_read_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}
