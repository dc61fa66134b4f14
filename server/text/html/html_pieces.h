/*
 * HTML as a flat list of pieces, in the order of its source. Elements that the parser added have no
 * piece, those that it moved are where the source has them, and tags that it ignored have pieces
 * like all others, so that a broken tree needs no special care. Only html_*.c include this.
 *
 *   <p>A <b>red</b> house</p>   ->   BLOCK TEXT START TEXT END TEXT BLOCK
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_HTML_PIECES_H
#define MT_SERVER_TEXT_HTML_PIECES_H

#include "server/text/codes/coded.h"
#include "server/text/html/html_text.h"
#include "server/text/html/html_tree.h"

enum mt_html_kind {
    MT_HTML_BLOCK, /* belongs to no text: tags of blocks, and blocks that are left alone */
    MT_HTML_TEXT,
    MT_HTML_START, /* tags of inline elements */
    MT_HTML_END,
    MT_HTML_POINT, /* comments, and inline elements that have no words */
    MT_HTML_BREAK, /* <br> */
    MT_HTML_WORD,  /* an inline element that is left alone and has words */
};

/* What a run of pieces holds: the first four count characters of its texts. */
struct mt_html_counts {
    size_t letters, digits, signs, blanks;
    size_t words, points, breaks; /* numbers of pieces */
};

/* The characters at a text's ends, as its neighbours see them. All are 0 where the text is
 * blank. */
struct mt_html_ends {
    uint32_t first, last; /* the first and last that are no blanks */
    /* the last one that is neither a bracket nor a quotation mark behind a sentence */
    uint32_t conclusion;
    bool has_blank_before, has_blank_behind;
};

struct mt_html_piece {
    enum mt_html_kind kind;
    /* of START and END; GUMBO_TAG_UNKNOWN where HTML does not know the name */
    GumboTag tag;
    struct mt_range name; /* of START and END, in the source */
    struct mt_range range;
    const char *decoded, *decoded_end; /* TEXT */
    struct mt_html_ends ends;          /* TEXT */
    const GumboNode *node;             /* WORD */
    struct mt_html_counts before;      /* counts of all pieces before this one */

    /* The rest is set while a run is read. */
    size_t mate;   /* index of the other tag, of START and END; MT_NO_MATE: there is none */
    size_t noted;  /* letters and digits in notes before this piece, in its run */
    bool is_whole; /* the pair becomes one code, with everything in it */
    bool cuts;     /* a text ends before this piece */
    size_t code;   /* START: its code's index in the segment */
};

struct mt_html_pieces {
    const char *source; /* borrowed */
    const char
        /* what texts were decoded from (html_text.h), which has the length and the words of
         * source */
        *parsed;
    size_t length;
    struct mt_html_piece *items;
    size_t n, capacity;
    struct mt_html_counts counts;
};

/* *out has to be zero-initialised; the caller finishes it after a failure, too. The tree has to
 * outlive it. MT_LIMIT: more than MT_HTML_MAX_DEPTH. */
MT_MUST_CHECK enum mt_status mt_html_list(const char *source, size_t length,
                                          const struct mt_html_tree *tree,
                                          const struct mt_coded_options *options,
                                          struct mt_html_pieces *out, struct mt_error *err);
void mt_html_pieces_finish(struct mt_html_pieces *pieces);

/* MT_LIMIT: the tree is deeper than MT_HTML_MAX_DEPTH. */
MT_MUST_CHECK enum mt_status mt_html_check_depth(const struct mt_html_tree *tree,
                                                 struct mt_error *err);

/* Whether an element is left as it is with everything in it; the second function tells whether its
 * own attributes demand this. */
bool mt_html_is_left_alone(const struct mt_coded_options *options, const GumboNode *element);
bool mt_html_says_no(const GumboNode *element);
/* Whether a class attribute has the class notranslate, which means the same as translate="no". */
bool mt_html_class_says_no(const char *class);

/* A walk through the characters of a TEXT. */
struct mt_html_walk mt_html_walk(const struct mt_html_pieces *pieces, size_t text);

/* Counts what pieces [first, end) hold. */
struct mt_html_counts mt_html_count(const struct mt_html_pieces *pieces, size_t first, size_t end);

#endif
