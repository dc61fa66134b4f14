#include "server/documents/markup/markup_reader.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/documents/office/office_notes.h"
#include "server/documents/xml_elements.h"
#include "server/documents/xml_words.h"
#include "server/text/html/html_reader.h"
#include "server/text/html/link_list.h"
#include "server/text/xml/xml_reader.h"

#include <stdlib.h>
#include <string.h>

/* Deepest nesting of texts. */
#define MAX_PARAGRAPHS 16
#define MAX_NAME 80
/* Fewest blanks in a row that separate texts. */
#define MANY_BLANKS 2
#define NONE ((size_t)-1)

/* An element that is open within a paragraph. */
struct element {
    size_t depth;
    size_t token; /* of a pair: index of its OPEN token */
    size_t looks; /* of a look: length of the paragraph's looks before it; otherwise NONE */
    size_t begin; /* where it begins in the file */
    enum mt_markup_role role;
};

struct paragraph {
    size_t depth;
    bool is_flow;
    struct mt_office_token *tokens;
    size_t n, capacity;
    struct element elements[MT_XML_MAX_DEPTH];
    size_t n_elements;
    struct mt_text looks; /* tags of the open looks */
    size_t look;
    size_t n_looks;            /* number of open looks */
    struct mt_link_list links; /* tokens: the one before each link, and its end */
    bool has_words;            /* there are words since the last link began or ended */
    bool is_behind_blank;
    bool takes_words; /* words may be added to the last token */
    /* Position behind the last character that is not blank: the token, the length of its bytes
     * then, and the position in the file. */
    size_t solid_token, solid_length, solid_end;
    /* The element that is being copied. */
    size_t whole_depth, whole_begin, n_blanks;
    enum mt_markup_role whole_role;
    struct mt_text whole_words; /* the beginning of its content */
    size_t whole_id;
};

struct reader {
    struct mt_document *document;
    struct mt_office *office;
    const struct mt_markup *markup;
    void *context;
    mt_markup_take *scan;                         /* called instead of reading texts */
    struct paragraph *paragraphs[MAX_PARAGRAPHS]; /* nested */
    size_t n;
    size_t left_depth; /* depth of an element in which nothing is translated */
    size_t cdata;      /* where an open CDATA begins, or NONE */
    char entity[MAX_NAME], entity_text[16];
    struct mt_error *err;
};

/* ---- names and attributes ---- */

/* Makes a name with the table's prefix of one with its namespace. */
static void name_of(const struct mt_markup *markup, const char *name, char out[MAX_NAME])
{
    const char *blank = strrchr(name, ' ');
    const char *prefix = blank ? "?:" : "", *local = blank ? blank + 1 : name;
    size_t n_space = blank ? (size_t)(blank - name) : 0;
    for (size_t i = 0; i < markup->n_namespaces && blank; i++)
        if (strlen(markup->namespaces[i][0]) == n_space &&
            memcmp(markup->namespaces[i][0], name, n_space) == 0)
            prefix = markup->namespaces[i][1];
    size_t n = strlen(prefix), n_local = mt_size_min(strlen(local), MAX_NAME - 1 - n);
    memcpy(out, prefix, n);
    memcpy(out + n, local, n_local);
    out[n + n_local] = '\0';
}

const char *mt_markup_attribute(const struct mt_markup *markup, const struct mt_markup_tag *tag,
                                const char *name)
{
    char own[MAX_NAME];
    for (const char *const *at = tag->attributes; at && *at; at += 2) {
        name_of(markup, at[0], own);
        if (strcmp(own, name) == 0)
            return at[1];
    }
    return NULL;
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
    **out = (struct mt_office_token){.kind = kind,
                                     .is_verbatim = kind != MT_OFFICE_WORDS,
                                     .range = range,
                                     .outer = range,
                                     .look = p->look,
                                     .mate = MT_NO_MATE};
    mt_text_append(&(*out)->bytes, "", 0);
    p->takes_words = false;
    return MT_OK;
}

static void drop_tokens(struct paragraph *p, size_t n)
{
    p->takes_words = false;
    p->solid_token = p->solid_token < n ? p->solid_token : NONE;
    while (p->n > n)
        mt_text_finish(&p->tokens[--p->n].bytes);
    while (p->links.n > 0 && p->links.links[p->links.n - 1].end >= n)
        p->links.n--;
}

/* Whether a text may end before the token, because no look is around both sides. */
static bool is_border(const struct mt_office_token *tokens, size_t index)
{
    return tokens[index].outer.begin >= tokens[index - 1].outer.end;
}

/* Turns the words between the links of a list into cuts, which end a text. */
static void cut_lists(struct mt_office_token *tokens, size_t n)
{
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 1;
        if (!tokens[i].is_item || tokens[i].kind != MT_OFFICE_CLOSE)
            continue;
        while (next < n && !tokens[next].is_item)
            next++;
        if (next == n || !is_border(tokens, i + 1) || !is_border(tokens, next))
            continue;
        for (size_t k = i + 1; k < next; k++)
            if (tokens[k].kind == MT_OFFICE_WORDS)
                tokens[k].kind = MT_OFFICE_CUT;
        tokens[next].kind = MT_OFFICE_CUT;
        tokens[next].range.end = tokens[next].range.begin = tokens[next].outer.begin;
        tokens[next].outer = tokens[next].range;
    }
}

static enum mt_status add_texts(struct reader *reader, struct mt_office_token *tokens, size_t n)
{
    cut_lists(tokens, n);
    const struct mt_office_paragraph paragraph = {.prefix = "", .tokens = tokens, .n = n};
    return mt_office_add_texts(reader->document, &paragraph, reader->err);
}

static enum mt_status add_point(struct reader *reader, struct mt_range range, char form)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    enum mt_status status = add_token(reader, MT_OFFICE_POINT, range, &token);
    if (status)
        return status;
    token->form = form;
    p->is_behind_blank = form == 'b' || form == 'e';
    p->has_words = p->has_words || form == 'w' || form == 'n';
    return MT_OK;
}

/* ---- words ---- */

/* Returns the token that words of this range are added to. */
static enum mt_status open_words(struct reader *reader, struct mt_range range,
                                 struct mt_office_token **out)
{
    struct paragraph *p = current(reader);
    if (p->takes_words) {
        *out = &p->tokens[p->n - 1];
        (*out)->range.end = (*out)->outer.end = range.end;
        return MT_OK;
    }
    range.begin = mt_size_min(range.begin, reader->cdata);
    enum mt_status status = add_token(reader, MT_OFFICE_WORDS, range, out);
    p->takes_words = !status;
    return status;
}

static enum mt_status add_character(struct reader *reader, const char *bytes, size_t n,
                                    struct mt_range range)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    bool is_gap = n == 1 && mt_ascii_is_blank(*bytes);
    if (is_gap && p->is_behind_blank)
        return MT_OK;
    enum mt_status status = open_words(reader, range, &token);
    if (status)
        return status;
    mt_text_append(&token->bytes, is_gap ? " " : bytes, n);
    p->is_behind_blank = is_gap;
    p->has_words = p->has_words || mt_is_word_char(mt_utf8_decode(bytes));
    if (!is_gap) {
        p->solid_token = p->n - 1;
        p->solid_length = token->bytes.length;
        p->solid_end = range.end;
    }
    return token->bytes.status ? mt_text_check(&token->bytes, "a paragraph", reader->err) : MT_OK;
}

static void note_whole(struct paragraph *p, const char *text, size_t length)
{
    for (size_t i = 0; i < length && p->whole_words.length < 1; i++)
        if (!mt_ascii_is_blank(text[i]))
            mt_text_append(&p->whole_words, text + i, 1);
}

/* If the text is the same as in the file, then each character has its position there; otherwise all
 * of them have the whole range. */
static enum mt_status take_text(struct reader *reader, const char *text, size_t length,
                                struct mt_range range)
{
    struct paragraph *p = current(reader);
    enum mt_status status = MT_OK;
    if (!p || reader->left_depth > 0)
        return MT_OK;
    if (p->whole_depth > 0) {
        note_whole(p, text, length);
        return MT_OK;
    }
    bool is_plain = range.end - range.begin == length;
    for (size_t i = 0, n; i < length && !status; i += n) {
        n = mt_size_min(mt_char_length(text + i), length - i);
        const struct mt_range own = {range.begin + i, range.begin + i + n};
        status = add_character(reader, text + i, n, is_plain ? own : range);
    }
    return status;
}

static enum mt_status take_entity(struct reader *reader, const struct mt_xml_event *event)
{
    struct paragraph *p = current(reader);
    struct mt_text text = {0};
    size_t n = strlen(event->name);
    if (!p || reader->left_depth > 0)
        return MT_OK;
    if (n >= MAX_NAME || strcmp(event->name, reader->entity) != 0) {
        reader->entity_text[0] = '\0';
        if (n < MAX_NAME)
            memcpy(reader->entity, event->name, n + 1);
        enum mt_status status = mt_html_append_entity(event->name, &text, reader->err);
        if (!status && text.length > 0 && text.length < sizeof reader->entity_text)
            memcpy(reader->entity_text, text.bytes, text.length + 1);
        mt_text_finish(&text);
        if (status)
            return status;
    }
    if (reader->entity_text[0])
        return take_text(reader, reader->entity_text, strlen(reader->entity_text), event->range);
    return p->whole_depth > 0 ? MT_OK : add_point(reader, event->range, '\0');
}

/* ---- paragraphs ---- */

static void drop_paragraph(struct reader *reader)
{
    struct paragraph *p = reader->paragraphs[--reader->n];
    drop_tokens(p, 0);
    free(p->tokens);
    mt_text_finish(&p->looks);
    mt_text_finish(&p->whole_words);
    free(p);
}

static enum mt_status begin_paragraph(struct reader *reader, const struct mt_xml_event *event,
                                      bool is_flow)
{
    if (reader->n == MAX_PARAGRAPHS)
        return mt_fail(reader->err, MT_LIMIT, "line %zu: paragraphs are nested deeper than %d",
                       event->line, MAX_PARAGRAPHS);
    struct paragraph *p = calloc(1, sizeof *p);
    if (!p)
        return mt_fail_memory(reader->err, sizeof *p, "a paragraph");
    p->depth = event->depth;
    p->is_flow = is_flow;
    p->is_behind_blank = true;
    p->solid_token = NONE;
    mt_text_append(&p->looks, "", 0);
    reader->paragraphs[reader->n++] = p;
    return MT_OK;
}

static bool has_words(const struct mt_office_token *tokens, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; tokens[i].kind == MT_OFFICE_WORDS && k < tokens[i].bytes.length;
             k += mt_char_length(tokens[i].bytes.bytes + k))
            if (!mt_is_space(mt_utf8_decode(tokens[i].bytes.bytes + k)))
                return true;
    return false;
}

static bool have_one_look(const struct mt_office_token *tokens, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (tokens[i].look != tokens[0].look)
            return false;
    return true;
}

/* Adds the tokens that were read in an element that is still open, whose tags stay where they are.
 * If that is a look, then its words become a text if all of them look the same; otherwise they are
 * not translated. */
static enum mt_status add_inner(struct reader *reader, size_t begin, size_t end, bool is_in_look)
{
    struct mt_office_token *tokens = current(reader)->tokens + begin;
    if (is_in_look && !have_one_look(tokens, end - begin))
        return MT_OK;
    for (size_t i = begin; i < end && is_in_look; i++)
        tokens[i - begin].look = 0;
    return has_words(tokens, end - begin) ? add_texts(reader, tokens, end - begin) : MT_OK;
}

static enum mt_status add_all(struct reader *reader)
{
    const struct paragraph *p = current(reader);
    size_t end = p->n_elements ? p->elements[0].token : p->n;
    bool is_in_look = false;
    enum mt_status status = has_words(p->tokens, end) ? add_texts(reader, p->tokens, end) : MT_OK;
    for (size_t i = 0; i < p->n_elements && !status; i++) {
        size_t begin = p->elements[i].token + (p->elements[i].looks == NONE);
        end = i + 1 < p->n_elements ? p->elements[i + 1].token : p->n;
        is_in_look = is_in_look || p->elements[i].looks != NONE;
        if (begin < end)
            status = add_inner(reader, begin, end, is_in_look);
    }
    return status;
}

/* Makes texts of the part of a paragraph that has been read so far. */
static enum mt_status flush(struct reader *reader)
{
    struct paragraph *p = current(reader);
    while (p->n > 0 && p->tokens[p->n - 1].kind == MT_OFFICE_WORDS && p->solid_token != p->n - 1)
        drop_tokens(p, p->n - 1); /* these are blanks */
    if (p->n > 0 && p->tokens[p->n - 1].kind == MT_OFFICE_WORDS) {
        struct mt_office_token *last = &p->tokens[p->n - 1];
        if (last->outer.end == last->range.end) /* it is not within an element */
            last->outer.end = p->solid_end;
        last->bytes.length = p->solid_length;
        last->range.end = p->solid_end;
    }
    enum mt_status status = add_all(reader);
    drop_tokens(p, 0);
    p->n_elements = p->n_looks = p->look = p->looks.length = 0;
    p->is_behind_blank = true;
    p->solid_token = NONE;
    return status;
}

/* ---- elements within a paragraph ---- */

static void begin_whole(struct paragraph *p, const struct mt_markup_tag *tag, size_t depth,
                        enum mt_markup_role role)
{
    p->whole_depth = depth;
    p->whole_begin = tag->range.begin;
    p->whole_role = role;
    p->whole_words.length = 0;
}

static enum mt_status add_blanks(struct reader *reader, struct mt_range range)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    if (p->n_blanks >= MANY_BLANKS)
        return add_point(reader, range, 'e');
    enum mt_status status = open_words(reader, range, &token);
    if (status)
        return status;
    mt_text_append(&token->bytes, " ", 1);
    p->is_behind_blank = false; /* a blank behind it is visible */
    p->solid_token = p->n - 1;
    p->solid_length = token->bytes.length;
    p->solid_end = range.end;
    return MT_OK;
}

static enum mt_status add_border(struct reader *reader, struct mt_range range, bool is_start)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    enum mt_status status =
        add_token(reader, is_start ? MT_OFFICE_OPEN : MT_OFFICE_CLOSE, range, &token);
    if (status)
        return status;
    token->family = MT_OFFICE_RANGE;
    token->id = p->whole_id;
    return MT_OK;
}

static enum mt_status end_whole(struct reader *reader, size_t end)
{
    struct paragraph *p = current(reader);
    const struct mt_range range = {p->whole_begin, end};
    char first = p->whole_words.length > 0 ? p->whole_words.bytes[0] : '\0';
    p->whole_depth = 0;
    switch (p->whole_role) {
    case MT_MARKUP_BLANKS:
        return add_blanks(reader, range);
    case MT_MARKUP_UNSEEN:
        return MT_OK;
    case MT_MARKUP_START:
    case MT_MARKUP_END:
        return add_border(reader, range, p->whole_role == MT_MARKUP_START);
    case MT_MARKUP_BREAK:
        return add_point(reader, range, 'b');
    case MT_MARKUP_EDGE:
        return add_point(reader, range, 'e');
    case MT_MARKUP_WORD:
        return add_point(reader, range, 'w');
    case MT_MARKUP_OTHER:
        if (first)
            return add_point(reader, range, mt_ascii_is_digit(first) ? 'n' : 'w');
        break;
    default:
        break;
    }
    return add_point(reader, range, '\0');
}

/* Returns an id that both ends of a stretch of words share, because they have the same name. */
static size_t id_of(const struct reader *reader, const struct mt_markup_tag *tag)
{
    static const char *const names[] = {"text:name", "text:change-id", "text:id", "office:name"};
    const char *end = strstr(tag->name, "-start");
    size_t n = (size_t)((end ? end : tag->name + strlen(tag->name)) - tag->name), id = 0;
    if (!end && n > strlen("-end"))
        n -= strlen("-end");
    for (size_t i = 0; i < n; i++)
        id = id * 31 + (unsigned char)tag->name[i];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = mt_markup_attribute(reader->markup, tag, names[i]);
        for (; value && *value; value++)
            id = id * 31 + (unsigned char)*value;
    }
    return id;
}

static enum mt_status set_looks(struct reader *reader)
{
    struct paragraph *p = current(reader);
    enum mt_status status = mt_text_check(&p->looks, "a paragraph", reader->err);
    return status ? status
                  : mt_office_look(reader->office, p->looks.bytes, p->looks.length, &p->look,
                                   reader->err);
}

static enum mt_status begin_link(struct reader *reader, size_t begin)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *before;
    p->links.n = p->has_words ? 0 : p->links.n;
    p->has_words = false;
    return add_token(reader, MT_OFFICE_NOTHING, (struct mt_range){begin, begin}, &before);
}

/* open and close are indexes of its tokens. */
static void end_link(struct paragraph *p, size_t open, size_t close)
{
    const struct mt_range link = {open - 1, close};
    bool is_list = p->has_words && mt_link_list_add(&p->links, link, false);
    p->has_words = false;
    for (size_t i = 1; is_list && i < p->links.n; i++) {
        p->tokens[p->links.links[i - 1].end].is_item = true;
        p->tokens[p->links.links[i].begin].is_item = true;
    }
}

/* Whether what was read within open elements of looks, such as b, can be written without them. */
static bool can_part(const struct paragraph *p)
{
    bool is_in_look = false, can = true;
    for (size_t i = 0; i < p->n_elements && can; i++) {
        size_t begin = p->elements[i].token + (p->elements[i].looks == NONE);
        size_t end = i + 1 < p->n_elements ? p->elements[i + 1].token : p->n;
        is_in_look = is_in_look || p->elements[i].looks != NONE;
        can = !is_in_look || begin >= end || have_one_look(p->tokens + begin, end - begin);
    }
    return can;
}

/* Makes each item of a list a text. Tags of a look around the list then stay where they are, around
 * several texts. If that is impossible, the whole list remains one text. */
static enum mt_status part_list(struct reader *reader, size_t begin)
{
    struct paragraph *p = current(reader);
    bool has_items = false;
    for (size_t i = begin; i < p->n && !has_items; i++)
        has_items = p->tokens[i].is_item;
    if (!has_items)
        return MT_OK;
    if (can_part(p))
        return flush(reader);
    for (size_t i = begin; i < p->n; i++)
        p->tokens[i].is_item = false;
    p->links.n = 0;
    return MT_OK;
}

static enum mt_status begin_element(struct reader *reader, const struct mt_markup_tag *tag,
                                    size_t depth, enum mt_markup_role role)
{
    struct paragraph *p = current(reader);
    struct mt_office_token *token;
    enum mt_status status = role == MT_MARKUP_LINK ? begin_link(reader, tag->range.begin) : MT_OK;
    if (status)
        return status;
    struct element *element = &p->elements[p->n_elements++];
    *element = (struct element){
        .depth = depth, .token = p->n, .looks = NONE, .begin = tag->range.begin, .role = role};
    if (role != MT_MARKUP_LOOK)
        return add_token(reader, MT_OFFICE_OPEN, tag->range, &token);
    const struct mt_range look =
        reader->markup->look ? reader->markup->look(reader->context, tag) : tag->range;
    element->looks = p->looks.length;
    p->n_looks++;
    p->takes_words = false;
    mt_document_append(reader->document, look, &p->looks);
    return set_looks(reader);
}

static enum mt_status end_element(struct reader *reader, struct mt_range tag)
{
    struct paragraph *p = current(reader);
    const struct element element = p->elements[p->n_elements - 1];
    enum mt_status status = element.looks != NONE ? part_list(reader, element.token) : MT_OK;
    if (status || p->n_elements == 0)
        return status;
    p->n_elements--;
    if (element.looks != NONE) {
        p->looks.length = element.looks;
        p->looks.bytes[p->looks.length] = '\0';
        p->takes_words = false;
        p->n_looks--;
        for (size_t i = element.token; i < p->n && p->n_looks == 0; i++)
            p->tokens[i].outer = (struct mt_range){element.begin, tag.end};
        status = set_looks(reader);
        if (!status && element.token == p->n && !reader->markup->look) /* an icon */
            status = add_point(reader, (struct mt_range){element.begin, tag.end}, '\0');
        return status;
    }
    struct mt_office_note note = {0};
    struct mt_office_token *open = &p->tokens[element.token];
    size_t n_inner = p->n - element.token - 1;
    bool stays = element.role == MT_MARKUP_NOTE ? mt_office_read_note(open + 1, n_inner, &note)
                                                : mt_office_is_sign(open + 1, n_inner);
    if (element.role == MT_MARKUP_NOTE && element.token > 0 && p->n == element.token + 2 &&
        mt_office_is_ordinal(open - 1, open + 1)) {
        open->kind = MT_OFFICE_NOTHING; /* an ordinal's ending gets the look of its number */
        open[1].outer = (struct mt_range){element.begin, tag.end};
        p->takes_words = false;
        return MT_OK;
    }
    if (!stays) {
        status = add_token(reader, MT_OFFICE_CLOSE, tag, &open);
        if (!status && element.role == MT_MARKUP_LINK)
            end_link(p, element.token, p->n - 1);
        return status;
    }
    drop_tokens(p, element.token);
    status = add_point(reader, (struct mt_range){element.begin, tag.end}, '\0');
    if (!status)
        p->tokens[p->n - 1].note = note;
    return status;
}

/* ---- events ---- */

static enum mt_markup_role role_of(const struct reader *reader, const struct mt_markup_tag *tag)
{
    const struct mt_markup *markup = reader->markup;
    enum mt_markup_role role = MT_MARKUP_OTHER;
    for (size_t i = 0; i < markup->n_elements; i++)
        if (strcmp(markup->elements[i].name, tag->name) == 0)
            role = markup->elements[i].role;
    return markup->role ? markup->role(reader->context, tag, role) : role;
}

/* Whether the value is the same as in the file, except for blanks and entities that XML defines. */
static bool is_readable(const char *raw, size_t length, const char *value)
{
    struct mt_text plain = {0};
    mt_text_append(&plain, "", 0);
    mt_xml_unescape(raw, length, &plain);
    for (size_t i = 0; i < plain.length; i++)
        if (mt_ascii_is_blank(plain.bytes[i]))
            plain.bytes[i] = ' ';
    bool is_same = !plain.status && strcmp(plain.bytes, value) == 0;
    mt_text_finish(&plain);
    return is_same;
}

static enum mt_status add_attribute(struct reader *reader, struct mt_range range, const char *value)
{
    struct mt_office_token token = {
        .form = '"', .range = range, .outer = range, .mate = MT_NO_MATE};
    mt_text_append_string(&token.bytes, value);
    enum mt_status status = mt_text_check(&token.bytes, "an attribute", reader->err);
    if (!status)
        status = add_texts(reader, &token, 1);
    mt_text_finish(&token.bytes);
    return status;
}

/* Adds the attributes that are texts. */
static enum mt_status take_attributes(struct reader *reader, const struct mt_markup_tag *tag)
{
    const struct mt_markup *markup = reader->markup;
    const char *bytes = reader->document->bytes;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < markup->n_values && !status; i++) {
        const struct mt_markup_value *known = &markup->values[i];
        const char *value = mt_markup_attribute(markup, tag, known->attribute);
        bool is_other = known->element && strcmp(known->element, tag->name) != 0;
        if (is_other || !value || value[strspn(value, " \t\r\n")] == '\0' ||
            (markup->is_read && !markup->is_read(tag, known->attribute)))
            continue;
        const struct mt_range range = mt_xml_find_attribute(bytes, tag->range, known->attribute);
        if (is_readable(bytes + range.begin, range.end - range.begin, value))
            status = add_attribute(reader, range, value);
    }
    return status;
}

/* Notes how many blanks a copied element stands for, and which stretch it is an end of. */
static void note_attributes(const struct reader *reader, const struct mt_markup_tag *tag)
{
    struct paragraph *p = current(reader);
    const char *n = mt_markup_attribute(reader->markup, tag, "text:c");
    p->n_blanks = n ? strtoul(n, NULL, 10) : 1;
    p->whole_id = id_of(reader, tag);
}

static enum mt_status tell_of_code(struct reader *reader, const struct mt_markup_tag *tag)
{
    const struct mt_range range = {tag->range.begin, tag->range.begin};
    bool is_empty = reader->document->bytes[tag->range.end - 2] == '/';
    struct mt_document_piece *piece;
    enum mt_status status =
        is_empty ? MT_OK : mt_document_add(reader->document, range, &piece, reader->err);
    if (!status && !is_empty)
        piece->left = "it is code";
    return status;
}

static enum mt_status take_begin(struct reader *reader, const struct mt_xml_event *event,
                                 const struct mt_markup_tag *tag)
{
    struct paragraph *p = current(reader);
    size_t depth = event->depth;
    enum mt_markup_role role = role_of(reader, tag);
    enum mt_status status = role == MT_MARKUP_CODE   ? tell_of_code(reader, tag)
                            : role == MT_MARKUP_LEFT ? MT_OK
                                                     : take_attributes(reader, tag);
    role = role == MT_MARKUP_CODE ? MT_MARKUP_LEFT : role;
    bool is_text = role == MT_MARKUP_TEXT || role == MT_MARKUP_FLOW;
    bool is_inside = p && p->whole_depth == 0;
    bool parts = is_inside && p->is_flow && (role == MT_MARKUP_OTHER || role == MT_MARKUP_LEFT);
    if (status)
        return status;
    if (role == MT_MARKUP_LEFT || role == MT_MARKUP_COPY || role == MT_MARKUP_WORD)
        reader->left_depth = depth;
    if (parts)
        return flush(reader);
    if (is_inside && (role == MT_MARKUP_PAIR || role == MT_MARKUP_LINK || role == MT_MARKUP_NOTE ||
                      role == MT_MARKUP_LOOK))
        return begin_element(reader, tag, depth, role);
    if (is_inside) {
        begin_whole(p, tag, depth, role);
        note_attributes(reader, tag);
    }
    return is_text ? begin_paragraph(reader, event, role == MT_MARKUP_FLOW) : MT_OK;
}

static enum mt_status take_end(struct reader *reader, const struct mt_xml_event *event)
{
    struct paragraph *p = current(reader);
    if (reader->left_depth == event->depth)
        reader->left_depth = 0;
    if (!p || reader->left_depth > 0)
        return MT_OK;
    if (p->whole_depth == event->depth)
        return end_whole(reader, event->range.end);
    if (p->whole_depth > 0)
        return MT_OK;
    if (p->depth == event->depth) {
        enum mt_status status = flush(reader);
        drop_paragraph(reader);
        p = current(reader);
        return status || !p || p->whole_depth != event->depth ? status
                                                              : end_whole(reader, event->range.end);
    }
    if (p->n_elements > 0 && p->elements[p->n_elements - 1].depth == event->depth)
        return end_element(reader, event->range);
    return flush(reader);
}

static enum mt_status end_cdata(struct reader *reader, size_t end)
{
    struct paragraph *p = current(reader);
    reader->cdata = NONE;
    if (!p || p->n == 0 || p->tokens[p->n - 1].kind != MT_OFFICE_WORDS || p->whole_depth > 0 ||
        reader->left_depth > 0)
        return MT_OK;
    p->tokens[p->n - 1].range.end = p->tokens[p->n - 1].outer.end = end;
    if (p->solid_token == p->n - 1)
        p->solid_end = end;
    return MT_OK;
}

static enum mt_status take(void *context, const struct mt_xml_event *event, struct mt_error *err)
{
    struct reader *reader = context;
    struct paragraph *p = current(reader);
    char name[MAX_NAME];
    bool is_begin = event->kind == MT_XML_BEGIN && reader->left_depth == 0;
    const struct mt_markup_tag tag = {name, event->attributes, event->range};
    if (is_begin)
        name_of(reader->markup, event->name, name);
    if (reader->scan)
        return is_begin ? reader->scan(reader->context, &tag, err) : MT_OK;
    switch (event->kind) {
    case MT_XML_BEGIN:
        return is_begin ? take_begin(reader, event, &tag) : MT_OK;
    case MT_XML_END:
        return take_end(reader, event);
    case MT_XML_TEXT:
        return take_text(reader, event->text, event->length, event->range);
    case MT_XML_ENTITY:
        return take_entity(reader, event);
    case MT_XML_CDATA_BEGIN:
        reader->cdata = event->range.begin;
        return MT_OK;
    case MT_XML_CDATA_END:
        return end_cdata(reader, event->range.end);
    case MT_XML_OTHER:
        if (p && p->whole_depth == 0 && reader->left_depth == 0)
            return add_point(reader, event->range, '\0');
        break;
    }
    return MT_OK;
}

static enum mt_status read_range(struct reader *reader, struct mt_range range)
{
    const struct mt_xml_source source = {.bytes = reader->document->bytes,
                                         .range = range,
                                         .knows_entities = reader->markup->knows_entities,
                                         .has_namespaces = true};
    reader->cdata = NONE;
    enum mt_status status = mt_xml_parse(&source, take, reader, reader->err);
    while (reader->n > 0)
        drop_paragraph(reader);
    return status;
}

enum mt_status mt_markup_read(struct mt_document *document, struct mt_range range,
                              const struct mt_markup *markup, void *context, struct mt_error *err)
{
    struct reader reader = {.document = document,
                            .office = document->own,
                            .markup = markup,
                            .context = context,
                            .err = err};
    return read_range(&reader, range);
}

enum mt_status mt_markup_scan(const struct mt_document *document, struct mt_range range,
                              const struct mt_markup *markup, mt_markup_take *take_tag,
                              void *context, struct mt_error *err)
{
    struct mt_document view = *document;
    struct reader reader = {
        .document = &view, .markup = markup, .context = context, .scan = take_tag, .err = err};
    return read_range(&reader, range);
}
