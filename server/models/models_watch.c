#include "server/models/models_watch.h"

#include "base/file.h"
#include "base/vector.h"
#include "model/files/source.h"
#include "server/models/model_profile.h"

#include <dirent.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Events that may change a model in a directory. Reading is none of them. */
#define CHANGES                                                                         \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

#define EVENT_BYTES 4096

/* If two names are links to one directory, then both have its watch descriptor. */
struct mt_watched_directory {
    size_t root; /* index of the directory that it is in */
    int number;  /* inotify's watch descriptor; -1: it is a model in a single file */
    char *name;
    bool is_model; /* when it was last checked */
};

/* Whether the subdirectory, or the file, holds a model. Without memory the answer is true, which
 * only costs a reload. */
static bool is_model(const struct mt_models_watch *watch, size_t root, const char *name)
{
    char *path;
    if (mt_path_join(watch->directories.paths[root], name, &path, NULL) != MT_OK)
        return true;
    bool is_one = mt_source_is_model(path);
    free(path);
    return is_one;
}

static struct mt_watched_directory *find(const struct mt_models_watch *watch, size_t root,
                                         const char *name)
{
    for (size_t i = 0; i < watch->n_watched; i++)
        if (watch->watched[i].root == root && strcmp(watch->watched[i].name, name) == 0)
            return &watch->watched[i];
    return NULL;
}

static enum mt_status remember(struct mt_models_watch *watch, size_t root, int number,
                               const char *name, struct mt_error *err)
{
    struct mt_watched_directory *known = find(watch, root, name);
    if (known) {
        known->number = number;
        return MT_OK;
    }
    if (MT_ROOM(&watch->watched, &watch->capacity, watch->n_watched + 1, "directories", err))
        return MT_MEMORY;
    char *copy = strdup(name);
    if (!copy)
        return mt_fail_memory(err, strlen(name) + 1, "directories");
    watch->watched[watch->n_watched++] = (struct mt_watched_directory){
        .root = root, .number = number, .name = copy, .is_model = is_model(watch, root, name)};
    return MT_OK;
}

static void forget(struct mt_models_watch *watch, struct mt_watched_directory *gone)
{
    free(gone->name);
    *gone = watch->watched[--watch->n_watched];
}

/* Anything but directories and models, and what no longer exists, needs no watch. */
static enum mt_status watch_subdirectory(struct mt_models_watch *watch, size_t root,
                                         const char *name, struct mt_error *err)
{
    char *path;
    enum mt_status status = mt_path_join(watch->directories.paths[root], name, &path, err);
    if (status)
        return status;
    int number = inotify_add_watch(watch->fd, path, CHANGES);
    if (number >= 0 || (errno == ENOTDIR && is_model(watch, root, name)))
        status = remember(watch, root, number, name, err);
    else if (errno != ENOTDIR && errno != ENOENT && errno != EACCES && errno != ELOOP)
        status = mt_fail_errno(err, path, "watch it");
    free(path);
    return status;
}

static enum mt_status watch_directory(struct mt_models_watch *watch, size_t root,
                                      struct mt_error *err)
{
    const char *path = watch->directories.paths[root];
    watch->roots[root] = inotify_add_watch(watch->fd, path, CHANGES);
    if (watch->roots[root] < 0)
        return mt_fail_errno(err, path, "watch it");
    DIR *directory = opendir(path);
    const struct dirent *entry;
    enum mt_status status = MT_OK;
    if (!directory)
        return mt_fail_errno(err, path, "read it");
    while (!status && (entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            status = watch_subdirectory(watch, root, entry->d_name, err);
    closedir(directory);
    return status;
}

static enum mt_status begin(struct mt_models_watch *watch, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0)
        return mt_fail(err, MT_IO, "inotify: %s", strerror(errno));
    for (size_t i = 0; i < watch->directories.n && !status; i++)
        status = watch_directory(watch, i, err);
    return status;
}

enum mt_status mt_models_watch_begin(struct mt_models_watch *watch, const char *models_directory,
                                     struct mt_error *err)
{
    mt_models_watch_end(watch);
    enum mt_status status = mt_directories_split(models_directory, &watch->directories, err);
    if (!status && watch->directories.n > 0)
        status = begin(watch, err);
    if (status)
        mt_models_watch_end(watch);
    return status;
}

/* Whether an event in a directory of models is about one of them. A new subdirectory is watched, so
 * that files put there next are noticed, too; where that is impossible, its creation counts as a
 * change. */
static bool concerns_entry(struct mt_models_watch *watch, size_t root,
                           const struct inotify_event *event)
{
    if (event->len == 0) /* about the directory itself */
        return true;
    if (event->name[0] == '.')
        return false;
    struct mt_watched_directory *known = find(watch, root, event->name);
    if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        bool was_model = known && known->is_model;
        if (known)
            forget(watch, known);
        return was_model;
    }
    if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0 &&
        watch_subdirectory(watch, root, event->name, NULL) != MT_OK)
        return true;
    return is_model(watch, root, event->name);
}

/* Whether an event in one of the subdirectories is about a model that is there, or was there
 * before. */
static bool concerns_subdirectory(struct mt_models_watch *watch, const struct inotify_event *event)
{
    bool does = false;
    for (size_t i = 0; i < watch->n_watched; i++) {
        struct mt_watched_directory *directory = &watch->watched[i];
        if (directory->number != event->wd ||
            (event->len > 0 && !mt_model_profile_counts(event->name)))
            continue;
        does |= directory->is_model;
        directory->is_model = is_model(watch, directory->root, directory->name);
        does |= directory->is_model;
    }
    return does;
}

static bool concerns_model(struct mt_models_watch *watch, const struct inotify_event *event)
{
    if ((event->mask & IN_Q_OVERFLOW) != 0) /* some events were lost */
        return true;
    for (size_t i = 0; i < watch->directories.n; i++)
        if (event->wd == watch->roots[i] && (event->mask & IN_IGNORED) == 0)
            return concerns_entry(watch, i, event);
    if ((event->mask & IN_IGNORED) == 0)
        return concerns_subdirectory(watch, event);
    for (size_t i = watch->n_watched; i-- > 0;) /* the event only says that a watch has ended */
        if (watch->watched[i].number == event->wd)
            forget(watch, &watch->watched[i]);
    return false;
}

bool mt_models_watch_look(struct mt_models_watch *watch)
{
    alignas(struct inotify_event) char events[EVENT_BYTES];
    bool has_changed = false;
    if (watch->fd < 0)
        return false;
    for (;;) {
        ssize_t n = read(watch->fd, events, sizeof events);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return has_changed;
        const struct inotify_event *event;
        for (const char *at = events; at < events + n; at += sizeof *event + event->len) {
            event = (const struct inotify_event *)(const void *)at;
            has_changed |= concerns_model(watch, event);
        }
    }
}

void mt_models_watch_end(struct mt_models_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    while (watch->n_watched > 0)
        forget(watch, &watch->watched[watch->n_watched - 1]);
    free(watch->watched);
    mt_directories_finish(&watch->directories);
    *watch = MT_WATCHES_NOTHING;
}
