#include "weights/compressed.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define LIMIT ((size_t)4 << 20)

struct bytes {
    unsigned char *bytes;
    size_t n;
};

static unsigned char number_at(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 13);
}

static struct bytes content_of(size_t n)
{
    struct bytes content = {malloc(n + 1), n};
    ck_assert_ptr_nonnull(content.bytes);
    for (size_t i = 0; i < n; i++)
        content.bytes[i] = i % 3 ? number_at(i) : 'x';
    return content;
}

static struct bytes gzip_of(struct bytes content)
{
    z_stream stream = {0};
    ck_assert(deflateInit2(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t capacity = deflateBound(&stream, content.n) + 64;
    struct bytes out = {malloc(capacity), 0};
    ck_assert_ptr_nonnull(out.bytes);
    stream.next_in = content.bytes;
    stream.avail_in = (uInt)content.n;
    stream.next_out = out.bytes;
    stream.avail_out = (uInt)capacity;
    ck_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.n = stream.total_out;
    deflateEnd(&stream);
    return out;
}

static struct bytes zstd_of(struct bytes content)
{
    size_t capacity = ZSTD_compressBound(content.n);
    struct bytes out = {malloc(capacity), 0};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ck_assert(out.bytes && context);
    ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
    out.n = ZSTD_compress2(context, out.bytes, capacity, content.bytes, content.n);
    ck_assert(!ZSTD_isError(out.n));
    ZSTD_freeCCtx(context);
    return out;
}

static const struct form {
    enum mt_compression compression;
    struct bytes (*make)(struct bytes content);
} forms[] = {{MT_GZIP, gzip_of}, {MT_ZSTANDARD, zstd_of}};

static enum mt_status unpack(const struct form *form, const unsigned char *bytes, size_t n,
                             size_t limit, struct mt_mapping *out, struct mt_error *err)
{
    /* In memory of its own, so that a byte behind the end is seen. */
    unsigned char *copy = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, n);
    enum mt_status status = mt_decompress(form->compression, copy, n, "a.x", limit, out, err);
    if (status) {
        ck_assert(!out->bytes && !out->length);
        ck_assert_ptr_nonnull(strstr(err->message, "a.x"));
    }
    free(copy);
    return status;
}

static bool is_same(const struct mt_mapping *found, struct bytes content)
{
    return found->length == content.n &&
           (!content.n || !memcmp(found->bytes, content.bytes, content.n));
}

START_TEST(comes_out_as_it_went_in)
{
    static const size_t sizes[] = {
        0, 1, 4095, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, LIMIT - 1, LIMIT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bytes content = content_of(sizes[i]), packed = forms[_i].make(content);
        struct mt_mapping found;
        struct mt_error err;
        ck_assert_msg(!unpack(&forms[_i], packed.bytes, packed.n, LIMIT, &found, &err), "%s",
                      err.message);
        ck_assert(is_same(&found, content));
        mt_mapping_close(&found);
        free(content.bytes);
        free(packed.bytes);
    }
}
END_TEST

START_TEST(several_members_are_one_file)
{
    struct bytes content = content_of(5000), packed = forms[_i].make(content);
    unsigned char *twice = malloc(2 * packed.n);
    struct mt_mapping found;
    struct mt_error err;
    ck_assert_ptr_nonnull(twice);
    memcpy(twice, packed.bytes, packed.n);
    memcpy(twice + packed.n, packed.bytes, packed.n);
    ck_assert(!unpack(&forms[_i], twice, 2 * packed.n, LIMIT, &found, &err));
    ck_assert_uint_eq(found.length, 10000);
    ck_assert(!memcmp(found.bytes + 5000, content.bytes, 5000));
    mt_mapping_close(&found);
    ck_assert_int_eq(unpack(&forms[_i], twice, 2 * packed.n - 1, LIMIT, &found, &err), MT_FORMAT);
    ck_assert_int_eq(unpack(&forms[_i], twice, packed.n + 1, LIMIT, &found, &err), MT_FORMAT);
    free(twice);
    free(content.bytes);
    free(packed.bytes);
}
END_TEST

START_TEST(no_part_of_a_file_is_taken_for_it)
{
    struct bytes content = content_of(400), packed = forms[_i].make(content);
    for (size_t n = 0; n < packed.n; n++) {
        struct mt_mapping found;
        struct mt_error err;
        ck_assert_int_eq(unpack(&forms[_i], packed.bytes, n, LIMIT, &found, &err), MT_FORMAT);
    }
    free(content.bytes);
    free(packed.bytes);
}
END_TEST

/* Some bytes say nothing of the content, such as when it was packed. */
START_TEST(a_flipped_bit_is_an_error_or_says_nothing)
{
    struct bytes content = content_of(60), packed = forms[_i].make(content);
    size_t n_errors = 0;
    for (size_t bit = 0; bit < 8 * packed.n; bit++) {
        struct mt_mapping found = {0};
        struct mt_error err;
        packed.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (unpack(&forms[_i], packed.bytes, packed.n, LIMIT, &found, &err)) {
            n_errors++;
        } else {
            ck_assert_msg(is_same(&found, content), "bit %zu", bit);
            mt_mapping_close(&found);
        }
        packed.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ck_assert_uint_gt(n_errors, 8 * packed.n * 9 / 10);
    free(content.bytes);
    free(packed.bytes);
}
END_TEST

START_TEST(more_than_the_limit_is_not_unpacked)
{
    struct bytes content = {calloc(1, (size_t)64 << 20), (size_t)64 << 20}; /* a bomb: zeros */
    struct bytes packed = forms[_i].make(content);
    static const size_t limits[] = {0, 1, 4096, (1 << 20) - 1, 1 << 20, ((size_t)64 << 20) - 1};
    struct mt_mapping found;
    struct mt_error err;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        ck_assert_int_eq(unpack(&forms[_i], packed.bytes, packed.n, limits[i], &found, &err),
                         MT_LIMIT);
        ck_assert_ptr_nonnull(strstr(err.message, "unpacks to more than"));
    }
    free(content.bytes);
    free(packed.bytes);
}
END_TEST

START_TEST(what_is_something_else_is_refused)
{
    static const char text[] = "vocabs: [a.spm]\n";
    struct mt_mapping found;
    struct mt_error err;
    const unsigned char *bytes = (const unsigned char *)text;
    ck_assert_int_eq(unpack(&forms[_i], bytes, sizeof text, LIMIT, &found, &err), MT_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, _i ? "no Zstandard data" : "no gzip data"));
    ck_assert_int_eq(unpack(&forms[_i], bytes, 0, LIMIT, &found, &err), MT_FORMAT);
}
END_TEST

START_TEST(the_name_tells_the_form)
{
    size_t n;
    ck_assert_int_eq(mt_compression_of("a.bin.gz", &n), MT_GZIP);
    ck_assert_uint_eq(n, 5);
    ck_assert_int_eq(mt_compression_of("a.spm.zst", &n), MT_ZSTANDARD);
    ck_assert_uint_eq(n, 5);
    ck_assert_int_eq(mt_compression_of("a.bin", &n), MT_NOT_COMPRESSED);
    ck_assert_uint_eq(n, 5);
    ck_assert_int_eq(mt_compression_of(".gz", &n), MT_NOT_COMPRESSED);
}
END_TEST

Suite *suite_compressed(void)
{
    Suite *suite = suite_create("compressed");
    TCase *tcase = tcase_create("compressed");
    tcase_add_loop_test(tcase, comes_out_as_it_went_in, 0, 2);
    tcase_add_loop_test(tcase, several_members_are_one_file, 0, 2);
    tcase_add_loop_test(tcase, no_part_of_a_file_is_taken_for_it, 0, 2);
    tcase_add_loop_test(tcase, a_flipped_bit_is_an_error_or_says_nothing, 0, 2);
    tcase_add_loop_test(tcase, more_than_the_limit_is_not_unpacked, 0, 2);
    tcase_add_loop_test(tcase, what_is_something_else_is_refused, 0, 2);
    tcase_add_test(tcase, the_name_tells_the_form);
    suite_add_tcase(suite, tcase);
    return suite;
}
