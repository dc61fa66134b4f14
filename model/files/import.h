/*
 * Import: a model of any family that we read becomes a directory of our own, from which it opens
 * without its reader: the documents of a MarianMT directory, and the weights, packed to int8 or as
 * model.safetensors. mt_model_import (model.h) does it in one call; between the two steps here it
 * opens the model, which these files cannot.
 *
 * Thread-safety: safe on distinct directories.
 */
#ifndef MT_MODEL_FILES_IMPORT_H
#define MT_MODEL_FILES_IMPORT_H

#include "model/files/bind.h"
#include "model/files/packed.h"

struct mt_import_options {
    bool packs;                      /* weights to int8; else model.safetensors, as they are */
    mt_packed_progress *on_progress; /* of packing; may be NULL */
    void *progress_context;
};

struct mt_import_report {
    const char *family; /* "MarianMT", "Marian", ... */
    struct mt_bind_report weights;
    char written[512]; /* the file of weights */
};

/* Whether the directory `to`, which need not exist, may become that model. MT_INVALID: it is that
 * of a model of another family, or, unless it is `from`, holds weights in another file, or no
 * MarianMT model but a file that would be overwritten or removed. */
MT_MUST_CHECK enum mt_status mt_import_check(const char *from, const char *to,
                                             const struct mt_import_options *options,
                                             struct mt_error *err);

/* Makes the directory, which mt_import_check found fit. All files are on the disk, under temporary
 * names, before anything of an earlier import is touched, so that a full disk leaves that as it
 * was; then its weights are removed, its target vocabularies, and documents that this model has not;
 * what people write beside a model (attentiond.json, README.md, LICENSE) stays. Then the files get their names, the
 * weights last. */
MT_MUST_CHECK enum mt_status mt_import_write(const char *from, const char *to,
                                             const struct mt_import_options *options,
                                             struct mt_import_report *report, struct mt_error *err);

#endif
