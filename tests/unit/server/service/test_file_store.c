#include "server/service/file_store.h"
#include "server/service/file_names.h"

#include <check.h>
#include <string.h>
#include <time.h>

static struct mt_file_store *store;

static void setup(void)
{
    struct mt_error err;
    ck_assert_int_eq(mt_file_store_create("", &store, &err), MT_OK);
}

static void teardown(void)
{
    mt_file_store_destroy(store);
}

static enum mt_status reserve(uint64_t client, size_t length, size_t limit_bytes,
                              char name[MT_STORED_NAME_BYTES])
{
    const struct mt_file_room room = {
        .client = client, .length = length, .limit_bytes = limit_bytes, .extension = ".srt"};
    struct mt_error err;
    return mt_file_store_reserve(store, &room, name, &err);
}

static enum mt_status fill(const char *name, const char *bytes, int64_t lifetime_ms,
                           size_t limit_bytes)
{
    const struct mt_stored_file file = {
        .bytes = bytes, .length = strlen(bytes), .file_name = "a.de.srt"};
    struct mt_error err;
    return mt_file_store_fill(store, name, &file, lifetime_ms, limit_bytes, &err);
}

static enum mt_status add_of(uint64_t client, const char *bytes, int64_t lifetime_ms,
                             size_t limit_bytes, char name[MT_STORED_NAME_BYTES])
{
    enum mt_status status = reserve(client, strlen(bytes), limit_bytes, name);
    return status ? status : fill(name, bytes, lifetime_ms, limit_bytes);
}

static enum mt_status add(const char *bytes, int64_t lifetime_ms, size_t limit_bytes,
                          char name[MT_STORED_NAME_BYTES])
{
    return add_of(1, bytes, lifetime_ms, limit_bytes, name);
}

static enum mt_status get(const char *name, const char *expected)
{
    struct mt_text body = {0}, file_name = {0};
    struct mt_error err;
    enum mt_status status = mt_file_store_get(store, name, &body, &file_name, &err);
    if (!status) {
        ck_assert_str_eq(body.bytes, expected);
        ck_assert_str_eq(file_name.bytes, "a.de.srt");
    }
    mt_text_finish(&body);
    mt_text_finish(&file_name);
    return status;
}

static void sleep_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

START_TEST(a_file_is_found_by_its_whole_name_alone)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    ck_assert_int_eq(add("one", 60000, 100, name), MT_OK);
    ck_assert_int_eq(add("two", 60000, 100, other), MT_OK);
    ck_assert_str_ne(name, other);
    ck_assert_uint_eq(strlen(name), 36);
    ck_assert_uint_eq(strspn(name, "0123456789abcdef"), 32);
    ck_assert_int_eq(get(name, "one"), MT_OK);
    ck_assert_int_eq(get(name, "one"), MT_OK);
    ck_assert_int_eq(get(other, "two"), MT_OK);
    name[35] = 'x';
    ck_assert_int_eq(get(name, ""), MT_NOT_FOUND);
    name[32] = '\0';
    ck_assert_int_eq(get(name, ""), MT_NOT_FOUND);
    ck_assert_int_eq(get("", ""), MT_NOT_FOUND);
    ck_assert_int_eq(get("../../../../../../../../etc/passwd", ""), MT_NOT_FOUND);
}
END_TEST

START_TEST(a_file_ends_when_its_time_is_over)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    struct mt_file_store_counts counts;
    ck_assert_int_eq(add("one", 20, 100, name), MT_OK);
    ck_assert_int_eq(add("three", 60000, 100, other), MT_OK);
    mt_file_store_count(store, &counts);
    ck_assert_uint_eq(counts.n_files, 2);
    ck_assert_uint_eq(counts.n_bytes, 8);
    sleep_ms(40);
    mt_file_store_sweep(store);
    mt_file_store_count(store, &counts);
    ck_assert_uint_eq(counts.n_files, 1);
    ck_assert_uint_eq(counts.n_bytes, 5);
    ck_assert_int_eq(get(name, ""), MT_NOT_FOUND);
    ck_assert_int_eq(get(other, "three"), MT_OK);
}
END_TEST

START_TEST(all_files_together_have_a_limit)
{
    char name[MT_STORED_NAME_BYTES];
    ck_assert_int_eq(add("123456", 60000, 5, name), MT_LIMIT);
    ck_assert_int_eq(add("12345", 30, 8, name), MT_OK);
    ck_assert_int_eq(add("1234", 60000, 8, name), MT_BUSY);
    ck_assert_int_eq(add("123", 60000, 8, name), MT_OK);
    sleep_ms(50);
    ck_assert_int_eq(add("1234", 60000, 8, name), MT_OK);
}
END_TEST

START_TEST(so_has_their_number)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    for (size_t i = 0; i < MT_MAX_STORED_FILES; i++)
        ck_assert_int_eq(add("", 60000, 100, name), MT_OK);
    ck_assert_int_eq(add("", 60000, 100, other), MT_BUSY);
    ck_assert_int_eq(add_of(2, "", 60000, 100, other), MT_OK);
    ck_assert_int_eq(get(name, ""), MT_OK);
    ck_assert_int_eq(add("", 60000, 100, other), MT_OK);
    ck_assert_int_eq(get(name, ""), MT_NOT_FOUND);
}
END_TEST

START_TEST(files_that_were_fetched_make_room)
{
    char names[3][MT_STORED_NAME_BYTES], name[MT_STORED_NAME_BYTES];
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(add_of(i, "12", 60000, 6, names[i]), MT_OK);
    ck_assert_int_eq(add_of(1, "12", 60000, 6, name), MT_BUSY);
    ck_assert_int_eq(get(names[2], "12"), MT_OK);
    ck_assert_int_eq(get(names[1], "12"), MT_OK);
    ck_assert_int_eq(add_of(1, "34", 60000, 6, name), MT_OK);
    ck_assert_int_eq(get(names[1], "12"), MT_NOT_FOUND);
    ck_assert_int_eq(get(names[2], "12"), MT_OK);
    ck_assert_int_eq(get(names[0], "12"), MT_OK);
    ck_assert_int_eq(get(name, "34"), MT_OK);
}
END_TEST

START_TEST(who_holds_most_makes_room_for_others)
{
    char names[4][MT_STORED_NAME_BYTES], name[MT_STORED_NAME_BYTES];
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(add_of(1, "12", 60000, 8, names[i]), MT_OK);
    ck_assert_int_eq(add_of(1, "34", 60000, 8, name), MT_BUSY);
    ck_assert_int_eq(add_of(2, "34", 60000, 8, name), MT_OK);
    ck_assert_int_eq(get(names[0], ""), MT_NOT_FOUND);
    ck_assert_int_eq(reserve(2, 3, 8, name), MT_BUSY); /* each would have 5 of 8 then */
    ck_assert_int_eq(add_of(3, "56", 60000, 8, name), MT_OK);
    ck_assert_int_eq(get(names[1], ""), MT_NOT_FOUND);
    ck_assert_int_eq(get(names[2], "12"), MT_OK);
}
END_TEST

START_TEST(room_is_reserved_before_there_is_a_file)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    struct mt_file_store_counts counts;
    ck_assert_int_eq(reserve(1, 9, 8, name), MT_LIMIT);
    ck_assert_int_eq(reserve(1, 6, 8, name), MT_OK);
    ck_assert_int_eq(get(name, ""), MT_NOT_FOUND);
    mt_file_store_count(store, &counts);
    ck_assert_uint_eq(counts.n_files + counts.n_bytes, 0);
    ck_assert_int_eq(reserve(1, 3, 8, other), MT_BUSY);
    ck_assert_int_eq(fill(name, "12345", 60000, 8), MT_OK);
    ck_assert_int_eq(reserve(1, 3, 8, other), MT_OK);
    ck_assert_int_eq(fill(other, "1234", 60000, 8), MT_BUSY); /* longer than reserved */
    ck_assert_int_eq(reserve(1, 3, 8, other), MT_OK);
    mt_file_store_cancel(store, other);
    ck_assert_int_eq(reserve(1, 3, 8, other), MT_OK);
    mt_file_store_cancel(store, name); /* is a file */
    ck_assert_int_eq(get(name, "12345"), MT_OK);
}
END_TEST

START_TEST(reserved_room_is_given_to_who_holds_less)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    ck_assert_int_eq(reserve(1, 8, 8, name), MT_OK);
    ck_assert_int_eq(reserve(2, 2, 8, other), MT_OK);
    ck_assert_int_eq(fill(name, "12345678", 60000, 8), MT_BUSY);
    ck_assert_int_eq(fill(other, "12", 60000, 8), MT_OK);
    mt_file_store_cancel(store, name);
    ck_assert_int_eq(get(other, "12"), MT_OK);
}
END_TEST

static const struct {
    const char *file_name, *source, *extension, *expected;
} names[] = {
    {"Film.srt", "en", ".srt", "Film.de.srt"},
    {"Film.en.srt", "en", ".srt", "Film.de.srt"},
    {"Film.EN.srt", "en", ".srt", "Film.de.srt"},
    {"Film.fr.srt", "en", ".srt", "Film.fr.de.srt"},
    {"en.srt", "en", ".srt", "en.de.srt"},
    {"index.htm", "en", ".html", "index.de.html"},
    {"de.po", "en", ".po", "de.po"},
    {"app.en.po", "en", ".po", "app.en.po"},
    {"/a/b\\c.txt", "en", ".txt", "c.de.txt"},
    {"..txt", "en", ".txt", "translation.de.txt"},
    {"", "", ".txt", "translation.de.txt"},
    {"a\tb:c\"d.txt", "", ".txt", "a_b_c_d.de.txt"},
    {"\xC3\xA4.txt", "", ".txt", "\xC3\xA4.de.txt"},
};

START_TEST(a_translated_file_has_a_harmless_name)
{
    char out[MT_FILE_NAME_BYTES];
    mt_file_name_translated(names[_i].file_name, names[_i].source, "de", names[_i].extension, out);
    ck_assert_str_eq(out, names[_i].expected);
}
END_TEST

START_TEST(a_long_name_is_cut_between_characters)
{
    char out[MT_FILE_NAME_BYTES], name[1001] = "a";
    for (size_t i = 1; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA4", 2);
    mt_file_name_translated(name, "en", "de", ".txt", out);
    ck_assert_uint_eq(mt_utf8_valid_prefix(out, strlen(out)), strlen(out));
    ck_assert_uint_eq(strlen(out), 119 + strlen(".de.txt"));
}
END_TEST

START_TEST(the_header_holds_the_name_twice)
{
    struct mt_text out = {0};
    mt_file_write_disposition("a \"b\"\\%\xC3\xA4.de.srt", &out);
    ck_assert_str_eq(out.bytes, "attachment; filename=\"a _b____.de.srt\"; "
                                "filename*=UTF-8''a%20%22b%22%5C%25%C3%A4.de.srt");
    mt_text_finish(&out);
}
END_TEST

static const struct {
    const char *public_url, *host, *proto, *expected; /* NULL: refused */
} urls[] = {
    {"", "localhost:5000", NULL, "http://localhost:5000"},
    {"", "example.org", "https", "https://example.org"},
    {"", "example.org", "HTTPS", "https://example.org"},
    {"", "example.org", "https, http", "http://example.org"},
    {"", "[::1]:5000", NULL, "http://[::1]:5000"},
    {"https://a.b/c", NULL, NULL, "https://a.b/c"},
    {"https://a.b/c/", "x", NULL, "https://a.b/c"},
    {"", NULL, NULL, NULL},
    {"", "", NULL, NULL},
    {"", "a/b", NULL, NULL},
    {"", "a@b", NULL, NULL},
    {"", "a:", NULL, NULL},
    {"", "a:1x", NULL, NULL},
    {"", "a:123456", NULL, NULL},
    {"", "[]", NULL, NULL},
    {"", "[::1", NULL, NULL},
    {"", "a\"b", NULL, NULL},
};

START_TEST(a_link_leads_to_where_the_client_came_from)
{
    struct mt_text out = {0};
    struct mt_error err;
    enum mt_status status =
        mt_files_base_url(urls[_i].public_url, urls[_i].host, urls[_i].proto, &out, &err);
    ck_assert_int_eq(status, urls[_i].expected ? MT_OK : MT_INVALID);
    if (urls[_i].expected)
        ck_assert_str_eq(out.bytes, urls[_i].expected);
    mt_text_finish(&out);
}
END_TEST

Suite *suite_file_store(void)
{
    Suite *suite = suite_create("file_store");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_file_is_found_by_its_whole_name_alone);
    tcase_add_test(all, a_file_ends_when_its_time_is_over);
    tcase_add_test(all, all_files_together_have_a_limit);
    tcase_add_test(all, so_has_their_number);
    tcase_add_test(all, files_that_were_fetched_make_room);
    tcase_add_test(all, who_holds_most_makes_room_for_others);
    tcase_add_test(all, room_is_reserved_before_there_is_a_file);
    tcase_add_test(all, reserved_room_is_given_to_who_holds_less);
    tcase_add_loop_test(all, a_translated_file_has_a_harmless_name, 0,
                        (int)(sizeof names / sizeof *names));
    tcase_add_test(all, a_long_name_is_cut_between_characters);
    tcase_add_test(all, the_header_holds_the_name_twice);
    tcase_add_loop_test(all, a_link_leads_to_where_the_client_came_from, 0,
                        (int)(sizeof urls / sizeof *urls));
    suite_add_tcase(suite, all);
    return suite;
}
