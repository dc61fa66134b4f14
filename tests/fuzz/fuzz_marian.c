/*
 * Feeds bytes to the reader of Marian's settings and vocabularies: the part before the first byte 0
 * is decoder.yml, the next special:model.yml, the rest vocab.yml; where the first is empty, the
 * directory is as Firefox's are: a binary model, and the rest is vocab.enfr.spm. What describe makes of them must
 * be documents that our own readers take apart without harm, if not always with success.
 */
#include "model/families/marian.h"

#include "model/tokenizer/vocab.h"
#include "tests/fuzz/archive.h"
#include "weights/image.h"
#include "weights/safetensors.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The magic, the version, and the header's length. */
#define NPY_BYTES 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An archive of one array, which the caller frees. */
static uint8_t *make_npz(const uint8_t *text, size_t length, size_t *out_length)
{
    struct archive_part part = {.name = "special:model.yml.npy"};
    char header[128];
    int n = snprintf(header, sizeof header,
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (%zu,), }\n", length);
    uint8_t *array = malloc(NPY_BYTES + (size_t)n + length);
    assert(array);
    memcpy(array, "\x93NUMPY\x01\0", 8);
    array[8] = (uint8_t)n;
    array[9] = 0;
    memcpy(array + NPY_BYTES, header, (size_t)n);
    if (length)
        memcpy(array + NPY_BYTES + n, text, length);
    part.bytes = array;
    part.length = part.unpacked_length = NPY_BYTES + (size_t)n + length;
    *out_length = archive_length(&part, 1);
    uint8_t *npz = malloc(*out_length);
    assert(npz);
    archive_write(&part, 1, npz);
    free(array);
    return npz;
}

static void put_u64(uint8_t *to, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* A binary file of one item, which the caller frees. */
static uint8_t *make_bin(const uint8_t *text, size_t length, size_t *out_length)
{
    static const char name[] = "special:model.yml";
    const uint64_t begin[] = {1, 1, sizeof name, 0x101, 1, length};
    size_t n_begin = sizeof begin + sizeof name + 4 + 8;
    uint8_t *bin = calloc(1, n_begin + length);
    assert(bin);
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        put_u64(bin + 8 * i, begin[i]);
    memcpy(bin + sizeof begin, name, sizeof name);
    for (size_t i = 0; i < 4; i++)
        bin[sizeof begin + sizeof name + i] = (uint8_t)(length >> 8 * i);
    if (length)
        memcpy(bin + n_begin, text, length);
    *out_length = n_begin + length;
    return bin;
}

/* --- The folder --- */

static void add(struct mt_foreign_files *files, const char *name, const void *bytes, size_t length)
{
    files->list[files->n++] = (struct mt_foreign_file){
        .name = (char *)(uintptr_t)name,
        .path = (char *)(uintptr_t)name,
        .mapping = {.bytes = length ? bytes : NULL, .length = length},
    };
}

static size_t cut(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    return end ? (size_t)(end - data) : size;
}

static void check_documents(const struct mt_image *image)
{
    struct mt_safetensors *file;
    struct mt_error err = {0};
    size_t length;
    const void *bytes = mt_image_bytes(image, &length);
    enum mt_status status = mt_safetensors_open_memory(bytes, length, "fuzz", &file, &err);
    assert(!status);
    const struct mt_tensor *text = mt_safetensors_find(file, "vocab.json");
    struct mt_vocab *vocab = NULL;
    assert(text && mt_safetensors_find(file, "config.json"));
    if (mt_vocab_parse(text->data, text->n_bytes, "vocab.json", &vocab, &err) == MT_OK)
        mt_vocab_close(vocab);
    else
        assert(err.message[0]);
    mt_safetensors_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n_decoder = cut(data, size);
    const uint8_t *rest = data + n_decoder + (n_decoder < size);
    size_t n_rest = size - (size_t)(rest - data), n_model = cut(rest, n_rest);
    const uint8_t *vocab = rest + n_model + (n_model < n_rest);
    size_t length, n_vocab = n_rest - (size_t)(vocab - rest);
    uint8_t *model =
        n_decoder ? make_npz(rest, n_model, &length) : make_bin(rest, n_model, &length);
    struct mt_foreign_files files = {.directory = "fuzz"};
    if (n_decoder) {
        add(&files, "decoder.yml", data, n_decoder);
        add(&files, "model.npz", model, length);
        add(&files, "vocab.yml", vocab, n_vocab);
        add(&files, "source.spm", "x", 1);
        add(&files, "target.spm", "x", 1);
    } else {
        add(&files, "model.enfr.bin", model, length);
        add(&files, "vocab.enfr.spm", vocab, n_vocab);
        add(&files, "lex.bin", "x", 1);
    }
    struct mt_image *image = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_marian.describe(&files, &image, &err);
    assert(!status ? image != NULL : !image && err.message[0]);
    if (image)
        check_documents(image);
    mt_image_destroy(image);
    free(model);
    return 0;
}
