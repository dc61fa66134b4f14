/*
 * Reads text of HTML character by character, in the source and as the parser decoded it, at the
 * same time. Only html_*.c include this.
 */
#ifndef MT_SERVER_TEXT_HTML_TEXT_H
#define MT_SERVER_TEXT_HTML_TEXT_H

#include "server/text/splitter.h"

/* A position in both texts: source[at, end) and its decoded form are still to be read. source ends
 * in NUL. */
struct mt_html_walk {
    const char *source;
    size_t at, end;
    const char *decoded, *decoded_end;
};

struct mt_html_char {
    struct mt_range source;
    const char *bytes; /* decoded: one character, or two for some entities */
    size_t n_bytes;
    bool is_entity;
};

/* Takes the next character. Returns false at the end, or where source and decoded text do not
 * correspond. */
bool mt_html_next_char(struct mt_html_walk *walk, struct mt_html_char *out);

/* Whether both have been read to their ends. */
bool mt_html_is_at_end(const struct mt_html_walk *walk);

/* Returns the length of the tag at source[at], which ends at `end` if it is not closed; 0: it is
 * text or a comment. */
size_t mt_html_tag(const char *source, size_t at, size_t end);

/* Whether browsers collapse the character with other blanks. */
bool mt_html_is_blank(char c);

#endif
