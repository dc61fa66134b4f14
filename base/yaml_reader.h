/*
 * Reads the subset of YAML in which settings and vocabularies are written: one mapping of keys to
 * plain values or lists of plain values. libyaml parses. Deeper structures are skipped; anchors,
 * aliases and tags are refused, so that nothing gets larger than the text.
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
    size_t index;              /* position in its list, or MT_YAML_SCALAR */
};
/* A status other than MT_OK ends the reading, and mt_yaml_read returns it. */
typedef enum mt_status mt_yaml_emit(void *context, const struct mt_yaml_value *value,
                                    struct mt_error *err);

/* Calls emit with every value of the document, in order. An empty list has none. what names the
 * document in messages, which give the line. A key that occurs twice is emitted twice. MT_FORMAT:
 * it is not YAML, or not a mapping; MT_UNSUPPORTED: an anchor, an alias or a tag; MT_LIMIT: it is
 * too deep. */
MT_MUST_CHECK enum mt_status mt_yaml_read(const char *bytes, size_t length, const char *what,
                                          mt_yaml_emit *emit, void *context, struct mt_error *err);

#endif
