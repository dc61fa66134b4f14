#include "server/documents/xml_message.h"

#include "server/documents/message.h"
#include "server/documents/xml_elements.h"
#include "server/documents/xml_words.h"
#include "server/text/accelerator.h"

#include <string.h>

static const char cdata_begin[] = "<![CDATA[", cdata_end[] = "]]>";

static struct mt_range trim(const char *bytes, struct mt_range range)
{
    while (range.begin < range.end && strchr(" \t\r\n", bytes[range.begin]))
        range.begin++;
    while (range.end > range.begin && strchr(" \t\r\n", bytes[range.end - 1]))
        range.end--;
    return range;
}

unsigned mt_xml_message_read(const struct mt_document *document, struct mt_range *range,
                             struct mt_text *out)
{
    const char *bytes = document->bytes;
    size_t n_begin = strlen(cdata_begin), n_end = strlen(cdata_end);
    *range = trim(bytes, *range);
    size_t n = range->end - range->begin;
    bool is_cdata = n >= n_begin + n_end &&
                    memcmp(bytes + range->begin, cdata_begin, n_begin) == 0 &&
                    memmem(bytes + range->begin, n, cdata_end, n_end) == bytes + range->end - n_end;
    if (is_cdata) {
        *range = trim(bytes, (struct mt_range){range->begin + n_begin, range->end - n_end});
        mt_text_append_markup(out, bytes + range->begin, range->end - range->begin);
    } else {
        mt_text_append(out, bytes + range->begin, n);
    }
    return is_cdata ? MT_XML_IS_CDATA : 0;
}

/* Appends a translation as content, or as text within CDATA. Returns false where that is
 * impossible. */
static bool write_message(unsigned flags, const char *translation, size_t length,
                          struct mt_text *out)
{
    struct mt_text plain = {0};
    if (!mt_xml_is_content(translation, length, false))
        return false;
    if (!(flags & MT_XML_IS_CDATA)) {
        mt_text_append(out, translation, length);
        return true;
    }
    mt_text_append(&plain, "", 0);
    mt_xml_unescape(translation, length, &plain);
    bool is_one = !plain.status && !memmem(plain.bytes, plain.length, cdata_end, strlen(cdata_end));
    if (is_one)
        mt_text_append(out, plain.bytes, plain.length);
    mt_text_finish(&plain);
    return is_one;
}

enum mt_status mt_xml_message_add(struct mt_document *document, struct mt_range content,
                                  struct mt_error *err)
{
    struct mt_text text = {0};
    struct mt_document_piece *piece;
    mt_text_append(&text, "", 0);
    unsigned flags = mt_xml_message_read(document, &content, &text);
    enum mt_status status = mt_message_add(document, content, &text, &piece, err);
    mt_text_finish(&text);
    if (!status && piece)
        piece->n = flags;
    return status;
}

void mt_xml_take_accelerator(struct mt_text *text, struct mt_xml_accelerator *out)
{
    struct mt_text plain = {0};
    struct mt_accelerator found = {0};
    mt_text_append(&plain, "", 0);
    mt_xml_unescape(text->bytes, text->length, &plain);
    if (!plain.status && !memchr(text->bytes, '<', text->length))
        found = mt_accelerator_find(plain.bytes, plain.length);
    *out = (struct mt_xml_accelerator){.mark = found.mark};
    if (found.mark) {
        out->letter = mt_utf8_decode(plain.bytes + found.at + 1);
        text->length = 0;
        mt_text_append_markup(text, plain.bytes, found.at);
        mt_text_append_markup(text, plain.bytes + found.at + 1, plain.length - found.at - 1);
    }
    mt_text_finish(&plain);
}

void mt_xml_place_accelerator(const struct mt_xml_accelerator *accelerator, const char *translation,
                              size_t length, struct mt_text *out)
{
    struct mt_text plain = {0}, label = {0};
    mt_text_append(&plain, "", 0);
    mt_text_append(&label, "", 0);
    mt_xml_unescape(translation, length, &plain);
    if (!plain.status)
        mt_accelerator_place(accelerator->mark, accelerator->letter, plain.bytes, plain.length,
                             &label);
    if (plain.status || label.status)
        out->status = MT_MEMORY;
    else
        mt_text_append_markup(out, label.bytes, label.length);
    mt_text_finish(&plain);
    mt_text_finish(&label);
}

bool mt_xml_message_write_piece(const struct mt_document *document,
                                const struct mt_document_piece *piece, const char *translation,
                                size_t length, struct mt_text *out)
{
    (void)document;
    return write_message((unsigned)piece->n, translation, length, out);
}
