/*
 * Hugging Face's cache, as its library huggingface_hub lays it out:
 *
 *   HUB/models--ORG--NAME/refs/main            the commit that a branch or tag stood for
 *   HUB/models--ORG--NAME/snapshots/COMMIT/    the files, by their names: links to
 *   HUB/models--ORG--NAME/blobs/               their bytes, by their hashes
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_STORE_HUB_H
#define MT_SERVER_STORE_HUB_H

#include "base/status.h"

#include <stdbool.h>

/* ORG/NAME, with its NUL. The hub allows 96 bytes of each; a directory has 255. */
#define MT_HUB_NAME_BYTES 256
#define MT_HUB_COMMIT_BYTES 64

struct mt_hub_snapshot {
    char repository[MT_HUB_NAME_BYTES]; /* "Helsinki-NLP/opus-mt-en-fr" */
    char commit[MT_HUB_COMMIT_BYTES];
};

/* Whether a path is that of a snapshot, by its form alone. */
bool mt_hub_is_snapshot(const char *path, struct mt_hub_snapshot *out);

/* The repository that a folder of the hub belongs to: "ORG/NAME". False: it is no model's. */
bool mt_hub_repository_of(const char *folder, char out[MT_HUB_NAME_BYTES]);

/* Where the snapshot of a repository is, at a branch, tag or commit; revision "": main, or where
 * nobody asked for that, the only one. The caller frees *out. MT_NOT_FOUND: it is not there;
 * MT_MEMORY. Whether its files are complete is not looked at. */
MT_MUST_CHECK enum mt_status mt_hub_find(const char *hub, const char *repository,
                                         const char *revision, char **out, struct mt_error *err);

/* What the directory of a model is called: of a snapshot NAME, else the path's last part. For
 * messages and ids. */
void mt_model_name_of(const char *path, char out[MT_HUB_NAME_BYTES]);

#endif
