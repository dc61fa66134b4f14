#include "server/documents/xml_words.h"

#include "base/size.h"
#include "server/documents/message.h"
#include "server/text/placeholders.h"

#include <string.h>

/* How an inline element is treated. */
enum role {
    PAIR,  /* around words */
    WHOLE, /* one code, with everything in it */
    BEGIN, /* one code that is half of a pair */
    END,
    SEGMENT, /* its tags separate texts */
};

static const struct {
    const char *name;
    enum role role;
    const char *mate; /* END: the element that begins the pair */
    const char *id;   /* the attribute that is the same in both */
} elements[] = {
    {"ph", WHOLE, NULL, NULL},  {"it", WHOLE, NULL, NULL},   {"x", WHOLE, NULL, NULL},
    {"ut", WHOLE, NULL, NULL},  {"cp", WHOLE, NULL, NULL},   {"xliff:g", WHOLE, NULL, NULL},
    {"bpt", BEGIN, NULL, "i"},  {"bpt", BEGIN, NULL, "rid"}, {"bpt", BEGIN, NULL, "id"},
    {"ept", END, "bpt", "i"},   {"ept", END, "bpt", "rid"},  {"ept", END, "bpt", "id"},
    {"bx", BEGIN, NULL, "rid"}, {"bx", BEGIN, NULL, "id"},   {"ex", END, "bx", "rid"},
    {"ex", END, "bx", "id"},    {"sc", BEGIN, NULL, "id"},   {"ec", END, "sc", "startRef"},
};

/* A tag that has been read. */
struct tag {
    struct mt_range range, name;
    bool is_closing, is_empty;
};

struct open {
    struct mt_range name, id;
    size_t code;
    bool is_pair; /* roles of tags, not of elements */
    bool is_segment;
};

struct reader {
    const char *source;
    size_t length, at;
    bool is_android;
    struct mt_coded_segment *segment;
    struct open open[MT_XML_MAX_OPEN];
    size_t n_open;
    struct mt_error *err;
    enum mt_status status;
};

static bool equals(const char *text, struct mt_range range, const char *word)
{
    size_t n = range.end - range.begin;
    return strlen(word) == n && memcmp(text + range.begin, word, n) == 0;
}

static bool is_equal(const char *text, struct mt_range a, struct mt_range b)
{
    return a.end - a.begin == b.end - b.begin &&
           memcmp(text + a.begin, text + b.begin, a.end - a.begin) == 0;
}

/* ---- tags ---- */

/* Reads the tag at text[at] == '<'. Returns false where there is none. */
static bool read_tag(const char *text, size_t length, size_t at, struct tag *out)
{
    *out = (struct tag){.range = {at, at}};
    char quote = '\0';
    at++;
    out->is_closing = at < length && text[at] == '/';
    at += out->is_closing;
    out->name.begin = at;
    while (at < length && !strchr(" \t\r\n/>", text[at]))
        at++;
    out->name.end = at;
    for (; at < length && (quote || text[at] != '>'); at++)
        if (text[at] == '"' || text[at] == '\'')
            quote = quote == text[at] ? '\0' : quote ? quote : text[at];
    out->is_empty = at < length && text[at - 1] == '/';
    out->range.end = at + 1;
    return at < length && out->name.end > out->name.begin;
}

/* Returns the value of an attribute; empty where there is none. */
static struct mt_range find_attribute(const char *text, const struct tag *tag, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = tag->name.end; at + n + 2 < tag->range.end;) {
        at += strspn(text + at, " \t\r\n/");
        size_t end = at + strcspn(text + at, " \t\r\n=>"), value = end;
        value += strspn(text + value, " \t\r\n=");
        if (value >= tag->range.end || (text[value] != '"' && text[value] != '\''))
            break;
        const char *close = memchr(text + value + 1, text[value], tag->range.end - value - 1);
        if (!close)
            break;
        if (end - at == n && memcmp(text + at, name, n) == 0)
            return (struct mt_range){value + 1, (size_t)(close - text)};
        at = (size_t)(close - text) + 1;
    }
    return (struct mt_range){0, 0};
}

static bool has_attribute(const char *text, const struct tag *tag, const char *name,
                          const char *value)
{
    return equals(text, find_attribute(text, tag, name), value);
}

/* Returns the position behind the element that the tag begins. */
static size_t find_element_end(const char *text, size_t length, const struct tag *tag)
{
    size_t depth = tag->is_empty ? 0 : 1, at = tag->range.end;
    while (depth > 0 && at < length) {
        const char *next = memchr(text + at, '<', length - at);
        struct tag inner;
        if (!next)
            return length;
        at = (size_t)(next - text);
        if (!read_tag(text, length, at, &inner)) {
            at++;
            continue;
        }
        bool is_same = is_equal(text, inner.name, tag->name);
        depth += is_same && !inner.is_closing && !inner.is_empty;
        depth -= is_same && inner.is_closing;
        at = inner.range.end;
    }
    return at;
}

/* ---- codes ---- */

static void add(struct reader *reader, enum mt_code_kind kind, size_t begin, size_t end,
                size_t mate)
{
    size_t here = reader->segment->words.length;
    const struct mt_code code = {
        .kind = kind, .at = {here, here}, .bytes = {begin, end}, .mate = mate};
    if (!reader->status && reader->segment->n >= MT_XML_MAX_CODES)
        reader->status =
            mt_fail(reader->err, MT_LIMIT, "a text has more than %d tags", MT_XML_MAX_CODES);
    if (!reader->status)
        reader->status = mt_coded_add(reader->segment, &code, reader->err);
}

/* Whether an element is treated as a word: it stands between blanks, or is known to be a
 * variable. */
static bool stands_as_word(const struct reader *reader, const struct tag *tag, size_t end)
{
    static const char *const shown[] = {"equiv-text", "disp", "equiv"};
    const char *text = reader->source;
    const struct mt_text *words = &reader->segment->words;
    if (equals(text, tag->name, "it") || equals(text, tag->name, "cp"))
        return false;
    if (equals(text, tag->name, "xliff:g"))
        return true;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct mt_range value = find_attribute(text, tag, shown[i]);
        size_t n = value.end - value.begin;
        if (memchr(text + value.begin, '{', n) || memchr(text + value.begin, '%', n))
            return true;
    }
    bool has_blank = words->length > 0 && strchr(" (", words->bytes[words->length - 1]);
    return has_blank && (end == reader->length || strchr(" .,;:!?)", text[end]));
}

/* Whether the tag is a line break, as XLIFF 1.2, XLIFF 2 or Angular's XLIFF 2 has it. */
static bool is_break(const struct reader *reader, const struct tag *tag)
{
    return has_attribute(reader->source, tag, "ctype", "lb") ||
           has_attribute(reader->source, tag, "subType", "xlf:lb") ||
           has_attribute(reader->source, tag, "equiv", "LINE_BREAK");
}

static void add_whole(struct reader *reader, const struct tag *tag, size_t end)
{
    struct mt_text *words = &reader->segment->words;
    size_t begin = words->length, content = tag->range.end;
    const char *close = memchr(reader->source + content, '<', end - content);
    size_t n_content = close ? (size_t)(close - reader->source) - content : 0;
    bool breaks = is_break(reader, tag);
    if (!breaks && !stands_as_word(reader, tag, end)) {
        add(reader, MT_CODE_POINT, tag->range.begin, end, MT_NO_MATE);
        return;
    }
    bool is_count = mt_placeholder_is_count(reader->source + content, n_content);
    add(reader,
        breaks     ? MT_CODE_BREAK
        : is_count ? MT_CODE_NUMBER
                   : MT_CODE_WORD,
        tag->range.begin, end, MT_NO_MATE);
    mt_text_append(words, breaks ? "\n" : "X", 1); /* which the code covers */
    if (!reader->status && !words->status)
        reader->segment->codes[reader->segment->n - 1].at.end = begin + 1;
}

static void push(struct reader *reader, const struct tag *tag, size_t end, struct mt_range id,
                 bool is_pair)
{
    bool has_room = reader->n_open < MT_XML_MAX_OPEN;
    add(reader, MT_CODE_POINT, tag->range.begin, end, MT_NO_MATE);
    if (has_room && !reader->status)
        reader->open[reader->n_open++] = (struct open){
            .name = tag->name, .id = id, .code = reader->segment->n - 1, .is_pair = is_pair};
}

/* Joins the codes from `first` on, between which there are no words. */
static void join(struct reader *reader, size_t first, size_t end)
{
    reader->segment->n = first + 1;
    reader->segment->codes[first].kind = MT_CODE_POINT;
    reader->segment->codes[first].mate = MT_NO_MATE;
    reader->segment->codes[first].bytes.end = end;
}

static void close_pair(struct reader *reader, size_t index, size_t begin, size_t end)
{
    struct mt_code *codes = reader->segment->codes;
    size_t open = reader->open[index].code;
    reader->n_open = index;
    if (codes[open].at.begin == reader->segment->words.length) {
        join(reader, open, end);
        return;
    }
    add(reader, MT_CODE_CLOSE, begin, end, open);
    if (reader->status)
        return;
    reader->segment->codes[open].kind = MT_CODE_OPEN;
    reader->segment->codes[open].mate = reader->segment->n - 1;
}

/* ---- elements ---- */

static void take_end(struct reader *reader, const struct tag *tag)
{
    const char *text = reader->source;
    for (size_t i = reader->n_open; i-- > 0;) {
        if (!reader->open[i].is_pair || !is_equal(text, reader->open[i].name, tag->name))
            continue;
        if (reader->open[i].is_segment) {
            reader->n_open = i;
            add(reader, MT_CODE_EDGE, tag->range.begin, tag->range.end, MT_NO_MATE);
        } else {
            close_pair(reader, i, tag->range.begin, tag->range.end);
        }
        return;
    }
    add(reader, MT_CODE_POINT, tag->range.begin, tag->range.end, MT_NO_MATE);
}

/* Whether `id` is `name`, or `name` and a number: START_LINK_1 ends with CLOSE_LINK. */
static bool is_numbered(const char *text, struct mt_range id, struct mt_range name)
{
    size_t n = name.end - name.begin, at = id.begin + n;
    return id.end - id.begin >= n && memcmp(text + id.begin, text + name.begin, n) == 0 &&
           (at == id.end ||
            (text[at] == '_' && strspn(text + at + 1, "0123456789") == id.end - at - 1));
}

/* Takes Angular's <x id="START_LINK"/> and <x id="CLOSE_LINK"/>. */
static bool take_angular(struct reader *reader, const struct tag *tag, size_t end)
{
    static const char start[] = "START_", closing[] = "CLOSE_";
    const char *text = reader->source;
    const struct mt_range id = find_attribute(text, tag, "id");
    const size_t n = strlen(start);
    const struct mt_range name = {id.begin + n, id.end};
    if (!equals(text, tag->name, "x") || id.end - id.begin <= n)
        return false;
    if (memcmp(text + id.begin, start, n) == 0) {
        push(reader, tag, end, name, false);
        return true;
    }
    if (memcmp(text + id.begin, closing, n) != 0)
        return false;
    for (size_t k = reader->n_open; k-- > 0 && !reader->open[k].is_pair;)
        if (equals(text, reader->open[k].name, "x") &&
            is_numbered(text, reader->open[k].id, name)) {
            close_pair(reader, k, tag->range.begin, end);
            return true;
        }
    return false;
}

/* Takes bpt, sc or bx, or what ends them. Both halves have to be in the same elements to become a
 * pair. */
static bool take_half(struct reader *reader, const struct tag *tag, size_t end)
{
    const char *text = reader->source;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        struct mt_range id = {0, 0};
        if (elements[i].id && equals(text, tag->name, elements[i].name))
            id = find_attribute(text, tag, elements[i].id);
        if (id.end == 0)
            continue;
        if (elements[i].role == BEGIN) {
            push(reader, tag, end, id, false);
            return true;
        }
        for (size_t k = reader->n_open; k-- > 0 && !reader->open[k].is_pair;)
            if (equals(text, reader->open[k].name, elements[i].mate) &&
                is_equal(text, reader->open[k].id, id)) {
                close_pair(reader, k, tag->range.begin, end);
                return true;
            }
    }
    return false;
}

static void take_element(struct reader *reader, const struct tag *tag)
{
    const char *text = reader->source;
    enum role role = PAIR;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (equals(text, tag->name, elements[i].name))
            role = elements[i].role;
    bool is_mark = equals(text, tag->name, "mrk");
    if (is_mark && has_attribute(text, tag, "mtype", "seg"))
        role = SEGMENT;
    else if (is_mark && (has_attribute(text, tag, "mtype", "protected") ||
                         has_attribute(text, tag, "translate", "no")))
        role = WHOLE;
    size_t end = tag->range.end;
    if (role == PAIR && tag->is_empty)
        role = WHOLE;
    if (role == WHOLE || role == BEGIN || role == END)
        end = find_element_end(text, reader->length, tag);
    reader->at = end;
    if (role == WHOLE) {
        if (!take_angular(reader, tag, end))
            add_whole(reader, tag, end);
    } else if (role == BEGIN || role == END) {
        if (!take_half(reader, tag, end))
            add(reader, MT_CODE_POINT, tag->range.begin, end, MT_NO_MATE);
    } else {
        push(reader, tag, end, (struct mt_range){0, 0}, true);
        if (role == SEGMENT && !reader->status && !tag->is_empty) {
            reader->segment->codes[reader->segment->n - 1].kind = MT_CODE_EDGE;
            if (reader->n_open > 0)
                reader->open[reader->n_open - 1].is_segment = true;
        }
    }
}

/* Returns the length of markup at the reader's position that begins with `open` and ends with
 * `close`; 0: there is none. */
static size_t match_markup(const struct reader *reader, const char *open, const char *close)
{
    const char *at = reader->source + reader->at;
    size_t left = reader->length - reader->at, n = strlen(open);
    if (left < n || memcmp(at, open, n) != 0)
        return 0;
    const char *end = memmem(at + n, left - n, close, strlen(close));
    return end ? (size_t)(end - reader->source) + strlen(close) : reader->length;
}

static void take_markup(struct reader *reader)
{
    static const char *const others[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    struct tag tag;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t end = match_markup(reader, others[i][0], others[i][1]);
        if (end == 0)
            continue;
        add(reader, MT_CODE_POINT, reader->at, end, MT_NO_MATE);
        reader->at = end;
        return;
    }
    if (!read_tag(reader->source, reader->length, reader->at, &tag)) {
        mt_text_append(&reader->segment->words, "<", 1);
        reader->at++;
        return;
    }
    reader->at = tag.range.end;
    if (tag.is_closing)
        take_end(reader, &tag);
    else
        take_element(reader, &tag);
}

/* ---- characters ---- */

static size_t match_number(const char *xml, size_t n, struct mt_text *out)
{
    size_t at = 2, begin;
    bool is_hex = at < n && xml[at] == 'x';
    uint32_t c = 0;
    begin = at += is_hex;
    for (; at < n && at < begin + 8 && mt_hex_digit(xml[at]) >= 0; at++) {
        if (!is_hex && mt_hex_digit(xml[at]) > 9)
            return 0;
        c = c * (is_hex ? 16 : 10) + (uint32_t)mt_hex_digit(xml[at]);
    }
    bool is_character = c > 0 && c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    if (at == begin || at >= n || xml[at] != ';' || !is_character)
        return 0;
    mt_text_append_char(out, c);
    return at + 1;
}

/* Decodes the entity at xml[0] == '&' into out and returns its length; 0: XML does not define
 * it. */
static size_t match_entity(const char *xml, size_t n, struct mt_text *out)
{
    static const struct {
        const char *name, *character;
    } entities[] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    if (n > 1 && xml[1] == '#')
        return match_number(xml, n, out);
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t length = strlen(entities[i].name);
        if (length > n || memcmp(xml, entities[i].name, length) != 0)
            continue;
        mt_text_append_string(out, entities[i].character);
        return length;
    }
    return 0;
}

static void take_entity(struct reader *reader)
{
    const char *text = reader->source;
    size_t n =
        match_entity(text + reader->at, reader->length - reader->at, &reader->segment->words);
    if (n == 0) { /* a name that the file declares, or an undefined one */
        const char *end = memchr(text + reader->at, ';', reader->length - reader->at);
        n = end ? (size_t)(end - text) + 1 - reader->at : 1;
        add(reader, MT_CODE_POINT, reader->at, reader->at + n, MT_NO_MATE);
    }
    reader->at += n;
}

/* Adds a blank of the words that the file writes as an entity. */
static void add_gap(struct reader *reader, size_t n)
{
    struct mt_text *words = &reader->segment->words;
    add(reader, MT_CODE_GAP, reader->at, reader->at + n, MT_NO_MATE);
    mt_text_append(words, " ", 1);
    if (!reader->status && !words->status)
        reader->segment->codes[reader->segment->n - 1].at.end = words->length;
    reader->at += n;
}

static void take_escape(struct reader *reader)
{
    static const char letters[] = "ntr", meanings[] = "\n\t\r";
    const char *text = reader->source;
    struct mt_text *words = &reader->segment->words;
    char c = reader->at + 1 < reader->length ? text[reader->at + 1] : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t value;
    size_t n = c == 'u' ? mt_message_read_unicode(text, reader->at + 2, &value) : 0;
    if (n > 0 && value == ' ') { /* this one stays where others are removed */
        add_gap(reader, n + 2);
    } else if (n > 0 && value > 0) {
        mt_text_append_char(words, value);
        reader->at += n + 2;
    } else if (letter) {
        mt_text_append(words, &meanings[letter - letters], 1);
        reader->at += 2;
    } else if (c && strchr("'\"\\@?", c)) {
        mt_text_append(words, &c, 1);
        reader->at += 2;
    } else {
        mt_text_append(words, "\\", 1);
        reader->at++;
    }
}

/* Takes blanks with a line break among them, which are one blank. */
static bool take_gap(struct reader *reader)
{
    const char *text = reader->source + reader->at;
    size_t n = mt_size_min(strspn(text, " \t\r\n"), reader->length - reader->at);
    if (n == 0 || !memchr(text, '\n', n))
        return false;
    add_gap(reader, n);
    return true;
}

static void take_characters(struct reader *reader)
{
    const char *text = reader->source;
    char c = text[reader->at];
    if (c == '<') {
        take_markup(reader);
    } else if (c == '&') {
        take_entity(reader);
    } else if (reader->is_android && c == '\\') {
        take_escape(reader);
    } else if (reader->is_android && c == '"') { /* blanks are kept between these */
        add(reader, MT_CODE_POINT, reader->at, reader->at + 1, MT_NO_MATE);
        reader->at++;
    } else if (!reader->is_android || !take_gap(reader)) {
        mt_text_append(&reader->segment->words, &c, 1);
        reader->at++;
    }
}

/* ---- writing ---- */

void mt_xml_unescape(const char *xml, size_t length, struct mt_text *out)
{
    for (size_t at = 0, n; at < length; at += n) {
        const char *entity = memchr(xml + at, '&', length - at);
        n = entity ? (size_t)(entity - xml) - at : length - at;
        mt_text_append(out, xml + at, n);
        at += n;
        n = at < length ? match_entity(xml + at, length - at, out) : 0;
        if (n == 0 && at < length)
            mt_text_append(out, xml + at, n = 1);
    }
}

static void write_android(const struct mt_coded_segment *segment, const char *bytes, size_t length,
                          struct mt_text *out)
{
    static const char letters[] = "'\"\\ntr", meanings[] = "'\"\\\n\t\r";
    (void)segment;
    for (size_t i = 0; i < length; i++) {
        const char *meaning = bytes[i] ? strchr(meanings, bytes[i]) : NULL;
        if (meaning)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else
            mt_text_append_markup(out, bytes + i, 1);
    }
}

/* ---- reading ---- */

static enum mt_status read_words(const char *source, size_t length, bool is_android,
                                 struct mt_coded *out, struct mt_error *err)
{
    struct reader reader = {
        .source = source, .length = length, .is_android = is_android, .err = err};
    *out = (struct mt_coded){.source = source,
                             .length = length,
                             .write = is_android ? write_android : mt_coded_write_markup};
    enum mt_status status = mt_coded_add_segment(out, 0, &reader.segment, err);
    if (status)
        return status;
    reader.segment->range.end = length;
    while (reader.at < length && !reader.status)
        take_characters(&reader);
    return reader.status ? reader.status : mt_text_check(&reader.segment->words, "a text", err);
}

enum mt_status mt_read_xml_words(const char *source, size_t length,
                                 const struct mt_coded_options *options, struct mt_coded *out,
                                 struct mt_error *err)
{
    (void)options;
    return read_words(source, length, false, out, err);
}

enum mt_status mt_read_android_words(const char *source, size_t length,
                                     const struct mt_coded_options *options, struct mt_coded *out,
                                     struct mt_error *err)
{
    (void)options;
    return read_words(source, length, true, out, err);
}

/* ---- writing ---- */

/* XML allows only three control characters. Programs that read XML convert these, unless they are
 * written as numbers: CR in words, and all three in attributes. */
static void append_escaped(struct mt_text *out, const char *bytes, size_t length, bool is_attribute)
{
    for (size_t at = 0, from = 0; at <= length; at++) {
        unsigned char c = at < length ? (unsigned char)bytes[at] : 0;
        bool is_plain = c >= ' ' && !(is_attribute && c == '"');
        if (at < length && (is_plain || (!is_attribute && (c == '\t' || c == '\n'))))
            continue;
        mt_text_append_markup(out, bytes + from, at - from);
        if (at == length)
            break;
        if (c == '"' || c == '\t' || c == '\n' || c == '\r')
            mt_text_appendf(out, "&#%d;", c);
        else
            mt_text_append_char(out, 0xFFFD);
        from = at + 1;
    }
}

void mt_xml_append_words(struct mt_text *out, const char *bytes, size_t length)
{
    append_escaped(out, bytes, length, false);
}

void mt_xml_append_attribute(struct mt_text *out, const char *name, const char *value)
{
    mt_text_appendf(out, " %s=\"", name);
    append_escaped(out, value, strlen(value), true);
    mt_text_append(out, "\"", 1);
}
