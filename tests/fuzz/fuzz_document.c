/*
 * Feeds files to the readers of documents: the first byte says which, 'a' the first format, and with its
 * highest bit set what is translated is so again; with --first=k all are read as that byte says. What is read is written again
 * without translations, which gives the same bytes, but for a catalogue's charset; with each text
 * as its own translation, which gives the same bytes where no tags have to be closed and opened
 * again; and with longer ones, which gives a file that can be read.
 */
#include "server/documents/document.h"

#include "tests/fuzz/first.h"

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

/* What is markup in a text of XML: codes in the order of their places, and pairs that know each other. */
static void check_codes(const struct mt_document *document)
{
    const struct mt_coded_options options = {.max_tags = 1000};
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        struct mt_document_text text = mt_document_text(document, i);
        struct mt_coded coded = {0};
        struct mt_error err;
        enum mt_status status = text.read(text.bytes, text.length, &options, &coded, &err);
        assert(status == MT_OK || status == MT_LIMIT);
        for (size_t k = 0; k < coded.n && !status; k++)
            for (size_t c = 0; c < coded.segments[k].n; c++) {
                const struct mt_code *code = &coded.segments[k].codes[c];
                assert(c == 0 || code[-1].at.end <= code->at.begin);
                assert(code->at.end <= coded.segments[k].words.length);
                assert(code->bytes.begin < code->bytes.end && code->bytes.end <= text.length);
                bool is_pair = code->kind == MT_CODE_OPEN || code->kind == MT_CODE_CLOSE;
                assert(is_pair == (code->mate != MT_NO_MATE));
                assert(!is_pair || coded.segments[k].codes[code->mate].mate == c);
            }
        mt_coded_finish(&coded);
    }
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
    bool has_codes = options->format >= MT_DOCUMENT_ANDROID;
    if (has_codes)
        check_codes(document);
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
    if (options->format == MT_DOCUMENT_PO || options->format == MT_DOCUMENT_XLIFF)
        check_rewritten(file, length, options);
    else
        assert(length == size && memcmp(file, bytes, size) == 0);
    free(file);
    file = write_with(document, SAME, &length);
    bool has_tags = memchr(bytes, '<', size) || memchr(bytes, '{', size);
    bool is_beside = options->format == MT_DOCUMENT_PO || options->format == MT_DOCUMENT_XLIFF ||
                     options->format == MT_DOCUMENT_TMX || options->format == MT_DOCUMENT_TS ||
                     options->format == MT_DOCUMENT_XCSTRINGS;
    bool stays = options->format == MT_DOCUMENT_TEXT || options->format > MT_DOCUMENT_PO ||
                 (options->format != MT_DOCUMENT_HTML && !has_tags);
    if (stays && !is_beside)
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
    size_t format = (size_t)(first_of(data) & 0x7Fu) - 'a';
    if (format >= MT_N_DOCUMENT_FORMATS)
        return 0;
    const struct mt_document_options options = {.format = (enum mt_document_format)format,
                                                .retranslate = data[0] & 0x80u,
                                                .target_lang = "de"};
    if (size > 1)
        check((const char *)data + 1, size - 1, &options);
    else
        check("", 0, &options);
    return 0;
}
