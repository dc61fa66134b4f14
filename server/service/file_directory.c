#include "server/service/file_directory.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/service/keys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gnutls/crypto.h>

#define PREFIX "attentiond-file-"
#define MAGIC "attentiond file 1\n"
#define HEX "0123456789abcdef"
/* Offsets of the parts of a name on the disk: "n-", 16 digits, '-', 4 digits, '-', and the name
 * that clients know. */
enum { STATE = sizeof PREFIX - 1, END = STATE + 2, CLIENT = END + 17, NAME = CLIENT + 5 };
#define DISK_NAME_BYTES (NAME + MT_STORED_NAME_BYTES)
#define RANDOM_DIGITS 32
#define N_CLIENTS 65536
/* Most bytes of the name for saving, in a file's head. */
#define MAX_FILE_NAME_BYTES 512
/* No daemon takes this long to write a file. */
#define LEFTOVER_SECONDS 600
#define BLOCK_BYTES ((size_t)64 << 10)

struct mt_file_directory {
    char *path;
    int fd;
    pthread_mutex_t mutex; /* guards what follows */
    struct mt_file_store_counts counts;
    int64_t swept_ms;
};

struct entry {
    char disk_name[DISK_NAME_BYTES];
    int64_t end_ms;
    unsigned client;
    bool is_fetched;
    size_t n_bytes;
};

/* All files whose lifetime is not over. */
struct listing {
    struct entry *entries;
    size_t n, capacity, n_bytes;
};

/* Returns a number for a client on which all replicas agree. Who reads the directory must not find
 * addresses, so it has too few bits to identify one of them, but enough that clients rarely share
 * one. */
static unsigned client_number(uint64_t client)
{
    unsigned char digest[32] = {0};
    (void)gnutls_hash_fast(GNUTLS_DIG_SHA256, &client, sizeof client, digest);
    return (unsigned)digest[0] << 8 | digest[1];
}

/* ---- names ---- */

/* Whether the name has the form that clients know: 32 digits, and an extension of a few letters. */
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    if (strspn(name, HEX) != RANDOM_DIGITS || length < RANDOM_DIGITS + 2 ||
        length >= MT_STORED_NAME_BYTES)
        return false;
    const char *extension = name + RANDOM_DIGITS;
    return extension[0] == '.' && strspn(extension + 1, "abcdefghijklmnopqrstuvwxyz0123456789") ==
                                      length - RANDOM_DIGITS - 1;
}

static bool parse(const char *disk_name, struct entry *out)
{
    size_t length = strlen(disk_name);
    if (strncmp(disk_name, PREFIX, STATE) != 0 || length <= NAME || length >= DISK_NAME_BYTES)
        return false;
    bool has_form = (disk_name[STATE] == 'n' || disk_name[STATE] == 'f') &&
                    disk_name[END - 1] == '-' && strspn(disk_name + END, HEX) == 16 &&
                    disk_name[CLIENT - 1] == '-' && strspn(disk_name + CLIENT, HEX) == 4 &&
                    disk_name[NAME - 1] == '-' && is_name(disk_name + NAME);
    if (!has_form)
        return false;
    *out = (struct entry){.end_ms = (int64_t)strtoull(disk_name + END, NULL, 16),
                          .client = (unsigned)strtoul(disk_name + CLIENT, NULL, 16),
                          .is_fetched = disk_name[STATE] == 'f'};
    memcpy(out->disk_name, disk_name, length + 1);
    return true;
}

static void make_disk_name(const char *name, int64_t end_ms, unsigned client,
                           char out[DISK_NAME_BYTES])
{
    snprintf(out, DISK_NAME_BYTES, PREFIX "n-%016" PRIx64 "-%04x-%s", (uint64_t)end_ms, client,
             name);
}

/* ---- single files ---- */

/* Opens a file and reads its first line. Returns the descriptor, or -1 where there is no such file
 * or it is not ours. */
static int open_file(const struct mt_file_directory *directory, const char *disk_name)
{
    char magic[sizeof MAGIC - 1];
    struct stat status;
    int fd = openat(directory->fd, disk_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
        memcmp(magic, MAGIC, sizeof magic) == 0)
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static void remove_file(const struct mt_file_directory *directory, const char *disk_name)
{
    int fd = open_file(directory, disk_name);
    if (fd < 0)
        return; /* another daemon has removed it, or it is not ours */
    close(fd);
    unlinkat(directory->fd, disk_name, 0);
}

/* Removes a file that a daemon left when it was killed while writing. On file systems where other
 * machines do not see locks, the file's age shows that nobody writes it any more. */
static void remove_leftover(const struct mt_file_directory *directory, const char *disk_name)
{
    struct stat status;
    if (strncmp(disk_name, PREFIX, STATE) == 0 && mt_file_temporary_length(disk_name) > 0 &&
        fstatat(directory->fd, disk_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_mtime < time(NULL) - LEFTOVER_SECONDS)
        mt_file_remove_leftover(directory->fd, disk_name);
}

/* ---- listing ---- */

static DIR *open_listing(const struct mt_file_directory *directory)
{
    int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *stream = fdopendir(fd);
    if (!stream)
        close(fd);
    return stream;
}

static enum mt_status add_entry(struct listing *listing, const struct entry *entry,
                                struct mt_error *err)
{
    if (MT_ROOM(&listing->entries, &listing->capacity, listing->n + 1, "a list of translated files",
                err))
        return MT_MEMORY;
    listing->entries[listing->n++] = *entry;
    listing->n_bytes += entry->n_bytes;
    return MT_OK;
}

static void keep_counts(struct mt_file_directory *directory, const struct listing *listing)
{
    pthread_mutex_lock(&directory->mutex);
    directory->counts = (struct mt_file_store_counts){listing->n, listing->n_bytes};
    pthread_mutex_unlock(&directory->mutex);
}

/* Lists the files, and removes those whose lifetime is over. After a failure there is nothing to
 * free. */
static enum mt_status list_files(struct mt_file_directory *directory, struct listing *out,
                                 struct mt_error *err)
{
    DIR *stream = open_listing(directory);
    if (!stream)
        return mt_fail(err, MT_IO, "the translated files cannot be listed: %s", strerror(errno));
    struct listing listing = {0};
    enum mt_status status = MT_OK;
    int64_t now_ms = mt_unix_ms();
    for (const struct dirent *item; !status && (item = readdir(stream));) {
        struct entry entry;
        struct stat file;
        if (!parse(item->d_name, &entry)) {
            remove_leftover(directory, item->d_name);
            continue;
        }
        if (fstatat(directory->fd, item->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(file.st_mode))
            continue;
        entry.n_bytes = (size_t)file.st_size;
        if (entry.end_ms <= now_ms)
            remove_file(directory, entry.disk_name);
        else
            status = add_entry(&listing, &entry, err);
    }
    closedir(stream);
    if (status) {
        free(listing.entries);
        return status;
    }
    keep_counts(directory, &listing);
    *out = listing;
    return MT_OK;
}

/* ---- room ---- */

/* A file that needs room. */
struct newcomer {
    const char *disk_name; /* NULL: it has not been written yet */
    unsigned client;
    size_t n_bytes; /* its bytes, if it is not in the listing, else 0 */
    size_t n_files; /* 1 or 0 likewise */
};

static bool is_older(const struct entry *a, const struct entry *b)
{
    return a->end_ms != b->end_ms ? a->end_ms < b->end_ms : strcmp(a->disk_name, b->disk_name) < 0;
}

/* Sums up what each client holds: files where there are too many of them, otherwise bytes. */
static void sum_up(const struct listing *listing, const struct newcomer *newcomer, size_t *held)
{
    bool by_files = listing->n + newcomer->n_files > MT_MAX_STORED_FILES;
    memset(held, 0, N_CLIENTS * sizeof *held);
    for (size_t i = 0; i < listing->n; i++)
        held[listing->entries[i].client] += by_files ? 1 : listing->entries[i].n_bytes;
    held[newcomer->client] += by_files ? newcomer->n_files : newcomer->n_bytes;
}

/* Returns the file that has to go, by the rule in file_store.h: the oldest one that was fetched,
 * else the oldest one of the client that holds most. All daemons find the same one. NULL where none
 * has to go. */
static struct entry *find_dispensable(const struct listing *listing,
                                      const struct newcomer *newcomer, const size_t *held)
{
    struct entry *fetched = NULL, *oldest = NULL;
    for (size_t i = 0; i < listing->n; i++) {
        struct entry *entry = &listing->entries[i];
        if (newcomer->disk_name && strcmp(entry->disk_name, newcomer->disk_name) == 0)
            continue;
        if (entry->is_fetched && (!fetched || is_older(entry, fetched)))
            fetched = entry;
        if (held[entry->client] <= held[newcomer->client])
            continue;
        if (!oldest || held[entry->client] > held[oldest->client] ||
            (entry->client == oldest->client && is_older(entry, oldest)))
            oldest = entry;
    }
    return fetched ? fetched : oldest;
}

static void drop(const struct mt_file_directory *directory, struct listing *listing,
                 struct entry *entry)
{
    remove_file(directory, entry->disk_name);
    listing->n_bytes -= entry->n_bytes;
    *entry = listing->entries[--listing->n];
}

static enum mt_status make_room(struct mt_file_directory *directory, struct newcomer newcomer,
                                size_t limit_bytes, struct mt_error *err)
{
    struct listing listing;
    enum mt_status status = list_files(directory, &listing, err);
    if (status)
        return status;
    size_t *held = calloc(N_CLIENTS, sizeof *held);
    if (!held)
        status = mt_fail_memory(err, N_CLIENTS * sizeof *held, "a list of clients");
    while (!status && (listing.n + newcomer.n_files > MT_MAX_STORED_FILES ||
                       listing.n_bytes + newcomer.n_bytes > limit_bytes)) {
        sum_up(&listing, &newcomer, held);
        struct entry *entry = find_dispensable(&listing, &newcomer, held);
        if (entry)
            drop(directory, &listing, entry);
        else
            status = mt_fail(err, MT_BUSY,
                             "%zu translated files that wait to be fetched hold %zu bytes, and "
                             "there is no room for yours within the limit of %zu bytes and %d "
                             "files: fetch yours or try again later",
                             listing.n, listing.n_bytes, limit_bytes, MT_MAX_STORED_FILES);
    }
    keep_counts(directory, &listing);
    free(held);
    free(listing.entries);
    return status;
}

enum mt_status mt_file_directory_make_room(struct mt_file_directory *directory, uint64_t client,
                                           size_t length, size_t limit_bytes, struct mt_error *err)
{
    return make_room(
        directory,
        (struct newcomer){.client = client_number(client), .n_bytes = length, .n_files = 1},
        limit_bytes, err);
}

/* ---- from outside ---- */

/* Only tries whether a file can be written; what it contains does not matter. */
static enum mt_status try_writing(const struct mt_file_directory *directory, struct mt_error *err)
{
    char name[64], *path;
    snprintf(name, sizeof name, "attentiond-try-%ld-%" PRId64, (long)getpid(), mt_now_ns());
    enum mt_status status = mt_path_join(directory->path, name, &path, err);
    if (status)
        return status;
    struct mt_error reason;
    status = mt_file_write(path, "", 0, &reason);
    unlinkat(directory->fd, name, 0);
    free(path);
    if (!status)
        return MT_OK;
    return mt_fail(err, MT_IO,
                   "files_directory is %s, where no file can be written (%s): expected a directory "
                   "of the daemon's own user (chown, chmod 700), or an empty setting, with which "
                   "translated files stay in memory",
                   directory->path, reason.message);
}

static enum mt_status open_path(struct mt_file_directory *directory, struct mt_error *err)
{
    struct stat status;
    directory->fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->fd < 0)
        return mt_fail(err, MT_IO,
                       "files_directory is %s, which cannot be opened: %s; make it (mkdir -m 700) "
                       "and give it to the daemon's user, or leave the setting empty, with which "
                       "translated files stay in memory",
                       directory->path, strerror(errno));
    if (fstat(directory->fd, &status) == 0 && (status.st_mode & S_IROTH))
        mt_log(MT_LOG_WARN,
               "files_directory: everybody on this machine can read the translated files in %s "
               "(chmod o-rwx)",
               directory->path);
    return try_writing(directory, err);
}

enum mt_status mt_file_directory_open(const char *path, struct mt_file_directory **out,
                                      struct mt_error *err)
{
    struct mt_file_directory *directory = calloc(1, sizeof *directory);
    if (!directory)
        return mt_fail_memory(err, sizeof *directory, "a directory of files");
    directory->fd = -1;
    pthread_mutex_init(&directory->mutex, NULL);
    directory->path = strdup(path);
    struct listing listing = {0};
    enum mt_status status =
        directory->path ? MT_OK : mt_fail_memory(err, strlen(path), "the path of files_directory");
    if (!status)
        status = open_path(directory, err);
    if (!status)
        status = list_files(directory, &listing, err);
    free(listing.entries);
    if (status) {
        mt_file_directory_close(directory);
        return status;
    }
    directory->swept_ms = mt_now_ms();
    *out = directory;
    return MT_OK;
}

void mt_file_directory_close(struct mt_file_directory *directory)
{
    if (!directory)
        return;
    if (directory->fd >= 0)
        close(directory->fd);
    pthread_mutex_destroy(&directory->mutex);
    free(directory->path);
    free(directory);
}

static enum mt_status write_file(const struct mt_file_directory *directory, const char *disk_name,
                                 const struct mt_stored_file *file, struct mt_error *err)
{
    struct mt_text bytes = {0};
    char *path = NULL;
    mt_text_append_string(&bytes, MAGIC);
    mt_text_append_string(&bytes, file->file_name);
    mt_text_append(&bytes, "\n", 1);
    mt_text_append(&bytes, file->bytes, file->length);
    enum mt_status status = mt_text_check(&bytes, "a translated file", err);
    if (!status)
        status = mt_path_join(directory->path, disk_name, &path, err);
    struct mt_error reason;
    if (!status && mt_file_write(path, bytes.bytes, bytes.length, &reason) != MT_OK) {
        mt_log(MT_LOG_ERROR, "files_directory: a translated file cannot be kept: %s",
               reason.message);
        status = mt_fail(err, MT_BUSY,
                         "the translated file cannot be kept: the disk that the server keeps files "
                         "on takes no more, or has failed; try again later");
    }
    free(path);
    mt_text_finish(&bytes);
    return status;
}

enum mt_status mt_file_directory_write(struct mt_file_directory *directory, const char *name,
                                       uint64_t client, const struct mt_stored_file *file,
                                       int64_t lifetime_ms, size_t limit_bytes,
                                       struct mt_error *err)
{
    char disk_name[DISK_NAME_BYTES];
    struct newcomer newcomer = {.client = client_number(client),
                                .n_bytes = sizeof MAGIC + strlen(file->file_name) + file->length,
                                .n_files = 1};
    make_disk_name(name, mt_unix_ms() + lifetime_ms, newcomer.client, disk_name);
    enum mt_status status = make_room(directory, newcomer, limit_bytes, err);
    if (!status)
        status = write_file(directory, disk_name, file, err);
    if (status)
        return status;
    newcomer.disk_name = disk_name;
    newcomer.n_bytes = newcomer.n_files = 0;
    status = make_room(directory, newcomer, limit_bytes, err);
    if (status)
        remove_file(directory, disk_name);
    return status;
}

static bool find_file(const struct mt_file_directory *directory, const char *name,
                      struct entry *out)
{
    bool is_found = false;
    DIR *stream = is_name(name) ? open_listing(directory) : NULL;
    if (!stream)
        return false;
    for (const struct dirent *item; (item = readdir(stream));) {
        struct entry entry;
        if (!parse(item->d_name, &entry) || !mt_secret_equals(entry.disk_name + NAME, name))
            continue;
        *out = entry;
        is_found = entry.end_ms > mt_unix_ms();
    }
    closedir(stream);
    return is_found;
}

/* Reads what is behind the first line: the name for saving, and the file. */
static enum mt_status read_file(int fd, struct mt_text *body, struct mt_text *file_name,
                                struct mt_error *err)
{
    struct mt_text bytes = {.limit_bytes = body->limit_bytes};
    char *block = malloc(BLOCK_BYTES);
    enum mt_status status = block ? MT_OK : mt_fail_memory(err, BLOCK_BYTES, "a block of a file");
    for (ssize_t n = 1; !status && n > 0;) {
        do
            n = read(fd, block, BLOCK_BYTES);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            status = mt_fail(err, MT_IO, "the translated file cannot be read: %s", strerror(errno));
        else
            mt_text_append(&bytes, block, (size_t)n);
    }
    free(block);
    if (!status)
        status = mt_text_check(&bytes, "a translated file", err);
    const char *end =
        bytes.length > 0 ? memchr(bytes.bytes, '\n', mt_size_min(bytes.length, MAX_FILE_NAME_BYTES))
                         : NULL;
    if (!status && !end)
        status = mt_fail(err, MT_NOT_FOUND, "There is no such file; it may have expired.");
    if (!status) {
        size_t n_head = (size_t)(end - bytes.bytes);
        mt_text_append(file_name, bytes.bytes, n_head);
        mt_text_append(body, end + 1, bytes.length - n_head - 1);
        status = mt_text_check(body, "a translated file", err);
    }
    mt_text_finish(&bytes);
    return status;
}

enum mt_status mt_file_directory_read(struct mt_file_directory *directory, const char *name,
                                      struct mt_text *body, struct mt_text *file_name,
                                      struct mt_error *err)
{
    struct entry entry;
    int fd = -1;
    /* If the file was fetched meanwhile, it has another name, so it is looked for once more. */
    for (int i = 0; i < 2 && fd < 0 && find_file(directory, name, &entry); i++)
        fd = open_file(directory, entry.disk_name);
    if (fd < 0)
        return mt_fail(err, MT_NOT_FOUND, "There is no such file; it may have expired.");
    enum mt_status status = read_file(fd, body, file_name, err);
    close(fd);
    if (status || entry.is_fetched)
        return status;
    char fetched[DISK_NAME_BYTES];
    memcpy(fetched, entry.disk_name, sizeof fetched);
    fetched[STATE] = 'f';
    (void)!renameat(directory->fd, entry.disk_name, directory->fd, fetched);
    return MT_OK;
}

void mt_file_directory_sweep(struct mt_file_directory *directory)
{
    struct listing listing;
    int64_t now_ms = mt_now_ms();
    pthread_mutex_lock(&directory->mutex);
    bool is_due = now_ms - directory->swept_ms >= MT_FILES_SWEEP_MS;
    if (is_due)
        directory->swept_ms = now_ms;
    pthread_mutex_unlock(&directory->mutex);
    if (is_due && list_files(directory, &listing, NULL) == MT_OK)
        free(listing.entries);
}

void mt_file_directory_count(struct mt_file_directory *directory, struct mt_file_store_counts *out)
{
    pthread_mutex_lock(&directory->mutex);
    *out = directory->counts;
    pthread_mutex_unlock(&directory->mutex);
}
