/*
 * Which of a model's files serving needs, of all that a registry lists: the documents, one form of
 * weights, the card and the licence; and whether it is a model that we serve at all.
 *
 * It goes in two steps. mt_choice_begin looks at names alone. The first n_first files that it
 * chooses are small documents that decide about the others: they are fetched, mt_choice_read sees
 * each of them, and only then all is chosen. So what is no translation model, or has weights that
 * we cannot read, is refused before anything large is fetched.
 *
 * weights/README.md and model/files/source.h say which files are read; the families are tried in
 * the order of source.c:
 *
 *   MarianMT     config.json decides, and names its model_type; model.safetensors, or
 *                model.safetensors.index.json (which decides, too) and the files that it names, or
 *                pytorch_model.bin, or what `attentiond import` writes
 *   CTranslate2  model.bin and its vocabularies
 *   Marian       decoder.yml decides: it names the .npz and the vocabularies
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_CHOICE_H
#define MT_SERVER_PULL_CHOICE_H

#include "server/pull/remote.h"

/* Most bytes of a document that decides what is fetched; an index of shards is the largest. */
#define MT_CHOICE_MAX_DOCUMENT_BYTES ((size_t)16 << 20)

struct mt_choice {
    struct mt_remote *remote;
    struct mt_staged_file files[MT_STAGING_MAX_FILES]; /* their strings are the remote's */
    size_t n, n_first;
    bool needs_weights; /* there are none that we read: refused when config.json was seen */
};

/* The names to look for where nobody lists what there is (remote->is_listed is false): each is
 * looked for by itself, and what is there is added to the remote. Ends with NULL. */
extern const char *const mt_choice_known_names[];

/* Chooses by names. MT_NOT_FOUND: there is no model; MT_UNSUPPORTED: only weights that we do not
 * read, which the message names. The choice borrows remote. */
MT_MUST_CHECK enum mt_status mt_choice_begin(struct mt_remote *remote, struct mt_choice *out,
                                             struct mt_error *err);

/* One of the first n_first files, as it was fetched. MT_UNSUPPORTED: another kind of model;
 * MT_NOT_FOUND: it names a file that is not there; MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_choice_read(struct mt_choice *choice, const char *name,
                                            const char *bytes, size_t length, struct mt_error *err);

#endif
