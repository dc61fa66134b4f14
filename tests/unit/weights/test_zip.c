#include "weights/zip.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* An archive as it is written, entry by entry; what is wrong with it is poked in. */
struct archive {
    unsigned char bytes[4096];
    size_t length;
    unsigned char directory[2048];
    size_t n_directory, n_entries;
};

static void put(unsigned char *bytes, size_t *at, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[(*at)++] = (unsigned char)(i < sizeof value ? value >> 8 * i : 0);
}

static void put_bytes(unsigned char *bytes, size_t *at, const void *from, size_t n)
{
    memcpy(bytes + *at, from, n);
    *at += n;
}

struct entry {
    const char *name, *content;
    const char *extra; /* of the directory */
    size_t n_extra;
    bool is_wide; /* sizes and offset stand in the extra field */
};

static void add(struct archive *archive, const struct entry *entry)
{
    size_t n_name = strlen(entry->name), n = strlen(entry->content), offset = archive->length;
    unsigned char *out = archive->bytes, *directory = archive->directory;
    size_t *at = &archive->length, *to = &archive->n_directory;
    put(out, at, 0x04034b50, 4);
    put(out, at, 20, 2);
    put(out, at, entry->is_wide ? 8 : 0, 2);
    put(out, at, 0, 2 + 4 + 4);
    put(out, at, entry->is_wide ? 0 : n, 4);
    put(out, at, entry->is_wide ? 0 : n, 4);
    put(out, at, n_name, 2);
    put(out, at, 0, 2);
    put_bytes(out, at, entry->name, n_name);
    put_bytes(out, at, entry->content, n);

    put(directory, to, 0x02014b50, 4);
    put(directory, to, 20, 2);
    put(directory, to, 20, 2);
    put(directory, to, 0, 2 + 2 + 4 + 4);
    put(directory, to, entry->is_wide ? UINT32_MAX : n, 4);
    put(directory, to, entry->is_wide ? UINT32_MAX : n, 4);
    put(directory, to, n_name, 2);
    put(directory, to, entry->n_extra, 2);
    put(directory, to, 0, 2 + 2 + 2 + 4);
    put(directory, to, entry->is_wide ? UINT32_MAX : offset, 4);
    put_bytes(directory, to, entry->name, n_name);
    if (entry->n_extra)
        put_bytes(directory, to, entry->extra, entry->n_extra);
    archive->n_entries++;
}

static void finish(struct archive *archive)
{
    size_t begin = archive->length, *at = &archive->length;
    put_bytes(archive->bytes, at, archive->directory, archive->n_directory);
    put(archive->bytes, at, 0x06054b50, 4);
    put(archive->bytes, at, 0, 4);
    put(archive->bytes, at, archive->n_entries, 2);
    put(archive->bytes, at, archive->n_entries, 2);
    put(archive->bytes, at, archive->n_directory, 4);
    put(archive->bytes, at, begin, 4);
    put(archive->bytes, at, 0, 2);
}

/* NULL, and err, where it is refused. The archive is read from memory of exactly its size. */
static struct mt_zip *open_copy(const struct archive *archive, unsigned char **copy,
                                struct mt_error *err)
{
    struct mt_zip *zip = NULL;
    *copy = malloc(archive->length);
    memcpy(*copy, archive->bytes, archive->length);
    if (mt_zip_open(*copy, archive->length, "a.zip", &zip, err)) {
        ck_assert_ptr_null(zip);
        ck_assert_ptr_nonnull(strstr(err->message, "a.zip"));
    }
    return zip;
}

static void check_entry(const struct mt_zip *zip, const char *name, const char *content)
{
    const struct mt_zip_entry *entry = mt_zip_find(zip, name);
    ck_assert_msg(entry, "no entry %s", name);
    ck_assert_uint_eq(entry->length, strlen(content));
    ck_assert(!memcmp(entry->bytes, content, entry->length));
}

static void check_refused(const struct archive *archive, const char *message)
{
    unsigned char *copy;
    struct mt_error err = {0};
    struct mt_zip *zip = open_copy(archive, &copy, &err);
    ck_assert_msg(!zip && strstr(err.message, message), "\"%s\", expected \"%s\"", err.message,
                  message);
    free(copy);
}

START_TEST(entries_are_views)
{
    struct archive archive = {0};
    unsigned char *copy;
    struct mt_error err;
    add(&archive, &(struct entry){.name = "b", .content = "second"});
    add(&archive, &(struct entry){.name = "a", .content = "first"});
    finish(&archive);
    struct mt_zip *zip = open_copy(&archive, &copy, &err);
    ck_assert_msg(zip, "%s", err.message);
    ck_assert_uint_eq(mt_zip_count(zip), 2);
    ck_assert_str_eq(mt_zip_at(zip, 0)->name, "b");
    check_entry(zip, "a", "first");
    check_entry(zip, "b", "second");
    ck_assert_ptr_null(mt_zip_find(zip, "c"));
    ck_assert_int_eq(mt_zip_check(zip, mt_zip_at(zip, 0), &err), MT_FORMAT); /* its CRC is 0 */
    mt_zip_close(zip);
    free(copy);
}
END_TEST

/* Field 0x5455 (a time), then zip64's: length, packed length, offset. */
#define OTHER_FIELD "UT\x05\0\x01\0\0\0\0"
#define WIDE_HEAD "\x01\0\x18\0"
#define FIVE "\x05\0\0\0\0\0\0\0"
#define ZERO "\0\0\0\0\0\0\0\0"

START_TEST(zip64_fields_are_read_among_others)
{
    static const char extra[] = OTHER_FIELD WIDE_HEAD FIVE FIVE ZERO;
    struct archive archive = {0};
    unsigned char *copy;
    struct mt_error err;
    add(&archive, &(struct entry){"wide", "12345", extra, sizeof extra - 1, true});
    add(&archive, &(struct entry){"narrow", "1", OTHER_FIELD, sizeof OTHER_FIELD - 1, false});
    finish(&archive);
    struct mt_zip *zip = open_copy(&archive, &copy, &err);
    ck_assert_msg(zip, "%s", err.message);
    check_entry(zip, "wide", "12345");
    check_entry(zip, "narrow", "1");
    mt_zip_close(zip);
    free(copy);
}
END_TEST

START_TEST(refuses_broken_extra_fields)
{
    static const struct {
        const char *extra;
        size_t n;
    } cases[] = {
        {"", 0},                                         /* sizes that stand nowhere */
        {OTHER_FIELD, sizeof OTHER_FIELD - 1},           /* nor there */
        {"\x01\0\x10\0" FIVE FIVE, 4 + 16},              /* no offset */
        {"\x01\0\x19\0" FIVE FIVE ZERO, 4 + 24},         /* reaches beyond */
        {OTHER_FIELD "\x01\0\x07\0" FIVE, 9 + 4 + 8 - 1} /* half a number */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive archive = {0};
        add(&archive, &(struct entry){"wide", "12345", cases[i].extra, cases[i].n, true});
        finish(&archive);
        check_refused(&archive, "extra fields are broken");
    }
}
END_TEST

START_TEST(no_name_occurs_twice)
{
    struct archive archive = {0};
    add(&archive, &(struct entry){.name = "same", .content = "1"});
    add(&archive, &(struct entry){.name = "other", .content = "2"});
    add(&archive, &(struct entry){.name = "same", .content = "3"});
    finish(&archive);
    check_refused(&archive, "two entries \"same\"");
}
END_TEST

START_TEST(no_byte_belongs_to_two)
{
    struct archive archive = {0};
    add(&archive, &(struct entry){.name = "a", .content = "0123456789"});
    add(&archive, &(struct entry){.name = "b", .content = "x"});
    archive.directory[24] = archive.bytes[18] = archive.bytes[22] =
        11; /* a reaches into b's header */
    archive.directory[20] = 11;
    finish(&archive);
    check_refused(&archive, "entries \"a\" and \"b\" overlap");
}
END_TEST

START_TEST(names_and_kinds_are_checked)
{
    static const struct {
        size_t at; /* in the directory */
        unsigned char byte;
        const char *message;
    } cases[] = {
        {0, 0, "the directory has fewer entries than it says"},
        {8, 1, "\"name\" is encrypted"},
        {10, 8, "\"name\" is compressed (method 8)"},
        {20, 9, "two sizes"},
        {28, 0, "name is empty"},
        {28, 200, "an entry reaches beyond the directory"},
        {34, 1, "several disks"},
        {42, 5, "not where the directory says"},
        {43, 5, "lies outside the archive"},
        {46, 'N', "another name than in the directory"},
        {46, 0xff, "not UTF-8"},
        {47, 0, "holds a NUL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive archive = {0};
        add(&archive, &(struct entry){.name = "name", .content = "12345"});
        archive.directory[cases[i].at] = cases[i].byte;
        finish(&archive);
        check_refused(&archive, cases[i].message);
    }
}
END_TEST

START_TEST(local_headers_agree_with_the_directory)
{
    static const struct {
        size_t at;
        unsigned char byte;
        const char *message;
    } cases[] = {
        {8, 8, "another method"},
        {22, 4, "another size"},
        {26, 3, "another name"},
        {27, 5, "reaches beyond the archive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive archive = {0};
        add(&archive, &(struct entry){.name = "name", .content = "12345"});
        archive.bytes[cases[i].at] = cases[i].byte;
        finish(&archive);
        check_refused(&archive, cases[i].message);
    }
}
END_TEST

START_TEST(refuses_every_truncation)
{
    struct archive archive = {0};
    add(&archive, &(struct entry){.name = "name", .content = "12345"});
    finish(&archive);
    for (; archive.length > 1; check_refused(&archive, "a.zip"))
        archive.length--;
}
END_TEST

Suite *suite_zip(void)
{
    Suite *suite = suite_create("zip");
    TCase *tcase = tcase_create("zip");
    tcase_add_test(tcase, entries_are_views);
    tcase_add_test(tcase, zip64_fields_are_read_among_others);
    tcase_add_test(tcase, refuses_broken_extra_fields);
    tcase_add_test(tcase, no_name_occurs_twice);
    tcase_add_test(tcase, no_byte_belongs_to_two);
    tcase_add_test(tcase, names_and_kinds_are_checked);
    tcase_add_test(tcase, local_headers_agree_with_the_directory);
    tcase_add_test(tcase, refuses_every_truncation);
    suite_add_tcase(suite, tcase);
    return suite;
}
