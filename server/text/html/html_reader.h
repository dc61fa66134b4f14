/*
 * HTML as words and codes (mt_read_html of coded.h). It is parsed as browsers do (gumbo, HTML5),
 * but never rendered anew: what is not translated stays as in the source, byte by byte, even where
 * it is malformed.
 *
 *   <p title="x">A <b>red</b>&nbsp;house</p><pre>code</pre>
 *                |----------------------|
 *                        segment
 *
 * A segment is what a reader takes for one text: words and the inline elements among them, with
 * blanks collapsed as browsers do. It ends at tags of blocks, at buttons and labels outside of
 * sentences, at check boxes and the like, and between neighbours that are independent: the links of
 * a menu, the spans of a row (html_runs.h). At its ends it has words, or pairs around some of them;
 * other tags are outside.
 *
 *   OPEN, CLOSE  the tags of an inline element with words, both in the segment
 *   POINT        comments, instructions; elements without words (img) and short notes (sup, sub) as
 *                a whole; <x/> of unknown name; a tag whose other one is not in the segment
 *   GAP          an element that holds nothing but blanks
 *   BREAK        <br>, with the blanks that it swallows
 *   WORD         what is left alone (code, translate="no") and has words; a formula (H<sub>2</sub>O)
 *
 * Left alone are scripts, styles, <pre>, <code>, <textarea> (what somebody has typed) and the like,
 * elements with translate="no", and ignored tags. Of SVG the words of <text>, <title> and <desc>
 * are segments, unless the picture stands in a sentence. A character that its source wrote as an
 * entity is an entity in the translation, too.
 */
#ifndef MT_SERVER_TEXT_HTML_READER_H
#define MT_SERVER_TEXT_HTML_READER_H

#include "server/text/codes/coded.h"

/* The deepest nesting, and the most memory for the tree of one text. Broken markup can make the
 * tree many times as large as its source. */
#define MT_HTML_MAX_DEPTH 512
#define MT_HTML_MAX_BYTES ((size_t)64 << 20)

/* Most attributes of one element. Where more than MT_HTML_MAX_ROOT_TAGS tags are <html> or <body>,
 * whose attributes are all added to the first one, there is also a limit for all attributes
 * together. */
#define MT_HTML_MAX_ATTRIBUTES 256
#define MT_HTML_MAX_ROOT_TAGS 8
#define MT_HTML_MAX_ALL_ATTRIBUTES 4096

/* Appends the characters of an entity, whose name is given as in "nbsp"; nothing where HTML has
 * none of that name. */
MT_MUST_CHECK enum mt_status mt_html_append_entity(const char *name, struct mt_text *out,
                                                   struct mt_error *err);

#endif
