/*
 * Runs of HTML: the pieces between two blocks, which are one text to a reader, or several. Only
 * html_*.c include this.
 */
#ifndef MT_SERVER_TEXT_HTML_RUNS_H
#define MT_SERVER_TEXT_HTML_RUNS_H

#include "server/text/html/html_pieces.h"

/* Gives the tags of pieces [first, end) their mates, where pairs nest, and says which pairs are
 * whole: those without words, and short notes. */
void mt_html_pair(struct mt_html_pieces *pieces, size_t first, size_t end);

/* Whether the piece begins a <sup> or <sub> that is no more than a note at its word: 2, [1], *. */
bool mt_html_is_note(const struct mt_html_pieces *pieces, size_t first);

/*
 * Says before which pieces of a run a text ends, when tags have their mates: between neighbours that
 * stand for themselves.
 *
 *   <a>Home</a>|<a>About</a>      <span>Hello.</span>|<span>Bye.</span>      <span>O</span><span>nce</span>
 *
 * And before one that would have too many codes. A pair in which one ends belongs to none of them.
 */
void mt_html_cut(struct mt_html_pieces *pieces, size_t first, size_t end);

/* The piece behind one, or behind the pair that it begins. */
size_t mt_html_behind(const struct mt_html_pieces *pieces, size_t index);

#endif
