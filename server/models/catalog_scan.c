#include "server/models/catalog_state.h"

#include "base/ascii.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vector.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/files/source.h"
#include "server/models/model_settings.h"
#include "server/models/model_host.h"
#include "server/models/model_profile.h"
#include "server/store/hub.h"
#include "server/store/places.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ID_BYTES 64

/* ---- one model ---- */

/* Makes an id of the directory's name, in which unsuitable characters become '_'. */
static void make_id(const char *name, char out[ID_BYTES])
{
    size_t n = 0;
    for (; name[n] != '\0' && n < ID_BYTES - 1; n++) {
        char c = name[n];
        bool is_plain = mt_ascii_is_letter_or_digit(c);
        out[n] = is_plain || strchr("-._", c) ? c : '_';
    }
    out[n] = '\0';
}

/* Facts about a directory before it is served. */
struct find {
    const char *path, *name; /* of the directory */
    bool is_pinned;
    struct mt_model_profile profile;
    struct mt_error failure; /* MT_OK: it has not failed */
};

/* Appends everything that a loaded model depends on, which makes its fingerprint. */
static void describe(const struct mt_settings *settings, const struct find *find,
                     struct mt_text *out)
{
    mt_text_appendf(out, "%s\n%s\n%016" PRIx64 "\n%s\n%s\n%s\n%s\n%s\n%s\n%zu\n", find->path,
                    find->name, find->profile.files_hash, settings->precision, settings->load_mode,
                    settings->kernels, settings->cache_dir, settings->warm_up_text,
                    find->is_pinned ? settings->warm_up_answer : "",
                    mt_model_defaults_beam_size(&find->profile.defaults, settings));
    if (find->is_pinned)
        mt_text_appendf(out, "settings\n%s\n%s\n", settings->source_lang, settings->target_lang);
}

/* Packing and widening change the size by a factor of 1/4 to 2. The lowest estimate is taken, so
 * that an estimate never keeps a model from being loaded. */
static size_t expected_bytes(const struct mt_settings *settings, const struct find *find)
{
    bool is_packed = strcmp(settings->precision, "int8") == 0;
    return (size_t)find->profile.largest_file_bytes / (is_packed ? 4 : 1);
}

static enum mt_status create_served(const struct mt_catalog_options *options,
                                    const struct find *find, const char *fingerprint,
                                    struct mt_served_model **out, struct mt_error *err)
{
    const struct mt_settings *settings = options->settings;
    struct mt_model_options model = mt_model_options_of_settings(settings);
    char id[ID_BYTES];
    make_id(find->name, id);
    if (find->is_pinned && options->shows_progress)
        mt_model_options_show_progress(&model);
    struct mt_served_model_options served = {
        .info =
            {
                .id = id,
                .directory = find->path,
                .sources = find->profile.sources,
                .n_sources = find->profile.n_sources,
                .targets = find->profile.targets,
                .n_targets = find->profile.n_targets,
                .defaults = &find->profile.defaults,
                .max_positions = find->profile.max_positions,
                .n_beams = find->profile.n_beams,
                .shape = find->profile.shape,
                .is_pinned = find->is_pinned,
            },
        .model = &model,
        .warm_up_text = settings->warm_up_text,
        .warm_up_answer = find->is_pinned ? settings->warm_up_answer : "",
        .warm_up_beam_size = mt_model_defaults_beam_size(&find->profile.defaults, settings),
        .fingerprint = fingerprint,
        .expected_bytes = expected_bytes(settings, find),
        .failure = find->failure.status ? &find->failure : NULL,
    };
    memcpy(served.info.licence, find->profile.licence, sizeof served.info.licence);
    memcpy(served.info.from, find->profile.from, sizeof served.info.from);
    return mt_served_model_create(options->host, &served, out, err);
}

static struct mt_served_model *find_same(const struct mt_catalog_options *options,
                                         const char *fingerprint)
{
    const struct mt_catalog *former = options->former;
    for (size_t i = 0; former && i < former->n; i++)
        if (mt_served_model_is(former->models[i], options->host, fingerprint))
            return former->models[i];
    return NULL;
}

static enum mt_status reserve(struct mt_catalog *catalog, struct mt_error *err)
{
    if (catalog->n == MT_MAX_SERVED_MODELS)
        return mt_fail(err, MT_LIMIT, "more than %d models", MT_MAX_SERVED_MODELS);
    if (MT_ROOM(&catalog->has_failed, &catalog->failed_capacity, catalog->n + 1, "models", err))
        return MT_MEMORY;
    return MT_ROOM(&catalog->models, &catalog->capacity, catalog->n + 1, "models", err);
}

static void warn_of_what_is_left_out(const struct find *find)
{
    if (find->profile.defaults.left_out)
        mt_log(MT_LOG_WARN,
               "%s/" MT_MODEL_DEFAULTS_FILE " came with the model, whose author does not decide "
               "about %s: left out, unless you write it yourself",
               find->path, find->profile.defaults.left_out);
}

/* Checks that the new model in a directory can replace the one in memory. Returns true where it
 * cannot, and the old one stays in the catalog. */
static bool keep_former(const struct mt_catalog_options *options, struct mt_served_model **slot)
{
    const struct mt_served_model_info *info = mt_served_model_info(*slot);
    struct mt_served_model *former =
        options->former ? mt_catalog_find_id(options->former, info->id) : NULL;
    struct mt_error err;
    if (!former || info->is_pinned || mt_served_model_info(former)->is_pinned ||
        mt_served_model_succeed(former, *slot, &err) == MT_OK)
        return false;
    if (err.status != MT_CANCELLED) /* otherwise the daemon ends */
        mt_log(MT_LOG_ERROR,
               "%s: what has come in its place cannot be served, and the one in memory stays: %s",
               info->id, err.message);
    mt_served_model_drop(*slot);
    *slot = former;
    return true;
}

/* Adds the former catalog's model, if nothing about it has changed, or a new one. */
static enum mt_status add(struct mt_catalog *catalog, const struct mt_catalog_options *options,
                          const struct find *find, struct mt_error *err)
{
    struct mt_text fingerprint = {0};
    describe(options->settings, find, &fingerprint);
    enum mt_status status = mt_text_check(&fingerprint, find->path, err);
    bool has_failed = find->failure.status != MT_OK;
    if (!status)
        status = reserve(catalog, err);
    if (!status) {
        struct mt_served_model **slot = &catalog->models[catalog->n];
        *slot = has_failed ? NULL : find_same(options, fingerprint.bytes);
        if (*slot) {
            mt_served_model_share(*slot);
        } else {
            status = create_served(options, find, fingerprint.bytes, slot, err);
            warn_of_what_is_left_out(find);
            has_failed = !status && !keep_former(options, slot) && has_failed;
        }
    }
    mt_text_finish(&fingerprint);
    if (!status)
        catalog->has_failed[catalog->n++] = has_failed;
    return status;
}

/* ---- settings->model ---- */

static enum mt_status override_languages(const struct mt_settings *settings,
                                         struct mt_model_profile *profile, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (settings->source_lang[0] != '\0')
        status = mt_model_profile_set_language(profile, false, settings->source_lang, err);
    if (!status && settings->target_lang[0] != '\0')
        status = mt_model_profile_set_language(profile, true, settings->target_lang, err);
    return status;
}

/* The model is named after its directory, whatever links led there. A snapshot in Hugging Face's
 * cache, whose directory is named after a commit, gets the repository's name. */
static enum mt_status add_pinned(struct mt_catalog *catalog,
                                 const struct mt_catalog_options *options, struct mt_error *err)
{
    char resolved[PATH_MAX], name[MT_HUB_NAME_BYTES];
    const char *path = options->settings->model;
    mt_model_name_of(path, name);
    if (realpath(path, resolved))
        path = resolved;
    struct find find = {.path = options->settings->model, .name = name, .is_pinned = true};
    enum mt_status status = mt_model_profile_read(path, find.name, &find.profile, err);
    if (!status)
        status = override_languages(options->settings, &find.profile, err);
    if (!status)
        status = add(catalog, options, &find, err);
    mt_model_profile_finish(&find.profile);
    return status;
}

/* ---- settings->models_directory ---- */

static bool is_same_directory(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* A model whose sizes are too large is excluded, and the other models stay. */
static enum mt_status check_sentence(struct mt_catalog *catalog,
                                     const struct mt_catalog_options *options,
                                     struct mt_model_profile *profile, struct mt_error *err)
{
    const struct mt_longest_sentence longest = {profile->max_positions, profile->n_beams};
    enum mt_status status =
        options->check_sentence ? options->check_sentence(options->context, &longest, err) : MT_OK;
    if (status == MT_INVALID) {
        catalog->n_too_large++;
        catalog->too_large = *err;
        profile->max_positions = profile->n_beams = 0; /* no memory is reserved for it */
    }
    return status;
}

/* Returns only MT_LIMIT and MT_MEMORY. Any other fault of a directory becomes that model's failure,
 * and the scan goes on. */
static enum mt_status add_found(struct mt_catalog *catalog,
                                const struct mt_catalog_options *options, const char *path,
                                const char *name, struct mt_error *err)
{
    struct find find = {.path = path, .name = name};
    char id[ID_BYTES];
    make_id(name, id);
    if (mt_catalog_find_id(catalog, id)) {
        mt_log(MT_LOG_WARN, "%s is left out: there is another model that is called %s", path, id);
        return MT_OK;
    }
    enum mt_status status = mt_model_profile_read(path, name, &find.profile, &find.failure);
    if (!status)
        status = check_sentence(catalog, options, &find.profile, &find.failure);
    if (status == MT_MEMORY) {
        mt_model_profile_finish(&find.profile);
        return mt_fail(err, MT_MEMORY, "%s", find.failure.message);
    }
    /* err may hold failures of steps that were tried before one succeeded */
    find.failure.status = status;
    if (status)
        find.profile.defaults = MT_NO_MODEL_DEFAULTS;
    status = add(catalog, options, &find, err);
    if (!status && catalog->has_failed[catalog->n - 1])
        mt_log(MT_LOG_ERROR, "%s cannot be served: %s", id, find.failure.message);
    mt_model_profile_finish(&find.profile);
    return status;
}

static enum mt_status consider(struct mt_catalog *catalog, const struct mt_catalog_options *options,
                               const char *directory, const char *name, struct mt_error *err)
{
    const struct mt_settings *settings = options->settings;
    char *path;
    enum mt_status status = mt_path_join(directory, name, &path, err);
    if (status)
        return status;
    bool is_pinned = settings->model[0] != '\0' && is_same_directory(path, settings->model);
    if (!is_pinned && mt_source_is_model(path))
        status = add_found(catalog, options, path, name, err);
    free(path);
    return status;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum mt_status add_directory(struct mt_catalog *catalog,
                                    const struct mt_catalog_options *options, const char *path,
                                    struct mt_error *err)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_visible, compare_names);
    if (n < 0)
        return mt_fail_in(err, mt_fail_errno(err, path, "read it"), "models_directory");
    enum mt_status status = MT_OK;
    size_t n_before = catalog->n;
    for (int i = 0; i < n; i++) {
        if (!status)
            status = consider(catalog, options, path, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    if (!status && catalog->n == n_before && mt_source_is_model(path))
        return mt_fail(err, MT_INVALID,
                       "models_directory: %s is a model itself, expected a directory with a "
                       "directory for each model; --model %s serves this one",
                       path, path);
    return status;
}

static enum mt_status add_directories(struct mt_catalog *catalog,
                                      const struct mt_catalog_options *options,
                                      struct mt_error *err)
{
    struct mt_directories directories = {0};
    enum mt_status status =
        mt_directories_split(options->settings->models_directory, &directories, err);
    for (size_t i = 0; i < directories.n && !status; i++)
        status = add_directory(catalog, options, directories.paths[i], err);
    mt_directories_finish(&directories);
    return status;
}

/* ---- all of it ---- */

static void warn_of_aliases(const struct mt_catalog *catalog)
{
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        for (size_t k = 0; k < info->defaults->n_aliases; k++) {
            const char *alias = info->defaults->aliases[k];
            const struct mt_served_model *found = mt_catalog_find(catalog, alias);
            if (found != catalog->models[i])
                mt_log(MT_LOG_WARN, "%s: its alias %s is the name of %s already", info->id, alias,
                       mt_served_model_info(found)->id);
        }
    }
}

enum mt_status mt_catalog_scan(struct mt_catalog *catalog, const struct mt_catalog_options *options,
                               struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (options->settings->model[0] != '\0')
        status = add_pinned(catalog, options, err);
    if (!status)
        status = add_directories(catalog, options, err);
    if (!status && catalog->n_too_large > 0 && catalog->n_too_large == catalog->n &&
        !mt_catalog_default(catalog))
        status = mt_fail(err, MT_INVALID, "%s", catalog->too_large.message);
    if (!status)
        warn_of_aliases(catalog);
    return status;
}
