/*
 * Words with the reader's codes as numbers, which is how a translation memory keeps a text: the
 * same words are found again with differently named tags, and a stored translation puts each code
 * where a person put it.
 *
 *   Press <b>OK</b>, {name}!<br>   ->   Press [0 OK 0], {name}![1]
 *
 * Both codes of a pair have the same number. Codes that were found in the words (codes_find.h)
 * count as words here. The signs around a number are noncharacters of Unicode, which texts do not
 * have.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_NUMBERED_H
#define MT_SERVER_TEXT_CODES_NUMBERED_H

#include "server/text/codes/coded.h"

#include <stdint.h>

/* A stretch of a segment's words with its codes. A pair is in it as a whole or not at all. */
struct mt_numbered_stretch {
    const struct mt_coded *coded;
    const struct mt_coded_segment *segment;
    struct mt_range range; /* bytes of the words */
    size_t code, code_end; /* range of the segment's codes */
};

/* The stretch of a whole segment. */
struct mt_numbered_stretch mt_numbered_whole(const struct mt_coded *coded,
                                             const struct mt_coded_segment *segment);

/* Removes blanks from both ends, and codes there that are no pairs: points, breaks, edges. It
 * removes at most as many codes as *ends says, and returns their number there, so that a
 * translation loses as many as its source. */
struct mt_numbered_ends {
    size_t before, behind;
};
#define MT_NUMBERED_ALL_ENDS ((struct mt_numbered_ends){SIZE_MAX, SIZE_MAX})
void mt_numbered_trim(struct mt_numbered_stretch *stretch, struct mt_numbered_ends *ends);

/* Most codes of one text; further ones get no numbers. */
#define MT_MAX_NUMBERED_CODES 64

/* Appends a stretch. Where like is NULL, codes are numbered in their order. Otherwise each gets the
 * number of the code in like that is written in the same way, or else of the next one of its kind;
 * further codes get numbers that do not occur there.
 *
 * Returns false where the stretch has no such form, because it has terms, too many codes, or codes
 * within others. out tells of a failure to allocate. */
bool mt_numbered_write(const struct mt_numbered_stretch *stretch,
                       const struct mt_numbered_stretch *like, struct mt_text *out);

/* Both are called with the pieces of a numbered text, in their order. */
typedef void mt_numbered_words(void *context, const char *bytes, size_t length);
typedef void mt_numbered_code(void *context, size_t code); /* an index of the segment's codes */

/* Calls words and code for the pieces of a numbered text in their order, with the codes of a
 * stretch. Returns false, and calls nothing, where the text does not have each of these codes
 * exactly once, or pairs are not nested. */
bool mt_numbered_read(const char *text, size_t length, const struct mt_numbered_stretch *stretch,
                      mt_numbered_words *words, mt_numbered_code *code, void *context);

/* Appends the words alone. A code becomes a blank where there is none beside it. */
void mt_numbered_append_words(const char *text, size_t length, struct mt_text *out);

/* One code of a numbered text. */
enum mt_numbered_kind { MT_NUMBERED_OPEN, MT_NUMBERED_CLOSE, MT_NUMBERED_POINT };
struct mt_numbered_mark {
    enum mt_numbered_kind kind;
    size_t number;
    size_t length; /* in bytes */
};
/* Whether text[0, length) begins with such a code. */
bool mt_numbered_mark_at(const char *text, size_t length, struct mt_numbered_mark *out);

#endif
