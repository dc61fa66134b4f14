/*
 * Helpers of the tokenizer's tests: directories that are put together from parts, and lines of
 * vectors.
 */
#ifndef MT_TESTS_TOKENIZER_DIR_H
#define MT_TESTS_TOKENIZER_DIR_H

#include "base/file.h"
#include "model/files/source.h"
#include "model/tokenizer/tokenizer.h"
#include "model/files/tokenizer_files.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIR_FILES 5
static const char *const dir_files[DIR_FILES] = {"source.spm", "target.spm", "vocab.json",
                                                 "target_vocab.json", "tokenizer_config.json"};

/* A directory under $TMPDIR or /tmp that dir_remove takes away. */
struct dir {
    char path[256];
};

static inline struct dir dir_create(void)
{
    struct dir dir;
    const char *tmp = getenv("TMPDIR");
    snprintf(dir.path, sizeof dir.path, "%s/mt-tokenizer-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir.path));
    return dir;
}

static inline char *dir_path(const struct dir *dir, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    return path;
}

static inline void dir_remove(const struct dir *dir)
{
    for (size_t i = 0; i < DIR_FILES; i++)
        unlink(dir_path(dir, dir_files[i]));
    rmdir(dir->path);
}

static inline void dir_write(const struct dir *dir, const char *name, const char *bytes,
                             size_t length)
{
    unlink(dir_path(dir, name));
    FILE *file = fopen(dir_path(dir, name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static inline void dir_write_text(const struct dir *dir, const char *name, const char *text)
{
    dir_write(dir, name, text, strlen(text));
}

/* Links to the files of another directory that exist. */
static inline struct dir dir_like(const char *other)
{
    struct dir dir = dir_create();
    for (size_t i = 0; i < DIR_FILES; i++) {
        char from[2048];
        snprintf(from, sizeof from, "%s/%s", other, dir_files[i]);
        if (mt_path_exists(from) == MT_OK)
            ck_assert_int_eq(symlink(from, dir_path(&dir, dir_files[i])), 0);
    }
    return dir;
}

/* tests/models/en-de of the source tree. */
static inline const char *en_de(void)
{
    static char path[1024];
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/models/en-de", root ? root : ".");
    return path;
}

static inline enum mt_status
tokenizer_open_directory(const char *directory, struct mt_tokenizer **out, struct mt_error *err)
{
    struct mt_source *source;
    enum mt_status status = mt_source_open(directory, &source, err);
    if (status)
        return status;
    status = mt_tokenizer_read(source, out, err);
    mt_source_close(source);
    return status;
}

static inline struct mt_tokenizer *open_or_fail(const char *directory)
{
    struct mt_tokenizer *tokenizer;
    struct mt_error err = {0};
    if (tokenizer_open_directory(directory, &tokenizer, &err))
        ck_abort_msg("%s", err.message);
    return tokenizer;
}

#endif
