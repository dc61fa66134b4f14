/*
 * AMX: a tile register holds 16 rows of 64 bytes; tdpbusd multiplies a tile of activations
 * [rows, 64 k] by a tile of weights [64 k, 16 columns], which is 1 KB of a packed block as it lies
 * in memory, and adds to a tile of int32 [rows, 16 columns].
 *
 *   tiles   0 1     sums of 2 x 16 rows and 2 x 16 columns
 *           2 3
 *           4 5     activations of the rows
 *           6 7     weights of the columns
 *
 * All row tiles have the same height, so that one configuration serves a whole call: n rows make
 * ceil(n / 16) tiles, and the last one may begin early and compute some rows twice.
 */
#include "model/kernels/avx2.h"
#include "model/kernels/avx512vnni.h"
#include "model/kernels/zmm_columns.h"

#include <stdalign.h>

#define TILE_ROWS 16
#define TILE_BYTES 1024
#define PREFETCH_BYTES 2048

/* Up to this many rows AVX512-VNNI is faster: on a Xeon with both, a step of 8 rows took 0.91 of
 * the time, one of 16 rows 1.18. */
#define FEW_ROWS 10

/* The operand of ldtilecfg: Intel's manual, volume 1, table 18-1. */
struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t n_rows[16];
};

static void configure(size_t n_rows)
{
    alignas(64) struct tile_config config = {.palette = 1};
    for (size_t i = 0; i < 8; i++) {
        config.row_bytes[i] = 64;
        config.n_rows[i] = i < 6 ? (uint8_t)n_rows : TILE_ROWS;
    }
    /* gcc's intrinsic names only the first bytes of its operand, so the stores to the others have
     * to be kept */
    __asm__ volatile("" ::"r"(&config) : "memory");
    _tile_loadconfig(&config);
}

/* The position of a group's row tiles, and the weights that they are multiplied by. */
struct group {
    size_t n_row_tiles, n_blocks; /* 1 or 2 each */
    size_t row[2];
    size_t first; /* first column */
    size_t n_rows;
    /* there is only one tile of rows, so that only the stream of weights matters */
    bool is_single;
    const char *fetch; /* this group's part of the next columns, which it prefetches */
    size_t n_lines;    /* cache lines of it to prefetch in each step of k */
};

static void fetch_tile(const int8_t *w)
{
    for (size_t i = 0; i < TILE_BYTES; i += 64)
        _mm_prefetch((const char *)w + PREFETCH_BYTES + i, _MM_HINT_T1);
}

/* n_row_tiles and n_blocks are constants, because a tile's number is part of the instruction. */
MT_INLINE void multiply(const struct mt_qgemm *g, const struct group *p, size_t n_row_tiles,
                        size_t n_blocks)
{
    const int8_t *w0 = g->weights + p->first * g->k_padded;
    const int8_t *w1 = w0 + MT_PACK_COLUMNS * g->k_padded;
    const uint8_t *a0 = g->a + p->row[0] * g->lda, *a1 = g->a + p->row[1] * g->lda;
    const char *fetch = p->fetch;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < g->k_padded; k += MT_PACK_K) {
        size_t tile = k * MT_PACK_COLUMNS;
        if (n_row_tiles == 1 && p->is_single) {
            fetch_tile(w0 + tile);
            if (n_blocks == 2)
                fetch_tile(w1 + tile);
        }
        for (size_t i = 0; i < p->n_lines; i++, fetch += 64)
            _mm_prefetch(fetch, _MM_HINT_T1);
        _tile_loadd(4, a0 + k, g->lda);
        _tile_loadd(6, w0 + tile, 64);
        _tile_dpbusd(0, 4, 6);
        if (n_blocks == 2) {
            _tile_loadd(7, w1 + tile, 64);
            _tile_dpbusd(1, 4, 7);
        }
        if (n_row_tiles == 2) {
            _tile_loadd(5, a1 + k, g->lda);
            _tile_dpbusd(2, 5, 6);
            if (n_blocks == 2)
                _tile_dpbusd(3, 5, 7);
        }
    }
}

/* Stores the sums, [row tile][block], in memory. */
static void store_sums(const struct group *p, int32_t sums[2][2][TILE_ROWS][MT_PACK_COLUMNS])
{
    _tile_stored(0, sums[0][0], 64);
    if (p->n_blocks == 2)
        _tile_stored(1, sums[0][1], 64);
    if (p->n_row_tiles == 2)
        _tile_stored(2, sums[1][0], 64);
    if (p->n_row_tiles == 2 && p->n_blocks == 2)
        _tile_stored(3, sums[1][1], 64);
}

static void multiply_group(const struct mt_qgemm *g, const struct group *p,
                           const struct mt_zmm_columns columns[2])
{
    alignas(64) int32_t sums[2][2][TILE_ROWS][MT_PACK_COLUMNS];
    if (p->n_row_tiles == 2 && p->n_blocks == 2)
        multiply(g, p, 2, 2);
    else if (p->n_row_tiles == 2)
        multiply(g, p, 2, 1);
    else if (p->n_blocks == 2)
        multiply(g, p, 1, 2);
    else
        multiply(g, p, 1, 1);
    store_sums(p, sums);
    for (size_t t = 0; t < p->n_row_tiles; t++)
        for (size_t i = 0; i < p->n_rows; i++)
            for (size_t b = 0; b < p->n_blocks; b++)
                mt_zmm_write_columns(g, &columns[b], p->row[t] + i, p->first + b * MT_PACK_COLUMNS,
                                     _mm512_load_si512(sums[t][b][i]));
}

static void multiply_columns(const struct mt_qgemm *g, size_t first, size_t n_rows)
{
    struct group p = {
        .first = first, .n_rows = n_rows, .n_blocks = 1, .is_single = g->n_rows <= TILE_ROWS};
    struct mt_zmm_columns columns[2] = {mt_zmm_columns_of(g, first)};
    if (first + MT_PACK_COLUMNS < g->n_columns) {
        columns[1] = mt_zmm_columns_of(g, first + MT_PACK_COLUMNS);
        p.n_blocks = 2;
    }
    /* While these columns are multiplied, the next ones are prefetched into the second-level cache,
     * a part by each group of rows. Otherwise the first group would wait for all of them. */
    size_t n_groups = (g->n_rows + 2 * n_rows - 1) / (2 * n_rows);
    size_t tiles_bytes = p.n_blocks * TILE_BYTES;
    p.n_lines = p.is_single ? 0 : (tiles_bytes / 64 + n_groups - 1) / n_groups;
    p.fetch = (const char *)g->weights + (first + p.n_blocks * MT_PACK_COLUMNS) * g->k_padded;
    for (size_t m = 0; m < g->n_rows; m += 2 * n_rows) {
        p.n_row_tiles = m + n_rows < g->n_rows ? 2 : 1;
        p.row[0] = mt_size_min(m, g->n_rows - n_rows);
        p.row[1] = mt_size_min(m + n_rows, g->n_rows - n_rows);
        multiply_group(g, &p, columns);
        p.fetch += p.n_lines * 64 * (g->k_padded / MT_PACK_K);
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    if (g->n_rows <= FEW_ROWS) {
        mt_avx512vnni_qgemm(g);
        return;
    }
    size_t n_tiles = (g->n_rows + TILE_ROWS - 1) / TILE_ROWS;
    size_t n_rows = (g->n_rows + n_tiles - 1) / n_tiles;
    configure(n_rows);
    for (size_t first = 0; first < g->n_columns; first += 2 * MT_PACK_COLUMNS)
        multiply_columns(g, first, n_rows);
    _tile_release(); /* otherwise every switch of threads would save the tiles */
    mt_ymm_activate_rows(g);
}

static uint64_t int8_peak(size_t n)
{
    configure(TILE_ROWS);
    for (size_t round = 0; round < n; round++) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
    return (uint64_t)n * 4 * TILE_ROWS * MT_PACK_COLUMNS * MT_PACK_K;
}

const struct mt_kernels mt_kernels_amx = {
    .name = "amx",
    .attend_f32 = mt_avx512vnni_attend_f32,
    .attend_f16 = mt_avx512vnni_attend_f16,
    .add_norm = mt_avx2_add_norm,
    .linear_f32 = mt_avx512vnni_linear_f32,
    .activate = mt_avx2_activate,
    .ssru = mt_avx2_ssru,
    .embed = mt_avx2_embed,
    .narrow_f16 = mt_avx2_narrow_f16,
    .sum_exp = mt_avx512vnni_sum_exp,
    .merge_top = mt_avx2_merge_top,
    .quantize = mt_avx512vnni_quantize,
    .qgemm = qgemm,
    .stream = mt_avx512vnni_stream,
    .int8_peak = int8_peak,
    .fp32_peak = mt_avx512vnni_fp32_peak,
};
