/*
 * Families of model files other than MarianMT's: what a reader of one has to give.
 *
 * A reader makes of its files what a MarianMT directory would hold, in two steps, each a
 * safetensors image (weights/image.h) in memory:
 *
 *   describe   the documents: U8 tensors [bytes] named "config.json" and "vocab.json" (required),
 *              "target_vocab.json" (separate vocabularies), "tokenizer_config.json",
 *              "generation_config.json", "shortlist.bin" (weights/shortlist.h), "source.spm", "target.spm" (required; copied where they
 *              lie in a file of their own)
 *   read       the weights: F32, F16 or BF16 tensors under MarianMT's names and in its orientation
 *              (bind.c: linear layers [n_out, n_in])
 *
 * The numeric contract of the family (the layer norm's epsilon, formula of the positions,
 * activation, start of the decoder, rules of the search) goes into config.json, under the keys that
 * hparams.h lists. Everything behind this seam then reads one form: hyper-parameters, tokenizer,
 * packing, `attentiond import`. And everything that the reader gives is checked like a downloaded
 * file.
 *
 * Both steps run in a confined process (base/confined.h): they open nothing, so find names every
 * file that they may need, and these are mapped beforehand. describe is run at each opening of the
 * model and must not touch the numbers; read where there is no packed form.
 *
 * A family is a struct mt_foreign in a file of its own and a row in foreign.c.
 *
 * Thread-safety: functions are safe; files are immutable once found.
 */
#ifndef MT_MODEL_FAMILIES_FOREIGN_H
#define MT_MODEL_FAMILIES_FOREIGN_H

#include "base/file.h"
#include "weights/image.h"
#include "weights/safetensors.h"

#include <stdbool.h>

#define MT_FOREIGN_MAX_FILES 64

/* The model_type of the config.json that readers make. Not "marian": transformers would compute
 * another model of such a directory. */
#define MT_OWN_MODEL_TYPE "attentiond"

struct mt_foreign_file {
    char *name; /* as it was added, relative to the directory */
    char *path; /* for messages */
    struct mt_mapping mapping;
    bool is_borrowed; /* the mapping is another's to close */
};

struct mt_foreign_files {
    const char *directory; /* for messages */
    struct mt_foreign_file list[MT_FOREIGN_MAX_FILES];
    size_t n;
};

struct mt_foreign {
    const char *family;  /* "Marian", "CTranslate2", ... */
    const char *version; /* another one whenever the reader makes something else of the same files:
                            packed forms that were made before are then made anew */

    /* Whether the directory looks like one of this family. Cheap: a look for a file name. */
    bool (*is_one)(const char *directory);
    /* Adds the files, with mt_foreign_add; their order is the family's own. */
    enum mt_status (*find)(struct mt_foreign_files *files, struct mt_error *err);
    /* In the confined process. *out is the caller's. */
    enum mt_status (*describe)(const struct mt_foreign_files *files, struct mt_image **out,
                               struct mt_error *err);
    /* Likewise. NULL: the weights lie as in a MarianMT directory, under its names. */
    enum mt_status (*read)(const struct mt_foreign_files *files, struct mt_image **out,
                           struct mt_error *err);
};

/* Maps directory/name and adds it; "" is the directory itself, of families whose models are one
 * file. MT_NOT_FOUND, MT_LIMIT (too many). */
MT_MUST_CHECK enum mt_status mt_foreign_add(struct mt_foreign_files *files, const char *name,
                                            struct mt_error *err);
/* Adds all regular files of the directory whose names end so (".npz"), by rising name. */
MT_MUST_CHECK enum mt_status mt_foreign_add_all(struct mt_foreign_files *files, const char *ending,
                                                struct mt_error *err);
/* Whether there is one. */
bool mt_foreign_any(const char *directory, const char *ending);
/* Whether there is one that begins with these bytes, n at most MT_FOREIGN_MAX_MAGIC. */
#define MT_FOREIGN_MAX_MAGIC 16
bool mt_foreign_any_begins(const char *directory, const char *ending, const void *bytes, size_t n);
/* NULL where it was not added. */
const struct mt_foreign_file *mt_foreign_file(const struct mt_foreign_files *files,
                                              const char *name);
/* Takes zeroed ones. */
void mt_foreign_files_finish(struct mt_foreign_files *files);

/* For describe: makes an image of documents, allocated and filled. */
struct mt_foreign_document {
    const char *name;
    const void *bytes;
    size_t length;
};
MT_MUST_CHECK enum mt_status mt_foreign_documents(const struct mt_foreign_document *documents,
                                                  size_t n, struct mt_image **out,
                                                  struct mt_error *err);

/* --- for source.c --- */

/* The family of a directory, or NULL. */
const struct mt_foreign *mt_foreign_of(const char *directory);

/* Runs one step, confined; *out is the caller's. The step's errors; MT_LIMIT where it took too much
 * memory or time, MT_FORMAT where it died. */
enum mt_foreign_step { MT_FOREIGN_DESCRIBE, MT_FOREIGN_READ };
MT_MUST_CHECK enum mt_status mt_foreign_run(const struct mt_foreign *foreign,
                                            const struct mt_foreign_files *files,
                                            enum mt_foreign_step step, struct mt_safetensors **out,
                                            struct mt_error *err);

#endif
