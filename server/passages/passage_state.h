/*
 * The inside of a passage, shared by passage_make.c (which takes the text apart), rendering.c
 * (which makes one part's target), passage.c (which puts the translation together) and
 * passage_findings.c (which says what is wrong with it).
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_STATE_H
#define MT_SERVER_PASSAGES_PASSAGE_STATE_H

#include "server/passages/number_repair.h"
#include "server/passages/passage.h"
#include "server/passages/tag_projection.h"
#include "server/text/tagged_text.h"

/* A stretch of a segment's words. */
struct mt_passage_part {
    size_t segment;
    struct mt_range range;              /* bytes of the segment's words */
    size_t code, code_end;              /* codes of the segment within it */
    struct mt_tagged_text *tagged;      /* what the model is shown; NULL: the words as they are */
    struct mt_translation *translation; /* NULL: the part is not translated */
    bool is_target;                     /* because it is a sentence in the target's language */
    bool is_recalled;                   /* because a translation memory knows it */
    struct mt_text recalled;            /* the known translation */
    bool is_traced;
    bool is_unaligned; /* it needs a trace, but there was no memory for one */
    bool has_links;
    struct mt_word_links links; /* of rank 0 */
};

struct mt_passage {
    struct mt_coded coded;
    bool is_plain;                 /* the source is the words of a single segment */
    struct mt_passage_part *parts; /* in the words' order; every segment has at least one */
    size_t n, capacity;
    struct mt_alignment_trace *trace;
    const struct mt_tokenizer *tokenizer;
    const struct mt_tokenizer *editor; /* NULL: translations are not post-edited */
    /* BCP 47; "" where not known */
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES];
    const struct mt_proofreader *reader;
    bool repairs_numbers;
};

/*
 * What rendering one part needs. Its target is made in these steps:
 *
 *   written --[repair numbers]--> repaired --[post-edit]--> edited
 */
struct mt_rendering {
    struct mt_text written; /* the translation as the model wrote it */
    struct mt_text repaired, edited;
    struct mt_number_repairs repairs; /* their bytes are in repaired */
    size_t *map; /* where each byte of written is in target; NULL: at the same place */
    const struct mt_text *target; /* the last of these texts that was made */
    struct mt_range *source_sentences, *target_sentences;
    struct mt_range *written_sentences; /* target_sentences in the text that was rendered */
    struct mt_word_links links;         /* used for ranks above 0, and for edited texts */
    bool has_links;                     /* there are links of this rank to what the model wrote */
    struct mt_tag_projection projection;
};

/* Makes the target of a part that has been decoded, and its sentences. MT_MEMORY. The caller
 * finishes *rendering, which is zeroed before, after a failure, too. */
MT_MUST_CHECK enum mt_status mt_rendering_make(const struct mt_passage *passage,
                                               struct mt_passage_part *part, size_t rank,
                                               struct mt_rendering *rendering,
                                               struct mt_error *err);
void mt_rendering_finish(struct mt_rendering *rendering);

/* Whether the model repeated its source piece by piece, such as names, code, or text in another
 * language. Then the part stays as it is, because the tokenizer alone would change its blanks and
 * signs. Never where terms have to be put in. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_rendering_is_unchanged(const struct mt_passage *passage,
                                                       const struct mt_passage_part *part,
                                                       size_t rank, bool *out,
                                                       struct mt_error *err);

/* Returns the links to the words as the model wrote them; *out belongs to the part or the
 * rendering. */
MT_MUST_CHECK enum mt_status mt_rendering_find_links(const struct mt_passage *passage,
                                                     struct mt_passage_part *part, size_t rank,
                                                     struct mt_rendering *rendering,
                                                     const struct mt_word_links **out,
                                                     struct mt_error *err);

/* Lists the ranges of a part's text whose numbers do not count: terms, which have other numbers in
 * the target, and substitutes, which are removed. */
MT_MUST_CHECK enum mt_status mt_passage_list_ignored(const struct mt_passage_part *part,
                                                     struct mt_ranges *out, struct mt_error *err);

/* Describes a sentence's pair in what the model wrote, of a rendering that is not edited. *ignored
 * gets those of all_ignored that are in the sentence; *out points to it. */
MT_MUST_CHECK enum mt_status
mt_passage_describe_pair(const struct mt_passage_part *part, const struct mt_rendering *rendering,
                         size_t sentence, const struct mt_ranges *all_ignored,
                         struct mt_ranges *ignored, struct mt_proofread_pair *out,
                         struct mt_error *err);

/* Appends a code, written as the target language does where its form allows that. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_passage_write_code(const struct mt_passage *passage, size_t segment,
                                                   size_t code, struct mt_text *out,
                                                   struct mt_error *err);

/* Called for each part, until it fails for one. */
typedef enum mt_status mt_passage_each_part(const struct mt_passage *passage, size_t index,
                                            void *context, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_passage_for_each(const struct mt_passage *passage,
                                                 mt_passage_each_part *work, void *context,
                                                 struct mt_error *err);

#endif
