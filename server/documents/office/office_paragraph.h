/*
 * Paragraphs of office documents: a reader of a format hands over what stands in one, in its order, and
 * gets the document's texts (office_words.h) of it; a translation is written with it again. Words of
 * equal looks are one run, however many there were.
 *
 * Thread-safety: one thread at a time; writing is safe.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_PARAGRAPH_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_PARAGRAPH_H

#include "server/documents/document_state.h"

/* Most bytes of the prefix of elements' names. */
#define MT_OFFICE_MAX_PREFIX 31
/* Most pieces of words in a paragraph, with what stands between them. MT_LIMIT above. */
#define MT_OFFICE_MAX_TOKENS 400000

enum mt_office_kind {
    MT_OFFICE_WORDS,
    MT_OFFICE_POINT, /* stands between words, or as its form says (office_words.h) */
    MT_OFFICE_OPEN,  /* a pair around words */
    MT_OFFICE_CLOSE,
    MT_OFFICE_CUT,   /* stays where it is: texts end and begin there */
    MT_OFFICE_BEGIN, /* goes before, */
    MT_OFFICE_END,   /* or behind the whole text */
    MT_OFFICE_NOTHING,
};

/* What opens and closes. Those of elements nest; others, which may cross, need not be pairs then. */
enum mt_office_family {
    MT_OFFICE_ELEMENT,
    MT_OFFICE_FIELD,
    MT_OFFICE_RANGE, /* a bookmark, a comment's words */
};

/* How words are written: in runs of Word's, or by a format that has none. A look is then the tags around
 * words, as the file has them. */
struct mt_office_format {
    /* words, in which < > & are entities. is_behind_blank: so that another one would not be seen. */
    void (*write_words)(const char *words, size_t length, bool is_behind_blank,
                        struct mt_text *out);
};

/* What stands above or below the line at a word: 2, (a), TM. */
struct mt_office_note {
    bool is_one;
    bool is_word; /* it is one with its word: m2, H2O */
    size_t n_letters, n_digits;
};

/* In the paragraph's order. */
struct mt_office_token {
    enum mt_office_kind kind;
    enum mt_office_family family;
    char form; /* of a point. Of words: '"', they stand in an attribute; ' ', they are blanks whose
                         look does not matter */
    bool is_verbatim; /* its range of the file is written, with the texts in it: instead of bytes,
                              or within the run around it, which these have */
    struct mt_text bytes;  /* plain words, or XML that is whole but for what opens and closes */
    struct mt_range range; /* of the file */
    struct mt_range outer; /* the same, with the whole runs that it stands in */
    struct mt_range run;   /* the beginning of the run that it begins in; empty: in none */
    size_t look;           /* of words, and of a point that is verbatim */
    bool is_link;          /* words that look so: no translation may be without them */
    size_t id;             /* of a range: equal for both */
    struct mt_office_note note; /* that a point is */
    bool is_item;               /* of a list, what closes it, and what stands before it */
    size_t mate;                /* set here */
};

struct mt_office;

/* format is borrowed; NULL: runs. */
MT_MUST_CHECK enum mt_status mt_office_create(const struct mt_office_format *format,
                                              struct mt_office **out, struct mt_error *err);
void mt_office_destroy(void *office); /* takes NULL */

/* A document that names a language anywhere gets the target's in what is translated; target_lang is a
 * normalised code, or NULL: not known. */
void mt_office_set_target(struct mt_office *office, const char *target_lang);
void mt_office_name_language(struct mt_office *office);
/* Whether the target language is written from the right, where a translated paragraph may have to
 * say so. */
bool mt_office_is_rtl(const struct mt_office *office);
bool mt_office_names_language(const struct mt_office *office);

/* Words of a translation, for the format to write. */
struct mt_office_run {
    const char *prefix;         /* of the names of its elements, as in "w:" */
    const struct mt_text *look; /* the format's own */
    const char *words;          /* content of XML, without characters that XML has not */
    size_t length;
    const struct mt_written_language *language; /* which the run is to name; NULL: none */
};
typedef void mt_office_write_run(const struct mt_office_run *run, struct mt_text *out);

/* The number of a look: of equal bytes the same one. What they mean is the format's. 0: none. */
MT_MUST_CHECK enum mt_status mt_office_look(struct mt_office *office, const char *bytes,
                                            size_t length, size_t *out, struct mt_error *err);

/* Adds a token to those of a paragraph; *out is valid until the next one is added. */
MT_MUST_CHECK enum mt_status mt_office_add_token(struct mt_office_token **tokens, size_t *n,
                                                 size_t *capacity, struct mt_office_token **out,
                                                 struct mt_error *err);

struct mt_office_paragraph {
    const char
        *prefix; /* of the names of its elements, as in "w:"; MT_OFFICE_MAX_PREFIX bytes at most */
    mt_office_write_run *write_run;
    struct mt_office_token *tokens; /* what they hold is changed */
    size_t n;
    size_t max_chars; /* of what is written, in UTF-16: a program opens no more; 0: no limit */
};

/* Adds a paragraph's texts to document, whose own is the office. */
MT_MUST_CHECK enum mt_status mt_office_add_texts(struct mt_document *document,
                                                 const struct mt_office_paragraph *paragraph,
                                                 struct mt_error *err);

/* A paragraph with words that stays as it is, for a reason, which is static, is told of. */
MT_MUST_CHECK enum mt_status mt_office_leave(struct mt_document *document,
                                             const struct mt_office_token *tokens, size_t n,
                                             const char *reason, struct mt_error *err);

/* document_state.h. False: a code is lost. */
bool mt_office_write_piece(struct mt_document_writing *writing,
                           const struct mt_document_piece *piece, const char *translation,
                           size_t length, struct mt_text *out);

/* document_state.h: what writing needs, from one process to another. */
void mt_office_pack(const void *own, struct mt_text *out);
mt_document_unpack mt_office_unpack; /* of Word's */
MT_MUST_CHECK enum mt_status mt_office_unpack_as(const struct mt_office_format *format,
                                                 struct mt_document *document, struct mt_flat *flat,
                                                 struct mt_error *err);

#endif
