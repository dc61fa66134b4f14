#include "base/arena.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct mt_arena *open_arena(size_t limit_bytes)
{
    struct mt_arena *arena;
    ck_assert_int_eq(mt_arena_create(limit_bytes, &arena, NULL), MT_OK);
    return arena;
}

static unsigned char *take(struct mt_arena *arena, size_t n_bytes)
{
    void *piece;
    ck_assert_int_eq(mt_arena_take(arena, n_bytes, 1, "piece", &piece, NULL), MT_OK);
    return piece;
}

/* A check per byte would take seconds. */
static bool is_filled(const unsigned char *bytes, unsigned char value, size_t n)
{
    return n == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, n - 1) == 0);
}

START_TEST(pieces_are_zeroed_aligned_and_apart)
{
    /* Around the chunk size, the limit for a chunk of its own, and the alignment. */
    static const size_t sizes[] = {1,     63,    64,    65,    100,    8191, 8192, 8193,
                                   30000, 32767, 32768, 32769, 100000, 1,    2,    1000000};
    enum { N_SIZES = sizeof sizes / sizeof *sizes, N_ROUNDS = 5 };
    unsigned char *pieces[N_SIZES * N_ROUNDS];
    struct mt_arena *arena = open_arena(0);
    for (size_t i = 0; i < N_SIZES * N_ROUNDS; i++) {
        size_t n = sizes[i % N_SIZES];
        pieces[i] = take(arena, n);
        ck_assert_uint_eq((uintptr_t)pieces[i] % MT_ARENA_ALIGNMENT, 0);
        ck_assert(is_filled(pieces[i], 0, n));
        memset(pieces[i], (int)(i + 1), n);
    }
    for (size_t i = 0; i < N_SIZES * N_ROUNDS; i++)
        ck_assert(is_filled(pieces[i], (unsigned char)(i + 1), sizes[i % N_SIZES]));
    mt_arena_destroy(arena);
}
END_TEST

START_TEST(memory_that_was_used_before_is_zeroed)
{
    for (int round = 0; round < 3; round++) {
        struct mt_arena *arena = open_arena(0);
        for (int i = 0; i < 100; i++) {
            unsigned char *piece = take(arena, 1000);
            ck_assert(is_filled(piece, 0, 1000));
            memset(piece, 0xFF, 1000);
        }
        mt_arena_destroy(arena);
    }
}
END_TEST

START_TEST(bytes_count_padding)
{
    struct mt_arena *arena = open_arena(0);
    ck_assert_uint_eq(mt_arena_bytes(arena), 0);
    take(arena, 1);
    ck_assert_uint_eq(mt_arena_bytes(arena), 64);
    take(arena, 65);
    ck_assert_uint_eq(mt_arena_bytes(arena), 64 + 128);
    mt_arena_destroy(arena);
}
END_TEST

START_TEST(nothing_is_a_piece_too)
{
    struct mt_arena *arena = open_arena(0);
    unsigned char *nothing = take(arena, 0);
    ck_assert_ptr_nonnull(nothing);
    ck_assert_ptr_ne(nothing, take(arena, 1));
    mt_arena_destroy(arena);
}
END_TEST

START_TEST(limit_is_kept_to_the_byte_and_said)
{
    struct mt_error err;
    void *piece = &err;
    struct mt_arena *arena = open_arena(256);
    take(arena, 192);
    ck_assert_int_eq(mt_arena_take(arena, 65, 1, "cache", &piece, &err), MT_LIMIT);
    ck_assert_ptr_eq(piece, &err);
    ck_assert_str_eq(err.message,
                     "cache needs 128 bytes, but only 64 of the limit of 256 are left");
    ck_assert_uint_eq(mt_arena_bytes(arena), 192);
    take(arena, 64);
    ck_assert_int_eq(mt_arena_take(arena, 0, 1, "cache", &piece, &err), MT_LIMIT);
    mt_arena_destroy(arena);
}
END_TEST

START_TEST(overflowing_sizes_are_refused)
{
    static const struct {
        size_t count, element_bytes;
    } cases[] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 2, 3}, {SIZE_MAX, 1}, {1, SIZE_MAX - 32}, {SIZE_MAX - 64, 1},
    };
    struct mt_error err;
    void *piece;
    struct mt_arena *arena = open_arena(0);
    take(arena, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err.message[0] = '\0';
        ck_assert_int_eq(
            mt_arena_take(arena, cases[i].count, cases[i].element_bytes, "table", &piece, &err),
            MT_LIMIT);
        ck_assert_ptr_nonnull(strstr(err.message, "overflow the address space"));
    }
    mt_arena_destroy(arena);
}
END_TEST

START_TEST(strings_are_copied_with_their_nul)
{
    struct mt_arena *arena = open_arena(0);
    const char *copy;
    char original[] = "abcdef";
    ck_assert_int_eq(mt_arena_copy_string(arena, original, 3, &copy, NULL), MT_OK);
    original[0] = 'x';
    ck_assert_str_eq(copy, "abc");
    ck_assert_int_eq(mt_arena_copy_string(arena, NULL, 0, &copy, NULL), MT_OK);
    ck_assert_str_eq(copy, "");
    ck_assert_int_eq(mt_arena_copy_string(arena, "", SIZE_MAX, &copy, NULL), MT_LIMIT);
    mt_arena_destroy(arena);
    mt_arena_destroy(NULL);
}
END_TEST

Suite *suite_arena(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("pieces");
    tcase_add_test(tcase, pieces_are_zeroed_aligned_and_apart);
    tcase_add_test(tcase, memory_that_was_used_before_is_zeroed);
    tcase_add_test(tcase, bytes_count_padding);
    tcase_add_test(tcase, nothing_is_a_piece_too);
    tcase_add_test(tcase, limit_is_kept_to_the_byte_and_said);
    tcase_add_test(tcase, overflowing_sizes_are_refused);
    tcase_add_test(tcase, strings_are_copied_with_their_nul);
    suite_add_tcase(suite, tcase);
    return suite;
}
