#include "server/file_store.h"

#include "base/clock.h"
#include "base/size.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NAME_RANDOM_BYTES 16

struct file {
    char name[MT_STORED_NAME_BYTES];
    char *bytes, *file_name;
    size_t length;
    const char *content_type;
    int64_t end_ms;
};

struct mt_file_store {
    pthread_mutex_t mutex; /* guards the others */
    struct file *files;
    size_t n, capacity, n_bytes;
};

enum mt_status mt_file_store_create(struct mt_file_store **out, struct mt_error *err)
{
    struct mt_file_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return mt_fail_memory(err, sizeof *store, "a store of files");
    pthread_mutex_init(&store->mutex, NULL);
    *out = store;
    return MT_OK;
}

static void finish_file(struct file *file)
{
    free(file->bytes);
    free(file->file_name);
}

void mt_file_store_destroy(struct mt_file_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->n; i++)
        finish_file(&store->files[i]);
    free(store->files);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* The mutex is held. */
static void drop_expired(struct mt_file_store *store)
{
    int64_t now = mt_now_ms();
    size_t n_left = 0;
    for (size_t i = 0; i < store->n; i++) {
        if (store->files[i].end_ms > now) {
            store->files[n_left++] = store->files[i];
            continue;
        }
        store->n_bytes -= store->files[i].length;
        finish_file(&store->files[i]);
    }
    store->n = n_left;
}

void mt_file_store_sweep(struct mt_file_store *store)
{
    pthread_mutex_lock(&store->mutex);
    drop_expired(store);
    pthread_mutex_unlock(&store->mutex);
}

static enum mt_status make_name(const char *extension, char out[MT_STORED_NAME_BYTES],
                                struct mt_error *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[NAME_RANDOM_BYTES];
    ssize_t n;
    do
        n = getrandom(bits, sizeof bits, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof bits)
        return mt_fail(err, MT_IO, "no random numbers for a file's name: %s",
                       n < 0 ? strerror(errno) : "too few");
    for (size_t i = 0; i < sizeof bits; i++) {
        out[2 * i] = digits[bits[i] >> 4];
        out[2 * i + 1] = digits[bits[i] & 15];
    }
    size_t n_extension = mt_size_min(strlen(extension), MT_STORED_NAME_BYTES - 1 - 2 * sizeof bits);
    memcpy(out + 2 * sizeof bits, extension, n_extension);
    out[2 * sizeof bits + n_extension] = '\0';
    return MT_OK;
}

static enum mt_status copy_file(const struct mt_stored_file *from, struct file *to,
                                struct mt_error *err)
{
    to->bytes = malloc(from->length + 1);
    to->file_name = strdup(from->file_name);
    if (to->bytes == NULL || to->file_name == NULL)
        return mt_fail_memory(err, from->length + 1, "a translated file");
    memcpy(to->bytes, from->bytes, from->length);
    to->length = from->length;
    to->content_type = from->content_type;
    return make_name(from->extension, to->name, err);
}

/* The mutex is held. Room for one more, within the limits. */
static enum mt_status make_room(struct mt_file_store *store, size_t length, size_t limit_bytes,
                                struct mt_error *err)
{
    drop_expired(store);
    if (store->n == MT_MAX_STORED_FILES)
        return mt_fail(err, MT_BUSY, "%zu translated files wait to be fetched: try again later",
                       store->n);
    if (store->n_bytes > limit_bytes - length)
        return mt_fail(err, MT_BUSY,
                       "translated files that wait to be fetched hold %zu bytes, and %zu more "
                       "would be over the limit of %zu: try again later",
                       store->n_bytes, length, limit_bytes);
    if (store->n < store->capacity)
        return MT_OK;
    size_t capacity = mt_size_max(16, 2 * store->capacity);
    struct file *files = realloc(store->files, capacity * sizeof *files);
    if (files == NULL)
        return mt_fail_memory(err, capacity * sizeof *files, "translated files");
    store->files = files;
    store->capacity = capacity;
    return MT_OK;
}

enum mt_status mt_file_store_add(struct mt_file_store *store, const struct mt_stored_file *file,
                                 int64_t lifetime_ms, size_t limit_bytes,
                                 char out_name[MT_STORED_NAME_BYTES], struct mt_error *err)
{
    struct file copy = {.end_ms = mt_now_ms() + lifetime_ms};
    if (file->length > limit_bytes)
        return mt_fail(err, MT_LIMIT, "the translated file has %zu bytes: at most %zu",
                       file->length, limit_bytes);
    enum mt_status status = copy_file(file, &copy, err);
    if (status == MT_OK) {
        pthread_mutex_lock(&store->mutex);
        status = make_room(store, copy.length, limit_bytes, err);
        if (status == MT_OK) {
            store->files[store->n++] = copy;
            store->n_bytes += copy.length;
        }
        pthread_mutex_unlock(&store->mutex);
    }
    if (status == MT_OK)
        memcpy(out_name, copy.name, sizeof copy.name);
    else
        finish_file(&copy);
    return status;
}

/* Takes as long for a name that is nearly right as for any other. */
static bool is_same_name(const char *a, const char *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < 2 * NAME_RANDOM_BYTES; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0 && strcmp(a, b) == 0;
}

enum mt_status mt_file_store_get(struct mt_file_store *store, const char *name,
                                 struct mt_text *body, const char **content_type,
                                 struct mt_text *file_name, struct mt_error *err)
{
    const struct file *found = NULL;
    bool is_name = strlen(name) > 2 * NAME_RANDOM_BYTES && strlen(name) < MT_STORED_NAME_BYTES;
    pthread_mutex_lock(&store->mutex);
    drop_expired(store);
    for (size_t i = 0; i < store->n && is_name && found == NULL; i++)
        if (is_same_name(store->files[i].name, name))
            found = &store->files[i];
    if (found != NULL) {
        mt_text_append(body, found->bytes, found->length);
        mt_text_append_string(file_name, found->file_name);
        *content_type = found->content_type;
    }
    pthread_mutex_unlock(&store->mutex);
    if (found == NULL)
        return mt_fail(err, MT_NOT_FOUND, "There is no such file; it may have expired.");
    return mt_text_check(body, "a translated file", err);
}

void mt_file_store_count(struct mt_file_store *store, struct mt_file_store_counts *out)
{
    pthread_mutex_lock(&store->mutex);
    *out = (struct mt_file_store_counts){.n_files = store->n, .n_bytes = store->n_bytes};
    pthread_mutex_unlock(&store->mutex);
}
