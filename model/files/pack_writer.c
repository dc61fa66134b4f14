#include "model/files/pack_writer.h"

#include "base/fault.h"
#include "base/file.h"
#include "weights/image.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

struct mt_pack_writer {
    struct mt_image *image;
    char *path;
    void (*on_failure)(const struct mt_error *err);
    atomic_bool is_cancelled;
    atomic_size_t n_holders; /* the model and the thread */
};

static void release(struct mt_pack_writer *writer)
{
    free(writer->path);
    free(writer);
}

static void let_go(struct mt_pack_writer *writer)
{
    if (atomic_fetch_sub(&writer->n_holders, 1) > 1)
        return;
    mt_image_destroy(writer->image);
    release(writer);
}

static void *run(void *argument)
{
    struct mt_pack_writer *writer = argument;
    struct mt_error err;
    size_t length;
    prctl(PR_SET_NAME, "pack-writer");
    const void *bytes = mt_image_bytes(writer->image, &length);
    enum mt_status status =
        mt_file_write_unless(&writer->is_cancelled, writer->path, bytes, length, &err);
    if (status && status != MT_CANCELLED && writer->on_failure)
        writer->on_failure(&err);
    let_go(writer);
    return NULL;
}

/* The thread blocks signals, which are meant for the program's own threads. */
static int start_thread(struct mt_pack_writer *writer)
{
    sigset_t old;
    pthread_t thread;
    mt_fault_block_others(&old);
    int code = pthread_create(&thread, NULL, run, writer);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (code == 0)
        pthread_detach(thread);
    return code;
}

enum mt_status mt_pack_writer_start(struct mt_image *image, const char *path,
                                    void (*on_failure)(const struct mt_error *err),
                                    struct mt_pack_writer **out, struct mt_error *err)
{
    struct mt_pack_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return mt_fail_memory(err, sizeof *writer, "a writer");
    writer->image = image;
    writer->on_failure = on_failure;
    atomic_init(&writer->is_cancelled, false);
    atomic_init(&writer->n_holders, 2);
    writer->path = strdup(path);
    if (!writer->path) {
        release(writer);
        return mt_fail_memory(err, strlen(path) + 1, "a writer");
    }
    int code = start_thread(writer);
    if (code) {
        release(writer);
        return mt_fail(err, MT_IO, "cannot start a thread that writes %s: %s", path,
                       strerror(code));
    }
    *out = writer;
    return MT_OK;
}

void mt_pack_writer_let_go(struct mt_pack_writer *writer)
{
    atomic_store(&writer->is_cancelled, true);
    let_go(writer);
}
