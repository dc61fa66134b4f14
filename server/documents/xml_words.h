/*
 * The content of an XML element as words and codes (coded.h): entities are characters, tags are
 * codes. The inline elements of XLIFF, TMX and Android are known: which ones stand for code of
 * another format, with everything in them (ph, bpt, xliff:g, ...), which two are a pair (bpt and
 * ept, sc and ec, bx and ex), and which end a segment (mrk mtype="seg").
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_WORDS_H
#define MT_SERVER_DOCUMENTS_XML_WORDS_H

#include "server/text/codes/coded.h"

/* Most codes of one text; MT_LIMIT above. */
#define MT_XML_MAX_CODES 10000
/* Most elements that are open at a time. */
#define MT_XML_MAX_OPEN 64

mt_coded_reader mt_read_xml_words;
/* Also reads the escapes of Android's strings (\', \n, \u0020), and collapses their blanks. */
mt_coded_reader mt_read_android_words;

/* Appends content of XML as plain text; entities that XML does not define stay. */
void mt_xml_unescape(const char *xml, size_t length, struct mt_text *out);

/* Append plain text as content, and an attribute with a blank before it. Characters that XML does
 * not allow become U+FFFD. */
void mt_xml_append_words(struct mt_text *out, const char *bytes, size_t length);
void mt_xml_append_attribute(struct mt_text *out, const char *name, const char *value);

#endif
