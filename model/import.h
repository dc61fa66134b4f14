/*
 * Import: a model of any family that we read becomes a directory of our own, from which it opens
 * without its reader: the documents of a MarianMT directory, and the weights, packed to int8 or as
 * model.safetensors.
 */
#ifndef MT_MODEL_IMPORT_H
#define MT_MODEL_IMPORT_H

#include "model/bind.h"
#include "model/model.h"

struct mt_import_report {
    const char *family; /* "MarianMT", "Marian", ... */
    struct mt_bind_report weights;
    char written[512]; /* the file of weights */
};

/* Makes the directory `to`, which may exist, of the model in `from`. options->precision says which
 * weights it gets: MT_INT8 the packed form, MT_FP32 model.safetensors with the numbers as they are.
 * Nothing is written of a model that does not open in MT_FP32. All files are on the disk, under
 * temporary names, before anything of an earlier import is touched, so that a full disk leaves that
 * as it was; then its weights are removed, and documents that this model has not; what people write
 * beside a model (attentiond.json, README.md, LICENSE) stays. Then the files get their names, the
 * weights last. MT_INVALID: `to` is the directory of a model of another family, or, unless it is
 * `from`, holds weights in another file, or no MarianMT model but a file that would be overwritten
 * or removed. Thread-safety: safe on distinct directories.
 */
MT_MUST_CHECK enum mt_status mt_model_import(const char *from, const char *to,
                                             const struct mt_model_options *options,
                                             struct mt_import_report *report, struct mt_error *err);

#endif
