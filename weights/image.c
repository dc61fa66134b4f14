#include "weights/image.h"

#include "base/file.h"
#include "base/json.h"
#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DATA_ALIGNMENT 64
#define MAX_PLANNED 65536

struct mt_image {
    struct mt_text header; /* the JSON text; its object stays open until allocate */
    struct mt_json_writer writer;
    struct mt_text metadata;
    struct mt_json_writer metadata_writer;
    size_t *offsets; /* of each tensor, from the beginning of the data */
    size_t n_tensors, capacity;
    size_t data_bytes;
    unsigned char *bytes; /* the file */
    size_t data_start, n_bytes;
};

enum mt_status mt_image_create(struct mt_image **out, struct mt_error *err)
{
    struct mt_image *image = calloc(1, sizeof *image);
    if (!image)
        return mt_fail_memory(err, sizeof *image, "image");
    mt_json_writer_init(&image->writer, &image->header);
    mt_json_begin_object(&image->writer);
    mt_json_writer_init(&image->metadata_writer, &image->metadata);
    mt_json_begin_object(&image->metadata_writer);
    *out = image;
    return MT_OK;
}

void mt_image_destroy(struct mt_image *image)
{
    if (!image)
        return;
    mt_text_finish(&image->header);
    mt_text_finish(&image->metadata);
    if (image->bytes)
        munmap(image->bytes, image->n_bytes);
    free(image->offsets);
    free(image);
}

enum mt_status mt_image_add_metadata(struct mt_image *image, const char *key, const char *value,
                                     struct mt_error *err)
{
    mt_json_key(&image->metadata_writer, key);
    mt_json_string_z(&image->metadata_writer, value);
    return mt_text_check(&image->metadata, "image metadata", err);
}

static enum mt_status make_room(struct mt_image *image, struct mt_error *err)
{
    return MT_ROOM(&image->offsets, &image->capacity, image->n_tensors + 1, "image", err);
}

enum mt_status mt_image_add(struct mt_image *image, const char *name, enum mt_dtype dtype,
                            size_t rank, const size_t *shape, size_t *index, struct mt_error *err)
{
    assert(!image->bytes);
    size_t bytes = mt_dtype_bytes(dtype), end;
    bool fits = image->n_tensors < MAX_PLANNED;
    for (size_t i = 0; i < rank && fits; i++)
        fits = mt_size_mul(bytes, shape[i], &bytes);
    if (!fits || !mt_size_add(image->data_bytes, bytes, &end))
        return mt_fail(err, MT_LIMIT, "image: tensor \"%s\" is too large, or one of more than %d",
                       name, MAX_PLANNED);
    enum mt_status status = make_room(image, err);
    if (status)
        return status;
    struct mt_json_writer *w = &image->writer;
    mt_json_key(w, name);
    mt_json_begin_object(w);
    mt_json_key(w, "dtype");
    mt_json_string_z(w, mt_dtype_name(dtype));
    mt_json_key(w, "shape");
    mt_json_begin_array(w);
    for (size_t i = 0; i < rank; i++)
        mt_json_integer(w, (int64_t)shape[i]);
    mt_json_end_array(w);
    mt_json_key(w, "data_offsets");
    mt_json_begin_array(w);
    mt_json_integer(w, (int64_t)image->data_bytes);
    mt_json_integer(w, (int64_t)end);
    mt_json_end_array(w);
    mt_json_end_object(w);
    image->offsets[image->n_tensors] = image->data_bytes;
    image->data_bytes = end;
    *index = image->n_tensors++;
    return mt_text_check(&image->header, "image header", err);
}

/* The header is padded with blanks, so that the data start on a cache line. */
static enum mt_status close_header(struct mt_image *image, struct mt_error *err)
{
    mt_json_end_object(&image->metadata_writer);
    struct mt_json_writer *w = &image->writer;
    mt_json_key(w, "__metadata__");
    /* The writer uses the same buffer, so the finished object can be appended as the key's
     * value. */
    mt_text_append(&image->header, image->metadata.bytes, image->metadata.length);
    w->after_key = false;
    mt_json_end_object(w);
    size_t over = (sizeof(uint64_t) + image->header.length) % DATA_ALIGNMENT;
    for (size_t i = over; i > 0 && i < DATA_ALIGNMENT; i++)
        mt_text_append(&image->header, " ", 1);
    enum mt_status status = mt_text_check(&image->metadata, "image metadata", err);
    return status ? status : mt_text_check(&image->header, "image header", err);
}

enum mt_status mt_image_allocate(struct mt_image *image, struct mt_error *err)
{
    enum mt_status status = close_header(image, err);
    if (status)
        return status;
    uint64_t header_bytes = htole64(image->header.length);
    image->data_start = sizeof header_bytes + image->header.length;
    if (!mt_size_add(image->data_start, image->data_bytes, &image->n_bytes))
        return mt_fail(err, MT_LIMIT, "image: %zu bytes of tensors overflow the address space",
                       image->data_bytes);
    void *bytes =
        mmap(NULL, image->n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return mt_fail_memory(err, image->n_bytes, "image");
    image->bytes = bytes;
    memcpy(image->bytes, &header_bytes, sizeof header_bytes);
    memcpy(image->bytes + sizeof header_bytes, image->header.bytes, image->header.length);
    return MT_OK;
}

void *mt_image_data(struct mt_image *image, size_t index)
{
    assert(image->bytes && index < image->n_tensors);
    return image->bytes + image->data_start + image->offsets[index];
}

const void *mt_image_bytes(const struct mt_image *image, size_t *length)
{
    *length = image->n_bytes;
    return image->bytes;
}

enum mt_status mt_image_write(const struct mt_image *image, const char *path, struct mt_error *err)
{
    return mt_file_write(path, image->bytes, image->n_bytes, err);
}
