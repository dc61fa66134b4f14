/*
 * The inside of taking a text apart, shared by passage_make.c (which finds lines and cells, and
 * what of them the model is shown) and passage_recall.c (which finds what a translation memory
 * knows or what is translated already).
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_MAKER_H
#define MT_SERVER_PASSAGES_PASSAGE_MAKER_H

#include "server/passages/passage_state.h"
#include "server/text/substitutes.h"

/* A code that is not within another. */
struct mt_outer {
    size_t code; /* its index */
    size_t mate; /* index of a pair's other end among the outer codes, or MT_NO_MATE */
};

/* What taking one segment apart needs. */
struct mt_maker {
    struct mt_passage *passage;
    const struct mt_model *model;
    const struct mt_passage_options *options;
    const struct mt_tokenizer *reads; /* NULL: the model is shown everything */
    struct mt_substitutes substitutes;
    struct mt_coded_segment *segment;
    struct mt_outer *outer;
    bool *is_cut; /* for each outer code, whether it is an edge at which a text ends */
    size_t n;
};

/* Words and the outer codes among them. */
struct mt_stretch {
    struct mt_range words;
    size_t first, end; /* outer codes */
};

/* Returns an outer code. */
const struct mt_code *mt_maker_code_at(const struct mt_maker *maker, size_t outer);

/* Adds a part. MT_LIMIT: the text has too many. */
MT_MUST_CHECK enum mt_status mt_maker_add_part(struct mt_maker *maker,
                                               const struct mt_stretch *stretch,
                                               struct mt_passage_part **out, struct mt_error *err);

/* Returns the stretch without the blanks and codes at its ends that do not belong to its
 * sentence. */
struct mt_stretch mt_maker_without_ends(const struct mt_maker *maker,
                                        const struct mt_stretch *stretch);

/* Whether the stretch has words that the model can read, or terms. */
bool mt_maker_has_words(const struct mt_maker *maker, const struct mt_stretch *stretch);

/* Whether the segment must not be cut: it is to be one sentence, or it may begin with a target
 * language code, which is valid for all of it. */
bool mt_maker_is_whole(const struct mt_maker *maker);

/* Appends words as the text's format writes them. */
void mt_maker_write_words(struct mt_maker *maker, const char *bytes, size_t length,
                          struct mt_text *out);

/* Cuts a stretch into parts that are translated and parts that are not. */
MT_MUST_CHECK enum mt_status mt_maker_take(struct mt_maker *maker, const struct mt_stretch *stretch,
                                           struct mt_error *err);

/* Does what mt_maker_take does, and leaves out of the parts for the model what needs none: the
 * stretch or its sentences where options->recall knows a translation and, with
 * options->keeps_target, sentences that are in the target's language already. */
MT_MUST_CHECK enum mt_status
mt_maker_recall(struct mt_maker *maker, const struct mt_stretch *stretch, struct mt_error *err);

#endif
