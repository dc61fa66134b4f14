#include "server/documents/office/office_words.h"

#include "base/ascii.h"
#include "server/documents/xml_words.h"

#include <string.h>

#define MAX_DIGITS 9

struct reader {
    struct mt_coded_segment *segment;
    struct {
        size_t number; /* number of the open code */
        size_t code;   /* its index in the segment */
    } open[MT_OFFICE_MAX_OPEN];
    size_t n_open;
};

bool mt_office_read_tag(const char *text, size_t length, struct mt_office_tag *out)
{
    *out = (struct mt_office_tag){0};
    size_t at = 1, begin;
    if (length < 3 || text[0] != '<')
        return false;
    out->is_closing = text[at] == '/';
    begin = at += out->is_closing;
    for (; at < length && at < begin + MAX_DIGITS && mt_ascii_is_digit(text[at]); at++)
        out->code = out->code * 10 + (size_t)(text[at] - '0');
    if (at == begin)
        return false;
    if (at + 1 < length && text[at] == ':' && text[at + 1] && strchr("wnbe", text[at + 1])) {
        out->form = text[at + 1];
        at += 2;
    }
    bool is_single = at < length && text[at] == '/';
    at += is_single;
    if (at >= length || text[at] != '>' || (is_single ? out->is_closing : out->form != 0))
        return false;
    out->is_pair = !is_single;
    out->length = at + 1;
    return true;
}

void mt_office_write_tag(const struct mt_office_tag *tag, struct mt_text *out)
{
    mt_text_appendf(out, tag->is_closing ? "</%zu" : "<%zu", tag->code);
    if (tag->form)
        mt_text_appendf(out, ":%c", tag->form);
    mt_text_append_string(out, tag->is_pair ? ">" : "/>");
}

/* ---- reading ---- */

static enum mt_status add(struct reader *reader, enum mt_code_kind kind, const char *covered,
                          struct mt_range bytes, size_t mate, struct mt_error *err)
{
    struct mt_text *words = &reader->segment->words;
    size_t here = words->length;
    mt_text_append_string(words, covered);
    const struct mt_code code = {
        .kind = kind, .at = {here, here + strlen(covered)}, .bytes = bytes, .mate = mate};
    return mt_coded_add(reader->segment, &code, err);
}

static enum mt_status take_single(struct reader *reader, char form, struct mt_range bytes,
                                  struct mt_error *err)
{
    switch (form) {
    case 'w': /* the code covers this, so that nobody sees it */
        return add(reader, MT_CODE_WORD, "X", bytes, MT_NO_MATE, err);
    case 'n':
        return add(reader, MT_CODE_NUMBER, "X", bytes, MT_NO_MATE, err);
    case 'b':
        return add(reader, MT_CODE_BREAK, "\n", bytes, MT_NO_MATE, err);
    case 'e':
        return add(reader, MT_CODE_EDGE, "", bytes, MT_NO_MATE, err);
    default:
        return add(reader, MT_CODE_POINT, "", bytes, MT_NO_MATE, err);
    }
}

static enum mt_status take_closing(struct reader *reader, size_t number, struct mt_range bytes,
                                   struct mt_error *err)
{
    struct mt_coded_segment *segment = reader->segment;
    bool is_mate = reader->n_open > 0 && reader->open[reader->n_open - 1].number == number;
    if (!is_mate)
        return add(reader, MT_CODE_POINT, "", bytes, MT_NO_MATE, err);
    size_t open = reader->open[--reader->n_open].code;
    /* there are no words within the pair */
    if (segment->codes[open].at.begin == segment->words.length)
        return add(reader, MT_CODE_POINT, "", bytes, MT_NO_MATE, err);
    enum mt_status status = add(reader, MT_CODE_CLOSE, "", bytes, open, err);
    if (status)
        return status;
    segment->codes[open].kind = MT_CODE_OPEN;
    segment->codes[open].mate = segment->n - 1;
    return MT_OK;
}

static enum mt_status take_tag(struct reader *reader, const struct mt_office_tag *tag, size_t at,
                               struct mt_error *err)
{
    const struct mt_range bytes = {at, at + tag->length};
    if (!tag->is_pair)
        return take_single(reader, tag->form, bytes, err);
    if (tag->is_closing)
        return take_closing(reader, tag->code, bytes, err);
    enum mt_status status = add(reader, MT_CODE_POINT, "", bytes, MT_NO_MATE, err);
    if (!status && reader->n_open < MT_OFFICE_MAX_OPEN) {
        reader->open[reader->n_open].number = tag->code;
        reader->open[reader->n_open++].code = reader->segment->n - 1;
    }
    return status;
}

enum mt_status mt_read_office_words(const char *source, size_t length,
                                    const struct mt_coded_options *options, struct mt_coded *out,
                                    struct mt_error *err)
{
    struct reader reader = {0};
    struct mt_office_tag tag;
    (void)options;
    *out = (struct mt_coded){.source = source, .length = length, .write = mt_coded_write_markup};
    enum mt_status status = mt_coded_add_segment(out, 0, &reader.segment, err);
    if (status)
        return status;
    reader.segment->range.end = length;
    for (size_t at = 0; at < length && !status;) {
        size_t n = strcspn(source + at, "<");
        if (n > 0) {
            mt_xml_unescape(source + at, n, &reader.segment->words);
        } else if (mt_office_read_tag(source + at, length - at, &tag)) {
            status = take_tag(&reader, &tag, at, err);
            n = tag.length;
        } else {
            mt_text_append(&reader.segment->words, "<", 1);
            n = 1;
        }
        at += n;
    }
    return status ? status : mt_text_check(&reader.segment->words, "a text", err);
}
