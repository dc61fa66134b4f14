/*
 * Markup within a subtitle: <i>, </i>, <font color="red">, <v Anna>, <00:01:02.000>, and in SubRip
 * also {\an8} and {y:i}. A tag that is closed later is a span around its words; any other tag is a
 * point between words (coded.h: mt_read_srt, mt_read_vtt).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CUE_TAGS_H
#define MT_SERVER_TEXT_CUE_TAGS_H

#include "server/text/codes/coded.h"

/* Most bytes of a tag, and most tags of one text. */
#define MT_MAX_CUE_TAG_BYTES 256
#define MT_MAX_CUE_TAGS 192

enum mt_cue_markup {
    MT_CUES_NONE, /* not a subtitle */
    MT_CUES_SRT,
    MT_CUES_VTT, /* no braces; "&lt;" and the like are characters */
};

struct mt_cue_tag {
    size_t begin, end; /* bytes of the text */
    bool is_closing;
    size_t mate; /* index of the tag that closes this one or is closed by it, or MT_NO_MATE */
};

/* In the text's order; pairs are nested. */
struct mt_cue_tags {
    struct mt_cue_tag items[MT_MAX_CUE_TAGS];
    size_t n;
    size_t n_halves; /* tags that have no mate, but should have one */
};

/* Returns the length of the tag that begins at text[at], or 0. */
size_t mt_cue_tag_length(const char *text, size_t length, size_t at, enum mt_cue_markup markup);

/* Returns false where there are more than MT_MAX_CUE_TAGS; *out holds the first ones then. */
bool mt_cue_tags_find(const char *text, size_t length, enum mt_cue_markup markup,
                      struct mt_cue_tags *out);

/* Bytes of the dash that text begins with, after which somebody else speaks: "-", en and em dash,
 * hyphen; or 0. */
size_t mt_cue_dash_length(const char *text, size_t length);

/* Returns the bytes of the ornaments that text begins with: notes of songs, ">>" of live captions,
 * blanks. */
size_t mt_cue_ornament_length(const char *text, size_t length);

#endif
