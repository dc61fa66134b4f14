/*
 * HTML as a flat list of pieces, in the order of its source. What the parser made up itself has no
 * piece, what it moved stands where its source has it, and tags that it passed over have pieces like
 * all others: so a broken tree needs no care. Only html_*.c include this.
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
    MT_HTML_BLOCK, /* belongs to no text: tags of blocks, blocks that are left alone */
    MT_HTML_TEXT,
    MT_HTML_START, /* tags of inline elements */
    MT_HTML_END,
    MT_HTML_POINT, /* comments, and inline elements that have no words */
    MT_HTML_BREAK, /* <br> */
    MT_HTML_WORD,  /* an inline element that is left alone and has words */
};

/* What a run of pieces holds; of texts, characters. */
struct mt_html_counts {
    size_t letters, digits, signs, blanks;
    size_t words, points, breaks; /* pieces */
};

/* A text from outside; no characters: it is blank. */
struct mt_html_ends {
    uint32_t first, last; /* characters that are no blanks */
    uint32_t conclusion;  /* the last one that is no bracket or quotation mark behind a sentence */
    bool has_blank_before, has_blank_behind;
};

struct mt_html_piece {
    enum mt_html_kind kind;
    GumboTag tag;         /* of START and END; of no known name: GUMBO_TAG_UNKNOWN */
    struct mt_range name; /* of START and END, in the source */
    struct mt_range range;
    const char *decoded, *decoded_end; /* TEXT */
    struct mt_html_ends ends;          /* TEXT */
    const GumboNode *node;             /* WORD */
    struct mt_html_counts before;      /* in all pieces before it */

    /* For whoever reads runs. */
    size_t mate;   /* the other one of START and END; MT_NO_MATE */
    size_t noted;  /* letters and digits of notes before it, in its run */
    bool is_whole; /* a pair that is one code, with all in it */
    bool cuts;     /* a text ends before it */
    size_t code;   /* of START: its index in the segment */
};

struct mt_html_pieces {
    const char *source; /* borrowed */
    const char
        *parsed; /* what texts were decoded from (html_text.h): as long, with the same words */
    size_t length;
    struct mt_html_piece *items;
    size_t n, capacity;
    struct mt_html_counts counts;
};

/* Zero-initialise; the caller finishes it on failure too. The tree must outlive it. MT_LIMIT: more
 * than MT_HTML_MAX_DEPTH. */
MT_MUST_CHECK enum mt_status mt_html_list(const char *source, size_t length,
                                          const struct mt_html_tree *tree,
                                          const struct mt_coded_options *options,
                                          struct mt_html_pieces *out, struct mt_error *err);
void mt_html_pieces_finish(struct mt_html_pieces *pieces);

/* MT_LIMIT: the tree is deeper than MT_HTML_MAX_DEPTH. */
MT_MUST_CHECK enum mt_status mt_html_check_depth(const struct mt_html_tree *tree,
                                                 struct mt_error *err);

/* Whether an element is left as it is, with everything in it; and whether it says so itself. */
bool mt_html_is_left_alone(const struct mt_coded_options *options, const GumboNode *element);
bool mt_html_says_no(const GumboNode *element);

/* Through a TEXT. */
struct mt_html_walk mt_html_walk(const struct mt_html_pieces *pieces, size_t text);

/* What pieces [first, end) hold. */
struct mt_html_counts mt_html_count(const struct mt_html_pieces *pieces, size_t first, size_t end);

#endif
