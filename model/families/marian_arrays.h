/*
 * The arrays of a Marian model, from either of the two forms of its file: .npz (weights/npz.h) or
 * binary (weights/marian_bin.h).
 *
 * Thread-safety: immutable once open.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_ARRAYS_H
#define MT_MODEL_FAMILIES_MARIAN_ARRAYS_H

#include "model/families/foreign.h"
#include "weights/marian_bin.h"
#include "weights/npz.h"

struct mt_marian_arrays {
    const char *path; /* for messages */
    struct mt_npz *npz;
    struct mt_marian_bin *bin; /* one of the two is NULL */
};

/* What both have in common; a binary file has more about quantised arrays. */
struct mt_marian_array {
    struct mt_marian_item is; /* with a rank of at most MT_MARIAN_BIN_MAX_RANK */
    const struct mt_npz_array *in_npz;
};

/* Whether the file is a binary one, by its first bytes. */
bool mt_marian_is_bin(const struct mt_foreign_file *file);

/* *out is zeroed after a failure. */
MT_MUST_CHECK enum mt_status mt_marian_arrays_open(const struct mt_foreign_file *file,
                                                   struct mt_marian_arrays *out,
                                                   struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_marian_arrays_close(struct mt_marian_arrays *arrays);

/* In the order of their data. */
size_t mt_marian_arrays_count(const struct mt_marian_arrays *arrays);
const char *mt_marian_arrays_name(const struct mt_marian_arrays *arrays, size_t index);
/* Whether there is such an array; *out is unchanged otherwise. */
bool mt_marian_arrays_find(const struct mt_marian_arrays *arrays, const char *name,
                           struct mt_marian_array *out);

/* Whether an array's bytes match its checksum, if the form has one: binary files do not.
 * MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_marian_array_check(const struct mt_marian_arrays *arrays,
                                                   const struct mt_marian_array *array,
                                                   struct mt_error *err);

#endif
