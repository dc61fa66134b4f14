/*
 * XML as words and codes (mt_read_xml of coded.h): a fragment, which need not have one element
 * around all, or a document. It is read by expat, which says where in the source everything stands,
 * and never written anew: <x id="7"></x> comes back spelled so.
 *
 *   <p>A <b>red</b> house</p><p>Yes</p>
 *      |---- segment ---|       |-|
 *
 * An element that has text of its own makes those in it inline, else they part its text into
 * segments (outline detection). splitting_tags part it in any case, non_splitting_tags never do, and
 * without outline detection nothing but splitting_tags does. Blanks stay as they are.
 *
 *   OPEN, CLOSE  the tags of an inline element with words, both in the segment
 *   POINT        comments, instructions, CDATA; elements without words; a tag whose other one is not
 *                in the segment
 *   GAP          an element that holds nothing but blanks
 *   WORD         an element of ignored_tags, which is left alone with all in it, where it stands
 *                between blanks or marks; beside a letter it is a POINT
 *
 * What is not well-formed is MT_FORMAT, "Tag handling parsing failed, please check input.", as DeepL
 * says it, with the place. There are no entities but XML's five and numbers, since nothing declares
 * any: a DOCTYPE may not have an internal subset, and nothing external is ever opened.
 */
#ifndef MT_SERVER_TEXT_XML_FRAGMENT_H
#define MT_SERVER_TEXT_XML_FRAGMENT_H

#include "server/text/codes/coded.h"

#endif
