#include "server/documents/office/office_runs.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/documents/office/office_names.h"
#include "server/documents/xml_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Most characters of a sheet's header or footer with its codes. Excel does not open files with
 * more. */
#define MAX_HEADER_CHARS 255

/* What an element becomes whose content is not read. */
enum whole { POINT, DROPPED, PROPERTIES };

struct reader {
    struct mt_document *document;
    enum mt_office_texts texts;
    const struct mt_office_referenced *referenced;
    struct mt_office_prefix prefix;
    bool is_placeholder;      /* slides fill the shape in */
    bool is_string;           /* the cell holds characters that no formula has made */
    size_t copied_depth;      /* depth of a chart's copy of cells; 0: outside of any */
    const char *copied;       /* name of the elements of characters in it */
    size_t series_name_depth; /* depth of c:tx */

    size_t depth, begin;        /* depth of the paragraph's element; 0: outside of paragraphs */
    struct mt_range properties; /* the beginning of its <pPr> */
    struct mt_office_token *tokens;
    size_t n, capacity;
    bool is_odd, has_runs, has_ended;
    size_t run_depth, run_first;
    struct mt_range run; /* the beginning of the run */
    size_t look;
    bool is_link;
    size_t words_depth;
    struct mt_range words_tag;
    bool keeps_blanks;
    bool is_header; /* the element is a sheet's header or footer */
    size_t whole_depth;
    struct mt_range whole_tag;
    enum whole whole;
    char form;
    struct mt_text look_bytes;
    struct mt_error *err;
};

static bool is_drawing(const struct reader *reader)
{
    return reader->texts == MT_OFFICE_SHAPES || reader->texts == MT_OFFICE_MASTER ||
           reader->texts == MT_OFFICE_CHART;
}

/* ---- writing ---- */

static void write_words(const struct mt_office_run *run, const char *space, struct mt_text *out)
{
    mt_text_appendf(out, "<%st%s>", run->prefix, space);
    mt_text_append(out, run->words, run->length);
    mt_text_appendf(out, "</%st></%sr>", run->prefix, run->prefix);
}

/* The language is written as an attribute of the look. */
void mt_office_write_shape_run(const struct mt_office_run *run, struct mt_text *out)
{
    const char *rest = run->look->length > 0 ? run->look->bytes + strlen("<rPr") : "/>";
    if (run->look->length > 0)
        rest += strlen(run->prefix);
    mt_text_appendf(out, "<%sr>", run->prefix);
    if (run->language)
        mt_text_appendf(out, "<%srPr lang=\"%s\"%s", run->prefix, run->language->tag, rest);
    else
        mt_text_append(out, run->look->bytes, run->look->length);
    write_words(run, "", out);
}

void mt_office_write_cell_run(const struct mt_office_run *run, struct mt_text *out)
{
    mt_text_appendf(out, "<%sr>", run->prefix);
    mt_text_append(out, run->look->bytes, run->look->length);
    write_words(run, " xml:space=\"preserve\"", out);
}

void mt_office_write_plain(const struct mt_office_run *run, struct mt_text *out)
{
    mt_text_append(out, run->words, run->length);
}

/* Writes words into a sheet's header. There & begins a code, so it is doubled; a blank separates
 * digits from a size before them. */
void mt_office_write_header(const struct mt_office_run *run, struct mt_text *out)
{
    static const char sign[] = "&amp;";
    bool is_behind_digit = out->length > 0 && mt_ascii_is_digit(out->bytes[out->length - 1]);
    mt_text_append(out, " ", is_behind_digit && mt_ascii_is_digit(run->words[0]));
    for (size_t at = 0; at < run->length;) {
        bool is_sign = strncmp(run->words + at, sign, strlen(sign)) == 0;
        size_t n = is_sign ? strlen(sign) : 1;
        mt_text_append(out, run->words + at, n);
        mt_text_append(out, sign, is_sign ? n : 0);
        at += n;
    }
}

/* ---- tokens ---- */

static enum mt_status add_token(struct reader *reader, enum mt_office_kind kind,
                                struct mt_range range, struct mt_office_token **out)
{
    enum mt_status status =
        mt_office_add_token(&reader->tokens, &reader->n, &reader->capacity, out, reader->err);
    if (status)
        return status;
    **out = (struct mt_office_token){.kind = kind,
                                     .range = range,
                                     .outer = range,
                                     .look = reader->look,
                                     .is_link = reader->is_link,
                                     .mate = MT_NO_MATE};
    mt_text_append(&(*out)->bytes, "", 0);
    if (reader->run_depth > 0) {
        (*out)->run = reader->run;
        (*out)->outer.begin = reader->run.begin;
    }
    reader->is_odd = reader->is_odd || reader->has_ended;
    return MT_OK;
}

/* Appends bytes of the file in a form that may stand in a paragraph, within a run's words or
 * between runs. */
static void append_xml(struct reader *reader, struct mt_range range, struct mt_text *out)
{
    bool is_in_words = reader->words_depth > 0 && reader->run_depth > 0;
    if (reader->run_depth > 0)
        mt_document_append(reader->document, reader->run, out);
    if (is_in_words)
        mt_text_appendf(out, is_drawing(reader) ? "<%st>" : "<%st xml:space=\"preserve\">",
                        reader->prefix.text);
    mt_document_append(reader->document, range, out);
    if (is_in_words)
        mt_text_appendf(out, "</%st>", reader->prefix.text);
    if (reader->run_depth > 0)
        mt_text_appendf(out, "</%sr>", reader->prefix.text);
}

static enum mt_status add_point(struct reader *reader, struct mt_range range, char form)
{
    struct mt_office_token *token;
    enum mt_status status = add_token(reader, MT_OFFICE_POINT, range, &token);
    if (status)
        return status;
    token->form = form;
    append_xml(reader, range, &token->bytes);
    return MT_OK;
}

/* Makes "&" of "&&". */
static void join_signs(struct mt_text *words)
{
    size_t n = 0;
    for (size_t i = 0; i < words->length; i++) {
        words->bytes[n++] = words->bytes[i];
        i += words->bytes[i] == '&' && i + 1 < words->length && words->bytes[i + 1] == '&';
    }
    words->length = n;
    if (n > 0)
        words->bytes[n] = '\0';
}

static enum mt_status add_words(struct reader *reader, struct mt_range range)
{
    struct mt_office_token *token;
    if (range.begin >= range.end)
        return MT_OK;
    enum mt_status status = add_token(reader, MT_OFFICE_WORDS, range, &token);
    if (status)
        return status;
    if (!mt_office_unescape(reader->document->bytes + range.begin, range.end - range.begin,
                            &token->bytes))
        reader->is_odd = true;
    if (reader->is_header)
        join_signs(&token->bytes);
    return MT_OK;
}

/* Returns the length of something among characters that is no word: a line end, a tab, or a
 * character that Office writes as its number; 0: there is none. */
static size_t find_other(const struct reader *reader, struct mt_range range, char *form)
{
    static const struct {
        const char *bytes;
        char form;
    } others[] = {{"\r\n", 'b'},         {"\n", 'b'},        {"\r", 'b'},      {"&#10;", 'b'},
                  {"&#13;&#10;", 'b'},   {"&#xA;", 'b'},     {"&#xa;", 'b'},   {"_x000D_\n", 'b'},
                  {"_x000D_\r\n", 'b'},  {"_x000d_\n", 'b'}, {"_x000B_", 'b'}, {"_x000b_", 'b'},
                  {"_x000D_&#10;", 'b'}, {"\t", 'e'},        {"&#9;", 'e'},    {"&#x9;", 'e'}};
    const char *at = reader->document->bytes + range.begin;
    size_t left = range.end - range.begin;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t n = strlen(others[i].bytes);
        if (n <= left && memcmp(at, others[i].bytes, n) == 0) {
            *form = others[i].form;
            return n;
        }
    }
    *form = '\0';
    bool is_number = left >= 7 && at[0] == '_' && at[1] == 'x' && at[6] == '_';
    for (size_t i = 2; i < 6 && is_number; i++)
        is_number = mt_hex_digit(at[i]) >= 0;
    return is_number ? 7 : 0;
}

/* Reads a character, which may be an entity, and returns its length. *out is 0 for entities of other
 * characters than & and ". */
static size_t next_char(const char *bytes, size_t left, char *out)
{
    static const struct {
        const char *entity;
        char c;
    } entities[] = {{"&amp;", '&'}, {"&#38;", '&'}, {"&quot;", '"'}, {"&#34;", '"'}};
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t n = strlen(entities[i].entity);
        if (n <= left && memcmp(bytes, entities[i].entity, n) == 0) {
            *out = entities[i].c;
            return n;
        }
    }
    const char *end = left > 0 && *bytes == '&' ? memchr(bytes, ';', left) : NULL;
    *out = left > 0 && !end ? *bytes : '\0';
    if (end)
        return (size_t)(end - bytes) + 1;
    return left > 0 ? mt_size_min(mt_char_length(bytes), left) : 0;
}

/* Returns the length of the code that & begins in a sheet's header, or 0. Codes such as &L and &12
 * separate texts, &P and &A stand in them, and && is a sign. *form is set as by find_other, or to
 * 's' for the sign. */
static size_t find_code(const struct reader *reader, struct mt_range range, char *form)
{
    const char *bytes = reader->document->bytes + range.begin;
    size_t left = range.end - range.begin;
    char c, next;
    size_t n = next_char(bytes, left, &c);
    *form = '\0';
    if (c != '&')
        return 0;
    n += next_char(bytes + n, left - n, &c);
    *form = c == '&' ? 's' : c && strchr("PNDT", c) ? 'n' : c && strchr("AFZ", c) ? 'w' : 'e';
    if (c == '"') /* a font */
        for (next = '\0'; n < left && next != '"';)
            n += next_char(bytes + n, left - n, &next);
    else if (c == 'K') /* a color: FF0000, or 04-021 of a theme */
        for (size_t end = mt_size_min(n + 6, left);
             n < end && (mt_ascii_is_letter_or_digit(bytes[n]) || strchr("+-", bytes[n]));)
            n++;
    else if (mt_ascii_is_digit(c)) /* a size */
        n += strspn(bytes + n, "0123456789");
    /* the page's number plus or minus another */
    else if (c == 'P' && n < left && strchr("+-", bytes[n]))
        n += 1 + strspn(bytes + n + 1, "0123456789");
    return c ? n : 0;
}

/* Adds the characters between tags. */
static enum mt_status add_characters(struct reader *reader, struct mt_range range)
{
    const char *bytes = reader->document->bytes;
    enum mt_status status = MT_OK;
    size_t begin = range.begin, at = range.begin;
    while (at < range.end && !status) {
        char form;
        at += strcspn(bytes + at, "\r\n\t&_<");
        if (at >= range.end)
            break;
        size_t n =
            reader->is_header ? find_code(reader, (struct mt_range){at, range.end}, &form) : 0;
        if (n == 0)
            n = find_other(reader, (struct mt_range){at, range.end}, &form);
        if (n > 0 && form != 's') {
            status = add_words(reader, (struct mt_range){begin, at});
            if (!status)
                status = add_point(reader, (struct mt_range){at, at + n}, form);
            begin = at + n;
        }
        reader->is_odd = reader->is_odd || bytes[at] == '<';
        at += n > 0 ? n : 1;
    }
    return status ? status : add_words(reader, (struct mt_range){begin, range.end});
}

static void drop_tokens(struct reader *reader)
{
    for (size_t i = 0; i < reader->n; i++)
        mt_text_finish(&reader->tokens[i].bytes);
    reader->n = 0;
}

enum mt_status mt_office_add_attribute(struct mt_document *document, struct mt_range tag,
                                       const char *name, size_t max_chars, struct mt_error *err)
{
    struct reader reader = {.document = document, .err = err};
    const struct mt_range range = mt_xml_find_attribute(document->bytes, tag, name);
    enum mt_status status = add_characters(&reader, range);
    for (size_t i = 0; i < reader.n && !status; i++) {
        if (reader.tokens[i].kind == MT_OFFICE_WORDS)
            reader.tokens[i].form = '"';
        status = mt_text_check(&reader.tokens[i].bytes, "an attribute", err);
    }
    const struct mt_office_paragraph paragraph = {
        .prefix = "", .tokens = reader.tokens, .n = reader.n, .max_chars = max_chars};
    if (!status && !reader.is_odd && reader.n > 0)
        status = mt_office_add_texts(document, &paragraph, err);
    drop_tokens(&reader);
    free(reader.tokens);
    return status;
}

/* ---- elements of a paragraph ---- */

static void begin_whole(struct reader *reader, const struct mt_xml_tag *tag, enum whole whole,
                        char form)
{
    reader->whole_depth = tag->depth;
    reader->whole_tag = tag->range;
    reader->whole = whole;
    reader->form = form;
}

/* Appends a tag's attributes, except invisible ones. */
static void append_attributes(const char *tag, size_t length, struct mt_text *out)
{
    static const char *const unseen[] = {"lang",    "altLang",  "dirty", "err",
                                         "noProof", "smtClean", "bmk",   "smtId"};
    size_t at = strcspn(tag, " \t\r\n/>");
    for (;;) {
        char name[16] = "";
        at += strspn(tag + at, " \t\r\n");
        if (at >= length || tag[at] == '/' || tag[at] == '>')
            return;
        size_t begin = at, n = strcspn(tag + at, " \t\r\n=");
        if (n < sizeof name)
            memcpy(name, tag + at, n);
        at += strcspn(tag + at, "\"'");
        at += strcspn(tag + at + 1, tag[at] == '"' ? "\"" : "'") + 2;
        if (MT_IS_ONE_OF(name, unseen))
            continue;
        mt_text_append(out, " ", 1);
        mt_text_append(out, tag + begin, at - begin);
    }
}

/* Makes a look of a run's properties. */
static enum mt_status end_properties(struct reader *reader, const struct mt_xml_tag *tag)
{
    const char *bytes = reader->document->bytes;
    const struct mt_range inner = {reader->whole_tag.end, tag->range.begin};
    struct mt_text *look = &reader->look_bytes;
    look->length = 0;
    mt_text_append(look, "", 0);
    append_attributes(bytes + reader->whole_tag.begin,
                      reader->whole_tag.end - reader->whole_tag.begin, look);
    if (inner.begin < inner.end) {
        mt_text_append(look, ">", 1);
        mt_document_append(reader->document, inner, look);
        mt_text_appendf(look, "</%srPr>", reader->prefix.text);
    } else if (look->length > 0) {
        mt_text_append_string(look, "/>");
    }
    reader->run.end = tag->range.end;
    reader->is_link = !look->status && strstr(look->bytes, "hlink");
    if (look->length == 0 || look->status)
        return mt_text_check(look, "a paragraph", reader->err);
    struct mt_text whole = {0};
    mt_text_appendf(&whole, "<%srPr", reader->prefix.text);
    mt_text_append(&whole, look->bytes, look->length);
    enum mt_status status = mt_text_check(&whole, "a paragraph", reader->err);
    if (!status)
        status = mt_office_look(reader->document->own, whole.bytes, whole.length, &reader->look,
                                reader->err);
    mt_text_finish(&whole);
    return status;
}

static enum mt_status end_whole(struct reader *reader, const struct mt_xml_tag *tag)
{
    const struct mt_range range = {reader->whole_tag.begin, tag->range.end};
    struct mt_office_token *token;
    reader->whole_depth = 0;
    switch (reader->whole) {
    case PROPERTIES:
        return end_properties(reader, tag);
    case DROPPED: /* a phonetic reading is removed together with the words it belongs to */
        return is_drawing(reader) ? MT_OK : add_token(reader, MT_OFFICE_END, range, &token);
    case POINT:
        break;
    }
    return add_point(reader, range, reader->form);
}

static void begin_words(struct reader *reader, const struct mt_xml_tag *tag)
{
    reader->words_depth = tag->depth;
    reader->words_tag = tag->range;
    reader->keeps_blanks =
        is_drawing(reader) || strcmp(mt_office_attribute(tag, "space"), "preserve") == 0;
}

static enum mt_status end_words(struct reader *reader, const struct mt_xml_tag *tag)
{
    const char *bytes = reader->document->bytes;
    struct mt_range inner = {reader->words_tag.end, tag->range.begin};
    struct mt_office_token *token;
    bool is_plain = reader->run_depth == 0 && reader->words_depth != reader->depth;
    enum mt_status status = MT_OK;
    if (inner.end <= inner.begin) {
        reader->words_depth = 0;
        return MT_OK;
    }
    /* the only words of a cell are written into an element that keeps their blanks */
    if (is_plain) {
        status = add_token(reader, MT_OFFICE_BEGIN, reader->words_tag, &token);
        if (!status)
            mt_text_appendf(&token->bytes, "<%st xml:space=\"preserve\">", reader->prefix.text);
    }
    if (!reader->keeps_blanks)
        inner = mt_range_trim(bytes, inner.begin, inner.end);
    if (!status)
        status = add_characters(reader, inner);
    if (!status && is_plain) {
        status = add_token(reader, MT_OFFICE_END, tag->range, &token);
        if (!status)
            mt_text_appendf(&token->bytes, "</%st>", reader->prefix.text);
    }
    reader->words_depth = 0;
    return status;
}

static void begin_run(struct reader *reader, const struct mt_xml_tag *tag)
{
    reader->is_odd = reader->is_odd || (reader->n > 0 && !reader->has_runs && !is_drawing(reader));
    reader->run_depth = tag->depth;
    reader->run = tag->range;
    reader->run_first = reader->n;
    reader->look = 0;
    reader->is_link = false;
    reader->has_runs = true;
}

static void end_run(struct reader *reader, const struct mt_xml_tag *tag)
{
    reader->run_depth = 0;
    reader->look = 0;
    reader->is_link = false;
    for (size_t i = reader->run_first; i < reader->n; i++)
        reader->tokens[i].outer.end = tag->range.end;
}

static void begin_properties(struct reader *reader, const struct mt_xml_tag *tag)
{
    if (is_drawing(reader) && mt_xml_attribute(tag, "lang"))
        mt_office_name_language(reader->document->own);
    begin_whole(reader, tag, PROPERTIES, '\0');
}

static void begin_in_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const read_aloud[] = {"rPh", "phoneticPr"};
    bool is_ours = mt_office_has_prefix(&reader->prefix, reader->document, tag);
    const char *name = is_ours ? tag->name : "";
    if (reader->run_depth > 0) {
        if (strcmp(name, "t") == 0)
            begin_words(reader, tag);
        else if (strcmp(name, "rPr") == 0 && reader->n == reader->run_first)
            begin_properties(reader, tag);
        else
            begin_whole(reader, tag, POINT, '\0');
    } else if (strcmp(name, "r") == 0) {
        begin_run(reader, tag);
    } else if (!is_drawing(reader) && strcmp(name, "t") == 0) {
        reader->is_odd = reader->is_odd || reader->n > 0;
        begin_words(reader, tag);
    } else if (!is_drawing(reader) && MT_IS_ONE_OF(name, read_aloud)) {
        begin_whole(reader, tag, DROPPED, '\0');
    } else if (is_drawing(reader) && strcmp(name, "pPr") == 0) {
        reader->is_odd = reader->is_odd || reader->n > 0;
        reader->properties = tag->range;
        begin_whole(reader, tag, DROPPED, '\0');
    } else if (is_drawing(reader) && strcmp(name, "endParaRPr") == 0) {
        reader->has_ended = true;
        begin_whole(reader, tag, DROPPED, '\0');
    } else if (strcmp(name, "br") == 0) {
        begin_whole(reader, tag, POINT, 'b');
    } else {
        begin_whole(reader, tag, POINT, strcmp(name, "fld") == 0 ? 'n' : 'w');
    }
}

/* ---- paragraphs ---- */

/* *out: the words that a reader sees in the paragraph must not be translated
 * (office_referenced.h). */
static enum mt_status is_referenced(const struct reader *reader, bool *out)
{
    struct mt_text words = {0};
    mt_text_append(&words, "", 0);
    for (size_t i = 0; i < reader->n; i++) {
        const struct mt_office_token *token = &reader->tokens[i];
        if (token->kind == MT_OFFICE_WORDS)
            mt_text_append(&words, token->bytes.bytes, token->bytes.length);
        else if (token->form == 'b')
            mt_text_append(&words, "\n", 1);
    }
    enum mt_status status = mt_text_check(&words, "a cell", reader->err);
    *out = !status && mt_office_is_referenced(reader->referenced, words.bytes);
    mt_text_finish(&words);
    return status;
}

/* Adds the edit that makes a paragraph right-to-left if it is translated into such a language. */
static enum mt_status add_direction(struct reader *reader, size_t end)
{
    const struct mt_range scope = {reader->begin, end}, tag = reader->properties;
    const char *bytes = reader->document->bytes, *prefix = reader->prefix.text;
    char text[MT_DOCUMENT_EDIT_BYTES] = " rtl=\"1\"";
    struct mt_range at = {reader->begin, reader->begin}, align;
    if (!is_drawing(reader) || !reader->has_runs || !mt_office_is_rtl(reader->document->own))
        return MT_OK;
    if (tag.end == 0) {
        snprintf(text, sizeof text, "<%spPr rtl=\"1\"/>", prefix);
        return mt_document_add_edit_within(reader->document, at, scope, text, reader->err);
    }
    at = mt_xml_find_attribute(bytes, tag, "rtl");
    align = mt_xml_find_attribute(bytes, tag, "algn");
    if (at.begin < at.end)
        snprintf(text, sizeof text, "1");
    else
        at.begin = at.end = tag.begin + 1 + strlen(prefix) + strlen("pPr");
    enum mt_status status =
        mt_document_add_edit_within(reader->document, at, scope, text, reader->err);
    bool is_left = align.end == align.begin + 1 && bytes[align.begin] == 'l';
    if (!status && is_left)
        status = mt_document_add_edit_within(reader->document, align, scope, "r", reader->err);
    return status;
}

static enum mt_status end_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char odd[] = "its markup is none that can be written again";
    static const char named[] =
        "a table's heading, a formula, a filter or a list names it as it is";
    bool stays = false;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < reader->n && !status; i++)
        status = mt_text_check(&reader->tokens[i].bytes, "a paragraph", reader->err);
    if (!status && reader->referenced && !reader->is_header &&
        (reader->texts == MT_OFFICE_STRINGS || reader->texts == MT_OFFICE_CELLS))
        status = is_referenced(reader, &stays);
    const struct mt_office_paragraph paragraph = {
        .prefix = reader->prefix.text,
        .write_run = reader->is_header    ? mt_office_write_header
                     : !reader->has_runs  ? mt_office_write_plain
                     : is_drawing(reader) ? mt_office_write_shape_run
                                          : mt_office_write_cell_run,
        .tokens = reader->tokens,
        .n = reader->n,
        .max_chars = reader->is_header ? MAX_HEADER_CHARS : 0};
    if (!status && (stays || reader->is_odd))
        status = mt_office_leave(reader->document, reader->tokens, reader->n, stays ? named : odd,
                                 reader->err);
    else if (!status && reader->n > 0)
        status = mt_office_add_texts(reader->document, &paragraph, reader->err);
    if (!status && !stays && !reader->is_odd && reader->n > 0)
        status = add_direction(reader, tag->range.begin);
    drop_tokens(reader);
    reader->depth = 0;
    return status;
}

static void begin_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    reader->depth = tag->depth;
    reader->begin = tag->range.end;
    reader->properties = (struct mt_range){0};
    reader->run_depth = reader->words_depth = reader->whole_depth = 0;
    reader->is_odd = reader->has_runs = reader->has_ended = reader->is_header = false;
    reader->look = 0;
    reader->is_link = false;
}

static bool is_paragraph(const struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const names[] = {
        [MT_OFFICE_SHAPES] = "p",     [MT_OFFICE_MASTER] = "p",   [MT_OFFICE_CHART] = "p",
        [MT_OFFICE_NOTES] = "",       [MT_OFFICE_STRINGS] = "si", [MT_OFFICE_CELLS] = "is",
        [MT_OFFICE_COMMENTS] = "text"};
    return strcmp(tag->name, names[reader->texts]) == 0 &&
           mt_office_has_prefix(&reader->prefix, reader->document, tag) &&
           (reader->texts != MT_OFFICE_MASTER || !reader->is_placeholder);
}

/* Whether the element has only characters. */
static bool is_plain(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const copies[] = {"strCache", "multiLvlStrCache", "strLit",
                                         "txData",   "dlblRangeCache",   "strDim"};
    bool is_name = strcmp(tag->name, "v") == 0 && tag->depth == reader->series_name_depth + 1;
    if (reader->texts == MT_OFFICE_NOTES)
        return strcmp(tag->name, "text") == 0;
    if (reader->texts == MT_OFFICE_CELLS) {
        if (strcmp(tag->name, "c") == 0)
            reader->is_string = strcmp(mt_office_attribute(tag, "t"), "str") == 0;
        else if (strcmp(tag->name, "f") == 0)
            reader->is_string = false;
        return reader->is_string && strcmp(tag->name, "v") == 0;
    }
    if (reader->texts != MT_OFFICE_CHART)
        return false;
    if (strcmp(tag->name, "tx") == 0)
        reader->series_name_depth = tag->depth;
    if (reader->copied_depth == 0 && MT_IS_ONE_OF(tag->name, copies)) {
        reader->copied_depth = tag->depth;
        reader->copied = strcmp(tag->name, "strDim") == 0 ? "pt" : "v";
    }
    return is_name || (reader->copied_depth > 0 && strcmp(tag->name, reader->copied) == 0);
}

/* Adds the description of a shape, which is read aloud, as a text. */
static enum mt_status add_description(struct reader *reader, const struct mt_xml_tag *tag)
{
    enum mt_status status =
        mt_office_add_attribute(reader->document, tag->range, "title", 0, reader->err);
    return status ? status
                  : mt_office_add_attribute(reader->document, tag->range, "descr", 0, reader->err);
}

/* Adds the messages about cells that a person fills in. */
static enum mt_status add_prompts(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const struct {
        const char *name;
        size_t max_chars;
    } prompts[] = {{"promptTitle", 32}, {"prompt", 255}, {"errorTitle", 32}, {"error", 225}};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts && !status; i++)
        status = mt_office_add_attribute(reader->document, tag->range, prompts[i].name,
                                         prompts[i].max_chars, reader->err);
    return status;
}

static bool is_header(const struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const names[] = {"oddHeader",  "oddFooter",   "evenHeader",
                                        "evenFooter", "firstHeader", "firstFooter"};
    return reader->texts == MT_OFFICE_CELLS && MT_IS_ONE_OF(tag->name, names);
}

static enum mt_status take_begin(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    static const char *const links[] = {"hyperlink", "hlinkClick", "hlinkHover"};
    struct reader *reader = context;
    enum mt_status status = mt_office_find_prefix(
        &reader->prefix, is_drawing(reader) ? "drawingml" : "spreadsheetml", tag, err);
    if (status || reader->whole_depth > 0)
        return status;
    if (is_drawing(reader) && reader->depth == 0 && strcmp(tag->name, "cNvPr") == 0)
        return add_description(reader, tag);
    if (reader->texts == MT_OFFICE_CELLS && strcmp(tag->name, "dataValidation") == 0)
        return add_prompts(reader, tag);
    if (reader->depth == 0 && MT_IS_ONE_OF(tag->name, links))
        return mt_office_add_attribute(reader->document, tag->range, "tooltip", 255, reader->err);
    if (reader->words_depth > 0) {
        reader->is_odd = true;
    } else if (reader->depth > 0) {
        begin_in_paragraph(reader, tag);
    } else if (is_paragraph(reader, tag)) {
        begin_paragraph(reader, tag);
    } else if (is_header(reader, tag) || is_plain(reader, tag)) {
        begin_paragraph(reader, tag);
        reader->is_header = is_header(reader, tag);
        reader->words_depth = tag->depth;
        reader->words_tag = tag->range;
        reader->keeps_blanks = true;
    } else if (strcmp(tag->name, "nvPr") == 0) {
        reader->is_placeholder = false;
    } else if (strcmp(tag->name, "ph") == 0) {
        reader->is_placeholder = true;
    }
    return MT_OK;
}

static enum mt_status take_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    enum mt_status status = MT_OK;
    (void)err;
    if (tag->depth == reader->copied_depth)
        reader->copied_depth = 0;
    if (tag->depth == reader->series_name_depth)
        reader->series_name_depth = 0;
    if (reader->depth == 0)
        return MT_OK;
    if (reader->whole_depth > 0)
        return tag->depth == reader->whole_depth ? end_whole(reader, tag) : MT_OK;
    if (tag->depth == reader->words_depth)
        status = end_words(reader, tag);
    else if (tag->depth == reader->run_depth)
        end_run(reader, tag);
    if (!status && tag->depth == reader->depth)
        status = end_paragraph(reader, tag);
    return status;
}

enum mt_status mt_office_read_runs(struct mt_document *document, size_t index,
                                   enum mt_office_texts texts,
                                   const struct mt_office_referenced *referenced,
                                   struct mt_error *err)
{
    const struct mt_document_part *part = &document->parts[index];
    struct reader reader = {
        .document = document, .texts = texts, .referenced = referenced, .err = err};
    const struct mt_document view = {
        .bytes = document->bytes, .begin = part->range.begin, .length = part->range.end};
    enum mt_status status = mt_xml_read(&view, take_begin, take_end, &reader, err);
    drop_tokens(&reader);
    free(reader.tokens);
    mt_text_finish(&reader.look_bytes);
    return status ? mt_fail_in(err, status, part->name) : MT_OK;
}
