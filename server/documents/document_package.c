/*
 * Documents that are a zip of parts (package.h).
 */
#include "server/documents/document_confined.h"
#include "server/documents/package.h"
#include "server/documents/xml_elements.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Most bytes of all parts together, unpacked: two books of 1,000 pages. A file that is made to use
 * memory can then use 250 MiB, which memory_plan.c allows for. */
#define MAX_PARTS_BYTES ((size_t)32 << 20)

static enum mt_status check_part(const char *bytes, size_t length, struct mt_error *err)
{
    if (!bytes) /* an empty part */
        return MT_OK;
    const struct mt_range encoding = mt_xml_find_encoding(bytes, length);
    const char *name = bytes + encoding.begin;
    size_t n = encoding.end - encoding.begin;
    if (mt_utf8_valid_prefix(bytes, length) < length || memchr(bytes, '\0', length))
        return mt_fail(err, MT_FORMAT, "the part is no UTF-8, expected UTF-8");
    if (n > 0 && !mt_encoding_is_utf8(name, n))
        return mt_fail(err, MT_FORMAT,
                       "the part says that its encoding is \"%.*s\", expected UTF-8",
                       (int)mt_size_min(n, 20), name);
    return MT_OK;
}

static enum mt_status read_part(struct mt_document *document, struct mt_package *package,
                                size_t index, struct mt_text *out, struct mt_error *err)
{
    size_t begin = out->length;
    enum mt_status status = mt_package_read(package, index, MAX_PARTS_BYTES, out, err);
    if (status)
        return status;
    status = check_part(out->bytes + begin, out->length - begin, err);
    if (status)
        return mt_fail_in(err, status, mt_package_name(package, index));
    struct mt_document_part *part = &document->parts[document->n_parts++];
    *part = (struct mt_document_part){.entry = index, .range = {begin, out->length}};
    const char *name = mt_package_name(package, index);
    memcpy(part->name, name,
           mt_utf8_valid_prefix(name, mt_size_min(strlen(name), sizeof part->name - 1)));
    return MT_OK;
}

enum mt_status mt_document_read_parts(struct mt_document *document, mt_document_is_part *is_part,
                                      void *context, struct mt_error *err)
{
    struct mt_package *package = NULL;
    struct mt_text parts = {0};
    mt_text_append(&parts, "", 0);
    enum mt_status status = mt_package_open(document->bytes, document->length, &package, err);
    size_t n = package ? mt_package_n_entries(package) : 0;
    document->parts = status ? NULL : calloc(n + 1, sizeof *document->parts);
    if (!status && !document->parts)
        status = mt_fail_memory(err, n * sizeof *document->parts, "a document");
    for (size_t i = 0; i < n && !status; i++)
        if (is_part(context, mt_package_name(package, i)))
            status = read_part(document, package, i, &parts, err);
    mt_package_destroy(package);
    if (status) {
        mt_text_finish(&parts);
        return status;
    }
    document->package = document->bytes;
    document->package_length = document->length;
    document->bytes = parts.bytes;
    document->length = parts.length;
    document->begin = 0;
    return MT_OK;
}

/* Returns the index of the entry of that name; the number of entries where there is none. */
static size_t find_entry(const struct mt_package *package, const char *name)
{
    size_t n = mt_package_n_entries(package), index = 0;
    while (index < n && strcasecmp(mt_package_name(package, index), name) != 0)
        index++;
    return index;
}

bool mt_document_has_entry(const struct mt_document *document, const char *name)
{
    struct mt_package *package = NULL;
    struct mt_error err;
    bool has = !mt_package_open(document->bytes, document->length, &package, &err) &&
               find_entry(package, name) < mt_package_n_entries(package);
    mt_package_destroy(package);
    return has;
}

enum mt_status mt_document_read_entry(const struct mt_document *document, const char *name,
                                      struct mt_text *out, struct mt_error *err)
{
    struct mt_package *package = NULL;
    mt_text_append(out, "", 0);
    enum mt_status status = mt_package_open(document->bytes, document->length, &package, err);
    size_t index = package ? find_entry(package, name) : 0;
    if (!status && index == mt_package_n_entries(package))
        status =
            mt_fail(err, MT_FORMAT, "the file is a zip without \"%s\", expected a document", name);
    if (!status)
        status = mt_package_read(package, index, MAX_PARTS_BYTES, out, err);
    mt_package_destroy(package);
    return status;
}

struct writing {
    const struct mt_document *document;
    const struct mt_text *parts;
};

static enum mt_status write_parts(void *context, struct mt_text *out, struct mt_error *err)
{
    const struct writing *writing = context;
    const struct mt_document *document = writing->document;
    const struct mt_text *parts = writing->parts;
    struct mt_package *package = NULL;
    enum mt_status status =
        mt_package_open(document->package, document->package_length, &package, err);
    for (size_t i = 0; i < document->n_parts && !status; i++)
        if (parts[i].bytes)
            status = mt_package_replace(package, document->parts[i].entry, parts[i].bytes,
                                        parts[i].length, err);
    if (!status)
        status = mt_package_write(package, out, err);
    mt_package_destroy(package);
    return status;
}

enum mt_status mt_document_write_parts(const struct mt_document *document,
                                       const struct mt_text *parts, struct mt_text *out,
                                       struct mt_error *err)
{
    struct writing writing = {.document = document, .parts = parts};
    bool is_changed = false;
    for (size_t i = 0; i < document->n_parts; i++)
        is_changed = is_changed || parts[i].bytes;
    if (!is_changed) {
        mt_text_append(out, document->package, document->package_length);
        return mt_text_check(out, "a translated file", err);
    }
    if (document->confines)
        return mt_document_work_confined(write_parts, &writing, out, err);
    return write_parts(&writing, out, err);
}
