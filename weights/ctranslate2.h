/*
 * CTranslate2's model.bin: named variables of a converted model, in all its binary versions.
 *
 *   u32 version | from 2: string spec, u32 revision | u32 n | n variables
 *                | from 3: u32 n, n times string alias, string name of a variable
 *   variable:  string name | u8 rank | u32 size[rank]
 *                | from 4: u8 type, u32 bytes; before: u8 bytes of one number, u32 numbers
 *                | numbers
 *   string:    u16 length, its NUL included | bytes
 *
 * Everything is little-endian and nothing is aligned. int8 and int16 numbers stand for number /
 * scale; scales are a variable NAME_scale, one a row or one for all. Nothing in the file is
 * trusted: each length is checked against what is left, each payload against its sizes, and the
 * last byte of the last string is the last of the file. Formats: CTranslate2's model.cc and
 * model_spec.py.
 *
 * The names of revision 1 (those of OpenNMT-tf) are given as later revisions write them.
 *
 * Thread-safety: immutable after open.
 */
#ifndef MT_WEIGHTS_CTRANSLATE2_H
#define MT_WEIGHTS_CTRANSLATE2_H

#include "base/status.h"
#include "weights/dtype.h"

#include <stdbool.h>

#define MT_CTRANSLATE2_MAX_VARIABLES 16384
#define MT_CTRANSLATE2_MAX_RANK 4
#define MT_CTRANSLATE2_MAX_NAME_BYTES 512

struct mt_ctranslate2;

struct mt_ctranslate2_variable {
    const char *name;    /* the variable's own name, even if it was found by an alias */
    enum mt_dtype dtype; /* MT_F32, MT_F16, MT_BF16, MT_I8, MT_I16, MT_I32 */
    size_t rank, shape[MT_CTRANSLATE2_MAX_RANK];
    size_t n_elements;
    const unsigned char *bytes; /* in the file, with any alignment */
    /* The scale of int8 and int16 weights: F32, one number or one per row; NULL if the file has
     * none. */
    const struct mt_ctranslate2_variable *scale;
};

/* bytes belong to the caller, and must outlive the file. path is for messages. MT_FORMAT
 * (malformed), MT_UNSUPPORTED (an unknown version or type), MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_ctranslate2_open(const unsigned char *bytes, size_t length,
                                                 const char *path, struct mt_ctranslate2 **out,
                                                 struct mt_error *err);
/* NULL is allowed. */
void mt_ctranslate2_close(struct mt_ctranslate2 *file);

const char *mt_ctranslate2_path(const struct mt_ctranslate2 *file);
unsigned mt_ctranslate2_version(const struct mt_ctranslate2 *file);
/* Returns "TransformerSpec", ...; "" in version 1. */
const char *mt_ctranslate2_spec(const struct mt_ctranslate2 *file);
unsigned mt_ctranslate2_revision(const struct mt_ctranslate2 *file);

/* Variables in the order of the file; the last function finds one by name or alias, or returns
 * NULL. */
size_t mt_ctranslate2_count(const struct mt_ctranslate2 *file);
const struct mt_ctranslate2_variable *mt_ctranslate2_at(const struct mt_ctranslate2 *file,
                                                        size_t index);
const struct mt_ctranslate2_variable *mt_ctranslate2_find(const struct mt_ctranslate2 *file,
                                                          const char *name);

/* Reads a variable of a single number. Returns false for others. */
bool mt_ctranslate2_scalar(const struct mt_ctranslate2_variable *variable, double *out);

/* Returns the type that mt_ctranslate2_copy writes: the variable's own, or MT_F32 for int8 and
 * int16. */
enum mt_dtype mt_ctranslate2_copied_dtype(const struct mt_ctranslate2_variable *variable);

/* Copies n rows (of the first dimension; for a vector its elements) from first on, row-major and
 * without gaps, in the type above; int8 and int16 are divided by their scales. The rows must exist.
 * MT_FORMAT if int8 has no scale, or a scale is not a positive number. */
MT_MUST_CHECK enum mt_status mt_ctranslate2_copy(const struct mt_ctranslate2 *file,
                                                 const struct mt_ctranslate2_variable *variable,
                                                 size_t first, size_t n, void *out,
                                                 struct mt_error *err);

#endif
