#include "model/source.h"

#include "weights/shards.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WEIGHTS "model.safetensors"
#define INDEX "model.safetensors.index.json"

struct source {
    char *path;
    bool is_index;
};

static enum mt_status find(const char *directory, struct source *out, struct mt_error *err)
{
    static const struct {
        const char *name;
        bool is_index;
    } forms[] = {{WEIGHTS, false}, {INDEX, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *path;
        enum mt_status status = mt_path_join(directory, forms[i].name, &path, err);
        if (status)
            return status;
        if (!mt_path_exists(path)) {
            *out = (struct source){.path = path, .is_index = forms[i].is_index};
            return MT_OK;
        }
        free(path);
    }
    return mt_fail(err, MT_NOT_FOUND, "%s: expected " WEIGHTS " or " INDEX ", found neither",
                   directory);
}

enum mt_status mt_source_open(const char *directory, enum mt_load_mode mode,
                              struct mt_safetensors **out, struct mt_error *err)
{
    struct source source = {0};
    enum mt_status status = find(directory, &source, err);
    if (status)
        return status;
    status = source.is_index ? mt_shards_open(source.path, mode, out, err)
                             : mt_safetensors_load(source.path, mode, out, err);
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

/* Of many files, their number and a hash of what each of them is (FNV-1a). */
static enum mt_status identity_of_shards(const char *directory, const char *index_path,
                                         struct mt_source_identity *out, struct mt_error *err)
{
    struct mt_shard_list list;
    struct mt_source_identity one;
    uint64_t hash = 0xcbf29ce484222325u;
    enum mt_status status = mt_shards_list(index_path, &list, err);
    if (status)
        return status;
    for (size_t i = 0; i <= list.n && !status; i++) {
        char *path;
        status = mt_path_join(directory, i < list.n ? list.names[i] : INDEX, &path, err);
        if (status)
            break;
        status = identity_of_file(path, &one, err);
        for (const char *c = one.text; !status && *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
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
    status = source.is_index ? identity_of_shards(directory, source.path, out, err)
                             : identity_of_file(source.path, out, err);
    free(source.path);
    return status;
}
