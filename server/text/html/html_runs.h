/*
 * Runs of HTML: the pieces between two blocks, which a reader takes for one text, or for several.
 * Only html_*.c include this.
 */
#ifndef MT_SERVER_TEXT_HTML_RUNS_H
#define MT_SERVER_TEXT_HTML_RUNS_H

#include "server/text/html/html_pieces.h"

/* Connects the tags of pieces [first, end) to pairs where they nest, and marks as whole the pairs
 * without words and those around short notes. */
void mt_html_pair(struct mt_html_pieces *pieces, size_t first, size_t end);

/* Whether the piece begins a <sup> or <sub> that holds only the mark of a note: 2, [1], *,
 * [note 3]. */
bool mt_html_is_note(const struct mt_html_pieces *pieces, size_t first);

/*
 * Marks the pieces of a run before which a text ends. To be called after mt_html_pair. A text ends
 * between neighbours that are independent texts,
 *
 *   <a>Home</a>|<a>About</a>      <span>Hello.</span>|<span>Bye.</span>
 *   <span>O</span><span>nce</span>
 *
 * and where it would have too many codes. If a text ends between the two tags of a pair, then these
 * tags belong to no text.
 */
void mt_html_cut(struct mt_html_pieces *pieces, size_t first, size_t end);

#endif
