/*
 * Words with their reader's codes as numbers: what a translation memory keeps of a text, so that the
 * same words are found again whatever their tags are called, and a translation that was kept puts
 * each code where a person put it.
 *
 *   Press <b>OK</b>, {name}!<br>   ->   Press [0 OK 0], {name}![1]
 *
 * A pair of codes has one number. Codes that were found in the words (codes_find.h) are words here.
 * The signs that stand around a number are noncharacters of Unicode, which texts do not have.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_NUMBERED_H
#define MT_SERVER_TEXT_CODES_NUMBERED_H

#include "server/text/codes/coded.h"

#include <stdint.h>

/* A stretch of a segment's words, and the codes in it; pairs lie within it as a whole. */
struct mt_numbered_stretch {
    const struct mt_coded *coded;
    const struct mt_coded_segment *segment;
    struct mt_range range; /* bytes of the words */
    size_t code, code_end; /* of the segment's codes */
};

/* The whole of a segment. */
struct mt_numbered_stretch mt_numbered_whole(const struct mt_coded *coded,
                                             const struct mt_coded_segment *segment);

/* Takes blanks off its ends, and codes that stand there for themselves: points, breaks, edges. Of these
 * at most so many as ends says, which becomes how many they were: a translation loses those that its
 * source lost. */
struct mt_numbered_ends {
    size_t before, behind;
};
#define MT_NUMBERED_ALL_ENDS ((struct mt_numbered_ends){SIZE_MAX, SIZE_MAX})
void mt_numbered_trim(struct mt_numbered_stretch *stretch, struct mt_numbered_ends *ends);

/* Codes of one text: more have no numbers. */
#define MT_MAX_NUMBERED_CODES 64

/* Appends a stretch. like NULL: codes are numbered in their order; else each has the number of the one
 * there that is written in the same way, or, where there is none, of the next one of its kind; further
 * codes have numbers that are not there.
 * False: it has no such form, because it has terms, too many codes, or codes within others. out tells
 * of a failure to allocate. */
bool mt_numbered_write(const struct mt_numbered_stretch *stretch,
                       const struct mt_numbered_stretch *like, struct mt_text *out);

/* What a numbered text consists of, piece by piece. */
typedef void mt_numbered_words(void *context, const char *bytes, size_t length);
typedef void mt_numbered_code(void *context, size_t code); /* an index of the segment's codes */

/* Calls words and code for the pieces of a numbered text in their order, with the codes of a stretch.
 * False, and nothing is called: the text has not each of its codes once, pairs nested. */
bool mt_numbered_read(const char *text, size_t length, const struct mt_numbered_stretch *stretch,
                      mt_numbered_words *words, mt_numbered_code *code, void *context);

/* Appends the words alone: a code is a blank where there is none beside it. */
void mt_numbered_append_words(const char *text, size_t length, struct mt_text *out);

/* One code of a numbered text. */
enum mt_numbered_kind { MT_NUMBERED_OPEN, MT_NUMBERED_CLOSE, MT_NUMBERED_POINT };
struct mt_numbered_mark {
    enum mt_numbered_kind kind;
    size_t number;
    size_t length; /* in bytes */
};
/* Whether text[0, length) begins with one. */
bool mt_numbered_mark_at(const char *text, size_t length, struct mt_numbered_mark *out);
void mt_numbered_append_mark(struct mt_text *out, enum mt_numbered_kind kind, size_t number);

#endif
