/*
 * A page of HTML: one text (html_reader.h). What is this file's own is the declaration of its
 * encoding, since a translation needs characters that its source may not have needed. A page that says
 * that it is XML, and is, is read as such (xhtml.h).
 */
#include "server/documents/document_state.h"
#include "server/documents/markup/xhtml.h"
#include "server/documents/xml_elements.h"

#include <string.h>
#include <strings.h>

/* Browsers look for the declaration no further (HTML, "prescan a byte stream"). */
#define PRESCAN_BYTES 1024

static const char declaration[] = "<meta charset=\"utf-8\">";

/* The value of charset= in a <meta> among text's first bytes;
 * an empty range where there is none. */
static struct mt_range find_charset(const char *text, size_t length)
{
    size_t limit = length < PRESCAN_BYTES ? length : PRESCAN_BYTES;
    size_t tag_end = 0; /* of the <meta> that `at` is in */
    for (size_t at = 0; at + 8 < limit; at++) {
        if (strncasecmp(text + at, "<!--", 4) == 0) {
            const char *end = memmem(text + at, length - at, "-->", 3);
            at = end ? (size_t)(end - text) : limit;
        } else if (strncasecmp(text + at, "<meta", 5) == 0) {
            const char *end = memchr(text + at, '>', length - at);
            tag_end = end ? (size_t)(end - text) : length;
        } else if (at < tag_end && strncasecmp(text + at, "charset=", 8) == 0) {
            size_t begin = at + 8;
            begin += strspn(text + begin, " \"'");
            return (struct mt_range){begin, begin + strcspn(text + begin, " \"'/>;")};
        }
    }
    return (struct mt_range){0};
}

/* XML's declaration, or HTML's. */
static struct mt_range find_encoding(const char *text, size_t length)
{
    const struct mt_range declared = mt_xml_find_encoding(text, length);
    return declared.end > declared.begin ? declared : find_charset(text, length);
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

static bool says_other(const char *text, struct mt_range charset)
{
    return charset.end > charset.begin &&
           !mt_encoding_is_utf8(text + charset.begin, charset.end - charset.begin);
}

static enum mt_status read_html(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    const char *text = document->bytes + document->begin;
    size_t length = document->length - document->begin;
    struct mt_document_piece *piece;
    struct mt_range range = {document->begin, document->length};
    if (length == 0)
        return MT_OK;
    enum mt_status status = MT_FORMAT;
    if (mt_xhtml_is_said(document->bytes, document->length))
        status = mt_xhtml_reader.read(document, options, err);
    if (status != MT_FORMAT) {
        document->reader = &mt_xhtml_reader;
        return status;
    }
    mt_xhtml_reader.finish(document->own);
    document->own = NULL;
    status = mt_document_add(document, range, &piece, err);
    if (!status)
        mt_text_append(&piece->text, text, length);
    return status;
}

/* Behind the beginning of the head, or 0: it is a fragment. */
static size_t find_head(const char *text, size_t length)
{
    for (size_t at = 0; at + 6 <= length; at++) {
        bool is_head = strncasecmp(text + at, "<head", 5) == 0 && strchr(" >\t\r\n", text[at + 5]);
        const char *end = is_head ? memchr(text + at, '>', length - at) : NULL;
        if (end)
            return (size_t)(end - text) + 1;
    }
    return 0;
}

/* A page of ASCII that says nothing of its encoding, or nothing that is known, is UTF-8, and says so
 * where its translation is no ASCII any more. Others stay as they are. */
static bool write_html(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    (void)piece;
    struct mt_range charset = find_charset(translation, length);
    struct mt_range replaced = {0, 0};
    const char *label = "";
    bool matters = document->encoding.is_utf8 && !is_ascii(translation, length) &&
                   is_ascii(document->bytes + document->begin, document->length - document->begin);
    if (matters && says_other(translation, charset)) {
        replaced = charset;
        label = "utf-8";
    } else if (matters && charset.begin == charset.end && document->begin == 0) {
        replaced.begin = replaced.end = find_head(translation, length);
        label = replaced.end > 0 ? declaration : "";
    }
    mt_text_append(out, translation, replaced.begin);
    mt_text_append_string(out, label);
    mt_text_append(out, translation + replaced.end, length - replaced.end);
    return true;
}

const struct mt_document_reader mt_document_html_reader = {
    .read_text = mt_read_html,
    .read = read_html,
    .write = write_html,
    .find_charset = find_encoding,
};
