#include "model/files/import.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "model/families/foreign.h"
#include "model/files/pack_cache.h"
#include "model/files/source.h"
#include "model/files/target_vocabulary.h"
#include "weights/image.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "config.json"
#define WEIGHTS_NAME "model.safetensors"
/* Most bytes of a file other than the weights: a vocabulary or a SentencePiece model. */
#define MAX_DOCUMENT_BYTES ((size_t)256 << 20)

/* The files of a directory besides the weights. */
static const struct {
    const char *name;
    bool is_required;
    bool is_read; /* attentiond reads it; the others are copied for people, from any family */
} documents[] = {
    {CONFIG_NAME, true, true},
    {"generation_config.json", false, true},
    {"tokenizer_config.json", false, true},
    {"vocab.json", true, true},
    {"target_vocab.json", false, true},
    {"source.spm", true, true},
    {"target.spm", true, true},
    {MT_SHORTLIST_FILE_NAME, false, true},
    {"special_tokens_map.json", false, false},
    {"attentiond.json", false, false},
    {"README.md", false, false},
    {"LICENSE", false, false},
};
enum { N_DOCUMENTS = sizeof documents / sizeof *documents };

/* Directory in which a model is collected: OUT/.importing/. */
#define STAGE ".importing"

struct mt_import_stage {
    char *to, *path;
    const char *weights_name;
    bool is_same; /* it is `from`, so only weights are written */
    bool has_made_target;
    int lock; /* of the stage; -1: none */
};

static enum mt_status read_plain(const struct mt_source *source, const char *name,
                                 struct mt_document *out, struct mt_error *err)
{
    enum mt_status status = mt_path_join(mt_source_directory(source), name, &out->path, err);
    return status ? status
                  : mt_file_read(out->path, MAX_DOCUMENT_BYTES, &out->bytes, &out->length, err);
}

static enum mt_status remove_leftover(const char *path, struct mt_error *err)
{
    if (unlink(path) && errno != ENOENT)
        return mt_fail(err, MT_IO, "%s: cannot remove what another model left: %s", path,
                       strerror(errno));
    return MT_OK;
}

/* Removes the target vocabularies of an earlier model. */
static enum mt_status remove_vocabularies(const char *to, struct mt_error *err)
{
    const size_t n_prefix = strlen(MT_TARGET_VOCABULARY_PREFIX);
    DIR *directory = opendir(to);
    if (!directory)
        return mt_fail_errno(err, to, "open the directory");
    enum mt_status status = MT_OK;
    const struct dirent *entry;
    while (!status && (entry = readdir(directory))) {
        char *path;
        if (strncmp(entry->d_name, MT_TARGET_VOCABULARY_PREFIX, n_prefix) != 0)
            continue;
        status = mt_path_join(to, entry->d_name, &path, err);
        if (!status) {
            status = remove_leftover(path, err);
            free(path);
        }
    }
    closedir(directory);
    return status;
}

/* --- The stage --- */

/* Removes files that a killed import left there. */
static void clear(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
}

static bool is_same_file(int fd, const char *path)
{
    struct stat held, named;
    return !fstat(fd, &held) && !stat(path, &named) && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* The lock ends with its process in any case. */
static enum mt_status open_stage(struct mt_import_stage *stage, struct mt_error *err)
{
    enum mt_status status = mt_path_join(stage->to, STAGE, &stage->path, err);
    if (status)
        return status;
    stage->has_made_target = mkdir(stage->to, 0755) == 0;
    if (!stage->has_made_target && errno != EEXIST)
        return mt_fail(err, MT_IO, "%s: cannot create the directory: %s", stage->to,
                       strerror(errno));
    if (mkdir(stage->path, 0700) && errno != EEXIST)
        return mt_fail_errno(err, stage->path, "create the directory");
    stage->lock = open(stage->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (stage->lock < 0)
        return mt_fail_errno(err, stage->path, "open the directory");
    if ((flock(stage->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
        !is_same_file(stage->lock, stage->path)) {
        close(stage->lock);
        stage->lock = -1;
        return mt_fail(err, MT_BUSY, "%s: another import is at work there", stage->to);
    }
    clear(stage->path);
    return MT_OK;
}

void mt_import_drop(struct mt_import_stage *stage)
{
    if (!stage)
        return;
    if (stage->lock >= 0) {
        clear(stage->path);
        rmdir(stage->path);
        close(stage->lock);
    }
    if (stage->has_made_target) /* which only succeeds if it is empty */
        rmdir(stage->to);
    free(stage->path);
    free(stage->to);
    free(stage);
}

const char *mt_import_stage_path(const struct mt_import_stage *stage)
{
    return stage->path;
}

static enum mt_status write_document(const struct mt_source *source, const char *to, size_t i,
                                     struct mt_error *err)
{
    struct mt_document document = {0};
    char *path = NULL;
    enum mt_status status = mt_path_join(to, documents[i].name, &path, err);
    if (status)
        return status;
    status = documents[i].is_read
                 ? mt_source_read(source, documents[i].name, MAX_DOCUMENT_BYTES, &document, err)
                 : read_plain(source, documents[i].name, &document, err);
    if (!status)
        status = mt_file_write(path, document.bytes, document.length, err);
    else if (!documents[i].is_read || (status == MT_NOT_FOUND && !documents[i].is_required))
        status = MT_OK; /* files that are only for people may not be readable */
    mt_document_finish(&document);
    free(path);
    return status;
}

static enum mt_status write_weights(const struct mt_image *image, const char *to, const char *name,
                                    struct mt_error *err)
{
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    char *path;
    enum mt_status status = mt_path_join(to, name, &path, err);
    if (status)
        return status;
    status = mt_file_write(path, bytes, length, err);
    free(path);
    return status;
}

/* --- From the stage to its place --- */

/* Renames a file of the stage to its place; without such a file, removes the one that has the name,
 * if is_due. */
static enum mt_status move_into_place(const struct mt_import_stage *stage, const char *name,
                                      bool is_due, struct mt_error *err)
{
    char *from, *to = NULL;
    enum mt_status status = mt_path_join(stage->path, name, &from, err);
    if (status)
        return status;
    status = mt_path_join(stage->to, name, &to, err);
    if (!status && mt_path_exists(from) == MT_OK)
        status = rename(from, to) ? mt_fail_errno(err, to, "rename to") : MT_OK;
    else if (!status && is_due)
        status = remove_leftover(to, err);
    free(from);
    free(to);
    return status;
}

static enum mt_status move_vocabularies(const struct mt_import_stage *stage, struct mt_error *err)
{
    DIR *directory = opendir(stage->path);
    if (!directory)
        return mt_fail_errno(err, stage->path, "open the directory");
    enum mt_status status = MT_OK;
    const struct dirent *entry;
    while (!status && (entry = readdir(directory)))
        if (strncmp(entry->d_name, MT_TARGET_VOCABULARY_PREFIX,
                    strlen(MT_TARGET_VOCABULARY_PREFIX)) == 0)
            status = move_into_place(stage, entry->d_name, false, err);
    closedir(directory);
    return status;
}

static enum mt_status remove_weights(const struct mt_import_stage *stage, struct mt_error *err)
{
    char *path;
    enum mt_status status = mt_path_join(stage->to, stage->weights_name, &path, err);
    if (status)
        return status;
    status = remove_leftover(path, err);
    free(path);
    return status;
}

/* The old weights are removed first, and the new ones come last: if the process ends in between,
 * the old ones would be taken for the new model's. Documents that this model does not have would be
 * read with it, so they are removed, too, except those for people. */
enum mt_status mt_import_keep(struct mt_import_stage *stage, struct mt_error *err)
{
    enum mt_status status = stage->is_same ? MT_OK : remove_weights(stage, err);
    if (!status && !stage->is_same)
        status = remove_vocabularies(stage->to, err);
    for (size_t i = 0; i < N_DOCUMENTS && !status && !stage->is_same; i++)
        status = move_into_place(stage, documents[i].name, documents[i].is_read, err);
    if (!status)
        status = move_vocabularies(stage, err);
    return status ? status : move_into_place(stage, stage->weights_name, false, err);
}

/* Copies the tensors of a file, or of several, into one file. */
static enum mt_status copy_tensors(const struct mt_safetensors *file, struct mt_image **out,
                                   struct mt_error *err)
{
    struct mt_image *image = NULL;
    size_t n = mt_safetensors_count(file), *indices = calloc(n + 1, sizeof *indices);
    enum mt_status status = indices ? mt_image_create(&image, err)
                                    : mt_fail_memory(err, n * sizeof *indices, "tensors");
    for (size_t i = 0; i < n && !status; i++) {
        const struct mt_tensor *t = mt_safetensors_at(file, i);
        status = mt_image_add(image, t->name, t->dtype, t->rank, t->shape, &indices[i], err);
    }
    if (!status)
        status = mt_image_allocate(image, err);
    for (size_t i = 0; i < n && !status; i++) {
        const struct mt_tensor *t = mt_safetensors_at(file, i);
        if (t->n_bytes)
            memcpy(mt_image_data(image, indices[i]), t->data, t->n_bytes);
    }
    free(indices);
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    return status;
}

/* Binds the tensors, to check that none is missing, and copies them. */
static enum mt_status collect_tensors(const struct mt_source *source,
                                      const struct mt_hparams *hparams,
                                      struct mt_bind_report *report, struct mt_image **out,
                                      struct mt_error *err)
{
    struct mt_safetensors *file = NULL;
    struct mt_arena *arena = NULL;
    struct mt_weights weights;
    struct mt_image *image = NULL;
    enum mt_status status = mt_source_weights(source, MT_LOAD_MMAP, &file, err);
    if (!status)
        status = mt_arena_create(0, &arena, err);
    if (!status)
        status = mt_bind_marian(file, hparams, MT_BIND_STORED, arena, &weights, report, err);
    if (!status)
        status = copy_tensors(file, &image, err);
    if (!status)
        status = mt_safetensors_check_mapping(file, err);
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    mt_arena_destroy(arena);
    mt_safetensors_close(file);
    return status;
}

static enum mt_status make_weights(const struct mt_source *source,
                                   const struct mt_import_options *options,
                                   struct mt_bind_report *report, struct mt_image **out,
                                   struct mt_error *err)
{
    const struct mt_pack_options pack = {.on_progress = options->on_progress,
                                         .progress_context = options->progress_context};
    struct mt_hparams hparams;
    enum mt_status status = mt_hparams_read(source, &hparams, err);
    if (status)
        return status;
    return options->packs ? mt_pack_source(source, &hparams, &pack, report, out, err)
                          : collect_tensors(source, &hparams, report, out, err);
}

static bool is_same_directory(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* A directory with files of these names that is not a model of ours may be somebody's work, or
 * another program's model, which could not be restored after overwriting or removing files. */
static enum mt_status check_no_others(const char *from, const char *to, const char *weights_name,
                                      struct mt_error *err)
{
    const char *found = mt_path_holds(to, weights_name) ? weights_name : NULL;
    bool is_ours = mt_path_holds(to, MT_PACKED_FILE_NAME);
    enum mt_status status = is_ours ? MT_OK : mt_source_find_config(to, &is_ours, err);
    if (status || is_ours)
        return status;
    for (size_t i = 0; i < N_DOCUMENTS && !found; i++)
        if (mt_path_holds(to, documents[i].name) &&
            (documents[i].is_read || mt_path_holds(from, documents[i].name)))
            found = documents[i].name;
    return found ? mt_fail(err, MT_INVALID,
                           "%s: %s is there, but no MarianMT model: expected another directory, "
                           "lest it be overwritten or removed",
                           to, found)
                 : MT_OK;
}

/* Checks that nothing foreign would be overwritten, such as another family's config.json. Weights
 * in another file than ours are refused, too, because they would be taken for this model's if that
 * file is tried first. */
static enum mt_status check_target(const char *from, const char *to, bool is_same,
                                   const char *weights_name, struct mt_error *err)
{
    struct mt_source *there = NULL;
    enum mt_status status = mt_source_open(to, &there, NULL);
    bool is_foreign = status || strcmp(mt_source_family(there), "MarianMT") != 0;
    mt_source_close(there);
    if (is_foreign)
        return mt_fail(err, MT_INVALID,
                       "%s: a model of another family is there, expected another directory", to);
    const char *other = is_same ? NULL : mt_source_other_weights(to, weights_name);
    if (other)
        return mt_fail(err, MT_INVALID, "%s: %s is there, expected no weights but %s", to, other,
                       weights_name);
    return is_same ? MT_OK : check_no_others(from, to, weights_name, err);
}

static const char *weights_name_of(const struct mt_import_options *options)
{
    return options->packs ? MT_PACKED_FILE_NAME : WEIGHTS_NAME;
}

enum mt_status mt_import_check(const char *from, const char *to,
                               const struct mt_import_options *options, struct mt_error *err)
{
    return check_target(from, to, is_same_directory(from, to), weights_name_of(options), err);
}

static enum mt_status write_model(const struct mt_import_stage *stage,
                                  const struct mt_source *source, const struct mt_image *image,
                                  struct mt_error *err)
{
    enum mt_status status = write_weights(image, stage->path, stage->weights_name, err);
    for (size_t i = 0; i < N_DOCUMENTS && !status; i++)
        status = write_document(source, stage->path, i, err);
    return status;
}

static enum mt_status create_stage(const char *from, const char *to,
                                   const struct mt_import_options *options,
                                   struct mt_import_stage **out, struct mt_error *err)
{
    struct mt_import_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return mt_fail_memory(err, sizeof *stage, "an import");
    *stage = (struct mt_import_stage){.to = strdup(to),
                                      .is_same = is_same_directory(from, to),
                                      .weights_name = weights_name_of(options),
                                      .lock = -1};
    enum mt_status status =
        stage->to ? open_stage(stage, err) : mt_fail_memory(err, strlen(to) + 1, "path");
    if (status)
        mt_import_drop(stage);
    else
        *out = stage;
    return status;
}

enum mt_status mt_import_write(const char *from, const char *to,
                               const struct mt_import_options *options,
                               struct mt_import_stage **out, struct mt_import_report *report,
                               struct mt_error *err)
{
    struct mt_import_stage *stage = NULL;
    struct mt_source *source = NULL;
    struct mt_image *image = NULL;
    enum mt_status status = mt_source_open(from, &source, err);
    if (status)
        return status;
    *report = (struct mt_import_report){.family = mt_source_family(source)};
    status = make_weights(source, options, &report->weights, &image, err);
    if (!status)
        status = create_stage(from, to, options, &stage, err);
    if (!status)
        status = write_model(stage, source, image, err);
    if (!status)
        snprintf(report->written, sizeof report->written, "%s/%s", to, stage->weights_name);
    mt_image_destroy(image);
    mt_source_close(source);
    if (status)
        mt_import_drop(stage);
    else
        *out = stage;
    return status;
}
