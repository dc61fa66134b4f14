/*
 * Chooses the files of a model that are needed for serving, of all that a registry lists: the
 * documents, one form of weights, the card and the licence. It also finds out whether the model is
 * supported.
 *
 * It works in two steps. mt_choice_begin uses only names. The first n_first files that it chooses
 * are small documents that determine the others: they are fetched, each is given to mt_choice_read,
 * and only then the choice is complete. So a model that does not translate, or whose weights we
 * cannot read, is refused before anything large is fetched.
 *
 * weights/README.md and model/files/source.h describe which files are read. The families are tried
 * in the order of source.c:
 *
 *   MarianMT     config.json is read first and names its model_type; model.safetensors, or
 *                model.safetensors.index.json (read first, too) and the files that it names, or
 *                pytorch_model.bin, or what `attentiond import` writes
 *   CTranslate2  model.bin and its vocabularies
 *   Marian       decoder.yml is read first: it names the .npz and the vocabularies
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_CHOICE_H
#define MT_SERVER_PULL_CHOICE_H

#include "server/pull/remote.h"

/* Most bytes of a document that determines other files; an index of shards is the largest. */
#define MT_CHOICE_MAX_DOCUMENT_BYTES ((size_t)16 << 20)

struct mt_choice {
    struct mt_remote *remote;
    struct mt_staged_file files[MT_STAGING_MAX_FILES]; /* their strings belong to the remote */
    size_t n, n_first;
    /* there are no weights that we read; the model is refused once config.json was read */
    bool needs_weights;
};

/* The names to look for where the server does not list its files (remote->is_listed is false). Each
 * is tried, and those that exist are added to the remote. Ends with NULL. */
extern const char *const mt_choice_known_names[];

/* Chooses by names. MT_NOT_FOUND: there is no model; MT_UNSUPPORTED: there are only weights that we
 * do not read, which the message names. The choice borrows remote. */
MT_MUST_CHECK enum mt_status mt_choice_begin(struct mt_remote *remote, struct mt_choice *out,
                                             struct mt_error *err);

/* Reads one of the first n_first files. MT_UNSUPPORTED: it is another kind of model; MT_NOT_FOUND:
 * it names a file that does not exist; MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_choice_read(struct mt_choice *choice, const char *name,
                                            const char *bytes, size_t length, struct mt_error *err);

#endif
