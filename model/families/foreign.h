/*
 * Families of model files other than MarianMT's, and what a reader of one has to provide.
 *
 * A reader makes of its files what a MarianMT directory would contain, in two steps, each as a
 * safetensors image (weights/image.h) in memory:
 *
 *   describe   the documents: U8 tensors [bytes] named "config.json" and "vocab.json" (required),
 *              "target_vocab.json" (separate vocabularies), "tokenizer_config.json",
 *              "generation_config.json", "shortlist.bin" (weights/shortlist.h), "source.spm" and
 *              "target.spm" (required; copied if they are separate files)
 *   read       the weights: F32, F16 or BF16 tensors under MarianMT's names and in its orientation
 *              (bind.c: linear layers [n_out, n_in])
 *
 * The numerical details of the family (the layer norm's epsilon, formula of the positions,
 * activation, start of the decoder, rules of the search) go into config.json, under the keys that
 * hparams.h lists. So everything else reads only one form: hyper-parameters, tokenizer, packing,
 * `attentiond import`. And everything that the reader makes is checked like a downloaded file.
 *
 * Both steps run in a confined process (base/confined.h), which opens no files, so find lists every
 * file that they may need, and these are mapped before. describe runs at each opening of the model
 * and must not read the weights; read runs if there is no packed form.
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

/* The model_type of the config.json that readers make. It is not "marian", because transformers
 * would compute another model from such a directory. */
#define MT_OWN_MODEL_TYPE "attentiond"

struct mt_foreign_file {
    char *name; /* as it was added, relative to the directory */
    char *path; /* for messages */
    struct mt_mapping mapping;
    bool is_borrowed; /* another struct closes the mapping */
};

struct mt_foreign_files {
    const char *directory; /* for messages */
    struct mt_foreign_file list[MT_FOREIGN_MAX_FILES];
    size_t n;
};

struct mt_foreign {
    const char *family; /* "Marian", "CTranslate2", ... */
    /* changed whenever the reader makes something else of the same files, so that existing packed
     * forms are made again */
    const char *version;

    /* Whether the directory looks like one of this family. This is cheap: it only looks for a file
     * name. */
    bool (*is_one)(const char *directory);
    /* Adds the files with mt_foreign_add, in an order that the family chooses. */
    enum mt_status (*find)(struct mt_foreign_files *files, struct mt_error *err);
    /* Runs in the confined process. The caller owns *out. */
    enum mt_status (*describe)(const struct mt_foreign_files *files, struct mt_image **out,
                               struct mt_error *err);
    /* Runs there, too. NULL: the weights are as in a MarianMT directory, under its names. */
    enum mt_status (*read)(const struct mt_foreign_files *files, struct mt_image **out,
                           struct mt_error *err);
};

/* Maps directory/name and adds it; "" is the directory itself, for families whose models are a
 * single file. MT_NOT_FOUND, MT_LIMIT (too many). */
MT_MUST_CHECK enum mt_status mt_foreign_add(struct mt_foreign_files *files, const char *name,
                                            struct mt_error *err);
/* Adds all regular files of the directory whose names have this ending (".npz"), sorted by name. */
MT_MUST_CHECK enum mt_status mt_foreign_add_all(struct mt_foreign_files *files, const char *ending,
                                                struct mt_error *err);
/* Whether there is such a file. */
bool mt_foreign_any(const char *directory, const char *ending);
/* Whether there is such a file that begins with these bytes, n at most MT_FOREIGN_MAX_MAGIC. */
#define MT_FOREIGN_MAX_MAGIC 16
bool mt_foreign_any_begins(const char *directory, const char *ending, const void *bytes, size_t n);
/* Returns NULL if it was not added. */
const struct mt_foreign_file *mt_foreign_file(const struct mt_foreign_files *files,
                                              const char *name);
/* A zeroed struct is allowed. */
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

/* Returns the family of a directory, or NULL. */
const struct mt_foreign *mt_foreign_of(const char *directory);

/* Runs one step in a confined process; the caller owns *out. The step's errors; MT_LIMIT if it used
 * too much memory or time, MT_FORMAT if it crashed. */
enum mt_foreign_step { MT_FOREIGN_DESCRIBE, MT_FOREIGN_READ };
MT_MUST_CHECK enum mt_status mt_foreign_run(const struct mt_foreign *foreign,
                                            const struct mt_foreign_files *files,
                                            enum mt_foreign_step step, struct mt_safetensors **out,
                                            struct mt_error *err);

#endif
