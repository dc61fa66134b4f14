/*
 * A text to be translated, and what was taken out of it so that the model sees plain words: inline
 * elements, line breaks, placeholders, emoji. Each is a mark that says where it stood; placement.h
 * finds where it belongs in the translation.
 *
 *   Click <b>Save</b>, {name}! <img>     ->   text   Click Save, Tom!
 *                                             marks  span "<b>" "</b>" around Save
 *                                                    stand-in "{name}" for Tom
 *                                                    point "<img>" behind the sentence
 *
 * A point that had blanks on both sides took one of them along, so that the model does not see two.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_MARKED_H
#define MT_SERVER_TEXT_MARKED_H

#include "base/text.h"
#include "server/text/splitter.h"

enum mt_mark_kind {
    MT_MARK_SPAN,     /* stands around its words: opening and closing */
    MT_MARK_POINT,    /* stands between words: opening alone, as below */
    MT_MARK_BREAK,    /* a line feed of the text */
    MT_MARK_STAND_IN, /* a word of the text that the opening will replace */
    MT_MARK_TERM,     /* words of the text whose translation is given: what they become, as it is
                         written (opening) and as plain text (closing) */
};

/* Marks of one text: whoever adds them begins another text then, since places are found in time
 * that grows with the square of their number. */
#define MT_MAX_MARKS 256

#define MT_NO_MARK ((size_t)-1)

struct mt_mark {
    enum mt_mark_kind kind;
    size_t begin, end;                /* bytes of text */
    size_t parent;                    /* the span around it, or MT_NO_MARK */
    struct mt_range opening, closing; /* bytes of strings */
    bool took_blank;                  /* point: write a blank before it */
    bool leads;                       /* point: belongs to the word behind it */
    bool is_gap;                      /* point: stands in place of the blank before that word */
    bool had_blank_after;             /* point at the beginning of a line: write one after it */
    bool is_kept;                     /* term: stays as it is, and is never left out */
    size_t term;                      /* term: its number (terms.h) */
    struct mt_range forms;            /* term: what may stand for it (bytes of strings) */
    size_t n_repeats;                 /* span: its translation is written so many times more, */
    struct mt_range separator;        /* each behind this (bytes of strings) */
};

/* Where the text goes on in what it was made of. */
struct mt_anchor {
    size_t text, source;
};

/* Zero-initialise, then mt_marked_init. Marks are in the order in which they begin; a span precedes
 * what is in it. */
struct mt_marked {
    struct mt_text text;
    struct mt_text strings;
    struct mt_mark *marks;
    size_t n, capacity;
    struct mt_anchor *anchors; /* ascending */
    size_t n_anchors, anchors_capacity;
    size_t stand_in_end; /* bytes of text up to the end of the last stand-in; 0: there is none */
    size_t open;         /* the innermost open span, or MT_NO_MARK */
    size_t pending; /* the first mark at the text's end, which nothing follows yet, or MT_NO_MARK */
    enum mt_status status; /* the first failure: nothing is added any more */
};

void mt_marked_init(struct mt_marked *marked);
/* Takes a zeroed one. */
void mt_marked_finish(struct mt_marked *marked);

/* Says that what is added next stands at this place of what the text is made of. Where nobody says so,
 * the two go in step. */
void mt_marked_at(struct mt_marked *marked, size_t source);

/* Text as it is; blanks beside a point may be left out. */
void mt_marked_append(struct mt_marked *marked, const char *bytes, size_t length);

/* Spans nest: close ends the innermost open one. */
void mt_marked_open(struct mt_marked *marked, const char *opening, size_t length);
void mt_marked_close(struct mt_marked *marked, const char *closing, size_t length);
/* The innermost open span stood n times more in the source, each behind the separator. */
void mt_marked_repeat(struct mt_marked *marked, size_t n, const char *separator, size_t length);
void mt_marked_point(struct mt_marked *marked, const char *content, size_t length);
/* Blanks between words of one sentence that must stay as they are: a line break and what is around
 * it. The model sees one blank. */
void mt_marked_gap(struct mt_marked *marked, const char *content, size_t length);
void mt_marked_break(struct mt_marked *marked, const char *content, size_t length);
void mt_marked_stand_in(struct mt_marked *marked, const char *word, const char *content,
                        size_t length);

struct mt_marked_term {
    const char *words, *target,
        *written; /* in the text; what they become; and how that is written */
    size_t n_words, n_target, n_written; /* bytes */
    /* Of several that may stand for them (mt_term_next_form), target the first; n_forms 0: no others. */
    const char *forms;
    size_t n_forms;
    size_t term;
    bool is_kept;
};
void mt_marked_term(struct mt_marked *marked, const struct mt_marked_term *term);

/* Where a range of marked.text stands in what it was made of, with the marks in it. */
struct mt_range mt_marked_find_source(const struct mt_marked *marked, struct mt_range range);

/* MT_OK, or the first failure put into err. */
MT_MUST_CHECK enum mt_status mt_marked_check(const struct mt_marked *marked, struct mt_error *err);

/* Whether there is something to translate: a letter or digit outside stand-ins. */
bool mt_marked_has_words(const struct mt_marked *marked);

/* Whether the marks' places are known without an alignment: at the ends of the text, around all of
 * it, at line feeds. */
bool mt_marked_is_plain(const struct mt_marked *marked);

/* A character that words are made of. */
bool mt_is_word_char(uint32_t code_point);
bool mt_has_word(const char *text, size_t begin, size_t end);

/* From here on come Chinese and Japanese, which go on without a blank: a letter of theirs beside another
 * script, a number or a placeholder is of another word. */
#define MT_FIRST_IDEOGRAPH 0x2E80

#endif
