#include "server/models_watch.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* What makes another model of a directory, or shows that somebody is at it. Reading is neither. */
#define CHANGES                                                                         \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

#define EVENT_BYTES 4096

/* What is no directory, or has gone again, needs no watch. */
static enum mt_status watch_subdirectory(struct mt_models_watch *watch, const char *name,
                                         struct mt_error *err)
{
    char *path;
    enum mt_status status = mt_path_join(watch->directory, name, &path, err);
    if (status != MT_OK)
        return status;
    if (inotify_add_watch(watch->fd, path, CHANGES) < 0 && errno != ENOTDIR && errno != ENOENT &&
        errno != EACCES && errno != ELOOP)
        status = mt_fail_errno(err, path, "watch it");
    free(path);
    return status;
}

static enum mt_status watch_subdirectories(struct mt_models_watch *watch, struct mt_error *err)
{
    DIR *directory = opendir(watch->directory);
    const struct dirent *entry;
    enum mt_status status = MT_OK;
    if (directory == NULL)
        return mt_fail_errno(err, watch->directory, "read it");
    while (status == MT_OK && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            status = watch_subdirectory(watch, entry->d_name, err);
    closedir(directory);
    return status;
}

static enum mt_status begin(struct mt_models_watch *watch, const char *directory,
                            struct mt_error *err)
{
    watch->directory = strdup(directory);
    if (watch->directory == NULL)
        return mt_fail_memory(err, strlen(directory) + 1, "path");
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0)
        return mt_fail(err, MT_IO, "inotify: %s", strerror(errno));
    watch->root = inotify_add_watch(watch->fd, directory, CHANGES);
    if (watch->root < 0)
        return mt_fail_errno(err, directory, "watch it");
    return watch_subdirectories(watch, err);
}

enum mt_status mt_models_watch_begin(struct mt_models_watch *watch, const char *directory,
                                     struct mt_error *err)
{
    mt_models_watch_end(watch);
    if (directory[0] == '\0')
        return MT_OK;
    enum mt_status status = begin(watch, directory, err);
    if (status != MT_OK)
        mt_models_watch_end(watch);
    return status;
}

/* Of a new subdirectory, what is put there next is a change, too. Where that cannot be watched, its
 * own appearance is noticed all the same. */
static void follow(struct mt_models_watch *watch, const struct inotify_event *event)
{
    bool is_new = (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0;
    if (event->wd == watch->root && is_new && event->len > 0 && event->name[0] != '.')
        (void)!watch_subdirectory(watch, event->name, NULL);
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
            has_changed |= (event->mask & IN_IGNORED) == 0; /* only that a watch is gone */
            follow(watch, event);
        }
    }
}

void mt_models_watch_end(struct mt_models_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    free(watch->directory);
    *watch = MT_WATCHES_NOTHING;
}
