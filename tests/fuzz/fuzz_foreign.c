/*
 * Feeds folders of other programs' models to their readers, whole: the input is a zip archive of
 * the folder's files. With a model.npz it is one of Marian's, with a model.bin one of
 * CTranslate2's, and else it is read as an Argos package that was not unpacked. What is made must
 * be safetensors files.
 */
#include "model/families/ctranslate2.h"
#include "model/families/marian.h"
#include "tests/fuzz/archive.h"
#include "weights/zip.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return archive_mutate(data, size, max_size, seed);
}

/* Each file in memory of its own, so that a byte behind its end is seen. */
static void unpack(const struct mt_zip *zip, struct mt_foreign_files *files)
{
    struct mt_error err;
    for (size_t i = 0; i < mt_zip_count(zip) && files->n < MT_FOREIGN_MAX_FILES; i++) {
        const struct mt_zip_entry *entry = mt_zip_at(zip, i);
        if (entry->unpacked_length > MOST_BYTES)
            continue;
        unsigned char *bytes = entry->unpacked_length ? malloc(entry->unpacked_length) : NULL;
        if (bytes && mt_zip_unpack(zip, entry, bytes, &err)) {
            free(bytes);
            continue;
        }
        files->list[files->n++] = (struct mt_foreign_file){
            .name = (char *)(uintptr_t)entry->name,
            .path = (char *)(uintptr_t)entry->name,
            .mapping = {.bytes = bytes, .length = entry->unpacked_length},
        };
    }
}

static void take(enum mt_status status, struct mt_image *image, const struct mt_error *err)
{
    struct mt_safetensors *file;
    struct mt_error again = {0};
    size_t length;
    if (status) {
        assert(!image && err->message[0]);
        return;
    }
    const void *bytes = mt_image_bytes(image, &length);
    if (mt_safetensors_open_memory(bytes, length, "made", &file, &again))
        abort();
    mt_safetensors_close(file);
    mt_image_destroy(image);
}

static void read_all(const struct mt_foreign *family, const struct mt_foreign_files *files)
{
    struct mt_image *image = NULL;
    struct mt_error err = {0};
    enum mt_status status = family->describe(files, &image, &err);
    take(status, image, &err);
    image = NULL;
    err = (struct mt_error){0};
    status = family->read(files, &image, &err);
    take(status, image, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_zip *zip = NULL;
    struct mt_error err = {0};
    struct mt_foreign_files files = {.directory = "fuzz"};
    if (mt_zip_open_deflated(data, size, "fuzz", &zip, &err))
        return 0;
    if (mt_zip_find(zip, "model.npz") || mt_zip_find(zip, "model.bin")) {
        unpack(zip, &files);
        read_all(mt_zip_find(zip, "model.npz") ? &mt_marian : &mt_foreign_ctranslate2, &files);
        for (size_t i = 0; i < files.n; i++)
            free((void *)(uintptr_t)files.list[i].mapping.bytes);
    } else {
        char name[] = "", path[] = "fuzz.argosmodel";
        files.list[files.n++] = (struct mt_foreign_file){
            .name = name, .path = path, .mapping = {.bytes = data, .length = size}};
        read_all(&mt_foreign_ctranslate2, &files);
    }
    mt_zip_close(zip);
    return 0;
}
