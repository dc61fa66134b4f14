#include "server/documents/office/office_state.h"

#include "server/documents/office/office_words.h"
#include "server/documents/xml_words.h"
#include "server/text/tagged_text.h"
#include "server/text/xml/xml_reader.h"

#include <stdlib.h>
#include <string.h>

/* What is open within an element, or outside of all, where tags make a look. */
struct level {
    const struct mt_text *outer; /* tags of the look around it; NULL: none */
    struct mt_text tags;         /* further tags, which are closed when others are needed */
};

struct writer {
    struct mt_document_writing *writing;
    const struct mt_office *office;
    const struct text *text;
    struct mt_text out;
    size_t open[MT_OFFICE_MAX_OPEN + 1]; /* indexes of codes */
    size_t n_open;
    struct level levels[MT_OFFICE_MAX_OPEN + 2];
    size_t level;
    bool *is_written;
    bool is_behind_blank;
    bool has_dropped, is_odd; /* the large letter is written; it cannot be */
    const char *blank;        /* how the file writes a no-break space; NULL: as the character */
};

static const struct code *code_at(const struct writer *writer, size_t number)
{
    return &writer->office->codes[writer->text->first + number];
}

static void append_words(const char *words, size_t length, struct mt_text *out)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)words[i] >= ' ')
            mt_text_append(out, words + i, 1);
        else
            mt_text_append(out, " ", 1);
}

static void append_attribute(const char *words, size_t length, struct mt_text *out)
{
    for (size_t i = 0; i < length; i++)
        if (words[i] == '"' || words[i] == '\'')
            mt_text_append_string(out, words[i] == '"' ? "&quot;" : "&apos;");
        else
            append_words(words + i, 1, out);
}

/* Writes the end tags for start tags, in reverse order. */
static void close_tags(const char *tags, size_t length, struct mt_text *out)
{
    while (length > 0) {
        const char *tag = memrchr(tags, '<', length);
        if (!tag)
            return;
        mt_text_appendf(out, "</%.*s>", (int)strcspn(tag + 1, " \t\r\n/>"), tag + 1);
        length = (size_t)(tag - tags);
    }
}

/* Closes and opens tags so that what is written next has the look. has_blank: writes a blank
 * between both, so that it has as few tags as it may have. */
static void set_look(struct writer *writer, const struct mt_text *look, bool has_blank)
{
    struct level *level = &writer->levels[writer->level];
    const struct mt_text *outer = level->outer;
    mt_text_append(&level->tags, "", 0);
    if (level->tags.status) {
        writer->out.status = level->tags.status;
        return;
    }
    size_t n_outer =
        outer ? mt_office_common_tags(outer->bytes, outer->length, look->bytes, look->length) : 0;
    const char *wanted = look->bytes + n_outer;
    size_t n_wanted = look->length - n_outer;
    size_t n = mt_office_common_tags(level->tags.bytes, level->tags.length, wanted, n_wanted);
    close_tags(level->tags.bytes + n, level->tags.length - n, &writer->out);
    if (has_blank)
        writer->office->format->write_words(" ", 1, writer->is_behind_blank, &writer->out);
    mt_text_append(&writer->out, wanted + n, n_wanted - n);
    level->tags.length = n;
    mt_text_append(&level->tags, wanted + n, n_wanted - n);
    if (level->tags.status)
        writer->out.status = level->tags.status;
}

/* Closes what set_look opened at this level. */
static void end_look(struct writer *writer)
{
    struct mt_text *tags = &writer->levels[writer->level].tags;
    if (tags->length > 0)
        close_tags(tags->bytes, tags->length, &writer->out);
    tags->length = 0;
}

static void write_plain_run(struct writer *writer, const struct mt_text *look, const char *words,
                            size_t length)
{
    const struct mt_office *office = writer->office;
    struct mt_text clean = {0};
    append_words(words, length, &clean);
    const struct mt_office_run run = {
        .prefix = writer->text->element_prefix,
        .look = look,
        .words = clean.bytes,
        .length = clean.length,
        .language = office->has_target && office->names_language ? &office->target : NULL};
    if (clean.status)
        writer->out.status = clean.status;
    else
        writer->text->write_run(&run, &writer->out);
    mt_text_finish(&clean);
}

/* Writes the large letter that the words begin with, with a quotation mark before it, and what
 * stands between it and the other words. Returns its bytes. */
static size_t drop_letter(struct writer *writer, const char *words, size_t length)
{
    const struct text *text = writer->text;
    size_t n = 0;
    while (n < length && !mt_is_word_char(mt_utf8_decode(words + n)))
        n += mt_char_length(words + n);
    n += n < length ? mt_char_length(words + n) : 0;
    writer->has_dropped = true;
    /* what is open, or an entity, cannot be cut in two */
    if (writer->out.length > text->prefix.length || memchr(words, '&', n) || n == 0) {
        writer->is_odd = true;
        return 0;
    }
    write_plain_run(writer, &writer->office->looks[text->drop_look].properties, words, n);
    mt_document_write_inner(writer->writing, text->drop, &writer->out);
    return n;
}

static void write_run(struct writer *writer, const char *words, size_t length)
{
    const struct text *text = writer->text;
    const struct mt_office *office = writer->office;
    const struct mt_office_format *format = office->format;
    size_t look =
        writer->n_open > 0 ? code_at(writer, writer->open[writer->n_open - 1])->look : text->look;
    const struct mt_text *properties = &writer->office->looks[look].properties;
    if (text->is_attribute) {
        append_attribute(words, length, &writer->out);
    } else if (format) {
        bool has_blank = words[0] == ' ';
        set_look(writer, properties, has_blank);
        format->write_words(words + has_blank, length - has_blank,
                            has_blank || writer->is_behind_blank, &writer->out);
    } else {
        size_t n =
            text->drop.end > 0 && !writer->has_dropped ? drop_letter(writer, words, length) : 0;
        if (n < length)
            write_plain_run(writer, properties, words + n, length - n);
    }
    writer->is_behind_blank = words[length - 1] == ' ';
}

static void write_bytes(struct writer *writer, const struct mt_text *bytes,
                        struct mt_range verbatim)
{
    if (verbatim.end > verbatim.begin)
        mt_document_write_inner(writer->writing, verbatim, &writer->out);
    else if (bytes)
        mt_text_append(&writer->out, bytes->bytes, bytes->length);
}

static void write_point(struct writer *writer, const struct code *code, char form)
{
    if (writer->office->format)
        set_look(writer, &writer->office->looks[code->look].properties, false);
    mt_text_append(&writer->out, code->open.bytes, code->open.length);
    write_bytes(writer, NULL, code->verbatim);
    mt_text_append(&writer->out, code->close.bytes, code->close.length);
    writer->is_behind_blank = form == 'b' || form == 'e';
}

static bool write_code(struct writer *writer, const struct mt_office_tag *tag)
{
    if (tag->code >= writer->text->n)
        return false;
    const struct code *code = code_at(writer, tag->code);
    if (tag->is_closing) {
        bool is_open = writer->n_open > 0 && writer->open[--writer->n_open] == tag->code;
        if (is_open && code->has_outer) {
            end_look(writer);
            writer->level--;
        }
        write_bytes(writer, &code->close, code->verbatim_close);
        return is_open;
    }
    bool is_again = writer->is_written[tag->code] && !code->is_look;
    if (is_again || (tag->is_pair && writer->n_open > MT_OFFICE_MAX_OPEN))
        return false;
    writer->is_written[tag->code] = true;
    if (!tag->is_pair) {
        write_point(writer, code, tag->form);
        return true;
    }
    if (code->has_outer)
        set_look(writer, &writer->office->looks[code->outer].properties, false);
    write_bytes(writer, &code->open, code->verbatim);
    writer->open[writer->n_open++] = tag->code;
    if (code->has_outer)
        writer->levels[++writer->level].outer = &writer->office->looks[code->outer].properties;
    return true;
}

/* Finds how the piece writes a no-break space. Only a page may have the first. */
static const char *find_blank(const char *bytes, size_t length, bool is_page)
{
    static const char *const blanks[] = {"&nbsp;", "&#160;", "&#xA0;", "&#xa0;"};
    for (size_t i = !is_page; i < sizeof blanks / sizeof *blanks; i++)
        if (memmem(bytes, length, blanks[i], strlen(blanks[i])))
            return blanks[i];
    return NULL;
}

static void write_words(struct writer *writer, const char *words, size_t length)
{
    struct mt_text own = {0};
    for (size_t i = 0; i < length; i++) {
        bool is_blank = writer->blank && strncmp(words + i, "\u00a0", 2) == 0;
        const char *bytes = is_blank ? writer->blank : words + i;
        mt_text_append(&own, bytes, is_blank ? strlen(bytes) : 1);
        i += is_blank;
    }
    writer->out.status = own.status ? own.status : writer->out.status;
    if (!own.status)
        write_run(writer, own.bytes, own.length);
    mt_text_finish(&own);
}

static bool write_translation(struct writer *writer, const char *translation, size_t length)
{
    struct mt_office_tag tag;
    for (size_t at = 0; at < length;) {
        size_t n = strcspn(translation + at, "<");
        if (n > 0) {
            write_words(writer, translation + at, n);
        } else if (mt_office_read_tag(translation + at, length - at, &tag)) {
            if (!write_code(writer, &tag))
                return false;
            n = tag.length;
        } else {
            return false;
        }
        at += n;
    }
    end_look(writer);
    for (size_t i = 0; i < writer->text->n; i++)
        if (!writer->is_written[i] && (!code_at(writer, i)->is_look || code_at(writer, i)->is_link))
            return false;
    return writer->n_open == 0 && !writer->out.status;
}

static void write_outside(struct writer *writer, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        write_point(writer, code_at(writer, i), 'e');
    end_look(writer);
}

/* Counts the UTF-16 units in the XML's content. */
static size_t count_chars(const struct mt_text *xml)
{
    struct mt_text plain = {0};
    size_t n = 0;
    mt_text_append(&plain, "", 0);
    mt_xml_unescape(xml->bytes, xml->length, &plain);
    for (size_t i = 0; i < plain.length; i += mt_char_length(plain.bytes + i))
        n += mt_char_length(plain.bytes + i) == 4 ? 2 : 1;
    if (plain.status)
        n = SIZE_MAX;
    mt_text_finish(&plain);
    return n;
}

/* Whether what was written may stand in its place. Behind a large letter a paragraph ends and another
 * begins. */
static bool is_content(const struct writer *writer)
{
    const char *prefix = writer->text->element_prefix;
    const struct mt_office_format *format = writer->office->format;
    struct mt_text all = {0};
    if (writer->text->drop.end == 0)
        return mt_xml_is_content(writer->out.bytes, writer->out.length, format);
    mt_text_appendf(&all, "<%sp>", prefix);
    mt_text_append(&all, writer->out.bytes, writer->out.length);
    mt_text_appendf(&all, "</%sp>", prefix);
    bool is_one = !all.status && mt_xml_is_content(all.bytes, all.length, format);
    mt_text_finish(&all);
    return is_one;
}

bool mt_office_write_piece(struct mt_document_writing *writing,
                           const struct mt_document_piece *piece, const char *translation,
                           size_t length, struct mt_text *out)
{
    const struct mt_document *document = writing->document;
    const struct mt_office *office = document->own;
    const struct text *text = &office->texts[piece->first];
    struct writer writer = {
        .writing = writing, .office = office, .text = text, .is_behind_blank = true};
    writer.blank = find_blank(document->bytes + piece->range.begin,
                              piece->range.end - piece->range.begin, office->format != NULL);
    writer.is_written = calloc(text->n + 1, sizeof *writer.is_written);
    write_outside(&writer, text->n, text->n_before);
    mt_text_append(&writer.out, text->prefix.bytes, text->prefix.length);
    bool is_written = writer.is_written && write_translation(&writer, translation, length) &&
                      !writer.is_odd && (text->drop.end == 0 || writer.has_dropped);
    mt_text_append(&writer.out, text->suffix.bytes, text->suffix.length);
    write_outside(&writer, text->n + text->n_before, text->n_after);
    is_written = is_written && !writer.out.status && is_content(&writer);
    if (is_written && text->max_chars > 0 && count_chars(&writer.out) > text->max_chars) {
        writing->refused = "its translation is longer than a workbook's program opens";
        is_written = false;
    }
    if (!writer.is_written || writer.out.status)
        out->status = MT_MEMORY;
    if (is_written) {
        if (text->ends_run)
            mt_text_appendf(out, "</%sr>", text->element_prefix);
        mt_text_append(out, writer.out.bytes, writer.out.length);
        mt_document_append(document, text->run, out);
    }
    free(writer.is_written);
    for (size_t i = 0; i < sizeof writer.levels / sizeof *writer.levels; i++)
        mt_text_finish(&writer.levels[i].tags);
    mt_text_finish(&writer.out);
    return is_written;
}
