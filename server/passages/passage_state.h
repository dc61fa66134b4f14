/*
 * The inside of a passage, shared by passage_make.c (which takes the text apart), rendering.c
 * (which makes one part's target), passage.c (which puts the translation together) and
 * passage_findings.c (which says what is wrong with it).
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_STATE_H
#define MT_SERVER_PASSAGES_PASSAGE_STATE_H

#include "server/text/marked.h"
#include "server/passages/number_repair.h"
#include "server/passages/passage.h"
#include "server/passages/placement.h"

/* A stretch of a segment's words. */
struct mt_passage_part {
    size_t segment;
    struct mt_range range;              /* bytes of the segment's words */
    size_t code, code_end;              /* of the codes in it */
    struct mt_marked *marked;           /* what the model sees; NULL: the words as they are */
    struct mt_translation *translation; /* NULL: nothing to translate, it stays; or: */
    bool is_target;                     /* a sentence that is in the target's language */
    bool is_recalled;                   /* a translation memory had it */
    struct mt_text recalled;            /* as it is written */
    bool is_traced;
    bool is_unaligned; /* it should have been traced, but there was no memory for it */
    bool has_links;
    struct mt_word_links links; /* of rank 0 */
};

struct mt_passage {
    struct mt_coded coded;
    bool is_plain;                 /* one segment, whose words are the source */
    struct mt_passage_part *parts; /* in the words' order; every segment has one */
    size_t n, capacity;
    struct mt_alignment_trace *trace;
    const struct mt_tokenizer *tokenizer;
    const struct mt_tokenizer *editor; /* NULL: translations stay as the model wrote them */
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES]; /* BCP 47; "": not known */
    const struct mt_proofreader *reader;
    bool repairs_numbers;
};

/*
 * What rendering one part needs.
 *
 *   written --[repair numbers]--> repaired --[post-edit]--> edited
 */
struct mt_rendering {
    struct mt_text written; /* rank's translation as the model wrote it */
    struct mt_text repaired, edited;
    struct mt_number_repairs repairs; /* in repaired */
    size_t *map;                      /* where the bytes of written are in target; NULL: the same */
    const struct mt_text *target;     /* the one that counts */
    struct mt_range *source_sentences, *target_sentences;
    struct mt_range *written_sentences; /* where those of the target are in what was rendered */
    struct mt_word_links links;         /* of another rank than 0, or an edited one */
    bool has_links;                     /* of this rank, as the model wrote it */
    struct mt_placement placement;
};

/* The target of a part that has been decoded, and its sentences. The caller finishes *rendering,
 * which is zeroed, on failure too. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_rendering_make(const struct mt_passage *passage,
                                               struct mt_passage_part *part, size_t rank,
                                               struct mt_rendering *rendering,
                                               struct mt_error *err);
void mt_rendering_finish(struct mt_rendering *rendering);

/* Whether the model gave back what it was shown, piece by piece: names, code, text of another language.
 * Then the part stays as it is: the tokenizer alone would change its blanks and signs. Never where
 * terms have to be put in. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_rendering_is_unchanged(const struct mt_passage *passage,
                                                       const struct mt_passage_part *part,
                                                       size_t rank, bool *out,
                                                       struct mt_error *err);

/* The links of the words as the model wrote them: *out is the part's or the rendering's. */
MT_MUST_CHECK enum mt_status mt_rendering_find_links(const struct mt_passage *passage,
                                                     struct mt_passage_part *part, size_t rank,
                                                     struct mt_rendering *rendering,
                                                     const struct mt_word_links **out,
                                                     struct mt_error *err);

/* What of a part's text brings no numbers: terms, which have others, and stand-ins, which go. */
MT_MUST_CHECK enum mt_status mt_passage_list_ignored(const struct mt_passage_part *part,
                                                     struct mt_ranges *out, struct mt_error *err);

/* A sentence's pair in what the model wrote, of a rendering that is not edited; *ignored are those
 * of all_ignored in it, and hold what *out points to. */
MT_MUST_CHECK enum mt_status
mt_passage_describe_pair(const struct mt_passage_part *part, const struct mt_rendering *rendering,
                         size_t sentence, const struct mt_ranges *all_ignored,
                         struct mt_ranges *ignored, struct mt_proofread_pair *out,
                         struct mt_error *err);

/* Appends a code, in the target language's own way where its form says so. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_passage_write_code(const struct mt_passage *passage, size_t segment,
                                                   size_t code, struct mt_text *out,
                                                   struct mt_error *err);

/* What is done with each part, until one fails. */
typedef enum mt_status mt_passage_each_part(const struct mt_passage *passage, size_t index,
                                            void *context, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_passage_for_each(const struct mt_passage *passage,
                                                 mt_passage_each_part *work, void *context,
                                                 struct mt_error *err);

#endif
