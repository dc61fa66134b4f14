/*
 * Settings of a Marian model: special:model.yml inside its .npz, and decoder.yml beside it. Both
 * are stored unchanged as keys and texts; the functions that read one check its type.
 *
 * Thread-safety: immutable once read.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_SETTINGS_H
#define MT_MODEL_FAMILIES_MARIAN_SETTINGS_H

#include "base/status.h"

#include <stdbool.h>

/* A model.yml has some 60, a decoder.yml up to 120. */
#define MT_MARIAN_MAX_SETTINGS 1024
#define MT_MARIAN_MAX_SETTING_BYTES 255

struct mt_marian_settings;

/* what names the document in messages. MT_FORMAT (not YAML; a key that occurs twice),
 * MT_UNSUPPORTED, MT_LIMIT. The caller owns *out. */
MT_MUST_CHECK enum mt_status mt_marian_settings_read(const char *bytes, size_t length,
                                                     const char *what,
                                                     struct mt_marian_settings **out,
                                                     struct mt_error *err);
/* NULL is allowed. */
void mt_marian_settings_free(struct mt_marian_settings *settings);

/* Returns the text of a value, or of the index-th value of a list; NULL where there is none. A
 * single value is a list of one. */
const char *mt_marian_text(const struct mt_marian_settings *settings, const char *key,
                           size_t index);

/* Typed access: if the setting is absent, *out is unchanged. MT_INVALID names key and value. */
MT_MUST_CHECK enum mt_status mt_marian_size(const struct mt_marian_settings *settings,
                                            const char *key, size_t index, size_t *out,
                                            struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_marian_number(const struct mt_marian_settings *settings,
                                              const char *key, double *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_marian_bool(const struct mt_marian_settings *settings,
                                            const char *key, bool *out, struct mt_error *err);

/* Returns the keys in order; NULL after the last. */
const char *mt_marian_key(const struct mt_marian_settings *settings, size_t index);

#endif
