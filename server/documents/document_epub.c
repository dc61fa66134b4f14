/*
 * Books (EPUB 2 and 3): the chapters that the package document lists, tables of contents, and the
 * book's title and description. A chapter that is not well-formed XML is not translated, and is
 * reported.
 */
#include "base/size.h"
#include "server/documents/office/office_paragraph.h"
#include "server/documents/office/office_words.h"
#include "server/documents/markup/xhtml.h"
#include "server/documents/xml_elements.h"

#include <stdlib.h>
#include <string.h>

#define CONTAINER "META-INF/container.xml"
#define ENCRYPTION "META-INF/encryption.xml"
#define MAX_ITEMS 8192

struct book {
    struct mt_document *document;
    struct mt_text package;          /* name of the package document's entry */
    struct mt_text items[MAX_ITEMS]; /* names of the entries with texts */
    size_t n;
    size_t part; /* index of the package document */
};

static enum mt_status ignore_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    (void)context, (void)tag, (void)err;
    return MT_OK;
}

static enum mt_status read_table(const struct mt_document *document, const char *name,
                                 mt_xml_take *take, void *context, struct mt_error *err)
{
    struct mt_text table = {0};
    enum mt_status status = mt_document_read_entry(document, name, &table, err);
    const struct mt_document view = {.bytes = table.bytes, .length = table.length};
    if (!status) {
        status = mt_xml_read(&view, take, ignore_end, context, err);
        if (status)
            (void)mt_fail_in(err, status, name);
    }
    mt_text_finish(&table);
    return status;
}

static enum mt_status take_package(void *context, const struct mt_xml_tag *tag,
                                   struct mt_error *err)
{
    struct book *book = context;
    const char *path = mt_xml_attribute(tag, "full-path");
    if (strcmp(tag->name, "rootfile") != 0 || !path || book->package.length > 0)
        return MT_OK;
    mt_text_append_string(&book->package, path);
    return mt_text_check(&book->package, "a book", err);
}

/* Resolves ".." and "." in a path, as far as there is something before them. */
static void resolve(struct mt_text *path)
{
    size_t n = 0;
    for (size_t at = 0, end; at < path->length; at = end) {
        const char *part = path->bytes + at;
        end = at + strcspn(part, "/");
        end += path->bytes[end] == '/';
        size_t length = end - at;
        if (strncmp(part, "./", 2) == 0)
            continue;
        if (strncmp(part, "../", 3) == 0) {
            n -= n > 0; /* the slash */
            while (n > 0 && path->bytes[n - 1] != '/')
                n--;
            continue;
        }
        memmove(path->bytes + n, part, length);
        n += length;
    }
    path->length = n;
    if (path->bytes)
        path->bytes[n] = '\0';
}

/* Appends the name of the entry for an address that is relative to the package document. */
static void append_path(const struct book *book, const char *href, struct mt_text *out)
{
    const char *slash = memrchr(book->package.bytes, '/', book->package.length);
    if (slash)
        mt_text_append(out, book->package.bytes, (size_t)(slash - book->package.bytes) + 1);
    for (size_t i = 0; href[i] && href[i] != '#' && href[i] != '?'; i++) {
        int high = href[i] == '%' ? mt_hex_digit(href[i + 1]) : -1;
        int low = high >= 0 ? mt_hex_digit(href[i + 2]) : -1;
        char c = low >= 0 ? (char)(high * 16 + low) : href[i];
        i += low >= 0 ? 2 : 0;
        mt_text_append(out, &c, 1);
    }
    mt_text_append(out, "", 0);
    resolve(out);
}

static enum mt_status take_item(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct book *book = context;
    const char *href = mt_xml_attribute(tag, "href");
    bool has_texts = mt_xml_has(tag, "media-type", "application/xhtml+xml") ||
                     mt_xml_has(tag, "media-type", "application/x-dtbncx+xml");
    if (strcmp(tag->name, "item") != 0 || !has_texts || !href)
        return MT_OK;
    if (book->n == MAX_ITEMS)
        return mt_fail(err, MT_LIMIT, "the book names more than %d chapters", MAX_ITEMS);
    struct mt_text *item = &book->items[book->n++];
    append_path(book, href, item);
    return mt_text_check(item, "a book", err);
}

static bool is_item(const struct book *book, const char *name)
{
    for (size_t i = 0; i < book->n; i++)
        if (strcmp(book->items[i].bytes, name) == 0)
            return true;
    return strcmp(book->package.bytes, name) == 0;
}

static bool is_part(void *context, const char *name)
{
    struct book *book = context;
    if (strcmp(book->package.bytes, name) == 0)
        book->part = book->document->n_parts;
    return is_item(book, name);
}

/* Fonts may be encrypted, so that they can be used in this book only. */
static enum mt_status take_cipher(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    const struct book *book = context;
    const char *uri = mt_xml_attribute(tag, "URI");
    if (strcmp(tag->name, "CipherReference") != 0 || !uri || !is_item(book, uri))
        return MT_OK;
    return mt_fail(err, MT_FORMAT,
                   "\"%.100s\" is encrypted: expected a book without copy protection", uri);
}

static enum mt_status read_contents(struct book *book, struct mt_error *err)
{
    enum mt_status status = read_table(book->document, CONTAINER, take_package, book, err);
    if (!status && book->package.length == 0)
        status = mt_fail(err, MT_FORMAT, "%s names no rootfile, expected a book", CONTAINER);
    if (!status)
        status = read_table(book->document, book->package.bytes, take_item, book, err);
    if (!status && mt_document_has_entry(book->document, ENCRYPTION))
        status = read_table(book->document, ENCRYPTION, take_cipher, book, err);
    return status;
}

/* Reads a part. One that cannot be read is not translated, but without the package document the
 * book cannot be read. */
static enum mt_status read_part(struct mt_xhtml *xhtml, size_t index, bool is_package,
                                struct mt_error *err)
{
    struct mt_document *document = xhtml->document;
    struct mt_document_part *part = &document->parts[index];
    struct mt_document_piece *piece;
    enum mt_status status = mt_xhtml_read(xhtml, part->range, err);
    if (status)
        (void)mt_fail_in(err, status, part->name);
    if (status != MT_FORMAT || is_package)
        return status;
    if (part->range.begin == part->range.end)
        return MT_OK;
    memcpy(part->reason, err->message,
           mt_utf8_valid_prefix(err->message,
                                mt_size_min(strlen(err->message), sizeof part->reason - 1)));
    const struct mt_range range = {part->range.begin, part->range.begin};
    status = mt_document_add(document, range, &piece, err);
    if (!status)
        piece->left = part->reason;
    return status;
}

static enum mt_status read_parts(struct book *book, const struct mt_document_options *options,
                                 struct mt_error *err)
{
    struct mt_document *document = book->document;
    struct mt_xhtml xhtml = {.document = document, .target = options->target_lang};
    enum mt_status status = mt_document_read_parts(document, is_part, book, err);
    if (!status)
        status = mt_xhtml_begin(document, err);
    if (!status)
        status = read_part(&xhtml, book->part, true, err);
    for (size_t i = 0; i < document->n_parts && !status; i++)
        if (i != book->part)
            status = read_part(&xhtml, i, false, err);
    return status;
}

static enum mt_status read_epub(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    struct book *book = calloc(1, sizeof *book);
    if (!book)
        return mt_fail_memory(err, sizeof *book, "a book");
    book->document = document;
    enum mt_status status = read_contents(book, err);
    if (!status)
        status = read_parts(book, options, err);
    for (size_t i = 0; i < book->n; i++)
        mt_text_finish(&book->items[i]);
    mt_text_finish(&book->package);
    free(book);
    return status;
}

const struct mt_document_reader mt_document_epub_reader = {
    .read_text = mt_read_office_words,
    .read = read_epub,
    .write_around = mt_office_write_piece,
    .finish = mt_office_destroy,
    .pack = mt_office_pack,
    .unpack = mt_xhtml_unpack,
    .is_package = true,
};
