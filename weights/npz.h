/*
 * numpy's .npz archives, in which Marian saves its models: a zip archive of stored entries
 * NAME.npy, each one array.
 *
 *   "\x93NUMPY" | major minor | u16 (version 1) or u32 (2, 3) little-endian N | N bytes: a Python
 *   dict {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } | numbers
 *
 * The archive is in memory, and arrays point into it. Nothing is trusted: the archive is checked as
 * in zip.h, and an array's numbers must fill its entry exactly. Refused by name: compressed
 * archives (numpy.savez_compressed), Fortran's order, types other than f4, f2 and i1, other byte
 * orders.
 *
 * Format: numpy's lib/format.py. Thread-safety: immutable after open.
 */
#ifndef MT_WEIGHTS_NPZ_H
#define MT_WEIGHTS_NPZ_H

#include "base/status.h"
#include "weights/dtype.h"

#define MT_NPZ_MAX_RANK 8
#define MT_NPZ_MAX_HEADER_BYTES 65536

struct mt_npz;
struct mt_zip_entry;

struct mt_npz_array {
    const char *name;    /* name of the entry, without .npy */
    enum mt_dtype dtype; /* MT_F32, MT_F16 or MT_I8 */
    size_t rank;
    size_t shape[MT_NPZ_MAX_RANK];
    size_t n_elements;
    const unsigned char *data; /* row-major, little-endian, with any alignment */
    size_t n_bytes;
    const struct mt_zip_entry *entry;
};

/* bytes belong to the caller, and must outlive the archive. path is for messages. The numbers are
 * not checked. MT_FORMAT (malformed), MT_UNSUPPORTED (a kind that we do not read), MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_npz_open(const unsigned char *bytes, size_t length,
                                         const char *path, struct mt_npz **out,
                                         struct mt_error *err);
/* NULL is allowed. */
void mt_npz_close(struct mt_npz *npz);

/* Arrays in the order of their data; the last function returns NULL if there is none of that
 * name. */
size_t mt_npz_count(const struct mt_npz *npz);
const struct mt_npz_array *mt_npz_at(const struct mt_npz *npz, size_t index);
const struct mt_npz_array *mt_npz_find(const struct mt_npz *npz, const char *name);

/* Whether an array's bytes match its checksum. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_npz_check(const struct mt_npz *npz,
                                          const struct mt_npz_array *array, struct mt_error *err);

#endif
