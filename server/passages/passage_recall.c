/*
 * Finds what a translation memory knows of a text: the whole text, or sentences of it. These become
 * parts of their own, and what is between them is translated. Sentences that are already in the
 * target's language are such parts, too, because a model spoils them.
 */
#include "server/passages/passage_maker.h"

#include "base/text.h"
#include "server/text/codes/numbered.h"

#include <stdlib.h>

static struct mt_numbered_stretch numbered_of(const struct mt_maker *maker,
                                              const struct mt_stretch *stretch)
{
    const struct mt_coded_segment *segment = maker->segment;
    return (struct mt_numbered_stretch){
        .coded = &maker->passage->coded,
        .segment = segment,
        .range = stretch->words,
        .code = stretch->first < maker->n ? maker->outer[stretch->first].code : segment->n,
        .code_end = stretch->end < maker->n ? maker->outer[stretch->end].code : segment->n,
    };
}

/* ---- writing what is known ---- */

struct writing {
    struct mt_maker *maker;
    struct mt_text *out;
    enum mt_status status;
};

static void write_words(void *context, const char *bytes, size_t length)
{
    struct writing *writing = context;
    mt_maker_write_words(writing->maker, bytes, length, writing->out);
}

static void write_code(void *context, size_t code)
{
    struct writing *writing = context;
    struct mt_maker *maker = writing->maker;
    size_t segment = (size_t)(maker->segment - maker->passage->coded.segments);
    if (!writing->status)
        writing->status = mt_passage_write_code(maker->passage, segment, code, writing->out, NULL);
}

/* Writes the known translation of a stretch, or nothing where it has other codes than the
 * stretch. */
static enum mt_status write_known(struct mt_maker *maker,
                                  const struct mt_numbered_stretch *numbered,
                                  const struct mt_text *known, struct mt_text *out,
                                  struct mt_error *err)
{
    struct writing writing = {.maker = maker, .out = out};
    if (!mt_numbered_read(known->bytes, known->length, numbered, write_words, write_code, &writing))
        return MT_OK;
    return writing.status ? mt_fail_memory(err, known->length, "a translation")
                          : mt_text_check(out, "a translation", err);
}

/* ---- what is known ---- */

struct known {
    struct mt_text translation; /* empty: not known */
    bool is_target;             /* the stretch is in the target's language already */
};

static enum mt_status ask_recall(struct mt_maker *maker, const struct mt_stretch *stretch,
                                 bool is_last, struct mt_text *out, struct mt_error *err)
{
    const struct mt_recall *recall = maker->options->recall;
    if (!recall)
        return MT_OK;
    const struct mt_numbered_stretch numbered = numbered_of(maker, stretch);
    struct mt_text text = {0}, known = {0};
    bool has_form = mt_maker_has_words(maker, stretch) && mt_numbered_write(&numbered, NULL, &text);
    enum mt_status status = has_form ? mt_text_check(&text, "a text", err) : MT_OK;
    if (!status && has_form)
        status = recall->find(recall->context, text.bytes, is_last, &known, err);
    if (!status && known.length > 0)
        status = write_known(maker, &numbered, &known, out, err);
    mt_text_finish(&text);
    mt_text_finish(&known);
    return status;
}

static enum mt_status find(struct mt_maker *maker, const struct mt_stretch *stretch, bool is_last,
                           struct known *out, struct mt_error *err)
{
    const struct mt_passage_options *options = maker->options;
    enum mt_status status = ask_recall(maker, stretch, is_last, &out->translation, err);
    if (status || out->translation.length > 0 || !is_last || !options->keeps_target)
        return status;
    return mt_proofread_is_target(options->reader,
                                  maker->segment->words.bytes + stretch->words.begin,
                                  stretch->words.end - stretch->words.begin, &out->is_target, err);
}

static bool is_known(const struct known *known)
{
    return known->translation.length > 0 || known->is_target;
}

/* Adds a known `stretch`, which lies within *left, as a part: what is before it in *left is taken
 * apart, and *left becomes what is behind it. Takes over what `known` holds. */
static enum mt_status add_known(struct mt_maker *maker, const struct mt_stretch *stretch,
                                struct mt_stretch *left, struct known *known, struct mt_error *err)
{
    const struct mt_stretch before = {.words = {left->words.begin, stretch->words.begin},
                                      .first = left->first,
                                      .end = stretch->first};
    struct mt_passage_part *part;
    enum mt_status status = mt_maker_take(maker, &before, err);
    if (!status)
        status = mt_maker_add_part(maker, stretch, &part, err);
    if (status)
        return status;
    part->is_target = known->is_target;
    part->is_recalled = !known->is_target;
    part->recalled = known->translation;
    *known = (struct known){0};
    left->words.begin = stretch->words.end;
    left->first = stretch->end;
    return MT_OK;
}

/* ---- sentences ---- */

/* Returns a sentence of a stretch with its codes: those within it, without codes at its ends that
 * do not belong to it. */
static struct mt_stretch find_sentence(const struct mt_maker *maker, struct mt_range range,
                                       const struct mt_stretch *within)
{
    struct mt_stretch out = {.words = range, .first = within->first};
    while (out.first < within->end && mt_maker_code_at(maker, out.first)->at.begin < range.begin)
        out.first++;
    for (out.end = out.first; out.end < within->end; out.end++)
        if (mt_maker_code_at(maker, out.end)->at.end > range.end)
            break;
    return mt_maker_without_ends(maker, &out);
}

/* Whether no code extends across the stretch's ends. */
static bool is_apart(const struct mt_maker *maker, const struct mt_stretch *stretch,
                     const struct mt_stretch *within)
{
    bool has_before = stretch->first > within->first, has_behind = stretch->end < within->end;
    return stretch->words.begin < stretch->words.end &&
           (!has_before ||
            mt_maker_code_at(maker, stretch->first - 1)->at.end <= stretch->words.begin) &&
           (!has_behind || mt_maker_code_at(maker, stretch->end)->at.begin >= stretch->words.end);
}

static enum mt_status list_sentences(const struct mt_maker *maker, const struct mt_stretch *stretch,
                                     struct mt_ranges *out, struct mt_error *err)
{
    const struct mt_translation_options *plain = maker->options->plain;
    enum mt_status status = mt_splitter_split(
        plain->splitter, maker->segment->words.bytes + stretch->words.begin,
        stretch->words.end - stretch->words.begin, plain->split, plain->source_lang, 0, out, err);
    for (size_t i = 0; i < out->n; i++) {
        out->items[i].begin += stretch->words.begin;
        out->items[i].end += stretch->words.begin;
    }
    return status;
}

static enum mt_status recall_sentences(struct mt_maker *maker, const struct mt_ranges *sentences,
                                       struct mt_stretch *left, struct mt_error *err)
{
    struct known known = {0};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sentences->n && !status; i++) {
        const struct mt_stretch sentence = find_sentence(maker, sentences->items[i], left);
        if (!is_apart(maker, &sentence, left))
            continue;
        status = find(maker, &sentence, true, &known, err);
        if (!status && is_known(&known))
            status = add_known(maker, &sentence, left, &known, err);
    }
    mt_text_finish(&known.translation);
    return status;
}

enum mt_status mt_maker_recall(struct mt_maker *maker, const struct mt_stretch *stretch,
                               struct mt_error *err)
{
    const struct mt_stretch inner = mt_maker_without_ends(maker, stretch);
    struct mt_stretch left = *stretch;
    struct mt_ranges sentences = {0};
    struct known known = {0};
    enum mt_status status =
        mt_maker_is_whole(maker) ? MT_OK : list_sentences(maker, &inner, &sentences, err);
    if (!status)
        status = find(maker, &inner, sentences.n < 2, &known, err);
    if (!status && is_known(&known))
        status = add_known(maker, &inner, &left, &known, err);
    else if (!status && sentences.n > 1)
        status = recall_sentences(maker, &sentences, &left, err);
    mt_text_finish(&known.translation);
    mt_ranges_finish(&sentences);
    return status ? status : mt_maker_take(maker, &left, err);
}
