/*
 * Import: converts a model of any supported family to a directory of our own, which opens without
 * the family's reader: the documents of a MarianMT directory, and the weights, packed to int8 or as
 * model.safetensors. mt_model_import (model.h) does it in one call; between the steps below it
 * opens the model, which this module cannot.
 *
 * Thread-safety: safe on distinct directories.
 */
#ifndef MT_MODEL_FILES_IMPORT_H
#define MT_MODEL_FILES_IMPORT_H

#include "model/files/bind.h"
#include "model/files/packed.h"

struct mt_import_options {
    /* packs weights to int8; otherwise model.safetensors has them unchanged */
    bool packs;
    mt_packed_progress *on_progress; /* of packing; may be NULL */
    void *progress_context;
};

struct mt_import_report {
    const char *family; /* "MarianMT", "Marian", ... */
    struct mt_bind_report weights;
    char written[512]; /* the file of weights */
};

/* Whether the directory `to`, which need not exist, may get that model. MT_INVALID: it has a model
 * of another family; or it is not `from`, and has weights in another file, or no MarianMT model but
 * a file that would be overwritten or removed. */
MT_MUST_CHECK enum mt_status mt_import_check(const char *from, const char *to,
                                             const struct mt_import_options *options,
                                             struct mt_error *err);

/* An imported model that is not in its place yet: it is complete, in a subdirectory of that. */
struct mt_import_stage;

/* Makes it in the directory `to`, which mt_import_check has accepted, and which is created if it is
 * missing; all files are synced. The caller owns *out, for keep and drop. MT_BUSY: another process
 * imports there. Files of an import that was killed are removed. */
MT_MUST_CHECK enum mt_status mt_import_write(const char *from, const char *to,
                                             const struct mt_import_options *options,
                                             struct mt_import_stage **out,
                                             struct mt_import_report *report, struct mt_error *err);

/* Returns the subdirectory, in which the model can be opened. Files may be added to it: target
 * vocabularies, and files that people put beside a model. */
const char *mt_import_stage_path(const struct mt_import_stage *stage);

/* Moves the model to its place. First the weights and target vocabularies of an earlier import are
 * removed, and documents that this model does not have; files that people put beside a model
 * (attentiond.json, README.md, LICENSE) stay. Then the files are renamed, the weights last. */
MT_MUST_CHECK enum mt_status mt_import_keep(struct mt_import_stage *stage, struct mt_error *err);

/* Removes what was not moved. NULL is allowed. */
void mt_import_drop(struct mt_import_stage *stage);

#endif
