/* Feeds bytes to the reader of CTranslate2's model.bin, copies every number of what it takes, and
 * makes a MarianMT model of it. */
#include "model/families/ctranslate2_model.h"
#include "weights/safetensors.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy_all(const struct mt_ctranslate2 *file, size_t size)
{
    struct mt_error err = {0};
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
}

static void convert(const struct mt_ctranslate2 *file)
{
    struct mt_ctranslate2_model model = {0};
    struct mt_safetensors *made = NULL;
    struct mt_image *image = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_ctranslate2_model_read(file, &model, &err);
    if (!status)
        status = mt_ctranslate2_model_weights(&model, &image, &err);
    if (status) {
        assert(!image && err.message[0]);
        return;
    }
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    if (mt_safetensors_open_memory(bytes, length, "fuzz", &made, &err))
        abort();
    mt_safetensors_close(made);
    mt_image_destroy(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    if (mt_ctranslate2_open(data, size, "fuzz", &file, &err)) {
        assert(!file && err.message[0]);
        return 0;
    }
    copy_all(file, size);
    convert(file);
    mt_ctranslate2_close(file);
    return 0;
}
