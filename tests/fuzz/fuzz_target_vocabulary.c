/* Feeds bytes to the reader of target vocabularies: of what it accepts the ids rise, are of the
 * vocabulary, and eos is among them. */
#include "model/files/target_vocabulary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define N_VOCAB 64
#define EOS 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mt_hparams hparams = {.n_target_vocab = N_VOCAB, .eos_id = EOS};
    int32_t ids[N_VOCAB];
    size_t n = 0;
    struct mt_error err = {0};
    char *text = malloc(size + 1);
    assert(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (mt_target_vocabulary_read(text, size, "fuzz", &hparams, ids, &n, &err)) {
        assert(n == 0 && err.message[0]);
    } else {
        bool has_eos = false;
        assert(n >= 1 && n <= N_VOCAB);
        for (size_t i = 0; i < n; i++) {
            assert(ids[i] >= 0 && ids[i] < N_VOCAB && (i == 0 || ids[i - 1] < ids[i]));
            has_eos |= ids[i] == EOS;
        }
        assert(has_eos);
    }
    free(text);
    return 0;
}
