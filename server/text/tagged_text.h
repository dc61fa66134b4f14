/*
 * A text to be translated, and what was taken out of it so that the model sees plain words: inline
 * elements, line breaks, placeholders, emoji, terms. Each of these is a tag with the place where it
 * was; tag_projection.h finds its place in the translation.
 *
 *   Click <b>Save</b>, {name}! <img>     ->   text   Click Save, Tom!
 *                                             tags   span "<b>" "</b>" around Save
 *                                                    substitute "{name}" for Tom
 *                                                    point "<img>" behind the sentence
 *
 * A point with blanks on both sides takes one of them along, so that the model does not see two.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_TAGGED_TEXT_H
#define MT_SERVER_TEXT_TAGGED_TEXT_H

#include "base/text.h"
#include "server/text/splitter.h"

enum mt_tag_kind {
    MT_TAG_SPAN,       /* is around its words, with opening and closing */
    MT_TAG_POINT,      /* is between words and has only an opening, like those below */
    MT_TAG_BREAK,      /* a line feed of the text */
    MT_TAG_SUBSTITUTE, /* a word of the text that the opening replaces */
    /* words of the text whose translation is given: as it is written (opening) and as plain text
     * (closing) */
    MT_TAG_TERM,
};

/* Most tags of one text. Who adds more has to begin another text, because finding places takes
 * time in proportion to the square of their number. */
#define MT_MAX_TAGS 256

#define MT_NO_TAG ((size_t)-1)

struct mt_tag {
    enum mt_tag_kind kind;
    size_t begin, end;                /* bytes of text */
    size_t parent;                    /* the span around it, or MT_NO_TAG */
    struct mt_range opening, closing; /* bytes of strings */
    bool took_blank;                  /* point: a blank has to be written before it */
    bool leads;                       /* point: it belongs to the word behind it */
    bool is_gap;                      /* point: it replaces the blank before that word */
    bool had_blank_after;             /* point at the beginning of a line: a blank follows it */
    bool is_verbatim;                 /* term: it stays as it is, and is never left out */
    size_t term;                      /* term: its number (terms.h) */
    struct mt_range forms;            /* term: the words that may stand for it (bytes of strings) */
    size_t n_repeats;                 /* span: how many more times its translation is written, */
    struct mt_range separator;        /* with this before each (bytes of strings) */
};

/* A position of the text and the same position in the source. */
struct mt_anchor {
    size_t text, source;
};

/* Has to be zero-initialised, then mt_tagged_init. Tags are in the order in which they begin; a
 * span comes before its contents. */
struct mt_tagged_text {
    struct mt_text text;
    struct mt_text strings;
    struct mt_tag *tags;
    size_t n, capacity;
    struct mt_anchor *anchors; /* ascending */
    size_t n_anchors, anchors_capacity;
    size_t substitute_end; /* where the last substitute ends in text; 0: there is none */
    size_t open;           /* the innermost open span, or MT_NO_TAG */
    /* the first tag at the text's end that nothing follows yet, or MT_NO_TAG */
    size_t pending;
    enum mt_status status; /* the first failure; from then on nothing is added */
};

void mt_tagged_init(struct mt_tagged_text *tagged);
/* A zeroed one is allowed. */
void mt_tagged_finish(struct mt_tagged_text *tagged);

/* Says where in the source the text is that is added next. Without that, both advance by the same
 * number of bytes. */
void mt_tagged_at(struct mt_tagged_text *tagged, size_t source);

/* Appends text; blanks beside a point may be left out. */
void mt_tagged_append(struct mt_tagged_text *tagged, const char *bytes, size_t length);

/* Spans are nested: close ends the innermost open one. */
void mt_tagged_open(struct mt_tagged_text *tagged, const char *opening, size_t length);
void mt_tagged_close(struct mt_tagged_text *tagged, const char *closing, size_t length);
/* Says that the source repeated the innermost open span n times, each behind the separator. */
void mt_tagged_repeat(struct mt_tagged_text *tagged, size_t n, const char *separator,
                      size_t length);
void mt_tagged_point(struct mt_tagged_text *tagged, const char *content, size_t length);
/* Adds blanks between words of a sentence that must stay as they are, such as a line break and what
 * is around it. The model sees one blank. */
void mt_tagged_gap(struct mt_tagged_text *tagged, const char *content, size_t length);
void mt_tagged_break(struct mt_tagged_text *tagged, const char *content, size_t length);
void mt_tagged_substitute(struct mt_tagged_text *tagged, const char *word, const char *content,
                          size_t length);

struct mt_tagged_term {
    const char *words, *target,
        *written; /* the words in the text, their translation, and how that is written */
    size_t n_words, n_target, n_written; /* bytes */
    /* Where several forms may stand for them (mt_term_next_form), all of these; target is the
     * first. n_forms 0: there is only target. */
    const char *forms;
    size_t n_forms;
    size_t term;
    bool is_verbatim;
};
void mt_tagged_term(struct mt_tagged_text *tagged, const struct mt_tagged_term *term);

/* Returns where a range of tagged.text is in the source, with the tags in it. */
struct mt_range mt_tagged_find_source(const struct mt_tagged_text *tagged, struct mt_range range);

/* Returns MT_OK, or the first failure, which is put into err. */
MT_MUST_CHECK enum mt_status mt_tagged_check(const struct mt_tagged_text *tagged,
                                             struct mt_error *err);

/* Whether the text has something to translate: a letter or digit outside of substitutes. */
bool mt_tagged_has_words(const struct mt_tagged_text *tagged);

/* Whether the tags' places are known without an alignment: at the ends of the text, around all of
 * it, or at line feeds. */
bool mt_tagged_is_plain(const struct mt_tagged_text *tagged);

/* Whether words are made of such a character. */
bool mt_is_word_char(uint32_t code_point);
bool mt_has_word(const char *text, size_t begin, size_t end);

/* The first code point of Chinese and Japanese, which are written without blanks: such a letter
 * directly beside another script, a number or a placeholder belongs to another word. */
#define MT_FIRST_IDEOGRAPH 0x2E80

#endif
