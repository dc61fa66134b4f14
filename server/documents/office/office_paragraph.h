/*
 * Paragraphs of office documents. The reader of a format hands over the tokens of a paragraph in
 * their order, and gets the document's texts (office_words.h). Translations are written with the
 * paragraph's markup again. Words of the same look become one run, however many runs there were.
 *
 * Thread-safety: one thread at a time; writing is safe.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_PARAGRAPH_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_PARAGRAPH_H

#include "server/documents/document_state.h"

/* Most bytes of the prefix of elements' names. */
#define MT_OFFICE_MAX_PREFIX 31
/* Most tokens of a paragraph; MT_LIMIT above. */
#define MT_OFFICE_MAX_TOKENS 400000

enum mt_office_kind {
    MT_OFFICE_WORDS,
    MT_OFFICE_POINT, /* stands between words, unless its form says otherwise (office_words.h) */
    MT_OFFICE_OPEN,  /* a pair around words */
    MT_OFFICE_CLOSE,
    MT_OFFICE_CUT,   /* stays where it is; one text ends before it and another begins behind it */
    MT_OFFICE_BEGIN, /* is put before the whole text */
    MT_OFFICE_END,   /* is put behind the whole text */
    MT_OFFICE_NOTHING,
};

/* What kind of thing opens and closes. Elements nest. The others may cross each other, and are no
 * pairs then. */
enum mt_office_family {
    MT_OFFICE_ELEMENT,
    MT_OFFICE_FIELD,
    MT_OFFICE_RANGE, /* a bookmark, or the words that a comment is about */
};

/* How a format writes words. Where a format has no runs, as Word has, a look is the tags around
 * words, in the file's form. */
struct mt_office_format {
    /* words have < > & as entities. is_behind_blank: browsers would not show another blank
     * there. */
    void (*write_words)(const char *words, size_t length, bool is_behind_blank,
                        struct mt_text *out);
};

/* A superscript or subscript at a word: 2, (a), TM. */
struct mt_office_note {
    bool is_one;
    bool is_word; /* makes one word with the word before it: m2, H2O */
    size_t n_letters, n_digits;
};

/* In the paragraph's order. */
struct mt_office_token {
    enum mt_office_kind kind;
    enum mt_office_family family;
    /* a point's form; for words '"' means that they stand in an attribute, and ' ' that they are
     * blanks whose look does not matter */
    char form;
    /* its range of the file is written, with the texts in it, instead of bytes or within its run,
     * which bytes then has */
    bool is_verbatim;
    /* plain words, or XML that is complete, except that OPEN and CLOSE have one tag each */
    struct mt_text bytes;
    struct mt_range range; /* in the file */
    struct mt_range outer; /* the same with the complete runs around it */
    /* the beginning of the run that it begins in; empty: it begins in none */
    struct mt_range run;
    size_t look;  /* of words, and of a verbatim point */
    bool is_link; /* the look is that of a link, which every translation has to keep */
    size_t id;    /* equal for both ends of a range */
    struct mt_office_note note; /* describes the note if a point is one */
    bool is_item;               /* an item of a list, its end, or what stands before it */
    /* Words that are a large letter: bytes between them and the words that go on. As many letters
     * of the translation are written before these bytes, with the look. Empty: they are none. */
    struct mt_range drop;
    size_t drop_look;
    size_t mate; /* set by this module */
};

struct mt_office;

/* format is borrowed; NULL: Word's runs. */
MT_MUST_CHECK enum mt_status mt_office_create(const struct mt_office_format *format,
                                              struct mt_office **out, struct mt_error *err);
void mt_office_destroy(void *office); /* NULL is allowed */

/* If a document names its language anywhere, then translated words get the target language's name.
 * target_lang is a normalised code; NULL: unknown. */
void mt_office_set_target(struct mt_office *office, const char *target_lang);
void mt_office_name_language(struct mt_office *office);
/* Whether the target language is written from right to left, which a translated paragraph may have
 * to declare. */
bool mt_office_is_rtl(const struct mt_office *office);
bool mt_office_names_language(const struct mt_office *office);

/* Words of a translation, which the format writes as a run. */
struct mt_office_run {
    const char *prefix;         /* prefix of element names, as in "w:" */
    const struct mt_text *look; /* in the format's own form */
    const char *words;          /* content of XML, without characters that XML does not allow */
    size_t length;
    const struct mt_written_language *language; /* language that the run has to name; NULL: none */
};
typedef void mt_office_write_run(const struct mt_office_run *run, struct mt_text *out);

/* Finds or adds a look and returns its number in *out: equal bytes have the same number, and 0 is
 * no look. Only the format knows what the bytes mean. */
MT_MUST_CHECK enum mt_status mt_office_look(struct mt_office *office, const char *bytes,
                                            size_t length, size_t *out, struct mt_error *err);

/* Adds a token to those of a paragraph. *out is valid until the next one is added. */
MT_MUST_CHECK enum mt_status mt_office_add_token(struct mt_office_token **tokens, size_t *n,
                                                 size_t *capacity, struct mt_office_token **out,
                                                 struct mt_error *err);

struct mt_office_paragraph {
    const char
        *prefix; /* prefix of element names, as in "w:"; at most MT_OFFICE_MAX_PREFIX bytes */
    mt_office_write_run *write_run;
    struct mt_office_token *tokens; /* their contents are changed */
    size_t n;
    /* most UTF-16 units of what is written, because programs refuse more; 0: no limit */
    size_t max_chars;
};

/* Adds a paragraph's texts to document, whose own is the office. */
MT_MUST_CHECK enum mt_status mt_office_add_texts(struct mt_document *document,
                                                 const struct mt_office_paragraph *paragraph,
                                                 struct mt_error *err);

/* Reports a paragraph with words that is not translated. reason is static. */
MT_MUST_CHECK enum mt_status mt_office_leave(struct mt_document *document,
                                             const struct mt_office_token *tokens, size_t n,
                                             const char *reason, struct mt_error *err);

/* write_around of document_state.h. Returns false where a code is lost. */
bool mt_office_write_piece(struct mt_document_writing *writing,
                           const struct mt_document_piece *piece, const char *translation,
                           size_t length, struct mt_text *out);

/* pack of document_state.h: what writing needs in another process. */
void mt_office_pack(const void *own, struct mt_text *out);
mt_document_unpack mt_office_unpack; /* for the format of Word */
MT_MUST_CHECK enum mt_status mt_office_unpack_as(const struct mt_office_format *format,
                                                 struct mt_document *document, struct mt_flat *flat,
                                                 struct mt_error *err);

#endif
