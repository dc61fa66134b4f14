/*
 * A page of HTML: one text, taken apart by markup.h. What is this file's own is the declaration of
 * its encoding, since a translation needs characters that its source may not have needed.
 */
#include "server/documents/document_state.h"

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

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

static bool is_utf8_label(const char *label, size_t length)
{
    return (length == 5 && strncasecmp(label, "utf-8", 5) == 0) ||
           (length == 4 && strncasecmp(label, "utf8", 4) == 0);
}

/* Behind "</name>" at text[at], or 0: it is none. */
static size_t skip_end_tag(const char *text, size_t at, const char *name)
{
    size_t n = strlen(name);
    if (strncasecmp(text + at, name, n) != 0)
        return 0;
    at += n + strspn(text + at + n, " \t\r\n");
    return text[at] == '>' ? at + 1 : 0;
}

/* Behind a comment without tags at text[at], or 0: it is none. */
static size_t skip_comment(const char *text, size_t at)
{
    if (strncmp(text + at, "<!--", 4) != 0)
        return 0;
    const char *end = strpbrk(text + at + 4, "<>");
    return end && *end == '>' && strncmp(end - 2, "--", 2) == 0 ? (size_t)(end - text) + 1 : 0;
}

/* Where there is nothing more than the ends of body and page, comments and blanks. A parser moves
 * what stands between these into the body, so they stay out of the text. */
static size_t find_tail(const char *text, size_t length)
{
    size_t tail = length;
    for (size_t at = 0; at < length;) {
        size_t next = at + strspn(text + at, " \t\r\n");
        if (next == at)
            next = skip_end_tag(text, at, "</body");
        if (next == 0)
            next = skip_end_tag(text, at, "</html");
        if (next == 0 && tail < at)
            next = skip_comment(text, at);
        if (next == 0)
            tail = length;
        else if (tail == length)
            tail = at;
        at = next == 0 ? at + 1 : next;
    }
    return tail;
}

/* A page of ASCII is UTF-8 whatever it says, and then says so. */
static enum mt_status read_html(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    const char *text = document->bytes + document->begin;
    size_t length = document->length - document->begin;
    struct mt_range charset = find_charset(text, length);
    size_t n_label = charset.end - charset.begin;
    bool says_other = n_label > 0 && !is_utf8_label(text + charset.begin, n_label);
    if (says_other && !is_ascii(text, length))
        return mt_fail(err, MT_FORMAT, "the page says charset=%.*s, expected utf-8",
                       (int)mt_utf8_valid_prefix(text + charset.begin, n_label < 40 ? n_label : 40),
                       text + charset.begin);
    struct mt_document_piece *piece;
    length = find_tail(text, length);
    if (length == 0)
        return MT_OK;
    struct mt_range range = {document->begin, document->begin + length};
    enum mt_status status = mt_document_add(document, range, &piece, err);
    if (status)
        return status;
    if (says_other) {
        mt_text_append(&piece->text, text, charset.begin);
        mt_text_append_string(&piece->text, "utf-8");
        mt_text_append(&piece->text, text + charset.end, length - charset.end);
    } else {
        mt_text_append(&piece->text, text, length);
    }
    return MT_OK;
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

static size_t cut_end(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && strncasecmp(text + length - n, end, n) == 0 ? length - n : length;
}

/* A page that says nothing of its encoding says so now, where it matters. */
static bool write_html(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    struct mt_range charset = find_charset(translation, length);
    bool is_said = document->begin > 0 || charset.end > charset.begin;
    size_t head = is_said || is_ascii(translation, length) ? 0 : find_head(translation, length);
    if (piece->range.end < document->length) /* the tail has them, if the page has */
        length = cut_end(translation, cut_end(translation, length, "</html>"), "</body>");
    mt_text_append(out, translation, head);
    if (head)
        mt_text_append_string(out, declaration);
    mt_text_append(out, translation + head, length - head);
    return true;
}

const struct mt_document_reader mt_document_html_reader = {
    .read_text = mt_read_html,
    .read = read_html,
    .write = write_html,
    .find_charset = find_charset,
};
