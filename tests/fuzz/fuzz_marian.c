/*
 * Feeds bytes to the reader of Marian's settings and vocabularies: the part before the first byte 0
 * is decoder.yml, the next special:model.yml, the rest vocab.yml. What describe makes of them must
 * be documents that our own readers take apart without harm, if not always with success.
 */
#include "model/marian.h"

#include "model/vocab.h"
#include "weights/image.h"
#include "weights/safetensors.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- A stored archive of one array --- */

static void put(unsigned char **at, uint32_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(*at)++ = (unsigned char)(value >> (8 * i));
}

static uint32_t crc_of(const unsigned char *bytes, size_t length)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static size_t write_npz(const uint8_t *text, size_t length, unsigned char *out)
{
    static const char name[] = "special:model.yml.npy";
    char header[128];
    unsigned char *at = out, *data;
    uint32_t name_length = sizeof name - 1;
    int n = snprintf(header, sizeof header,
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (%zu,), }\n", length);
    uint32_t n_bytes = 10 + (uint32_t)n + (uint32_t)length;
    put(&at, 0x04034b50, 4); /* local header */
    put(&at, 20, 2);
    put(&at, 0, 4); /* flags, method */
    put(&at, 0, 4); /* time, date */
    unsigned char *crc = at;
    put(&at, 0, 4);
    put(&at, n_bytes, 4);
    put(&at, n_bytes, 4);
    put(&at, name_length, 2);
    put(&at, 0, 2);
    memcpy(at, name, name_length);
    at += name_length;
    data = at;
    memcpy(at, "\x93NUMPY\x01\0", 8);
    at += 8;
    put(&at, (uint32_t)n, 2);
    memcpy(at, header, (size_t)n);
    at += n;
    if (length)
        memcpy(at, text, length);
    at += length;
    uint32_t sum = crc_of(data, n_bytes);
    put(&crc, sum, 4);
    uint32_t directory = (uint32_t)(at - out);
    put(&at, 0x02014b50, 4); /* central directory */
    put(&at, 20, 2);
    put(&at, 20, 2);
    put(&at, 0, 4);
    put(&at, 0, 4);
    put(&at, sum, 4);
    put(&at, n_bytes, 4);
    put(&at, n_bytes, 4);
    put(&at, name_length, 2);
    memset(at, 0, 16); /* extra, comment, disk, attributes, offset */
    at += 16;
    memcpy(at, name, name_length);
    at += name_length;
    uint32_t end = (uint32_t)(at - out);
    put(&at, 0x06054b50, 4);
    put(&at, 0, 4);
    put(&at, 1, 2);
    put(&at, 1, 2);
    put(&at, end - directory, 4);
    put(&at, directory, 4);
    put(&at, 0, 2);
    return (size_t)(at - out);
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
    assert(status == MT_OK);
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
    unsigned char *npz = malloc(n_model + 1024);
    if (!npz)
        return 0;
    struct mt_foreign_files files = {.directory = "fuzz"};
    add(&files, "decoder.yml", data, n_decoder);
    add(&files, "model.npz", npz, write_npz(rest, n_model, npz));
    add(&files, "vocab.yml", vocab, n_rest - (size_t)(vocab - rest));
    add(&files, "source.spm", "x", 1);
    add(&files, "target.spm", "x", 1);
    struct mt_image *image = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_marian.describe(&files, &image, &err);
    assert(status == MT_OK ? image != NULL : !image && err.message[0]);
    if (image)
        check_documents(image);
    mt_image_destroy(image);
    free(npz);
    return 0;
}
