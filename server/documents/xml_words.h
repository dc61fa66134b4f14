/*
 * The content of an element of XML as words and codes (coded.h): entities are characters, tags codes. What
 * XLIFF, TMX and Android say of inline elements is known: which stand for code of another format with all
 * that is in them (ph, bpt, xliff:g, ...), which two are a pair (bpt and ept, sc and ec, bx and ex), and
 * where a segment ends (mrk mtype="seg").
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_WORDS_H
#define MT_SERVER_DOCUMENTS_XML_WORDS_H

#include "server/text/codes/coded.h"

/* Codes of one text: MT_LIMIT above. */
#define MT_XML_MAX_CODES 10000
/* Elements that are open at a time. */
#define MT_XML_MAX_OPEN 64

mt_coded_reader mt_read_xml_words;
/* Reads the escapes of Android's strings, too (\', \n, \u0020), and its blanks, of which many are
 * one. */
mt_coded_reader mt_read_android_words;

/* Appends content of XML as plain text; entities that are not XML's own stay. */
void mt_xml_unescape(const char *xml, size_t length, struct mt_text *out);

/* Append plain text as content, and an attribute with a blank before it. A character that XML cannot have
 * becomes U+FFFD. */
void mt_xml_append_words(struct mt_text *out, const char *bytes, size_t length);
void mt_xml_append_attribute(struct mt_text *out, const char *name, const char *value);

#endif
