/*
 * A text as words and codes. A reader takes the source apart into segments, each of which is
 * translated as one text, and what is between them. The words are plain UTF-8 as people see them.
 * The codes are all that belongs to the words but is none: tags, line breaks, placeholders, signs
 * that the model cannot read. Each code has its place in the words, and is copied, never
 * translated.
 *
 *   source   <p>Press <b>OK</b> &amp; wait, {name}!</p>
 *   segment  source[3, 46)
 *   words    Press OK & wait, {name}!
 *   codes    OPEN "<b>" before OK, CLOSE "</b>" behind it, WORD over {name}
 *
 * Readers make the codes of their formats (plain text has none); codes_find.h adds codes that are
 * in the words themselves.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_CODED_H
#define MT_SERVER_TEXT_CODES_CODED_H

#include "base/text.h"
#include "server/text/splitter.h"

enum mt_code_kind {
    MT_CODE_OPEN,   /* begins a pair around words; pairs are nested */
    MT_CODE_CLOSE,  /* ends the pair */
    MT_CODE_POINT,  /* is between words, without being one */
    MT_CODE_GAP,    /* replaces the blank that it covers */
    MT_CODE_BREAK,  /* a line break; covers the line feed that the words have for it */
    MT_CODE_WORD,   /* is in the place of a word: the model sees a name instead */
    MT_CODE_NUMBER, /* is in the place of a number: the model sees a number instead */
    MT_CODE_EDGE,   /* ends the text before it and begins another */
    MT_CODE_TERM,   /* words whose translation is given (terms.h) */
    /* covers a word that repeats the one before it: the model sees that once, and its translation
     * is written once more */
    MT_CODE_REPEAT,
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
    struct mt_range at; /* bytes of the words that it covers; empty: it is between words */
    /* bytes of the source that it is written as; empty: the words that it covers */
    struct mt_range bytes;
    size_t mate; /* index of a pair's other code, or MT_NO_MATE */
    size_t term; /* MT_CODE_TERM: its number */
};

/*
 * Codes are ordered by at.begin and, where that is equal, by their place in the source. Two codes
 * overlap only where one is inside the other ("{na<b>me</b>}"): the outer one comes first, and the
 * inner ones are written with it. Both codes of a pair are inside it, or neither is.
 */
struct mt_coded_segment {
    struct mt_range range; /* bytes of the source, which its translation replaces */
    struct mt_text words;
    struct mt_code *codes;
    size_t n, capacity;
    void *own; /* belongs to the reader */
};

struct mt_coded;

/* How a format writes words; NULL: as they are. */
typedef void mt_coded_write(const struct mt_coded_segment *segment, const char *bytes,
                            size_t length, struct mt_text *out);

/* Has to be zero-initialised. A reader sets all members; segments are ascending and disjoint. */
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
    size_t max_tags; /* in HTML; MT_LIMIT where there are more */
    /* further elements that are not translated, besides HTML's own */
    const char *const *ignored_tags;
    size_t n_ignored_tags;
    /* For XML: xml_fragment.h. */
    const char *const *splitting_tags, *const *non_splitting_tags;
    size_t n_splitting_tags, n_non_splitting_tags;
    bool ignores_outline;
};

/* Reads a format. *out is zeroed before, and the caller finishes it after a failure, too. */
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

/* How formats write words in which & < > are entities. */
mt_coded_write mt_coded_write_markup;

/* A zeroed one is allowed. */
void mt_coded_finish(struct mt_coded *coded);

/* ---- for readers ---- */

/* Adds a segment; *out is valid until the next one is added. */
MT_MUST_CHECK enum mt_status mt_coded_add_segment(struct mt_coded *coded, size_t begin,
                                                  struct mt_coded_segment **out,
                                                  struct mt_error *err);
/* Adds a code behind all others. */
MT_MUST_CHECK enum mt_status mt_coded_add(struct mt_coded_segment *segment,
                                          const struct mt_code *code, struct mt_error *err);

/* Merges codes that cover words of the segment, in their order, with the segment's codes. In a pair
 * among them each has the other one's index in found as its mate. */
MT_MUST_CHECK enum mt_status mt_coded_merge(struct mt_coded_segment *segment,
                                            const struct mt_code *found, size_t n,
                                            struct mt_error *err);

/* ---- writing ---- */

/* Appends words[range) as the format writes them, with the codes in it. *code is the index of the
 * first of these, and is moved behind them. */
void mt_coded_write_range(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                          struct mt_range range, size_t *code, struct mt_text *out);

/* Returns the index of the first code behind a code and those inside it. */
size_t mt_coded_behind(const struct mt_coded_segment *segment, size_t code);

/* Appends one code, with those inside it. */
void mt_coded_write_code(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                         size_t code, struct mt_text *out);

/* If out[from, its end) equals the segment's rendering without any translation, replaces it by the
 * segment's own bytes, which are exact. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_coded_restore(const struct mt_coded *coded,
                                              const struct mt_coded_segment *segment, size_t from,
                                              struct mt_text *out, struct mt_error *err);

#endif
