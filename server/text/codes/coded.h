/*
 * A text as words and codes. A reader takes the source apart into segments, each of which is
 * translated as one text, and what stands between them. The words are plain UTF-8 as a person sees
 * them; the codes are what is no word but belongs to them: tags, line breaks, placeholders, signs
 * that the model cannot read. Each code has its place in the words, and is copied, never translated.
 *
 *   source   <p>Press <b>OK</b> &amp; wait, {name}!</p>
 *   segment  source[3, 46)
 *   words    Press OK & wait, {name}!
 *   codes    OPEN "<b>" before OK, CLOSE "</b>" behind it, WORD over {name}
 *
 * Readers make the codes of their formats (plain text has none); codes_find.h adds those that stand
 * in the words themselves.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_CODED_H
#define MT_SERVER_TEXT_CODES_CODED_H

#include "base/text.h"
#include "server/text/splitter.h"

enum mt_code_kind {
    MT_CODE_OPEN,   /* begins a pair around words; pairs nest */
    MT_CODE_CLOSE,  /* ends it */
    MT_CODE_POINT,  /* stands between words and is none */
    MT_CODE_GAP,    /* stands in the place of the blank that it covers */
    MT_CODE_BREAK,  /* a line break; covers the line feed that the words have for it */
    MT_CODE_WORD,   /* stands in a sentence as a word does: the model sees a name for it */
    MT_CODE_NUMBER, /* the same, as a number does */
    MT_CODE_EDGE,   /* ends the text before it and begins another */
    MT_CODE_TERM,   /* words whose translation is given (terms.h) */
    MT_CODE_REPEAT, /* the word that it covers was written before: the model sees it once, and its
                       translation is written once more */
};

/* How a code that covers words is written. */
enum mt_code_form {
    MT_CODE_AS_IT_IS,
    MT_CODE_LOCAL_NUMBER,  /* a bare number, in the target language's notation */
    MT_CODE_OPENING_QUOTE, /* the target language's quotation marks */
    MT_CODE_CLOSING_QUOTE,
};

#define MT_NO_MATE ((size_t)-1)

struct mt_code {
    enum mt_code_kind kind;
    enum mt_code_form form;
    struct mt_range at;    /* bytes of the words that it covers; empty: it stands between them */
    struct mt_range bytes; /* of the source: how it is written. Empty: as the words it covers */
    size_t mate;           /* of a pair: index of the other one; else MT_NO_MATE */
    size_t term;           /* MT_CODE_TERM: its number */
};

/*
 * Codes are in the order of at.begin, and of the source where that is equal. Two overlap only where
 * one lies within the other ("{na<b>me</b>}"): that comes first, and those within are written with
 * it. Both codes of a pair are then within it, or none.
 */
struct mt_coded_segment {
    struct mt_range range; /* bytes of the source, which its translation replaces */
    struct mt_text words;
    struct mt_code *codes;
    size_t n, capacity;
    void *own; /* the reader's */
};

struct mt_coded;

/* What a format does to words when it writes them; NULL: nothing. */
typedef void mt_coded_write(const struct mt_coded_segment *segment, const char *bytes,
                            size_t length, struct mt_text *out);

/* Zero-initialise. A reader sets everything; segments are ascending and disjoint. */
struct mt_coded {
    const char *source; /* borrowed; well-formed UTF-8 that ends in NUL */
    size_t length;
    struct mt_coded_segment *segments;
    size_t n, capacity;
    mt_coded_write *write;
    void (*finish_own)(void *own); /* NULL: nothing to free */
};

/* What readers need to know. */
struct mt_coded_options {
    size_t max_tags;                 /* of HTML; MT_LIMIT above */
    const char *const *ignored_tags; /* elements that are left alone besides; HTML's in any case */
    size_t n_ignored_tags;
    /* Of XML: xml_fragment.h. */
    const char *const *splitting_tags, *const *non_splitting_tags;
    size_t n_splitting_tags, n_non_splitting_tags;
    bool ignores_outline;
};

/* A format. *out is zeroed before, and the caller's to finish on failure too. */
typedef enum mt_status mt_coded_reader(const char *source, size_t length,
                                       const struct mt_coded_options *options, struct mt_coded *out,
                                       struct mt_error *err);

/* Plain text: one segment without codes. */
mt_coded_reader mt_read_plain;
/* HTML (html_reader.h). */
mt_coded_reader mt_read_html;
/* XML (xml_fragment.h). */
mt_coded_reader mt_read_xml;
/* Text of one subtitle without line feeds (cue_tags.h). MT_LIMIT: more than MT_MAX_CUE_TAGS. */
mt_coded_reader mt_read_srt, mt_read_vtt;

/* The write of formats in which & < > are entities. */
mt_coded_write mt_coded_write_markup;

/* Takes a zeroed one. */
void mt_coded_finish(struct mt_coded *coded);

/* ---- for readers ---- */

/* *out is valid until the next one is added. */
MT_MUST_CHECK enum mt_status mt_coded_add_segment(struct mt_coded *coded, size_t begin,
                                                  struct mt_coded_segment **out,
                                                  struct mt_error *err);
/* Behind all others. */
MT_MUST_CHECK enum mt_status mt_coded_add(struct mt_coded_segment *segment,
                                          const struct mt_code *code, struct mt_error *err);

/* Merges codes that cover words of the segment, in their order, with those that it has. A pair among
 * them has its mates by their index in found. */
MT_MUST_CHECK enum mt_status mt_coded_merge(struct mt_coded_segment *segment,
                                            const struct mt_code *found, size_t n,
                                            struct mt_error *err);

/* ---- writing ---- */

/* Appends words[range) as the format writes them, with the codes in it as they are, from code index
 * *code on, which is moved behind them. */
void mt_coded_write_range(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                          struct mt_range range, size_t *code, struct mt_text *out);

/* The index of the first code behind one and what is within it. */
size_t mt_coded_behind(const struct mt_coded_segment *segment, size_t code);

/* Appends one code, with what is within it. */
void mt_coded_write_code(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                         size_t code, struct mt_text *out);

/* Whether out[from, its end) is what the segment's words and codes give when nothing is translated;
 * then the segment's own bytes are put in its place, which are exact. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_coded_restore(const struct mt_coded *coded,
                                              const struct mt_coded_segment *segment, size_t from,
                                              struct mt_text *out, struct mt_error *err);

#endif
