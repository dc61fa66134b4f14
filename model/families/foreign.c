#include "model/families/foreign.h"

#include "base/confined.h"
#include "base/file.h"
#include "base/size.h"
#include "model/families/ctranslate2.h"
#include "model/families/marian.h"
#include "model/families/multilingual.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Far more than the largest models take on a slow machine. */
#define MAX_SECONDS 120
#define MAX_ELAPSED_SECONDS 1200 /* includes the time for a slow disk */
#define MAX_FILES_BYTES ((size_t)16 << 30)
/* Memory that a step may use for each byte of the files: numbers of one byte become four, and the
 * rest needs some, too. */
#define BYTES_PER_BYTE 5
#define MORE_BYTES ((size_t)512 << 20)

#define ENTRIES_BYTES 4096

/* In the order in which they are tried. */
static const struct mt_foreign *const families[] = {&mt_foreign_multilingual, &mt_marian,
                                                    &mt_foreign_ctranslate2};

const struct mt_foreign *mt_foreign_of(const char *directory)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->is_one(directory))
            return families[i];
    return NULL;
}

/* --- Files --- */

enum mt_status mt_foreign_add(struct mt_foreign_files *files, const char *name,
                              struct mt_error *err)
{
    if (files->n == MT_FOREIGN_MAX_FILES)
        return mt_fail(err, MT_LIMIT, "%s: expected at most %d files of a model", files->directory,
                       MT_FOREIGN_MAX_FILES);
    struct mt_foreign_file file = {.name = strdup(name)};
    if (!file.name)
        return mt_fail_memory(err, strlen(name) + 1, "file name");
    enum mt_status status = MT_OK;
    if (*name)
        status = mt_path_join(files->directory, name, &file.path, err);
    else if (!(file.path = strdup(files->directory)))
        status = mt_fail_memory(err, strlen(files->directory) + 1, "path");
    if (!status)
        status = mt_mapping_open(file.path, MT_LOAD_MMAP, &file.mapping, err);
    if (status) {
        free(file.name);
        free(file.path);
        return status;
    }
    files->list[files->n++] = file;
    return MT_OK;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length > n && strcmp(name + length - n, ending) == 0;
}

enum mt_status mt_foreign_add_all(struct mt_foreign_files *files, const char *ending,
                                  struct mt_error *err)
{
    struct dirent **entries;
    int n = scandir(files->directory, &entries, NULL, alphasort);
    if (n < 0)
        return mt_fail_errno(err, files->directory, "read the directory");
    enum mt_status status = MT_OK;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (!status && ends_with(name, ending) && *name != '.' &&
            mt_path_holds_file(files->directory, name))
            status = mt_foreign_add(files, name, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static bool begins_with(int directory, const char *name, const void *bytes, size_t n)
{
    unsigned char found[MT_FOREIGN_MAX_MAGIC];
    int fd = n ? openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    bool begins = !n || (fd >= 0 && read(fd, found, n) == (ssize_t)n && !memcmp(found, bytes, n));
    if (fd >= 0)
        close(fd);
    return begins;
}

/* opendir is not used, because it allocates memory: without memory a model must not seem
 * missing. */
bool mt_foreign_any_begins(const char *directory, const char *ending, const void *bytes, size_t n)
{
    alignas(struct dirent64) char entries[ENTRIES_BYTES];
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = false;
    ssize_t n_read;
    while (fd >= 0 && !found && (n_read = getdents64(fd, entries, sizeof entries)) > 0) {
        const struct dirent64 *entry;
        for (const char *at = entries; at < entries + n_read && !found; at += entry->d_reclen) {
            entry = (const struct dirent64 *)(const void *)at;
            found = ends_with(entry->d_name, ending) && entry->d_name[0] != '.' &&
                    begins_with(fd, entry->d_name, bytes, n);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

bool mt_foreign_any(const char *directory, const char *ending)
{
    return mt_foreign_any_begins(directory, ending, NULL, 0);
}

const struct mt_foreign_file *mt_foreign_file(const struct mt_foreign_files *files,
                                              const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return &files->list[i];
    return NULL;
}

void mt_foreign_files_finish(struct mt_foreign_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->list[i].name);
        free(files->list[i].path);
        if (!files->list[i].is_borrowed)
            mt_mapping_close(&files->list[i].mapping);
    }
    files->n = 0;
}

enum mt_status mt_foreign_documents(const struct mt_foreign_document *documents, size_t n,
                                    struct mt_image **out, struct mt_error *err)
{
    struct mt_image *image = NULL;
    size_t indices[MT_FOREIGN_MAX_FILES];
    if (n > MT_FOREIGN_MAX_FILES)
        return mt_fail(err, MT_LIMIT, "%zu documents, expected at most %d", n,
                       MT_FOREIGN_MAX_FILES);
    enum mt_status status = mt_image_create(&image, err);
    for (size_t i = 0; i < n && !status; i++)
        status = mt_image_add(image, documents[i].name, MT_U8, 1, &documents[i].length, &indices[i],
                              err);
    if (!status)
        status = mt_image_allocate(image, err);
    if (status) {
        mt_image_destroy(image);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        if (documents[i].length)
            memcpy(mt_image_data(image, indices[i]), documents[i].bytes, documents[i].length);
    *out = image;
    return MT_OK;
}

/* --- Steps --- */

struct run {
    const struct mt_foreign *foreign;
    const struct mt_foreign_files *files;
    enum mt_foreign_step step;
};

static enum mt_status run_confined(void *context, int fd, struct mt_error *err)
{
    const struct run *run = context;
    struct mt_image *image = NULL;
    enum mt_status status = run->step == MT_FOREIGN_READ
                                ? run->foreign->read(run->files, &image, err)
                                : run->foreign->describe(run->files, &image, err);
    if (status)
        return status;
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    status = mt_confined_write(fd, bytes, length, err);
    mt_image_destroy(image);
    return status;
}

static enum mt_status check_files(const struct mt_foreign_files *files, size_t *n_bytes,
                                  struct mt_error *err)
{
    size_t sum = 0;
    for (size_t i = 0; i < files->n; i++)
        if (!mt_size_add(sum, files->list[i].mapping.length, &sum) || sum > MAX_FILES_BYTES)
            return mt_fail(err, MT_LIMIT, "%s: files of more than %zu bytes", files->directory,
                           MAX_FILES_BYTES);
    *n_bytes = sum;
    return MT_OK;
}

enum mt_status mt_foreign_run(const struct mt_foreign *foreign,
                              const struct mt_foreign_files *files, enum mt_foreign_step step,
                              struct mt_safetensors **out, struct mt_error *err)
{
    struct run run = {.foreign = foreign, .files = files, .step = step};
    struct mt_mapping result = {0};
    size_t n_bytes = 0;
    enum mt_status status = check_files(files, &n_bytes, err);
    const struct mt_confined confined = {
        .work = run_confined,
        .context = &run,
        .what = files->directory,
        .max_memory_bytes = n_bytes * BYTES_PER_BYTE + MORE_BYTES,
        .max_seconds = MAX_SECONDS,
        .max_elapsed_seconds = MAX_ELAPSED_SECONDS,
    };
    if (!status)
        status = mt_confined_run(&confined, &result, err);
    for (size_t i = 0; i < files->n && !status; i++)
        status = mt_mapping_check(&files->list[i].mapping, err);
    if (!status)
        status = mt_safetensors_adopt(&result, files->directory, out, err);
    if (status)
        mt_mapping_close(&result);
    return status;
}
