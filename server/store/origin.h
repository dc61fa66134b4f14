/*
 * Where a model came from. attentiond pull writes it as
 *
 *   {"from": "hf:Helsinki-NLP/opus-mt-en-fr@<commit>", "licence": "apache-2.0",
 *    "pulled": "2026-11-23T10:00:00Z", "files": [...]}
 *
 * into NAME/attentiond-pull.json, or for a model in a single file into NAME.argosmodel.pull.json.
 * Other members are ignored. For a snapshot of Hugging Face's cache the path tells the origin.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_STORE_ORIGIN_H
#define MT_SERVER_STORE_ORIGIN_H

#include "base/status.h"

#include <stdbool.h>

#define MT_ORIGIN_FILE "attentiond-pull.json"
#define MT_ORIGIN_ENDING ".pull.json"

/* Sizes of the strings. Longer ones are ignored. */
#define MT_ORIGIN_FROM_BYTES 512
#define MT_ORIGIN_LICENCE_BYTES 64
#define MT_ORIGIN_TIME_BYTES 32

struct mt_origin {
    bool is_pulled;                        /* the file exists */
    char from[MT_ORIGIN_FROM_BYTES];       /* the name for attentiond pull; "": unknown */
    char licence[MT_ORIGIN_LICENCE_BYTES]; /* "": unknown */
    char pulled[MT_ORIGIN_TIME_BYTES];     /* "": unknown */
};

/* Reads the origin of a model, which is a directory or a single file. A file that is no JSON, or
 * has another form, leaves everything unknown. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_origin_read(const char *path, struct mt_origin *out,
                                            struct mt_error *err);

/* Whether the small file of that name in a model's directory is unchanged since it came with the
 * model, so that its author wrote it: attentiond-pull.json lists it with this SHA-256, or the
 * directory is a snapshot of Hugging Face's cache, or one of LibreTranslate's packages, which other
 * programs write. A file that was written or changed later expresses what the operator wants. False
 * where the file is missing. MT_IO, MT_LIMIT (longer than limit_bytes), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_origin_brought(const char *directory, const char *name,
                                               size_t limit_bytes, bool *out, struct mt_error *err);

/* Returns the path of the file with a model's origin; malloc'd. */
MT_MUST_CHECK enum mt_status mt_origin_path(const char *path, char **out, struct mt_error *err);

#endif
