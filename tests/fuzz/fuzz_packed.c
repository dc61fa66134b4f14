/*
 * Changes bytes of a packed model: the input is a length to cut it to, then places and what to put
 * there. Whatever can still be bound must be inside the file and translate, be it nonsense.
 */
#include "base/arena.h"
#include "model/batch.h"
#include "model/files/packed.h"
#include "model/sentence.h"
#include "tests/fuzz/tiny_model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PATCH_BYTES 4
/* How many headers in the input's place: most of what can be got wrong is there. */
#define HEADER_BYTES 8192

static size_t u16(const uint8_t *bytes)
{
    return (size_t)bytes[0] | (size_t)bytes[1] << 8;
}

/* The file with the input's changes. The caller frees it. */
static unsigned char *change(const uint8_t *data, size_t size, size_t *out_length)
{
    size_t length;
    const unsigned char *packed = tiny_packed(&length);
    unsigned char *file = NULL;
    size_t kept = size >= 2 && u16(data) != 0 ? u16(data) * 2 : length;
    kept = kept < length ? kept : length;
    if (posix_memalign((void **)&file, 64, kept + 1) != 0)
        abort();
    memcpy(file, packed, kept);
    for (size_t i = 2; i + PATCH_BYTES <= size && kept > 0; i += PATCH_BYTES) {
        size_t range = data[i + 2] & 1 && kept > HEADER_BYTES ? HEADER_BYTES : kept;
        file[u16(data + i) % range] = data[i + 3];
    }
    *out_length = kept;
    return file;
}

static void translate(const struct mt_model *model)
{
    static const int32_t source[] = {1, 2, 3, TINY_EOS};
    const struct mt_sentence_options options = {.beam_size = 2, .max_decoding_length = 4};
    const struct mt_batch_options batch_options = {
        .max_rows = 2, .max_source_tokens = 4, .max_target_tokens = 8, .encode_tokens = 4};
    static struct mt_batch *batch; /* kept: a new one costs more than all the rest */
    struct mt_sentence *sentence;
    struct mt_error err;
    enum mt_status status = MT_OK;
    if (!batch)
        status = mt_batch_create(model, &batch_options, &batch, &err);
    assert(!status);
    status = mt_sentence_create(model, source, 4, &options, &sentence, &err);
    assert(!status);
    bool is_admitted = mt_batch_admit(batch, sentence);
    assert(is_admitted);
    size_t n_steps = 0;
    while (!mt_batch_take_finished(batch)) {
        mt_batch_step(batch);
        assert(++n_steps < 20);
    }
    for (size_t i = 0; i < mt_sentence_n_hypotheses(sentence); i++) {
        struct mt_hypothesis hypothesis = mt_sentence_hypothesis(sentence, i);
        assert(hypothesis.n_ids <= 4);
        for (size_t j = 0; j < hypothesis.n_ids; j++)
            assert(hypothesis.ids[j] >= 0 && hypothesis.ids[j] < TINY_VOCAB);
    }
    mt_sentence_destroy(sentence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length;
    unsigned char *bytes = change(data, size, &length);
    struct mt_safetensors *file = NULL;
    struct mt_arena *arena = NULL;
    static struct mt_model model; /* the batch's */
    struct mt_error err = {0};
    enum mt_status status = mt_safetensors_open_memory(bytes, length, "fuzz", &file, &err);
    if (!status)
        status = mt_packed_check_identity(file, tiny_hparams(), NULL, &err);
    if (!status)
        status = mt_arena_create(0, &arena, &err);
    model = *tiny_model(MT_INT8);
    if (!status)
        status = mt_packed_bind(file, tiny_hparams(), arena, &model.weights, &err);
    assert((status == MT_OK) == (err.message[0] == '\0'));
    if (!status)
        translate(&model);
    mt_arena_destroy(arena);
    mt_safetensors_close(file);
    free(bytes);
    return 0;
}
