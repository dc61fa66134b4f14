/*
 * Number formats of tensors in files, and widening to fp32. F32, F16 (IEEE 754 binary16) and BF16
 * (the upper half of an fp32) are little-endian in files, which most machines use in place.
 */
#ifndef MT_WEIGHTS_DTYPE_H
#define MT_WEIGHTS_DTYPE_H

#include <stddef.h>
#include <stdint.h>

enum mt_dtype {
    MT_F32,
    MT_F16,
    MT_BF16,
    MT_F64,
    MT_I8,
    MT_U8,
    MT_I16,
    MT_U16,
    MT_I32,
    MT_U32,
    MT_I64,
    MT_U64,
    MT_BOOL,
};

/* Returns "F32", ..., as safetensors spells it. */
const char *mt_dtype_name(enum mt_dtype dtype);

size_t mt_dtype_bytes(enum mt_dtype dtype);

/* Whether this machine stores numbers like files do. */
#define MT_IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Widens n numbers of dtype MT_F32, MT_F16 or MT_BF16 at `in` (any alignment) to fp32, which is
 * exact. in and out do not overlap. The CPU's conversion instructions are used if it has them. */
void mt_widen_f32(enum mt_dtype dtype, const void *restrict in, size_t n, float *restrict out);

/* Returns the index of the first number that is infinite or NaN; n if there is none. dtype MT_F32,
 * MT_F16 or MT_BF16, at any alignment. */
size_t mt_find_not_finite(enum mt_dtype dtype, const void *numbers, size_t n);

/* Stores one fp32 in the form of files. */
void mt_store_f32(float value, void *out);

/* Convert one number from and to binary16, rounding to nearest even; NaN stays NaN, and numbers
 * that are too large become infinity. */
float mt_f16_to_f32(uint16_t half);
uint16_t mt_f32_to_f16(float value);

#endif
