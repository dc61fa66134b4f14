#include "weights/dtype.h"

#include <assert.h>
#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
    [MT_F32] = {"F32", 4},   [MT_F16] = {"F16", 2}, [MT_BF16] = {"BF16", 2}, [MT_F64] = {"F64", 8},
    [MT_I8] = {"I8", 1},     [MT_U8] = {"U8", 1},   [MT_I16] = {"I16", 2},   [MT_U16] = {"U16", 2},
    [MT_I32] = {"I32", 4},   [MT_U32] = {"U32", 4}, [MT_I64] = {"I64", 8},   [MT_U64] = {"U64", 8},
    [MT_BOOL] = {"BOOL", 1},
};

const char *mt_dtype_name(enum mt_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t mt_dtype_bytes(enum mt_dtype dtype)
{
    return dtypes[dtype].bytes;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* binary16: sign 1, exponent 5 (bias 15), fraction 10; binary32: 1, 8 (bias 127), 23. A signalling
 * NaN becomes a quiet one, as in the conversion instructions. */
float mt_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1Fu, fraction = half & 0x3FFu;
    if (exponent == 0x1F)
        return float_from_bits(sign | 0x7F800000u | fraction << 13 | (fraction ? 0x00400000u : 0));
    if (exponent > 0)
        return float_from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f; /* zero or subnormal: exact in fp32 */
    return float_from_bits(sign | bits_from_float(magnitude));
}

/* value >> shift, rounded to nearest, ties to even. 0 < shift < 32. */
static uint32_t shift_round_even(uint32_t value, unsigned shift)
{
    uint32_t quotient = value >> shift, rest = value & ((1u << shift) - 1),
             half = 1u << (shift - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1u)));
}

uint16_t mt_f32_to_f16(float value)
{
    uint32_t bits = bits_from_float(value);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
    if (magnitude >= 0x47800000u) /* 65536 */
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude >= 0x38800000u) /* 2^-14, the smallest normal half; rounding up carries into the
                                     exponent, and from 65520 on into infinity */
        return (uint16_t)(sign | shift_round_even(magnitude - ((127u - 15u) << 23), 13));
    unsigned exponent = magnitude >> 23;
    if (exponent < 127 - 25) /* below half of the smallest subnormal */
        return (uint16_t)sign;
    uint32_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
    return (uint16_t)(sign | shift_round_even(significand, 126 - exponent));
}

static void widen_f16_portable(const unsigned char *restrict in, size_t n, float *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, in + 2 * i, sizeof half);
        out[i] = mt_f16_to_f32(le16toh(half));
    }
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static void widen_f16_f16c(const unsigned char *restrict in,
                                                               size_t n, float *restrict out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)(in + 2 * i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
    }
    widen_f16_portable(in + 2 * i, n - i, out + i);
}

/* "avx" tells that the operating system saves the registers; clang's builtin does not know "f16c".
 * The CPU is asked only once, because a virtual machine passes this on to its host, which takes
 * microseconds. */
static bool has_f16c(void)
{
    static atomic_int answer; /* 0: not asked yet; 1: no; 2: yes */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == 0) {
        unsigned eax, ebx, ecx, edx;
        bool has = __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
                   (ecx & bit_F16C);
        known = has ? 2 : 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == 2;
}
#endif

static void widen_f16(const unsigned char *restrict in, size_t n, float *restrict out)
{
#if defined(__x86_64__)
    if (has_f16c()) {
        widen_f16_f16c(in, n, out);
        return;
    }
#endif
    widen_f16_portable(in, n, out);
}

static void widen_bf16(const unsigned char *restrict in, size_t n, float *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t upper;
        memcpy(&upper, in + 2 * i, sizeof upper);
        out[i] = float_from_bits((uint32_t)le16toh(upper) << 16);
    }
}

static void read_f32(const unsigned char *restrict in, size_t n, float *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, in + sizeof bits * i, sizeof bits);
        out[i] = float_from_bits(le32toh(bits));
    }
}

void mt_widen_f32(enum mt_dtype dtype, const void *restrict in, size_t n, float *restrict out)
{
    assert(dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16);
    if (dtype == MT_F16)
        widen_f16(in, n, out);
    else if (dtype == MT_BF16)
        widen_bf16(in, n, out);
    else if (!MT_IS_LITTLE_ENDIAN)
        read_f32(in, n, out);
    else if (n)
        memcpy(out, in, n * sizeof *out);
}

void mt_store_f32(float value, void *out)
{
    uint32_t bits = htole32(bits_from_float(value));
    memcpy(out, &bits, sizeof bits);
}

/* Looks at a block of numbers without a branch, so that the compiler can vectorize it. One loop for
 * both sizes was not vectorized for halves, and took eight times as long. */
static bool is_finite_32(const unsigned char *numbers, size_t n, uint32_t exponent)
{
    uint32_t n_bad = 0, little = htole32(exponent);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
        n_bad += (bits & little) == little;
    }
    return n_bad == 0;
}

static bool is_finite_16(const unsigned char *numbers, size_t n, uint16_t exponent)
{
    unsigned n_bad = 0;
    uint16_t little = htole16(exponent);
    for (size_t i = 0; i < n; i++) {
        uint16_t bits;
        memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
        n_bad += (bits & little) == little;
    }
    return n_bad == 0;
}

/* All bits of the exponent are set in infinities and NaNs, and in no finite number. */
static bool is_finite_block(enum mt_dtype dtype, const unsigned char *numbers, size_t n)
{
    return dtype == MT_F32   ? is_finite_32(numbers, n, 0x7F800000u)
           : dtype == MT_F16 ? is_finite_16(numbers, n, 0x7C00u)
                             : is_finite_16(numbers, n, 0x7F80u);
}

size_t mt_find_not_finite(enum mt_dtype dtype, const void *numbers, size_t n)
{
    assert(dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16);
    const size_t block = 4096, size = mt_dtype_bytes(dtype);
    const unsigned char *bytes = numbers;
    for (size_t at = 0; at < n; at += block) {
        size_t length = n - at < block ? n - at : block;
        if (is_finite_block(dtype, bytes + at * size, length))
            continue;
        while (is_finite_block(dtype, bytes + at * size, 1))
            at++;
        return at;
    }
    return n;
}
