#include "server/pull/part.h"

#include "base/file.h"
#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The content of a note. Its strings belong to the document. */
struct note {
    cJSON *document;
    const char *url, *etag, *digest, *sha256;
    int64_t size;
};

static const char *or_empty(const char *string)
{
    return string ? string : "";
}

/* Returns {0} where there is no readable note. This is not a failure, because then the part is
 * simply unknown. */
static struct note read_note(const char *path)
{
    struct note note = {.size = -1};
    if (mt_json_read_file(path, MT_PART_NOTE_LIMIT, NULL, &note.document, NULL))
        return (struct note){.url = "", .etag = "", .digest = "", .sha256 = "", .size = -1};
    bool is_sound =
        mt_json_get_string(note.document, "url", &note.url, NULL, NULL) == MT_OK &&
        mt_json_get_string(note.document, "etag", &note.etag, NULL, NULL) == MT_OK &&
        mt_json_get_string(note.document, "digest", &note.digest, NULL, NULL) == MT_OK &&
        mt_json_get_string(note.document, "sha256", &note.sha256, NULL, NULL) == MT_OK &&
        mt_json_get_integer(note.document, "size", -1, MT_DOWNLOAD_MAX_FILE_BYTES, &note.size, NULL,
                            NULL) == MT_OK;
    if (!is_sound)
        note.url = note.etag = note.digest = note.sha256 = NULL;
    note.url = or_empty(note.url);
    note.etag = or_empty(note.etag);
    note.digest = or_empty(note.digest);
    note.sha256 = or_empty(note.sha256);
    return note;
}

/* sha256 is "" while the file is incomplete. */
static enum mt_status write_note(const struct mt_part *part, const char *sha256,
                                 struct mt_error *err)
{
    struct mt_text text = {.limit_bytes = MT_PART_NOTE_LIMIT};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &text);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, "url", part->file->url);
    mt_json_member(&writer, "etag", part->etag);
    mt_json_member(&writer, "digest", or_empty(part->file->digest));
    mt_json_member_integer(&writer, "size", part->size);
    mt_json_member(&writer, "sha256", sha256);
    mt_json_end_object(&writer);
    enum mt_status status = mt_text_check(&text, part->note_path, err);
    if (!status)
        status = mt_file_write(part->note_path, text.bytes, text.length, err);
    mt_text_finish(&text);
    return status;
}

static enum mt_status begin_digest(struct mt_part *part, struct mt_error *err)
{
    mt_digest_drop(&part->digest);
    bool wants_git = part->file->digest_kind == MT_DIGEST_GIT_BLOB;
    return mt_digest_begin(&part->digest, wants_git ? part->file->size : -1, err);
}

/* Computes the digest of the kind that the file has, and ends the struct. */
static void end_digest(struct mt_part *part, char sha256[MT_SHA256_HEX_BYTES],
                       char digest[MT_SHA256_HEX_BYTES])
{
    char git_blob[MT_SHA1_HEX_BYTES];
    mt_digest_end(&part->digest, sha256, git_blob);
    snprintf(digest, MT_SHA256_HEX_BYTES, "%s",
             part->file->digest_kind == MT_DIGEST_GIT_BLOB ? git_blob : sha256);
}

static void mark_whole(struct mt_part *part, int64_t size, const char *sha256)
{
    part->is_whole = true;
    part->length = part->size = part->file->final_size = size;
    snprintf(part->file->sha256, sizeof part->file->sha256, "%s", sha256);
}

/* Verifies a file that is there, and deletes it if it is wrong. Without a digest the note of its
 * download has one. */
static enum mt_status look_at_file(struct mt_part *part, const struct note *note,
                                   struct mt_error *err)
{
    const struct mt_download *file = part->file;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? MT_OK : mt_fail_errno(err, file->path, "open");
    struct stat st;
    bool has_size =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (file->size < 0 || st.st_size == file->size);
    bool is_ours = file->digest_kind || (note->sha256[0] && strcmp(note->url, file->url) == 0);
    enum mt_status status = MT_OK;
    if (has_size && is_ours) {
        char sha256[MT_SHA256_HEX_BYTES], digest[MT_SHA256_HEX_BYTES];
        status = begin_digest(part, err);
        if (!status)
            status = mt_digest_add_file(&part->digest, fd, file->path, err);
        if (!status) {
            end_digest(part, sha256, digest);
            if (strcmp(digest, file->digest_kind ? file->digest : note->sha256) == 0)
                mark_whole(part, st.st_size, sha256);
        }
    }
    close(fd);
    if (!status && !part->is_whole && unlink(file->path))
        return mt_fail_errno(err, file->path, "replace");
    return status;
}

static bool can_resume(const struct mt_part *part, const struct note *note, int64_t length)
{
    const struct mt_download *file = part->file;
    if (length == 0 || (file->size >= 0 && (note->size != file->size || length > file->size)) ||
        (note->size >= 0 && length > note->size) || strlen(note->etag) >= MT_PART_ETAG_BYTES)
        return false;
    if (file->digest_kind)
        return strcmp(note->digest, file->digest) == 0;
    return note->etag[0] && strcmp(note->url, file->url) == 0;
}

static enum mt_status look_at_part(struct mt_part *part, const struct note *note,
                                   struct mt_error *err)
{
    part->fd = open(part->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MT_FILE_MODE);
    if (part->fd < 0)
        return mt_fail_errno(err, part->path, "open");
    part->is_open = true;
    struct stat st;
    if (fstat(part->fd, &st))
        return mt_fail_errno(err, part->path, "stat");
    enum mt_status status = begin_digest(part, err);
    if (status || !can_resume(part, note, st.st_size))
        return status;
    status = mt_digest_add_file(&part->digest, part->fd, part->path, err);
    if (status)
        return status;
    part->length = part->digest.length;
    part->size = note->size;
    snprintf(part->etag, sizeof part->etag, "%s", note->etag);
    if (part->length == part->size) {
        /* The file was complete, but not renamed yet. A wrong digest deletes it. */
        status = mt_part_finish(part, err);
        return status == MT_FORMAT ? MT_OK : status;
    }
    return lseek(part->fd, part->length, SEEK_SET) < 0 ? mt_fail_errno(err, part->path, "seek in")
                                                       : MT_OK;
}

static enum mt_status append_suffix(const char *path, const char *suffix, char **out,
                                    struct mt_error *err)
{
    if (asprintf(out, "%s%s", path, suffix) < 0) {
        *out = NULL;
        return mt_fail_memory(err, strlen(path) + strlen(suffix) + 1, path);
    }
    return MT_OK;
}

static enum mt_status check_file(const struct mt_download *file, struct mt_error *err)
{
    size_t n_digits = file->digest_kind == MT_DIGEST_GIT_BLOB ? MT_SHA1_HEX_BYTES - 1
                      : file->digest_kind                     ? MT_SHA256_HEX_BYTES - 1
                                                              : 0;
    const char *digest = or_empty(file->digest);
    if (strlen(digest) != n_digits || strspn(digest, "0123456789abcdef") != n_digits)
        return mt_fail(err, MT_INVALID,
                       "%s: the digest \"%s\" has not %zu lowercase hexadecimal digits", file->url,
                       digest, n_digits);
    if (file->size > MT_DOWNLOAD_MAX_FILE_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: %lld bytes are more than the %lld that a file may have",
                       file->url, (long long)file->size, (long long)MT_DOWNLOAD_MAX_FILE_BYTES);
    if (file->digest_kind == MT_DIGEST_GIT_BLOB && file->size < 0)
        return mt_fail(err, MT_INVALID, "%s: git's name of a blob needs its size", file->url);
    return MT_OK;
}

enum mt_status mt_part_open(struct mt_part *part, struct mt_download *file, struct mt_error *err)
{
    *part = (struct mt_part){.file = file, .size = file->size};
    enum mt_status status = check_file(file, err);
    if (!status)
        status = append_suffix(file->path, MT_PART_SUFFIX, &part->path, err);
    if (!status)
        status = append_suffix(file->path, MT_PART_NOTE_SUFFIX, &part->note_path, err);
    if (!status) {
        struct note note = read_note(part->note_path);
        status = look_at_file(part, &note, err);
        if (!status && !part->is_whole)
            status = look_at_part(part, &note, err);
        cJSON_Delete(note.document);
    }
    if (status)
        mt_part_close(part);
    return status;
}

enum mt_status mt_part_restart(struct mt_part *part, const char *etag, int64_t size,
                               struct mt_error *err)
{
    if (!part->is_open) {
        part->fd = open(part->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MT_FILE_MODE);
        if (part->fd < 0)
            return mt_fail_errno(err, part->path, "open");
        part->is_open = true;
    }
    if (ftruncate(part->fd, 0) || lseek(part->fd, 0, SEEK_SET) < 0)
        return mt_fail_errno(err, part->path, "empty");
    part->length = 0;
    part->size = size;
    snprintf(part->etag, sizeof part->etag, "%s", strlen(etag) < sizeof part->etag ? etag : "");
    enum mt_status status = begin_digest(part, err);
    if (!status)
        status = write_note(part, "", err);
    struct statvfs disk;
    part->is_disk_full = status == MT_IO && fstatvfs(part->fd, &disk) == 0 && disk.f_bavail == 0;
    return status;
}

enum mt_status mt_part_write(struct mt_part *part, const void *bytes, size_t length,
                             struct mt_error *err)
{
    int64_t most = part->size >= 0 ? part->size : MT_DOWNLOAD_MAX_FILE_BYTES;
    if ((int64_t)length > most - part->length)
        return mt_fail(err, MT_FORMAT, "%s: the server sends more than the %lld bytes of the file",
                       part->file->url, (long long)most);
    const char *at = bytes;
    while (length > 0) {
        ssize_t n = write(part->fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            part->is_disk_full = errno == ENOSPC || errno == EDQUOT;
            return mt_fail_errno(err, part->path, "write");
        }
        mt_digest_add(&part->digest, at, (size_t)n);
        part->length += n;
        at += n;
        length -= (size_t)n;
    }
    return MT_OK;
}

enum mt_status mt_part_finish(struct mt_part *part, struct mt_error *err)
{
    const struct mt_download *file = part->file;
    char sha256[MT_SHA256_HEX_BYTES], digest[MT_SHA256_HEX_BYTES];
    end_digest(part, sha256, digest);
    if (file->digest_kind && strcmp(digest, file->digest)) {
        mt_part_delete(part);
        return mt_fail(err, MT_FORMAT,
                       "%s: the bytes that came have the digest %s, where the registry says %s",
                       file->url, digest, file->digest);
    }
    /* Without a digest only the note can verify the file at the next run. */
    enum mt_status status = file->digest_kind ? MT_OK : write_note(part, sha256, err);
    if (status)
        return status;
    if (rename(part->path, file->path))
        return mt_fail_errno(err, file->path, "rename a part to");
    close(part->fd);
    part->is_open = false;
    mark_whole(part, part->length, sha256);
    return MT_OK;
}

void mt_part_delete(struct mt_part *part)
{
    unlink(part->path);
    unlink(part->note_path);
    if (part->is_open)
        close(part->fd);
    part->is_open = false;
    part->length = 0;
    part->size = part->file->size;
    part->etag[0] = '\0';
    mt_digest_drop(&part->digest);
}

void mt_part_close(struct mt_part *part)
{
    if (part->is_open)
        close(part->fd);
    mt_digest_drop(&part->digest);
    free(part->path);
    free(part->note_path);
    *part = (struct mt_part){0};
}
