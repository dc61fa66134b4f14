/*
 * The two promises about every text (test_passage_properties.c), as checks of one text: how it is
 * translated under an engine that only pretends, and why that is not right.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_TESTS_TEXT_PROPERTIES_H
#define MT_TESTS_TEXT_PROPERTIES_H

#include "tests/unit/server/passages/awkward_text.h"

#include "server/text/codes/coded.h"
#include "server/text/splitter.h"

/* The model whose vocabulary the texts are for; outside of tests that fork. */
void text_properties_open(void);
void text_properties_close(void);

/* How a text is translated. */
struct way {
    enum awkward_format format;
    enum mt_split split;
    bool post_edits;
};

enum mt_status read_text(enum awkward_format format, const struct mt_text *text,
                         struct mt_coded *out, struct mt_error *err);

/* What becomes of a text; or why it could not be translated, which no text may bring about. */
struct mt_text translate(const struct way *way, const struct mt_text *text);

/* Why a text fails; NULL: it does not. */
typedef const char *check_fn(const struct way *way, const struct mt_text *text,
                             const struct mt_text *out);

/* To the byte; but what a model wrote is left so where nobody edits it, and where nothing has to be put
 * back into it: then the same for the model. */
check_fn check_identity;
/* Each letter shows once, in a marked word or in what is copied; no code is lost or doubled, no element
 * emptied. Takes time that grows with the square of a text's length. */
check_fn check_marks;

#endif
