#include "model/source.h"

#include "base/confined.h"
#include "base/hash.h"
#include "weights/shards.h"
#include "weights/torch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WEIGHTS "model.safetensors"
#define INDEX "model.safetensors.index.json"
#define CHECKPOINT "pytorch_model.bin"

/* Far above what the largest models take, on a slow machine. */
#define MAX_CHECKPOINT_SECONDS 120
#define MAX_CHECKPOINT_BYTES ((size_t)16 << 30)
/* For the values of the pickle; the numbers come on top. */
#define PICKLE_MEMORY_BYTES ((size_t)512 << 20)

enum form { ONE_FILE, SHARDS, TORCH };

struct source {
    char *path;
    enum form form;
};

static enum mt_status find(const char *directory, struct source *out, struct mt_error *err)
{
    static const struct {
        const char *name;
        enum form form;
    } forms[] = {{WEIGHTS, ONE_FILE}, {INDEX, SHARDS}, {CHECKPOINT, TORCH}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *path;
        enum mt_status status = mt_path_join(directory, forms[i].name, &path, err);
        if (status)
            return status;
        if (!mt_path_exists(path)) {
            *out = (struct source){.path = path, .form = forms[i].form};
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

/* A process that can do no harm reads it, and what it gives is checked like any other file. */
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

enum mt_status mt_source_open(const char *directory, enum mt_load_mode mode,
                              struct mt_safetensors **out, struct mt_error *err)
{
    struct source source = {0};
    enum mt_status status = find(directory, &source, err);
    if (status)
        return status;
    switch (source.form) {
    case ONE_FILE:
        status = mt_safetensors_load(source.path, mode, out, err);
        break;
    case SHARDS:
        status = mt_shards_open(source.path, mode, out, err);
        break;
    case TORCH:
        status = open_checkpoint(source.path, out, err);
        break;
    }
    free(source.path);
    return status;
}

static enum mt_status identity_of_file(const char *path, struct mt_source_identity *out,
                                       struct mt_error *err)
{
    struct stat st;
    if (stat(path, &st))
        return mt_fail(err, errno == ENOENT ? MT_NOT_FOUND : MT_IO, "%s: cannot stat: %s", path,
                       strerror(errno));
    snprintf(out->text, sizeof out->text, "%jd bytes, changed %jd.%09ld, inode %ju",
             (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
             (uintmax_t)st.st_ino);
    return MT_OK;
}

/* Of many files, their number and a hash of what each of them is. */
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

enum mt_status mt_source_identity_of(const char *directory, struct mt_source_identity *out,
                                     struct mt_error *err)
{
    struct source source = {0};
    enum mt_status status = find(directory, &source, err);
    if (status)
        return status;
    status = source.form == SHARDS ? identity_of_shards(directory, source.path, out, err)
                                   : identity_of_file(source.path, out, err);
    free(source.path);
    return status;
}
