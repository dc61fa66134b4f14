/*
 * Sentence boundaries of a text: Unicode's rules (UAX 29) and CLDR's abbreviations through ICU, and
 * in addition what these do not know: titles and references ("Dr. Smith", "Fig. 3"), initials ("J.
 * Bach"), ordinal numbers in languages that write them with a full stop ("3. Oktober"), and speech
 * that continues in lower case ("Really?" she asked).
 *
 * A line break always ends a sentence. Blanks around a sentence do not belong to it, so that the
 * gaps between the ranges are exactly what has to be written between the sentences again.
 */
#ifndef MT_SERVER_TEXT_SPLITTER_H
#define MT_SERVER_TEXT_SPLITTER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_splitter;

enum mt_split {
    MT_SPLIT_ON,       /* at sentence ends and line breaks */
    MT_SPLIT_OFF,      /* not at all: the whole text is one sentence */
    MT_SPLIT_NEWLINES, /* at line breaks only */
};

/* Parses "on", "off" or "newlines"; returns false for anything else. */
bool mt_split_parse(const char *name, enum mt_split *out);

/* Bytes [begin, end) of a text. */
struct mt_range {
    size_t begin, end;
};

/* Has to be zero-initialised. */
struct mt_ranges {
    struct mt_range *items;
    size_t n, capacity;
};

/*
 * A splitter keeps the rules of every language it has met, because ICU takes half a millisecond to
 * set up one language's. Making a splitter is cheap: a language is set up when the first text needs
 * it.
 */
MT_MUST_CHECK enum mt_status mt_splitter_create(struct mt_splitter **out, struct mt_error *err);

/* Takes NULL. */
void mt_splitter_destroy(struct mt_splitter *splitter);

/*
 * Appends the sentences of text[0, length), well-formed UTF-8, to out, in order; none is empty or
 * blank. language: BCP 47 ("en", "pt-BR"); NULL or malformed: the rules that all languages share.
 * MT_LIMIT: more than max_sentences (0: no limit), or a line too long for ICU (2 GiB). The caller
 * releases *out after a failure, too.
 *
 * Thread-safety: safe.
 */
MT_MUST_CHECK enum mt_status mt_splitter_split(struct mt_splitter *splitter, const char *text,
                                               size_t length, enum mt_split mode,
                                               const char *language, size_t max_sentences,
                                               struct mt_ranges *out, struct mt_error *err);

MT_MUST_CHECK enum mt_status mt_ranges_append(struct mt_ranges *ranges, size_t begin, size_t end,
                                              struct mt_error *err);
void mt_ranges_finish(struct mt_ranges *ranges);

/* Moves the ends of a range inwards past blanks and control characters; the range becomes empty
 * where it has nothing else. */
struct mt_range mt_range_trim(const char *text, size_t begin, size_t end);

/* Whether a character ends a line: LF, VT, FF, CR, NEL and Unicode's line and paragraph
 * separators. */
bool mt_is_line_break(uint32_t code_point);

/* Returns where the character before text[at] begins, at > 0, in well-formed UTF-8. */
size_t mt_previous_char(const char *text, size_t at);

#endif
