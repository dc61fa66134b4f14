/*
 * The inside of taking a text apart, shared by passage_make.c (which finds lines, cells and what the
 * model is shown of them) and passage_recall.c (which finds what a translation memory has, or is translated already).
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_MAKER_H
#define MT_SERVER_PASSAGES_PASSAGE_MAKER_H

#include "server/passages/passage_state.h"
#include "server/text/protect.h"

/* A code that lies within no other. */
struct mt_outer {
    size_t code; /* its index */
    size_t mate; /* of a pair: the other one's index among the outer ones; else MT_NO_MATE */
};

/* What taking one segment apart needs. */
struct mt_maker {
    struct mt_passage *passage;
    const struct mt_model *model;
    const struct mt_passage_options *options;
    const struct mt_tokenizer *reads; /* NULL: the model is shown everything */
    struct mt_stand_ins stand_ins;
    struct mt_coded_segment *segment;
    struct mt_outer *outer;
    bool *is_cut; /* of each outer one: an edge where a text ends */
    size_t n;
};

/* Words and the outer codes among them. */
struct mt_stretch {
    struct mt_range words;
    size_t first, end; /* outer codes */
};

/* An outer code. */
const struct mt_code *mt_maker_code_at(const struct mt_maker *maker, size_t outer);

/* MT_LIMIT: the text has too many parts. */
MT_MUST_CHECK enum mt_status mt_maker_add_part(struct mt_maker *maker,
                                               const struct mt_stretch *stretch,
                                               struct mt_passage_part **out, struct mt_error *err);

/* What stays as it is; one part with such a part before it. */
MT_MUST_CHECK enum mt_status mt_maker_keep(struct mt_maker *maker, const struct mt_stretch *stretch,
                                           struct mt_error *err);

/* A stretch without blanks and codes at its ends that are not part of its sentence. */
struct mt_stretch mt_maker_without_ends(const struct mt_maker *maker,
                                        const struct mt_stretch *stretch);

/* Whether it has words that the model can read, or terms. */
bool mt_maker_has_words(const struct mt_maker *maker, const struct mt_stretch *stretch);

/* Whether the segment is one text, which nothing parts: it is to be one sentence, or may begin with a
 * target language code, which counts for all of it. */
bool mt_maker_is_whole(const struct mt_maker *maker);

/* Appends words as the text's format writes them. */
void mt_maker_write_words(struct mt_maker *maker, const char *bytes, size_t length,
                          struct mt_text *out);

/* Takes a stretch apart: into parts to be translated, and such that stay. */
MT_MUST_CHECK enum mt_status mt_maker_take(struct mt_maker *maker, const struct mt_stretch *stretch,
                                           struct mt_error *err);

/* The same, but for what options->recall knows, the stretch as a whole or sentences of it; and, with
 * options->keeps_target, for sentences in the target's language. */
MT_MUST_CHECK enum mt_status
mt_maker_recall(struct mt_maker *maker, const struct mt_stretch *stretch, struct mt_error *err);

#endif
