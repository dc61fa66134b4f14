/*
 * The part of YAML that settings and vocabularies are written in: one mapping of keys to plain
 * values or lists of plain values. libyaml parses; deeper structures are passed over, anchors,
 * aliases and tags are refused, so nothing is ever larger than the text.
 *
 * Thread-safety: the function is safe.
 */
#ifndef MT_BASE_YAML_READER_H
#define MT_BASE_YAML_READER_H

#include "base/status.h"

#include <stdint.h>

#define MT_YAML_MAX_DEPTH 16

/* One plain value, NUL-terminated and without NUL inside. */
#define MT_YAML_SCALAR SIZE_MAX
struct mt_yaml_value {
    const char *key, *value;
    size_t key_length, length; /* bytes */
    size_t index;              /* in its list, or MT_YAML_SCALAR */
};
/* Ends the reading unless it returns MT_OK, and mt_yaml_read returns the same. */
typedef enum mt_status mt_yaml_emit(void *context, const struct mt_yaml_value *value,
                                    struct mt_error *err);

/* Hands every value of the document to emit, in order. An empty list emits nothing. what names the
 * document in messages, which give the line. A key that occurs twice is emitted twice. MT_FORMAT:
 * not YAML, or no mapping; MT_UNSUPPORTED: an anchor, an alias or a tag; MT_LIMIT: too deep. */
MT_MUST_CHECK enum mt_status mt_yaml_read(const char *bytes, size_t length, const char *what,
                                          mt_yaml_emit *emit, void *context, struct mt_error *err);

#endif
