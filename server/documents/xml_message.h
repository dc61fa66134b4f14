/*
 * Messages in XML files (xml_words.h). The text of a piece is the content of an element, exactly as
 * in the file. Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_MESSAGE_H
#define MT_SERVER_DOCUMENTS_XML_MESSAGE_H

#include "server/documents/document_state.h"

/* Facts about a message, kept in the lowest bits of a piece's n. */
enum {
    MT_XML_IS_CDATA = 1, /* within <![CDATA[ ]]>, where nothing is escaped */
    MT_XML_FLAG_BITS = 1,
};

/* Removes blanks at both ends of the content, and <![CDATA[ ]]> around all of it, and appends the
 * rest to out as content of XML. *range becomes the range of the rest. Returns the flags. */
unsigned mt_xml_message_read(const struct mt_document *document, struct mt_range *range,
                             struct mt_text *out);

/* Adds a piece whose translation replaces the content, unless it has no words. */
MT_MUST_CHECK enum mt_status mt_xml_message_add(struct mt_document *document,
                                                struct mt_range content, struct mt_error *err);

/* The mark of an accelerator key (server/text/accelerator.h). */
struct mt_xml_accelerator {
    char mark;       /* '\0': there is none */
    uint32_t letter; /* the letter behind it */
};

/* Removes the mark from a text, unless that has tags. */
void mt_xml_take_accelerator(struct mt_text *text, struct mt_xml_accelerator *out);
/* Appends a translation with the mark. */
void mt_xml_place_accelerator(const struct mt_xml_accelerator *accelerator, const char *translation,
                              size_t length, struct mt_text *out);

/* The write function of formats whose pieces were added by mt_xml_message_add. */
bool mt_xml_message_write_piece(const struct mt_document *document,
                                const struct mt_document_piece *piece, const char *translation,
                                size_t length, struct mt_text *out);

#endif
