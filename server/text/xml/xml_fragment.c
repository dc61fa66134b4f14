#include "server/text/xml/xml_fragment.h"

#include "base/ascii.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/text/codes/entities.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/tagged_text.h"
#include "server/text/xml/xml_reader.h"

#include <stdlib.h>
#include <string.h>

enum kind { TEXT, START, END, POINT, IGNORED };

struct piece {
    enum kind kind;
    struct mt_range range; /* in the source */
    struct mt_range text;  /* in the decoded texts: of TEXT, and of IGNORED for what is in it */
    size_t mate;           /* index of the other tag, of START and END */
    bool is_entity;        /* TEXT: one character that the source writes in another way */
    bool has_own_text;     /* START: text stands in it directly, not only in elements within it */
    bool is_inline;        /* START and END */
    bool splits, stays;    /* START: what the tag's name tells */
    size_t code;           /* START: its index in the segment */
};

struct reader {
    const char *source;
    size_t length;
    const struct mt_coded_options *options;
    struct mt_coded *coded;
    struct mt_coded_segment *segment;
    struct piece *items;
    size_t n, capacity;
    struct mt_text decoded;
    size_t open[MT_XML_MAX_DEPTH]; /* indexes of STARTs */
    bool has_own_text;             /* text stands outside of all elements */
    size_t ignored_depth;          /* depth within an IGNORED */
    size_t ignored;                /* the index of that IGNORED */
    bool is_cdata;
    size_t cdata_begin, n_tags;
    enum mt_status status;
    struct mt_error *err;
};

/* ---- from the source to pieces ---- */

static struct piece *add(struct reader *reader, enum kind kind, struct mt_range range)
{
    if (MT_ROOM(&reader->items, &reader->capacity, reader->n + 1, "parts of xml", reader->err)) {
        reader->status = MT_MEMORY;
        return NULL;
    }
    struct piece *piece = &reader->items[reader->n++];
    *piece = (struct piece){.kind = kind, .range = range, .mate = MT_NO_MATE};
    return piece;
}

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void take_begin(struct reader *reader, const struct mt_xml_event *event)
{
    const struct mt_coded_options *options = reader->options;
    if (++reader->n_tags > options->max_tags) {
        reader->status =
            mt_fail(reader->err, MT_LIMIT, "the xml has more than %zu elements", options->max_tags);
        return;
    }
    reader->open[event->depth - 1] = reader->n;
    if (reader->ignored_depth > 0)
        return;
    bool is_ignored = is_among(options->ignored_tags, options->n_ignored_tags, event->name);
    struct piece *piece = add(reader, is_ignored ? IGNORED : START, event->range);
    if (!piece)
        return;
    piece->text = (struct mt_range){reader->decoded.length, reader->decoded.length};
    piece->splits = is_among(options->splitting_tags, options->n_splitting_tags, event->name);
    piece->stays =
        is_among(options->non_splitting_tags, options->n_non_splitting_tags, event->name);
    if (is_ignored) {
        reader->ignored = reader->n - 1;
        reader->ignored_depth = event->depth;
    }
}

static void take_end(struct reader *reader, const struct mt_xml_event *event)
{
    if (reader->ignored_depth == 0) {
        size_t start = reader->open[event->depth - 1];
        struct piece *piece = add(reader, END, event->range);
        if (!piece)
            return;
        piece->mate = start;
        reader->items[start].mate = reader->n - 1;
    } else if (reader->ignored_depth == event->depth) {
        struct piece *ignored = &reader->items[reader->ignored];
        ignored->range.end = mt_size_max(ignored->range.end, event->range.end);
        ignored->text.end = reader->decoded.length;
        reader->ignored_depth = 0;
    }
}

static void take_text(struct reader *reader, const struct mt_xml_event *event)
{
    size_t begin = reader->decoded.length;
    bool is_blank = true;
    if (reader->is_cdata && reader->ignored_depth == 0)
        return;
    mt_text_append(&reader->decoded, event->text, event->length);
    reader->status = mt_text_check(&reader->decoded, "a text of xml", reader->err);
    if (reader->status || reader->ignored_depth > 0)
        return;
    for (size_t at = begin; at < reader->decoded.length && is_blank;
         at += mt_char_length(reader->decoded.bytes + at))
        is_blank = mt_is_space(mt_utf8_decode(reader->decoded.bytes + at));
    if (!is_blank && event->depth > 0)
        reader->items[reader->open[event->depth - 1]].has_own_text = true;
    else if (!is_blank)
        reader->has_own_text = true;
    struct piece *piece = add(reader, TEXT, event->range);
    if (!piece)
        return;
    piece->text = (struct mt_range){begin, reader->decoded.length};
    /* CR LF is read as one character, too, and stays as it was written. */
    piece->is_entity = reader->source[event->range.begin] == '&' ||
                       (event->text[0] == '\n' && event->range.end - event->range.begin == 2);
}

static void take_point(struct reader *reader, struct mt_range range)
{
    if (reader->ignored_depth == 0)
        add(reader, POINT, range);
}

static enum mt_status take(void *context, const struct mt_xml_event *event, struct mt_error *err)
{
    struct reader *reader = context;
    (void)err;
    switch (event->kind) {
    case MT_XML_BEGIN:
        take_begin(reader, event);
        break;
    case MT_XML_END:
        take_end(reader, event);
        break;
    case MT_XML_TEXT:
        take_text(reader, event);
        break;
    case MT_XML_CDATA_BEGIN:
        reader->is_cdata = true;
        reader->cdata_begin = event->range.begin;
        break;
    case MT_XML_CDATA_END:
        reader->is_cdata = false;
        take_point(reader, (struct mt_range){reader->cdata_begin, event->range.end});
        break;
    case MT_XML_ENTITY:
    case MT_XML_OTHER:
        take_point(reader, event->range);
        break;
    }
    return reader->status;
}

/* Returns the end of the declarations that may stand before a document's root; 0: there are
 * none. */
static size_t skip_declarations(const char *source)
{
    size_t begin = strspn(source, " \t\r\n"), at = begin;
    if (strncmp(source + at, "<?xml", 5) == 0 && strchr(" \t\r\n", source[at + 5])) {
        const char *end = strstr(source + at, "?>");
        if (end)
            at = (size_t)(end - source) + 2;
    }
    size_t blanks = strspn(source + at, " \t\r\n");
    if (strncmp(source + at + blanks, "<!DOCTYPE", 9) == 0) {
        at += blanks;
        size_t length = strcspn(source + at, "[>");
        if (source[at + length] == '>')
            at += length + 1;
    }
    return at > begin ? at : 0;
}

/* Finds the elements that stand within a text, by the rules in the header. */
static void find_inline(struct reader *reader)
{
    size_t depth = 0;
    bool is_text[MT_XML_MAX_DEPTH + 1]; /* whether elements at that depth are inline */
    is_text[0] = reader->has_own_text || reader->options->ignores_outline;
    for (size_t i = 0; i < reader->n; i++) {
        struct piece *piece = &reader->items[i];
        if (piece->kind == START) {
            piece->is_inline = !piece->splits && (piece->stays || is_text[depth]);
            reader->items[piece->mate].is_inline = piece->is_inline;
            is_text[++depth] =
                piece->has_own_text || piece->is_inline || reader->options->ignores_outline;
        } else if (piece->kind == END) {
            depth--;
        }
    }
}

/* ---- from pieces to segments ---- */

static void add_code(struct reader *reader, enum mt_code_kind kind, size_t begin,
                     struct mt_range bytes, size_t mate)
{
    const struct mt_code code = {
        .kind = kind, .at = {begin, reader->segment->words.length}, .bytes = bytes, .mate = mate};
    if (!reader->status)
        reader->status = mt_coded_add(reader->segment, &code, reader->err);
}

static bool is_blank(const struct reader *reader, struct mt_range text)
{
    for (size_t at = text.begin; at < text.end; at += mt_char_length(reader->decoded.bytes + at))
        if (!mt_is_space(mt_utf8_decode(reader->decoded.bytes + at)))
            return false;
    return true;
}

/* Whether pieces [first, end) have something to be read. */
static bool holds_words(const struct reader *reader, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct piece *piece = &reader->items[i];
        if (piece->kind == IGNORED || (piece->kind == TEXT && !is_blank(reader, piece->text)))
            return true;
    }
    return false;
}

static void append_text(struct reader *reader, const struct piece *piece)
{
    const char *text = reader->decoded.bytes + piece->text.begin;
    size_t length = piece->text.end - piece->text.begin;
    bool is_one = length > 0 && mt_char_length(text) == length;
    if (piece->is_entity && is_one && !reader->status)
        reader->status = mt_entities_remember(reader->segment, mt_utf8_decode(text),
                                              reader->source + piece->range.begin,
                                              piece->range.end - piece->range.begin, reader->err);
    mt_text_append(&reader->segment->words, text, length);
}

static bool is_letter_before(const struct reader *reader)
{
    const struct mt_text *words = &reader->segment->words;
    return words->length > 0 && mt_is_word_char(mt_utf8_decode(
                                    words->bytes + mt_previous_char(words->bytes, words->length)));
}

static bool is_letter_behind(const struct reader *reader, size_t index, size_t end)
{
    const struct piece *next = index + 1 < end ? &reader->items[index + 1] : NULL;
    return next && next->kind == TEXT && next->text.begin < next->text.end &&
           mt_is_word_char(mt_utf8_decode(reader->decoded.bytes + next->text.begin));
}

/* The model is shown a name in the place of the ignored element, whatever stands in it. */
static void add_ignored(struct reader *reader, size_t index, size_t end)
{
    const struct piece *piece = &reader->items[index];
    struct mt_text *words = &reader->segment->words;
    size_t begin = words->length;
    if (is_letter_before(reader) || is_letter_behind(reader, index, end)) {
        add_code(reader, MT_CODE_POINT, begin, piece->range, MT_NO_MATE);
        return;
    }
    if (is_blank(reader, piece->text))
        mt_text_append_string(words, "x");
    else
        mt_text_append(words, reader->decoded.bytes + piece->text.begin,
                       piece->text.end - piece->text.begin);
    add_code(reader, MT_CODE_WORD, begin, piece->range, MT_NO_MATE);
}

/* Adds an element without words, and returns the index of the piece behind it. */
static size_t add_empty(struct reader *reader, size_t index)
{
    size_t mate = reader->items[index].mate, begin = reader->segment->words.length;
    struct mt_range bytes = {reader->items[index].range.begin, reader->items[mate].range.end};
    bool has_blank = false;
    bytes.end = mt_size_max(bytes.end, reader->items[index].range.end);
    for (size_t i = index; i < mate; i++)
        has_blank |= reader->items[i].kind == TEXT;
    if (has_blank)
        mt_text_append(&reader->segment->words, " ", 1);
    add_code(reader, has_blank ? MT_CODE_GAP : MT_CODE_POINT, begin, bytes, MT_NO_MATE);
    return mate + 1;
}

/* Whether the element is a <sup> with the ending of the number before it, as in 3<sup>rd</sup>: its
 * tags are dropped where it is translated, as those of HTML are. */
static bool is_ending(const struct reader *reader, size_t first, size_t index)
{
    const struct piece *items = reader->items, *text = &items[index + 1];
    const char *decoded = reader->decoded.bytes, *tag = reader->source + items[index].range.begin;
    if (items[index].mate != index + 2 || index == first || items[index - 1].kind != TEXT ||
        text->kind != TEXT || strncmp(tag, "<sup>", 5) != 0)
        return false;
    struct mt_range before = items[index - 1].text;
    return before.begin < before.end && mt_ascii_is_digit(decoded[before.end - 1]) &&
           mt_is_ordinal_ending(decoded + text->text.begin, text->text.end - text->text.begin);
}

static bool is_paired(const struct piece *piece, size_t first, size_t end)
{
    return piece->mate != MT_NO_MATE && piece->mate >= first && piece->mate < end;
}

/* Returns the index of the piece behind what was added. */
static size_t add_piece(struct reader *reader, size_t first, size_t index, size_t end)
{
    struct piece *piece = &reader->items[index];
    size_t here = reader->segment->words.length;
    if (piece->kind == TEXT) {
        append_text(reader, piece);
    } else if (piece->kind == IGNORED) {
        add_ignored(reader, index, end);
    } else if (piece->kind == POINT || !is_paired(piece, first, end)) {
        add_code(reader, MT_CODE_POINT, here, piece->range, MT_NO_MATE);
    } else if (piece->kind == START && !holds_words(reader, index, piece->mate)) {
        return add_empty(reader, index);
    } else if (piece->kind == START && is_ending(reader, first, index)) {
        append_text(reader, &reader->items[index + 1]);
        return piece->mate + 1;
    } else if (piece->kind == START) {
        piece->code = reader->segment->n;
        add_code(reader, MT_CODE_OPEN, here, piece->range, MT_NO_MATE);
    } else {
        size_t open = reader->items[piece->mate].code;
        add_code(reader, MT_CODE_CLOSE, here, piece->range, open);
        if (!reader->status)
            reader->segment->codes[open].mate = reader->segment->n - 1;
    }
    return index + 1;
}

/* Leaves out what does not belong to the words: blanks, empty elements and points at both ends, and
 * pairs around everything. */
static void narrow(const struct reader *reader, size_t *first, size_t *end)
{
    const struct piece *items = reader->items;
    for (size_t n = 0; n != *end - *first;) {
        n = *end - *first;
        const struct piece *a = &items[*first], *z = n > 0 ? &items[*end - 1] : NULL;
        if (n == 0)
            return;
        bool has_a = is_paired(a, *first, *end), has_z = is_paired(z, *first, *end);
        if (a->kind == START && has_a && a->mate == *end - 1 && n > 1)
            ++*first, --*end;
        else if (a->kind == START && has_a && !holds_words(reader, *first, a->mate))
            *first = a->mate + 1;
        else if (a->kind == POINT || (a->kind == TEXT && is_blank(reader, a->text)) ||
                 ((a->kind == START || a->kind == END) && !has_a))
            ++*first;
        else if (z->kind == END && has_z && !holds_words(reader, z->mate, *end - 1))
            *end = z->mate;
        else if (z->kind == POINT || (z->kind == TEXT && is_blank(reader, z->text)) ||
                 ((z->kind == START || z->kind == END) && !has_z))
            --*end;
    }
}

/* Leaves out the blanks at both ends of texts, in which an entity is not a blank. */
static void narrow_texts(const struct reader *reader, struct piece *a, struct piece *z)
{
    const char *decoded = reader->decoded.bytes;
    while (z->kind == TEXT && !z->is_entity && z->text.end > z->text.begin) {
        size_t before = mt_previous_char(decoded, z->text.end);
        if (!mt_is_space(mt_utf8_decode(decoded + before)))
            break;
        z->range.end -= z->text.end - before;
        z->text.end = before;
    }
    while (a->kind == TEXT && !a->is_entity && a->text.end > a->text.begin) {
        size_t n = mt_char_length(decoded + a->text.begin);
        if (!mt_is_space(mt_utf8_decode(decoded + a->text.begin)))
            break;
        a->range.begin += n;
        a->text.begin += n;
    }
}

/* Whether there is a letter or digit to be translated. */
static bool is_worth_it(const struct reader *reader, size_t first, size_t end)
{
    const char *decoded = reader->decoded.bytes;
    for (size_t i = first; i < end; i++) {
        struct mt_range text = reader->items[i].text;
        for (; reader->items[i].kind == TEXT && text.begin < text.end;
             text.begin += mt_char_length(decoded + text.begin))
            if (mt_is_word_char(mt_utf8_decode(decoded + text.begin)))
                return true;
    }
    return false;
}

/* Reads pieces [first, end), none of which is a block's tag, as a segment. */
static void read_segment(struct reader *reader, size_t first, size_t end)
{
    if (reader->status || !is_worth_it(reader, first, end))
        return;
    narrow(reader, &first, &end);
    struct piece *a = &reader->items[first], *z = &reader->items[end - 1];
    narrow_texts(reader, a, z);
    size_t range_end = mt_size_max(z->range.end, a->range.end);
    reader->status =
        mt_coded_add_segment(reader->coded, a->range.begin, &reader->segment, reader->err);
    if (reader->status)
        return;
    for (size_t i = first; i < end && !reader->status;)
        i = add_piece(reader, first, i, end);
    reader->segment->range = (struct mt_range){a->range.begin, range_end};
    if (!reader->status)
        reader->status = mt_text_check(&reader->segment->words, "a text of xml", reader->err);
}

enum mt_status mt_read_xml(const char *source, size_t length,
                           const struct mt_coded_options *options, struct mt_coded *out,
                           struct mt_error *err)
{
    struct reader reader = {
        .source = source, .length = length, .options = options, .coded = out, .err = err};
    *out = (struct mt_coded){.source = source,
                             .length = length,
                             .write = mt_entities_write,
                             .finish_own = mt_entities_finish};
    mt_text_append(&reader.decoded, "", 0);
    const struct mt_xml_source fragment = {.bytes = source,
                                           .range = {skip_declarations(source), length},
                                           .is_fragment = true,
                                           .complaint =
                                               "Tag handling parsing failed, please check input. "};
    reader.status = mt_xml_parse(&fragment, take, &reader, err);
    if (!reader.status)
        find_inline(&reader);
    for (size_t first = 0, end; first < reader.n && !reader.status; first = end + 1) {
        for (end = first; end < reader.n; end++) {
            const struct piece *piece = &reader.items[end];
            if ((piece->kind == START || piece->kind == END) && !piece->is_inline)
                break;
        }
        read_segment(&reader, first, end);
    }
    mt_text_finish(&reader.decoded);
    free(reader.items);
    return reader.status;
}
