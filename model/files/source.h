/*
 * A model's directory as all the rest of model/ sees it: as that of a MarianMT model, whatever
 * family it is of.
 *
 * A MarianMT directory holds its documents (config.json, vocab.json, source.spm, ...) as files, and
 * its weights in one of these, looked for in this order:
 *
 *   model.safetensors              used in place
 *   model.safetensors.index.json   several files, used in place
 *   pytorch_model.bin              copied into memory, by a process that can do nothing else
 *
 * Of other families (foreign.h) both are made in memory, by such a process, too.
 *
 * Thread-safety: immutable once open.
 */
#ifndef MT_MODEL_FILES_SOURCE_H
#define MT_MODEL_FILES_SOURCE_H

#include "weights/safetensors.h"

struct mt_source;

/* The packed form (packed.h) in a MarianMT directory. */
#define MT_PACKED_FILE_NAME "attentiond.int8.safetensors"

/* The lexical shortlist (weights/shortlist.h) of a model that has one: a document. */
#define MT_SHORTLIST_FILE_NAME "shortlist.bin"

/* Finds out which family the directory is of; of a foreign one, reads its documents, but no
 * weights. A directory of no family that we know is taken for a MarianMT one: what is missing is
 * found out by who asks for it. MT_FORMAT: it holds the packed form of a MarianMT model beside the
 * files of a foreign one. */
MT_MUST_CHECK enum mt_status mt_source_open(const char *directory, struct mt_source **out,
                                            struct mt_error *err);
/* Takes NULL. */
void mt_source_close(struct mt_source *source);

/* Whether a directory holds a model, by the names of its files. */
bool mt_source_is_model(const char *directory);

/* Whether the directory has the config.json of a MarianMT model, by its "model_type"; false where it
 * is another family's, broken or not there. The other files may be of two models, if an import ended
 * in the middle. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_source_find_config(const char *directory, bool *out,
                                                   struct mt_error *err);

/* The first file of weights in a MarianMT directory that is not of this name, or NULL. */
const char *mt_source_other_weights(const char *directory, const char *name);

/* "MarianMT", "Marian", "CTranslate2", ... */
const char *mt_source_family(const struct mt_source *source);
const char *mt_source_directory(const struct mt_source *source);

/* A document: the caller's, mt_document_finish it. */
struct mt_document {
    char *path;  /* for messages; of one that was made, its directory and name */
    char *bytes; /* NUL-terminated behind length */
    size_t length;
};
/* Reads one by its name in a MarianMT directory. MT_NOT_FOUND, MT_LIMIT (longer than limit_bytes),
 * MT_IO. */
MT_MUST_CHECK enum mt_status mt_source_read(const struct mt_source *source, const char *name,
                                            size_t limit_bytes, struct mt_document *out,
                                            struct mt_error *err);
bool mt_source_has(const struct mt_source *source, const char *name);
/* Takes a zeroed one. */
void mt_document_finish(struct mt_document *document);

/* Opens the weights, in whatever form they lie there; they outlive the source. MT_NOT_FOUND names
 * the forms that were looked for; other statuses as of mt_safetensors_load, mt_shards_open,
 * mt_torch_read and mt_foreign_run. */
MT_MUST_CHECK enum mt_status mt_source_weights(const struct mt_source *source,
                                               enum mt_load_mode mode, struct mt_safetensors **out,
                                               struct mt_error *err);

/* Which files the weights come from, without reading them. Files of the same size, time of change
 * and inode are taken for the same. */
struct mt_source_identity {
    char text[128];
};
MT_MUST_CHECK enum mt_status mt_source_identity_of(const struct mt_source *source,
                                                   struct mt_source_identity *out,
                                                   struct mt_error *err);

#endif
