/*
 * Feeds the readers of Office's documents with packages and with the XML of one part, which is put into a
 * package: the first byte says which (kinds); that of OpenDocument with content.xml ('o'), that of books
 * with a chapter ('e'), and with --first=x all as that byte says. What is read is written without translations and with each
 * text as its own, which gives the same bytes; and with other ones, which gives a file that can be read.
 */
#include "server/documents/document.h"
#include "tests/fuzz/first.h"
#include "tests/unit/server/documents/make_package.h"

enum kind { NOTHING, SAME, OTHER };

#define TYPES(part, main, type)                                                               \
    "<Types><Override PartName=\"/main\" ContentType=\"application/vnd." main ".main+xml\"/>" \
    "<Override PartName=\"/" part "\" ContentType=\"application/vnd." type "+xml\"/></Types>"
#define SLIDES "openxmlformats-officedocument.presentationml."
#define SHEETS "openxmlformats-officedocument.spreadsheetml."

static const struct {
    char first;
    enum mt_document_format format;
    const char *types, *part; /* NULL: a package; a document of Word's */
} kinds[] = {
    {'p', MT_DOCUMENT_DOCX, NULL, NULL},
    {'P', MT_DOCUMENT_PPTX, NULL, NULL},
    {'X', MT_DOCUMENT_XLSX, NULL, NULL},
    {'x', MT_DOCUMENT_DOCX, NULL, "word/document.xml"},
    {'s', MT_DOCUMENT_PPTX, TYPES("a", SLIDES "presentation", SLIDES "slide"), "a"},
    {'l', MT_DOCUMENT_PPTX, TYPES("a", SLIDES "presentation", SLIDES "slideLayout"), "a"},
    {'c', MT_DOCUMENT_PPTX,
     TYPES("a", SLIDES "presentation", "openxmlformats-officedocument.drawingml.chart"), "a"},
    {'n', MT_DOCUMENT_PPTX, TYPES("a", SLIDES "presentation", SLIDES "comments"), "a"},
    {'t', MT_DOCUMENT_XLSX, TYPES("a", SHEETS "sheet", SHEETS "sharedStrings"), "a"},
    {'w', MT_DOCUMENT_XLSX, TYPES("a", SHEETS "sheet", SHEETS "worksheet"), "a"},
    {'b', MT_DOCUMENT_XLSX, TYPES("a", SHEETS "sheet", SHEETS "table"), "a"},
};

static char *write_with(const struct mt_document *document, enum kind kind, size_t *length)
{
    size_t n = mt_document_n_texts(document);
    struct mt_document_report report;
    struct mt_text *translations = calloc(n + 1, sizeof *translations), out = {0};
    struct mt_error err;
    char *result;
    assert(translations);
    for (size_t i = 0; i < n && kind != NOTHING; i++) {
        struct mt_document_text text = mt_document_text(document, i);
        assert(text.bytes[text.length] == '\0');
        assert(mt_utf8_valid_prefix(text.bytes, text.length) == text.length);
        if (text.length == 0) /* it is left */
            continue;
        if (kind == OTHER)
            mt_text_append_string(&translations[i], "New ");
        mt_text_append(&translations[i], text.bytes, text.length);
    }
    enum mt_status status = mt_document_write(document, translations, &out, &report, &err);
    assert(!status);
    size_t n_long = 0; /* workbooks have limits, which a longer text may exceed */
    for (size_t i = 0; i < report.n_left && i < MT_DOCUMENT_LISTED; i++)
        n_long += strstr(report.left[i].reason, "is longer than") != NULL;
    assert(report.n_refused == n_long && (kind == OTHER || n_long == 0));
    status = mt_text_take(&out, "a file", &result, length, &err);
    assert(!status);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    return result;
}

/* Codes in the order of their places, and pairs that know each other. */
static void check_codes(const struct mt_document *document)
{
    const struct mt_coded_options options = {0};
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        struct mt_document_text text = mt_document_text(document, i);
        struct mt_coded coded = {0};
        struct mt_error err;
        enum mt_status status = text.read(text.bytes, text.length, &options, &coded, &err);
        assert(!status && coded.n == 1);
        const struct mt_coded_segment *segment = &coded.segments[0];
        for (size_t c = 0; c < segment->n; c++) {
            const struct mt_code *code = &segment->codes[c];
            assert(c == 0 || code[-1].at.end <= code->at.begin);
            assert(code->at.end <= segment->words.length);
            assert(code->bytes.begin < code->bytes.end && code->bytes.end <= text.length);
            bool is_pair = code->kind == MT_CODE_OPEN || code->kind == MT_CODE_CLOSE;
            assert(is_pair == (code->mate != MT_NO_MATE));
            assert(!is_pair || segment->codes[code->mate].mate == c);
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
    check_codes(document);
    for (int kind = NOTHING; kind <= SAME; kind++) {
        size_t length;
        char *file = write_with(document, (enum kind)kind, &length);
        assert(length == size && memcmp(file, bytes, size) == 0);
        free(file);
    }
    size_t length, n = mt_document_n_texts(document);
    char *file = write_with(document, OTHER, &length);
    status = mt_document_create(file, length, options, &again, &err);
    assert(!status && mt_document_n_texts(again) >= n);
    free(file);
    mt_document_destroy(again);
    mt_document_destroy(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* content.xml, or a chapter, in a package. */
static char *make_other(bool is_book, const char *xml, size_t n, size_t *length)
{
    const struct entry odt[] = {
        {"mimetype", "application/vnd.oasis.opendocument.text", 0, ZIP_CM_STORE, false},
        {"META-INF/manifest.xml", "<manifest/>", 0, ZIP_CM_STORE, false},
        {"content.xml", n ? xml : "", n, ZIP_CM_STORE, false}};
    const struct entry epub[] = {
        {"META-INF/container.xml", "<rootfile full-path=\"a.opf\"/>", 0, ZIP_CM_STORE, false},
        {"a.opf", "<item href=\"b\" media-type=\"application/xhtml+xml\"/>", 0, ZIP_CM_STORE,
         false},
        {"b", n ? xml : "", n, ZIP_CM_STORE, false}};
    return make_package(is_book ? epub : odt, 3, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {NULL, "de", "ar", "ja"};
    if (size < 2)
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *bytes = (const char *)data + 1;
        size_t length = size - 1;
        const struct mt_document_options options = {.format = kinds[i].format,
                                                    .target_lang = targets[size % 4]};
        if (first_of(data) != (unsigned char)kinds[i].first)
            continue;
        const struct entry entries[] = {
            {"[Content_Types].xml", kinds[i].types, 0, ZIP_CM_STORE, false},
            {kinds[i].part, bytes, length, ZIP_CM_STORE, false}};
        char *file = NULL;
        if (kinds[i].types)
            file = make_package(entries, 2, &length);
        else if (kinds[i].part)
            file = make_docx(bytes, length, &length);
        check(file ? file : bytes, length, &options);
        free(file);
    }
    if (first_of(data) == 'o' || first_of(data) == 'e') {
        const struct mt_document_options options = {
            .format = first_of(data) == 'o' ? MT_DOCUMENT_ODT : MT_DOCUMENT_EPUB,
            .target_lang = "de"};
        size_t length;
        char *file = make_other(first_of(data) == 'e', (const char *)data + 1, size - 1, &length);
        check(file, length, &options);
        free(file);
    }
    return 0;
}
