/*
 * A zip in memory, made with libzip, for tests and fuzzers.
 */
#ifndef MT_TESTS_MAKE_PACKAGE_H
#define MT_TESTS_MAKE_PACKAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

struct entry {
    const char *name, *bytes;
    size_t length;  /* 0: that of the string */
    int method;     /* ZIP_CM_STORE, ... */
    bool is_secret; /* encrypted */
};

/* malloc'd. */
static inline char *make_package(const struct entry *entries, size_t n, size_t *length)
{
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, NULL);
    zip_t *zip = zip_open_from_source(source, ZIP_TRUNCATE, NULL);
    assert(source && zip);
    zip_source_keep(source);
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes = entries[i].length ? entries[i].length : strlen(entries[i].bytes);
        zip_int64_t index = zip_file_add(zip, entries[i].name,
                                         zip_source_buffer(zip, entries[i].bytes, n_bytes, 0), 0);
        assert(index >= 0);
        int status = zip_set_file_compression(zip, (zip_uint64_t)index, entries[i].method, 0);
        assert(status == 0);
        if (entries[i].is_secret)
            status = zip_file_set_encryption(zip, (zip_uint64_t)index, ZIP_EM_AES_256, "secret");
        assert(status == 0);
        (void)status;
    }
    int closed = zip_close(zip);
    assert(closed == 0);
    zip_stat_t stat;
    int known = zip_source_stat(source, &stat);
    assert(known == 0);
    (void)closed, (void)known;
    char *bytes = malloc(stat.size + 1);
    assert(bytes);
    (void)zip_source_open(source);
    *length = (size_t)zip_source_read(source, bytes, stat.size);
    (void)zip_source_close(source);
    zip_source_free(source);
    return bytes;
}

#define CONTENT_TYPES                                                                              \
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override "     \
    "PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument." \
    "wordprocessingml.document.main+xml\"/></Types>"

#define NAMESPACE "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

/* A document of Word's with the body's XML. */
static inline char *make_docx(const char *xml, size_t n, size_t *length)
{
    const struct entry entries[] = {{"[Content_Types].xml", CONTENT_TYPES, 0, ZIP_CM_STORE, false},
                                    {"word/document.xml", n ? xml : "", n, ZIP_CM_STORE, false}};
    return make_package(entries, 2, length);
}

#endif
