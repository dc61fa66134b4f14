/*
 * Feeds config.json and, behind a byte 0, generation_config.json to their reader. What it lets
 * through must be of use: sizes that go together, tokens of the vocabulary.
 */
#include "model/files/hparams.h"
#include "model/files/source.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One directory with a generation_config.json, and one without. */
static char directories[2][64];
static struct mt_source *sources[2];
static int configs[2], generation;

static void remove_directories(void)
{
    char path[128];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/config.json", directories[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/generation_config.json", directories[i]);
        unlink(path);
        rmdir(directories[i]);
        mt_source_close(sources[i]);
    }
}

static int create(const char *directory, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert(fd >= 0);
    return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    /* Of memory, where there is such a thing: an execution writes its files. */
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    for (size_t i = 0; i < 2; i++) {
        snprintf(directories[i], sizeof directories[i], "%s/fuzz_hparams.XXXXXX", parent);
        char *made = mkdtemp(directories[i]);
        assert(made);
        configs[i] = create(directories[i], "config.json");
        enum mt_status status = mt_source_open(directories[i], &sources[i], NULL);
        assert(!status);
        (void)status;
    }
    generation = create(directories[1], "generation_config.json");
    atexit(remove_directories);
    return 0;
}

static void fill(int fd, const uint8_t *data, size_t size)
{
    bool is_filled = pwrite(fd, data, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0;
    assert(is_filled);
}

static void check(const struct mt_hparams *h)
{
    assert(h->d_model > 0 && h->d_ff_encoder > 0 && h->d_ff_decoder > 0);
    assert(h->n_encoder_layers > 0 && h->n_decoder_layers > 0 && h->max_positions > 0);
    assert(h->d_model % h->n_encoder_heads == 0 && h->d_model % h->n_decoder_heads == 0);
    assert(h->n_source_vocab > 0 && h->n_target_vocab > 0);
    assert(!h->shared_embeddings || h->n_source_vocab == h->n_target_vocab);
    assert(h->eos_id >= 0 && (size_t)h->eos_id < h->n_target_vocab);
    assert(h->start_id >= 0 && (size_t)h->start_id < h->n_target_vocab);
    assert(h->forced_eos_id == MT_NO_TOKEN || h->forced_eos_id == h->eos_id);
    assert(h->n_suppressed <= MT_MAX_SUPPRESSED);
    for (size_t i = 0; i < h->n_suppressed; i++)
        assert(h->suppressed[i] >= 0 && h->suppressed[i] != h->eos_id);
    assert(h->n_beams >= 1 && h->n_beams <= MT_MAX_BEAMS);
    assert(h->max_length >= 2 && isfinite(h->length_penalty));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    size_t which = end != NULL, length = end ? (size_t)(end - data) : size;
    struct mt_hparams hparams;
    struct mt_error err = {0};
    fill(configs[which], data, length);
    if (end)
        fill(generation, end + 1, size - length - 1);
    enum mt_status status = mt_hparams_read(sources[which], &hparams, &err);
    assert((status == MT_OK) == (err.message[0] == '\0') || !status);
    if (!status)
        check(&hparams);
    return 0;
}
