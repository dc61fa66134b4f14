/*
 * The terms of a request: words that stay as they are, and words whose translation is given.
 *
 *   {"train station": "Hauptbahnhof"}    "the Train station's clock"
 *                                             |-----------| found, term 0
 *
 * A term is found where its words stand between word boundaries (ICU's, and apostrophes); any run
 * of blanks is one. Of terms that overlap the one that begins first counts, then the longest. A
 * term written in lower case is found in any case; one with a capital only as it is written, so
 * that "Apple" is not the fruit.
 *
 * A translation may name several forms of a word, the first of which is put in, while the others
 * stay where the model wrote them, with the words around them that agree with them:
 *
 *   {"station": "Bahnhof|Bahnhofs"}    "the roof of the station" -> "das Dach des Bahnhofs"
 *
 * Of 300 sentences with one term 261 had the reference's form so, 215 when the first one was put in
 * always (chrF2 48.8 and 48.5).
 *
 * The model sees the words of a term as they are: on 583 sentences of the development set with one term
 * each the translation had BLEU 30.1 and chrF 52.9 so, 17.8 and 45.7 with stand-ins, 28.7 and 51.9 when
 * the model went on behind the given words.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_TERMS_H
#define MT_SERVER_TEXT_TERMS_H

#include "base/status.h"
#include "server/text/splitter.h"

#include <stdbool.h>

struct mt_terms;

/* Longest term, and longest translation of one, in bytes. */
#define MT_MAX_TERM_BYTES 1024

#define MT_NO_TERM ((size_t)-1)

MT_MUST_CHECK enum mt_status mt_terms_create(struct mt_terms **out, struct mt_error *err);
/* Takes NULL. */
void mt_terms_destroy(struct mt_terms *terms);

/* Adds a term; both strings are copied. target NULL: the term stays as it is in the text. A term
 * that is there already, with the same target, is passed over. field names the list in messages.
 * MT_INVALID: blank, too long, or known with another target; MT_LIMIT: more than a gigabyte of
 * them. */
MT_MUST_CHECK enum mt_status mt_terms_add(struct mt_terms *terms, const char *field,
                                          const char *source, const char *target,
                                          struct mt_error *err);

/* Adds those that are not known yet by their sources. MT_MEMORY. */
MT_MUST_CHECK enum mt_status
mt_terms_add_others(struct mt_terms *terms, const struct mt_terms *others, struct mt_error *err);

/* The same terms for another thread; nothing may be added to either from now on. The caller destroys
 * *out. Where terms were shared before, several threads may share them. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_terms_share(struct mt_terms *terms, struct mt_terms **out,
                                            struct mt_error *err);

/* What they take in memory, with what they are found by. */
size_t mt_terms_bytes(const struct mt_terms *terms);

/* Whether others have the same terms now. */
bool mt_terms_are_shared(const struct mt_terms *terms);

struct mt_term {
    /* Borrowed, until a term is added. target is source where it stays; else all its forms. */
    const char *source, *target;
    bool is_kept;
};
size_t mt_terms_count(const struct mt_terms *terms);
struct mt_term mt_terms_at(const struct mt_terms *terms, size_t index);

/* The form of target[0, length) that begins at *at, which becomes where the next one does. False:
 * there is none any more. A bar divides forms where no blank and no other bar is beside it. */
bool mt_term_next_form(const char *target, size_t length, size_t *at, struct mt_range *out);

/* Whether words[0, n) is one of them. */
bool mt_term_has_form(const char *target, size_t length, const char *words, size_t n);

struct mt_term_match {
    size_t begin, end; /* length, length: nothing found */
    size_t term;
};

/* Says which text is searched from now on: well-formed UTF-8, borrowed until the next one. With
 * crosses_lines a line feed is a blank like others. */
void mt_terms_search(struct mt_terms *terms, const char *text, size_t length, bool crosses_lines);

/* The first match that begins at `from` or later. A place costs at most twice the letters of the
 * longest term, each as many steps as it takes to halve the terms down to one. */
struct mt_term_match mt_terms_find(struct mt_terms *terms, size_t from);

/* Whether, ever, there was no memory to tell words apart, and what was found may be wrong. */
bool mt_terms_have_run_out(const struct mt_terms *terms);

#endif
