#include "server/store/places.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEPARATOR ':'
/* Directory for models on a system without home directories, such as a service or a container. */
#define SYSTEM_ROOT "/var/lib/attentiond/models"

/* ---- models_directory ---- */

static enum mt_status add_directory(const char *begin, size_t length, struct mt_directories *out,
                                    struct mt_error *err)
{
    if (length == 0)
        return MT_OK;
    if (out->n == MT_MAX_DIRECTORIES)
        return mt_fail(err, MT_LIMIT, "models_directory: more than %d directories",
                       MT_MAX_DIRECTORIES);
    char *path = strndup(begin, length);
    if (!path)
        return mt_fail_memory(err, length + 1, "path");
    out->paths[out->n++] = path;
    return MT_OK;
}

enum mt_status mt_directories_split(const char *models_directory, struct mt_directories *out,
                                    struct mt_error *err)
{
    struct mt_directories found = {0};
    enum mt_status status = MT_OK;
    const char *at = models_directory, *end;
    if (*at && mt_path_exists(at) == MT_OK) {
        status = add_directory(at, strlen(at), &found, err);
        at = "";
    }
    for (; *at && !status; at = *end ? end + 1 : end) {
        end = strchrnul(at, SEPARATOR);
        status = add_directory(at, (size_t)(end - at), &found, err);
    }
    if (status)
        mt_directories_finish(&found);
    else
        *out = found;
    return status;
}

void mt_directories_finish(struct mt_directories *directories)
{
    while (directories->n > 0)
        free(directories->paths[--directories->n]);
}

/* ---- the environment ---- */

/* The XDG base directory rules: a variable that is not an absolute path is ignored. */
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value == '/' ? value : NULL;
}

/* Returns a path below the variable's directory, or below a folder of HOME; *out is NULL where
 * neither exists. */
static enum mt_status below(const char *variable, const char *home_folder, const char *rest,
                            char **out, struct mt_error *err)
{
    const char *base = absolute(variable), *home = absolute("HOME");
    *out = NULL;
    if (!base && !home)
        return MT_OK;
    if (asprintf(out, "%s%s/%s", base ? base : home, base ? "" : home_folder, rest) < 0) {
        *out = NULL;
        return mt_fail_memory(err, PATH_MAX, "path");
    }
    return MT_OK;
}

/* Returns the value of another program's variable, which may be relative or begin with "~/". *out
 * is NULL where it is not set. */
static enum mt_status said(const char *variable, const char *rest, char **out, struct mt_error *err)
{
    const char *value = getenv(variable), *home = absolute("HOME");
    *out = NULL;
    if (!value || !*value)
        return MT_OK;
    bool is_in_home = home && !strncmp(value, "~/", 2);
    if (asprintf(out, "%s%s%s", is_in_home ? home : "", value + (is_in_home ? 1 : 0), rest) < 0) {
        *out = NULL;
        return mt_fail_memory(err, PATH_MAX, "path");
    }
    return MT_OK;
}

static enum mt_status find_root(char **out, struct mt_error *err)
{
    enum mt_status status = below("XDG_DATA_HOME", "/.local/share", "attentiond/models", out, err);
    if (!status && !*out && !(*out = strdup(SYSTEM_ROOT)))
        status = mt_fail_memory(err, sizeof SYSTEM_ROOT, "path");
    return status;
}

/* Follows argostranslate/settings.py. */
static enum mt_status find_argos(char **out, struct mt_error *err)
{
    enum mt_status status = said("ARGOS_PACKAGES_DIR", "", out, err);
    if (!status && !*out)
        status = said("ARGOS_TRANSLATE_PACKAGES_DIR", "", out, err);
    if (!status && !*out)
        status = below("XDG_DATA_HOME", "/.local/share", "argos-translate/packages", out, err);
    return status;
}

static enum mt_status find_bundled(char **out, struct mt_error *err)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    *out = NULL;
    if (length <= 0)
        return MT_OK;
    program[length] = '\0';
    for (int i = 0; i < 2; i++) { /* removes the program's name, and bin */
        char *slash = strrchr(program, '/');
        if (!slash)
            return MT_OK;
        *slash = '\0';
    }
    return mt_path_join(program, "share/attentiond", out, err);
}

/* Follows huggingface_hub/constants.py. */
static enum mt_status find_hub(char **out, struct mt_error *err)
{
    enum mt_status status = said("HF_HUB_CACHE", "", out, err);
    if (!status && !*out)
        status = said("HUGGINGFACE_HUB_CACHE", "", out, err);
    if (!status && !*out)
        status = said("HF_HOME", "/hub", out, err);
    if (!status && !*out)
        status = below("XDG_CACHE_HOME", "/.cache", "huggingface/hub", out, err);
    return status;
}

/* ---- all of them ---- */

const char *mt_place_name(enum mt_place_kind kind)
{
    static const char *const names[] = {
        [MT_PLACE_MODELS] = "models",
        [MT_PLACE_ARGOS] = "argos",
        [MT_PLACE_BUNDLED] = "bundled",
        [MT_PLACE_HUB] = "huggingface",
    };
    return names[kind];
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_known(const struct mt_places *places, const char *path)
{
    for (size_t i = 0; i < places->n; i++)
        if (strcmp(places->list[i].path, path) == 0)
            return true;
    return false;
}

/* Takes over path, which may be NULL. */
static void add_place(struct mt_places *places, enum mt_place_kind kind, char *path)
{
    if (path && is_directory(path) && !is_known(places, path))
        places->list[places->n++] = (struct mt_projected_tag){.kind = kind, .path = path};
    else
        free(path);
}

static enum mt_status add_models(const char *models_directory, struct mt_places *places,
                                 struct mt_error *err)
{
    struct mt_directories directories = {0};
    char *root;
    enum mt_status status = mt_directories_split(models_directory, &directories, err);
    if (status)
        return status;
    for (size_t i = 0; i < directories.n; i++)
        places->list[places->n++] =
            (struct mt_projected_tag){.kind = MT_PLACE_MODELS, .path = directories.paths[i]};
    if (directories.n > 0)
        return MT_OK;
    status = find_root(&root, err);
    if (!status)
        places->list[places->n++] =
            (struct mt_projected_tag){.kind = MT_PLACE_MODELS, .path = root};
    return status;
}

enum mt_status mt_places_find(const char *models_directory, struct mt_places *out,
                              struct mt_error *err)
{
    static const struct {
        enum mt_place_kind kind;
        enum mt_status (*find)(char **out, struct mt_error *err);
    } others[] = {
        {MT_PLACE_ARGOS, find_argos}, {MT_PLACE_BUNDLED, find_bundled}, {MT_PLACE_HUB, find_hub}};
    struct mt_places places = {0};
    enum mt_status status = add_models(models_directory, &places, err);
    for (size_t i = 0; i < sizeof others / sizeof *others && !status; i++) {
        char *path;
        status = others[i].find(&path, err);
        if (!status)
            add_place(&places, others[i].kind, path);
    }
    if (status)
        mt_places_finish(&places);
    else
        *out = places;
    return status;
}

enum mt_status mt_places_is_argos(const char *path, bool *out, struct mt_error *err)
{
    char *argos, *parent = NULL;
    struct stat of_argos, of_parent;
    enum mt_status status = find_argos(&argos, err);
    *out = false;
    if (!status && argos)
        status = mt_path_join(path, "..", &parent, err);
    if (parent)
        *out = stat(argos, &of_argos) == 0 && stat(parent, &of_parent) == 0 &&
               of_argos.st_dev == of_parent.st_dev && of_argos.st_ino == of_parent.st_ino;
    free(argos);
    free(parent);
    return status;
}

void mt_places_finish(struct mt_places *places)
{
    while (places->n > 0)
        free(places->list[--places->n].path);
}

const char *mt_places_root(const struct mt_places *places)
{
    return places->list[0].path;
}

const char *mt_places_hub(const struct mt_places *places)
{
    const struct mt_projected_tag *last = &places->list[places->n - 1];
    return last->kind == MT_PLACE_HUB ? last->path : NULL;
}
