/*
 * Feeds files to the readers of documents: the first byte says which. What is read is written again
 * without translations, which gives the same bytes, but for a catalogue's charset; with each text
 * as its own translation, which gives the same bytes where no tags have to be closed and opened
 * again; and with longer ones, which gives a file that can be read.
 */
#include "server/documents/document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum kind { NOTHING, SAME, TWICE };

static char *write_with(const struct mt_document *document, enum kind kind, size_t *length)
{
    size_t n = mt_document_n_texts(document);
    struct mt_text *translations = calloc(n + 1, sizeof *translations), out = {0};
    struct mt_error err;
    char *result;
    assert(translations);
    for (size_t i = 0; i < n && kind != NOTHING; i++) {
        struct mt_document_text text = mt_document_text(document, i);
        assert(text.bytes[text.length] == '\0');
        assert(mt_utf8_valid_prefix(text.bytes, text.length) == text.length);
        mt_text_append(&translations[i], text.bytes, text.length);
        if (kind == TWICE) {
            mt_text_append(&translations[i], " ", 1);
            mt_text_append(&translations[i], text.bytes, text.length);
        }
    }
    struct mt_document_report report;
    enum mt_status status = mt_document_write(document, translations, &out, &report, &err);
    assert(!status);
    status = mt_text_take(&out, "a file", &result, length, &err);
    assert(!status);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    return result;
}

/* What was written without translations is written so again. */
static void check_rewritten(const char *file, size_t length,
                            const struct mt_document_options *options)
{
    struct mt_document *document = NULL;
    struct mt_error err;
    enum mt_status status = mt_document_create(file, length, options, &document, &err);
    assert(!status);
    size_t n;
    char *again = write_with(document, NOTHING, &n);
    assert(n == length && memcmp(again, file, n) == 0);
    free(again);
    mt_document_destroy(document);
}

static void check(const char *bytes, size_t size, const struct mt_document_options *options)
{
    struct mt_document *document = NULL, *again = NULL;
    struct mt_error err;
    enum mt_status status = mt_document_create(bytes, size, options, &document, &err);
    if (status) {
        assert(!document && err.message[0]);
        assert(mt_utf8_valid_prefix(err.message, strlen(err.message)) == strlen(err.message));
        return;
    }
    size_t length;
    char *file = write_with(document, NOTHING, &length);
    bool is_utf8 = mt_utf8_valid_prefix(bytes, size) == size && !memchr(bytes, '\0', size) &&
                   mt_utf8_valid_prefix(file, length) == length;
    if (!is_utf8) { /* some encodings write a character in two ways, and may be taken for others */
        free(file);
        file = write_with(document, TWICE, &length);
        free(file);
        mt_document_destroy(document);
        return;
    }
    if (options->format == MT_DOCUMENT_PO)
        check_rewritten(file, length, options);
    else
        assert(length == size && memcmp(file, bytes, size) == 0);
    free(file);
    file = write_with(document, SAME, &length);
    bool has_tags = memchr(bytes, '<', size) || memchr(bytes, '{', size);
    bool stays =
        options->format == MT_DOCUMENT_TEXT ||
        (options->format != MT_DOCUMENT_HTML && options->format != MT_DOCUMENT_PO && !has_tags);
    if (stays)
        assert(length == size && memcmp(file, bytes, size) == 0);
    free(file);
    file = write_with(document, TWICE, &length);
    if (options->format != MT_DOCUMENT_HTML) { /* twice a page is no page */
        status = mt_document_create(file, length, options, &again, &err);
        assert(status == MT_OK || status == MT_LIMIT);
    }
    free(file);
    mt_document_destroy(again);
    mt_document_destroy(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct mt_document_options options = {
        .format = (enum mt_document_format)(data[0] % MT_N_DOCUMENT_FORMATS),
        .retranslate = data[0] & 0x80u};
    if (size > 1)
        check((const char *)data + 1, size - 1, &options);
    else
        check("", 0, &options);
    return 0;
}
