#include "model/files/source.h"

#include "base/confined.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "model/families/foreign.h"
#include "weights/shards.h"
#include "weights/torch.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIG "config.json"
#define WEIGHTS "model.safetensors"
#define INDEX "model.safetensors.index.json"
#define CHECKPOINT "pytorch_model.bin"

/* Most bytes of a config.json; those of models have a few kilobytes. */
#define MAX_CONFIG_BYTES ((size_t)1 << 20)
/* Far more than the largest models take on a slow machine. */
#define MAX_CHECKPOINT_SECONDS 120
#define MAX_CHECKPOINT_ELAPSED_SECONDS 1200 /* includes the time for a slow disk */
#define MAX_CHECKPOINT_BYTES ((size_t)16 << 30)
/* For the values of the pickle; the numbers are added to it. */
#define PICKLE_MEMORY_BYTES ((size_t)512 << 20)

struct mt_source {
    char *directory;
    const struct mt_foreign *foreign; /* NULL: MarianMT */
    struct mt_foreign_files files;
    struct mt_safetensors *documents; /* of a foreign model */
};

enum form { ONE_FILE, SHARDS, TORCH };

struct weights {
    char *path;
    enum form form;
};

static const struct {
    const char *name;
    enum form form;
} forms[] = {{WEIGHTS, ONE_FILE}, {INDEX, SHARDS}, {CHECKPOINT, TORCH}};

/* --- Opening --- */

const char *mt_source_other_weights(const char *directory, const char *name)
{
    if (strcmp(name, MT_PACKED_FILE_NAME) != 0 && mt_path_holds(directory, MT_PACKED_FILE_NAME))
        return MT_PACKED_FILE_NAME;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i].name) != 0 && mt_path_holds(directory, forms[i].name))
            return forms[i].name;
    return NULL;
}

enum mt_status mt_source_find_config(const char *directory, bool *out, struct mt_error *err)
{
    char *path;
    cJSON *config = NULL;
    const char *type = NULL;
    enum mt_status status = mt_path_join(directory, CONFIG, &path, err);
    if (status)
        return status;
    status = mt_json_read_file(path, MAX_CONFIG_BYTES, NULL, &config, err);
    free(path);
    if (status == MT_MEMORY)
        return status;
    *out = !status && cJSON_IsObject(config) &&
           !mt_json_get_string(config, "model_type", &type, NULL, NULL) && type &&
           (strcmp(type, "marian") == 0 || strcmp(type, MT_OWN_MODEL_TYPE) == 0);
    cJSON_Delete(config);
    return MT_OK;
}

/* Treats the directory as a MarianMT one if it has MarianMT weights: CTranslate2 has a config.json,
 * too, and files of other families may be left over. The packed form alone is not enough, because
 * it needs its config.json. */
static enum mt_status prefer_marianmt(struct mt_source *source, struct mt_error *err)
{
    const char *directory = source->directory;
    if (!source->foreign || !source->foreign->read || !mt_source_other_weights(directory, ""))
        return MT_OK;
    bool is_marianmt = mt_source_other_weights(directory, MT_PACKED_FILE_NAME) != NULL;
    enum mt_status status =
        is_marianmt ? MT_OK : mt_source_find_config(directory, &is_marianmt, err);
    if (!status && !is_marianmt)
        status = mt_fail(err, MT_FORMAT,
                         "%s: holds " MT_PACKED_FILE_NAME
                         ", which belongs to a MarianMT directory, beside the files of a %s "
                         "model; expected one of the two: remove the file, or move it to a "
                         "directory of its own with the other files that 'attentiond import' wrote",
                         directory, source->foreign->family);
    if (!status)
        source->foreign = NULL;
    return status;
}

bool mt_source_is_model(const char *directory)
{
    return mt_path_holds(directory, CONFIG) || mt_foreign_of(directory);
}

static enum mt_status open_foreign(struct mt_source *source, struct mt_error *err)
{
    source->files.directory = source->directory;
    enum mt_status status = source->foreign->find(&source->files, err);
    if (!status)
        status = mt_foreign_run(source->foreign, &source->files, MT_FOREIGN_DESCRIBE,
                                &source->documents, err);
    return status;
}

enum mt_status mt_source_open(const char *directory, struct mt_source **out, struct mt_error *err)
{
    struct mt_source *source = calloc(1, sizeof *source);
    if (!source)
        return mt_fail_memory(err, sizeof *source, "source");
    enum mt_status status = MT_OK;
    source->directory = strdup(directory);
    if (!source->directory)
        status = mt_fail_memory(err, strlen(directory) + 1, "path");
    else
        source->foreign = mt_foreign_of(directory);
    if (!status)
        status = prefer_marianmt(source, err);
    if (!status && source->foreign)
        status = open_foreign(source, err);
    if (status) {
        mt_source_close(source);
        return status;
    }
    *out = source;
    return MT_OK;
}

void mt_source_close(struct mt_source *source)
{
    if (!source)
        return;
    mt_safetensors_close(source->documents);
    mt_foreign_files_finish(&source->files);
    free(source->directory);
    free(source);
}

const char *mt_source_family(const struct mt_source *source)
{
    return source->foreign ? source->foreign->family : "MarianMT";
}

const char *mt_source_directory(const struct mt_source *source)
{
    return source->directory;
}

/* --- Documents --- */

static enum mt_status copy_document(const struct mt_source *source, const char *name,
                                    size_t limit_bytes, struct mt_document *out,
                                    struct mt_error *err)
{
    const struct mt_tensor *made = mt_safetensors_find(source->documents, name);
    if (!made || made->dtype != MT_U8)
        return mt_fail(err, MT_NOT_FOUND, "%s: %s gives none", out->path, source->foreign->family);
    if (made->n_bytes > limit_bytes)
        return mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", out->path,
                       made->n_bytes, limit_bytes);
    out->bytes = malloc(made->n_bytes + 1);
    if (!out->bytes)
        return mt_fail_memory(err, made->n_bytes + 1, name);
    memcpy(out->bytes, made->data, made->n_bytes);
    out->bytes[made->n_bytes] = '\0';
    out->length = made->n_bytes;
    return MT_OK;
}

enum mt_status mt_source_read(const struct mt_source *source, const char *name, size_t limit_bytes,
                              struct mt_document *out, struct mt_error *err)
{
    struct mt_document document = {0};
    enum mt_status status = mt_path_join(source->directory, name, &document.path, err);
    if (status)
        return status;
    status = source->foreign
                 ? copy_document(source, name, limit_bytes, &document, err)
                 : mt_file_read(document.path, limit_bytes, &document.bytes, &document.length, err);
    if (status)
        mt_document_finish(&document);
    else
        *out = document;
    return status;
}

bool mt_source_has(const struct mt_source *source, const char *name)
{
    return source->foreign ? mt_safetensors_find(source->documents, name) != NULL
                           : mt_path_holds(source->directory, name);
}

void mt_document_finish(struct mt_document *document)
{
    free(document->path);
    free(document->bytes);
    *document = (struct mt_document){0};
}

/* --- Weights --- */

static enum mt_status find(const char *directory, struct weights *out, struct mt_error *err)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *path;
        enum mt_status status = mt_path_join(directory, forms[i].name, &path, err);
        if (status)
            return status;
        if (!mt_path_exists(path)) {
            *out = (struct weights){.path = path, .form = forms[i].form};
            return MT_OK;
        }
        free(path);
    }
    return mt_fail(err, MT_NOT_FOUND,
                   "%s: expected " WEIGHTS ", " INDEX " or " CHECKPOINT ", found none", directory);
}

struct checkpoint {
    const char *path;
    struct mt_mapping file;
};

static enum mt_status convert(void *context, int fd, struct mt_error *err)
{
    const struct checkpoint *checkpoint = context;
    struct mt_image *image = NULL;
    enum mt_status status = mt_torch_read(checkpoint->file.bytes, checkpoint->file.length,
                                          checkpoint->path, &image, err);
    if (status)
        return status;
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    status = mt_confined_write(fd, bytes, length, err);
    mt_image_destroy(image);
    return status;
}

/* A confined process reads it, and its result is checked like any other file. */
static enum mt_status open_checkpoint(const char *path, struct mt_safetensors **out,
                                      struct mt_error *err)
{
    struct checkpoint checkpoint = {.path = path};
    struct mt_mapping weights = {0};
    enum mt_status status = mt_mapping_open(path, MT_LOAD_MMAP, &checkpoint.file, err);
    if (status)
        return status;
    if (checkpoint.file.length > MAX_CHECKPOINT_BYTES)
        status = mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", path,
                         checkpoint.file.length, MAX_CHECKPOINT_BYTES);
    const struct mt_confined confined = {
        .work = convert,
        .context = &checkpoint,
        .what = path,
        .max_memory_bytes = checkpoint.file.length + PICKLE_MEMORY_BYTES,
        .max_seconds = MAX_CHECKPOINT_SECONDS,
        .max_elapsed_seconds = MAX_CHECKPOINT_ELAPSED_SECONDS,
    };
    if (!status)
        status = mt_confined_run(&confined, &weights, err);
    if (!status)
        status = mt_mapping_check(&checkpoint.file, err);
    if (!status)
        status = mt_safetensors_adopt(&weights, path, out, err);
    if (status)
        mt_mapping_close(&weights);
    mt_mapping_close(&checkpoint.file);
    return status;
}

enum mt_status mt_source_weights(const struct mt_source *source, enum mt_load_mode mode,
                                 struct mt_safetensors **out, struct mt_error *err)
{
    struct weights weights = {0};
    if (source->foreign && source->foreign->read)
        return mt_foreign_run(source->foreign, &source->files, MT_FOREIGN_READ, out, err);
    enum mt_status status = find(source->directory, &weights, err);
    if (status)
        return status;
    switch (weights.form) {
    case ONE_FILE:
        status = mt_safetensors_load(weights.path, mode, out, err);
        break;
    case SHARDS:
        status = mt_shards_open(weights.path, mode, out, err);
        break;
    case TORCH:
        status = open_checkpoint(weights.path, out, err);
        break;
    }
    free(weights.path);
    return status;
}

/* --- Identity --- */

static enum mt_status identity_of_file(const char *path, struct mt_source_identity *out,
                                       struct mt_error *err)
{
    struct stat st;
    if (stat(path, &st))
        return mt_fail_errno(err, path, "stat");
    snprintf(out->text, sizeof out->text, "%jd bytes, changed %jd.%09ld, inode %ju",
             (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
             (uintmax_t)st.st_ino);
    return MT_OK;
}

/* A model in several files is identified by their number and a hash of their identities. */
static enum mt_status identity_of_shards(const char *directory, const char *index_path,
                                         struct mt_source_identity *out, struct mt_error *err)
{
    struct mt_shard_list list;
    struct mt_source_identity one;
    uint64_t hash = MT_HASH_BEGIN;
    enum mt_status status = mt_shards_list(index_path, &list, err);
    if (status)
        return status;
    for (size_t i = 0; i <= list.n && !status; i++) {
        char *path;
        status = mt_path_join(directory, i < list.n ? list.names[i] : INDEX, &path, err);
        if (status)
            break;
        status = identity_of_file(path, &one, err);
        if (!status)
            hash = mt_hash(hash, one.text, strlen(one.text));
        free(path);
    }
    if (!status)
        snprintf(out->text, sizeof out->text, "%zu files, %016" PRIx64, list.n, hash);
    mt_shard_list_finish(&list);
    return status;
}

static enum mt_status identity_of_weights(const char *directory, struct mt_source_identity *out,
                                          struct mt_error *err)
{
    struct weights weights = {0};
    enum mt_status status = find(directory, &weights, err);
    if (status)
        return status;
    status = weights.form == SHARDS ? identity_of_shards(directory, weights.path, out, err)
                                    : identity_of_file(weights.path, out, err);
    free(weights.path);
    return status;
}

/* The documents are made of these files, too, and depend on the reader's version. */
static enum mt_status identity_of_foreign(const struct mt_source *source,
                                          struct mt_source_identity *out, struct mt_error *err)
{
    struct mt_source_identity one;
    uint64_t hash = MT_HASH_BEGIN;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < source->files.n && !status; i++) {
        status = identity_of_file(source->files.list[i].path, &one, err);
        if (!status)
            hash = mt_hash(hash, one.text, strlen(one.text));
    }
    if (!status && !source->foreign->read) {
        status = identity_of_weights(source->directory, &one, err);
        if (!status)
            hash = mt_hash(hash, one.text, strlen(one.text));
    }
    snprintf(out->text, sizeof out->text, "%s, reader %s, %zu files, %016" PRIx64,
             source->foreign->family, source->foreign->version, source->files.n, hash);
    return status;
}

enum mt_status mt_source_identity_of(const struct mt_source *source, struct mt_source_identity *out,
                                     struct mt_error *err)
{
    return source->foreign ? identity_of_foreign(source, out, err)
                           : identity_of_weights(source->directory, out, err);
}
