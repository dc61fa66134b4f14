/*
 * A paragraph of an office document as a text (document.h): its words, in which < > & are written
 * as in XML, and the numbers of its codes, by which the paragraph (office_paragraph.h) knows them.
 *
 *   Press <0>OK</0> now<1/>.      OK has another look, and there is a note's mark
 *
 *   <0> </0>   a pair around words          <3:b/>  a line break
 *   <1/>       stands between words         <4:e/>  ends a text: a tab
 *   <2:w/>     stands as a word             <5:n/>  stands as a number
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_WORDS_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_WORDS_H

#include "server/text/codes/coded.h"

/* The deepest nesting of pairs. Deeper ones become points. */
#define MT_OFFICE_MAX_OPEN 300

mt_coded_reader mt_read_office_words;

struct mt_office_tag {
    size_t code; /* number of the code */
    /* of a code that is no pair: 'w', 'n', 'b', 'e', or 0, which stands between words */
    char form;
    bool is_pair, is_closing;
    size_t length; /* bytes */
};

/* Reads the tag that text[0, length) begins with. Returns false where there is none. */
bool mt_office_read_tag(const char *text, size_t length, struct mt_office_tag *out);
void mt_office_write_tag(const struct mt_office_tag *tag, struct mt_text *out);

#endif
