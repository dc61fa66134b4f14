/*
 * mark FILE OUT: what a document becomes when each word of it is translated by itself between brackets,
 * [so]. Codes stay where they are. Ends with 1, and says why, where the file is not the same one, to the
 * byte, when no text has a translation, or each is its own (but where it stands beside its text). Prints how many texts there are, and which
 * are left for what reason.
 */
#include "base/file.h"
#include "server/documents/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *path, const char *message)
{
    fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

/* Tags are codes; a "<" that none closes stays as it is. */
static void mark(const char *text, struct mt_text *out)
{
    mt_text_append(out, "", 0);
    while (*text) {
        const char *end = *text == '<' ? strchr(text, '>') : NULL;
        size_t n = end ? (size_t)(end - text) + 1 : strcspn(text, "< ");
        bool is_word = !end && n > 0;
        mt_text_append(out, "[", is_word);
        mt_text_append(out, text, n ? n : 1);
        mt_text_append(out, "]", is_word);
        text += n ? n : 1;
    }
}

static struct mt_text write_file(const char *path, const struct mt_document *document,
                                 const struct mt_text *translations,
                                 struct mt_document_report *report)
{
    struct mt_text out = {0};
    struct mt_error err;
    if (mt_document_write(document, translations, &out, report, &err))
        stop(path, err.message);
    return out;
}

static void expect_same(const char *path, const struct mt_document *document,
                        const struct mt_text *translations, const char *file, size_t length)
{
    struct mt_document_report report;
    struct mt_text out = write_file(path, document, translations, &report);
    if (out.length != length || memcmp(out.bytes, file, length) != 0)
        stop(path, translations ? "it changes though each text is its own translation"
                                : "it changes though nothing is translated");
    mt_text_finish(&out);
}

static bool stands_beside(enum mt_document_format format)
{
    return format == MT_DOCUMENT_PO || format == MT_DOCUMENT_XLIFF || format == MT_DOCUMENT_TMX ||
           format == MT_DOCUMENT_TS || format == MT_DOCUMENT_XCSTRINGS;
}

int main(int argc, char **argv)
{
    struct mt_document_options options = {.target_lang = argc > 3 ? argv[3] : NULL};
    struct mt_document *document;
    struct mt_document_report report;
    struct mt_error err;
    char *file;
    size_t length;
    if (argc < 3 || !mt_document_format_of_file(argv[1], &options.format))
        stop("mark", "expected FILE OUT [LANGUAGE], a file with a name that says its format");
    if (mt_file_read(argv[1], (size_t)1 << 28, &file, &length, &err) ||
        mt_document_create(file, length, &options, &document, &err))
        stop(argv[1], err.message);
    size_t n = mt_document_n_texts(document);
    struct mt_text *translations = calloc(n + 1, sizeof *translations);
    if (!translations)
        stop(argv[1], "no memory");
    expect_same(argv[1], document, NULL, file, length);
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&translations[i], mt_document_text(document, i).bytes);
    if (!stands_beside(options.format))
        expect_same(argv[1], document, translations, file, length);
    for (size_t i = 0; i < n; i++) {
        translations[i].length = 0;
        mark(mt_document_text(document, i).bytes, &translations[i]);
    }
    struct mt_text out = write_file(argv[1], document, translations, &report);
    FILE *stream = fopen(argv[2], "wb");
    if (!stream || fwrite(out.bytes, 1, out.length, stream) != out.length || fclose(stream))
        stop(argv[2], "cannot be written");
    printf("%zu texts\n", n);
    for (size_t i = 0; i < report.n_left && i < MT_DOCUMENT_LISTED; i++)
        printf("text %zu: %s\n", report.left[i].text, report.left[i].reason);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    free(file);
    mt_text_finish(&out);
    mt_document_destroy(document);
    return 0;
}
