#include "model/families/compressed_files.h"

#include "weights/compressed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FORMS 3
static const char *const forms[N_FORMS] = {"", ".gz", ".zst"};

#define ENDING_BYTES 64

bool mt_compressed_any(const char *directory, const char *ending)
{
    bool found = false;
    for (size_t i = 0; i < N_FORMS && !found; i++) {
        char full[ENDING_BYTES];
        snprintf(full, sizeof full, "%s%s", ending, forms[i]);
        found = mt_foreign_any(directory, full);
    }
    return found;
}

enum mt_status mt_compressed_add_all(struct mt_foreign_files *files, const char *ending,
                                     struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < N_FORMS && !status; i++) {
        char full[ENDING_BYTES];
        snprintf(full, sizeof full, "%s%s", ending, forms[i]);
        status = mt_foreign_add_all(files, full, err);
    }
    return status;
}

static enum mt_status take(const struct mt_foreign_file *from, enum mt_compression compression,
                           const char *name, struct mt_foreign_files *out, struct mt_error *err)
{
    struct mt_foreign_file *file = &out->list[out->n];
    *file = (struct mt_foreign_file){.name = strdup(name), .path = strdup(from->path)};
    out->n++; /* the caller finishes it */
    if (!file->name || !file->path)
        return mt_fail_memory(err, strlen(name) + strlen(from->path) + 2, "file name");
    if (compression != MT_NOT_COMPRESSED)
        return mt_decompress(compression, from->mapping.bytes, from->mapping.length, from->path,
                             MT_COMPRESSED_MAX_BYTES, &file->mapping, err);
    file->mapping = from->mapping;
    file->is_borrowed = true;
    return MT_OK;
}

enum mt_status mt_compressed_unpack(const struct mt_foreign_files *files,
                                    struct mt_foreign_files *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    out->directory = files->directory;
    for (size_t i = 0; i < files->n && !status; i++) {
        const struct mt_foreign_file *file = &files->list[i];
        size_t n_plain;
        enum mt_compression compression = mt_compression_of(file->name, &n_plain);
        char *plain = strndup(file->name, n_plain);
        if (!plain)
            return mt_fail_memory(err, n_plain + 1, "file name");
        bool is_there = compression != MT_NOT_COMPRESSED &&
                        (mt_foreign_file(files, plain) || mt_foreign_file(out, plain));
        if (!is_there)
            status = take(file, compression, plain, out, err);
        free(plain);
    }
    return status;
}
