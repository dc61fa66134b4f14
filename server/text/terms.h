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
 * The model sees the words of a term as they are: on 583 sentences of the development set with one
 * term each the translation had BLEU 30.1 and chrF 52.9 so, 17.8 and 45.7 with substitutes, 28.7
 * and 51.9 when the model went on behind the given words.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_TERMS_H
#define MT_SERVER_TEXT_TERMS_H

#include "base/status.h"
#include "server/text/splitter.h"

#include <stdbool.h>

struct mt_terms;

/* Most bytes of a term, and of a term's translation. */
#define MT_MAX_TERM_BYTES 1024

#define MT_NO_TERM ((size_t)-1)

MT_MUST_CHECK enum mt_status mt_terms_create(struct mt_terms **out, struct mt_error *err);
/* Takes NULL. */
void mt_terms_destroy(struct mt_terms *terms);

/* Adds a term; both strings are copied. target NULL: the term stays as it is in the text. A term
 * that is there already with the same target is ignored. field is the list's name in messages.
 * MT_INVALID: blank, too long, or known with another target; MT_LIMIT: more than a gigabyte of
 * terms. */
MT_MUST_CHECK enum mt_status mt_terms_add(struct mt_terms *terms, const char *field,
                                          const char *source, const char *target,
                                          struct mt_error *err);

/* Adds those of others whose sources are not known yet. MT_MEMORY. */
MT_MUST_CHECK enum mt_status
mt_terms_add_others(struct mt_terms *terms, const struct mt_terms *others, struct mt_error *err);

/* Makes *out, which has the same terms and may be used by another thread; from now on nothing may
 * be added to either. The caller destroys *out. Terms that are shared already may be shared by
 * several threads at once. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_terms_share(struct mt_terms *terms, struct mt_terms **out,
                                            struct mt_error *err);

/* Returns how much memory the terms and their keys take. */
size_t mt_terms_bytes(const struct mt_terms *terms);

/* Whether others share these terms at present. */
bool mt_terms_are_shared(const struct mt_terms *terms);

struct mt_term {
    /* Borrowed until a term is added. target has all forms, and is source where the term stays. */
    const char *source, *target;
    bool is_verbatim;
};
size_t mt_terms_count(const struct mt_terms *terms);
struct mt_term mt_terms_at(const struct mt_terms *terms, size_t index);

/* Returns the form of target[0, length) that begins at *at, and moves *at to the next one; false
 * where there are no more. A bar separates forms where no blank and no other bar is beside it. */
bool mt_term_next_form(const char *target, size_t length, size_t *at, struct mt_range *out);

/* Whether words[0, n) is one of the forms. */
bool mt_term_has_form(const char *target, size_t length, const char *words, size_t n);

struct mt_term_match {
    size_t begin, end; /* both are length where nothing was found */
    size_t term;
};

/* Sets the text that is searched from now on: well-formed UTF-8, borrowed until the next call. With
 * crosses_lines a line feed counts as a blank. */
void mt_terms_search(struct mt_terms *terms, const char *text, size_t length, bool crosses_lines);

/* Returns the first match that begins at `from` or later. For each position it looks at twice the
 * letters of the longest term at most, each with a binary search in the keys. */
struct mt_term_match mt_terms_find(struct mt_terms *terms, size_t from);

/* Whether at any time there was no memory to tell words apart, so that what was found may be
 * wrong. */
bool mt_terms_have_run_out(const struct mt_terms *terms);

#endif
