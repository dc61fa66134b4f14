#include "weights/shards.h"

#include "base/json.h"
#include "base/json_reader.h"

#include <stdlib.h>
#include <string.h>

struct index {
    const char *path;
    const char *bytes;
    char *own_bytes; /* if they were read from the path */
    size_t length;
    struct mt_error *err;
};

/* Called for each pair of the weight_map. */
typedef enum mt_status visit_entry(void *context, const struct index *index, const char *tensor,
                                   const char *file);

static enum mt_status index_check(const struct index *index)
{
    static const struct mt_json_limits limits = {.max_depth = 8,
                                                 .max_values = 3 * MT_SAFETENSORS_MAX_TENSORS};
    return mt_json_check(index->bytes, index->length, &limits, index->path, index->err);
}

static enum mt_status index_read(struct index *index)
{
    enum mt_status status = mt_file_read(index->path, MT_SHARDS_MAX_INDEX_BYTES, &index->own_bytes,
                                         &index->length, index->err);
    index->bytes = index->own_bytes;
    return status ? status : index_check(index);
}

/* Copies text that is at most capacity - 1 bytes long and has no NUL. */
static bool copy_text(struct mt_json_span span, char *out, size_t capacity)
{
    if (span.length > 6 * (capacity - 1)) /* \u0061 has six bytes for one character */
        return false;
    char unescaped[6 * MT_SAFETENSORS_MAX_NAME_BYTES];
    size_t length = mt_json_span_unescape(span, unescaped);
    if (length >= capacity)
        return false;
    memcpy(out, unescaped, length);
    out[length] = '\0';
    return true;
}

/* Whether the name is the name of a file in the index's own directory. */
static bool is_plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static enum mt_status visit_map(struct mt_json_reader *reader, const struct index *index,
                                visit_entry *visit, void *context)
{
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        char tensor[MT_SAFETENSORS_MAX_NAME_BYTES + 1], file[MT_SHARDS_MAX_NAME_BYTES + 1];
        struct mt_json_span key = mt_json_reader_string(reader);
        if (!copy_text(key, tensor, sizeof tensor))
            return mt_fail(index->err, MT_LIMIT,
                           "%s: a tensor's name has more than %d bytes: \"%.40s...\"", index->path,
                           MT_SAFETENSORS_MAX_NAME_BYTES, key.bytes);
        if (mt_json_reader_peek(reader) != '"') {
            struct mt_json_span seen = mt_json_reader_excerpt(reader);
            return mt_fail(index->err, MT_FORMAT, "%s: \"%s\" is %.*s, expected the name of a file",
                           index->path, tensor, (int)seen.length, seen.bytes);
        }
        struct mt_json_span value = mt_json_reader_string(reader);
        if (!copy_text(value, file, sizeof file) || !is_plain_name(file))
            return mt_fail(index->err, MT_FORMAT,
                           "%s: \"%s\" is in \"%.*s\", expected a file of the same directory",
                           index->path, tensor, (int)(value.length < 80 ? value.length : 80),
                           value.bytes);
        enum mt_status status = visit(context, index, tensor, file);
        if (status)
            return status;
    }
    return MT_OK;
}

static enum mt_status visit_entries(const struct index *index, visit_entry *visit, void *context)
{
    struct mt_json_reader reader;
    mt_json_reader_init(&reader, index->bytes, index->length);
    if (mt_json_reader_peek(&reader) != '{')
        return mt_fail(index->err, MT_FORMAT, "%s: expected an object", index->path);
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span key = mt_json_reader_string(&reader);
        if (mt_json_span_equals(key, "weight_map") && mt_json_reader_peek(&reader) == '{')
            return visit_map(&reader, index, visit, context);
        mt_json_reader_skip(&reader);
    }
    return mt_fail(index->err, MT_FORMAT, "%s: expected a \"weight_map\" of tensors and files",
                   index->path);
}

static enum mt_status add_file(void *context, const struct index *index, const char *tensor,
                               const char *file)
{
    struct mt_shard_list *list = context;
    (void)tensor;
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->names[i], file))
            return MT_OK;
    if (list->n == MT_SHARDS_MAX_FILES)
        return mt_fail(index->err, MT_LIMIT, "%s: more than %d files", index->path,
                       MT_SHARDS_MAX_FILES);
    memcpy(list->names[list->n++], file, strlen(file) + 1);
    return MT_OK;
}

static enum mt_status list_files(const struct index *index, struct mt_shard_list *list)
{
    size_t bytes = MT_SHARDS_MAX_FILES * sizeof *list->names;
    *list = (struct mt_shard_list){.names = malloc(bytes)};
    if (!list->names)
        return mt_fail_memory(index->err, bytes, "names of files");
    enum mt_status status = visit_entries(index, add_file, list);
    if (!status && list->n == 0)
        status = mt_fail(index->err, MT_FORMAT, "%s: the \"weight_map\" is empty", index->path);
    if (status)
        mt_shard_list_finish(list);
    return status;
}

enum mt_status mt_shards_list(const char *index_path, struct mt_shard_list *out,
                              struct mt_error *err)
{
    struct index index = {.path = index_path, .err = err};
    enum mt_status status = index_read(&index);
    if (!status)
        status = list_files(&index, out);
    free(index.own_bytes);
    return status;
}

enum mt_status mt_shards_list_memory(const char *bytes, size_t length, const char *path,
                                     struct mt_shard_list *out, struct mt_error *err)
{
    const struct index index = {.path = path, .bytes = bytes, .length = length, .err = err};
    enum mt_status status = index_check(&index);
    return status ? status : list_files(&index, out);
}

void mt_shard_list_finish(struct mt_shard_list *list)
{
    free(list->names);
    *list = (struct mt_shard_list){0};
}

struct opening {
    struct mt_shard_list list;
    struct mt_safetensors *parts[MT_SHARDS_MAX_FILES];
};

static enum mt_status check_tensor(void *context, const struct index *index, const char *tensor,
                                   const char *file)
{
    const struct opening *opening = context;
    size_t i = 0;
    while (strcmp(opening->list.names[i], file) != 0)
        i++;
    if (!mt_safetensors_find(opening->parts[i], tensor))
        return mt_fail(index->err, MT_FORMAT, "%s: expected tensor \"%s\" in %s, found none",
                       index->path, tensor, file);
    return MT_OK;
}

/* Opens index_path with its last component replaced by name. */
static enum mt_status open_part(const char *index_path, const char *name, enum mt_load_mode mode,
                                struct mt_safetensors **out, struct mt_error *err)
{
    const char *slash = strrchr(index_path, '/');
    char *directory = slash ? strndup(index_path, (size_t)(slash - index_path) + 1) : strdup("."),
         *path = NULL;
    if (!directory)
        return mt_fail_memory(err, strlen(index_path) + 1, "path");
    enum mt_status status = mt_path_join(directory, name, &path, err);
    if (!status)
        status = mt_safetensors_load(path, mode, out, err);
    free(directory);
    free(path);
    return status;
}

enum mt_status mt_shards_open(const char *index_path, enum mt_load_mode mode,
                              struct mt_safetensors **out, struct mt_error *err)
{
    struct index index = {.path = index_path, .err = err};
    struct opening opening = {0};
    enum mt_status status = index_read(&index);
    if (!status)
        status = list_files(&index, &opening.list);
    size_t n = 0;
    for (; n < opening.list.n && !status; n += !status)
        status = open_part(index_path, opening.list.names[n], mode, &opening.parts[n], err);
    if (!status)
        status = visit_entries(&index, check_tensor, &opening);
    if (!status) {
        status = mt_safetensors_join(opening.parts, n, index_path, out, err);
        n = 0; /* the joined file owns them now */
    }
    for (size_t i = 0; i < n; i++)
        mt_safetensors_close(opening.parts[i]);
    mt_shard_list_finish(&opening.list);
    free(index.own_bytes);
    return status;
}
