#include "server/passages/passage_state.h"

#include "base/size.h"
#include "model/model.h"
#include "server/text/protect.h"
#include "server/text/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines with placeholders of one text, and what stands between them. */
#define MAX_LINE_PARTS 20000

/* What taking it apart needs. */
struct maker {
    struct mt_passage *passage;
    const struct mt_model *model;
    const struct mt_passage_options *options;
    struct mt_protect_scan scan; /* of plain text */
    struct mt_stand_ins stand_ins;
};

static enum mt_status add_part(struct mt_passage *passage, struct mt_passage_part **out,
                               struct mt_error *err)
{
    if (passage->n == passage->capacity) {
        size_t capacity = mt_size_max(1, passage->capacity * 2);
        struct mt_passage_part *parts = realloc(passage->parts, capacity * sizeof *parts);
        if (!parts)
            return mt_fail_memory(err, capacity * sizeof *parts, "parts of a text");
        for (size_t i = 0; i < passage->n; i++) /* they point into themselves */
            if (parts[i].marked && !passage->markup)
                parts[i].marked = &parts[i].own;
        passage->parts = parts;
        passage->capacity = capacity;
    }
    *out = &passage->parts[passage->n++];
    **out = (struct mt_passage_part){0};
    return MT_OK;
}

static enum mt_status create_traced(struct maker *maker, struct mt_passage_part *part,
                                    const char *text, size_t length, struct mt_error *err)
{
    enum mt_status status = mt_translation_create(maker->model, text, length,
                                                  maker->options->traced, &part->translation, err);
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

static enum mt_status translate(struct maker *maker, struct mt_passage_part *part, const char *text,
                                size_t length, struct mt_error *err)
{
    bool is_plain = !part->marked || mt_marked_is_plain(part->marked);
    enum mt_status status = is_plain ? MT_LIMIT : create_traced(maker, part, text, length, err);
    if (status != MT_LIMIT && status != MT_BUSY)
        return status;
    part->is_unaligned = !is_plain;
    struct mt_translation_options plain = *maker->options->plain;
    if (maker->passage->repairs_numbers) {
        plain.trace_numbers = mt_alignment_trace_reserve_sentence;
        plain.trace_context = maker->passage->trace;
    }
    return mt_translation_create(maker->model, text, length, &plain, &part->translation, err);
}

static enum mt_status translate_marked(struct maker *maker, struct mt_passage_part *part,
                                       struct mt_error *err)
{
    const struct mt_text *text = &part->marked->text;
    if (!mt_marked_has_words(part->marked))
        return MT_OK;
    return translate(maker, part, text->bytes, text->length, err);
}

static enum mt_status parse_html(struct maker *maker, struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    const struct mt_markup_options options = {.stand_ins = &maker->stand_ins,
                                              .protects = maker->options->protects,
                                              .terms = maker->options->terms,
                                              .max_tags = maker->options->max_html_tags,
                                              .ignored_tags = maker->options->ignored_tags,
                                              .n_ignored_tags = maker->options->n_ignored_tags};
    return mt_markup_parse(passage->text, passage->length, &options, &passage->markup, err);
}

static enum mt_status take_html(struct maker *maker, struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    enum mt_status status = parse_html(maker, err);
    size_t n = status ? 0 : mt_markup_n_segments(passage->markup);
    for (size_t i = 0; i < n && !status; i++) {
        struct mt_passage_part *part;
        status = add_part(passage, &part, err);
        if (status)
            break;
        part->marked = mt_markup_segment(passage->markup, i);
        status = translate_marked(maker, part, err);
    }
    return status;
}

/* Text without placeholders, and whole lines of it: as it is. */
static enum mt_status take_plain(struct maker *maker, struct mt_range range, struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    struct mt_range inner = mt_range_trim(passage->text, range.begin, range.end);
    struct mt_passage_part *part = NULL;
    if (range.begin == range.end && passage->length > 0)
        return MT_OK;
    enum mt_status status = add_part(passage, &part, err);
    if (status)
        return status;
    part->range = range;
    if (inner.begin < inner.end || passage->n == 1)
        return translate(maker, part, passage->text + range.begin, range.end - range.begin, err);
    mt_marked_init(&part->own);
    part->marked = &part->own;
    return MT_OK;
}

/* Where the line that holds text[begin] ends, end at the latest. */
static size_t line_end(const char *text, size_t begin, size_t end)
{
    while (begin < end && !mt_is_line_break(mt_utf8_decode(text + begin)))
        begin += mt_utf8_length((unsigned char)text[begin]);
    return begin;
}

/* Lines that are one sentence together: their breaks are marks, and come back where the alignment
 * says. Returns where the next part begins. */
static size_t append_lines(struct maker *maker, struct mt_passage_part *part, struct mt_range range)
{
    const char *text = maker->passage->text;
    size_t at = range.begin;
    while (at < range.end && part->own.n < MT_MAX_MARKS) {
        size_t stop = mt_range_trim(text, at, line_end(text, at, range.end)).end;
        size_t end = mt_protect_append(&part->own, &maker->stand_ins, &maker->scan, at, stop);
        if (end < stop)
            return end;
        at = mt_range_trim(text, stop, range.end).begin;
        if (at > stop && at < range.end)
            mt_marked_gap(&part->own, text + stop, at - stop);
    }
    return at;
}

/* A line, in as many parts as its marks need. */
static enum mt_status take_marked(struct maker *maker, struct mt_range line, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    while (line.begin < line.end && !status) {
        struct mt_passage_part *part;
        status = add_part(maker->passage, &part, err);
        if (status)
            break;
        mt_marked_init(&part->own);
        part->marked = &part->own;
        size_t end = append_lines(maker, part, line);
        part->range = (struct mt_range){line.begin, end};
        line.begin = end;
        status = mt_marked_check(&part->own, err);
        if (!status)
            status = translate_marked(maker, part, err);
    }
    return status;
}

static enum mt_status take_cue(struct maker *maker, struct mt_error *err)
{
    struct mt_passage *passage = maker->passage;
    struct mt_passage_part *part;
    enum mt_status status = add_part(passage, &part, err);
    if (status)
        return status;
    mt_marked_init(&part->own);
    part->marked = &part->own;
    part->range = (struct mt_range){0, passage->length};
    const struct mt_cue_options options = {.markup = maker->options->cues,
                                           .stand_ins = &maker->stand_ins,
                                           .protects = maker->options->protects,
                                           .terms = maker->options->terms};
    if (!mt_cue_tags_append(&part->own, &options, passage->text, passage->length))
        return mt_fail(err, MT_LIMIT, "a subtitle has more than %d tags", MT_MAX_CUE_TAGS);
    status = mt_marked_check(&part->own, err);
    return status ? status : translate_marked(maker, part, err);
}

/* The next line with a placeholder or a term, without the blanks at its ends: an emoji at the
 * beginning of a line must not move to the end of the one before. Empty at the text's end where
 * there is none. */
static struct mt_range next_line(struct maker *maker, size_t from)
{
    const char *text = maker->passage->text;
    size_t length = maker->passage->length;
    struct mt_protected found = mt_protect_scan_next(&maker->scan, from);
    size_t begin = found.begin, end = found.end;
    while (begin > from && !mt_is_line_break(mt_utf8_decode(text + mt_previous_char(text, begin))))
        begin = mt_previous_char(text, begin);
    return found.kind == MT_PROTECTED_NOTHING
               ? (struct mt_range){length, length}
               : mt_range_trim(text, begin, line_end(text, end, length));
}

/* Line by line, where lines are translated for themselves. A text that may begin with a target
 * language code, which counts for all of it, stays in one. */
static enum mt_status take_protected(struct maker *maker, struct mt_error *err)
{
    const struct mt_passage *passage = maker->passage;
    bool has_code = passage->length > 1 && memcmp(passage->text, ">>", 2) == 0;
    bool is_whole = has_code || maker->options->plain->split == MT_SPLIT_OFF;
    enum mt_status status = MT_OK;
    for (size_t from = 0; from < passage->length && !status;) {
        if (passage->n >= MAX_LINE_PARTS)
            return mt_fail(err, MT_LIMIT, "the text has more than %d lines with placeholders",
                           MAX_LINE_PARTS / 2);
        struct mt_range line =
            is_whole ? mt_range_trim(passage->text, from, passage->length) : next_line(maker, from);
        status = take_plain(maker, (struct mt_range){from, line.begin}, err);
        if (!status)
            status = take_marked(maker, line, err);
        from = line.end;
    }
    return status;
}

/* Whether there are line breaks within a text that is to be one sentence. */
static bool keeps_lines(const struct maker *maker)
{
    const struct mt_passage *passage = maker->passage;
    struct mt_range inner = mt_range_trim(passage->text, 0, passage->length);
    return maker->options->protects && maker->options->plain->split == MT_SPLIT_OFF &&
           line_end(passage->text, inner.begin, inner.end) < inner.end;
}

static enum mt_status take_text(struct maker *maker, struct mt_error *err)
{
    const struct mt_passage *passage = maker->passage;
    const struct mt_passage_options *options = maker->options;
    bool is_plain = !options->is_html && !options->cues;
    mt_stand_ins_init(&maker->stand_ins, passage->text, passage->length);
    mt_protect_scan_begin(&maker->scan, passage->text, passage->length,
                          options->protects && is_plain, is_plain ? options->terms : NULL, false);
    if (options->is_html)
        return take_html(maker, err);
    if (options->cues)
        return take_cue(maker, err);
    bool is_protected =
        mt_protect_scan_next(&maker->scan, 0).kind != MT_PROTECTED_NOTHING || keeps_lines(maker);
    return is_protected ? take_protected(maker, err)
                        : take_plain(maker, (struct mt_range){0, passage->length}, err);
}

enum mt_status mt_passage_create(const struct mt_model *model, const char *text, size_t length,
                                 const struct mt_passage_options *options, struct mt_passage **out,
                                 struct mt_error *err)
{
    struct mt_passage *passage = calloc(1, sizeof *passage);
    if (!passage)
        return mt_fail_memory(err, sizeof *passage, "a text");
    *passage = (struct mt_passage){.text = text,
                                   .length = length,
                                   .trace = options->trace,
                                   .reader = options->reader,
                                   .repairs_numbers = options->reader && options->repairs_numbers,
                                   .is_escaped = options->cues == MT_CUES_VTT};
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(model);
    const char *target = options->plain->target_lang;
    if (!target)
        target = mt_tokenizer_target_lang(tokenizer);
    if (options->post_edits)
        passage->editor = tokenizer;
    if (target)
        snprintf(passage->target_lang, sizeof passage->target_lang, "%s", target);
    struct maker maker = {.passage = passage, .model = model, .options = options};
    enum mt_status status = take_text(&maker, err);
    if (!status && options->terms && mt_terms_have_run_out(options->terms))
        status = mt_fail_memory(err, length, "words of a text");
    if (status) {
        mt_passage_destroy(passage);
        return status;
    }
    *out = passage;
    return MT_OK;
}
