/*
 * Where the tags of a text (tagged_text.h) belong in its translation, by the words that the
 * alignment links. Every tag gets exactly one place, and nesting is kept:
 *
 *   span        the run of words with the most that came from its own and the fewest that did not; one
 *               that holds nothing but a substitute is around that, and one without words is a point
 *   substitute  where the model copied it; else the word that came from it; else it is a point
 *   term        where its translation stands already; else the words that came from it, at most as
 *               many as it has; else one that stays as it is is a point, and others are lost
 *   point       behind the translation of the word before it (leading ones: before that of the
 *               next)
 *   break       the same line feed
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_TAG_PROJECTION_H
#define MT_SERVER_PASSAGES_TAG_PROJECTION_H

#include "server/inspection/word_links.h"
#include "server/text/tagged_text.h"

/* A translation of tagged.text. */
struct mt_tag_projection_input {
    const struct mt_tagged_text *tagged;
    const char *target; /* well-formed UTF-8 */
    size_t target_length;
    const struct mt_word_links *links;       /* may be empty */
    bool is_guessed;                         /* the links are from mt_tag_projection_guess */
    const struct mt_range *source_sentences; /* bytes of the text and of the target */
    const struct mt_range *target_sentences;
    size_t n_sentences;
    /* gets where render writes target_sentences in out, if its write copies text as it is; NULL:
     * not wanted */
    struct mt_range *written_sentences;
};

struct mt_projected_tag {
    size_t begin, end; /* bytes of the target, perhaps none, that a substitute replaces */
    bool is_inserted;  /* a substitute or term from which no word of the target came */
    bool is_lost;      /* a term that has no place */
    /* a span for which the source's words are written instead of the target's */
    bool is_restored;
    bool is_own; /* a term of several forms: the model wrote one of them, which stays */
    /* a term whose first letter becomes a capital, because a sentence begins with it */
    bool is_raised;
};

/* Has to be zero-initialised. */
struct mt_tag_projection {
    struct mt_projected_tag *places; /* one per tag */
    struct mt_range *removed; /* bytes that are not written: substitutes; ascending, disjoint */
    size_t n_removed;
};

/* MT_MEMORY. The caller finishes *out after a failure, too. */
MT_MUST_CHECK enum mt_status mt_tag_projection_find(const struct mt_tag_projection_input *input,
                                                    struct mt_tag_projection *out,
                                                    struct mt_error *err);
void mt_tag_projection_finish(struct mt_tag_projection *projection);

/* Whether each span that held a letter, a digit or a substitute in the source holds one in the
 * translation. For a span that held words, digits that the source has elsewhere are not enough. */
bool mt_tag_projection_keeps_words(const struct mt_tag_projection_input *input,
                                   const struct mt_tag_projection *projection);

/* To be called where it does not: the spans of a parent in which one lacks words share the parent's
 * words or, if these are too few, its letters, in order and in the source's proportions. */
void mt_tag_projection_spread(const struct mt_tag_projection_input *input,
                              struct mt_tag_projection *projection);

/* Marks spans whose words the model has lost, such as <a>Bug 12</a> that became <a>12</a>, so that
 * the source's words are written (post_edit.h). Spans with tags inside are left alone. */
void mt_tag_projection_restore(const struct mt_tag_projection_input *input,
                               struct mt_tag_projection *projection);

/* Finds the links of another translation of the same text: words that it shares with the first, in
 * order, get the links of those. */
MT_MUST_CHECK enum mt_status mt_tag_projection_transfer(const struct mt_word_links *links,
                                                        const char *first, size_t first_length,
                                                        const char *other, size_t other_length,
                                                        struct mt_word_links *out,
                                                        struct mt_error *err);

/* Makes links where there are none: it stretches the words of each sentence in their order.
 * input->links is not read. */
MT_MUST_CHECK enum mt_status mt_tag_projection_guess(const struct mt_tag_projection_input *input,
                                                     struct mt_word_links *out,
                                                     struct mt_error *err);

/*
 * Appends the translation with its tags to out. write is called for every piece of the target in
 * between, and may escape it; line feeds of breaks are left out.
 */
typedef void mt_tag_projection_write(const void *context, const char *bytes, size_t length,
                                     struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_tag_projection_render(const struct mt_tag_projection_input *input,
                                                      const struct mt_tag_projection *projection,
                                                      mt_tag_projection_write *write,
                                                      const void *context, struct mt_text *out,
                                                      struct mt_error *err);

#endif
