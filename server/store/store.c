#include "server/store/store.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"
#include "model/files/source.h"
#include "server/store/hub.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUB_SCHEME "hf:"
#define ARCHIVE_ENDING ".argosmodel"
/* The organisation that a NAME alone means where several in the hub have it. */
#define USUAL_ORGANISATION "Helsinki-NLP/"
/* Fewest digits that identify a commit. */
#define MIN_COMMIT_DIGITS 7
#define MAX_PLACES_IN_MESSAGE 6
/* Deepest folders in a model's directory. */
#define MAX_DEPTH 4

/* ---- listing ---- */

static enum mt_status reserve(struct mt_store *store, struct mt_error *err)
{
    if (store->n == MT_MAX_STORED_MODELS)
        return mt_fail(err, MT_LIMIT, "more than %d models on this machine", MT_MAX_STORED_MODELS);
    return MT_ROOM(&store->models, &store->capacity, store->n + 1, "models", err);
}

/* Takes over path. */
static enum mt_status add(struct mt_store *store, enum mt_place_kind place, const char *name,
                          char *path, struct mt_error *err)
{
    struct mt_stored_model model = {.path = path, .place = place};
    enum mt_status status = reserve(store, err);
    if (!status && !(model.name = strdup(name)))
        status = mt_fail_memory(err, strlen(name) + 1, "a model's name");
    if (!status)
        status = mt_origin_read(path, &model.origin, err);
    if (status) {
        free(model.name);
        free(path);
        return status;
    }
    store->models[store->n++] = model;
    return MT_OK;
}

/* Whether a snapshot has more than its configuration: the hub's client can download that alone. */
static bool has_weights(const char *path)
{
    return mt_source_other_weights(path, "") || !mt_path_holds(path, "config.json") ||
           mt_path_holds(path, "model.bin");
}

static enum mt_status add_snapshot(struct mt_store *store, const char *hub, const char *folder,
                                   struct mt_error *err)
{
    char repository[MT_HUB_NAME_BYTES];
    struct mt_error why;
    char *path;
    if (!mt_hub_repository_of(folder, repository))
        return MT_OK;
    enum mt_status status = mt_hub_find(hub, repository, "", &path, &why);
    if (status == MT_MEMORY)
        return mt_fail(err, MT_MEMORY, "%s", why.message);
    if (status)
        return MT_OK;
    if (mt_source_is_model(path) && has_weights(path))
        return add(store, MT_PLACE_HUB, repository, path, err);
    free(path);
    return MT_OK;
}

static enum mt_status consider(struct mt_store *store, const struct mt_projected_tag *place,
                               const char *name, struct mt_error *err)
{
    char *path;
    if (place->kind == MT_PLACE_HUB)
        return add_snapshot(store, place->path, name, err);
    enum mt_status status = mt_path_join(place->path, name, &path, err);
    if (status)
        return status;
    if (mt_source_is_model(path))
        return add(store, place->kind, name, path, err);
    free(path);
    return MT_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum mt_status add_place(struct mt_store *store, const struct mt_projected_tag *place,
                                struct mt_error *err)
{
    struct dirent **entries;
    int n = scandir(place->path, &entries, is_visible, compare_names);
    enum mt_status status = MT_OK;
    if (n < 0)
        return errno == ENOMEM ? mt_fail_errno(err, place->path, "read it") : MT_OK;
    for (int i = 0; i < n; i++) {
        if (!status)
            status = consider(store, place, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum mt_status mt_store_open(const char *models_directory, struct mt_store *out,
                             struct mt_error *err)
{
    struct mt_store store = {0};
    enum mt_status status = mt_places_find(models_directory, &store.places, err);
    for (size_t i = 0; i < store.places.n && !status; i++)
        status = add_place(&store, &store.places.list[i], err);
    if (status)
        mt_store_close(&store);
    else
        *out = store;
    return status;
}

void mt_store_close(struct mt_store *store)
{
    mt_places_finish(&store->places);
    for (size_t i = 0; i < store->n; i++) {
        free(store->models[i].name);
        free(store->models[i].path);
    }
    free(store->models);
    *store = (struct mt_store){0};
}

/* ---- how large ---- */

static uint64_t bytes_below(int fd, int depth)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    uint64_t sum = 0;
    if (!directory) {
        close(fd);
        return 0;
    }
    while ((entry = readdir(directory))) {
        struct stat st;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            fstatat(fd, entry->d_name, &st, 0) != 0)
            continue;
        if (S_ISREG(st.st_mode))
            sum += (uint64_t)st.st_size;
        int below = S_ISDIR(st.st_mode) && depth > 0
                        ? openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                        : -1;
        if (below >= 0)
            sum += bytes_below(below, depth - 1);
    }
    closedir(directory);
    return sum;
}

uint64_t mt_stored_model_bytes(const struct mt_stored_model *model)
{
    struct stat st;
    if (stat(model->path, &st) != 0)
        return 0;
    int fd = S_ISDIR(st.st_mode) ? open(model->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    return fd >= 0 ? bytes_below(fd, MAX_DEPTH) : (uint64_t)st.st_size;
}

/* ---- finding ---- */

/* The ways in which a name may mean a model, best first. */
enum meaning {
    ITS_NAME,
    ITS_ORIGIN,
    HUB_REPOSITORY,
    HUB_USUAL,
    HUB_NAME,
    PACKAGE,
    BUNDLED,
    NOTHING
};

static const char *without_scheme(const char *name)
{
    bool has_scheme = strncmp(name, HUB_SCHEME, strlen(HUB_SCHEME)) == 0;
    return has_scheme ? name + strlen(HUB_SCHEME) : name;
}

static bool is_named(const struct mt_stored_model *model, const char *name)
{
    size_t length = strlen(name);
    return strncmp(model->name, name, length) == 0 &&
           (model->name[length] == '\0' || strcmp(model->name + length, ARCHIVE_ENDING) == 0);
}

/* Whether the model was pulled from name: name may lack the revision, or have only the beginning of
 * the commit. */
static bool is_from(const struct mt_stored_model *model, const char *name)
{
    const char *from = without_scheme(model->origin.from), *revision = strrchr(name, '@');
    size_t length = strlen(name);
    if (length == 0 || strncmp(from, name, length) != 0)
        return false;
    return from[length] == '\0' || from[length] == '@' ||
           (revision && strlen(revision + 1) >= MIN_COMMIT_DIGITS);
}

static enum meaning meaning_of(const struct mt_stored_model *model, const char *name)
{
    const char *slash = strrchr(model->name, '/');
    switch (model->place) {
    case MT_PLACE_MODELS:
        return is_named(model, name) ? ITS_NAME : is_from(model, name) ? ITS_ORIGIN : NOTHING;
    case MT_PLACE_HUB:
        if (is_from(model, name))
            return HUB_REPOSITORY;
        if (strcmp(slash ? slash + 1 : model->name, name) != 0)
            return NOTHING;
        return strncmp(model->name, USUAL_ORGANISATION, strlen(USUAL_ORGANISATION)) == 0 ? HUB_USUAL
                                                                                         : HUB_NAME;
    case MT_PLACE_ARGOS:
        return is_named(model, name) ? PACKAGE : NOTHING;
    case MT_PLACE_BUNDLED:
        return is_named(model, name) ? BUNDLED : NOTHING;
    }
    return NOTHING;
}

/* Returns the first model with the best meaning. *rival gets another one with the same meaning. */
static const struct mt_stored_model *match(const struct mt_store *store, const char *name,
                                           enum meaning least, const struct mt_stored_model **rival)
{
    const struct mt_stored_model *best = NULL;
    enum meaning found = least;
    *rival = NULL;
    for (size_t i = 0; i < store->n; i++) {
        enum meaning meaning = meaning_of(&store->models[i], name);
        if (meaning == HUB_NAME && found == HUB_NAME)
            *rival = &store->models[i];
        if (meaning >= found)
            continue;
        best = &store->models[i];
        found = meaning;
        *rival = NULL;
    }
    return best;
}

const struct mt_stored_model *mt_store_find_in_models(const struct mt_store *store,
                                                      const char *name)
{
    const struct mt_stored_model *rival;
    return match(store, without_scheme(name), HUB_REPOSITORY, &rival);
}

/* Finds "ORG/NAME@REVISION" in the hub. The list already has main. */
static enum mt_status find_revision(const struct mt_store *store, const char *name, char **out,
                                    struct mt_error *err)
{
    char repository[MT_HUB_NAME_BYTES];
    const char *hub = mt_places_hub(&store->places), *at = strrchr(name, '@');
    size_t length = at ? (size_t)(at - name) : 0;
    if (!hub || !at || !at[1] || length == 0 || length >= sizeof repository)
        return MT_NOT_FOUND;
    memcpy(repository, name, length);
    repository[length] = '\0';
    struct mt_error why;
    enum mt_status status = mt_hub_find(hub, repository, at + 1, out, &why);
    if (status == MT_MEMORY)
        return mt_fail(err, MT_MEMORY, "%s", why.message);
    if (!status && !has_weights(*out)) {
        free(*out);
        status = MT_NOT_FOUND;
    }
    return status;
}

bool mt_store_is_name(const char *text)
{
    const char *slash = strchr(text, '/');
    if (*text == '\0' || strchr("/.~", *text) || text[strlen(text) - 1] == '/')
        return false;
    if (!slash)
        return true;
    const char *revision = strchr(slash, '@'); /* a revision may have slashes, too */
    slash = strchr(slash + 1, '/');
    return !slash || (revision && slash > revision);
}

/* Whether the name is that of a repository in the hub with missing files. */
static bool is_incomplete(const struct mt_store *store, const char *name)
{
    const char *hub = mt_places_hub(&store->places);
    char *path = NULL;
    bool is_there = hub && strchr(name, '/') && !strchr(name, '@') &&
                    mt_hub_find(hub, name, "", &path, NULL) == MT_OK;
    free(path);
    return is_there;
}

static void append_places(const struct mt_store *store, struct mt_text *out)
{
    size_t n = mt_size_min(store->places.n, MAX_PLACES_IN_MESSAGE);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(out, "%s%s",
                        i == 0      ? ""
                        : i + 1 < n ? ", "
                                    : " or ",
                        store->places.list[i].path);
}

static enum mt_status fail_to_find(const struct mt_store *store, const char *name,
                                   struct mt_error *err)
{
    struct mt_text places = {0};
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, name);
    for (size_t i = 0; i < store->n; i++) {
        const char *slash = strchr(store->models[i].name, '/');
        mt_nearest_offer(&nearest, store->models[i].name);
        if (slash)
            mt_nearest_offer(&nearest, slash + 1);
    }
    append_places(store, &places);
    enum mt_status status = mt_text_check(&places, "the places of models", err);
    if (!status)
        status = mt_fail(err, MT_NOT_FOUND,
                         "there is no model \"%.100s\" here%s%s%s; attentiond pull %.100s would "
                         "fetch it%s; looked for such a path, and for the name in %s",
                         name, nearest.best ? ", did you mean " : "",
                         nearest.best ? nearest.best : "", nearest.best ? "?" : "", name,
                         is_incomplete(store, name) ? " (Hugging Face's cache has it without its "
                                                      "weights)"
                                                    : "",
                         places.bytes);
    mt_text_finish(&places);
    return status;
}

enum mt_status mt_store_find(const struct mt_store *store, const char *name, char **out,
                             struct mt_error *err)
{
    const struct mt_stored_model *rival;
    const char *plain = without_scheme(name);
    const struct mt_stored_model *found = match(store, plain, NOTHING, &rival);
    if (rival)
        return mt_fail(err, MT_INVALID,
                       "\"%.100s\" is the name of several models in Hugging Face's cache: %.100s, "
                       "%.100s; which one?",
                       name, found->name, rival->name);
    if (!found) {
        enum mt_status status = find_revision(store, plain, out, err);
        return status == MT_NOT_FOUND ? fail_to_find(store, name, err) : status;
    }
    char *path = strdup(found->path);
    if (!path)
        return mt_fail_memory(err, strlen(found->path) + 1, "path");
    *out = path;
    return MT_OK;
}
