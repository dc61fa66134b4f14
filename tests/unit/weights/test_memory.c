/*
 * What base and weights do when memory runs out: every allocation of every scenario fails once, the
 * first, then the second, and so on until the scenario succeeds. Each failure must be MT_MEMORY
 * with a message; the leak sanitizer sees what is not given back.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/team.h"
#include "tests/unit/failing_allocations.h"
#include "weights/safetensors.h"

#include <cjson/cJSON.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The scenarios: each does something whole and gives everything back. */

static enum mt_status use_arena(struct mt_error *err)
{
    struct mt_arena *arena;
    void *piece;
    const char *copy;
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (status)
        return status;
    for (size_t bytes = 1; bytes < 1000000 && !status; bytes *= 3)
        status = mt_arena_take(arena, bytes, 1, "piece", &piece, err);
    if (!status)
        status = mt_arena_copy_string(arena, "abc", 3, &copy, err);
    mt_arena_destroy(arena);
    return status;
}

static enum mt_status use_text(struct mt_error *err)
{
    struct mt_text text = {0};
    char *bytes = NULL;
    for (int i = 0; i < 100; i++)
        mt_text_appendf(&text, "%d and some more text ", i);
    enum mt_status status = mt_text_take(&text, "text", &bytes, NULL, err);
    mt_text_finish(&text);
    free(bytes);
    return status;
}

static enum mt_status use_writer(struct mt_error *err)
{
    struct mt_text text = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &text);
    mt_json_begin_array(&writer);
    for (int i = 0; i < 100; i++)
        mt_json_fixed(&writer, 1.0 / (i + 1), 6);
    mt_json_end_array(&writer);
    enum mt_status status = mt_text_check(&text, "reply", err);
    mt_text_finish(&text);
    return status;
}

static enum mt_status use_json(struct mt_error *err)
{
    cJSON *tree;
    struct mt_text text = {0};
    for (int i = 0; i < 100; i++)
        mt_text_appendf(&text, "%c\"key %d\":[\"\\u00e4\",%d]", i ? ',' : '{', i, i);
    mt_text_append_string(&text, "}");
    enum mt_status status = mt_text_check(&text, "document", err);
    if (!status)
        status = mt_json_parse(text.bytes, text.length, NULL, "document", &tree, err);
    if (!status)
        cJSON_Delete(tree);
    mt_text_finish(&text);
    return status;
}

static enum mt_status use_file(struct mt_error *err)
{
    char *bytes;
    enum mt_status status = mt_file_read("/proc/self/exe", (size_t)1 << 30, &bytes, NULL, err);
    if (!status)
        free(bytes);
    return status;
}

static enum mt_status use_safetensors(struct mt_error *err)
{
    static const char header[] =
        "{\"__metadata__\":{\"k\":\"v\"},"
        "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"b\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[2,4]}}    ";
    unsigned char bytes[8 + sizeof header + 3] = {sizeof header - 1};
    memcpy(bytes + 8, header, sizeof header - 1);
    struct mt_safetensors *file;
    enum mt_status status =
        mt_safetensors_open_memory(bytes, 8 + sizeof header - 1 + 4, "memory", &file, err);
    if (!status)
        mt_safetensors_close(file);
    return status;
}

static enum mt_status use_team(struct mt_error *err)
{
    struct mt_team *team;
    enum mt_status status = mt_team_create(3, &team, err);
    if (!status)
        mt_team_destroy(team);
    return status;
}

static const struct {
    const char *name;
    enum mt_status (*run)(struct mt_error *err);
    size_t least; /* allocations, below which the test tests nothing */
} scenarios[] = {
    {"arena", use_arena, 4}, {"text", use_text, 3}, {"writer", use_writer, 3},
    {"json", use_json, 100}, {"file", use_file, 1}, {"safetensors", use_safetensors, 3},
    {"team", use_team, 2},
};

START_TEST(every_failed_allocation_is_reported)
{
    cJSON_Hooks hooks = {.malloc_fn = failing_allocations_malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
    for (size_t n = 0;; n++) {
        struct mt_error err = {0};
        failing_allocations_begin(n);
        enum mt_status status = scenarios[_i].run(&err);
        if (!failing_allocations_end()) {
            ck_assert_msg(!status, "%s: %s", scenarios[_i].name, err.message);
            ck_assert_uint_ge(n, scenarios[_i].least);
            return;
        }
        ck_assert_msg(status == MT_MEMORY, "%s, allocation %zu: %s", scenarios[_i].name, n,
                      mt_status_name(status));
        ck_assert_ptr_nonnull(strstr(err.message, "out of memory"));
    }
}
END_TEST

Suite *suite_memory(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("allocations");
    tcase_add_loop_test(tcase, every_failed_allocation_is_reported, 0,
                        sizeof scenarios / sizeof *scenarios);
    suite_add_tcase(suite, tcase);
    return suite;
}
