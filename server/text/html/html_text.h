/*
 * Text of HTML, character by character: as its source has it and as the parser decoded it, in step.
 * Only html_*.c include this.
 */
#ifndef MT_SERVER_TEXT_HTML_TEXT_H
#define MT_SERVER_TEXT_HTML_TEXT_H

#include "server/text/splitter.h"

/* source[at, end) and what the parser made of it; source ends in NUL. */
struct mt_html_walk {
    const char *source;
    size_t at, end;
    const char *decoded, *decoded_end;
};

struct mt_html_char {
    struct mt_range source;
    const char *bytes; /* decoded: one or, of some entities, two characters */
    size_t n_bytes;
    bool is_entity;
};

/* The next character. False: there is none, or source and decoded text are not in step here. */
bool mt_html_next_char(struct mt_html_walk *walk, struct mt_html_char *out);

/* Whether all was in step. */
bool mt_html_is_at_end(const struct mt_html_walk *walk);

/* Bytes of the tag at source[at], up to `end` if it is not finished; 0: it is none, but text or a
 * comment. */
size_t mt_html_tag(const char *source, size_t at, size_t end);

/* Those that browsers collapse. */
bool mt_html_is_blank(char c);

#endif
