#include "model/kvcache.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_SLOTS = 8, N_LAYERS = 3, N_POSITIONS = 512, D_MODEL = 256, ELEMENT = 2, N_OPEN = 2 };

static struct mt_kvcache cache;

static void create(void)
{
    struct mt_error err = {0};
    ck_assert_msg(
        !mt_kvcache_init(&cache, N_SLOTS, N_LAYERS, N_POSITIONS, D_MODEL, ELEMENT, N_OPEN, &err),
        "%s", err.message);
}

static void destroy(void)
{
    mt_kvcache_finish(&cache);
}

/* As the kernel sees it. */
static size_t really_resident(void)
{
    static unsigned char is_resident[1 << 16];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pages = (cache.n_bytes + page - 1) / page, n = 0;
    ck_assert_uint_le(n_pages, sizeof is_resident);
    ck_assert_int_eq(mincore(cache.bytes, cache.n_bytes, is_resident), 0);
    for (size_t i = 0; i < n_pages; i++)
        n += is_resident[i] & 1;
    return n * page;
}

static void write_positions(uint16_t slot, size_t n)
{
    for (size_t layer = 0; layer < N_LAYERS; layer++) {
        memset(mt_kvcache_keys(&cache, slot, layer), 1, n * D_MODEL * ELEMENT);
        memset(mt_kvcache_values(&cache, slot, layer), 1, n * D_MODEL * ELEMENT);
    }
    mt_kvcache_count(&cache, slot, n);
}

/* More than any address space has, though its size is a size_t. */
START_TEST(what_cannot_be_had_is_named_with_its_size)
{
    struct mt_kvcache large;
    struct mt_error err;
    ck_assert_int_eq(
        mt_kvcache_init(&large, MT_KVCACHE_MAX_SLOTS, 128, 65536, 16384, sizeof(float), 1, &err),
        MT_MEMORY);
    ck_assert_msg(strstr(err.message, "out of memory: 450"), "%s", err.message);
}
END_TEST

START_TEST(reserves_without_using_memory)
{
    ck_assert_uint_eq(cache.resident_bytes, 0);
    ck_assert_uint_eq(really_resident(), 0);
    ck_assert_uint_ge(cache.n_bytes,
                      (size_t)N_SLOTS * 2 * N_LAYERS * N_POSITIONS * D_MODEL * ELEMENT);
}
END_TEST

/* Never less than there is, and more by at most a page for each region that was begun. */
START_TEST(counts_what_is_written)
{
    static const size_t lengths[] = {1, 7, 8, 9, 30, 100, 511, 512};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ck_assert(mt_kvcache_open(&cache, N_SLOTS));
    for (uint16_t slot = 0; slot < N_SLOTS; slot++) {
        write_positions(slot, lengths[slot]);
        size_t found = really_resident();
        ck_assert_uint_ge(cache.resident_bytes, found);
        ck_assert_uint_le(cache.resident_bytes, found + (slot + 1u) * 2 * N_LAYERS * page);
    }
    size_t before = cache.resident_bytes;
    write_positions(7, 20); /* again, and shorter */
    ck_assert_uint_eq(cache.resident_bytes, before);
}
END_TEST

START_TEST(gives_back_what_was_written)
{
    for (size_t round = 0; round < 2; round++) {
        uint16_t slot = mt_kvcache_take_slot(&cache);
        write_positions(slot, 200);
        ck_assert_uint_gt(really_resident(), 0);
        mt_kvcache_release_slot(&cache, slot);
        mt_kvcache_trim(&cache);
        ck_assert_uint_eq(cache.resident_bytes, 0);
        ck_assert_uint_eq(really_resident(), 0);
    }
}
END_TEST

/* The kernel would not write from there if it could not be read. */
static bool is_open(const unsigned char *byte)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    bool is_read = write(ends[1], byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return is_read;
}

START_TEST(only_what_is_taken_can_be_written)
{
    size_t slot_bytes = cache.n_bytes / N_SLOTS, page = (size_t)sysconf(_SC_PAGESIZE);
    uint16_t slots[3];
    ck_assert(is_open(cache.bytes + N_OPEN * slot_bytes - 1));
    ck_assert(!is_open(cache.bytes + N_OPEN * slot_bytes + page));
    ck_assert(mt_kvcache_open(&cache, N_OPEN));
    ck_assert(!is_open(cache.bytes + N_OPEN * slot_bytes + page));
    ck_assert(mt_kvcache_open(&cache, 3));
    for (size_t i = 0; i < 3; i++) {
        slots[i] = mt_kvcache_take_slot(&cache);
        write_positions(slots[i], N_POSITIONS);
    }
    ck_assert(!is_open(cache.bytes + 3 * slot_bytes + page));
    mt_kvcache_release_slot(&cache, slots[1]);
    ck_assert(mt_kvcache_open(&cache, 1)); /* the same again */
    ck_assert(!is_open(cache.bytes + 3 * slot_bytes + page));
    ck_assert(mt_kvcache_open(&cache, 2)); /* and the first of the rest */
    ck_assert(is_open(cache.bytes + 4 * slot_bytes - 1));
}
END_TEST

/* Addresses that are gone stand for memory that is not promised. */
START_TEST(says_when_there_is_no_memory)
{
    size_t n_open = cache.open_bytes;
    ck_assert_int_eq(munmap(cache.bytes + n_open, cache.n_bytes - n_open), 0);
    ck_assert(mt_kvcache_open(&cache, N_OPEN));
    ck_assert(!mt_kvcache_open(&cache, N_OPEN + 1));
    ck_assert_uint_eq(cache.open_bytes, n_open);
}
END_TEST

Suite *suite_kvcache(void)
{
    Suite *suite = suite_create("kvcache");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, create, destroy);
    tcase_add_test(tcase, what_cannot_be_had_is_named_with_its_size);
    tcase_add_test(tcase, reserves_without_using_memory);
    tcase_add_test(tcase, counts_what_is_written);
    tcase_add_test(tcase, gives_back_what_was_written);
    tcase_add_test(tcase, only_what_is_taken_can_be_written);
    tcase_add_test(tcase, says_when_there_is_no_memory);
    suite_add_tcase(suite, tcase);
    return suite;
}
