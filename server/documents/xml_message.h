/*
 * Messages that stand in XML (xml_words.h): the text of a piece is the content of an element as it is
 * written. Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_XML_MESSAGE_H
#define MT_SERVER_DOCUMENTS_XML_MESSAGE_H

#include "server/documents/document_state.h"

/* What a message is beside its text. Kept in the lowest bits of a piece's n. */
enum {
    MT_XML_IS_CDATA = 1, /* within <![CDATA[ ]]>, where nothing is escaped */
    MT_XML_FLAG_BITS = 1,
};

/* Takes blanks off the ends of the content, and <![CDATA[ ]]> around all of it, and appends what is left
 * to out as content of XML. Returns the flags. *range becomes that of what is left. */
unsigned mt_xml_message_read(const struct mt_document *document, struct mt_range *range,
                             struct mt_text *out);

/* Appends a translation as content, or what stands within CDATA; false: it cannot be. */
bool mt_xml_message_write(unsigned flags, const char *translation, size_t length,
                          struct mt_text *out);

/* Adds a piece whose translation takes the content's place; none where it has no words. */
MT_MUST_CHECK enum mt_status mt_xml_message_add(struct mt_document *document,
                                                struct mt_range content, struct mt_error *err);

/* The mark of a label (server/text/accelerator.h). */
struct mt_xml_accelerator {
    char mark;       /* '\0': there is none */
    uint32_t letter; /* behind it */
};

/* Takes the mark out of a text, unless that has tags. */
void mt_xml_take_accelerator(struct mt_text *text, struct mt_xml_accelerator *out);
/* Appends a translation with the mark. */
void mt_xml_place_accelerator(const struct mt_xml_accelerator *accelerator, const char *translation,
                              size_t length, struct mt_text *out);

/* The write of formats whose pieces were added so. */
bool mt_xml_message_write_piece(const struct mt_document *document,
                                const struct mt_document_piece *piece, const char *translation,
                                size_t length, struct mt_text *out);

#endif
