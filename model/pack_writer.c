#include "model/pack_writer.h"

#include "base/fault.h"
#include "weights/image.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct mt_pack_writer {
    const struct mt_image *image;
    char *path;
    void (*on_failure)(const struct mt_error *err);
    pthread_t thread;
};

static void *run(void *argument)
{
    const struct mt_pack_writer *writer = argument;
    struct mt_error err;
    if (mt_image_write(writer->image, writer->path, &err) && writer->on_failure)
        writer->on_failure(&err);
    return NULL;
}

static void release(struct mt_pack_writer *writer)
{
    free(writer->path);
    free(writer);
}

enum mt_status mt_pack_writer_start(const struct mt_image *image, const char *path,
                                    void (*on_failure)(const struct mt_error *err),
                                    struct mt_pack_writer **out, struct mt_error *err)
{
    struct mt_pack_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return mt_fail_memory(err, sizeof *writer, "a writer");
    writer->image = image;
    writer->on_failure = on_failure;
    writer->path = strdup(path);
    if (!writer->path) {
        release(writer);
        return mt_fail_memory(err, strlen(path) + 1, "a writer");
    }
    sigset_t old; /* signals are for the program's own threads */
    mt_fault_block_others(&old);
    int code = pthread_create(&writer->thread, NULL, run, writer);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (code) {
        release(writer);
        return mt_fail(err, MT_IO, "cannot start a thread that writes %s: %s", path,
                       strerror(code));
    }
    *out = writer;
    return MT_OK;
}

void mt_pack_writer_finish(struct mt_pack_writer *writer)
{
    if (!writer)
        return;
    pthread_join(writer->thread, NULL);
    release(writer);
}
