/*
 * Watches directories of models and their subdirectories for changes of models, with inotify. Files
 * that belong to no model are ignored: a file beside the models, a directory without a model, a log
 * in a model's directory. File systems that report nothing (NFS) seem never to change.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_MODELS_MODELS_WATCH_H
#define MT_SERVER_MODELS_MODELS_WATCH_H

#include "server/store/places.h"

#include <stdbool.h>
#include <stddef.h>

struct mt_watched_directory;

/* Nothing is watched: {.fd = -1}. */
struct mt_models_watch {
    int fd;
    struct mt_directories directories;
    int roots[MT_MAX_DIRECTORIES];        /* inotify's watch descriptors of the directories */
    struct mt_watched_directory *watched; /* subdirectories, as many as the kernel allows */
    size_t n_watched, capacity;
};

#define MT_WATCHES_NOTHING ((struct mt_models_watch){.fd = -1})

/* Watches the directories that models_directory names ("": none) instead of those that were watched
 * before. Changes that mt_models_watch_look has not reported are forgotten, so the caller scans the
 * directories after this. MT_NOT_FOUND, MT_IO, MT_LIMIT, MT_MEMORY: nothing is watched. */
MT_MUST_CHECK enum mt_status mt_models_watch_begin(struct mt_models_watch *watch,
                                                   const char *models_directory,
                                                   struct mt_error *err);

/* Whether a model has changed since the last call. It does not wait. */
bool mt_models_watch_look(struct mt_models_watch *watch);

void mt_models_watch_end(struct mt_models_watch *watch);

#endif
