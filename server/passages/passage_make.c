/*
 * Takes a text apart: it cuts each segment of words and codes (coded.h) into lines, lines into
 * cells at their edges, and from a cell's ends what has no words. The rest is translated.
 */
#include "server/passages/passage_maker.h"

#include "base/size.h"
#include "base/vector.h"
#include "model/model.h"
#include "server/text/codes/codes_find.h"
#include "server/text/codes/reading.h"
#include "server/text/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Most parts of one text. */
#define MAX_PARTS 40000

const struct mt_code *mt_maker_code_at(const struct mt_maker *maker, size_t outer)
{
    return &maker->segment->codes[maker->outer[outer].code];
}

/* ---- parts ---- */

enum mt_status mt_maker_add_part(struct mt_maker *maker, const struct mt_stretch *stretch,
                                 struct mt_passage_part **out, struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    if (passage->n >= MAX_PARTS)
        return mt_fail(err, MT_LIMIT, "the text has more than %d lines and cells with codes",
                       MAX_PARTS / 2);
    if (MT_ROOM(&passage->parts, &passage->capacity, passage->n + 1, "parts of a text", err))
        return MT_MEMORY;
    const struct mt_coded_segment *segment = maker->segment;
    *out = &passage->parts[passage->n++];
    **out = (struct mt_passage_part){
        .segment = (size_t)(segment - passage->coded.segments),
        .range = stretch->words,
        .code = stretch->first < maker->n ? maker->outer[stretch->first].code : segment->n,
        .code_end = stretch->end < maker->n ? maker->outer[stretch->end].code : segment->n,
    };
    return MT_OK;
}

/* Adds a stretch that is not translated. It joins the part before it, if that is not translated
 * either. */
static enum mt_status add_untranslated(struct mt_maker *maker, const struct mt_stretch *stretch,
                                       struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    struct mt_passage_part *part;
    if (stretch->words.begin == stretch->words.end && stretch->first == stretch->end)
        return MT_OK;
    struct mt_passage_part *last = passage->n > 0 ? &passage->parts[passage->n - 1] : NULL;
    if (!last || last->translation || last->tagged || last->is_recalled || last->is_target ||
        &passage->coded.segments[last->segment] != maker->segment)
        return mt_maker_add_part(maker, stretch, &part, err);
    last->range.end = stretch->words.end;
    last->code_end = stretch->end < maker->n ? maker->outer[stretch->end].code : maker->segment->n;
    return MT_OK;
}

static enum mt_status create_traced(struct mt_maker *maker, struct mt_passage_part *part,
                                    const char *text, size_t length, struct mt_error *err)
{
    struct mt_translation_options traced = *maker->options->traced;
    traced.leaves_signs = maker->options->finds_codes;
    enum mt_status status =
        mt_translation_create(maker->model, text, length, &traced, &part->translation, err);
    if (status)
        return status;
    status = mt_alignment_trace_reserve(maker->passage->trace, part->translation, err);
    if (status) {
        mt_translation_destroy(part->translation);
        part->translation = NULL;
    }
    part->is_traced = !status;
    return status;
}

static enum mt_status translate(struct mt_maker *maker, struct mt_passage_part *part,
                                const char *text, size_t length, struct mt_error *err)
{
    bool is_plain = !part->tagged || mt_tagged_is_plain(part->tagged);
    enum mt_status status = is_plain ? MT_LIMIT : create_traced(maker, part, text, length, err);
    if (status != MT_LIMIT && status != MT_BUSY)
        return status;
    part->is_unaligned = !is_plain;
    struct mt_translation_options plain = *maker->options->plain;
    plain.leaves_signs = maker->options->finds_codes;
    if (maker->passage->repairs_numbers) {
        plain.trace_numbers = mt_alignment_trace_reserve_sentence;
        plain.trace_context = maker->passage->trace;
    }
    return mt_translation_create(maker->model, text, length, &plain, &part->translation, err);
}

/* Adds lines without codes as they are. `first` is the index of the next code. */
static enum mt_status take_plain(struct mt_maker *maker, struct mt_range range, size_t first,
                                 struct mt_error *err)
{
    const char *words = maker->segment->words.bytes;
    struct mt_range inner = mt_range_trim(words, range.begin, range.end);
    struct mt_passage_part *part = NULL;
    const struct mt_stretch stretch = {.words = range, .first = first, .end = first};
    if (inner.begin == inner.end)
        return add_untranslated(maker, &stretch, err);
    enum mt_status status = mt_maker_add_part(maker, &stretch, &part, err);
    return status ? status
                  : translate(maker, part, words + range.begin, range.end - range.begin, err);
}

/* ---- a cell as the model sees it ---- */

/* Returns where the line that holds text[begin] ends, at most `end`. */
static size_t line_end(const char *text, size_t begin, size_t end)
{
    while (begin < end && !mt_is_line_break(mt_utf8_decode(text + begin)))
        begin += mt_char_length(text + begin);
    return begin;
}

/* Whether the blanks text[begin, end) hold a line break. */
static bool breaks_line(const char *text, size_t begin, size_t end)
{
    return line_end(text, begin, end) < end;
}

/* Returns how many bytes at words[at] the model is shown as something else, *as; 0: none. *n gets
 * the length of the character. */
static size_t shown_as(const struct mt_maker *maker, size_t at, size_t end, size_t *n,
                       const char **as)
{
    const char *words = maker->segment->words.bytes;
    bool is_other = mt_reading_at(maker->reads, words, at, end, n, as) == MT_READS_AS;
    size_t n_entity = maker->reads ? mt_reading_of_entity(words, at, end) : 0;
    if (n_entity) {
        *as = "'";
        return n_entity;
    }
    if (maker->reads && strncmp(maker->passage->source_lang, "en", 2) == 0) {
        /* What follows may be a code, as in "Sat 10am-2pm". */
        size_t n_words = maker->segment->words.length;
        size_t n_short = mt_reading_of_short_forms(maker->reads, words, at, n_words, as);
        return n_short > 0 && at + n_short <= end ? n_short : is_other ? *n : 0;
    }
    return is_other ? *n : 0;
}

/* Appends words in the form in which the model reads them. */
static void append_words(struct mt_maker *maker, struct mt_tagged_text *tagged, size_t begin,
                         size_t end)
{
    const char *words = maker->segment->words.bytes, *as = NULL;
    size_t from = begin, blanks_end = begin;
    mt_tagged_at(tagged, begin);
    for (size_t at = begin; at < end && !tagged->status;) {
        uint32_t c = mt_utf8_decode(words + at);
        bool begins_blanks = at >= blanks_end && mt_is_space(c);
        if (begins_blanks)
            blanks_end = mt_range_trim(words, at, end).begin;
        bool is_gap = begins_blanks && breaks_line(words, at, blanks_end);
        size_t n, n_other = shown_as(maker, at, end, &n, &as);
        if (!is_gap && n_other == 0) {
            at += n;
            continue;
        }
        mt_tagged_append(tagged, words + from, at - from);
        if (is_gap)
            mt_tagged_gap(tagged, words + at, blanks_end - at);
        mt_tagged_at(tagged, at);
        if (!is_gap)
            mt_tagged_append(tagged, as, strlen(as));
        from = at = is_gap ? blanks_end : at + n_other;
        mt_tagged_at(tagged, at);
    }
    mt_tagged_append(tagged, words + from, end - from);
}

void mt_maker_write_words(struct mt_maker *maker, const char *bytes, size_t length,
                          struct mt_text *out)
{
    const struct mt_coded *coded = &maker->passage->coded;
    if (coded->write)
        coded->write(maker->segment, bytes, length, out);
    else
        mt_text_append(out, bytes, length);
}

static void append_term(struct mt_maker *maker, struct mt_tagged_text *tagged,
                        const struct mt_code *code, const struct mt_text *own)
{
    struct mt_term term = mt_terms_at(maker->options->terms, code->term);
    const char *words = maker->segment->words.bytes + code->at.begin;
    size_t n_words = code->at.end - code->at.begin;
    struct mt_text written = {0};
    struct mt_tagged_term tag = {.words = words,
                                 .n_words = n_words,
                                 .target = words,
                                 .n_target = n_words,
                                 .written = own->bytes,
                                 .n_written = own->length,
                                 .term = code->term,
                                 .is_verbatim = term.is_verbatim};
    if (!term.is_verbatim) {
        struct mt_range first = {0};
        size_t at = 0;
        tag.target = tag.forms = term.target;
        tag.n_forms = strlen(term.target);
        (void)mt_term_next_form(tag.forms, tag.n_forms, &at, &first);
        tag.n_target = first.end;
        mt_maker_write_words(maker, tag.target, tag.n_target, &written);
        tag.written = written.bytes;
        tag.n_written = written.length;
    }
    mt_tagged_term(tagged, &tag);
    if (written.status)
        tagged->status = written.status;
    mt_text_finish(&written);
}

/* Whether both ends of a pair are in the stretch, or the code is a point. */
static bool is_pair(const struct mt_maker *maker, size_t outer, const struct mt_stretch *stretch)
{
    size_t mate = maker->outer[outer].mate;
    return mate != MT_NO_MATE && mate >= stretch->first && mate < stretch->end;
}

static void append_code(struct mt_maker *maker, struct mt_tagged_text *tagged, size_t outer,
                        const struct mt_stretch *stretch)
{
    const struct mt_code *code = mt_maker_code_at(maker, outer);
    struct mt_text own = {0};
    mt_text_append(&own, "", 0);
    size_t segment = (size_t)(maker->segment - maker->passage->coded.segments);
    if (mt_passage_write_code(maker->passage, segment, maker->outer[outer].code, &own, NULL))
        own.status = MT_MEMORY;
    mt_tagged_at(tagged, code->at.begin);
    if (code->kind == MT_CODE_OPEN && is_pair(maker, outer, stretch))
        mt_tagged_open(tagged, own.bytes, own.length);
    else if (code->kind == MT_CODE_CLOSE && is_pair(maker, outer, stretch))
        mt_tagged_close(tagged, own.bytes, own.length);
    else if (code->kind == MT_CODE_GAP)
        mt_tagged_gap(tagged, own.bytes, own.length);
    else if (code->kind == MT_CODE_BREAK)
        mt_tagged_break(tagged, own.bytes, own.length);
    else if (code->kind == MT_CODE_TERM)
        append_term(maker, tagged, code, &own);
    else if (code->kind == MT_CODE_WORD || code->kind == MT_CODE_NUMBER)
        mt_tagged_substitute(tagged,
                             mt_substitutes_next(&maker->substitutes, code->kind == MT_CODE_NUMBER),
                             own.bytes, own.length);
    else
        mt_tagged_point(tagged, own.bytes, own.length);
    if (own.status)
        tagged->status = own.status;
    mt_text_finish(&own);
    mt_tagged_at(tagged, code->at.end);
}

/* How many codes from `outer` on repeat the word before them without anything in between. */
static size_t count_repeats(const struct mt_maker *maker, size_t outer, size_t end)
{
    size_t n = 0;
    while (outer + n < end && mt_maker_code_at(maker, outer + n)->kind == MT_CODE_REPEAT &&
           (n == 0 || mt_maker_code_at(maker, outer + n)->at.begin ==
                          mt_maker_code_at(maker, outer + n - 1)->at.end))
        n++;
    return n;
}

static size_t last_word(const char *words, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && mt_is_word_char(mt_utf8_decode(words + mt_previous_char(words, at))))
        at = mt_previous_char(words, at);
    return at;
}

/* Appends the words [begin, end), of which the last one is repeated n times. */
static void append_repeated(struct mt_maker *maker, struct mt_tagged_text *tagged, size_t begin,
                            const struct mt_code *first, size_t n)
{
    const char *words = maker->segment->words.bytes;
    size_t word = last_word(words, begin, first->at.begin), n_word = first->at.begin - word;
    size_t n_code = first->at.end - first->at.begin;
    append_words(maker, tagged, begin, word);
    mt_tagged_open(tagged, "", 0);
    append_words(maker, tagged, word, first->at.begin);
    mt_tagged_repeat(tagged, n, words + first->at.begin, n_code > n_word ? n_code - n_word : 0);
    mt_tagged_close(tagged, "", 0);
}

/* Appends as much of a stretch as there is room for, and returns the rest. */
static struct mt_stretch append_stretch(struct mt_maker *maker, struct mt_tagged_text *tagged,
                                        const struct mt_stretch *stretch)
{
    size_t at = stretch->words.begin, i = stretch->first;
    while (i < stretch->end) {
        const struct mt_code *code = mt_maker_code_at(maker, i);
        size_t n_repeats = count_repeats(maker, i, stretch->end);
        if (tagged->n >= MT_MAX_TAGS && (tagged->open == MT_NO_TAG || tagged->n >= 2 * MT_MAX_TAGS))
            break;
        if (n_repeats > 0)
            append_repeated(maker, tagged, at, code, n_repeats);
        else
            append_words(maker, tagged, at, code->at.begin);
        if (n_repeats == 0)
            append_code(maker, tagged, i, stretch);
        i += n_repeats ? n_repeats : 1;
        at = mt_maker_code_at(maker, i - 1)->at.end;
    }
    while (tagged->open != MT_NO_TAG && !tagged->status)
        mt_tagged_close(tagged, "", 0);
    size_t stop = i < stretch->end ? at : stretch->words.end;
    append_words(maker, tagged, at, stop);
    return (struct mt_stretch){
        .words = {stop, stretch->words.end}, .first = i, .end = stretch->end};
}

/* ---- cells ---- */

static bool has_words(const struct mt_maker *maker, size_t begin, size_t end)
{
    const char *words = maker->segment->words.bytes;
    for (size_t at = begin; at < end; at += mt_char_length(words + at))
        if (mt_is_readable_word_char(maker->reads, mt_utf8_decode(words + at)))
            return true;
    return false;
}

bool mt_maker_has_words(const struct mt_maker *maker, const struct mt_stretch *stretch)
{
    size_t at = stretch->words.begin;
    for (size_t i = stretch->first; i < stretch->end; i++) {
        const struct mt_code *code = mt_maker_code_at(maker, i);
        if (code->kind == MT_CODE_TERM || has_words(maker, at, code->at.begin))
            return true;
        at = mt_size_max(at, code->at.end);
    }
    return has_words(maker, at, stretch->words.end);
}

/* Whether a code at a cell's end does not belong to the cell's sentence. */
static bool is_loose(const struct mt_maker *maker, size_t outer, const struct mt_stretch *cell)
{
    const struct mt_code *code = mt_maker_code_at(maker, outer);
    switch (code->kind) {
    case MT_CODE_OPEN:
    case MT_CODE_CLOSE:
        return !is_pair(maker, outer, cell);
    case MT_CODE_POINT:
    case MT_CODE_GAP:
    case MT_CODE_BREAK:
    case MT_CODE_EDGE:
        return true;
    default:
        return false;
    }
}

struct mt_stretch mt_maker_without_ends(const struct mt_maker *maker, const struct mt_stretch *cell)
{
    const char *words = maker->segment->words.bytes;
    struct mt_stretch inner = *cell;
    for (;;) {
        size_t limit = inner.first < inner.end ? mt_maker_code_at(maker, inner.first)->at.begin
                                               : inner.words.end;
        inner.words.begin = mt_range_trim(words, inner.words.begin, limit).begin;
        if (inner.words.begin < limit || inner.first == inner.end ||
            !is_loose(maker, inner.first, cell))
            break;
        inner.words.begin = mt_maker_code_at(maker, inner.first++)->at.end;
    }
    for (;;) {
        size_t limit = inner.first < inner.end ? mt_maker_code_at(maker, inner.end - 1)->at.end
                                               : inner.words.begin;
        struct mt_range last = mt_range_trim(words, limit, inner.words.end);
        inner.words.end = last.begin < last.end ? last.end : limit;
        if (inner.words.end > limit || inner.first == inner.end ||
            !is_loose(maker, inner.end - 1, cell))
            break;
        inner.words.end = mt_maker_code_at(maker, --inner.end)->at.begin;
    }
    return inner;
}

/* In "{x, select, a {He} other {She}} liked it." the words behind the message lack their subject.
 * The model sees a name in its place, which is not written. */
static bool lacks_subject(const struct mt_maker *maker, const struct mt_stretch *inner)
{
    const char *words = maker->segment->words.bytes;
    if (inner->first == 0 || !u_islower((UChar32)mt_utf8_decode(words + inner->words.begin)))
        return false;
    const struct mt_code *opening = mt_maker_code_at(maker, 0),
                         *closing = mt_maker_code_at(maker, inner->first - 1);
    size_t at = closing->at.end;
    while (at > closing->at.begin && (words[at - 1] == '}' || words[at - 1] == ' '))
        at--;
    return opening->kind == MT_CODE_EDGE && opening->at.begin == 0 && *words == '{' &&
           closing->kind == MT_CODE_EDGE && at == closing->at.begin && closing->at.end - at > 1;
}

/* Adds one text that is translated by itself. */
static enum mt_status take_inner(struct mt_maker *maker, struct mt_stretch inner,
                                 struct mt_error *err)
{
    enum mt_status status = MT_OK;
    while (!status && (inner.words.begin < inner.words.end || inner.first < inner.end)) {
        struct mt_passage_part *part;
        status = mt_maker_add_part(maker, &inner, &part, err);
        if (status)
            break;
        part->tagged = calloc(1, sizeof *part->tagged);
        if (!part->tagged)
            return mt_fail_memory(err, sizeof *part->tagged, "a text");
        mt_tagged_init(part->tagged);
        if (lacks_subject(maker, &inner))
            mt_tagged_substitute(part->tagged, mt_substitutes_next(&maker->substitutes, false), "",
                                 0);
        struct mt_stretch left = append_stretch(maker, part->tagged, &inner);
        part->range.end = left.words.begin;
        part->code_end = left.first < maker->n ? maker->outer[left.first].code : maker->segment->n;
        inner = left;
        status = mt_tagged_check(part->tagged, err);
        if (!status && mt_tagged_has_words(part->tagged))
            status =
                translate(maker, part, part->tagged->text.bytes, part->tagged->text.length, err);
    }
    return status;
}

static enum mt_status take_cell(struct mt_maker *maker, const struct mt_stretch *cell,
                                struct mt_error *err)
{
    if (!mt_maker_has_words(maker, cell))
        return add_untranslated(maker, cell, err);
    const struct mt_stretch inner = mt_maker_without_ends(maker, cell);
    const struct mt_stretch before = {
        .words = {cell->words.begin, inner.words.begin}, .first = cell->first, .end = inner.first};
    const struct mt_stretch behind = {
        .words = {inner.words.end, cell->words.end}, .first = inner.end, .end = cell->end};
    enum mt_status status = add_untranslated(maker, &before, err);
    if (!status)
        status = take_inner(maker, inner, err);
    return status ? status : add_untranslated(maker, &behind, err);
}

/* ---- lines ---- */

static enum mt_status take_line(struct mt_maker *maker, const struct mt_stretch *line,
                                struct mt_error *err)
{
    enum mt_status status = MT_OK;
    struct mt_stretch cell = {.words.begin = line->words.begin, .first = line->first};
    for (size_t i = line->first; i < line->end && !status; i++) {
        if (!maker->is_cut[i])
            continue;
        const struct mt_code *edge = mt_maker_code_at(maker, i);
        cell.words.end = edge->at.begin;
        cell.end = i;
        status = take_cell(maker, &cell, err);
        const struct mt_stretch own = {.words = edge->at, .first = i, .end = i + 1};
        if (!status)
            status = add_untranslated(maker, &own, err);
        cell.words.begin = edge->at.end;
        cell.first = i + 1;
    }
    cell.words.end = line->words.end;
    cell.end = line->end;
    return status ? status : take_cell(maker, &cell, err);
}

/* Returns the first position of the stretch where the words are not shown to the model as they
 * are. */
static size_t next_special(const struct mt_maker *maker, const struct mt_stretch *stretch)
{
    size_t from = stretch->words.begin, limit = stretch->words.end;
    if (stretch->first < stretch->end)
        limit = mt_maker_code_at(maker, stretch->first)->at.begin;
    const char *as;
    for (size_t at = from, n; at < limit && maker->reads; at += n)
        if (shown_as(maker, at, limit, &n, &as))
            return at;
    return limit;
}

/* Returns the line that holds `special`, with the lines that codes join to it. */
static struct mt_stretch find_line(const struct mt_maker *maker, const struct mt_stretch *stretch,
                                   size_t special)
{
    const char *words = maker->segment->words.bytes;
    size_t end = stretch->words.end;
    struct mt_stretch line = {.words = {special, line_end(words, special, end)},
                              .first = stretch->first};
    while (line.words.begin > stretch->words.begin &&
           !mt_is_line_break(mt_utf8_decode(words + mt_previous_char(words, line.words.begin))))
        line.words.begin = mt_previous_char(words, line.words.begin);
    for (line.end = line.first; line.end < stretch->end; line.end++) {
        const struct mt_code *code = mt_maker_code_at(maker, line.end);
        if (code->at.begin > line.words.end)
            break;
        if (code->at.end > line.words.end)
            line.words.end = line_end(words, code->at.end, end);
    }
    return line;
}

bool mt_maker_is_whole(const struct mt_maker *maker)
{
    const struct mt_text *words = &maker->segment->words;
    bool has_code =
        words->length > 1 && memcmp(words->bytes, ">>", 2) == 0 && maker->passage->coded.n == 1;
    return maker->options->plain->split == MT_SPLIT_OFF || has_code;
}

static enum mt_status take_lines(struct mt_maker *maker, const struct mt_stretch *stretch,
                                 struct mt_error *err)
{
    struct mt_stretch left = *stretch;
    enum mt_status status = MT_OK;
    while ((left.words.begin < left.words.end || left.first < left.end) && !status) {
        size_t special = next_special(maker, &left);
        if (special == left.words.end && left.first == left.end)
            return take_plain(maker, left.words, left.first, err);
        struct mt_stretch line = find_line(maker, &left, special);
        status = take_plain(maker, (struct mt_range){left.words.begin, line.words.begin},
                            left.first, err);
        if (!status)
            status = take_line(maker, &line, err);
        left.words.begin = line.words.end;
        left.first = line.end;
    }
    return status;
}

enum mt_status mt_maker_take(struct mt_maker *maker, const struct mt_stretch *stretch,
                             struct mt_error *err)
{
    const char *words = maker->segment->words.bytes;
    size_t end = stretch->words.end;
    bool is_special =
        stretch->first < stretch->end || next_special(maker, stretch) < end ||
        (maker->options->finds_codes && line_end(words, stretch->words.begin, end) < end);
    return is_special && mt_maker_is_whole(maker) ? take_line(maker, stretch, err)
                                                  : take_lines(maker, stretch, err);
}

/* ---- edges ---- */

static bool stands_as_word(const struct mt_code *code)
{
    return code->kind == MT_CODE_WORD || code->kind == MT_CODE_NUMBER || code->kind == MT_CODE_TERM;
}

/* What choosing the edges has to know of each outer code. */
struct edge_facts {
    size_t n_edges;  /* edges before it */
    bool has_before; /* there are words between the edge before it and it */
    bool has_behind; /* there are words between it and the next edge */
    int n_around;    /* pairs that must not be cut and begin here, minus those that end here */
};

static void look_both_ways(const struct mt_maker *maker, struct edge_facts *facts)
{
    const struct mt_text *words = &maker->segment->words;
    size_t at = 0, n_edges = 0;
    bool has = false;
    for (size_t i = 0; i < maker->n; i++) {
        const struct mt_code *code = mt_maker_code_at(maker, i);
        bool is_edge = code->kind == MT_CODE_EDGE;
        has = has || has_words(maker, at, code->at.begin);
        facts[i].n_edges = n_edges;
        facts[i].has_before = has;
        has = !is_edge && (has || stands_as_word(code));
        n_edges += is_edge;
        at = mt_size_max(at, code->at.end);
    }
    has = has_words(maker, at, words->length);
    for (size_t i = maker->n; i-- > 0;) {
        const struct mt_code *code = mt_maker_code_at(maker, i);
        size_t from = i > 0 ? mt_maker_code_at(maker, i - 1)->at.end : 0;
        facts[i].has_behind = has;
        has = code->kind != MT_CODE_EDGE && (has || stands_as_word(code));
        has = has || (from < code->at.begin && has_words(maker, from, code->at.begin));
    }
}

/* An edge within a pair separates two texts only where the pair's ends are outside of both: only
 * signs are between an end and the next edge. Where a translation has to begin with given words,
 * nothing is cut. */
static enum mt_status choose_cuts(struct mt_maker *maker, struct mt_error *err)
{
    const struct mt_sentence_options *decoding = &maker->options->plain->decoding;
    struct edge_facts *facts = calloc(maker->n + 1, sizeof *facts);
    if (!facts)
        return mt_fail_memory(err, maker->n * sizeof *facts, "edges of a text");
    look_both_ways(maker, facts);
    for (size_t i = 0; i < maker->n; i++) {
        size_t mate = maker->outer[i].mate;
        bool is_close = mt_maker_code_at(maker, i)->kind == MT_CODE_CLOSE && mate < i;
        if (is_close && facts[mate].n_edges != facts[i].n_edges &&
            (facts[mate].has_before || facts[i].has_behind)) {
            facts[mate].n_around++;
            facts[i].n_around--;
        }
    }
    int n_around = 0;
    for (size_t i = 0; i < maker->n; i++) {
        n_around += facts[i].n_around;
        maker->is_cut[i] = mt_maker_code_at(maker, i)->kind == MT_CODE_EDGE && n_around == 0 &&
                           decoding->n_target_prefix == 0;
    }
    free(facts);
    return MT_OK;
}

static enum mt_status list_outer(struct mt_maker *maker, struct mt_error *err)
{
    const struct mt_coded_segment *segment = maker->segment;
    size_t *index = calloc(segment->n + 1, sizeof *index);
    maker->n = 0;
    maker->outer = calloc(segment->n + 1, sizeof *maker->outer);
    maker->is_cut = calloc(segment->n + 1, sizeof *maker->is_cut);
    if (!index || !maker->outer || !maker->is_cut) {
        free(index);
        return mt_fail_memory(err, segment->n * sizeof *index, "codes of a text");
    }
    for (size_t i = 0; i < segment->n; i = mt_coded_behind(segment, i)) {
        index[i] = maker->n;
        maker->outer[maker->n++].code = i;
    }
    for (size_t i = 0; i < maker->n; i++) {
        size_t mate = segment->codes[maker->outer[i].code].mate;
        maker->outer[i].mate = mate == MT_NO_MATE ? MT_NO_MATE : index[mate];
    }
    free(index);
    return segment->n > 0 ? choose_cuts(maker, err) : MT_OK;
}

/* ---- a text ---- */

/* Makes one translation, even of nothing, from plain text that the model is shown completely. */
static enum mt_status take_whole(struct mt_maker *maker, struct mt_error *err)
{
    const struct mt_text *words = &maker->segment->words;
    const struct mt_stretch all = {.words = {0, words->length}};
    struct mt_passage_part *part;
    enum mt_status status = mt_maker_add_part(maker, &all, &part, err);
    return status ? status : translate(maker, part, words->bytes, words->length, err);
}

static enum mt_status take_segment(struct mt_maker *maker, struct mt_error *err)
{
    const struct mt_passage_options *options = maker->options;
    if (maker->passage->is_plain && !options->finds_codes && !options->terms)
        return take_whole(maker, err);
    const struct mt_codes_options codes = {.tokenizer = maker->reads,
                                           .source_lang = options->plain->source_lang,
                                           .finds_codes = options->finds_codes,
                                           .terms = options->terms};
    size_t n_before = maker->passage->n;
    enum mt_status status = mt_codes_find(maker->segment, &codes, err);
    if (!status)
        status = list_outer(maker, err);
    struct mt_stretch all = {.words = {0, maker->segment->words.length}, .end = maker->n};
    if (!status)
        status = options->recall || options->keeps_target ? mt_maker_recall(maker, &all, err)
                                                          : mt_maker_take(maker, &all, err);
    free(maker->outer);
    free(maker->is_cut);
    maker->outer = NULL;
    maker->is_cut = NULL;
    if (!status && maker->passage->n == n_before) { /* every segment needs a part */
        struct mt_passage_part *part;
        status = mt_maker_add_part(maker, &all, &part, err);
    }
    return status;
}

static enum mt_status take_text(struct mt_maker *maker, struct mt_error *err)
{
    struct mt_coded *coded = &maker->passage->coded;
    enum mt_status status = MT_OK;
    mt_substitutes_init(&maker->substitutes, coded->source, coded->length);
    for (size_t i = 0; i < coded->n && !status; i++) {
        maker->segment = &coded->segments[i];
        status = take_segment(maker, err);
    }
    return status;
}

enum mt_status mt_passage_create(const struct mt_model *model, struct mt_coded *coded,
                                 const struct mt_passage_options *options, struct mt_passage **out,
                                 struct mt_error *err)
{
    struct mt_passage *passage = calloc(1, sizeof *passage);
    if (!passage) {
        mt_coded_finish(coded);
        return mt_fail_memory(err, sizeof *passage, "a text");
    }
    bool is_plain = coded->n == 1 && !coded->write && coded->segments[0].n == 0;
    *passage = (struct mt_passage){.coded = *coded,
                                   .is_plain = is_plain,
                                   .trace = options->trace,
                                   .reader = options->reader,
                                   .repairs_numbers = options->reader && options->repairs_numbers};
    *coded = (struct mt_coded){0};
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(model);
    const char *target = options->plain->target_lang;
    if (!target)
        target = mt_tokenizer_target_lang(tokenizer);
    passage->tokenizer = tokenizer;
    if (options->post_edits)
        passage->editor = tokenizer;
    if (target)
        snprintf(passage->target_lang, sizeof passage->target_lang, "%s", target);
    if (options->plain->source_lang)
        snprintf(passage->source_lang, sizeof passage->source_lang, "%s",
                 options->plain->source_lang);
    struct mt_maker maker = {.passage = passage,
                             .model = model,
                             .options = options,
                             .reads = options->finds_codes ? tokenizer : NULL};
    enum mt_status status = take_text(&maker, err);
    if (!status && options->terms && mt_terms_have_run_out(options->terms))
        status = mt_fail_memory(err, passage->coded.length, "words of a text");
    if (status) {
        mt_passage_destroy(passage);
        return status;
    }
    *out = passage;
    return MT_OK;
}
