/*
 * Marian's binary model files, version 1, which marian-conv writes (model.bin, model.intgemm8.bin,
 * model.intgemm.alphas.bin).
 *
 *   u64 version = 1 | u64 n | n headers of four u64: bytes of the name with its NUL, type, number
 *   of dimensions, bytes of the data | names | dimensions, i32 each | u64 p | p bytes of padding |
 *   data, one after the other to the end of the file
 *
 * All numbers are little-endian. The data of an item may be longer than its numbers, because the
 * writer rounds up to 256 bytes. Types are kind and width: int8 0x101, int32 0x104, f16 0x402, f32
 * 0x404, and intgemm8 0x4101: int8 numbers q, followed by one f32 m; the value is q / m. These are
 * stored transposed, but with their original dimensions, except tables of embeddings, whose names
 * contain "Wemb".
 *
 * The file is in memory, and items point into it. Nothing is trusted: every size is checked against
 * the file, the sizes add up to it, and names occur once. Types that we do not read are refused by
 * name.
 *
 * Format: marian-dev's src/common/binary.cpp, src/common/types.h and
 * src/tensors/cpu/expression_graph_packable.h. Thread-safety: immutable after open.
 */
#ifndef MT_WEIGHTS_MARIAN_BIN_H
#define MT_WEIGHTS_MARIAN_BIN_H

#include "base/status.h"
#include "weights/dtype.h"

#include <stdbool.h>

#define MT_MARIAN_BIN_MAX_ITEMS 65536
#define MT_MARIAN_BIN_MAX_RANK 8
#define MT_MARIAN_BIN_MAX_NAME_BYTES 255

/* The beginning of a file, which distinguishes it from other programs' files of the same name. */
#define MT_MARIAN_BIN_MAGIC "\1\0\0\0\0\0\0\0"
#define MT_MARIAN_BIN_MAGIC_BYTES 8

struct mt_marian_bin;

struct mt_marian_item {
    const char *name;
    enum mt_dtype dtype; /* MT_F32, MT_F16, MT_I32, or MT_I8 (also intgemm8's) */
    size_t rank;
    size_t shape[MT_MARIAN_BIN_MAX_RANK]; /* as declared */
    size_t n_elements;
    const unsigned char *data; /* row-major, little-endian, with any alignment */
    size_t n_bytes;            /* of the numbers only */
    bool is_quantized;         /* intgemm8 */
    bool is_transposed;        /* with two dimensions [r, c] the data are [c, r] */
    float scale;               /* for quantised items: value = number * scale, scale > 0 */
};

/* bytes belong to the caller, must outlive the file, and may be NULL if length is 0. path is for
 * messages. The numbers are not checked. MT_FORMAT (malformed), MT_UNSUPPORTED (a version or a type
 * that we do not read), MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_marian_bin_open(const unsigned char *bytes, size_t length,
                                                const char *path, struct mt_marian_bin **out,
                                                struct mt_error *err);
/* NULL is allowed. */
void mt_marian_bin_close(struct mt_marian_bin *bin);

/* Items in the order of their data; the last function returns NULL if there is none of that
 * name. */
size_t mt_marian_bin_count(const struct mt_marian_bin *bin);
const struct mt_marian_item *mt_marian_bin_at(const struct mt_marian_bin *bin, size_t index);
const struct mt_marian_item *mt_marian_bin_find(const struct mt_marian_bin *bin, const char *name);

#endif
