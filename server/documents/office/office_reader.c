#include "server/documents/office/office_reader.h"

#include "base/size.h"
#include "server/documents/office/office_names.h"
#include "server/documents/office/office_text_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deepest nesting of paragraphs, in text boxes, and of fields. */
#define MAX_PARAGRAPHS 16
#define MAX_FIELDS 64
#define MAX_ELEMENTS MT_XML_MAX_DEPTH
#define NONE ((size_t)-1)
#define MAX_DROP_CHARS 2 /* a quotation mark and a letter */

struct field {
    bool is_result; /* its instruction is complete */
    bool is_first;  /* it is the one for which the token is being made */
    char left;      /* the form of its result, mt_office_field_form; 0: it has words */
};

/* An element around runs. */
struct element {
    size_t depth, begin; /* of a <sdt>: where it begins */
    size_t close;        /* of a <sdt>: where the end behind its words begins; otherwise 0 */
    bool has_token, is_sdt;
    bool has_attributes; /* of a <sdt>: some attributes in it are texts */
};

struct paragraph {
    size_t depth, begin;
    bool is_drop;                    /* it is a large letter, and the next one goes on */
    struct mt_office_token drop;     /* the letter before it; empty: there is none */
    struct mt_range properties;      /* an empty <pPr/> */
    size_t direction_at;             /* where <bidi/> has to be in other <pPr>; 0: nowhere */
    struct mt_range other_direction; /* the range of <bidi w:val="0"/> */
    bool has_direction;
    struct mt_office_token *tokens;
    size_t n, capacity;
    bool is_odd, is_code; /* the paragraph is not translated */
    struct element elements[MAX_ELEMENTS];
    size_t n_elements;
    size_t run_depth; /* 0: outside of runs */
    struct mt_range run;
    size_t run_first; /* index of its first token */
    size_t properties_depth, property_begin;
    bool is_off, is_code_run; /* of the property; of the run */
    /* index behind the token of runs of code, to which more may be added; 0: none */
    size_t code;
    size_t look;
    size_t words_depth, words_begin;
    bool keeps_blanks;
    size_t whole_depth; /* depth of an element that is copied completely */
    struct mt_range whole_tag;
    char whole_name[24];
    char whole_form;
    bool is_dropped, has_paragraphs;
    bool has_attributes; /* some of its attributes are texts */
    struct field fields[MAX_FIELDS];
    size_t n_fields, field; /* the field for which a token is being made, or NONE */
    char field_change;      /* 'b'egin, 's'eparate or 'e'nd, in the element that is copied */
};

struct reader {
    struct mt_document *document;
    struct mt_office *office;
    struct mt_office_prefix prefix;
    struct paragraph *paragraphs[MAX_PARAGRAPHS]; /* nested */
    size_t n;
    struct mt_text properties; /* those of the run */
    bool has_direction, has_language;
    struct mt_text instruction;  /* that of the field */
    struct mt_office_token drop; /* a large letter whose paragraph has ended at drop_end */
    size_t drop_end;             /* 0: there is none */
    struct mt_error *err;
};

/* ---- names ---- */

static bool is_word(const struct reader *reader, const struct mt_xml_tag *tag)
{
    return mt_office_has_prefix(&reader->prefix, reader->document, tag);
}

/* Whether an element that switches a property on, such as <b/>, has a value that switches it
 * off. */
static bool is_off(const struct mt_xml_tag *tag)
{
    static const char *const values[] = {"0", "false", "off"};
    return MT_IS_ONE_OF(mt_office_attribute(tag, "val"), values);
}

/* ---- tokens ---- */

static struct paragraph *current(const struct reader *reader)
{
    return reader->n > 0 ? reader->paragraphs[reader->n - 1] : NULL;
}

static enum mt_status add_token(struct reader *reader, enum mt_office_kind kind,
                                struct mt_range range, struct mt_office_token **out)
{
    struct paragraph *p = current(reader);
    enum mt_status status = mt_office_add_token(&p->tokens, &p->n, &p->capacity, out, reader->err);
    if (status)
        return status;
    **out = (struct mt_office_token){
        .kind = kind, .range = range, .outer = range, .look = p->look, .mate = MT_NO_MATE};
    mt_text_append(&(*out)->bytes, "", 0);
    if (p->run_depth > 0) {
        (*out)->run = p->run;
        (*out)->outer.begin = p->run.begin;
    }
    return MT_OK;
}

/* Appends bytes of the file in a form that may stand in a paragraph. */
static void append_xml(struct reader *reader, struct mt_range range, struct mt_text *out)
{
    const struct paragraph *p = current(reader);
    if (p->run_depth > 0)
        mt_document_append(reader->document, p->run, out);
    mt_document_append(reader->document, range, out);
    if (p->run_depth > 0)
        mt_text_appendf(out, "</%sr>", reader->prefix.text);
}

/* Adds the XML to the field that is being read, or as a separate token. */
static enum mt_status add_xml(struct reader *reader, enum mt_office_kind kind,
                              struct mt_range range, struct mt_office_token **out)
{
    struct paragraph *p = current(reader);
    enum mt_status status = MT_OK;
    if (p->field != NONE) {
        *out = &p->tokens[p->field];
        (*out)->range.end = (*out)->outer.end = range.end;
    } else {
        status = add_token(reader, kind, range, out);
    }
    if (!status)
        append_xml(reader, range, &(*out)->bytes);
    return status;
}

static enum mt_status add_words(struct reader *reader, const struct mt_range range,
                                const char *words, size_t length)
{
    struct mt_office_token *token;
    if (current(reader)->field != NONE)
        return add_xml(reader, MT_OFFICE_POINT, range, &token);
    if (length == 0)
        return MT_OK;
    enum mt_status status = add_token(reader, MT_OFFICE_WORDS, range, &token);
    if (!status)
        mt_text_append(&token->bytes, words, length);
    return status ? status : mt_text_check(&token->bytes, "a paragraph", reader->err);
}

/* Adds blanks, which take the look of the words around them. */
static enum mt_status add_gap(struct reader *reader, struct mt_range range, size_t at, size_t n)
{
    enum mt_status status = add_words(reader, range, reader->document->bytes + at, n);
    if (!status && n > 0)
        current(reader)->tokens[current(reader)->n - 1].form = ' ';
    return status;
}

/* Adds source code, which is copied in the place of a word, except the blanks around it. */
static enum mt_status add_code(struct reader *reader, struct mt_range content, size_t end)
{
    struct paragraph *p = current(reader);
    const struct mt_range all = content;
    const char *bytes = reader->document->bytes;
    struct mt_office_token *token;
    while (p->keeps_blanks && content.begin < content.end && bytes[content.begin] == ' ')
        content.begin++;
    while (p->keeps_blanks && content.begin < content.end && bytes[content.end - 1] == ' ')
        content.end--;
    size_t begin = content.begin > all.begin ? content.begin : p->whole_tag.begin;
    enum mt_status status = add_gap(reader, (struct mt_range){p->whole_tag.begin, begin}, all.begin,
                                    content.begin - all.begin);
    if (status || content.begin == content.end)
        return status;
    bool goes_on = p->n > 0 && p->code == p->n;
    const struct mt_range range = {begin, content.end < all.end ? content.end : end};
    if (!goes_on)
        status = add_token(reader, MT_OFFICE_POINT, range, &token);
    if (status)
        return status;
    p->code = p->n;
    token = &p->tokens[p->n - 1];
    token->form = 'w';
    token->range.end = token->outer.end = range.end;
    p->run_first = mt_size_min(p->run_first, p->n - 1);
    mt_document_append(reader->document, p->run, &token->bytes);
    mt_document_append(reader->document, (struct mt_range){p->whole_tag.begin, all.begin},
                       &token->bytes);
    mt_document_append(reader->document, content, &token->bytes);
    mt_text_appendf(&token->bytes, "</%st></%sr>", reader->prefix.text, reader->prefix.text);
    return add_gap(reader, (struct mt_range){content.end, end}, content.end, all.end - content.end);
}

/* ---- fields ---- */

static enum mt_status begin_field(struct reader *reader, struct mt_range range)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    bool is_first = p->field == NONE;
    enum mt_status status = add_xml(reader, MT_OFFICE_OPEN, range, &token);
    if (status)
        return status;
    if (is_first) {
        token->family = MT_OFFICE_FIELD;
        p->field = p->n - 1;
        reader->instruction.length = 0;
    }
    if (p->n_fields < MAX_FIELDS)
        p->fields[p->n_fields++] = (struct field){.is_first = is_first};
    else
        p->is_odd = true;
    return MT_OK;
}

static enum mt_status separate_field(struct reader *reader, struct mt_range range)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    struct field *field = p->n_fields > 0 ? &p->fields[p->n_fields - 1] : NULL;
    enum mt_status status = add_xml(reader, MT_OFFICE_CUT, range, &token);
    if (status || !field)
        return status;
    field->is_result = true;
    field->left = '\0';
    if (field->is_first && reader->instruction.length > 0)
        field->left = mt_office_field_form(reader->instruction.bytes);
    if (field->is_first && !field->left)
        p->field = NONE;
    return MT_OK;
}

static enum mt_status end_field(struct reader *reader, struct mt_range range)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    bool is_known = p->n_fields > 0;
    const struct field field = is_known ? p->fields[--p->n_fields] : (struct field){0};
    bool is_closed = p->field == NONE;
    enum mt_status status =
        add_xml(reader, is_known ? MT_OFFICE_CLOSE : MT_OFFICE_CUT, range, &token);
    if (status)
        return status;
    if (is_closed) {
        token->family = MT_OFFICE_FIELD;
    } else if (field.is_first) {
        token->kind = MT_OFFICE_POINT;
        token->form = field.left;
        p->field = NONE;
    }
    return MT_OK;
}

/* ---- elements that are copied ---- */

static void begin_whole(struct reader *reader, const struct mt_xml_tag *tag, bool is_dropped,
                        char form)
{
    struct paragraph *p = current(reader);
    p->whole_depth = tag->depth;
    p->whole_tag = tag->range;
    p->is_dropped = is_dropped;
    p->whole_form = form;
    p->has_paragraphs = p->has_attributes = false;
    strncpy(p->whole_name, is_word(reader, tag) ? tag->name : "", sizeof p->whole_name - 1);
    const char *change = mt_office_attribute(tag, "fldCharType");
    p->field_change = strcmp(p->whole_name, "fldChar") == 0 ? change[0] : '\0';
}

static enum mt_status end_whole(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    const struct mt_range range = {p->whole_tag.begin, tag->range.end};
    p->whole_depth = 0;
    if (strcmp(p->whole_name, "pPr") == 0 && p->run_depth == 0 && p->direction_at == 0) {
        bool is_empty = tag->range.begin == tag->range.end;
        p->properties = is_empty ? range : (struct mt_range){0};
        p->direction_at = is_empty ? 0 : tag->range.begin;
    }
    if (p->field_change == 'b')
        return begin_field(reader, range);
    if (p->field_change == 's')
        return separate_field(reader, range);
    if (p->field_change == 'e')
        return end_field(reader, range);
    if (strcmp(p->whole_name, "instrText") == 0 && tag->range.begin > p->whole_tag.end)
        mt_document_append(reader->document, (struct mt_range){p->whole_tag.end, tag->range.begin},
                           &reader->instruction);
    if (strcmp(p->whole_name, "noBreakHyphen") == 0)
        return add_words(reader, range, "\u2011", strlen("\u2011"));
    if (p->n_elements > 0 && p->has_attributes)
        p->elements[p->n_elements - 1].has_attributes = true;
    if (p->is_dropped && p->field == NONE)
        return MT_OK;
    size_t name_length = strlen(p->whole_name);
    bool is_properties =
        p->run_depth == 0 && name_length > 2 && strcmp(p->whole_name + name_length - 2, "Pr") == 0;
    if (is_properties && p->n > 0 && p->tokens[p->n - 1].kind == MT_OFFICE_OPEN) {
        token = &p->tokens[p->n - 1]; /* they are at the token's beginning */
        token->range.end = token->outer.end = range.end;
        mt_document_append(reader->document, range, &token->bytes);
        return MT_OK;
    }
    enum mt_status status =
        add_xml(reader, p->has_paragraphs ? MT_OFFICE_CUT : MT_OFFICE_POINT, range, &token);
    if (!status && p->field == NONE) {
        token->form = p->whole_form;
        token->is_verbatim = p->has_attributes && !p->has_paragraphs;
    }
    if (p->has_paragraphs && p->field != NONE)
        p->is_odd = true;
    return status;
}

/* ---- runs ---- */

static void begin_run(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    p->run_depth = tag->depth;
    p->run = tag->range;
    p->run_first = p->field != NONE ? p->field : p->n;
    p->look = 0;
    p->is_code_run = false;
}

static void end_run(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    p->run_depth = 0;
    for (size_t i = p->run_first; i < p->n; i++)
        p->tokens[i].outer.end = tag->range.end;
}

/* Adds the place of a property to the look, once for each kind. */
static void place(struct reader *reader, char what)
{
    bool *is_placed =
        what == MT_OFFICE_LOOK_LANGUAGE ? &reader->has_language : &reader->has_direction;
    if (!*is_placed)
        mt_text_append(&reader->properties, &what, 1);
    *is_placed = true;
}

static void begin_in_run(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const dropped[] = {"lastRenderedPageBreak", "softHyphen"};
    struct paragraph *p = current(reader);
    const char *name = is_word(reader, tag) ? tag->name : "";
    const char *type = mt_office_attribute(tag, "type");
    if (strcmp(name, "rPr") == 0) {
        p->properties_depth = tag->depth;
        reader->properties.length = 0;
        reader->has_direction = reader->has_language = false;
        p->run.end = tag->range.end;
    } else if (strcmp(name, "t") == 0) {
        p->words_depth = tag->depth;
        p->words_begin = tag->range.end;
        p->whole_tag = tag->range;
        p->keeps_blanks = strcmp(mt_office_attribute(tag, "space"), "preserve") == 0;
    } else if (strcmp(name, "br") == 0) {
        begin_whole(reader, tag, false,
                    strcmp(type, "page") == 0 || strcmp(type, "column") == 0 ? 'e' : 'b');
    } else if (strcmp(name, "cr") == 0) {
        begin_whole(reader, tag, false, 'b');
    } else if (strcmp(name, "tab") == 0 || strcmp(name, "ptab") == 0) {
        begin_whole(reader, tag, false, 'e');
    } else {
        begin_whole(reader, tag, MT_IS_ONE_OF(name, dropped), '\0');
    }
}

/* Adds a property that ends here to the look of its run, unless nobody sees it. Of the language and
 * the direction of writing only the place is added, because a translation may have others. */
static void end_property(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const behind_direction[] = {
        "cs", "em", "lang", "eastAsianLayout", "specVanish", "oMath", "rPrChange"};
    static const char *const behind_language[] = {"eastAsianLayout", "specVanish", "oMath",
                                                  "rPrChange"};
    struct paragraph *p = current(reader);
    const struct mt_range range = {p->property_begin, tag->range.end};
    const char *raw = reader->document->bytes + range.begin + 1;
    size_t n = strlen(reader->prefix.text);
    bool is_ours = strncmp(raw, reader->prefix.text, n) == 0;
    const char *name = is_ours ? tag->name : "";
    if (!is_ours || MT_IS_ONE_OF(name, behind_direction))
        place(reader, MT_OFFICE_LOOK_NO_DIRECTION);
    if (!is_ours || MT_IS_ONE_OF(name, behind_language))
        place(reader, MT_OFFICE_LOOK_LANGUAGE);
    if (strcmp(name, "lang") == 0)
        mt_office_name_language(reader->office);
    else if (strcmp(name, "rtl") == 0)
        place(reader, p->is_off ? MT_OFFICE_LOOK_NO_DIRECTION : MT_OFFICE_LOOK_DIRECTION);
    else if (strcmp(name, "noProof") != 0)
        mt_document_append(reader->document, range, &reader->properties);
}

static enum mt_status end_properties(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    struct mt_text *look = &reader->properties;
    p->properties_depth = 0;
    p->run.end = tag->range.end;
    place(reader, MT_OFFICE_LOOK_NO_DIRECTION);
    place(reader, MT_OFFICE_LOOK_LANGUAGE);
    bool is_nothing = look->length == 2 && look->bytes[0] == MT_OFFICE_LOOK_NO_DIRECTION;
    enum mt_status status = mt_text_check(look, "a paragraph", reader->err);
    if (status)
        return status;
    return mt_office_look(reader->office, look->bytes, is_nothing ? 0 : look->length, &p->look,
                          reader->err);
}

static enum mt_status end_words(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    struct mt_range content = {p->words_begin, tag->range.begin};
    const struct mt_range range = {p->whole_tag.begin, tag->range.end};
    const char *bytes = reader->document->bytes;
    struct mt_text words = {0};
    p->words_depth = 0;
    if (content.end < content.begin)
        content.end = content.begin;
    if (!mt_office_unescape(bytes + content.begin, content.end - content.begin, &words))
        p->is_odd = true;
    struct mt_range inner = {0, words.length};
    while (!p->keeps_blanks && inner.begin < inner.end && words.bytes[inner.begin] == ' ')
        inner.begin++;
    while (!p->keeps_blanks && inner.begin < inner.end && words.bytes[inner.end - 1] == ' ')
        inner.end--;
    enum mt_status status = mt_text_check(&words, "a paragraph", reader->err);
    if (!status && p->is_code_run && p->field == NONE)
        status = add_code(reader, content, range.end);
    else if (!status)
        status = add_words(reader, range, words.bytes + inner.begin, inner.end - inner.begin);
    mt_text_finish(&words);
    return status;
}

/* ---- attributes ---- */

/* Adds words in attributes as texts, unless they are deleted, or of a field that computes them. */
static enum mt_status take_attributes(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const deleted[] = {"del", "moveFrom"};
    struct paragraph *p = current(reader);
    size_t n = reader->document->n;
    if (p && (p->field != NONE || MT_IS_ONE_OF(p->whole_name, deleted)))
        return MT_OK;
    enum mt_status status = mt_office_add_attributes(reader->document, tag, reader->err);
    if (p)
        p->has_attributes = p->has_attributes || reader->document->n > n;
    return status;
}

/* ---- around runs ---- */

/* has_attributes: some of the bytes from begin to the tag's end are texts. */
static enum mt_status begin_element(struct reader *reader, const struct mt_xml_tag *tag,
                                    size_t begin, bool has_attributes)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    if (p->field != NONE || p->n_elements == MAX_ELEMENTS)
        p->is_odd = true;
    if (p->is_odd) {
        begin_whole(reader, tag, false, '\0');
        return MT_OK;
    }
    const struct mt_range range = {begin, tag->range.end};
    enum mt_status status = add_xml(reader, MT_OFFICE_OPEN, range, &token);
    if (!status)
        token->is_verbatim = has_attributes;
    if (!status && begin == tag->range.begin)
        p->elements[p->n_elements++] =
            (struct element){.depth = tag->depth, .begin = begin, .has_token = true};
    return status;
}

static enum mt_status end_element(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    const struct element *element = &p->elements[--p->n_elements];
    struct mt_office_token *token;
    size_t begin = element->is_sdt ? element->close : tag->range.begin;
    p->is_odd = p->is_odd || p->field != NONE;
    if (!element->has_token)
        return add_xml(reader, MT_OFFICE_POINT, (struct mt_range){element->begin, tag->range.end},
                       &token);
    return add_xml(reader, MT_OFFICE_CLOSE, (struct mt_range){begin, tag->range.end}, &token);
}

/* Adds bookmarkStart, bookmarkEnd and the like. */
static enum mt_status add_border(struct reader *reader, const struct mt_xml_tag *tag, bool *is_one)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    size_t n = strlen(tag->name), id = 0;
    bool is_start = n > 5 && strcmp(tag->name + n - 5, "Start") == 0;
    bool is_end = n > 3 && strcmp(tag->name + n - 3, "End") == 0;
    const char *bytes = reader->document->bytes;
    *is_one = (is_start || is_end) && p->field == NONE && bytes[tag->range.end - 2] == '/';
    if (!*is_one)
        return MT_OK;
    n -= is_start ? 5 : 3;
    for (size_t i = 0; i < n; i++)
        id = id * 31 + (unsigned char)tag->name[i];
    for (const char *at = mt_office_attribute(tag, "id"); *at; at++)
        id = id * 31 + (unsigned char)*at;
    enum mt_status status =
        add_xml(reader, is_start ? MT_OFFICE_OPEN : MT_OFFICE_CLOSE, tag->range, &token);
    if (!status) {
        token->family = MT_OFFICE_RANGE;
        token->id = id;
    }
    return status;
}

static enum mt_status begin_in_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const around[] = {"hyperlink", "ins", "moveTo",    "smartTag",
                                         "customXml", "bdo", "fldSimple", "dir"};
    struct paragraph *p = current(reader);
    const char *name = is_word(reader, tag) ? tag->name : "";
    struct element *last = p->n_elements > 0 ? &p->elements[p->n_elements - 1] : NULL;
    bool is_border = false;
    if (last && last->is_sdt && tag->depth == last->depth + 1) {
        if (strcmp(name, "sdtContent") == 0 && !last->has_token) {
            last->has_token = true;
            return begin_element(reader, tag, last->begin, last->has_attributes);
        }
        begin_whole(reader, tag, true, '\0'); /* its bytes are part of its parent's */
        return MT_OK;
    }
    if (strcmp(name, "r") == 0) {
        begin_run(reader, tag);
        return MT_OK;
    }
    if (strcmp(name, "sdt") == 0 && p->field == NONE && p->n_elements < MAX_ELEMENTS) {
        p->elements[p->n_elements++] =
            (struct element){.depth = tag->depth, .begin = tag->range.begin, .is_sdt = true};
        return MT_OK;
    }
    if (strcmp(name, "fldSimple") == 0) {
        char left = mt_office_field_form(mt_office_attribute(tag, "instr"));
        if (left) {
            begin_whole(reader, tag, false, left);
            return MT_OK;
        }
    }
    if (MT_IS_ONE_OF(name, around)) {
        p->has_attributes = false;
        enum mt_status status = take_attributes(reader, tag);
        return status ? status : begin_element(reader, tag, tag->range.begin, p->has_attributes);
    }
    enum mt_status status = name[0] ? add_border(reader, tag, &is_border) : MT_OK;
    bool is_dropped = strcmp(name, "proofErr") == 0 || strcmp(name, "pPr") == 0 || is_border;
    begin_whole(reader, tag, is_dropped, strncmp(tag->name, "oMath", 5) == 0 ? 'w' : '\0');
    return status;
}

/* ---- paragraphs ---- */

static void drop_paragraph(struct paragraph *p)
{
    for (size_t i = 0; i < p->n; i++)
        mt_text_finish(&p->tokens[i].bytes);
    mt_text_finish(&p->drop.bytes);
    free(p->tokens);
    free(p);
}

/* Gives the large letter to the paragraph that begins behind it. */
static enum mt_status hand_over_drop(struct reader *reader, struct paragraph *p, size_t begin)
{
    const size_t end = reader->drop_end;
    reader->drop_end = 0;
    if (!mt_document_is_blank(reader->document, end, begin))
        return mt_office_add_drop(reader->document, reader->prefix.text, &reader->drop,
                                  reader->err);
    p->drop = reader->drop;
    reader->drop = (struct mt_office_token){0};
    return MT_OK;
}

/* Keeps a paragraph of one or two letters for the one that goes on. */
static bool keep_drop(struct reader *reader, struct paragraph *p, size_t end)
{
    if (!p->is_drop || p->is_odd || p->is_code || p->n != 1 || p->drop.bytes.length > 0 ||
        p->tokens[0].kind != MT_OFFICE_WORDS ||
        mt_utf8_count(p->tokens[0].bytes.bytes, p->tokens[0].bytes.length) > MAX_DROP_CHARS)
        return false;
    reader->drop = p->tokens[0];
    reader->drop_end = end;
    p->n = 0;
    return true;
}

/* Puts the large letter before the words of the paragraph, with their look. */
static enum mt_status take_drop(struct reader *reader, struct paragraph *p)
{
    struct mt_office_token *first;
    if (p->drop.bytes.length == 0)
        return MT_OK;
    if (p->is_odd || p->is_code || p->n == 0 || p->tokens[0].kind != MT_OFFICE_WORDS)
        return mt_office_add_drop(reader->document, reader->prefix.text, &p->drop, reader->err);
    enum mt_status status =
        mt_office_add_token(&p->tokens, &p->n, &p->capacity, &first, reader->err);
    if (status)
        return status;
    memmove(p->tokens + 1, p->tokens, (p->n - 1) * sizeof *p->tokens);
    p->tokens[0] = p->drop;
    p->drop = (struct mt_office_token){0};
    p->tokens[0].drop_look = p->tokens[0].look;
    p->tokens[0].look = p->tokens[1].look;
    p->tokens[0].drop = (struct mt_range){p->tokens[0].outer.end, p->tokens[1].outer.begin};
    return MT_OK;
}

static enum mt_status begin_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    if (reader->n == MAX_PARAGRAPHS)
        return mt_fail(reader->err, MT_LIMIT, "line %zu: paragraphs are nested deeper than %d",
                       tag->line, MAX_PARAGRAPHS);
    if (reader->n > 0) {
        struct paragraph *outer = current(reader);
        outer->has_paragraphs = true;
        outer->is_odd = outer->is_odd || outer->whole_depth == 0;
    }
    struct paragraph *p = calloc(1, sizeof *p);
    if (!p)
        return mt_fail_memory(reader->err, sizeof *p, "a paragraph");
    p->depth = tag->depth;
    p->begin = tag->range.end;
    p->field = NONE;
    reader->paragraphs[reader->n++] = p;
    return reader->drop_end > 0 ? hand_over_drop(reader, p, tag->range.begin) : MT_OK;
}

/* Adds the edit that makes a paragraph right-to-left if it is translated into such a language. */
static enum mt_status add_direction(struct reader *reader, const struct paragraph *p, size_t end)
{
    const char *prefix = reader->prefix.text;
    char text[MT_DOCUMENT_EDIT_BYTES];
    struct mt_range range = {p->direction_at, p->direction_at};
    if (!mt_office_is_rtl(reader->office) || p->has_direction)
        return MT_OK;
    if (p->other_direction.end > 0) {
        range = p->other_direction;
        bool is_whole = reader->document->bytes[range.end - 2] == '/';
        snprintf(text, sizeof text, "<%sbidi%s>", prefix, is_whole ? "/" : "");
    } else if (p->direction_at > 0) {
        snprintf(text, sizeof text, "<%sbidi/>", prefix);
    } else {
        range = p->properties.end > 0 ? p->properties : (struct mt_range){p->begin, p->begin};
        snprintf(text, sizeof text, "<%spPr><%sbidi/></%spPr>", prefix, prefix, prefix);
    }
    return mt_document_add_edit_within(reader->document, range, (struct mt_range){p->begin, end},
                                       text, reader->err);
}

static enum mt_status end_paragraph(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct paragraph *p = current(reader);
    enum mt_status status = MT_OK;
    if (p->field != NONE)
        p->tokens[p->field].kind = MT_OFFICE_CUT;
    if (!keep_drop(reader, p, tag->range.end))
        status = take_drop(reader, p);
    for (size_t i = 0; i < p->n && !status; i++)
        status = mt_text_check(&p->tokens[i].bytes, "a paragraph", reader->err);
    if (!status && (p->is_code || p->is_odd))
        status = mt_office_leave(reader->document, p->tokens, p->n,
                                 p->is_code ? "it is code"
                                            : "its markup is none that can be written again",
                                 reader->err);
    p->is_odd = p->is_odd || p->is_code;
    const struct mt_office_paragraph paragraph = {.prefix = reader->prefix.text,
                                                  .write_run = mt_office_write_text_run,
                                                  .tokens = p->tokens,
                                                  .n = p->n};
    if (!status && !p->is_odd && p->n > 0)
        status = mt_office_add_texts(reader->document, &paragraph, reader->err);
    if (!status && !p->is_odd && p->n > 0)
        status = add_direction(reader, p, tag->range.begin);
    drop_paragraph(p);
    reader->n--;
    return status;
}

/* Notes where <bidi/> belongs, which is before these elements. */
static void take_paragraph_property(struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const behind[] = {
        "adjustRightInd",   "snapToGrid",      "spacing", "ind",           "contextualSpacing",
        "mirrorIndents",    "suppressOverlap", "jc",      "textDirection", "textAlignment",
        "textboxTightWrap", "outlineLvl",      "divId",   "cnfStyle",      "rPr",
        "sectPr",           "pPrChange"};
    struct paragraph *p = current(reader);
    if (strcmp(p->whole_name, "pPr") != 0 || p->run_depth > 0)
        return;
    if (strcmp(tag->name, "framePr") == 0)
        p->is_drop = strspn(mt_office_attribute(tag, "dropCap"), "dm") > 0; /* drop, margin */
    if (strcmp(tag->name, "pStyle") == 0)
        p->is_code = mt_office_is_code(mt_office_attribute(tag, "val"));
    if (strcmp(tag->name, "bidi") == 0 && is_off(tag)) {
        p->other_direction = tag->range;
    } else if (strcmp(tag->name, "bidi") == 0) {
        p->has_direction = true;
    }
    if (p->direction_at == 0 && MT_IS_ONE_OF(tag->name, behind))
        p->direction_at = tag->range.begin;
}

static enum mt_status take_begin(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct paragraph *p = current(reader);
    enum mt_status status = mt_office_find_prefix(&reader->prefix, "wordprocessingml", tag, err);
    if (status)
        return status;
    if (strcmp(tag->name, "p") == 0 && is_word(reader, tag))
        return begin_paragraph(reader, tag);
    if (p && p->whole_depth > 0 && tag->depth == p->whole_depth + 1)
        take_paragraph_property(reader, tag);
    if (!p || p->whole_depth > 0)
        return take_attributes(reader, tag);
    if (p->properties_depth > 0) {
        if (tag->depth == p->properties_depth + 1) {
            p->property_begin = tag->range.begin;
            p->is_off = is_off(tag);
            if (strcmp(tag->name, "rStyle") == 0)
                p->is_code_run = mt_office_is_code(mt_office_attribute(tag, "val"));
        }
    } else if (p->words_depth > 0) {
        p->is_odd = true;
    } else if (p->run_depth > 0) {
        begin_in_run(reader, tag);
    } else {
        return begin_in_paragraph(reader, tag);
    }
    return MT_OK;
}

static enum mt_status take_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct paragraph *p = current(reader);
    (void)err;
    if (!p)
        return MT_OK;
    if (tag->depth == p->depth)
        return end_paragraph(reader, tag);
    if (p->whole_depth > 0)
        return tag->depth == p->whole_depth ? end_whole(reader, tag) : MT_OK;
    if (p->properties_depth > 0 && tag->depth == p->properties_depth + 1)
        end_property(reader, tag);
    else if (tag->depth == p->properties_depth)
        return end_properties(reader, tag);
    else if (tag->depth == p->words_depth)
        return end_words(reader, tag);
    else if (tag->depth == p->run_depth)
        end_run(reader, tag);
    else if (p->n_elements > 0 && tag->depth == p->elements[p->n_elements - 1].depth)
        return end_element(reader, tag);
    else if (p->n_elements > 0 && p->elements[p->n_elements - 1].is_sdt &&
             tag->depth == p->elements[p->n_elements - 1].depth + 1)
        p->elements[p->n_elements - 1].close = tag->range.begin;
    return MT_OK;
}

enum mt_status mt_office_read(struct mt_document *document, size_t index, struct mt_error *err)
{
    const struct mt_document_part *part = &document->parts[index];
    struct reader reader = {.document = document, .office = document->own, .err = err};
    const struct mt_document view = {
        .bytes = document->bytes, .begin = part->range.begin, .length = part->range.end};
    enum mt_status status = mt_xml_read(&view, take_begin, take_end, &reader, err);
    if (!status && reader.drop_end > 0)
        status = mt_office_add_drop(document, reader.prefix.text, &reader.drop, err);
    mt_text_finish(&reader.drop.bytes);
    while (reader.n > 0)
        drop_paragraph(reader.paragraphs[--reader.n]);
    mt_text_finish(&reader.properties);
    mt_text_finish(&reader.instruction);
    return status ? mt_fail_in(err, status, part->name) : MT_OK;
}
