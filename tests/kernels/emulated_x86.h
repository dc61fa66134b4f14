/*
 * The instructions of AVX-VNNI, AVX512 and AMX that the kernels use, in plain C, so that their
 * sources can be checked on a machine that has only AVX2. Put before a source by -include; it
 * replaces the compiler's intrinsics of the same names. Written from Intel's manual; an access that
 * the CPU would refuse ends the program.
 */
#ifndef MT_TESTS_KERNELS_EMULATED_X86_H
#define MT_TESTS_KERNELS_EMULATED_X86_H

#include <assert.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EMULATED static inline __attribute__((always_inline, unused))

/* A register of n bytes, seen as what an instruction takes it for. */
union emulated_512 {
    __m512i i;
    __m512 f;
    int32_t i32[16];
    uint8_t u8[64];
    int8_t i8[64];
    float f32[16];
};

union emulated_256 {
    __m256i i;
    int32_t i32[8];
    uint8_t u8[32];
    int8_t i8[32];
};

EMULATED int32_t emulated_dot4(int32_t sum, const uint8_t *a, const int8_t *b)
{
    for (int i = 0; i < 4; i++)
        sum += (int32_t)a[i] * (int32_t)b[i];
    return sum;
}

/* AVX-VNNI */

EMULATED __m256i emulated_dpbusd_256(__m256i sum, __m256i a, __m256i b)
{
    union emulated_256 x = {sum}, y = {a}, z = {b};
    for (int i = 0; i < 8; i++)
        x.i32[i] = emulated_dot4(x.i32[i], y.u8 + 4 * i, z.i8 + 4 * i);
    return x.i;
}

#define _mm256_dpbusd_avx_epi32 emulated_dpbusd_256

/* AVX512 */

EMULATED __m512i emulated_dpbusd_512(__m512i sum, __m512i a, __m512i b)
{
    union emulated_512 x = {sum}, y = {a}, z = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] = emulated_dot4(x.i32[i], y.u8 + 4 * i, z.i8 + 4 * i);
    return x.i;
}

EMULATED __m512i emulated_zero_512i(void)
{
    return (union emulated_512){.i32 = {0}}.i;
}

EMULATED __m512 emulated_zero_512(void)
{
    return (union emulated_512){.i32 = {0}}.f;
}

EMULATED __m512i emulated_set1_i32(int32_t value)
{
    union emulated_512 x;
    for (int i = 0; i < 16; i++)
        x.i32[i] = value;
    return x.i;
}

EMULATED __m512 emulated_set1_f32(float value)
{
    union emulated_512 x;
    for (int i = 0; i < 16; i++)
        x.f32[i] = value;
    return x.f;
}

EMULATED __m512i emulated_load_aligned(const void *p)
{
    assert((uintptr_t)p % 64 == 0);
    union emulated_512 x;
    memcpy(&x, p, sizeof x);
    return x.i;
}

EMULATED __m512 emulated_load_f32(const void *p)
{
    union emulated_512 x;
    memcpy(&x, p, sizeof x);
    return x.f;
}

EMULATED __m512i emulated_load_masked_i32(__mmask16 mask, const void *p)
{
    union emulated_512 x = {.i32 = {0}};
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            memcpy(&x.i32[i], (const char *)p + 4 * i, 4);
    return x.i;
}

EMULATED __m512 emulated_load_masked_f32(__mmask16 mask, const void *p)
{
    return (union emulated_512){emulated_load_masked_i32(mask, p)}.f;
}

EMULATED __m512 emulated_load_merged_f32(__m512 others, __mmask16 mask, const void *p)
{
    union emulated_512 x = {emulated_load_masked_i32(mask, p)}, y = {.f = others};
    for (int i = 0; i < 16; i++)
        x.f32[i] = mask >> i & 1 ? x.f32[i] : y.f32[i];
    return x.f;
}

EMULATED __m256i emulated_half_i64(__m512i a, size_t half)
{
    union emulated_512 x = {a};
    union emulated_256 y;
    memcpy(y.u8, x.u8 + half * sizeof y, sizeof y);
    return y.i;
}

EMULATED __m256 emulated_low_half_f32(__m512 a)
{
    return _mm256_castsi256_ps(emulated_half_i64((union emulated_512){.f = a}.i, 0));
}

EMULATED void emulated_store_masked_f32(void *p, __mmask16 mask, __m512 value)
{
    union emulated_512 x = {.f = value};
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            memcpy((char *)p + 4 * i, &x.f32[i], 4);
}

EMULATED __m512i emulated_max_i32(__m512i a, __m512i b)
{
    union emulated_512 x = {a}, y = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] = x.i32[i] > y.i32[i] ? x.i32[i] : y.i32[i];
    return x.i;
}

/* Unsigned numbers that a byte cannot hold become 255. */
EMULATED __m128i emulated_u32_to_u8(__m512i a)
{
    union emulated_512 x = {a};
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = x.i32[i] < 0 || x.i32[i] > 255 ? 255 : (uint8_t)x.i32[i];
    return _mm_loadu_si128((const void *)bytes);
}

EMULATED __m512i emulated_add_i32(__m512i a, __m512i b)
{
    union emulated_512 x = {a}, y = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] = (int32_t)((uint32_t)x.i32[i] + (uint32_t)y.i32[i]);
    return x.i;
}

EMULATED __m512i emulated_sub_i32(__m512i a, __m512i b)
{
    union emulated_512 x = {a}, y = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] = (int32_t)((uint32_t)x.i32[i] - (uint32_t)y.i32[i]);
    return x.i;
}

EMULATED __m512i emulated_multiply_low_i32(__m512i a, __m512i b)
{
    union emulated_512 x = {a}, y = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] = (int32_t)((uint32_t)x.i32[i] * (uint32_t)y.i32[i]);
    return x.i;
}

EMULATED __m512 emulated_i32_to_f32(__m512i a)
{
    union emulated_512 x = {a};
    for (int i = 0; i < 16; i++)
        x.f32[i] = (float)x.i32[i];
    return x.f;
}

EMULATED __m512 emulated_multiply_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] *= y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_fmadd_f32(__m512 a, __m512 b, __m512 c)
{
    union emulated_512 x = {.f = a}, y = {.f = b}, z = {.f = c};
    for (int i = 0; i < 16; i++)
        x.f32[i] = fmaf(x.f32[i], y.f32[i], z.f32[i]);
    return x.f;
}

/* The second operand where one is NaN. */
EMULATED __m512 emulated_max_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] = x.f32[i] > y.f32[i] ? x.f32[i] : y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_min_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] = x.f32[i] < y.f32[i] ? x.f32[i] : y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_add_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] += y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_sub_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] -= y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_divide_f32(__m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] /= y.f32[i];
    return x.f;
}

EMULATED __m512 emulated_multiply_masked_f32(__mmask16 mask, __m512 a, __m512 b)
{
    union emulated_512 x = {.f = a}, y = {.f = b};
    for (int i = 0; i < 16; i++)
        x.f32[i] = mask >> i & 1 ? x.f32[i] * y.f32[i] : 0.0f;
    return x.f;
}

EMULATED __mmask16 emulated_compare_f32(__m512 a, __m512 b, int predicate)
{
    assert(predicate == _CMP_GE_OQ || predicate == _CMP_UNORD_Q);
    union emulated_512 x = {.f = a}, y = {.f = b};
    unsigned mask = 0;
    for (int i = 0; i < 16; i++) {
        bool is_unordered = isnan(x.f32[i]) || isnan(y.f32[i]);
        bool is_true = predicate == _CMP_GE_OQ ? x.f32[i] >= y.f32[i] : is_unordered;
        mask |= (unsigned)is_true << i;
    }
    return (__mmask16)mask;
}

/* What has no int32 becomes the smallest. */
EMULATED __m512i emulated_f32_to_i32(__m512 a)
{
    union emulated_512 x = {.f = a};
    for (int i = 0; i < 16; i++)
        x.i32[i] = fabsf(x.f32[i]) < 2147483648.0f ? (int32_t)rintf(x.f32[i]) : INT32_MIN;
    return x.i;
}

EMULATED __m512i emulated_shift_left_i32(__m512i a, unsigned n)
{
    union emulated_512 x = {a};
    for (int i = 0; i < 16; i++)
        x.i32[i] = (int32_t)((uint32_t)x.i32[i] << n);
    return x.i;
}

EMULATED __m512i emulated_xor(__m512i a, __m512i b)
{
    union emulated_512 x = {a}, y = {b};
    for (int i = 0; i < 16; i++)
        x.i32[i] ^= y.i32[i];
    return x.i;
}

EMULATED __m512i emulated_f32_as_i32(__m512 a)
{
    return (union emulated_512){.f = a}.i;
}

EMULATED __m512 emulated_i32_as_f32(__m512i a)
{
    return (union emulated_512){a}.f;
}

EMULATED __m512d emulated_twice_f64(__m256d half)
{
    __m512d out;
    memcpy(&out, &half, sizeof half);
    memcpy((char *)&out + sizeof half, &half, sizeof half);
    return out;
}

EMULATED __m512 emulated_f64_as_f32(__m512d a)
{
    __m512 out;
    memcpy(&out, &a, sizeof out);
    return out;
}

/* In halves, by the instructions for 256 bits. */
EMULATED __m512 emulated_f16_to_f32(__m256i a)
{
    __m256 halves[2] = {_mm256_cvtph_ps(_mm256_castsi256_si128(a)),
                        _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1))};
    __m512 out;
    memcpy(&out, halves, sizeof out);
    return out;
}

EMULATED __m512 emulated_zero_unless_f32(__mmask16 mask, __m512 a)
{
    union emulated_512 x = {.f = a};
    for (int i = 0; i < 16; i++)
        x.f32[i] = mask >> i & 1 ? x.f32[i] : 0.0f;
    return x.f;
}

/* Quarters 0 and 1 of the result are two of a, the others two of b. */
EMULATED __m512 emulated_shuffle_quarters_f32(__m512 a, __m512 b, int which)
{
    union emulated_512 x = {.f = a}, y = {.f = b}, out;
    for (int i = 0; i < 16; i++) {
        int from = which >> (i / 4 * 2) & 3;
        out.f32[i] = (i < 8 ? x : y).f32[from * 4 + i % 4];
    }
    return out.f;
}

/* The same within each quarter, number by number. */
EMULATED __m512 emulated_shuffle_f32(__m512 a, __m512 b, int which)
{
    union emulated_512 x = {.f = a}, y = {.f = b}, out;
    for (int i = 0; i < 16; i++) {
        int from = which >> (i % 4 * 2) & 3;
        out.f32[i] = (i % 4 < 2 ? x : y).f32[i / 4 * 4 + from];
    }
    return out.f;
}

EMULATED void emulated_store_f32(void *p, __m512 value)
{
    memcpy(p, &value, sizeof value);
}

#undef _mm512_cmp_ps_mask
#undef _mm512_extracti64x4_epi64
#undef _mm512_shuffle_f32x4
#undef _mm512_shuffle_ps
#undef _mm512_slli_epi32
#define _mm512_add_epi32 emulated_add_i32
#define _mm512_add_ps emulated_add_f32
#define _mm512_broadcast_f64x4 emulated_twice_f64
#define _mm512_castpd_ps emulated_f64_as_f32
#define _mm512_castps512_ps256 emulated_low_half_f32
#define _mm512_castps_si512 emulated_f32_as_i32
#define _mm512_castsi512_ps emulated_i32_as_f32
#define _mm512_cmp_ps_mask emulated_compare_f32
#define _mm512_cvtepi32_ps emulated_i32_to_f32
#define _mm512_cvtph_ps emulated_f16_to_f32
#define _mm512_cvtps_epi32 emulated_f32_to_i32
#define _mm512_cvtusepi32_epi8 emulated_u32_to_u8
#define _mm512_div_ps emulated_divide_f32
#define _mm512_dpbusd_epi32 emulated_dpbusd_512
#define _mm512_extracti64x4_epi64 emulated_half_i64
#define _mm512_fmadd_ps emulated_fmadd_f32
#define _mm512_load_si512 emulated_load_aligned
#define _mm512_loadu_ps emulated_load_f32
#define _mm512_mask_loadu_ps emulated_load_merged_f32
#define _mm512_mask_storeu_ps emulated_store_masked_f32
#define _mm512_maskz_loadu_epi32 emulated_load_masked_i32
#define _mm512_maskz_loadu_ps emulated_load_masked_f32
#define _mm512_maskz_mov_ps emulated_zero_unless_f32
#define _mm512_maskz_mul_ps emulated_multiply_masked_f32
#define _mm512_max_epi32 emulated_max_i32
#define _mm512_max_ps emulated_max_f32
#define _mm512_min_ps emulated_min_f32
#define _mm512_mul_ps emulated_multiply_f32
#define _mm512_mullo_epi32 emulated_multiply_low_i32
#define _mm512_set1_epi32 emulated_set1_i32
#define _mm512_set1_ps emulated_set1_f32
#define _mm512_setzero_ps emulated_zero_512
#define _mm512_setzero_si512 emulated_zero_512i
#define _mm512_shuffle_f32x4 emulated_shuffle_quarters_f32
#define _mm512_shuffle_ps emulated_shuffle_f32
#define _mm512_slli_epi32 emulated_shift_left_i32
#define _mm512_storeu_ps emulated_store_f32
#define _mm512_sub_epi32 emulated_sub_i32
#define _mm512_sub_ps emulated_sub_f32
#define _mm512_xor_si512 emulated_xor

/* AMX: volume 1, chapter 18, and the pages of TILELOADD, TDPBUSD, ... in volume 2. The test has one
 * thread. */

static struct {
    bool is_configured;
    unsigned n_rows[8], row_bytes[8];
    uint8_t data[8][16][64];
} emulated_tiles;

EMULATED void emulated_tile_loadconfig(const void *p)
{
    const uint8_t *config = p;
    assert(config[0] == 1 && config[1] == 0);
    for (int i = 2; i < 16; i++)
        assert(config[i] == 0);
    for (int i = 0; i < 16; i++) {
        unsigned row_bytes = config[16 + 2 * i] | (unsigned)config[17 + 2 * i] << 8;
        unsigned n_rows = config[48 + i];
        assert(row_bytes <= 64 && n_rows <= 16 && (row_bytes == 0) == (n_rows == 0));
        assert(i < 8 || n_rows == 0);
        if (i < 8) {
            emulated_tiles.n_rows[i] = n_rows;
            emulated_tiles.row_bytes[i] = row_bytes;
        }
    }
    memset(emulated_tiles.data, 0, sizeof emulated_tiles.data);
    emulated_tiles.is_configured = true;
}

EMULATED void emulated_tile_release(void)
{
    memset(&emulated_tiles, 0, sizeof emulated_tiles);
}

EMULATED void emulated_tile_zero(int tile)
{
    assert(emulated_tiles.is_configured && emulated_tiles.n_rows[tile]);
    memset(emulated_tiles.data[tile], 0, sizeof emulated_tiles.data[tile]);
}

EMULATED void emulated_tile_loadd(int tile, const void *p, size_t stride)
{
    emulated_tile_zero(tile);
    for (size_t i = 0; i < emulated_tiles.n_rows[tile]; i++)
        memcpy(emulated_tiles.data[tile][i], (const char *)p + i * stride,
               emulated_tiles.row_bytes[tile]);
}

EMULATED void emulated_tile_stored(int tile, void *p, size_t stride)
{
    assert(emulated_tiles.is_configured && emulated_tiles.n_rows[tile]);
    for (size_t i = 0; i < emulated_tiles.n_rows[tile]; i++)
        memcpy((char *)p + i * stride, emulated_tiles.data[tile][i],
               emulated_tiles.row_bytes[tile]);
}

EMULATED void emulated_tile_dpbusd(int sums, int a, int b)
{
    unsigned rows = emulated_tiles.n_rows[sums], k = emulated_tiles.row_bytes[a] / 4,
             columns = emulated_tiles.row_bytes[sums] / 4;
    assert(emulated_tiles.is_configured && sums != a && sums != b && a != b && rows);
    assert(emulated_tiles.n_rows[a] == rows && emulated_tiles.n_rows[b] == k &&
           emulated_tiles.row_bytes[b] == 4 * columns && emulated_tiles.row_bytes[a] % 4 == 0);
    for (unsigned m = 0; m < rows; m++) {
        int32_t row[16];
        memcpy(row, emulated_tiles.data[sums][m], sizeof row);
        for (unsigned i = 0; i < k; i++)
            for (unsigned n = 0; n < columns; n++)
                row[n] = emulated_dot4(row[n], emulated_tiles.data[a][m] + 4 * i,
                                       (const int8_t *)emulated_tiles.data[b][i] + 4 * n);
        memcpy(emulated_tiles.data[sums][m], row, sizeof row);
    }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbusd
#define _tile_loadconfig emulated_tile_loadconfig
#define _tile_release emulated_tile_release
#define _tile_zero emulated_tile_zero
#define _tile_loadd emulated_tile_loadd
#define _tile_stored emulated_tile_stored
#define _tile_dpbusd emulated_tile_dpbusd

/* Beside the real ones in the same program. */

#define mt_kernels_avxvnni emulated_avxvnni
#define mt_kernels_avx512vnni emulated_avx512vnni
#define mt_kernels_amx emulated_amx
#define mt_avx512vnni_attend_f16 emulated_avx512vnni_attend_f16
#define mt_avx512vnni_attend_f32 emulated_avx512vnni_attend_f32
#define mt_avx512vnni_linear_f32 emulated_avx512vnni_linear_f32
#define mt_avx512vnni_quantize emulated_avx512vnni_quantize
#define mt_avx512vnni_sum_exp emulated_avx512vnni_sum_exp
#define mt_avx512vnni_qgemm emulated_avx512vnni_qgemm
#define mt_avx512vnni_stream emulated_avx512vnni_stream
#define mt_avx512vnni_int8_peak emulated_avx512vnni_int8_peak
#define mt_avx512vnni_fp32_peak emulated_avx512vnni_fp32_peak

#endif
