/*
 * Import: a model of any family that we read becomes a directory of our own, from which it opens
 * without its reader: the documents of a MarianMT directory, and the weights, packed to int8 or as
 * model.safetensors. mt_model_import (model.h) does it in one call; between the steps here it opens
 * the model, which these files cannot.
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

/* A model on its way to its place: whole, in a directory inside that. */
struct mt_import_stage;

/* Makes it, in the directory `to`, which mt_import_check found fit, and is made where it is missing;
 * all files are on the disk. *out is the caller's, to keep and drop. MT_BUSY: another process is at
 * it. What a killed import left there is removed. */
MT_MUST_CHECK enum mt_status mt_import_write(const char *from, const char *to,
                                             const struct mt_import_options *options,
                                             struct mt_import_stage **out,
                                             struct mt_import_report *report, struct mt_error *err);

/* The directory, in which the model opens; files may be added to it: target vocabularies, and what
 * people write beside a model. */
const char *mt_import_stage_path(const struct mt_import_stage *stage);

/* Puts it in its place: the weights of an earlier import are removed, its target vocabularies, and
 * documents that this model has not; what people write beside a model (attentiond.json, README.md,
 * LICENSE) stays. Then the files get their names, the weights last. */
MT_MUST_CHECK enum mt_status mt_import_keep(struct mt_import_stage *stage, struct mt_error *err);

/* Removes what was not kept. Takes NULL. */
void mt_import_drop(struct mt_import_stage *stage);

#endif
