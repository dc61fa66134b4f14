#include "server/service/readable.h"

#include "base/file.h"
#include "base/vector.h"
#include "config/settings.h"
#include "server/store/places.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The deepest level: a models directory, a model in it, the folders of a package. */
#define MAX_DEPTH 3

void mt_readable_finish(struct mt_readable *readable)
{
    while (readable->n > 0)
        free(readable->paths[--readable->n]);
    free(readable->paths);
    *readable = (struct mt_readable){0};
}

static bool is_below(const char *path, const char *directory)
{
    size_t n = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
    return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool is_known(const struct mt_readable *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_below(path, list->paths[i]))
            return true;
    return false;
}

static void drop_below(struct mt_readable *list, const char *directory)
{
    for (size_t i = 0; i < list->n;)
        if (is_below(list->paths[i], directory)) {
            free(list->paths[i]);
            list->paths[i] = list->paths[--list->n];
        } else {
            i++;
        }
}

/* Takes over path, which comes from realpath. */
static enum mt_status add_real(struct mt_readable *list, char *path, struct mt_error *err)
{
    if (is_known(list, path) || list->n == MT_MAX_READABLE) {
        free(path);
        return MT_OK;
    }
    if (MT_ROOM(&list->paths, &list->capacity, list->n + 1, "paths", err)) {
        free(path);
        return MT_MEMORY;
    }
    drop_below(list, path);
    list->paths[list->n++] = path;
    return MT_OK;
}

static enum mt_status add(struct mt_readable *list, const char *path, struct mt_error *err)
{
    char *real = realpath(path, NULL);
    return real ? add_real(list, real, err) : MT_OK;
}

/* Shortens path to its directory. A path directly below / is usually a mount, which nobody renames,
 * and the directory would be everything. */
static enum mt_status add_beside(struct mt_readable *list, char *path, struct mt_error *err)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return add(list, ".", err);
    if (slash == path)
        return MT_OK;
    *slash = '\0';
    enum mt_status status = add(list, path, err);
    *slash = '/';
    return status;
}

/* Adds a path that may be replaced, by a rename or by another link. */
static enum mt_status add_named(struct mt_readable *list, const char *path, struct mt_error *err)
{
    if (!path || path[0] == '\0')
        return MT_OK;
    char *named = strdup(path), *real = realpath(path, NULL);
    enum mt_status status = named ? MT_OK : mt_fail_memory(err, strlen(path) + 1, "path");
    while (!status && strlen(named) > 1 && named[strlen(named) - 1] == '/')
        named[strlen(named) - 1] = '\0';
    if (!status)
        status = add_beside(list, named, err);
    if (!status && real && !is_known(list, real)) {
        status = add_beside(list, real, err);
        if (!status)
            status = add(list, real, err);
    }
    free(named);
    free(real);
    return status;
}

/* Adds the targets of links in a directory. */
static enum mt_status add_linked(struct mt_readable *list, const char *path, size_t depth,
                                 struct mt_error *err)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    enum mt_status status = MT_OK;
    while (directory && !status && (entry = readdir(directory))) {
        char *inner;
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        status = mt_path_join(path, entry->d_name, &inner, err);
        if (status)
            break;
        bool is_link = lstat(inner, &st) == 0 && S_ISLNK(st.st_mode);
        if (is_link)
            status = add_named(list, inner, err);
        if (!status && depth > 1 && stat(inner, &st) == 0 && S_ISDIR(st.st_mode))
            status = add_linked(list, inner, depth - 1, err);
        free(inner);
    }
    if (directory)
        closedir(directory);
    return status;
}

static enum mt_status add_models(struct mt_readable *list, const struct mt_settings *settings,
                                 struct mt_error *err)
{
    struct mt_places places;
    enum mt_status status = mt_places_find(settings->models_directory, &places, err);
    if (status)
        return status;
    for (size_t i = 0; i < places.n && !status; i++) {
        const struct mt_projected_tag *place = &places.list[i];
        status = add(list, place->path, err);
        if (!status && place->kind != MT_PLACE_HUB) /* links in the hub lead into the hub itself */
            status = add_linked(list, place->path, MAX_DEPTH, err);
    }
    mt_places_finish(&places);
    if (!status)
        status = add_named(list, settings->model, err);
    if (!status && settings->model[0] != '\0')
        status = add_linked(list, settings->model, MAX_DEPTH - 1, err);
    return status;
}

static enum mt_status add_system(struct mt_readable *list, struct mt_error *err)
{
    static const char *const paths[] = {"/proc", "/sys/devices/system", "/sys/fs/cgroup",
                                        "/usr/share", "/etc/localtime"};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !status; i++)
        status = add(list, paths[i], err);
    return status;
}

enum mt_status mt_readable_list(const struct mt_settings *settings, const char *config_path,
                                struct mt_readable *out, struct mt_error *err)
{
    const char *const files[] = {config_path, settings->api_keys_file, settings->tls_certificate,
                                 settings->tls_key};
    struct mt_readable list = {0};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && !status; i++)
        status = add_named(&list, files[i], err);
    if (!status)
        status = add_models(&list, settings, err);
    if (!status)
        status = add_system(&list, err);
    if (status)
        mt_readable_finish(&list);
    else
        *out = list;
    return status;
}
