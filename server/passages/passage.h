/*
 * One text of a request, as words and codes (coded.h), on its way to its translation. It is cut
 * into parts, and those with words are translated. What the model cannot read is taken out before,
 * and put back where the alignment shows its place.
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

/* Finds what has been translated before: a translation memory. */
struct mt_recall {
    void *context;
    /* Appends the translation of a text (numbered.h, ending in NUL), or nothing where none is
     * known. Texts come in their order: first a whole segment and, where that is not known, each of
     * its sentences. is_last: the text will not be split further. */
    enum mt_status (*find)(void *context, const char *text, bool is_last, struct mt_text *out,
                           struct mt_error *err);
};

struct mt_passage_options {
    const struct mt_translation_options *plain;  /* options for parts that need no alignment */
    const struct mt_translation_options *traced; /* and for parts that do */
    struct mt_alignment_trace *trace; /* begun with traced; borrowed until the passage's end */
    bool finds_codes; /* codes in the words are found, and the model sees only what it can read */
    bool post_edits;  /* post_edit.h; plain and traced have eases_source then */
    struct mt_terms *terms;              /* NULL: none */
    const struct mt_recall *recall;      /* needs finds_codes; NULL: nothing is known */
    const struct mt_proofreader *reader; /* borrowed until the passage's end; NULL: none */
    /* sentences in the target's language are not translated; needs finds_codes and a reader */
    bool keeps_target;
    bool repairs_numbers; /* number_repair.h; needs a reader */
};

/*
 * Takes the text apart. The contents of coded are moved into the passage, even where it fails;
 * their source is borrowed until the passage's end. Memory for traces is taken from the service's
 * budget. Where not enough is left, or the request would need more than it may, numbers are not
 * repaired, and tags are placed by the words' order instead of the alignment:
 * MT_WARNING_UNALIGNED.
 */
MT_MUST_CHECK enum mt_status mt_passage_create(const struct mt_model *model, struct mt_coded *coded,
                                               const struct mt_passage_options *options,
                                               struct mt_passage **out, struct mt_error *err);
/* Takes NULL. */
void mt_passage_destroy(struct mt_passage *passage);

/* Returns the translations that have to be decoded, one after the other: *position begins at 0 and
 * is moved behind each. They are borrowed; NULL: there are no more. */
struct mt_translation *mt_passage_next(const struct mt_passage *passage, size_t *position);

/* How many sentences have to be decoded altogether. */
size_t mt_passage_n_sentences(const struct mt_passage *passage);

/* The first counts segments and sentences whose translation recall had; the second says whether
 * nothing else has to be translated. */
size_t mt_passage_n_recalled(const struct mt_passage *passage);
bool mt_passage_is_recalled(const struct mt_passage *passage);

/* Whether the text has nothing but blanks. */
bool mt_passage_is_blank(const struct mt_passage *passage);

/* These do for all parts together what mt_translation_render, mt_translation_n_ranks, ... do for
 * one. */
MT_MUST_CHECK enum mt_status mt_passage_render(struct mt_passage *passage, size_t rank,
                                               struct mt_text *out, struct mt_error *err);

/* A sentence's bytes in the text, and its translation's in the rendering. */
struct mt_sentence_pair {
    struct mt_range source, target;
};

/* In the text's order. Has to be zero-initialised. */
struct mt_sentence_pairs {
    struct mt_sentence_pair *items;
    size_t n, capacity;
};
void mt_sentence_pairs_finish(struct mt_sentence_pairs *pairs);

/* Renders plain text (mt_read_plain) into out, which is empty, and lists its sentences (pairs may
 * be NULL); every rank has as many, in the same order. Placeholders and emoji at a sentence's end
 * may be outside of it. */
MT_MUST_CHECK enum mt_status mt_passage_render_pairs(struct mt_passage *passage, size_t rank,
                                                     struct mt_sentence_pairs *pairs,
                                                     struct mt_text *out, struct mt_error *err);
/* Returns the text as the caller gave it. */
const char *mt_passage_text(const struct mt_passage *passage);

/* How much of a passage advance has given. {0} at first. */
struct mt_passage_cursor {
    size_t n_sentences; /* sentences given completely */
    size_t part;
    struct mt_translation_cursor in_part;
    bool has_all;
};

/* Appends the next piece of the translation, as mt_translation_advance does. Codes can be put back
 * only when the alignment is complete, so the pieces are larger where there are any: a whole
 * segment of a text that is not plain, or a whole cell. */
MT_MUST_CHECK enum mt_status mt_passage_advance(struct mt_passage *passage,
                                                struct mt_passage_cursor *cursor,
                                                struct mt_text *out, bool *moved,
                                                struct mt_error *err);

size_t mt_passage_n_ranks(const struct mt_passage *passage);
float mt_passage_score(const struct mt_passage *passage, size_t rank);
size_t mt_passage_n_source_tokens(const struct mt_passage *passage);
size_t mt_passage_n_target_tokens(const struct mt_passage *passage);

/* Calls lost for every placeholder that rank 0 does not hold exactly as often as the text
 * (placeholder_check.h). It renders the passage. */
typedef void mt_passage_lost(void *context, const char *bytes, size_t length);
MT_MUST_CHECK enum mt_status mt_passage_find_lost(struct mt_passage *passage, mt_passage_lost *lost,
                                                  void *context, struct mt_error *err);

/* What is wrong with one sentence of rank 0. */
struct mt_finding {
    enum mt_warning kind;
    size_t sentence; /* counted over all parts */
    /* Numbers, each with a NUL: those of the source that are missing, those that the model added,
     * as it wrote them, and those of the source that were put in. Borrowed until the call ends. */
    struct mt_text missing, added, repaired;
};

/* Calls report for everything that the quality checks (quality_check.h) and the reader find, in the
 * sentences' order. It renders the passage. */
typedef void mt_passage_finding(void *context, const struct mt_finding *finding);
MT_MUST_CHECK enum mt_status mt_passage_find_warnings(struct mt_passage *passage,
                                                      const struct mt_quality_options *checks,
                                                      mt_passage_finding *report, void *context,
                                                      struct mt_error *err);

/* What a term became. */
enum mt_term_outcome {
    MT_TERM_LOST,    /* no word of the translation came from it */
    MT_TERM_PUT_IN,  /* its translation was put in, or it stays as it is */
    MT_TERM_WRITTEN, /* the model wrote one of its several forms, which stays */
};

/* Calls report for every term that was found. It renders the passage. */
typedef void mt_passage_term(void *context, size_t term, enum mt_term_outcome outcome);
MT_MUST_CHECK enum mt_status mt_passage_report_terms(struct mt_passage *passage,
                                                     mt_passage_term *report, void *context,
                                                     struct mt_error *err);

#endif
