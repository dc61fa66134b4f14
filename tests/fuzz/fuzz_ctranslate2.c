/* Feeds bytes to the reader of CTranslate2's model.bin, and copies every number of what it takes.
 */
#include "weights/ctranslate2.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    if (mt_ctranslate2_open(data, size, "fuzz", &file, &err)) {
        assert(!file && err.message[0]);
        return 0;
    }
    for (size_t i = 0; i < mt_ctranslate2_count(file); i++) {
        const struct mt_ctranslate2_variable *v = mt_ctranslate2_at(file, i);
        double number;
        assert(v->n_elements <= size && mt_ctranslate2_find(file, v->name) == v);
        assert(mt_ctranslate2_scalar(v, &number) == (v->n_elements == 1));
        void *copy = malloc(v->n_elements * mt_dtype_bytes(mt_ctranslate2_copied_dtype(v)));
        if (mt_ctranslate2_copy(file, v, 0, v->rank ? v->shape[0] : 1, copy, &err))
            assert(err.message[0]);
        free(copy);
    }
    mt_ctranslate2_close(file);
    return 0;
}
