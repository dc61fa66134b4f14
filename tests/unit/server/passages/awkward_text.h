/*
 * Texts as people type them and generators make them, of a grammar of awkward things: words, signs
 * that vocabularies have and lack, tags, placeholders, ICU messages, Markdown, other scripts,
 * invisible characters, runs of marks, blanks of all kinds, numbers, quotation marks. A text is
 * known by its pieces, so that one that fails can be made smaller.
 *
 * Thread-safety: functions of their arguments alone.
 */
#ifndef MT_TESTS_AWKWARD_TEXT_H
#define MT_TESTS_AWKWARD_TEXT_H

#include "base/text.h"

enum awkward_format { AWKWARD_PLAIN, AWKWARD_HTML, AWKWARD_SRT, AWKWARD_VTT, AWKWARD_FORMATS };

#define AWKWARD_MAX_PIECES 32

struct awkward_text {
    const char *pieces[AWKWARD_MAX_PIECES]; /* not the caller's */
    size_t n;
};

/* The same one for the same seed. */
void awkward_make(uint32_t seed, enum awkward_format format, struct awkward_text *out);

/* The text, into an empty out. */
void awkward_write(const struct awkward_text *text, struct mt_text *out);

/* Whether a text is one of those that are sought. */
typedef bool awkward_fails(void *context, const struct awkward_text *text);

/* Takes pieces away as long as the text still fails. */
void awkward_minimise(struct awkward_text *text, awkward_fails *fails, void *context);

/* Each piece of a format's grammar by itself; NULL behind the last one. */
const char *awkward_piece(enum awkward_format format, size_t index);

#endif
