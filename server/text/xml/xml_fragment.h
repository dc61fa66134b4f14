/*
 * XML as words and codes (mt_read_xml of coded.h): a fragment, which need not have a single root
 * element, or a document. expat reads it and tells where in the source everything stands. It is
 * never rendered anew, so <x id="7"></x> keeps its spelling.
 *
 *   <p>A <b>red</b> house</p><p>Yes</p>
 *      |---- segment ---|       |-|
 *
 * The elements in an element that has text of its own are inline; in others they separate segments
 * (outline detection). splitting_tags always separate, non_splitting_tags never do, and without
 * outline detection only splitting_tags do. Blanks stay as they are.
 *
 *   OPEN, CLOSE  the tags of an inline element with words, both in the segment
 *   POINT        comments, instructions, CDATA; elements without words; a tag whose other one is
 *                not in the segment
 *   GAP          an element that holds nothing but blanks
 *   WORD         an element of ignored_tags, which is left alone with all in it, where it stands
 *                between blanks or marks; beside a letter it is a POINT
 *
 * Malformed XML is MT_FORMAT, "Tag handling parsing failed, please check input.", which is DeepL's
 * message, with the position. The only entities are XML's five and numbers, because a DOCTYPE may
 * not have an internal subset, and nothing external is ever opened.
 */
#ifndef MT_SERVER_TEXT_XML_FRAGMENT_H
#define MT_SERVER_TEXT_XML_FRAGMENT_H

#include "server/text/codes/coded.h"

#endif
