#include "weights/ctranslate2.h"

#include "base/arena.h"
#include "base/size.h"
#include "base/text.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_VERSION 6
#define VERSION_WITH_SPEC 2
#define VERSION_WITH_ALIASES 3
#define VERSION_WITH_TYPES 4
#define REVISION_OF_OPENNMT_TF_NAMES 1
/* Quantize::global_int16_scale, which files before version 2 do not contain. */
#define DEFAULT_INT16_SCALE 1000.0f

/* A name and its variable; sorted by name. */
struct entry {
    const char *name;
    const struct mt_ctranslate2_variable *variable;
};

struct mt_ctranslate2 {
    const char *path, *spec;
    unsigned version, revision;
    struct mt_arena *arena;
    struct mt_ctranslate2_variable *variables;
    size_t n_variables;
    struct entry *entries; /* the variables, then the aliases; sorted */
    size_t n_entries;
};

/* --- Reading the file's bytes in order --- */

struct reader {
    struct mt_ctranslate2 *file;
    const unsigned char *bytes;
    size_t length, at;
    struct mt_error *err;
};

static enum mt_status fail(const struct reader *r, const char *why)
{
    return mt_fail(r->err, MT_FORMAT, "%s: not a model.bin of CTranslate2: %s (at byte %zu)",
                   r->file->path, why, r->at);
}

static enum mt_status take(struct reader *r, size_t n, const unsigned char **out)
{
    if (n > r->length - r->at)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: not a model.bin of CTranslate2: expected %zu bytes at byte %zu, found "
                       "%zu",
                       r->file->path, n, r->at, r->length - r->at);
    *out = r->bytes + r->at;
    r->at += n;
    return MT_OK;
}

static enum mt_status take_u8(struct reader *r, unsigned *out)
{
    const unsigned char *bytes = NULL;
    enum mt_status status = take(r, 1, &bytes);
    if (!status)
        *out = bytes[0];
    return status;
}

static enum mt_status take_u32(struct reader *r, uint32_t *out)
{
    const unsigned char *bytes = NULL;
    enum mt_status status = take(r, sizeof *out, &bytes);
    if (!status) {
        memcpy(out, bytes, sizeof *out);
        *out = le32toh(*out);
    }
    return status;
}

/* Returns a pointer into the file, where strings end with a NUL. */
static enum mt_status take_string(struct reader *r, const char **out)
{
    const unsigned char *bytes = NULL;
    uint16_t length;
    enum mt_status status = take(r, sizeof length, &bytes);
    if (status)
        return status;
    memcpy(&length, bytes, sizeof length);
    length = le16toh(length);
    if (length > MT_CTRANSLATE2_MAX_NAME_BYTES)
        return mt_fail(r->err, MT_LIMIT, "%s: a name of %u bytes, expected at most %d",
                       r->file->path, (unsigned)length, MT_CTRANSLATE2_MAX_NAME_BYTES);
    status = take(r, length, &bytes);
    if (status)
        return status;
    if (length == 0 || memchr(bytes, '\0', length) != bytes + length - 1)
        return fail(r, "a name does not end where it should");
    const char *text = (const char *)bytes;
    bool is_text = mt_utf8_valid_prefix(text, length - 1u) == length - 1u;
    for (size_t i = 0; i + 1 < length && is_text; i++)
        is_text = bytes[i] >= ' ';
    if (!is_text)
        return fail(r, "a name is not text");
    *out = text;
    return MT_OK;
}

static enum mt_status take_count(struct reader *r, const char *what, size_t *out)
{
    uint32_t n = 0;
    enum mt_status status = take_u32(r, &n);
    if (status)
        return status;
    if (n > MT_CTRANSLATE2_MAX_VARIABLES)
        return mt_fail(r->err, MT_LIMIT, "%s: %" PRIu32 " %s, expected at most %d", r->file->path,
                       n, what, MT_CTRANSLATE2_MAX_VARIABLES);
    *out = n;
    return MT_OK;
}

/* --- Names of OpenNMT-tf --- */

/* Replaces the first `from` in text, which has room for that. */
static void replace(char *text, const char *from, const char *to)
{
    char *found = strstr(text, from);
    if (!found)
        return;
    size_t n_from = strlen(from), n_to = strlen(to);
    memmove(found + n_to, found + n_from, strlen(found + n_from) + 1);
    memcpy(found, to, n_to);
}

static enum mt_status rename_first_revision(struct reader *r, const char **name)
{
    static const char *const rows[][2] = {
        {"transformer/", ""},
        {":0", ""},
        {"w_embs", "embeddings/weight"},
        {"kernel", "weight"},
        {"LayerNorm", "layer_norm"},
        {"dense", "projection"},
        {"conv1d_", "linear_"},
        {"conv1d", "linear_0"},
    };
    char text[2 * MT_CTRANSLATE2_MAX_NAME_BYTES];
    snprintf(text, sizeof text, "%s", *name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        replace(text, rows[i][0], rows[i][1]);
    if (strstr(text, "encoder")) {
        replace(text, "multi_head", "self_attention");
    } else {
        replace(text, "masked_multi_head", "self_attention");
        replace(text, "multi_head", "attention");
    }
    return mt_arena_copy_string(r->file->arena, text, strlen(text), name, r->err);
}

/* --- Variables --- */

static enum mt_status take_type(struct reader *r, const char *name, enum mt_dtype *out)
{
    static const enum mt_dtype types[] = {MT_F32, MT_I8, MT_I16, MT_I32, MT_F16, MT_BF16};
    unsigned byte = 0;
    enum mt_status status = take_u8(r, &byte);
    if (status)
        return status;
    if (r->file->version >= VERSION_WITH_TYPES) {
        if (byte >= sizeof types / sizeof *types)
            return mt_fail(r->err, MT_UNSUPPORTED,
                           "%s: variable \"%s\" is of type %u, expected 0 to 5", r->file->path,
                           name, byte);
        *out = types[byte];
        return MT_OK;
    }
    if (byte != 1 && byte != 2 && byte != 4)
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: variable \"%s\" has numbers of %u bytes, expected 1, 2 or 4",
                       r->file->path, name, byte);
    *out = byte == 1 ? MT_I8 : byte == 2 ? MT_I16 : MT_F32;
    return MT_OK;
}

static enum mt_status take_sizes(struct reader *r, struct mt_ctranslate2_variable *v)
{
    unsigned rank = 0;
    enum mt_status status = take_u8(r, &rank);
    if (status)
        return status;
    if (rank > MT_CTRANSLATE2_MAX_RANK)
        return mt_fail(r->err, MT_LIMIT,
                       "%s: variable \"%s\" has %u dimensions, expected at most %d", r->file->path,
                       v->name, rank, MT_CTRANSLATE2_MAX_RANK);
    v->rank = rank;
    v->n_elements = 1;
    for (size_t i = 0; i < rank && !status; i++) {
        uint32_t size = 0;
        status = take_u32(r, &size);
        v->shape[i] = size;
        if (!status && (!size || !mt_size_mul(v->n_elements, size, &v->n_elements)))
            status = mt_fail(r->err, MT_FORMAT, "%s: variable \"%s\": its sizes %s", r->file->path,
                             v->name, size ? "overflow" : "are 0");
    }
    return status;
}

static enum mt_status take_variable(struct reader *r, struct mt_ctranslate2_variable *v)
{
    uint32_t stored = 0;
    size_t n_bytes = 0;
    enum mt_status status = take_string(r, &v->name);
    if (!status && r->file->revision == REVISION_OF_OPENNMT_TF_NAMES)
        status = rename_first_revision(r, &v->name);
    if (!status)
        status = take_sizes(r, v);
    if (!status)
        status = take_type(r, v->name, &v->dtype);
    if (!status)
        status = take_u32(r, &stored);
    if (status)
        return status;
    bool fits = mt_size_mul(v->n_elements, mt_dtype_bytes(v->dtype), &n_bytes);
    size_t expected = r->file->version >= VERSION_WITH_TYPES ? n_bytes : v->n_elements;
    if (!fits || stored != expected)
        return mt_fail(r->err, MT_FORMAT, "%s: variable \"%s\" says %" PRIu32 " %s, its sizes %zu",
                       r->file->path, v->name, stored,
                       r->file->version >= VERSION_WITH_TYPES ? "bytes" : "numbers", expected);
    return take(r, n_bytes, &v->bytes);
}

/* Allocates memory for the variables that the file announces, and that fit into it. */
static enum mt_status take_variables(struct reader *r)
{
    enum { LEAST_BYTES = 2 + 1 + 1 + 1 + 4 };
    struct mt_ctranslate2 *file = r->file;
    size_t n = 0;
    void *memory = NULL;
    enum mt_status status = take_count(r, "variables", &n);
    if (status)
        return status;
    if (!n && file->version == 1)
        return fail(r, "it has no variables; Marian's own .bin files begin so");
    if (n > (r->length - r->at) / LEAST_BYTES)
        return fail(r, "it is shorter than its variables");
    status = mt_arena_take(file->arena, n, sizeof *file->variables, "variables", &memory, r->err);
    if (status)
        return status;
    file->variables = memory;
    for (; file->n_variables < n && !status; file->n_variables += !status)
        status = take_variable(r, &file->variables[file->n_variables]);
    return status;
}

/* --- Names, aliases and scales --- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static enum mt_status sort_entries(struct reader *r)
{
    struct mt_ctranslate2 *file = r->file;
    qsort(file->entries, file->n_entries, sizeof *file->entries, compare_entries);
    for (size_t i = 1; i < file->n_entries; i++)
        if (!strcmp(file->entries[i - 1].name, file->entries[i].name))
            return mt_fail(r->err, MT_FORMAT, "%s: two variables \"%s\"", file->path,
                           file->entries[i].name);
    return MT_OK;
}

/* Appends the aliases to the entries without sorting: an alias names a variable, not another
 * alias. */
static enum mt_status take_aliases(struct reader *r, size_t n)
{
    struct mt_ctranslate2 *file = r->file;
    size_t n_named = file->n_entries;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++) {
        struct entry alias = {0};
        const char *name = NULL;
        status = take_string(r, &alias.name);
        if (!status)
            status = take_string(r, &name);
        if (status)
            break;
        file->n_entries = n_named;
        alias.variable = mt_ctranslate2_find(file, name);
        file->n_entries = n_named + i;
        if (!alias.variable)
            return mt_fail(r->err, MT_FORMAT,
                           "%s: \"%s\" is another name of \"%s\", which is not there", file->path,
                           alias.name, name);
        file->entries[file->n_entries++] = alias;
    }
    return status;
}

static enum mt_status index_names(struct reader *r)
{
    struct mt_ctranslate2 *file = r->file;
    size_t n_aliases = 0;
    void *memory = NULL;
    enum mt_status status = MT_OK;
    if (file->version >= VERSION_WITH_ALIASES)
        status = take_count(r, "aliases", &n_aliases);
    if (!status)
        status = mt_arena_take(file->arena, file->n_variables + n_aliases, sizeof *file->entries,
                               "names", &memory, r->err);
    if (status)
        return status;
    file->entries = memory;
    for (size_t i = 0; i < file->n_variables; i++)
        file->entries[file->n_entries++] =
            (struct entry){.name = file->variables[i].name, .variable = &file->variables[i]};
    status = sort_entries(r);
    if (!status)
        status = take_aliases(r, n_aliases);
    if (!status)
        status = sort_entries(r);
    return status;
}

static enum mt_status find_scales(struct reader *r)
{
    struct mt_ctranslate2 *file = r->file;
    for (size_t i = 0; i < file->n_variables; i++) {
        struct mt_ctranslate2_variable *v = &file->variables[i];
        char name[2 * MT_CTRANSLATE2_MAX_NAME_BYTES + 16];
        if (v->dtype != MT_I8 && v->dtype != MT_I16)
            continue;
        snprintf(name, sizeof name, "%s_scale", v->name);
        const struct mt_ctranslate2_variable *scale = mt_ctranslate2_find(file, name);
        if (!scale)
            continue;
        size_t n_rows = v->rank ? v->shape[0] : 1;
        if (scale->dtype != MT_F32 || (scale->n_elements != 1 && scale->n_elements != n_rows))
            return mt_fail(
                r->err, MT_FORMAT, "%s: \"%s\": expected one scale or %zu in F32, found %zu in %s",
                file->path, scale->name, n_rows, scale->n_elements, mt_dtype_name(scale->dtype));
        v->scale = scale;
    }
    return MT_OK;
}

/* --- The whole file --- */

static enum mt_status take_head(struct reader *r)
{
    struct mt_ctranslate2 *file = r->file;
    uint32_t version = 0, revision = REVISION_OF_OPENNMT_TF_NAMES;
    enum mt_status status = take_u32(r, &version);
    if (!status && (version < 1 || version > NEWEST_VERSION))
        status = mt_fail(r->err, MT_UNSUPPORTED,
                         "%s: binary version %" PRIu32 ", expected 1 to %d: not a model.bin of "
                         "CTranslate2, or a newer one",
                         file->path, version, NEWEST_VERSION);
    if (!status && version >= VERSION_WITH_SPEC)
        status = take_string(r, &file->spec);
    if (!status && version >= VERSION_WITH_SPEC)
        status = take_u32(r, &revision);
    file->version = version;
    file->revision = revision;
    return status;
}

enum mt_status mt_ctranslate2_open(const unsigned char *bytes, size_t length, const char *path,
                                   struct mt_ctranslate2 **out, struct mt_error *err)
{
    struct mt_ctranslate2 *file = calloc(1, sizeof *file);
    if (!file)
        return mt_fail_memory(err, sizeof *file, path);
    struct reader r = {.file = file, .bytes = bytes, .length = length, .err = err};
    file->spec = "";
    enum mt_status status = mt_arena_create(0, &file->arena, err);
    if (!status)
        status = mt_arena_copy_string(file->arena, path, strlen(path), &file->path, err);
    if (!status)
        status = take_head(&r);
    if (!status)
        status = take_variables(&r);
    if (!status)
        status = index_names(&r);
    if (!status && r.at != length)
        status = mt_fail(err, MT_FORMAT, "%s: %zu bytes behind its end", path, length - r.at);
    if (!status)
        status = find_scales(&r);
    if (status) {
        mt_ctranslate2_close(file);
        return status;
    }
    *out = file;
    return MT_OK;
}

void mt_ctranslate2_close(struct mt_ctranslate2 *file)
{
    if (!file)
        return;
    mt_arena_destroy(file->arena);
    free(file);
}

const char *mt_ctranslate2_path(const struct mt_ctranslate2 *file)
{
    return file->path;
}

unsigned mt_ctranslate2_version(const struct mt_ctranslate2 *file)
{
    return file->version;
}

const char *mt_ctranslate2_spec(const struct mt_ctranslate2 *file)
{
    return file->spec;
}

unsigned mt_ctranslate2_revision(const struct mt_ctranslate2 *file)
{
    return file->revision;
}

size_t mt_ctranslate2_count(const struct mt_ctranslate2 *file)
{
    return file->n_variables;
}

const struct mt_ctranslate2_variable *mt_ctranslate2_at(const struct mt_ctranslate2 *file,
                                                        size_t index)
{
    return index < file->n_variables ? &file->variables[index] : NULL;
}

const struct mt_ctranslate2_variable *mt_ctranslate2_find(const struct mt_ctranslate2 *file,
                                                          const char *name)
{
    const struct entry key = {.name = name};
    const struct entry *found =
        bsearch(&key, file->entries, file->n_entries, sizeof *file->entries, compare_entries);
    return found ? found->variable : NULL;
}

/* --- Numbers --- */

static float f32_at(const struct mt_ctranslate2_variable *variable, size_t index)
{
    float number;
    mt_widen_f32(MT_F32, variable->bytes + index * sizeof number, 1, &number);
    return number;
}

static int16_t i16_at(const unsigned char *bytes, size_t index)
{
    uint16_t number;
    memcpy(&number, bytes + index * sizeof number, sizeof number);
    return (int16_t)le16toh(number);
}

bool mt_ctranslate2_scalar(const struct mt_ctranslate2_variable *variable, double *out)
{
    uint32_t integer;
    float number;
    if (variable->n_elements != 1)
        return false;
    switch (variable->dtype) {
    case MT_I8:
        *out = (int8_t)variable->bytes[0];
        return true;
    case MT_I16:
        *out = i16_at(variable->bytes, 0);
        return true;
    case MT_I32:
        memcpy(&integer, variable->bytes, sizeof integer);
        *out = (int32_t)le32toh(integer);
        return true;
    default:
        mt_widen_f32(variable->dtype, variable->bytes, 1, &number);
        *out = (double)number;
        return true;
    }
}

static bool is_quantized(const struct mt_ctranslate2_variable *variable)
{
    return variable->dtype == MT_I8 || variable->dtype == MT_I16;
}

enum mt_dtype mt_ctranslate2_copied_dtype(const struct mt_ctranslate2_variable *variable)
{
    return is_quantized(variable) ? MT_F32 : variable->dtype;
}

static enum mt_status scale_of_row(const struct mt_ctranslate2 *file,
                                   const struct mt_ctranslate2_variable *variable, size_t row,
                                   float *out, struct mt_error *err)
{
    const struct mt_ctranslate2_variable *scale = variable->scale;
    if (!scale && variable->dtype == MT_I8)
        return mt_fail(err, MT_FORMAT, "%s: \"%s\" is in int8: expected \"%s_scale\", found none",
                       file->path, variable->name, variable->name);
    float value = DEFAULT_INT16_SCALE;
    if (scale)
        value = f32_at(scale, scale->n_elements == 1 ? 0 : row);
    /* Its inverse has to be finite, too. */
    if (!(value > 0) || !isnormal(value))
        return mt_fail(err, MT_FORMAT, "%s: \"%s_scale\": expected positive numbers, found %g",
                       file->path, variable->name, (double)value);
    *out = value;
    return MT_OK;
}

enum mt_status mt_ctranslate2_copy(const struct mt_ctranslate2 *file,
                                   const struct mt_ctranslate2_variable *variable, size_t first,
                                   size_t n, void *out, struct mt_error *err)
{
    size_t n_rows = variable->rank ? variable->shape[0] : 1;
    assert(first <= n_rows && n <= n_rows - first);
    size_t n_columns = n_rows ? variable->n_elements / n_rows : 0;
    size_t row_bytes = n_columns * mt_dtype_bytes(variable->dtype);
    if (!is_quantized(variable)) {
        memcpy(out, variable->bytes + first * row_bytes, n * row_bytes);
        return MT_OK;
    }
    unsigned char *to = out;
    for (size_t row = first; row < first + n; row++) {
        const unsigned char *from = variable->bytes + row * row_bytes;
        float scale = 0;
        enum mt_status status = scale_of_row(file, variable, row, &scale, err);
        if (status)
            return status;
        for (size_t i = 0; i < n_columns; i++, to += sizeof(float))
            mt_store_f32(
                (float)(variable->dtype == MT_I8 ? (int8_t)from[i] : i16_at(from, i)) / scale, to);
    }
    return MT_OK;
}
