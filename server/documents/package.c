#include "server/documents/package.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zip.h>

#define READ_BYTES 65536
/* Most bytes behind the zip, which programs that transfer a file may have added: a line end, or
 * zeros up to the end of a block. */
#define MAX_BEHIND 1024

struct mt_package {
    zip_t *zip;
    zip_source_t *source; /* owned by this struct as well as by the zip */
    size_t n;
};

static enum mt_status fail_zip(struct mt_error *err, zip_error_t *error, const char *what)
{
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return mt_fail_memory(err, 0, "a document");
    return mt_fail(err, MT_FORMAT, "%.100s: expected a zip, as documents are: %s", what,
                   zip_error_strerror(error));
}

/* ---- checks ---- */

static bool is_name_odd(const char *name)
{
    if (name[0] == '\0' || name[0] == '/' || strchr(name, '\\'))
        return true;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

static enum mt_status check_entry(struct mt_package *package, size_t index, uint64_t *n_compressed,
                                  struct mt_error *err)
{
    zip_stat_t stat;
    const zip_uint64_t needed =
        ZIP_STAT_NAME | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(package->zip, index, 0, &stat) || (stat.valid & needed) != needed)
        return mt_fail(err, MT_FORMAT, "entry %zu of the file's directory is damaged", index + 1);
    if (is_name_odd(stat.name))
        return mt_fail(
            err, MT_FORMAT,
            "entry \"%.100s\": expected a name without \"..\", \"\\\" and a leading \"/\"",
            stat.name);
    if (stat.encryption_method != ZIP_EM_NONE)
        return mt_fail(err, MT_FORMAT,
                       "entry \"%.100s\" is encrypted: expected a file without a password",
                       stat.name);
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
        return mt_fail(err, MT_FORMAT,
                       "entry \"%.100s\" has compression method %d, expected 0 (stored) or 8 "
                       "(deflated)",
                       stat.name, (int)stat.comp_method);
    /* It is read when the translated file is written. */
    if (zip_file_extra_fields_count(package->zip, index, ZIP_FL_LOCAL) < 0)
        return fail_zip(err, zip_get_error(package->zip), stat.name);
    *n_compressed += mt_size_min(stat.comp_size, SIZE_MAX / MT_PACKAGE_MAX_ENTRIES / 2);
    return MT_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static enum mt_status check_names(const struct mt_package *package, struct mt_error *err)
{
    const char **names = calloc(package->n + 1, sizeof *names);
    enum mt_status status = MT_OK;
    if (!names)
        return mt_fail_memory(err, package->n * sizeof *names, "a document");
    for (size_t i = 0; i < package->n; i++)
        names[i] = mt_package_name(package, i);
    qsort(names, package->n, sizeof *names, compare_names);
    for (size_t i = 1; i < package->n && !status; i++)
        if (strcasecmp(names[i - 1], names[i]) == 0)
            status =
                mt_fail(err, MT_FORMAT, "entry \"%.100s\" is there twice, expected once", names[i]);
    free(names);
    return status;
}

/* Finds the number of entries in the record at the end of the directory. What follows it has to be
 * its comment, except for at most n_behind bytes. Returns false where there is none. */
static bool find_count(const char *bytes, size_t length, size_t n_behind, unsigned *out)
{
    static const char signature[] = "PK\5\6";
    size_t shortest = 22, longest = shortest + 65535 + n_behind;
    for (size_t back = shortest; back <= longest && back <= length; back++) {
        const unsigned char *at = (const unsigned char *)bytes + length - back;
        size_t n_comment = memcmp(at, signature, 4) == 0 ? at[20] | (size_t)at[21] << 8 : SIZE_MAX;
        if (n_comment > back - shortest || back - shortest - n_comment > n_behind)
            continue;
        *out = at[10] | (unsigned)at[11] << 8;
        return true;
    }
    return false;
}

/* Checks the number of entries before libzip allocates something for each. */
static enum mt_status check_count(const char *bytes, size_t length, struct mt_error *err)
{
    unsigned n;
    if (!find_count(bytes, length, 0, &n) && !find_count(bytes, length, MAX_BEHIND, &n))
        return mt_fail(
            err, MT_FORMAT,
            "expected a zip, as documents are: the file is something else, or cut short");
    if (n > MT_PACKAGE_MAX_ENTRIES)
        return mt_fail(err, MT_LIMIT, "the file has %u entries, expected %d at most", n,
                       MT_PACKAGE_MAX_ENTRIES);
    return MT_OK;
}

static enum mt_status check(struct mt_package *package, size_t length, struct mt_error *err)
{
    uint64_t n_compressed = 0;
    enum mt_status status = MT_OK;
    zip_int64_t n = zip_get_num_entries(package->zip, 0);
    if (n > MT_PACKAGE_MAX_ENTRIES)
        return mt_fail(err, MT_LIMIT, "the file has %lld entries, expected %d at most",
                       (long long)n, MT_PACKAGE_MAX_ENTRIES);
    package->n = n > 0 ? (size_t)n : 0;
    for (size_t i = 0; i < package->n && !status; i++)
        status = check_entry(package, i, &n_compressed, err);
    if (!status && n_compressed > length)
        status = mt_fail(err, MT_FORMAT,
                         "the entries have %llu bytes and the file %zu: expected entries that do "
                         "not overlap",
                         (unsigned long long)n_compressed, length);
    return status ? status : check_names(package, err);
}

/* ---- reading ---- */

enum mt_status mt_package_open(const char *bytes, size_t length, struct mt_package **out,
                               struct mt_error *err)
{
    zip_error_t error;
    enum mt_status status = check_count(bytes, length, err);
    if (status)
        return status;
    struct mt_package *package = calloc(1, sizeof *package);
    if (!package)
        return mt_fail_memory(err, sizeof *package, "a document");
    /* libzip 1.7 frees bytes that it does not own when it writes a zip of which much stays. */
    char *own = malloc(length);
    if (!own) {
        mt_package_destroy(package);
        return mt_fail_memory(err, length, "a document");
    }
    memcpy(own, bytes, length);
    zip_error_init(&error);
    package->source = zip_source_buffer_create(own, length, 1, &error);
    if (!package->source)
        free(own);
    else
        package->zip = zip_open_from_source(package->source, 0, &error);
    if (package->zip)
        zip_source_keep(package->source);
    status = package->zip ? check(package, length, err) : fail_zip(err, &error, "the file");
    zip_error_fini(&error);
    if (status) {
        mt_package_destroy(package);
        return status;
    }
    *out = package;
    return MT_OK;
}

void mt_package_destroy(struct mt_package *package)
{
    if (!package)
        return;
    if (package->zip)
        zip_discard(package->zip);
    if (package->source)
        zip_source_free(package->source);
    free(package);
}

size_t mt_package_n_entries(const struct mt_package *package)
{
    return package->n;
}

const char *mt_package_name(const struct mt_package *package, size_t index)
{
    const char *name = zip_get_name(package->zip, index, 0);
    return name ? name : "";
}

enum mt_status mt_package_read(struct mt_package *package, size_t index, size_t max_length,
                               struct mt_text *out, struct mt_error *err)
{
    const char *name = mt_package_name(package, index);
    enum mt_status status = MT_OK;
    zip_int64_t n = 0;
    zip_file_t *file = zip_fopen_index(package->zip, index, 0);
    char *buffer = malloc(READ_BYTES);
    if (!buffer)
        status = mt_fail_memory(err, READ_BYTES, "a document");
    else if (!file)
        status = fail_zip(err, zip_get_error(package->zip), name);
    while (!status && (n = zip_fread(file, buffer, READ_BYTES)) > 0) {
        if ((size_t)n > max_length - mt_size_min(out->length, max_length))
            status = mt_fail(err, MT_LIMIT,
                             "entry \"%.100s\": the parts have more than %zu bytes together when "
                             "they are unpacked",
                             name, max_length);
        else
            mt_text_append(out, buffer, (size_t)n);
    }
    if (!status && n < 0)
        status = fail_zip(err, zip_file_get_error(file), name);
    if (file)
        (void)zip_fclose(file);
    free(buffer);
    return status ? status : mt_text_check(out, "a document", err);
}

/* ---- writing ---- */

enum mt_status mt_package_replace(struct mt_package *package, size_t index, const char *bytes,
                                  size_t length, struct mt_error *err)
{
    zip_stat_t stat;
    zip_source_t *source = zip_source_buffer(package->zip, bytes, length, 0);
    if (!source)
        return fail_zip(err, zip_get_error(package->zip), mt_package_name(package, index));
    if (zip_stat_index(package->zip, index, 0, &stat) ||
        zip_file_replace(package->zip, index, source, 0)) {
        zip_source_free(source);
        return fail_zip(err, zip_get_error(package->zip), mt_package_name(package, index));
    }
    bool is_set = !zip_set_file_compression(package->zip, index, stat.comp_method, 0);
    if (is_set && stat.valid & ZIP_STAT_MTIME)
        is_set = !zip_file_set_mtime(package->zip, index, stat.mtime, 0);
    return is_set ? MT_OK
                  : fail_zip(err, zip_get_error(package->zip), mt_package_name(package, index));
}

static enum mt_status copy_source(zip_source_t *source, struct mt_text *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    zip_int64_t n = 0;
    char *buffer = malloc(READ_BYTES);
    if (!buffer)
        return mt_fail_memory(err, READ_BYTES, "a document");
    if (zip_source_open(source)) {
        status = fail_zip(err, zip_source_error(source), "the translated file");
    } else {
        while ((n = zip_source_read(source, buffer, READ_BYTES)) > 0)
            mt_text_append(out, buffer, (size_t)n);
        if (n < 0)
            status = fail_zip(err, zip_source_error(source), "the translated file");
        (void)zip_source_close(source);
    }
    free(buffer);
    return status ? status : mt_text_check(out, "a translated file", err);
}

enum mt_status mt_package_write(struct mt_package *package, struct mt_text *out,
                                struct mt_error *err)
{
    if (zip_close(package->zip))
        return fail_zip(err, zip_get_error(package->zip), "the translated file");
    package->zip = NULL;
    return copy_source(package->source, out, err);
}
