#include "server/pull/record.h"

#include "base/file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define RECORD                                                                                     \
    "{\"from\":\"hf:a/b@c\",\"files\":[{\"name\":\"w.bin\",\"size\":5,\"sha256\":\"" SHA256 "\"}]" \
    "}"

static char root[64], elsewhere[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    struct mt_error err;
    snprintf(path, sizeof path, "%s/m/%s", root, name);
    ck_assert(!mt_file_write(path, text, strlen(text), &err));
}

static void set_up(void)
{
    char path[128];
    strcpy(root, "/tmp/record.XXXXXX");
    strcpy(elsewhere, "/dev/shm/record.XXXXXX");
    ck_assert(mkdtemp(root) && mkdtemp(elsewhere));
    snprintf(path, sizeof path, "%s/m", root);
    ck_assert(!mkdir(path, 0755));
    write_file("w.bin", "12345");
    write_file(MT_STAGING_RECORD, RECORD);
}

static void tear_down(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s %s", root, elsewhere);
    ck_assert(!system(command));
}

static void read_record(struct mt_record *out)
{
    struct mt_error err;
    ck_assert(!mt_record_read(root, "m", false, out, &err));
}

/* Links that path has, and 0 where it is not there. */
static unsigned reuse(const char *directory, const struct mt_staged_file *file, const char **text)
{
    static char bytes[16];
    char path[128];
    struct mt_record record;
    struct stat found;
    read_record(&record);
    snprintf(path, sizeof path, "%s/copy", directory);
    mt_record_reuse(&record, file, path);
    mt_record_finish(&record);
    if (stat(path, &found))
        return 0;
    FILE *stream = fopen(path, "r");
    ck_assert_ptr_nonnull(stream);
    bytes[fread(bytes, 1, sizeof bytes - 1, stream)] = '\0';
    fclose(stream);
    unlink(path);
    *text = bytes;
    return (unsigned)found.st_nlink;
}

START_TEST(whole_or_not)
{
    struct mt_record record;
    int64_t size = -1;
    read_record(&record);
    ck_assert(mt_record_is_whole(&record, "hf:a/b@c", &size));
    ck_assert_int_eq(size, 5);
    ck_assert(!mt_record_is_whole(&record, "hf:a/b@d", &size));
    write_file("w.bin", "1234");
    ck_assert(!mt_record_is_whole(&record, "hf:a/b@c", &size));
    mt_record_finish(&record);
}
END_TEST

static const char *const damaged[] = {
    "",
    "{",
    "[]",
    "{\"from\":\"hf:a/b@c\"}",
    "{\"from\":\"hf:a/b@c\",\"files\":{}}",
    "{\"from\":\"hf:a/b@c\",\"files\":[7]}",
    "{\"from\":\"hf:a/b@c\",\"files\":[{\"name\":\"../m/w.bin\",\"size\":5}]}",
    "{\"from\":\"hf:a/b@c\",\"files\":[{\"name\":\"w.bin\",\"size\":-5}]}",
    "{\"from\":7,\"files\":[]}",
};

START_TEST(damaged_record_is_none)
{
    struct mt_record record;
    int64_t size;
    const char *text;
    const struct mt_staged_file file = {
        .name = "w.bin", .size = 5, .digest_kind = MT_DIGEST_SHA256, .digest = SHA256};
    write_file(MT_STAGING_RECORD, damaged[_i]);
    read_record(&record);
    ck_assert(!mt_record_is_whole(&record, "hf:a/b@c", &size));
    mt_record_finish(&record);
    ck_assert_uint_eq(reuse(root, &file, &text), 0);
}
END_TEST

START_TEST(linked_or_copied)
{
    struct mt_staged_file file = {
        .name = "w.bin", .size = 5, .digest_kind = MT_DIGEST_SHA256, .digest = SHA256};
    const char *text = "";
    ck_assert_uint_eq(reuse(root, &file, &text), 2);
    ck_assert_str_eq(text, "12345");
    /* Another file system, where no link leads: unless both are one, this is a copy. */
    ck_assert_uint_ge(reuse(elsewhere, &file, &text), 1);
    ck_assert_str_eq(text, "12345");
    file.digest_kind =
        MT_DIGEST_GIT_BLOB; /* which the record does not have: it is verified later */
    ck_assert_uint_eq(reuse(root, &file, &text), 2);
}
END_TEST

START_TEST(what_is_another_file_is_not_used)
{
    const struct mt_staged_file others[] = {
        {.name = "w.bin", .size = 5, .digest_kind = MT_DIGEST_SHA256, .digest = OTHER},
        {.name = "w.bin", .size = 6, .digest_kind = MT_DIGEST_SHA256, .digest = SHA256},
        {.name = "v.bin", .size = 5, .digest_kind = MT_DIGEST_SHA256, .digest = SHA256},
        {.name = "w.bin", .size = 5, .digest_kind = MT_DIGEST_NONE},
        {.name = "w.bin", .size = -1, .digest_kind = MT_DIGEST_SHA256, .digest = SHA256},
    };
    const char *text;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_uint_eq(reuse(root, &others[i], &text), 0);
}
END_TEST

Suite *suite_record(void)
{
    Suite *suite = suite_create("record");
    TCase *tcase = tcase_create("record");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, whole_or_not);
    tcase_add_loop_test(tcase, damaged_record_is_none, 0, sizeof damaged / sizeof *damaged);
    tcase_add_test(tcase, linked_or_copied);
    tcase_add_test(tcase, what_is_another_file_is_not_used);
    suite_add_tcase(suite, tcase);
    return suite;
}
