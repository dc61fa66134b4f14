/*
 * Where the marks of a text (marked.h) belong in its translation, by the words that the alignment
 * links. Every mark gets exactly one place, and nesting stays:
 *
 *   span      the run of words with the most that came from its own and the fewest that did not
 *   stand-in  where the model copied it; else the word that came from it; else as a point
 *   term      where its translation stands already; else for the words that came from it, no more
 *             than it has itself; one that stays as it is else as a point, others nowhere
 *   point     behind the translation of the word before it (leading ones: before that of the next)
 *   break     the same line feed
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_PLACEMENT_H
#define MT_SERVER_PASSAGES_PLACEMENT_H

#include "server/text/marked.h"
#include "server/inspection/word_links.h"

/* A translation of marked.text. */
struct mt_placement_input {
    const struct mt_marked *marked;
    const char *target; /* well-formed UTF-8 */
    size_t target_length;
    const struct mt_word_links *links;       /* may have none */
    bool is_guessed;                         /* the links are */
    const struct mt_range *source_sentences; /* bytes of the text and of the target */
    const struct mt_range *target_sentences;
    size_t n_sentences;
    struct mt_range *written_sentences; /* where render wrote those of the target, in out, if it
                                           writes text as it is; NULL: not wanted */
};

struct mt_place {
    size_t begin, end; /* bytes of the target; for a stand-in what it replaces, maybe nothing */
    bool is_inserted;  /* a stand-in or term that no word of the target came from */
    bool is_lost;      /* a term: no place for it */
    bool is_restored;  /* a span: its source's words are written in place of the target's */
    bool is_own;       /* a term of several forms: the model wrote one, which stays */
    bool is_raised;    /* a term: its first letter is written as a capital, as a sentence's first */
};

/* Zero-initialise. */
struct mt_placement {
    struct mt_place *places;  /* one per mark */
    struct mt_range *removed; /* what must not be written: stand-ins, ascending, disjoint */
    size_t n_removed;
};

/* MT_MEMORY. The caller finishes *out on failure too. */
MT_MUST_CHECK enum mt_status mt_placement_find(const struct mt_placement_input *input,
                                               struct mt_placement *out, struct mt_error *err);
void mt_placement_finish(struct mt_placement *placement);

/* Whether each span that held a letter, a digit or a stand-in holds one in the translation. A span
 * that held words may not hold only digits of another. */
bool mt_placement_keeps_words(const struct mt_placement_input *input,
                              const struct mt_placement *placement);

/* Where it does not: the spans of each parent that lacks words share its words, or if there are too few
 * its letters, in their order and as they did in the source. */
void mt_placement_spread(const struct mt_placement_input *input, struct mt_placement *placement);

/* Spans whose words the model has lost, <a>Bug 12</a> that became <a>12</a>, are written with those of
 * the source (post_edit.h). Not those with marks within. */
void mt_placement_restore(const struct mt_placement_input *input, struct mt_placement *placement);

/* The links of another translation of the same text: words that it shares with the first, in order,
 * have come from the same. */
MT_MUST_CHECK enum mt_status mt_placement_transfer(const struct mt_word_links *links,
                                                   const char *first, size_t first_length,
                                                   const char *other, size_t other_length,
                                                   struct mt_word_links *out, struct mt_error *err);

/* Links for want of better ones: the words of each sentence in their order, stretched. input->links
 * is not read. */
MT_MUST_CHECK enum mt_status mt_placement_guess(const struct mt_placement_input *input,
                                                struct mt_word_links *out, struct mt_error *err);

/*
 * Writes the translation with its marks. write is called for every piece of the target in between,
 * and may escape it; line feeds of breaks are passed over. Appends to out.
 */
typedef void mt_placement_write(const void *context, const char *bytes, size_t length,
                                struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_placement_render(const struct mt_placement_input *input,
                                                 const struct mt_placement *placement,
                                                 mt_placement_write *write, const void *context,
                                                 struct mt_text *out, struct mt_error *err);

#endif
