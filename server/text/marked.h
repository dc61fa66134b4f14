/*
 * A text to be translated, and what was taken out of it so that the model sees plain words: inline
 * elements, line breaks, placeholders, emoji. Each of these is a mark with the place where it was;
 * placement.h finds its place in the translation.
 *
 *   Click <b>Save</b>, {name}! <img>     ->   text   Click Save, Tom!
 *                                             marks  span "<b>" "</b>" around Save
 *                                                    stand-in "{name}" for Tom
 *                                                    point "<img>" behind the sentence
 *
 * A point with blanks on both sides takes one of them along, so that the model does not see two.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_MARKED_H
#define MT_SERVER_TEXT_MARKED_H

#include "base/text.h"
#include "server/text/splitter.h"

enum mt_mark_kind {
    MT_MARK_SPAN,     /* is around its words, with opening and closing */
    MT_MARK_POINT,    /* is between words and has only an opening, like those below */
    MT_MARK_BREAK,    /* a line feed of the text */
    MT_MARK_STAND_IN, /* a word of the text that the opening replaces */
    /* words of the text whose translation is given: as it is written (opening) and as plain text
     * (closing) */
    MT_MARK_TERM,
};

/* Most marks of one text. Who adds more has to begin another text, because finding places takes
 * time in proportion to the square of their number. */
#define MT_MAX_MARKS 256

#define MT_NO_MARK ((size_t)-1)

struct mt_mark {
    enum mt_mark_kind kind;
    size_t begin, end;                /* bytes of text */
    size_t parent;                    /* the span around it, or MT_NO_MARK */
    struct mt_range opening, closing; /* bytes of strings */
    bool took_blank;                  /* point: a blank has to be written before it */
    bool leads;                       /* point: it belongs to the word behind it */
    bool is_gap;                      /* point: it replaces the blank before that word */
    bool had_blank_after;             /* point at the beginning of a line: a blank follows it */
    bool is_kept;                     /* term: it stays as it is, and is never left out */
    size_t term;                      /* term: its number (terms.h) */
    struct mt_range forms;            /* term: the words that may stand for it (bytes of strings) */
    size_t n_repeats;                 /* span: how many more times its translation is written, */
    struct mt_range separator;        /* with this before each (bytes of strings) */
};

/* A position of the text and the same position in the source. */
struct mt_anchor {
    size_t text, source;
};

/* Has to be zero-initialised, then mt_marked_init. Marks are in the order in which they begin; a
 * span comes before its contents. */
struct mt_marked {
    struct mt_text text;
    struct mt_text strings;
    struct mt_mark *marks;
    size_t n, capacity;
    struct mt_anchor *anchors; /* ascending */
    size_t n_anchors, anchors_capacity;
    size_t stand_in_end; /* where the last stand-in ends in text; 0: there is none */
    size_t open;         /* the innermost open span, or MT_NO_MARK */
    /* the first mark at the text's end that nothing follows yet, or MT_NO_MARK */
    size_t pending;
    enum mt_status status; /* the first failure; from then on nothing is added */
};

void mt_marked_init(struct mt_marked *marked);
/* A zeroed one is allowed. */
void mt_marked_finish(struct mt_marked *marked);

/* Says where in the source the text is that is added next. Without that, both advance by the same
 * number of bytes. */
void mt_marked_at(struct mt_marked *marked, size_t source);

/* Appends text; blanks beside a point may be left out. */
void mt_marked_append(struct mt_marked *marked, const char *bytes, size_t length);

/* Spans are nested: close ends the innermost open one. */
void mt_marked_open(struct mt_marked *marked, const char *opening, size_t length);
void mt_marked_close(struct mt_marked *marked, const char *closing, size_t length);
/* Says that the source repeated the innermost open span n times, each behind the separator. */
void mt_marked_repeat(struct mt_marked *marked, size_t n, const char *separator, size_t length);
void mt_marked_point(struct mt_marked *marked, const char *content, size_t length);
/* Adds blanks between words of a sentence that must stay as they are, such as a line break and what
 * is around it. The model sees one blank. */
void mt_marked_gap(struct mt_marked *marked, const char *content, size_t length);
void mt_marked_break(struct mt_marked *marked, const char *content, size_t length);
void mt_marked_stand_in(struct mt_marked *marked, const char *word, const char *content,
                        size_t length);

struct mt_marked_term {
    const char *words, *target,
        *written; /* the words in the text, their translation, and how that is written */
    size_t n_words, n_target, n_written; /* bytes */
    /* Where several forms may stand for them (mt_term_next_form), all of these; target is the
     * first. n_forms 0: there is only target. */
    const char *forms;
    size_t n_forms;
    size_t term;
    bool is_kept;
};
void mt_marked_term(struct mt_marked *marked, const struct mt_marked_term *term);

/* Returns where a range of marked.text is in the source, with the marks in it. */
struct mt_range mt_marked_find_source(const struct mt_marked *marked, struct mt_range range);

/* Returns MT_OK, or the first failure, which is put into err. */
MT_MUST_CHECK enum mt_status mt_marked_check(const struct mt_marked *marked, struct mt_error *err);

/* Whether the text has something to translate: a letter or digit outside of stand-ins. */
bool mt_marked_has_words(const struct mt_marked *marked);

/* Whether the marks' places are known without an alignment: at the ends of the text, around all of
 * it, or at line feeds. */
bool mt_marked_is_plain(const struct mt_marked *marked);

/* Whether words are made of such a character. */
bool mt_is_word_char(uint32_t code_point);
bool mt_has_word(const char *text, size_t begin, size_t end);

/* The first code point of Chinese and Japanese, which are written without blanks: such a letter
 * directly beside another script, a number or a placeholder belongs to another word. */
#define MT_FIRST_IDEOGRAPH 0x2E80

#endif
