#include "server/api/web.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const struct {
    const char *if_none_match;
    bool has;
} cases[] = {
    {NULL, false},
    {"", false},
    {"\"abc\"", true},
    {"  \"abc\"  ", true},
    {"W/\"abc\"", true},
    {"*", true},
    {"\"x\", \"abc\"", true},
    {"\"x\",W/\"abc\" , \"y\"", true},
    {"\"a,b\",\"abc\"", true},
    {"\"abcd\"", false},
    {"\"ab\"", false},
    {"abc", false},
    {"\"x, \"abc", false},
    {"\"abc-gzip\"", false},
    {"W/", false},
    {",,,", false},
    {"\"", false},
};

START_TEST(knows_a_tag_in_a_list_of_tags)
{
    ck_assert_msg(mt_web_has_tag(cases[_i].if_none_match, "\"abc\"") == cases[_i].has, "%s",
                  cases[_i].if_none_match);
}
END_TEST

static bool is_page(const char *path)
{
    return strcmp(path, "/") == 0 || strcmp(path, "/docs") == 0 ||
           strcmp(path, "/openapi.json") == 0;
}

START_TEST(has_each_file_once_and_finds_it)
{
    ck_assert_uint_gt(mt_n_web_files, 10);
    for (size_t i = 0; i < mt_n_web_files; i++) {
        const struct mt_web_file *file = &mt_web_files[i];
        ck_assert_ptr_eq(mt_web_find(file->path), file);
        ck_assert(is_page(file->path) || strncmp(file->path, "/web/", 5) == 0);
        ck_assert_str_ne(file->etag, file->packed_etag);
    }
    ck_assert_ptr_nonnull(mt_web_find("/"));
    ck_assert_ptr_nonnull(mt_web_find("/docs"));
    ck_assert_ptr_nonnull(mt_web_find("/openapi.json"));
    ck_assert_ptr_null(mt_web_find("/web/openapi.json"));
    ck_assert_ptr_null(mt_web_find("/web/"));
    ck_assert_ptr_null(mt_web_find("/web/app.js.map"));
}
END_TEST

/* The two forms are one file, and compression was worth it. */
START_TEST(holds_the_same_bytes_compressed)
{
    for (size_t i = 0; i < mt_n_web_files; i++) {
        const struct mt_web_file *file = &mt_web_files[i];
        unsigned char *bytes = malloc(file->length + 1);
        ck_assert_ptr_nonnull(bytes);
        z_stream stream = {.next_in = (z_const Bytef *)file->packed,
                           .avail_in = (uInt)file->packed_length,
                           .next_out = bytes,
                           .avail_out = (uInt)file->length + 1};
        ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
        ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
        ck_assert_uint_eq(stream.total_out, file->length);
        ck_assert_mem_eq(bytes, file->bytes, file->length);
        ck_assert_uint_lt(file->packed_length, file->length);
        inflateEnd(&stream);
        free(bytes);
    }
}
END_TEST

Suite *suite_web(void)
{
    Suite *suite = suite_create("web");
    TCase *tcase = tcase_create("web");
    tcase_add_loop_test(tcase, knows_a_tag_in_a_list_of_tags, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, has_each_file_once_and_finds_it);
    tcase_add_test(tcase, holds_the_same_bytes_compressed);
    suite_add_tcase(suite, tcase);
    return suite;
}
