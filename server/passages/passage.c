#include "server/passages/passage_state.h"

#include "base/size.h"
#include "base/vector.h"
#include "server/passages/number_repair.h"
#include "server/text/localise.h"
#include "server/text/placeholder_check.h"
#include "server/text/post_edit.h"
#include "server/text/quality_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void mt_passage_destroy(struct mt_passage *passage)
{
    if (!passage)
        return;
    for (size_t i = 0; i < passage->n; i++) {
        mt_translation_destroy(passage->parts[i].translation);
        mt_word_links_finish(&passage->parts[i].links);
        if (passage->parts[i].tagged)
            mt_tagged_finish(passage->parts[i].tagged);
        free(passage->parts[i].tagged);
        mt_text_finish(&passage->parts[i].recalled);
    }
    free(passage->parts);
    mt_coded_finish(&passage->coded);
    free(passage);
}

struct mt_translation *mt_passage_next(const struct mt_passage *passage, size_t *position)
{
    while (*position < passage->n) {
        struct mt_translation *translation = passage->parts[(*position)++].translation;
        if (translation)
            return translation;
    }
    return NULL;
}

size_t mt_passage_n_sentences(const struct mt_passage *passage)
{
    const struct mt_translation *translation;
    size_t n = 0, position = 0;
    while ((translation = mt_passage_next(passage, &position)))
        n += mt_translation_n_sentences(translation);
    return n;
}

size_t mt_passage_n_recalled(const struct mt_passage *passage)
{
    size_t n = 0;
    for (size_t i = 0; i < passage->n; i++)
        n += passage->parts[i].is_recalled;
    return n;
}

bool mt_passage_is_recalled(const struct mt_passage *passage)
{
    return mt_passage_n_recalled(passage) > 0 && mt_passage_n_sentences(passage) == 0;
}

bool mt_passage_is_blank(const struct mt_passage *passage)
{
    const struct mt_coded *coded = &passage->coded;
    struct mt_range inner = mt_range_trim(coded->source, 0, coded->length);
    bool is_untranslated = passage->is_plain && passage->n == 1 && !passage->parts[0].tagged &&
                           passage->parts[0].translation &&
                           mt_translation_is_blank(passage->parts[0].translation);
    return inner.begin == inner.end || is_untranslated;
}

const char *mt_passage_text(const struct mt_passage *passage)
{
    return passage->coded.source;
}

/* ---- putting together ---- */

void mt_sentence_pairs_finish(struct mt_sentence_pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct mt_sentence_pairs){0};
}

static enum mt_status reserve_pairs(struct mt_sentence_pairs *pairs, size_t n, struct mt_error *err)
{
    return MT_ROOM(&pairs->items, &pairs->capacity, pairs->n + n, "sentences", err);
}

/* Maps the links to words of the edited text. Links of rank 0 belong to the part, so they are
 * copied to rendering->links before. */
static enum mt_status map_links(struct mt_tag_projection_input *input,
                                struct mt_rendering *rendering, struct mt_error *err)
{
    struct mt_word_links *own = &rendering->links;
    const size_t *map = rendering->map;
    size_t n = input->links->n, n_kept = 0;
    if (input->links != own) {
        own->items = calloc(n + 1, sizeof *own->items);
        if (!own->items)
            return mt_fail_memory(err, n * sizeof *own->items, "word links");
        if (n)
            memcpy(own->items, input->links->items, n * sizeof *own->items);
        own->capacity = n + 1;
    }
    for (size_t i = 0; i < n; i++) {
        struct mt_word_link link = own->items[i];
        link.target.begin = map[link.target.begin];
        link.target.end = map[link.target.end];
        if (link.target.begin < link.target.end)
            own->items[n_kept++] = link;
    }
    own->n = n_kept;
    input->links = own;
    return MT_OK;
}

static enum mt_status find_links(const struct mt_passage *passage, struct mt_passage_part *part,
                                 size_t rank, struct mt_tag_projection_input *input,
                                 struct mt_rendering *rendering, struct mt_error *err)
{
    input->links = &rendering->links;
    input->is_guessed = !part->is_traced;
    if (!part->is_traced)
        return mt_tagged_is_plain(part->tagged)
                   ? MT_OK
                   : mt_tag_projection_guess(input, &rendering->links, err);
    enum mt_status status =
        mt_rendering_find_links(passage, part, rank, rendering, &input->links, err);
    return status || !rendering->map ? status : map_links(input, rendering, err);
}

/* Gaps are the text's layout and belong to no word, so they stay in order where words change
 * theirs. */
static void order_gaps(const struct mt_tagged_text *tagged, struct mt_tag_projection *projection)
{
    for (size_t i = 0; i < tagged->n; i++)
        for (size_t k = 0; k < i && tagged->tags[i].is_gap; k++)
            if (tagged->tags[k].is_gap &&
                projection->places[k].begin > projection->places[i].begin) {
                struct mt_projected_tag place = projection->places[k];
                projection->places[k] = projection->places[i];
                projection->places[i] = place;
            }
}

/* The context of writing a part's words. */
struct written {
    const struct mt_coded *coded;
    const struct mt_coded_segment *segment;
};

static struct written written_of(const struct mt_passage *passage,
                                 const struct mt_passage_part *part)
{
    return (struct written){&passage->coded, &passage->coded.segments[part->segment]};
}

static void write_words(const void *context, const char *bytes, size_t length, struct mt_text *out)
{
    const struct written *written = context;
    if (written->coded->write && length > 0)
        written->coded->write(written->segment, bytes, length, out);
    else
        mt_text_append(out, bytes, length);
}

/* Places the tags by the alignment. Where that leaves an element without words, the words are
 * shared out in order and, where there are too few, the letters: no element that held words is
 * empty afterwards. */
static enum mt_status place_tags(struct mt_tag_projection_input *input,
                                 struct mt_tag_projection *out, struct mt_error *err)
{
    struct mt_word_links guessed = {0};
    enum mt_status status = mt_tag_projection_find(input, out, err);
    bool is_whole = status || mt_tag_projection_keeps_words(input, out);
    if (!is_whole && !input->is_guessed) {
        status = mt_tag_projection_guess(input, &guessed, err);
        mt_tag_projection_finish(out);
        input->links = &guessed;
        if (!status)
            status = mt_tag_projection_find(input, out, err);
        is_whole = status || mt_tag_projection_keeps_words(input, out);
    }
    if (!is_whole)
        mt_tag_projection_spread(input, out);
    if (!status)
        mt_tag_projection_restore(input, out);
    mt_word_links_finish(&guessed);
    return status;
}

static enum mt_status render_tagged(const struct mt_passage *passage, size_t index, size_t rank,
                                    struct mt_rendering *rendering, struct mt_text *out,
                                    struct mt_error *err)
{
    struct mt_passage_part *part = &passage->parts[index];
    enum mt_status status = mt_rendering_make(passage, part, rank, rendering, err);
    if (status)
        return status;
    struct mt_tag_projection_input input = {
        .tagged = part->tagged,
        .target = rendering->target->bytes,
        .target_length = rendering->target->length,
        .source_sentences = rendering->source_sentences,
        .target_sentences = rendering->target_sentences,
        .n_sentences = mt_translation_n_sentences(part->translation),
        .written_sentences = rendering->written_sentences,
    };
    const struct written written = written_of(passage, part);
    status = find_links(passage, part, rank, &input, rendering, err);
    if (!status)
        status = place_tags(&input, &rendering->projection, err);
    if (!status)
        order_gaps(part->tagged, &rendering->projection);
    if (!status)
        status = mt_tag_projection_render(&input, &rendering->projection, write_words, &written,
                                          out, err);
    return status;
}

/* Writes the translation without tags. */
static enum mt_status render_plain(const struct mt_passage *passage, struct mt_passage_part *part,
                                   size_t rank, struct mt_rendering *rendering, struct mt_text *out,
                                   struct mt_error *err)
{
    size_t base = out->length;
    enum mt_status status = mt_rendering_make(passage, part, rank, rendering, err);
    if (status)
        return status;
    for (size_t i = 0; i < mt_translation_n_sentences(part->translation); i++) {
        struct mt_range sentence = rendering->target_sentences[i];
        rendering->written_sentences[i] =
            (struct mt_range){base + sentence.begin, base + sentence.end};
    }
    const struct written written = written_of(passage, part);
    write_words(&written, rendering->target->bytes, rendering->target->length, out);
    return MT_OK;
}

/* Returns where a sentence of a part is in the text, which is plain. */
static struct mt_range source_of_sentence(const struct mt_passage *passage,
                                          const struct mt_passage_part *part, size_t index)
{
    struct mt_translation_part sentence = mt_translation_part(part->translation, index);
    size_t base = part->range.begin;
    struct mt_range own = {base + sentence.begin, base + sentence.end};
    if (part->tagged)
        own = mt_tagged_find_source(part->tagged, (struct mt_range){sentence.begin, sentence.end});
    return mt_range_trim(passage->coded.source, own.begin, own.end);
}

/* Adds the sentences of a part that was rendered. */
static enum mt_status add_pairs(const struct mt_passage *passage,
                                const struct mt_passage_part *part,
                                const struct mt_rendering *rendering,
                                struct mt_sentence_pairs *pairs, struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(part->translation);
    enum mt_status status = reserve_pairs(pairs, n, err);
    if (status)
        return status;
    for (size_t i = 0; i < n; i++)
        pairs->items[pairs->n++] =
            (struct mt_sentence_pair){.source = source_of_sentence(passage, part, i),
                                      .target = rendering->written_sentences[i]};
    return MT_OK;
}

enum mt_status mt_passage_write_code(const struct mt_passage *passage, size_t segment_index,
                                     size_t index, struct mt_text *out, struct mt_error *err)
{
    const struct mt_coded_segment *segment = &passage->coded.segments[segment_index];
    const struct mt_code *code = &segment->codes[index];
    const struct mt_localising localising = {.source_lang = passage->source_lang,
                                             .target_lang = passage->target_lang};
    bool has_inner = mt_coded_behind(segment, index) > index + 1;
    if (code->form == MT_CODE_AS_IT_IS || has_inner) {
        mt_coded_write_code(&passage->coded, segment, index, out);
        return MT_OK;
    }
    struct mt_text own = {0};
    const struct written written = {&passage->coded, segment};
    enum mt_status status =
        mt_localise(&localising, code->form, segment->words.bytes + code->at.begin,
                    code->at.end - code->at.begin, &own, err);
    if (!status)
        write_words(&written, own.bytes, own.length, out);
    mt_text_finish(&own);
    return status;
}

/* Writes a part that is not translated: words and codes as they are, except codes that each
 * language writes in its own way. */
static enum mt_status write_untranslated(const struct mt_passage *passage,
                                         const struct mt_passage_part *part, bool localises,
                                         struct mt_text *out, struct mt_error *err)
{
    const struct written written = written_of(passage, part);
    const struct mt_coded_segment *segment = written.segment;
    size_t at = part->range.begin;
    enum mt_status status = MT_OK;
    for (size_t i = part->code; i < part->code_end && !status; i = mt_coded_behind(segment, i)) {
        const struct mt_code *code = &segment->codes[i];
        write_words(&written, segment->words.bytes + at, code->at.begin - at, out);
        at = code->at.end;
        if (localises)
            status = mt_passage_write_code(passage, part->segment, i, out, err);
        else
            mt_coded_write_code(written.coded, segment, i, out);
    }
    write_words(&written, segment->words.bytes + at, part->range.end - at, out);
    return status ? status : mt_text_check(out, "a translation", err);
}

/* Whether a part's pieces are its translation's own, so that each token can be sent at once. */
static bool is_direct(const struct mt_passage *passage, size_t index)
{
    const struct mt_passage_part *part = &passage->parts[index];
    return passage->is_plain && part->translation && (!part->tagged || part->tagged->n == 0);
}

/* Writes a translated part that is the same as its source. pairs may be NULL. */
static enum mt_status write_unchanged(const struct mt_passage *passage,
                                      const struct mt_passage_part *part,
                                      struct mt_sentence_pairs *pairs, struct mt_text *out,
                                      struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(part->translation), base = out->length;
    size_t n_before = pairs ? pairs->n : 0;
    enum mt_status status = write_untranslated(passage, part, false, out, err);
    if (!status && pairs)
        status = reserve_pairs(pairs, n, err);
    for (size_t i = 0; i < n && pairs && !status; i++) {
        struct mt_range own = source_of_sentence(passage, part, i);
        pairs->items[pairs->n++] = (struct mt_sentence_pair){
            .source = own,
            .target = {base + own.begin - part->range.begin, base + own.end - part->range.begin}};
    }
    assert(!pairs || status || pairs->n == n_before + n);
    return status;
}

/* Writes what recall has of a part. pairs may be NULL. */
static enum mt_status write_recalled(const struct mt_passage *passage,
                                     const struct mt_passage_part *part,
                                     struct mt_sentence_pairs *pairs, struct mt_text *out,
                                     struct mt_error *err)
{
    size_t base = out->length;
    mt_text_append(out, part->recalled.bytes, part->recalled.length);
    if (!pairs)
        return MT_OK;
    enum mt_status status = reserve_pairs(pairs, 1, err);
    if (!status)
        pairs->items[pairs->n++] = (struct mt_sentence_pair){
            .source = mt_range_trim(passage->coded.source, part->range.begin, part->range.end),
            .target = {base, out->length}};
    return status;
}

/* pairs may be NULL. */
static enum mt_status render_part(const struct mt_passage *passage, size_t index, size_t rank,
                                  struct mt_sentence_pairs *pairs, struct mt_text *out,
                                  struct mt_error *err)
{
    struct mt_passage_part *part = &passage->parts[index];
    bool is_unchanged = false;
    if (part->is_recalled)
        return write_recalled(passage, part, pairs, out, err);
    if (!part->translation)
        return write_untranslated(passage, part, !part->is_target, out, err);
    if (!part->tagged && passage->is_plain && !passage->editor && !passage->repairs_numbers &&
        !pairs)
        return mt_translation_render(part->translation, rank, out, err);
    enum mt_status status = MT_OK;
    /* otherwise its tokens may have been sent */
    if (!is_direct(passage, index) || passage->editor)
        status = mt_rendering_is_unchanged(passage, part, rank, &is_unchanged, err);
    if (status || is_unchanged)
        return status ? status : write_unchanged(passage, part, pairs, out, err);
    struct mt_rendering rendering = {0};
    status = part->tagged ? render_tagged(passage, index, rank, &rendering, out, err)
                          : render_plain(passage, part, rank, &rendering, out, err);
    if (!status && pairs)
        status = add_pairs(passage, part, &rendering, pairs, err);
    mt_rendering_finish(&rendering);
    return status;
}

enum mt_status mt_passage_for_each(const struct mt_passage *passage, mt_passage_each_part *work,
                                   void *context, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < passage->n && !status; i++)
        status = work(passage, i, context, err);
    return status;
}

static void write_source(const struct mt_passage *passage, size_t begin, size_t end,
                         struct mt_text *out)
{
    mt_text_append(out, passage->coded.source + begin, end - begin);
}

/* Renders the source before a segment and all its parts, of which parts[*index] is the first, and
 * moves *index behind them. */
static enum mt_status render_segment(const struct mt_passage *passage, size_t *index, size_t rank,
                                     struct mt_sentence_pairs *pairs, struct mt_text *out,
                                     struct mt_error *err)
{
    const struct mt_coded *coded = &passage->coded;
    size_t k = passage->parts[*index].segment;
    const struct mt_coded_segment *segment = &coded->segments[k];
    enum mt_status status = MT_OK;
    write_source(passage, k > 0 ? coded->segments[k - 1].range.end : 0, segment->range.begin, out);
    size_t from = out->length;
    for (; *index < passage->n && passage->parts[*index].segment == k && !status; ++*index)
        status = render_part(passage, *index, rank, pairs, out, err);
    return status || passage->is_plain ? status : mt_coded_restore(coded, segment, from, out, err);
}

static void write_tail(const struct mt_passage *passage, struct mt_text *out)
{
    const struct mt_coded *coded = &passage->coded;
    write_source(passage, coded->n > 0 ? coded->segments[coded->n - 1].range.end : 0, coded->length,
                 out);
}

enum mt_status mt_passage_render_pairs(struct mt_passage *passage, size_t rank,
                                       struct mt_sentence_pairs *pairs, struct mt_text *out,
                                       struct mt_error *err)
{
    enum mt_status status = MT_OK;
    assert(!pairs || passage->is_plain);
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < passage->n && !status;)
        status = render_segment(passage, &i, rank, pairs, out, err);
    if (!status)
        write_tail(passage, out);
    return status ? status : mt_text_check(out, "a translation", err);
}

enum mt_status mt_passage_render(struct mt_passage *passage, size_t rank, struct mt_text *out,
                                 struct mt_error *err)
{
    return mt_passage_render_pairs(passage, rank, NULL, out, err);
}

/* Advances in a part whose pieces are its translation's own. */
static enum mt_status advance_plain(struct mt_passage *passage, struct mt_passage_cursor *cursor,
                                    struct mt_text *out, bool *moved, struct mt_error *err)
{
    size_t n_before = cursor->in_part.n_sentences;
    const struct mt_passage_part *part = &passage->parts[cursor->part];
    enum mt_status status =
        mt_translation_advance(part->translation, &cursor->in_part, out, moved, err);
    cursor->n_sentences += cursor->in_part.n_sentences - n_before;
    if (cursor->in_part.has_all) {
        cursor->in_part = (struct mt_translation_cursor){0};
        cursor->part++;
    }
    return status;
}

/* Whether all parts of the segment that begins with parts[index] have been decoded; in plain text,
 * whether that part has. */
static bool has_ended(const struct mt_passage *passage, size_t index)
{
    size_t k = passage->parts[index].segment;
    for (; index < passage->n && passage->parts[index].segment == k; index++) {
        const struct mt_translation *translation = passage->parts[index].translation;
        if (translation && !mt_translation_has_ended(translation))
            return false;
        if (passage->is_plain)
            break;
    }
    return true;
}

/* Writes what is not translated, and one translated piece. */
static enum mt_status advance_pieces(struct mt_passage *passage, struct mt_passage_cursor *cursor,
                                     struct mt_text *out, bool *moved, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    bool is_translated = false;
    while (!status && !is_translated && cursor->part < passage->n &&
           !is_direct(passage, cursor->part) && has_ended(passage, cursor->part)) {
        size_t part = cursor->part;
        *moved = true;
        if (passage->is_plain)
            status = render_part(passage, cursor->part++, 0, NULL, out, err);
        else
            status = render_segment(passage, &cursor->part, 0, NULL, out, err);
        for (; part < cursor->part; part++) {
            const struct mt_translation *translation = passage->parts[part].translation;
            is_translated = is_translated || translation;
            cursor->n_sentences += translation ? mt_translation_n_sentences(translation) : 0;
        }
    }
    return status;
}

enum mt_status mt_passage_advance(struct mt_passage *passage, struct mt_passage_cursor *cursor,
                                  struct mt_text *out, bool *moved, struct mt_error *err)
{
    *moved = false;
    if (cursor->has_all)
        return MT_OK;
    enum mt_status status = MT_OK;
    const struct mt_passage_cursor before = *cursor;
    size_t n_before = out->length;
    if (cursor->part < passage->n && !is_direct(passage, cursor->part))
        status = advance_pieces(passage, cursor, out, moved, err);
    bool is_all_kept = cursor->n_sentences == before.n_sentences;
    if (!status && is_all_kept && cursor->part < passage->n && is_direct(passage, cursor->part)) {
        status = advance_plain(passage, cursor, out, moved, err);
        if (!*moved && out->length > n_before) { /* it is sent together with what follows */
            *cursor = before;
            out->length = n_before;
            out->bytes[n_before] = '\0';
        }
    }
    if (!status && cursor->part == passage->n) {
        write_tail(passage, out);
        *moved = cursor->has_all = true;
    }
    return status ? status : mt_text_check(out, "a translation", err);
}

size_t mt_passage_n_ranks(const struct mt_passage *passage)
{
    size_t n = 1;
    for (size_t i = 0; i < passage->n; i++)
        if (passage->parts[i].translation)
            n = mt_size_max(n, mt_translation_n_ranks(passage->parts[i].translation));
    return n;
}

/* The mean of the parts' scores, weighted by their tokens. */
float mt_passage_score(const struct mt_passage *passage, size_t rank)
{
    double sum = 0, n_tokens = 0;
    if (passage->n == 1 && passage->parts[0].translation)
        return mt_translation_score(passage->parts[0].translation, rank);
    for (size_t i = 0; i < passage->n; i++) {
        const struct mt_translation *translation = passage->parts[i].translation;
        double n = translation ? (double)mt_translation_n_target_tokens(translation) : 0;
        if (n > 0)
            sum += n * (double)mt_translation_score(translation, rank);
        n_tokens += n;
    }
    return n_tokens > 0 ? (float)(sum / n_tokens) : 0;
}

size_t mt_passage_n_source_tokens(const struct mt_passage *passage)
{
    size_t n = 0;
    for (size_t i = 0; i < passage->n; i++)
        if (passage->parts[i].translation)
            n += mt_translation_n_source_tokens(passage->parts[i].translation);
    return n;
}

size_t mt_passage_n_target_tokens(const struct mt_passage *passage)
{
    size_t n = 0;
    for (size_t i = 0; i < passage->n; i++)
        if (passage->parts[i].translation)
            n += mt_translation_n_target_tokens(passage->parts[i].translation);
    return n;
}

/* ---- what was lost ---- */

struct lost_report {
    mt_passage_lost *report;
    void *context;
};

static enum mt_status find_lost_in(const struct mt_passage *passage, size_t index, void *context,
                                   struct mt_error *err)
{
    const struct lost_report *lost = context;
    const struct mt_tagged_text *tagged = passage->parts[index].tagged;
    struct mt_text text = {0};
    bool is_unchanged = false;
    if (!tagged || tagged->n == 0 || !passage->parts[index].translation)
        return MT_OK;
    enum mt_status status =
        mt_rendering_is_unchanged(passage, &passage->parts[index], 0, &is_unchanged, err);
    if (status || is_unchanged) /* a part that is written as it was loses nothing */
        return status;
    status = render_part(passage, index, 0, NULL, &text, err);
    if (!status)
        status = mt_placeholder_check(tagged, &text, lost->report, lost->context, err);
    mt_text_finish(&text);
    return status;
}

enum mt_status mt_passage_find_lost(struct mt_passage *passage, mt_passage_lost *lost,
                                    void *context, struct mt_error *err)
{
    struct lost_report report = {.report = lost, .context = context};
    return mt_passage_for_each(passage, find_lost_in, &report, err);
}

/* ---- terms ---- */

static bool has_terms(const struct mt_tagged_text *tagged)
{
    for (size_t i = 0; tagged && i < tagged->n; i++)
        if (tagged->tags[i].kind == MT_TAG_TERM)
            return true;
    return false;
}

static enum mt_term_outcome outcome_of(const struct mt_projected_tag *place)
{
    return place->is_lost ? MT_TERM_LOST : place->is_own ? MT_TERM_WRITTEN : MT_TERM_PUT_IN;
}

struct term_report {
    mt_passage_term *report;
    void *context;
};

static enum mt_status report_terms_of(const struct mt_passage *passage, size_t index, void *context,
                                      struct mt_error *err)
{
    const struct term_report *terms = context;
    const struct mt_tagged_text *tagged = passage->parts[index].tagged;
    if (!has_terms(tagged))
        return MT_OK;
    struct mt_rendering rendering = {0};
    struct mt_text text = {0};
    bool is_rendered = passage->parts[index].translation != NULL;
    enum mt_status status =
        is_rendered ? render_tagged(passage, index, 0, &rendering, &text, err) : MT_OK;
    for (size_t i = 0; i < tagged->n && !status; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        if (tag->kind == MT_TAG_TERM)
            terms->report(terms->context, tag->term,
                          is_rendered        ? outcome_of(&rendering.projection.places[i])
                          : tag->is_verbatim ? MT_TERM_PUT_IN
                                             : MT_TERM_LOST);
    }
    mt_rendering_finish(&rendering);
    mt_text_finish(&text);
    return status;
}

enum mt_status mt_passage_report_terms(struct mt_passage *passage, mt_passage_term *report,
                                       void *context, struct mt_error *err)
{
    struct term_report terms = {.report = report, .context = context};
    return mt_passage_for_each(passage, report_terms_of, &terms, err);
}
