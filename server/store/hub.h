/*
 * Hugging Face's cache, in the layout of its library huggingface_hub:
 *
 *   HUB/models--ORG--NAME/refs/main            the commit of a branch or tag
 *   HUB/models--ORG--NAME/snapshots/COMMIT/    the files under their names, as links to
 *   HUB/models--ORG--NAME/blobs/               their contents, under their hashes
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_STORE_HUB_H
#define MT_SERVER_STORE_HUB_H

#include "base/status.h"

#include <stdbool.h>

/* Most bytes of ORG/NAME, with its NUL. The hub allows 96 bytes of each; a directory's name may
 * have 255. */
#define MT_HUB_NAME_BYTES 256
#define MT_HUB_COMMIT_BYTES 64

struct mt_hub_snapshot {
    char repository[MT_HUB_NAME_BYTES]; /* "Helsinki-NLP/opus-mt-en-fr" */
    char commit[MT_HUB_COMMIT_BYTES];
};

/* Whether a path has the form of a snapshot's path. */
bool mt_hub_is_snapshot(const char *path, struct mt_hub_snapshot *out);

/* Finds the repository "ORG/NAME" that a folder of the hub belongs to. Returns false where it does
 * not belong to a model. */
bool mt_hub_repository_of(const char *folder, char out[MT_HUB_NAME_BYTES]);

/* Returns the path of a repository's snapshot at a branch, tag or commit; revision "": main or, if
 * the cache does not have that, the only snapshot. The caller frees *out. MT_NOT_FOUND: it is not
 * there; MT_MEMORY. The files may be incomplete. */
MT_MUST_CHECK enum mt_status mt_hub_find(const char *hub, const char *repository,
                                         const char *revision, char **out, struct mt_error *err);

/* Writes the name of a model's directory, for messages and ids: NAME for a snapshot, otherwise the
 * path's last part. */
void mt_model_name_of(const char *path, char out[MT_HUB_NAME_BYTES]);

#endif
