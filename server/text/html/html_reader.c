#include "server/text/html/html_reader.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/text/codes/entities.h"
#include "server/text/html/html_runs.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/tagged_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Most bytes of a symbol that may have an index: CO, km, 100. */
#define MOST_SYMBOL_BYTES 3

struct reader {
    struct mt_html_pieces pieces;
    struct mt_coded *coded;
    size_t first, end;                /* pieces of the segment that is being read */
    struct mt_coded_segment *segment; /* that segment */
    bool is_behind_point;             /* a blank counts then, even behind another blank */
    enum mt_status status;
    struct mt_error *err;
};

/* ---- words ---- */

static void remember_entity(struct reader *reader, const struct mt_html_char *character)
{
    bool is_one = mt_char_length(character->bytes) == character->n_bytes;
    if (is_one)
        reader->status =
            mt_entities_remember(reader->segment, mt_utf8_decode(character->bytes),
                                 reader->pieces.source + character->source.begin,
                                 character->source.end - character->source.begin, reader->err);
}

static char last_byte(const struct mt_coded_segment *segment)
{
    size_t length = segment->words.length;
    return length > 0 ? segment->words.bytes[length - 1] : '\n';
}

/* Appends text, in which every run of blanks becomes one; there are none at the beginning and
 * behind line breaks. */
static void append(struct reader *reader, const char *bytes, size_t length)
{
    struct mt_coded_segment *segment = reader->segment;
    if (!mt_html_is_blank(*bytes)) {
        mt_text_append(&segment->words, bytes, length);
        reader->is_behind_point = false;
        return;
    }
    char last = last_byte(segment);
    if ((last != ' ' && last != '\n') || reader->is_behind_point)
        mt_text_append(&segment->words, " ", 1);
    reader->is_behind_point = false;
}

static void append_text(struct reader *reader, const char *text)
{
    for (size_t n; *text; text += n) {
        n = mt_char_length(text);
        append(reader, text, n);
    }
}

static void append_piece(struct reader *reader, size_t text)
{
    struct mt_html_walk walk = mt_html_walk(&reader->pieces, text);
    const char *source = reader->pieces.source;
    bool is_in_template = false; /* <% a && b %>, which is copied */
    for (struct mt_html_char next; mt_html_next_char(&walk, &next) && !reader->status;) {
        size_t at = next.source.begin;
        is_in_template = is_in_template || (source[at] == '<' && source[at + 1] == '%');
        if (next.is_entity || (is_in_template && strchr("<>&", source[at])))
            remember_entity(reader, &next);
        is_in_template = is_in_template && !(source[at] == '>' && source[at - 1] == '%');
        append(reader, next.bytes, next.n_bytes);
    }
}

/* Appends all text in a node, as a reader sees it. */
static void append_node(struct reader *reader, const GumboNode *node)
{
    const GumboVector *children = mt_html_children(node);
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
        node->type == GUMBO_NODE_CDATA)
        append_text(reader, node->v.text.text);
    for (unsigned i = 0; children && !mt_html_is_raw_text(node) && i < children->length; i++)
        append_node(reader, children->data[i]);
}

/* Removes blanks from the end. */
static void trim(struct reader *reader)
{
    struct mt_coded_segment *segment = reader->segment;
    struct mt_text *words = &segment->words;
    while (words->length > 0 && words->bytes[words->length - 1] == ' ')
        words->bytes[--words->length] = '\0';
    for (size_t i = segment->n; i-- > 0 && segment->codes[i].at.end > words->length;) {
        struct mt_code *code = &segment->codes[i];
        if (code->kind == MT_CODE_GAP)
            code->kind = MT_CODE_POINT;
        code->at.end = words->length;
        code->at.begin = mt_size_min(code->at.begin, words->length);
    }
}

/* ---- codes ---- */

static void add(struct reader *reader, const struct mt_code *code)
{
    if (!reader->status)
        reader->status = mt_coded_add(reader->segment, code, reader->err);
}

static struct mt_range here(const struct reader *reader)
{
    return (struct mt_range){reader->segment->words.length, reader->segment->words.length};
}

/* Adjacent points become one. */
static void add_point(struct reader *reader, struct mt_range bytes)
{
    struct mt_coded_segment *segment = reader->segment;
    struct mt_code *last = segment->n > 0 ? &segment->codes[segment->n - 1] : NULL;
    const struct mt_code code = {
        .kind = MT_CODE_POINT, .at = here(reader), .bytes = bytes, .mate = MT_NO_MATE};
    reader->is_behind_point = true;
    if (last && last->kind == MT_CODE_POINT && last->bytes.end == bytes.begin &&
        last->at.begin == code.at.begin)
        last->bytes.end = bytes.end;
    else
        add(reader, &code);
}

/* Adds a blank where there is none yet. */
static void add_gap(struct reader *reader, struct mt_range bytes)
{
    size_t begin = reader->segment->words.length;
    append(reader, " ", 1);
    struct mt_code code = {.kind = MT_CODE_GAP,
                           .at = {begin, reader->segment->words.length},
                           .bytes = bytes,
                           .mate = MT_NO_MATE};
    if (code.at.begin < code.at.end)
        add(reader, &code);
    else
        add_point(reader, bytes);
}

/* Adds a break with the blanks on both sides of it, which browsers do not show. */
static void add_break(struct reader *reader, struct mt_range bytes)
{
    const char *source = reader->pieces.source;
    struct mt_range segment = reader->segment->range;
    while (bytes.begin > segment.begin && mt_html_is_blank(source[bytes.begin - 1]))
        bytes.begin--;
    while (bytes.end < segment.end && mt_html_is_blank(source[bytes.end]))
        bytes.end++;
    struct mt_coded_segment *own = reader->segment;
    const struct mt_code *last = own->n > 0 ? &own->codes[own->n - 1] : NULL;
    if (last && last->bytes.end > bytes.begin)
        bytes.begin = last->bytes.end;
    trim(reader);
    struct mt_range at = here(reader);
    mt_text_append(&reader->segment->words, "\n", 1);
    at.end++;
    add(reader,
        &(struct mt_code){.kind = MT_CODE_BREAK, .at = at, .bytes = bytes, .mate = MT_NO_MATE});
    reader->is_behind_point = false;
}

static void add_word(struct reader *reader, const struct mt_html_piece *piece)
{
    size_t begin = reader->segment->words.length;
    append_node(reader, piece->node);
    const struct mt_text *words = &reader->segment->words;
    while (begin < words->length && words->bytes[begin] == ' ')
        begin++;
    size_t end = words->length;
    while (end > begin && words->bytes[end - 1] == ' ')
        end--;
    add(reader,
        &(struct mt_code){
            .kind = MT_CODE_WORD, .at = {begin, end}, .bytes = piece->range, .mate = MT_NO_MATE});
}

/* ---- formulas ---- */

/* Returns where the last of the words begins, behind all codes, if the text in the source ends with
 * the same word. */
static size_t find_word(const struct reader *reader, struct mt_range text)
{
    const struct mt_coded_segment *segment = reader->segment;
    const struct mt_text *words = &segment->words;
    size_t begin = words->length;
    size_t limit = segment->n > 0 ? segment->codes[segment->n - 1].at.end : 0;
    while (begin > limit) {
        size_t before = mt_previous_char(words->bytes, begin);
        if (!mt_is_word_char(mt_utf8_decode(words->bytes + before)))
            break;
        begin = before;
    }
    size_t n = words->length - begin;
    bool is_same = n > 0 && n <= text.end - text.begin &&
                   memcmp(reader->pieces.source + text.end - n, words->bytes + begin, n) == 0;
    return is_same ? begin : words->length;
}

/* Moves the beginning of a text behind its first word, and returns the word's length. */
static size_t take_word(struct reader *reader, size_t text)
{
    struct mt_html_piece *piece = &reader->pieces.items[text];
    struct mt_html_walk walk = mt_html_walk(&reader->pieces, text);
    struct mt_html_walk behind = walk;
    for (struct mt_html_char next; mt_html_next_char(&walk, &next); behind = walk) {
        if (next.is_entity || !mt_is_word_char(mt_utf8_decode(next.bytes)))
            break;
        mt_text_append(&reader->segment->words, next.bytes, next.n_bytes);
    }
    size_t n = behind.at - piece->range.begin;
    piece->range.begin = behind.at;
    piece->decoded = behind.decoded;
    return n;
}

/* Whether the note belongs to the word before it, and means nothing alone: CO<sub>2</sub>,
 * km<sup>2</sup>, 10<sup>6</sup>, 3<sup>rd</sup>. A footnote does not, as in it<sup>2</sup>. */
static bool is_index(const struct reader *reader, size_t first)
{
    const struct mt_html_piece *items = reader->pieces.items, *text = items + first - 1;
    size_t mate = items[first].mate, n = 0;
    if (!mt_html_is_note(&reader->pieces, first) || mate != first + 2 || first <= reader->first ||
        text->kind != MT_HTML_TEXT)
        return false;
    const char *end = reader->pieces.source + text->range.end;
    while (n < text->range.end - text->range.begin && n <= MOST_SYMBOL_BYTES &&
           mt_ascii_is_letter_or_digit(end[-(ptrdiff_t)n - 1]))
        n++;
    const char *word = end - n;
    struct mt_html_counts note = mt_html_count(&reader->pieces, first, mate);
    bool is_in_brackets = reader->pieces.source[items[first + 1].range.begin] == '[';
    if (n == 0 || n > MOST_SYMBOL_BYTES || is_in_brackets)
        return false;
    if (strspn(word, "0123456789") >= n)
        return note.letters > 0 || (n == 2 && memcmp(word, "10", 2) == 0);
    return note.digits > 0 &&
           (items[first].tag == GUMBO_TAG_SUB || n == 1 || strcspn(word, "aeiouyAEIOUY") >= n);
}

/* Returns the length of the price before a note that has its cents, as in $19.<sup>99</sup>; 0: there
 * is none. */
static size_t price_length(const struct reader *reader, size_t first)
{
    const struct mt_html_piece *items = reader->pieces.items, *text = items + first - 1;
    size_t mate = items[first].mate;
    if (!mt_html_is_note(&reader->pieces, first) || mate != first + 2 || first <= reader->first ||
        text->kind != MT_HTML_TEXT)
        return 0;
    struct mt_html_counts note = mt_html_count(&reader->pieces, first, mate);
    const char *source = reader->pieces.source;
    size_t at = text->range.end;
    at -= at > text->range.begin && (source[at - 1] == '.' || source[at - 1] == ',');
    size_t end = at;
    while (at > text->range.begin && mt_ascii_is_digit(source[at - 1]))
        at--;
    if (note.digits != 2 || note.letters + note.signs > 0 || at == end || at == text->range.begin)
        return 0;
    size_t sign = mt_previous_char(source, at);
    bool is_price = u_charType((UChar32)mt_utf8_decode(source + sign)) == U_CURRENCY_SYMBOL;
    return is_price ? text->range.end - sign : 0;
}

/* Whether the note is the ending of the number before it, as in 3<sup>rd</sup>. Other languages
 * write it in another way or not at all, so its tags are dropped where it is translated. */
static bool is_ending(const struct reader *reader, size_t first)
{
    const struct mt_html_piece *items = reader->pieces.items;
    const char *source = reader->pieces.source;
    struct mt_range note = items[first + 1].range;
    return is_index(reader, first) && mt_ascii_is_digit(source[items[first].range.begin - 1]) &&
           mt_is_ordinal_ending(source + note.begin, note.end - note.begin);
}

/* Returns where the expression begins that the symbol at words[begin] is part of: 25 m<sup>2</sup>,
 * E = mc<sup>2</sup>, E=mc<sup>2</sup>. */
static size_t with_operand(const struct reader *reader, size_t begin, struct mt_range text)
{
    const struct mt_coded_segment *segment = reader->segment;
    const char *words = segment->words.bytes;
    size_t limit = segment->n > 0 ? segment->codes[segment->n - 1].at.end : 0, at = begin;
    bool is_spaced = at >= limit + 4 && memcmp(words + at - 3, " = ", 3) == 0;
    bool is_equation = is_spaced || (at >= limit + 2 && words[at - 1] == '=');
    if (mt_ascii_is_digit(words[begin]))
        return begin;
    if (is_equation)
        at -= is_spaced ? 4 : 2;
    else
        at -= at > limit && words[at - 1] == ' ';
    while (at > limit && !is_equation &&
           (mt_ascii_is_digit(words[at - 1]) || words[at - 1] == '.' || words[at - 1] == ','))
        at--;
    size_t n = segment->words.length - at;
    bool is_one = (is_equation ? mt_ascii_is_letter(words[at]) : mt_ascii_is_digit(words[at])) &&
                  n <= text.end - text.begin && (at == 0 || words[at - 1] == ' ') &&
                  memcmp(reader->pieces.source + text.end - n, words + at, n) == 0;
    return is_one ? at : begin;
}

/* A note between letters or at a symbol is part of a formula such as H<sub>2</sub>O, which becomes
 * one word with all its notes. Returns the index of the piece behind it; `first`: there is no
 * formula. */
static size_t add_formula(struct reader *reader, size_t first)
{
    size_t end = reader->end;
    struct mt_html_pieces *pieces = &reader->pieces;
    struct mt_coded_segment *segment = reader->segment;
    size_t behind = pieces->items[first].mate + 1;
    bool is_behind = first > reader->first && pieces->items[first - 1].kind == MT_HTML_TEXT;
    bool is_between = is_behind && behind < end && pieces->items[behind].kind == MT_HTML_TEXT &&
                      !pieces->items[behind].ends.has_blank_before &&
                      mt_is_word_char(pieces->items[behind].ends.first);
    size_t n_price = price_length(reader, first);
    size_t begin =
        is_behind ? find_word(reader, pieces->items[first - 1].range) : segment->words.length;
    if (n_price == 0 &&
        (begin == segment->words.length || !(is_between || is_index(reader, first))))
        return first;
    begin = n_price > 0 ? segment->words.length - n_price
                        : with_operand(reader, begin, pieces->items[first - 1].range);
    bool is_number = n_price == 0 && mt_ascii_is_digit(segment->words.bytes[begin]);
    struct mt_code code = {
        .kind = is_number ? MT_CODE_NUMBER : MT_CODE_WORD, .at = {begin, 0}, .mate = MT_NO_MATE};
    code.bytes.begin = pieces->items[first].range.begin - (segment->words.length - begin);
    for (behind = first; behind < end;) {
        size_t text = pieces->items[behind].mate + 1;
        for (size_t i = behind; i < text; i++)
            if (pieces->items[i].kind == MT_HTML_TEXT)
                append_piece(reader, i);
        code.bytes.end = pieces->items[text - 1].range.end;
        behind = text;
        if (text < end && pieces->items[text].kind == MT_HTML_TEXT)
            code.bytes.end += take_word(reader, text);
        bool is_all = text < end && pieces->items[text].kind == MT_HTML_TEXT &&
                      pieces->items[text].range.begin == pieces->items[text].range.end;
        if (!is_all || text + 1 == end || !mt_html_is_note(pieces, text + 1))
            break;
        behind = text + 1;
    }
    code.at.end = segment->words.length;
    add(reader, &code);
    return behind;
}

/* ---- segments ---- */

/* Whether both tags are in the segment. */
static bool is_paired(const struct reader *reader, size_t tag)
{
    size_t mate = reader->pieces.items[tag].mate;
    return mate != MT_NO_MATE && mate >= reader->first && mate < reader->end;
}

static void add_whole(struct reader *reader, size_t first)
{
    const struct mt_html_pieces *pieces = &reader->pieces;
    size_t mate = pieces->items[first].mate;
    struct mt_html_counts held = mt_html_count(pieces, first, mate);
    struct mt_range bytes = {pieces->items[first].range.begin, pieces->items[mate].range.end};
    bool has_chars = held.letters + held.digits + held.signs > 0;
    if (held.breaks > 0 && !has_chars)
        add_break(reader, bytes);
    else if (held.blanks > 0 && !has_chars && held.points == 0)
        add_gap(reader, bytes);
    else
        add_point(reader, bytes);
}

static void open_pair(struct reader *reader, size_t first)
{
    struct mt_html_piece *piece = &reader->pieces.items[first];
    add(reader,
        &(struct mt_code){
            .kind = MT_CODE_OPEN, .at = here(reader), .bytes = piece->range, .mate = MT_NO_MATE});
    piece->code = reader->segment->n - 1;
}

/* Closes a pair. If there are only points in it, it becomes one code with them. */
static void close_pair(struct reader *reader, size_t last)
{
    struct mt_html_pieces *pieces = &reader->pieces;
    struct mt_coded_segment *segment = reader->segment;
    size_t open = pieces->items[pieces->items[last].mate].code;
    struct mt_range bytes = pieces->items[last].range;
    if (reader->status)
        return;
    if (segment->codes[open].at.begin == segment->words.length) {
        bytes.begin = segment->codes[open].bytes.begin;
        segment->n = open;
        add_point(reader, bytes);
        return;
    }
    add(reader,
        &(struct mt_code){.kind = MT_CODE_CLOSE, .at = here(reader), .bytes = bytes, .mate = open});
    segment->codes[open].mate = reader->status ? MT_NO_MATE : segment->n - 1;
}

/* Returns the index of the piece behind what was added. */
static size_t add_start(struct reader *reader, size_t index)
{
    const struct mt_html_piece *piece = &reader->pieces.items[index];
    if (!is_paired(reader, index)) {
        add_point(reader, piece->range);
        return index + 1;
    }
    if (!piece->is_whole) {
        open_pair(reader, index);
        return index + 1;
    }
    if (is_ending(reader, index)) {
        append_piece(reader, index + 1);
        return piece->mate + 1;
    }
    bool may_be_index = piece->tag != GUMBO_TAG_A && mt_html_is_note(&reader->pieces, index);
    size_t behind = may_be_index ? add_formula(reader, index) : index;
    if (behind > index)
        return behind;
    add_whole(reader, index);
    return piece->mate + 1;
}

static size_t add_piece(struct reader *reader, size_t index)
{
    const struct mt_html_piece *piece = &reader->pieces.items[index];
    if (piece->kind == MT_HTML_START)
        return add_start(reader, index);
    if (piece->kind == MT_HTML_TEXT)
        append_piece(reader, index);
    else if (piece->kind == MT_HTML_WORD)
        add_word(reader, piece);
    else if (piece->kind == MT_HTML_BREAK)
        add_break(reader, piece->range);
    else if (piece->kind == MT_HTML_END && is_paired(reader, index))
        close_pair(reader, index);
    else
        add_point(reader, piece->range);
    return index + 1;
}

/* Whether a piece has no meaning at an end of a text. */
static bool is_outer(const struct reader *reader, size_t index)
{
    const struct mt_html_piece *piece = &reader->pieces.items[index];
    switch (piece->kind) {
    case MT_HTML_TEXT:
        return piece->ends.first == 0;
    case MT_HTML_START:
        return !is_paired(reader, index) || piece->is_whole;
    case MT_HTML_END:
        return !is_paired(reader, index) ||
               (reader->pieces.items[piece->mate].is_whole && !is_index(reader, piece->mate) &&
                price_length(reader, piece->mate) == 0);
    case MT_HTML_WORD:
        return false;
    default:
        return true;
    }
}

/* Leaves out what does not belong to the words: pieces at both ends, and a pair around
 * everything. */
static void narrow(struct reader *reader)
{
    const struct mt_html_piece *items = reader->pieces.items;
    bool is_around_all = true;
    while (is_around_all) {
        while (reader->first < reader->end && is_outer(reader, reader->first))
            reader->first =
                is_paired(reader, reader->first) && items[reader->first].kind == MT_HTML_START
                    ? items[reader->first].mate + 1
                    : reader->first + 1;
        while (reader->first < reader->end && is_outer(reader, reader->end - 1))
            reader->end =
                is_paired(reader, reader->end - 1) && items[reader->end - 1].kind == MT_HTML_END
                    ? items[reader->end - 1].mate
                    : reader->end - 1;
        is_around_all = reader->first < reader->end && items[reader->first].kind == MT_HTML_START &&
                        items[reader->first].mate == reader->end - 1;
        reader->first += is_around_all;
        reader->end -= is_around_all;
    }
}

/* Leaves out the blanks of the first and last text. */
static void narrow_texts(struct reader *reader)
{
    struct mt_html_pieces *pieces = &reader->pieces;
    struct mt_html_piece *first = &pieces->items[reader->first];
    struct mt_html_piece *last = &pieces->items[reader->end - 1];
    struct mt_html_char next;
    if (last->kind == MT_HTML_TEXT) {
        struct mt_html_walk walk = mt_html_walk(pieces, reader->end - 1);
        while (mt_html_next_char(&walk, &next))
            if (!mt_is_space(mt_utf8_decode(next.bytes))) {
                last->range.end = next.source.end;
                last->decoded_end = next.bytes + next.n_bytes;
            }
    }
    if (first->kind == MT_HTML_TEXT) {
        struct mt_html_walk walk = mt_html_walk(pieces, reader->first), behind = walk;
        while (mt_html_next_char(&walk, &next) && mt_is_space(mt_utf8_decode(next.bytes)))
            behind = walk;
        first->range.begin = behind.at;
        first->decoded = behind.decoded;
    }
}

/* Whether there is a letter or digit to be translated. */
static bool has_words(const struct mt_coded_segment *segment)
{
    const struct mt_text *words = &segment->words;
    for (size_t at = 0, code = 0; at < words->length;) {
        while (code < segment->n && segment->codes[code].at.end <= at)
            code++;
        const struct mt_code *next = code < segment->n ? &segment->codes[code] : NULL;
        if (next && (next->kind == MT_CODE_WORD || next->kind == MT_CODE_NUMBER) &&
            next->at.begin <= at)
            at = next->at.end;
        else if (mt_is_word_char(mt_utf8_decode(words->bytes + at)))
            return true;
        else
            at += mt_char_length(words->bytes + at);
    }
    return false;
}

static void drop_segment(struct reader *reader)
{
    struct mt_coded_segment *segment = reader->segment;
    mt_text_finish(&segment->words);
    free(segment->codes);
    if (segment->own)
        mt_entities_finish(segment->own);
    reader->coded->n--;
}

/* Reads pieces [first, end) as a segment, if they have words. */
static void read_segment(struct reader *reader, size_t first, size_t end)
{
    struct mt_html_pieces *pieces = &reader->pieces;
    reader->first = first;
    reader->end = end;
    narrow(reader);
    if (reader->first == reader->end || reader->status)
        return;
    narrow_texts(reader);
    struct mt_range range = {pieces->items[reader->first].range.begin,
                             pieces->items[reader->end - 1].range.end};
    reader->status =
        mt_coded_add_segment(reader->coded, range.begin, &reader->segment, reader->err);
    if (reader->status)
        return;
    reader->segment->range = range;
    reader->is_behind_point = false;
    for (size_t i = reader->first; i < reader->end && !reader->status;)
        i = add_piece(reader, i);
    trim(reader);
    if (!reader->status)
        reader->status = mt_text_check(&reader->segment->words, "a text of html", reader->err);
    if (!has_words(reader->segment))
        drop_segment(reader);
}

/* Reads pieces [first, end), none of which is a block. */
static void read_run(struct reader *reader, size_t first, size_t end)
{
    struct mt_html_counts held = mt_html_count(&reader->pieces, first, end);
    if (held.letters + held.digits == 0)
        return;
    mt_html_pair(&reader->pieces, first, end);
    mt_html_cut(&reader->pieces, first, end);
    for (size_t i = first + 1; i <= end && !reader->status; i++)
        if (i == end || reader->pieces.items[i].cuts) {
            read_segment(reader, first, i);
            first = i;
        }
}

/* ---- the whole ---- */

static enum mt_status check_tags(const char *html, size_t length, size_t limit,
                                 struct mt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < length; i++)
        n += html[i] == '<' && (isalpha((unsigned char)html[i + 1]) || html[i + 1] == '/');
    if (n > limit)
        return mt_fail(err, MT_LIMIT, "the html has %zu tags, at most %zu are allowed", n, limit);
    return MT_OK;
}

enum mt_status mt_read_html(const char *source, size_t length,
                            const struct mt_coded_options *options, struct mt_coded *out,
                            struct mt_error *err)
{
    struct mt_html_tree tree = {0};
    struct reader reader = {.coded = out, .err = err};
    *out = (struct mt_coded){.source = source,
                             .length = length,
                             .write = mt_entities_write,
                             .finish_own = mt_entities_finish};
    enum mt_status status = check_tags(source, length, options->max_tags, err);
    if (!status)
        status = mt_html_parse(source, length, &tree, err);
    if (!status)
        status = mt_html_list(source, length, &tree, options, &reader.pieces, err);
    const struct mt_html_pieces *pieces = &reader.pieces;
    for (size_t first = 0, end; !status && first < pieces->n; first = end + 1) {
        for (end = first; end < pieces->n && pieces->items[end].kind != MT_HTML_BLOCK;)
            end++;
        if (first < end)
            read_run(&reader, first, end);
        status = reader.status;
    }
    mt_html_pieces_finish(&reader.pieces);
    mt_html_finish(&tree);
    return status;
}
