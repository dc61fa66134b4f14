/*
 * One text of a request, as words and codes (coded.h), on its way to its translation. It is cut into
 * parts, of which those with words are translated; what the model cannot read is kept aside and put
 * back where the alignment says.
 *
 *   create -> decode every translation -> render each rank
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_H
#define MT_SERVER_PASSAGES_PASSAGE_H

#include "server/passages/alignment_trace.h"
#include "server/text/codes/coded.h"
#include "server/text/proofread.h"
#include "server/text/translation.h"

struct mt_passage;
struct mt_terms;

/* What has been translated before: a translation memory's. */
struct mt_recall {
    void *context;
    /* Appends the translation of a text (numbered.h, ending in NUL), or nothing where there is none.
     * Texts come in their order: a whole segment, and, where that is not known, each of its
     * sentences. is_last: it is not asked for in smaller pieces. */
    enum mt_status (*find)(void *context, const char *text, bool is_last, struct mt_text *out,
                           struct mt_error *err);
};

struct mt_passage_options {
    const struct mt_translation_options *plain;  /* how parts are translated, */
    const struct mt_translation_options *traced; /* and those that need an alignment */
    struct mt_alignment_trace *trace; /* begun with traced; borrowed until the passage's end */
    bool protects;          /* the model sees only what it can read; codes in the words are found */
    bool post_edits;        /* post_edit.h; plain and traced have eases_source then */
    struct mt_terms *terms; /* NULL: none */
    const struct mt_recall *recall;      /* NULL: nothing is known; else with protects */
    const struct mt_proofreader *reader; /* borrowed until the passage's end; NULL: none */
    bool keeps_target;    /* sentences in the target's language stay; with protects and a reader */
    bool repairs_numbers; /* number_repair.h; with a reader */
};

/*
 * Takes the text apart. What coded holds is moved into the passage, on failure too; its source is
 * borrowed until the passage's end. Takes what traces need from the service's budget; where that is
 * not left, or the request would need more than it may, numbers are not put right, and the words'
 * order takes the place of the alignment: MT_WARNING_UNALIGNED.
 */
MT_MUST_CHECK enum mt_status mt_passage_create(const struct mt_model *model, struct mt_coded *coded,
                                               const struct mt_passage_options *options,
                                               struct mt_passage **out, struct mt_error *err);
/* Takes NULL. */
void mt_passage_destroy(struct mt_passage *passage);

/* What has to be decoded, one after the other: *position begins at 0 and is moved behind each.
 * Borrowed; NULL: there is no other. */
struct mt_translation *mt_passage_next(const struct mt_passage *passage, size_t *position);

/* How many sentences have to be decoded in all. */
size_t mt_passage_n_sentences(const struct mt_passage *passage);

/* Segments and sentences that recall had, and whether nothing else has to be translated. */
size_t mt_passage_n_recalled(const struct mt_passage *passage);
bool mt_passage_is_recalled(const struct mt_passage *passage);

/* Nothing but blanks. */
bool mt_passage_is_blank(const struct mt_passage *passage);

/* As mt_translation_render, mt_translation_n_ranks, ... of all parts together. */
MT_MUST_CHECK enum mt_status mt_passage_render(struct mt_passage *passage, size_t rank,
                                               struct mt_text *out, struct mt_error *err);

/* Where a sentence stands in the text, and its translation in the rendering; bytes. */
struct mt_sentence_pair {
    struct mt_range source, target;
};

/* In the text's order. Grows by doubling; zero-initialise. */
struct mt_sentence_pairs {
    struct mt_sentence_pair *items;
    size_t n, capacity;
};
void mt_sentence_pairs_finish(struct mt_sentence_pairs *pairs);

/* The same of plain text (mt_read_plain) into an empty out, and the sentences (pairs may be NULL); of every rank
 * as many, in the same order. Placeholders and emoji at a sentence's end may be left out of it. */
MT_MUST_CHECK enum mt_status mt_passage_render_pairs(struct mt_passage *passage, size_t rank,
                                                     struct mt_sentence_pairs *pairs,
                                                     struct mt_text *out, struct mt_error *err);
/* The caller's text. */
const char *mt_passage_text(const struct mt_passage *passage);

/* How much of a passage was given. {0} at first. */
struct mt_passage_cursor {
    size_t n_sentences; /* whole */
    size_t part;
    struct mt_translation_cursor in_part;
    bool has_all;
};

/* As mt_translation_advance. Where something has to be put back, which takes the whole alignment,
 * the pieces are segments of other texts than plain ones, and cells with codes. */
MT_MUST_CHECK enum mt_status mt_passage_advance(struct mt_passage *passage,
                                                struct mt_passage_cursor *cursor,
                                                struct mt_text *out, bool *moved,
                                                struct mt_error *err);

size_t mt_passage_n_ranks(const struct mt_passage *passage);
float mt_passage_score(const struct mt_passage *passage, size_t rank);
size_t mt_passage_n_source_tokens(const struct mt_passage *passage);
size_t mt_passage_n_target_tokens(const struct mt_passage *passage);

/* Called for every placeholder that rank 0 does not hold exactly as often as the text (lost.h).
 * Renders. */
typedef void mt_passage_lost(void *context, const char *bytes, size_t length);
MT_MUST_CHECK enum mt_status mt_passage_find_lost(struct mt_passage *passage, mt_passage_lost *lost,
                                                  void *context, struct mt_error *err);

/* What is wrong with one sentence of rank 0. */
struct mt_finding {
    enum mt_warning kind;
    size_t sentence; /* counted over all parts */
    /* Numbers as they stand in the source and as the model wrote them, and those of the source that
     * were put in, each with a NUL. Borrowed until the call ends. */
    struct mt_text missing, added, repaired;
};

/* Calls report for each that the guards (guard.h) and the reader find, in the sentences' order.
 * Renders. */
typedef void mt_passage_finding(void *context, const struct mt_finding *finding);
MT_MUST_CHECK enum mt_status mt_passage_find_warnings(struct mt_passage *passage,
                                                      const struct mt_guard_options *guards,
                                                      mt_passage_finding *report, void *context,
                                                      struct mt_error *err);

/* What became of a term. */
enum mt_term_outcome {
    MT_TERM_LOST,    /* no word of the translation came from it */
    MT_TERM_PUT_IN,  /* its translation stands there, or it stays as it is */
    MT_TERM_WRITTEN, /* of several forms the model wrote one, which stays */
};

/* Called for every term that was found. Renders. */
typedef void mt_passage_term(void *context, size_t term, enum mt_term_outcome outcome);
MT_MUST_CHECK enum mt_status mt_passage_report_terms(struct mt_passage *passage,
                                                     mt_passage_term *report, void *context,
                                                     struct mt_error *err);

#endif
