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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "config.json"
#define WEIGHTS_NAME "model.safetensors"
/* Largest of the files beside the weights: a vocabulary or a SentencePiece model. */
#define MAX_DOCUMENT_BYTES ((size_t)256 << 20)

/* What a directory consists of, beside the weights. */
static const struct {
    const char *name;
    bool is_required;
    bool is_read; /* by us; the others are copied for people, wherever they come from */
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

/* Vocabularies of an earlier model's targets. */
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

/* What is to become of a file. {0}: it stays. */
struct change {
    char *path;                 /* NULL: none */
    struct mt_file_draft draft; /* what takes its place; {0}: nothing, it goes */
};

static enum mt_status prepare_document(const struct mt_source *source, const char *to, size_t i,
                                       struct change *out, struct mt_error *err)
{
    struct mt_document document = {0};
    char *path = NULL;
    enum mt_status status = mt_path_join(to, documents[i].name, &path, err);
    if (status)
        return status;
    status = documents[i].is_read
                 ? mt_source_read(source, documents[i].name, MAX_DOCUMENT_BYTES, &document, err)
                 : read_plain(source, documents[i].name, &document, err);
    bool is_found = !status;
    if (is_found)
        status = mt_file_draft_write(path, document.bytes, document.length, &out->draft, err);
    else if (!documents[i].is_read || (status == MT_NOT_FOUND && !documents[i].is_required))
        status = MT_OK; /* what is only for people may lie beyond reach */
    mt_document_finish(&document);
    /* What this model has not would be read with it, but for what is for people. */
    if (!status && (is_found || documents[i].is_read))
        out->path = path;
    else
        free(path);
    return status;
}

static enum mt_status apply(struct change *change, struct mt_error *err)
{
    if (!change->path)
        return MT_OK;
    return change->draft.name ? mt_file_draft_keep(&change->draft, change->path, err)
                              : remove_leftover(change->path, err);
}

/* The weights that are there go first, and the new ones come last: if we end in the middle, they
 * would be taken for another model's. */
static enum mt_status apply_all(struct change *changes, size_t n, const char *to,
                                const char *weights_path, bool is_same, struct mt_error *err)
{
    enum mt_status status = is_same ? MT_OK : remove_leftover(weights_path, err);
    if (!status && !is_same)
        status = remove_vocabularies(to, err);
    for (size_t i = 0; i < n && !status; i++)
        status = apply(&changes[i], err);
    return status;
}

/* All files are on the disk before anything of a model that is there is touched: a disk that is
 * full leaves that model as it was. Where a daemon has its weights, their end makes no room. */
static enum mt_status write_model(const struct mt_source *source, const char *to, bool is_same,
                                  const struct mt_image *image, const char *weights_path,
                                  struct mt_error *err)
{
    enum { N_DOCUMENTS = sizeof documents / sizeof *documents };
    struct change changes[N_DOCUMENTS + 1] = {0};
    struct change *weights = &changes[N_DOCUMENTS];
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    if (mkdir(to, 0755) && errno != EEXIST)
        return mt_fail(err, MT_IO, "%s: cannot create the directory: %s", to, strerror(errno));
    weights->path = strdup(weights_path);
    enum mt_status status =
        weights->path ? mt_file_draft_write(weights_path, bytes, length, &weights->draft, err)
                      : mt_fail_memory(err, strlen(weights_path) + 1, "path");
    for (size_t i = 0; i < N_DOCUMENTS && !is_same && !status; i++)
        status = prepare_document(source, to, i, &changes[i], err);
    if (!status)
        status = apply_all(changes, N_DOCUMENTS + 1, to, weights_path, is_same, err);
    for (size_t i = 0; i <= N_DOCUMENTS; i++) {
        mt_file_draft_drop(&changes[i].draft);
        free(changes[i].path);
    }
    return status;
}

/* The tensors of a file, or of several, as one file. */
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

/* Bound, to see that nothing is missing, and copied. */
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
        status = mt_safetensors_check(file, err);
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

/* A directory with files of these names that is no model of ours is somebody's work, or another
 * program's model: what would be overwritten or removed there cannot be had back. */
static enum mt_status check_no_others(const char *from, const char *to, const char *weights_name,
                                      struct mt_error *err)
{
    const char *found = mt_path_holds(to, weights_name) ? weights_name : NULL;
    bool is_ours = mt_path_holds(to, MT_PACKED_FILE_NAME);
    enum mt_status status = is_ours ? MT_OK : mt_source_find_config(to, &is_ours, err);
    if (status || is_ours)
        return status;
    for (size_t i = 0; i < sizeof documents / sizeof *documents && !found; i++)
        if (mt_path_holds(to, documents[i].name) &&
            (documents[i].is_read || mt_path_holds(from, documents[i].name)))
            found = documents[i].name;
    return found ? mt_fail(err, MT_INVALID,
                           "%s: %s is there, but no MarianMT model: expected another directory, "
                           "lest it be overwritten or removed",
                           to, found)
                 : MT_OK;
}

/* Another family's config.json, say, would be overwritten by ours; and weights in another file than
 * ours would be taken for this model's, whenever that file is looked for first. */
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

enum mt_status mt_import_write(const char *from, const char *to,
                               const struct mt_import_options *options,
                               struct mt_import_report *report, struct mt_error *err)
{
    bool is_same = is_same_directory(from, to);
    struct mt_source *source = NULL;
    struct mt_image *image = NULL;
    char *path = NULL;
    enum mt_status status = mt_source_open(from, &source, err);
    if (status)
        return status;
    *report = (struct mt_import_report){.family = mt_source_family(source)};
    status = make_weights(source, options, &report->weights, &image, err);
    if (!status)
        status = mt_path_join(to, weights_name_of(options), &path, err);
    if (!status)
        status = write_model(source, to, is_same, image, path, err);
    if (!status)
        snprintf(report->written, sizeof report->written, "%s", path);
    free(path);
    mt_image_destroy(image);
    mt_source_close(source);
    return status;
}
