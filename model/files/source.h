/*
 * A model's directory in the form that the rest of model/ expects: that of a MarianMT model,
 * whatever family it belongs to.
 *
 * A MarianMT directory has its documents (config.json, vocab.json, source.spm, ...) as files, and
 * its weights in the first one of these that exists:
 *
 *   model.safetensors              used in place
 *   model.safetensors.index.json   several files, used in place
 *   pytorch_model.bin              copied into memory, by a process that can do nothing else
 *
 * For other families (foreign.h) such a process makes both in memory.
 *
 * Thread-safety: immutable once open.
 */
#ifndef MT_MODEL_FILES_SOURCE_H
#define MT_MODEL_FILES_SOURCE_H

#include "weights/safetensors.h"

struct mt_source;

/* The packed form (packed.h) in a MarianMT directory. */
#define MT_PACKED_FILE_NAME "attentiond.int8.safetensors"

/* The document with the lexical shortlist (weights/shortlist.h) of a model that has one. */
#define MT_SHORTLIST_FILE_NAME "shortlist.bin"

/* Finds out the directory's family, and reads the documents of a foreign one, but no weights. A
 * directory of an unknown family is treated as a MarianMT one, so that missing files are reported
 * when they are read. MT_FORMAT: it has the packed form of a MarianMT model beside the files of a
 * foreign one. */
MT_MUST_CHECK enum mt_status mt_source_open(const char *directory, struct mt_source **out,
                                            struct mt_error *err);
/* NULL is allowed. */
void mt_source_close(struct mt_source *source);

/* Whether a directory has a model, by the names of its files. */
bool mt_source_is_model(const char *directory);

/* Whether the directory has the config.json of a MarianMT model, by its "model_type"; false if it
 * is another family's, malformed or missing. If an import was interrupted, the other files may
 * belong to two models. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_source_find_config(const char *directory, bool *out,
                                                   struct mt_error *err);

/* Returns the first file of weights in a MarianMT directory that does not have this name, or
 * NULL. */
const char *mt_source_other_weights(const char *directory, const char *name);

/* Returns "MarianMT", "Marian", "CTranslate2", ... */
const char *mt_source_family(const struct mt_source *source);
const char *mt_source_directory(const struct mt_source *source);

/* A document, which the caller finishes with mt_document_finish. */
struct mt_document {
    char *path;  /* for messages; for a document made in memory, its directory and name */
    char *bytes; /* NUL-terminated behind length */
    size_t length;
};
/* Reads a document by its name in a MarianMT directory. MT_NOT_FOUND, MT_LIMIT (longer than
 * limit_bytes), MT_IO. */
MT_MUST_CHECK enum mt_status mt_source_read(const struct mt_source *source, const char *name,
                                            size_t limit_bytes, struct mt_document *out,
                                            struct mt_error *err);
bool mt_source_has(const struct mt_source *source, const char *name);
/* A zeroed document is allowed. */
void mt_document_finish(struct mt_document *document);

/* Opens the weights, in any of their forms; they outlive the source. MT_NOT_FOUND names the forms
 * that were tried; other statuses are those of mt_safetensors_load, mt_shards_open, mt_torch_read
 * and mt_foreign_run. */
MT_MUST_CHECK enum mt_status mt_source_weights(const struct mt_source *source,
                                               enum mt_load_mode mode, struct mt_safetensors **out,
                                               struct mt_error *err);

/* Identifies the files that the weights come from, without reading them. Files with the same size,
 * time of change and inode are assumed to be the same. */
struct mt_source_identity {
    char text[128];
};
MT_MUST_CHECK enum mt_status mt_source_identity_of(const struct mt_source *source,
                                                   struct mt_source_identity *out,
                                                   struct mt_error *err);

#endif
