#include "model/files/pack_cache.h"

#include "base/arena.h"
#include "base/cores.h"
#include "base/file.h"
#include "base/size.h"
#include "base/team.h"
#include "model/files/bind.h"
#include "model/files/cache_files.h"
#include "model/files/pack_writer.h"
#include "model/files/source.h"
#include "weights/image.h"
#include "weights/safetensors.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a packed file if it is valid: complete (by safetensors' rules), of this format and version,
 * made from this source, and bindable to this configuration. */
static enum mt_status open_checked(const char *path, enum mt_load_mode load_mode,
                                   const struct mt_source_identity *identity,
                                   const struct mt_hparams *hparams, struct mt_safetensors **out,
                                   struct mt_error *err)
{
    struct mt_safetensors *file = NULL;
    struct mt_arena *arena = NULL;
    struct mt_weights weights;
    enum mt_status status = mt_safetensors_load(path, load_mode, &file, err);
    if (!status)
        status = mt_packed_check_identity(file, hparams, identity, err);
    if (!status)
        status = mt_arena_create(0, &arena, err);
    if (!status)
        status = mt_packed_bind(file, hparams, arena, &weights, err);
    mt_arena_destroy(arena);
    if (status)
        mt_safetensors_close(file);
    else
        *out = file;
    return status;
}

/* --- packing --- */

/* Bytes that the thread reads before it checks whether that is still useful. They are read
 * forwards, which is faster on disks. */
#define FETCH_BYTES ((size_t)2 << 20)
#define PAGE_BYTES 4096

struct binding {
    const struct mt_safetensors *file;
    const struct mt_hparams *hparams;
    struct mt_arena *arena;
    struct mt_weights *weights;
    struct mt_bind_report *report;
    struct mt_error *err;
    enum mt_status status;
    atomic_bool is_done;
};

/* Touches the tensors from the last to the first, until the other thread has reached them all. */
static void fetch(const struct binding *b)
{
    for (size_t i = mt_safetensors_count(b->file); i-- > 0;) {
        const struct mt_tensor *tensor = mt_safetensors_at(b->file, i);
        const volatile unsigned char *bytes = tensor->data;
        for (size_t end = tensor->n_bytes, begin; end > 0; end = begin) {
            if (atomic_load(&b->is_done))
                return;
            begin = end > FETCH_BYTES ? end - FETCH_BYTES : 0;
            for (size_t at = begin; at < end; at += PAGE_BYTES)
                (void)bytes[at];
        }
    }
}

static void bind_or_fetch(void *context, size_t member, size_t n_members)
{
    struct binding *b = context;
    (void)n_members;
    if (member > 0) {
        fetch(b);
        return;
    }
    b->status = mt_bind_marian(b->file, b->hparams, MT_BIND_STORED, b->arena, b->weights, b->report,
                               b->err);
    atomic_store(&b->is_done, true);
}

/* Binding reads every number of a file that may not be in memory: two threads, from both ends,
 * share the wait for the disk and for the kernel's pages. */
static enum mt_status bind_together(struct binding *b)
{
    struct mt_team *team;
    enum mt_status status = mt_team_try_create(mt_size_min(mt_cores_available(), 2), &team, b->err);
    if (status)
        return status;
    mt_team_run(team, bind_or_fetch, b);
    mt_team_destroy(team);
    return b->status;
}

enum mt_status mt_pack_source(const struct mt_source *source, const struct mt_hparams *hparams,
                              const struct mt_pack_options *options, struct mt_bind_report *report,
                              struct mt_image **out, struct mt_error *err)
{
    struct mt_arena *arena = NULL;
    struct mt_safetensors *file = NULL;
    struct mt_image *image = NULL;
    struct mt_weights weights;
    struct mt_source_identity identity;
    enum mt_status status = mt_source_identity_of(source, &identity, err);
    if (!status)
        status = mt_source_weights(source, MT_LOAD_MMAP, &file, err);
    if (!status)
        status = mt_arena_create(0, &arena, err);
    if (!status) {
        struct binding binding = {.file = file,
                                  .hparams = hparams,
                                  .arena = arena,
                                  .weights = &weights,
                                  .report = report,
                                  .err = err};
        status = bind_together(&binding);
    }
    if (!status)
        status = mt_packed_make(hparams, &weights, &identity, options->on_progress,
                                options->progress_context, &image, err);
    if (!status)
        status = mt_safetensors_check_mapping(file, err);
    if (status)
        mt_image_destroy(image);
    else
        *out = image;
    mt_safetensors_close(file);
    mt_arena_destroy(arena);
    return status;
}

/* Whether this user owns the file. Other users could change their files meanwhile, or forge
 * them. */
static bool is_ours(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static enum mt_status use_image(struct mt_image *image, struct mt_packed_source *out,
                                const char *why, struct mt_error *err)
{
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    enum mt_status status =
        mt_safetensors_open_memory(bytes, length, "packed form in memory", &out->file, err);
    if (status) {
        mt_image_destroy(image);
        return status;
    }
    out->image = image;
    snprintf(out->note, sizeof out->note, "int8 weights packed in memory (%.400s)", why);
    return MT_OK;
}

/* Uses the image from memory while a thread writes it, because much of the time for writing is
 * spent in the kernel and on the disk. */
static enum mt_status use_image_and_write(struct mt_image *image, const char *path,
                                          const struct mt_pack_options *options,
                                          struct mt_packed_source *out, struct mt_error *err)
{
    struct mt_error why;
    enum mt_status status = use_image(image, out, "being written", err);
    if (status)
        return status;
    if (mt_pack_writer_start(image, path, options->on_cache_failure, &out->writer, &why)) {
        if (options->on_cache_failure)
            options->on_cache_failure(&why);
        return MT_OK;
    }
    snprintf(out->note, sizeof out->note, "int8 weights packed now, and written to %s", path);
    return MT_OK;
}

/* Packs, writes the result into the cache and maps it from there; or keeps it in memory if the
 * cache cannot be written. */
static enum mt_status pack_into_cache(const char *path, const struct mt_source *source,
                                      const struct mt_source_identity *identity,
                                      const struct mt_hparams *hparams,
                                      const struct mt_pack_options *options,
                                      struct mt_packed_source *out, struct mt_error *err)
{
    struct mt_image *image;
    struct mt_error why;
    enum mt_status status = mt_pack_source(source, hparams, options, NULL, &image, err);
    if (status)
        return status;
    if (!path)
        return use_image(image, out, "no cache directory", err);
    mt_make_directories(options->cache_directory);
    (void)mt_cache_remove_orphans(options->cache_directory);
    if (options->writes_cache_later)
        return use_image_and_write(image, path, options, out, err);
    if (mt_image_write(image, path, &why) ||
        open_checked(path, options->load_mode, identity, hparams, &out->file, &why))
        return use_image(image, out, why.message, err);
    mt_image_destroy(image);
    snprintf(out->note, sizeof out->note, "int8 weights packed now into %s", path);
    return MT_OK;
}

static enum mt_status open_through_cache(const struct mt_source *source,
                                         const struct mt_hparams *hparams,
                                         const struct mt_pack_options *options,
                                         struct mt_packed_source *out, struct mt_error *err)
{
    char *path = NULL;
    struct mt_source_identity identity;
    struct mt_error why;
    enum mt_status status = mt_source_identity_of(source, &identity, err), cached = MT_NOT_FOUND;
    if (!status && options->cache_directory && *options->cache_directory)
        status =
            mt_cache_file_path(options->cache_directory, mt_source_directory(source), &path, err);
    if (status)
        goto done;
    if (path && is_ours(path))
        cached = open_checked(path, options->load_mode, &identity, hparams, &out->file, &why);
    if (!cached)
        snprintf(out->note, sizeof out->note, "int8 weights of %s", path);
    else if (cached == MT_MEMORY) /* packing would need even more memory */
        status = mt_fail(err, MT_MEMORY, "%s", why.message);
    else
        status = pack_into_cache(path, source, &identity, hparams, options, out, err);
done:
    free(path);
    return status;
}

/* Files that were copied together without their times differ by the duration of the copying. */
#define COPYING_SECONDS 600

/* Adds a note if there are newer weights beside the packed ones, because they are not read. */
static void note_newer(const char *directory, const char *path, struct mt_packed_source *out)
{
    struct stat packed, other;
    const char *name = mt_source_other_weights(directory, MT_PACKED_FILE_NAME);
    char *other_path;
    if (!name || mt_path_join(directory, name, &other_path, NULL))
        return;
    if (stat(path, &packed) == 0 && stat(other_path, &other) == 0 &&
        other.st_mtim.tv_sec > packed.st_mtim.tv_sec + COPYING_SECONDS) {
        size_t length = strlen(out->note);
        snprintf(out->note + length, sizeof out->note - length,
                 ", which is older than the %s beside it: import it again to use that", name);
    }
    free(other_path);
}

enum mt_status mt_pack_cache_open(const struct mt_source *source, const struct mt_hparams *hparams,
                                  const struct mt_pack_options *options,
                                  struct mt_packed_source *out, struct mt_error *err)
{
    char *path;
    enum mt_status status =
        mt_path_join(mt_source_directory(source), MT_PACKED_FILE_NAME, &path, err);
    if (status)
        return status;
    if (mt_path_exists(path)) {
        free(path);
        return open_through_cache(source, hparams, options, out, err);
    }
    status = open_checked(path, options->load_mode, NULL, hparams, &out->file, err);
    if (!status) {
        snprintf(out->note, sizeof out->note, "int8 weights of %.300s", path);
        note_newer(mt_source_directory(source), path, out);
    }
    free(path);
    return status;
}
