/*
 * What the tests of files share: a file is read, its texts are translated by a function, and it is written.
 */
#ifndef MT_TESTS_UNIT_TRANSLATED_FILE_H
#define MT_TESTS_UNIT_TRANSLATED_FILE_H

#include "server/documents/document.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS 64

typedef void translate_fn(const struct mt_document_text *text, struct mt_text *out);

static inline void same(const struct mt_document_text *text, struct mt_text *out)
{
    mt_text_append(out, text->bytes, text->length);
}

static inline void nothing(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    (void)out;
}

static inline struct mt_document *read_with(const char *file, size_t length,
                                            const struct mt_document_options *options)
{
    struct mt_document *document = NULL;
    struct mt_error err;
    enum mt_status status = mt_document_create(file, length, options, &document, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    return document;
}

/* The file as it is written then; to be freed. */
static inline char *translate_with(const char *file, const struct mt_document_options *options,
                                   translate_fn *with, struct mt_document_report *report)
{
    struct mt_document *document = read_with(file, strlen(file), options);
    struct mt_text translations[MAX_TEXTS] = {{0}}, out = {0};
    struct mt_error err;
    char *result;
    size_t n = mt_document_n_texts(document), length;
    ck_assert_uint_le(n, MAX_TEXTS);
    for (size_t i = 0; i < n; i++) {
        struct mt_document_text text = mt_document_text(document, i);
        ck_assert_uint_eq(strlen(text.bytes), text.length);
        with(&text, &translations[i]);
    }
    ck_assert_int_eq(mt_document_write(document, translations, &out, report, &err), MT_OK);
    ck_assert_int_eq(mt_text_take(&out, "a file", &result, &length, &err), MT_OK);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    mt_document_destroy(document);
    return result;
}

/* The texts, with '|' between them. */
static inline void expect_texts_with(const char *file, const struct mt_document_options *options,
                                     const char *expected)
{
    struct mt_document *document = read_with(file, strlen(file), options);
    struct mt_text all = {0};
    mt_text_append(&all, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        mt_text_append(&all, "|", i > 0);
        mt_text_append_string(&all, mt_document_text(document, i).bytes);
    }
    ck_assert_str_eq(all.bytes, expected);
    mt_text_finish(&all);
    mt_document_destroy(document);
}

#endif
