#include "server/service/file_store.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/size.h"
#include "server/service/file_directory.h"
#include "server/service/keys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NAME_RANDOM_BYTES 16

/* A client that has files in the store. */
struct holder {
    struct holder *next;
    uint64_t client;
    size_t n_files, n_bytes;
};

struct file {
    struct file *next; /* the file that was added after this one */
    struct holder *holder;
    char name[MT_STORED_NAME_BYTES];
    char *bytes, *file_name; /* NULL: only the room is reserved */
    size_t length;
    int64_t end_ms;
    bool is_fetched;
};

/* With a directory, the files are in it, and the list has only reservations. */
struct mt_file_store {
    struct mt_file_directory *directory; /* NULL: none */
    pthread_mutex_t mutex;               /* guards the others */
    struct file *files;                  /* the oldest first */
    struct holder *holders;
    size_t n, n_bytes;
};

enum mt_status mt_file_store_create(const char *directory, struct mt_file_store **out,
                                    struct mt_error *err)
{
    struct mt_file_store *store = calloc(1, sizeof *store);
    if (!store)
        return mt_fail_memory(err, sizeof *store, "a store of files");
    pthread_mutex_init(&store->mutex, NULL);
    enum mt_status status = MT_OK;
    if (directory[0] != '\0')
        status = mt_file_directory_open(directory, &store->directory, err);
    if (status) {
        mt_file_store_destroy(store);
        return status;
    }
    *out = store;
    return MT_OK;
}

static void free_file(struct file *file)
{
    free(file->bytes);
    free(file->file_name);
    free(file);
}

void mt_file_store_destroy(struct mt_file_store *store)
{
    if (!store)
        return;
    for (struct file *file = store->files, *next; file; file = next) {
        next = file->next;
        free_file(file);
    }
    for (struct holder *holder = store->holders, *next; holder; holder = next) {
        next = holder->next;
        free(holder);
    }
    mt_file_directory_close(store->directory);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* ---- under the mutex ---- */

static void remove_holder(struct mt_file_store *store, struct holder *holder)
{
    struct holder **at = &store->holders;
    while (*at != holder)
        at = &(*at)->next;
    *at = holder->next;
    free(holder);
}

static void set_length(struct mt_file_store *store, struct file *file, size_t length)
{
    store->n_bytes = store->n_bytes - file->length + length;
    file->holder->n_bytes = file->holder->n_bytes - file->length + length;
    file->length = length;
}

/* Removes *at, which becomes the next one. */
static void drop(struct mt_file_store *store, struct file **at)
{
    struct file *file = *at;
    set_length(store, file, 0);
    store->n--;
    if (--file->holder->n_files == 0)
        remove_holder(store, file->holder);
    *at = file->next;
    free_file(file);
}

static void drop_expired(struct mt_file_store *store)
{
    int64_t now = mt_now_ms();
    for (struct file **at = &store->files; *at;)
        if ((*at)->end_ms <= now)
            drop(store, at);
        else
            at = &(*at)->next;
}

/* Returns the link to the file of that name; the link is NULL where there is none. */
static struct file **find(struct mt_file_store *store, const char *name)
{
    struct file **at = &store->files;
    bool is_name = strlen(name) > 2 * NAME_RANDOM_BYTES && strlen(name) < MT_STORED_NAME_BYTES;
    while (*at && !(is_name && mt_secret_equals((*at)->name, name)))
        at = &(*at)->next;
    return at;
}

/* Returns the number of a client's files, where there are too many files, and otherwise their
 * bytes. */
static size_t held(const struct mt_file_store *store, const struct holder *holder)
{
    return store->n > MT_MAX_STORED_FILES ? holder->n_files : holder->n_bytes;
}

/* Chooses a file to be dropped for the newcomer: the first that was fetched, or else the oldest of
 * the client that holds most, unless that is the newcomer's own. Returns the link to it; the link
 * is NULL where none may be dropped. */
static struct file **find_dispensable(struct mt_file_store *store, const struct file *newcomer)
{
    struct file **at = &store->files;
    const struct holder *largest = newcomer->holder;
    while (*at && (*at == newcomer || !(*at)->is_fetched))
        at = &(*at)->next;
    if (*at)
        return at;
    for (const struct holder *holder = store->holders; holder; holder = holder->next)
        if (held(store, holder) > held(store, largest))
            largest = holder;
    if (largest == newcomer->holder)
        return at;
    for (at = &store->files; (*at)->holder != largest;)
        at = &(*at)->next;
    return at;
}

/* The newcomer is already counted. It is dropped where there is no room for it. */
static enum mt_status make_room(struct mt_file_store *store, struct file *newcomer,
                                size_t limit_bytes, struct mt_error *err)
{
    drop_expired(store);
    while (store->n > MT_MAX_STORED_FILES || store->n_bytes > limit_bytes) {
        struct file **dispensable = find_dispensable(store, newcomer);
        if (*dispensable) {
            drop(store, dispensable);
            continue;
        }
        enum mt_status status = mt_fail(
            err, MT_BUSY,
            "%zu translated files that wait to be fetched hold %zu bytes, your own %zu, and room "
            "for %zu more would be over the limit of %zu bytes and %d files: fetch yours or try "
            "again later",
            store->n - 1, store->n_bytes - newcomer->length,
            newcomer->holder->n_bytes - newcomer->length, newcomer->length, limit_bytes,
            MT_MAX_STORED_FILES);
        drop(store, find(store, newcomer->name));
        return status;
    }
    return MT_OK;
}

static enum mt_status find_holder(struct mt_file_store *store, uint64_t client, struct holder **out,
                                  struct mt_error *err)
{
    struct holder *holder = store->holders;
    while (holder && holder->client != client)
        holder = holder->next;
    if (!holder) {
        holder = calloc(1, sizeof *holder);
        if (!holder)
            return mt_fail_memory(err, sizeof *holder, "a client with translated files");
        holder->client = client;
        holder->next = store->holders;
        store->holders = holder;
    }
    *out = holder;
    return MT_OK;
}

static enum mt_status add(struct mt_file_store *store, struct file *file,
                          const struct mt_file_room *room, struct mt_error *err)
{
    enum mt_status status = find_holder(store, room->client, &file->holder, err);
    if (status) {
        free_file(file);
        return status;
    }
    struct file **end = &store->files;
    while (*end)
        end = &(*end)->next;
    *end = file;
    store->n++;
    file->holder->n_files++;
    set_length(store, file, room->length);
    return make_room(store, file, room->limit_bytes, err);
}

/* ---- from outside ---- */

void mt_file_store_sweep(struct mt_file_store *store)
{
    pthread_mutex_lock(&store->mutex);
    drop_expired(store);
    pthread_mutex_unlock(&store->mutex);
    if (store->directory)
        mt_file_directory_sweep(store->directory);
}

static enum mt_status make_name(const char *extension, char out[MT_STORED_NAME_BYTES],
                                struct mt_error *err)
{
    char *end = out + 2 * (size_t)NAME_RANDOM_BYTES;
    size_t n_extension =
        mt_size_min(strlen(extension), MT_STORED_NAME_BYTES - 1 - 2 * (size_t)NAME_RANDOM_BYTES);
    enum mt_status status = mt_random_hex(NAME_RANDOM_BYTES, "a file's name", out, err);
    if (status)
        return status;
    memcpy(end, extension, n_extension);
    end[n_extension] = '\0';
    return MT_OK;
}

static enum mt_status refuse_too_large(size_t length, size_t limit_bytes, struct mt_error *err)
{
    return mt_fail(err, MT_LIMIT, "the translated file has %zu bytes: at most %zu", length,
                   limit_bytes);
}

enum mt_status mt_file_store_reserve(struct mt_file_store *store, const struct mt_file_room *room,
                                     char out_name[MT_STORED_NAME_BYTES], struct mt_error *err)
{
    char name[MT_STORED_NAME_BYTES];
    if (room->length > room->limit_bytes)
        return refuse_too_large(room->length, room->limit_bytes, err);
    enum mt_status status = make_name(room->extension, name, err);
    if (!status && store->directory)
        status = mt_file_directory_make_room(store->directory, room->client, room->length,
                                             room->limit_bytes, err);
    if (status)
        return status;
    struct file *file = calloc(1, sizeof *file);
    if (!file)
        return mt_fail_memory(err, sizeof *file, "a translated file");
    memcpy(file->name, name, sizeof name);
    file->end_ms = INT64_MAX;
    pthread_mutex_lock(&store->mutex);
    status = add(store, file, room, err);
    pthread_mutex_unlock(&store->mutex);
    if (!status)
        memcpy(out_name, name, sizeof name);
    return status;
}

static enum mt_status refuse_given_away(struct mt_error *err)
{
    return mt_fail(err, MT_BUSY,
                   "the room for your file was given to a client that holds fewer bytes of "
                   "translated files than you: fetch yours or try again later");
}

/* Ends the reservation and writes the file to the directory. */
static enum mt_status fill_directory(struct mt_file_store *store, const char *name,
                                     const struct mt_stored_file *file, int64_t lifetime_ms,
                                     size_t limit_bytes, struct mt_error *err)
{
    pthread_mutex_lock(&store->mutex);
    struct file **at = find(store, name);
    bool is_reserved = *at != NULL;
    uint64_t client = is_reserved ? (*at)->holder->client : 0;
    if (is_reserved)
        drop(store, at);
    pthread_mutex_unlock(&store->mutex);
    if (!is_reserved)
        return refuse_given_away(err);
    return mt_file_directory_write(store->directory, name, client, file, lifetime_ms, limit_bytes,
                                   err);
}

enum mt_status mt_file_store_fill(struct mt_file_store *store, const char *name,
                                  const struct mt_stored_file *file, int64_t lifetime_ms,
                                  size_t limit_bytes, struct mt_error *err)
{
    if (file->length > limit_bytes)
        return refuse_too_large(file->length, limit_bytes, err);
    if (store->directory)
        return fill_directory(store, name, file, lifetime_ms, limit_bytes, err);
    char *bytes = malloc(file->length + 1), *file_name = strdup(file->file_name);
    enum mt_status status = MT_OK;
    if (!bytes || !file_name) {
        free(bytes);
        free(file_name);
        return mt_fail_memory(err, file->length + 1, "a translated file");
    }
    memcpy(bytes, file->bytes, file->length);
    pthread_mutex_lock(&store->mutex);
    struct file *found = *find(store, name);
    if (found) {
        found->bytes = bytes;
        found->file_name = file_name;
        found->end_ms = mt_now_ms() + lifetime_ms;
        set_length(store, found, file->length);
        status = make_room(store, found, limit_bytes, err);
    }
    pthread_mutex_unlock(&store->mutex);
    if (found)
        return status;
    free(bytes);
    free(file_name);
    return refuse_given_away(err);
}

void mt_file_store_cancel(struct mt_file_store *store, const char *name)
{
    pthread_mutex_lock(&store->mutex);
    struct file **at = find(store, name);
    if (*at && !(*at)->bytes)
        drop(store, at);
    pthread_mutex_unlock(&store->mutex);
}

enum mt_status mt_file_store_get(struct mt_file_store *store, const char *name,
                                 struct mt_text *body, struct mt_text *file_name,
                                 struct mt_error *err)
{
    if (store->directory)
        return mt_file_directory_read(store->directory, name, body, file_name, err);
    pthread_mutex_lock(&store->mutex);
    drop_expired(store);
    struct file *found = *find(store, name);
    bool is_there = found && found->bytes;
    if (is_there) {
        mt_text_append(body, found->bytes, found->length);
        mt_text_append_string(file_name, found->file_name);
        found->is_fetched = true;
    }
    pthread_mutex_unlock(&store->mutex);
    if (!is_there)
        return mt_fail(err, MT_NOT_FOUND, "There is no such file; it may have expired.");
    return mt_text_check(body, "a translated file", err);
}

void mt_file_store_count(struct mt_file_store *store, struct mt_file_store_counts *out)
{
    *out = (struct mt_file_store_counts){0};
    if (store->directory) {
        mt_file_directory_count(store->directory, out);
        return;
    }
    pthread_mutex_lock(&store->mutex);
    for (const struct file *file = store->files; file; file = file->next) {
        out->n_files += file->bytes != NULL;
        out->n_bytes += file->bytes ? file->length : 0;
    }
    pthread_mutex_unlock(&store->mutex);
}
