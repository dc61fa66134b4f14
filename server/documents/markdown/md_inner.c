#include "server/documents/markdown/md_inner.h"

#include "base/size.h"
#include "base/vector.h"
#include "server/documents/html_values.h"
#include "server/documents/message.h"
#include "server/text/html/html_attributes.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_BEGIN '\x01'
#define SLOT_END '\x02'

/* ---- reading ---- */

bool mt_md_can_have_inner(const struct mt_document *document)
{
    return !memchr(document->bytes, SLOT_BEGIN, document->length) &&
           !memchr(document->bytes, SLOT_END, document->length);
}

static enum mt_status add(struct mt_md_inner *inner, struct mt_range range, int kind,
                          struct mt_error *err)
{
    if (MT_ROOM(&inner->items, &inner->capacity, inner->n + 1, "parts of a file", err))
        return MT_MEMORY;
    inner->items[inner->n++] = (struct mt_md_item){.range = range, .kind = kind};
    return MT_OK;
}

enum mt_status mt_md_inner_add_title(struct mt_md_inner *inner, const struct mt_document *document,
                                     struct mt_range title, struct mt_error *err)
{
    bool has_words = title.begin > 0 && strchr("\"'(", document->bytes[title.begin - 1]) &&
                     mt_message_has_words(document->bytes + title.begin, title.end - title.begin);
    return has_words ? add(inner, title, MT_MD_TITLE, err) : MT_OK;
}

enum mt_status mt_md_inner_add_content(struct mt_md_inner *inner,
                                       const struct mt_document *document, struct mt_range content,
                                       bool is_picture, struct mt_error *err)
{
    const char *bytes = document->bytes;
    size_t n = content.end - content.begin;
    bool is_found = content.begin > 1 && n > 0 && bytes[content.begin - 1] == '[' &&
                    bytes[content.end] == ']' && !memchr(bytes + content.begin, '\n', n) &&
                    !memchr(bytes + content.begin, '\r', n) &&
                    !memchr(bytes + content.begin, '[', n) &&
                    !memchr(bytes + content.begin, ']', n);
    if (!is_found)
        return MT_OK;
    const char *behind = bytes + content.end + 1;
    bool is_collapsed = strncmp(behind, "[]", 2) == 0;
    if (is_collapsed || (*behind != '[' && *behind != '(')) {
        const size_t at = content.end + 1 + is_collapsed;
        enum mt_status status = add(inner, (struct mt_range){at, at}, MT_MD_NAME, err);
        if (!status)
            inner->items[inner->n - 1].name = content;
        if (status)
            return status;
    }
    bool is_alt = is_picture && bytes[content.begin - 2] == '!' &&
                  mt_message_has_words(bytes + content.begin, n);
    return is_alt ? add(inner, content, MT_MD_ALT, err) : MT_OK;
}

enum mt_status mt_md_inner_add_values(struct mt_md_inner *inner, const struct mt_document *document,
                                      struct mt_range tags, struct mt_error *err)
{
    struct mt_html_attributes found = {0};
    const char *bytes = document->bytes + tags.begin;
    enum mt_status status = MT_OK;
    if (!memchr(bytes, '=', tags.end - tags.begin))
        return MT_OK;
    status = mt_html_find_attributes(bytes, tags.end - tags.begin, SIZE_MAX, &found, err);
    for (size_t i = 0; i < found.n && !status; i++) {
        const struct mt_range value = {tags.begin + found.values[i].begin,
                                       tags.begin + found.values[i].end};
        if (mt_message_has_words(document->bytes + value.begin, value.end - value.begin))
            status = add(inner, value, MT_MD_VALUE, err);
    }
    mt_html_attributes_finish(&found);
    return status == MT_LIMIT ? MT_OK : status; /* what is nested too deep stays */
}

static int compare(const void *a, const void *b)
{
    const struct mt_md_item *x = a, *y = b;
    return x->range.begin < y->range.begin ? -1 : x->range.begin > y->range.begin;
}

static void sort(struct mt_md_inner *inner, size_t first)
{
    if (inner->n > first + 1)
        qsort(inner->items + first, inner->n - first, sizeof *inner->items, compare);
}

void mt_md_inner_sort(struct mt_md_inner *inner)
{
    sort(inner, inner->n_before);
}

void mt_md_inner_end_text(struct mt_md_inner *inner)
{
    inner->n_before = inner->n;
}

void mt_md_inner_show(const struct mt_md_inner *inner, const struct mt_document *document,
                      struct mt_range range, struct mt_text *out)
{
    size_t at = range.begin, first = inner->n_before, last = inner->n;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        bool is_before = inner->items[middle].range.begin < range.begin;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    for (; first < inner->n && inner->items[first].range.end <= range.end; first++) {
        const struct mt_range own = inner->items[first].range;
        if (own.begin < at)
            continue;
        mt_document_append(document, (struct mt_range){at, own.begin}, out);
        at = own.end;
        if (inner->items[first].kind != MT_MD_NAME) {
            mt_text_appendf(out, "%c%zu%c", SLOT_BEGIN, own.begin, SLOT_END);
            continue;
        }
        bool is_between = document->bytes[at - 1] == '['; /* [words][] */
        mt_text_append(out, "[", !is_between);
        mt_document_append(document, inner->items[first].name, out);
        mt_text_append(out, "]", !is_between);
    }
    mt_document_append(document, (struct mt_range){at, range.end}, out);
}

/* Whether a text of HTML has anything to be translated. */
static enum mt_status find_words(const struct mt_text *text, bool *out, struct mt_error *err)
{
    const struct mt_coded_options options = {.max_tags = SIZE_MAX};
    struct mt_coded coded = {0};
    enum mt_status status = mt_read_html(text->bytes, text->length, &options, &coded, err);
    *out = !status && coded.n > 0;
    mt_coded_finish(&coded);
    return status == MT_LIMIT ? MT_OK : status;
}

enum mt_status mt_md_inner_add_html(struct mt_md_inner *inner, struct mt_document *document,
                                    struct mt_range range, struct mt_error *err)
{
    struct mt_text text = {0};
    bool has_words = false;
    enum mt_status status = mt_md_inner_add_values(inner, document, range, err);
    mt_md_inner_sort(inner);
    mt_text_append(&text, "", 0);
    mt_md_inner_show(inner, document, range, &text);
    if (!status)
        status = mt_text_check(&text, "a text of a file", err);
    if (!status)
        status = find_words(&text, &has_words, err);
    struct mt_document_piece *piece = NULL;
    if (!status && has_words)
        status = mt_document_add(document, range, &piece, err);
    if (piece) {
        mt_text_append(&piece->text, text.bytes, text.length);
        piece->read_text = mt_read_html;
        piece->n = MT_MD_HTML;
    }
    mt_text_finish(&text);
    return status;
}

enum mt_status mt_md_inner_add_pieces(struct mt_md_inner *inner, struct mt_document *document,
                                      struct mt_error *err)
{
    enum mt_status status = MT_OK;
    sort(inner, 0);
    for (size_t i = 0; i < inner->n && !status; i++) {
        const struct mt_md_item *item = &inner->items[i];
        struct mt_document_piece *piece;
        /* a definition has its title as often as it is used */
        if (item->kind == MT_MD_NAME || (i > 0 && item->range.begin < item[-1].range.end))
            continue;
        status = mt_document_add(document, item->range, &piece, err);
        if (status)
            break;
        piece->n = (size_t)item->kind;
        if (item->kind == MT_MD_VALUE) {
            mt_html_value_read(document, item->range, &piece->text);
            piece->read_text = mt_read_html;
        } else {
            mt_document_append(document, item->range, &piece->text);
        }
    }
    return status;
}

void mt_md_inner_finish(struct mt_md_inner *inner)
{
    free(inner->items);
    *inner = (struct mt_md_inner){0};
}

/* ---- writing ---- */

/* Returns the range of the piece that begins there. */
static struct mt_range piece_at(const struct mt_document *document, size_t at)
{
    size_t begin = mt_document_find_piece(document, at);
    bool is_found = begin < document->n && document->pieces[begin].range.begin == at;
    return is_found ? document->pieces[begin].range : (struct mt_range){0};
}

void mt_md_inner_fill(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                      const char *translation, size_t length, struct mt_text *out)
{
    mt_text_append(out, "", 0);
    for (size_t at = 0; at < length;) {
        const char *slot = memchr(translation + at, SLOT_BEGIN, length - at);
        size_t n = slot ? (size_t)(slot - translation) - at : length - at;
        mt_text_append(out, translation + at, n);
        at += n;
        if (!slot)
            break;
        char *behind = NULL;
        size_t begin = strtoul(slot + 1, &behind, 10);
        struct mt_range range = piece_at(writing->document, begin);
        bool is_slot = *behind == SLOT_END && range.begin > piece->range.begin &&
                       range.end <= piece->range.end;
        if (is_slot)
            mt_document_write_inner(writing, range, out);
        else
            mt_text_append(out, slot, 1);
        at = is_slot ? (size_t)(behind - translation) + 1 : at + 1;
    }
}

static size_t count(const char *text, size_t length, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += text[i] == c;
    return n;
}

bool mt_md_has_same_signs(const struct mt_text *text, const char *translation, size_t length)
{
    static const char signs[] = "*_`[]<>~|\\=";
    for (const char *sign = signs; *sign; sign++)
        if (count(text->bytes, text->length, *sign) != count(translation, length, *sign))
            return false;
    return true;
}

bool mt_md_inner_write(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    if (memchr(translation, '\n', length) || memchr(translation, SLOT_BEGIN, length) ||
        !mt_md_has_same_signs(&piece->text, translation, length))
        return false;
    if (piece->n == MT_MD_VALUE)
        mt_html_value_write(document, piece->range, translation, length, out);
    else if (piece->n == MT_MD_ALT)
        mt_text_append(out, translation, length);
    if (piece->n != MT_MD_TITLE)
        return true;
    bool is_round = document->bytes[piece->range.begin - 1] == '(';
    const char quote = document->bytes[piece->range.end];
    for (size_t i = 0; i < length; i++) {
        bool is_end = translation[i] == quote || (is_round && translation[i] == '(');
        mt_text_append(out, "\\", is_end && (i == 0 || translation[i - 1] != '\\'));
        mt_text_append(out, translation + i, 1);
    }
    return true;
}
