/*
 * Reads the pickles in PyTorch's checkpoints without executing anything.
 *
 * A pickle is a program for a stack machine that may call any Python function. This machine knows
 * the opcodes that torch.save writes, and the names that stand for tensors, which it only records;
 * any other opcode and any other name is refused, by name. The result is a tree of plain values.
 *
 * Format: Python's pickletools (protocol 2); names as in torch's _weights_only_unpickler.
 *
 * Thread-safety: everything belongs to one thread at a time.
 */
#ifndef MT_WEIGHTS_PICKLE_H
#define MT_WEIGHTS_PICKLE_H

#include "base/arena.h"
#include "weights/dtype.h"

#include <stdbool.h>
#include <stdint.h>

#define MT_PICKLE_MAX_BYTES ((size_t)8 << 20)
#define MT_PICKLE_MAX_VALUES ((size_t)1 << 20)
#define MT_PICKLE_MAX_STACK 65536
#define MT_PICKLE_MAX_MEMO ((size_t)1 << 20)
#define MT_PICKLE_MAX_RANK 8

enum mt_pickle_kind {
    MT_PICKLE_NONE,
    MT_PICKLE_BOOL,
    MT_PICKLE_INTEGER,
    MT_PICKLE_FLOAT,
    MT_PICKLE_STRING,
    MT_PICKLE_TUPLE,
    MT_PICKLE_LIST,
    MT_PICKLE_DICT,
    MT_PICKLE_NAME,    /* a Python name, not called */
    MT_PICKLE_STORAGE, /* the numbers of one or more tensors */
    MT_PICKLE_TENSOR
};

struct mt_pickle_storage {
    const char *key; /* its name in the container */
    enum mt_dtype dtype;
    int64_t n_elements;
};

struct mt_pickle_tensor {
    const struct mt_pickle_storage *storage;
    int64_t offset; /* in elements, like strides */
    size_t rank;
    int64_t shape[MT_PICKLE_MAX_RANK], strides[MT_PICKLE_MAX_RANK];
};

struct mt_pickle_value {
    enum mt_pickle_kind kind;
    union {
        int64_t integer; /* also for BOOL; for NAME a number that only the machine understands */
        double number;
        struct {
            const char *bytes; /* NUL-terminated; UTF-8 is not checked */
            size_t length;
        } string;
        struct { /* TUPLE, LIST; DICT: key, value, key, value */
            struct mt_pickle_value **items;
            size_t n, capacity;
        } sequence;
        struct mt_pickle_storage storage;
        struct mt_pickle_tensor tensor;
    };
};

/* Reads one pickle at the beginning of bytes[0, length), which other data may follow: *n_read gets
 * its length. Values are in the arena; strings are copied. A value may be part of several others,
 * even of itself. what is for messages. MT_FORMAT, MT_UNSUPPORTED (an opcode or a name), MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_pickle_read(const unsigned char *bytes, size_t length,
                                            const char *what, struct mt_arena *arena,
                                            struct mt_pickle_value **out, size_t *n_read,
                                            struct mt_error *err);

/* Returns "a dict", "a tensor", ..., for messages. */
const char *mt_pickle_kind_name(enum mt_pickle_kind kind);

/* Returns the value of a dict for a key that is this string, or NULL. */
const struct mt_pickle_value *mt_pickle_get(const struct mt_pickle_value *dict, const char *key);

#endif
