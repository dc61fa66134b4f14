#include "server/passages/tag_projection.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

struct renderer {
    const struct mt_tag_projection_input *input;
    const struct mt_tag_projection *projection;
    mt_tag_projection_write *write;
    const void *context;
    struct mt_text *out;
    size_t *order;   /* the tags by place, those of each parent together */
    size_t at;       /* how much of the target has been written */
    size_t n_breaks; /* breaks among the tags */
    size_t gap_end;  /* where the last gap ends in out */
    /* where in out the beginnings of spans end that a blank was written before, or 0 */
    size_t open_end;
    size_t n_ends; /* beginnings and ends of sentences that have been written */
};

static const char *strings_of(const struct renderer *renderer)
{
    return renderer->input->tagged->strings.bytes;
}

static void write_string(struct renderer *renderer, struct mt_range range)
{
    mt_text_append(renderer->out, strings_of(renderer) + range.begin, range.end - range.begin);
}

/* Leaves line feeds out if there are breaks, because the breaks stand for them. */
static void write_lines(struct renderer *renderer, size_t begin, size_t end)
{
    const char *target = renderer->input->target;
    while (begin < end) {
        const char *feed = renderer->n_breaks ? memchr(target + begin, '\n', end - begin) : NULL;
        size_t stop = feed ? (size_t)(feed - target) : end;
        if (stop > begin)
            renderer->write(renderer->context, target + begin, stop - begin, renderer->out);
        begin = feed ? stop + 1 : stop;
    }
}

static size_t nth_end(const struct mt_range *sentences, size_t n)
{
    return n % 2 ? sentences[n / 2].end : sentences[n / 2].begin;
}

/* Notes where sentences begin and end, after target[begin, end) was written to out[from] and on. */
static void note_sentences(struct renderer *renderer, size_t begin, size_t end, size_t from)
{
    const struct mt_tag_projection_input *input = renderer->input;
    size_t n = input->written_sentences ? 2 * input->n_sentences : 0;
    for (; renderer->n_ends < n; renderer->n_ends++) {
        size_t at = nth_end(input->target_sentences, renderer->n_ends);
        if (at > end)
            return;
        struct mt_range *written = &input->written_sentences[renderer->n_ends / 2];
        size_t place = from + (at > begin ? at - begin : 0);
        *(renderer->n_ends % 2 ? &written->end : &written->begin) =
            mt_size_min(place, renderer->out->length);
    }
}

static void write_piece(struct renderer *renderer, size_t begin, size_t end)
{
    size_t from = renderer->out->length;
    write_lines(renderer, begin, end);
    note_sentences(renderer, begin, end, from);
}

static void write_until(struct renderer *renderer, size_t end)
{
    const struct mt_tag_projection *projection = renderer->projection;
    for (size_t i = 0; i < projection->n_removed && renderer->at < end; i++) {
        const struct mt_range *removed = &projection->removed[i];
        if (removed->end <= renderer->at || removed->begin >= end)
            continue;
        write_piece(renderer, renderer->at, mt_size_max(renderer->at, removed->begin));
        renderer->at = mt_size_min(end, removed->end);
    }
    if (renderer->at < end) {
        write_piece(renderer, renderer->at, end);
        renderer->at = end;
    }
    note_sentences(renderer, renderer->at, renderer->at, renderer->out->length);
}

static bool ends_in_blank(const struct mt_text *out)
{
    char last = out->length > 0 ? out->bytes[out->length - 1] : ' ';
    return last == ' ' || last == '\n' || last == '\t';
}

static bool is_word_next(const struct renderer *renderer)
{
    const struct mt_tag_projection_input *input = renderer->input;
    return renderer->at < input->target_length &&
           mt_is_word_char(mt_utf8_decode(input->target + renderer->at));
}

/* Writes a gap instead of the blank before it, unless that blank is another gap's. */
static void write_gap(struct renderer *renderer, const struct mt_tag *tag)
{
    struct mt_text *out = renderer->out;
    if (out->length > renderer->gap_end && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    write_string(renderer, tag->opening);
    renderer->gap_end = out->length;
}

/* Whether a span has no words and begins with a point that needs a blank before it. */
static bool needs_blank(const struct mt_tagged_text *tagged, size_t span)
{
    size_t i = span + 1;
    while (i < tagged->n && tagged->tags[i].kind == MT_TAG_SPAN)
        i++;
    return tagged->tags[span].kind == MT_TAG_SPAN &&
           tagged->tags[span].begin == tagged->tags[span].end && i < tagged->n &&
           tagged->tags[i].kind == MT_TAG_POINT && tagged->tags[i].took_blank;
}

/* Writes what opens a tag. A blank of the point in it is written before it. */
static void write_opening(struct renderer *renderer, size_t index)
{
    const struct mt_tagged_text *tagged = renderer->input->tagged;
    struct mt_text *out = renderer->out;
    bool is_behind_blank =
        ends_in_blank(out) || (out->length > 0 && out->length == renderer->open_end);
    bool has_blank = needs_blank(tagged, index);
    if (has_blank && !is_behind_blank)
        mt_text_append(out, " ", 1);
    write_string(renderer, tagged->tags[index].opening);
    if (has_blank)
        renderer->open_end = out->length;
}

static void write_point(struct renderer *renderer, const struct mt_tag *tag)
{
    struct mt_text *out = renderer->out;
    bool has_blank = ends_in_blank(out) || out->length == renderer->open_end;
    if (tag->took_blank && !has_blank)
        mt_text_append(out, " ", 1);
    write_string(renderer, tag->opening);
    if ((tag->had_blank_after || tag->took_blank) && is_word_next(renderer))
        mt_text_append(renderer->out, " ", 1);
}

/* Writes a range with its first letter as a capital. */
static void write_raised(struct renderer *renderer, struct mt_range range)
{
    const char *string = strings_of(renderer) + range.begin;
    mt_text_append_char(renderer->out, (uint32_t)u_totitle((UChar32)mt_utf8_decode(string)));
    range.begin += mt_char_length(string);
    write_string(renderer, range);
}

/* What is written behind a sentence becomes a part of it. */
static void stretch_sentence(struct renderer *renderer)
{
    const struct mt_tag_projection_input *input = renderer->input;
    size_t n = renderer->n_ends / 2;
    bool is_behind =
        renderer->n_ends % 2 == 0 && n > 0 && input->target_sentences[n - 1].end == renderer->at;
    if (is_behind)
        input->written_sentences[n - 1].end = renderer->out->length;
}

/* Leaves a substitute out that nothing replaces, with the blank behind it, or before it where it
 * was the last word. */
static void pass_over(struct renderer *renderer, const struct mt_projected_tag *place)
{
    const struct mt_tag_projection_input *input = renderer->input;
    size_t begin = renderer->at;
    renderer->at = mt_size_max(begin, place->end);
    struct mt_text *out = renderer->out;
    if (renderer->at < input->target_length && input->target[renderer->at] == ' ')
        renderer->at++;
    else if (renderer->at == input->target_length && out->length > renderer->gap_end &&
             out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    note_sentences(renderer, begin, renderer->at, renderer->out->length);
}

static void write_substitute(struct renderer *renderer, const struct mt_tag *tag,
                             const struct mt_projected_tag *place)
{
    bool is_apart = place->is_inserted || renderer->at != place->begin;
    if (place->is_lost)
        return;
    if (tag->opening.begin == tag->opening.end) {
        pass_over(renderer, place);
        return;
    }
    if (is_apart && renderer->at > 0 && !ends_in_blank(renderer->out))
        mt_text_append(renderer->out, " ", 1);
    if (place->is_own)
        renderer->write(renderer->context, renderer->input->target + place->begin,
                        place->end - place->begin, renderer->out);
    else if (place->is_raised)
        write_raised(renderer, tag->opening);
    else
        write_string(renderer, tag->opening);
    if (place->is_inserted)
        stretch_sentence(renderer);
    if (is_apart && is_word_next(renderer))
        mt_text_append(renderer->out, " ", 1);
}

/* Repeats what was written from out[from] on as often as the source had it. */
static void write_again(struct renderer *renderer, const struct mt_tag *tag, size_t from)
{
    struct mt_text *out = renderer->out;
    size_t length = out->length - from;
    for (size_t i = 0; i < tag->n_repeats && !out->status; i++) {
        write_string(renderer, tag->separator);
        mt_text_append_own(out, from, length);
    }
}

/* Writes the source's words instead of the target's until `end`. */
static void write_source(struct renderer *renderer, const struct mt_tag *tag, size_t end)
{
    size_t from = renderer->out->length, begin = renderer->at;
    renderer->write(renderer->context, renderer->input->tagged->text.bytes + tag->begin,
                    tag->end - tag->begin, renderer->out);
    renderer->at = mt_size_max(begin, end);
    note_sentences(renderer, begin, renderer->at, from);
}

static void write_tags(struct renderer *renderer, size_t parent, size_t end);

static void write_tag(struct renderer *renderer, size_t index, size_t end)
{
    const struct mt_tag *tag = &renderer->input->tagged->tags[index];
    const struct mt_projected_tag *place = &renderer->projection->places[index];
    write_until(renderer, mt_size_min(place->begin, end));
    if (tag->is_gap) {
        write_gap(renderer, tag);
    } else if (tag->kind == MT_TAG_POINT) {
        write_point(renderer, tag);
    } else if (tag->kind == MT_TAG_SUBSTITUTE || tag->kind == MT_TAG_TERM) {
        write_substitute(renderer, tag, place);
    } else {
        write_opening(renderer, index);
        size_t stop = mt_size_min(place->end, end);
        if (tag->kind == MT_TAG_SPAN) {
            size_t from = renderer->out->length;
            if (place->is_restored)
                write_source(renderer, tag, stop);
            else
                write_tags(renderer, index, stop);
            write_again(renderer, tag, from);
            write_string(renderer, tag->closing);
        }
    }
}

/* Writes a span's inside, or the whole text: its tags in the order of their places, and the text
 * between them. */
static void write_tags(struct renderer *renderer, size_t parent, size_t end)
{
    const struct mt_tagged_text *tagged = renderer->input->tagged;
    for (size_t i = 0; i < tagged->n; i++) {
        size_t index = renderer->order[i];
        if (tagged->tags[index].parent == parent)
            write_tag(renderer, index, end);
    }
    write_until(renderer, end);
}

struct key {
    size_t begin, index;
};

static int by_place(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum mt_status sort_tags(struct renderer *renderer, struct mt_error *err)
{
    size_t n = renderer->input->tagged->n;
    struct key *keys = calloc(n + 1, sizeof *keys);
    renderer->order = calloc(n + 1, sizeof *renderer->order);
    if (!keys || !renderer->order) {
        free(keys);
        return mt_fail_memory(err, n * sizeof *keys, "tags");
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct key){.begin = renderer->projection->places[i].begin, .index = i};
        renderer->n_breaks += renderer->input->tagged->tags[i].kind == MT_TAG_BREAK;
    }
    qsort(keys, n, sizeof *keys, by_place);
    for (size_t i = 0; i < n; i++)
        renderer->order[i] = keys[i].index;
    free(keys);
    return MT_OK;
}

enum mt_status mt_tag_projection_render(const struct mt_tag_projection_input *input,
                                        const struct mt_tag_projection *projection,
                                        mt_tag_projection_write *write, const void *context,
                                        struct mt_text *out, struct mt_error *err)
{
    struct renderer renderer = {.input = input,
                                .projection = projection,
                                .write = write,
                                .context = context,
                                .out = out,
                                .gap_end = out->length};
    enum mt_status status = sort_tags(&renderer, err);
    if (!status) {
        write_tags(&renderer, MT_NO_TAG, input->target_length);
        status = mt_text_check(out, "a translation", err);
    }
    free(renderer.order);
    return status;
}
