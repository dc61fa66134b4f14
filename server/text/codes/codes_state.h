/*
 * What the finders of codes share (codes_*.c): the words, which of their bytes are taken, and the codes
 * found so far. Each finder goes over the words once and claims bytes that nobody has; the order in which
 * mt_codes_find calls them says who comes first.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_CODES_STATE_H
#define MT_SERVER_TEXT_CODES_CODES_STATE_H

#include "server/text/codes/codes_find.h"

#include "base/ascii.h"
#include "server/text/marked.h"
#include "server/text/scripts.h"

#include <string.h>

/* What each byte of the words is. */
enum mt_taken {
    MT_FREE,
    MT_TAKEN_BLANK, /* a blank of the reader's: within a code, or outside of it */
    MT_TAKEN_OWN,   /* words that are covered by a code of the reader's */
    MT_TAKEN_SIGN,  /* no word: points, pairs */
    MT_TAKEN_WORD,  /* stands as a word or number */
    MT_TAKEN_LOOSE, /* the same, but an edge at a text's ends: #tag, @mention */
    MT_TAKEN_EDGE,
    MT_TAKEN_REPEAT,
};

struct mt_found {
    struct mt_code code;
    size_t place; /* its index before they were sorted */
};

/* A run of free bytes without blanks, or of bytes that are taken alike. */
struct mt_codes_item {
    size_t begin, end;
    size_t core_begin, core_end; /* without punctuation at its ends */
    enum mt_taken taken;
    bool has_letter; /* one that can be read */
    bool has_digit;
    bool has_unread; /* letters or signs that cannot be read */
    bool is_respelt; /* a letter can only be read as another one */
    bool is_name;    /* its core begins with a capital */
};

struct mt_codes_finder {
    const char *text;
    size_t length;
    const struct mt_codes_options *options;
    const struct mt_coded_segment *segment;
    unsigned char *taken; /* enum mt_taken of each byte */
    struct mt_found *found;
    size_t n, capacity;
    struct mt_codes_item *items; /* of a line (mt_codes_list_items) */
    size_t n_items, items_capacity;
    struct mt_language_scripts scripts; /* of the source language */
    unsigned char ascii[128];           /* enum mt_reading of those in the text */
    struct mt_error *err;
    enum mt_status status; /* the first failure: nothing is claimed any more */
};

/* ---- claiming ---- */

/* The index of the first of the reader's codes that begins behind text[begin]. */
size_t mt_codes_first_own(const struct mt_coded_segment *segment, size_t begin);

/* Whether all bytes are free. */
bool mt_codes_is_free(const struct mt_codes_finder *finder, size_t begin, size_t end);

/* Adds a code over free bytes, which may hold blanks of the reader's between them, and whole pairs.
 * Returns its index, or MT_NO_MATE where it cannot be. */
size_t mt_codes_claim(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                      size_t end);
static inline bool mt_codes_take(struct mt_codes_finder *finder, enum mt_code_kind kind,
                                 size_t begin, size_t end)
{
    return mt_codes_claim(finder, kind, begin, end) != MT_NO_MATE;
}
/* The same over what was found before, too, which is forgotten. */
size_t mt_codes_claim_over(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                           size_t end);
/* Two codes that are a pair, or none: returns whether. */
bool mt_codes_claim_pair(struct mt_codes_finder *finder, struct mt_range open,
                         struct mt_range close);
/* Makes one of the last two codes and the free bytes between them, if they can be one. */
void mt_codes_join(struct mt_codes_finder *finder);
/* Changes what a code that was claimed is. */
void mt_codes_change(struct mt_codes_finder *finder, size_t found, enum mt_code_kind kind);
void mt_codes_loosen(struct mt_codes_finder *finder, size_t found);

/* Whether the source language is English, or not known. */
bool mt_codes_is_english(const struct mt_codes_finder *finder);

/* ---- characters ---- */

static inline char mt_codes_char(const struct mt_codes_finder *finder, size_t index)
{
    return index < finder->length ? finder->text[index] : '\0';
}

/* The code point at text[index], or before it; a line feed beyond the ends. */
static inline uint32_t mt_codes_at(const struct mt_codes_finder *finder, size_t index)
{
    if (index >= finder->length)
        return '\n';
    unsigned char first = (unsigned char)finder->text[index];
    return first < 0x80 ? first : mt_utf8_decode(finder->text + index);
}

static inline uint32_t mt_codes_before(const struct mt_codes_finder *finder, size_t index)
{
    if (index == 0)
        return '\n';
    unsigned char last = (unsigned char)finder->text[index - 1];
    return last < 0x80 ? last
                       : mt_utf8_decode(finder->text + mt_previous_char(finder->text, index));
}

static inline size_t mt_codes_next(const struct mt_codes_finder *finder, size_t index)
{
    unsigned char first = (unsigned char)finder->text[index];
    return index + (first < 0x80 ? 1 : mt_utf8_length(first));
}

bool mt_codes_is_blank(uint32_t c);  /* or beyond the text's ends */
bool mt_codes_is_letter(uint32_t c); /* or a mark that belongs to one */
bool mt_codes_is_digit(uint32_t c);  /* of ASCII */
/* Punctuation that stands around words in sentences: full stops, commas, quotation marks, brackets. */
bool mt_codes_is_outer(uint32_t c);
/* No letter, digit, blank, nor what stands in sentences. */
bool mt_codes_is_sign(uint32_t c);
/* Looks up what the model reads. */
void mt_codes_learn(struct mt_codes_finder *finder);
/* What the model cannot read, and a person sees: no piece of the vocabulary has it, or it is of a script
 * that the source language is not written in, for which a vocabulary has pieces where the target is. */
bool mt_codes_is_unread(const struct mt_codes_finder *finder, uint32_t c);
/* A letter that can only be read as another one: e for one with an accent. */
bool mt_codes_is_respelt(const struct mt_codes_finder *finder, uint32_t c);
/* Signs that say something about the number beside them: a half, times, a degree, a currency. */
bool mt_codes_joins_numbers(uint32_t c);
/* What nobody sees, and the model cannot read. */
bool mt_codes_is_invisible(const struct mt_codes_finder *finder, uint32_t c);
/* What cannot be read, or one of < > \ ^ | ` =, which models seldom met in a sentence. */
bool mt_codes_is_strange(const struct mt_codes_finder *finder, uint32_t c);

static inline bool mt_codes_is_name_char(char c)
{
    return mt_ascii_is_letter_or_digit(c) || c == '_';
}

static inline bool mt_codes_is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

static inline bool mt_codes_digit_at(const struct mt_codes_finder *finder, size_t at)
{
    char c = mt_codes_char(finder, at);
    return mt_ascii_is_digit(c);
}

/* Whether the bytes are one of the words, the last of which is NULL; or one of them in capitals. */
bool mt_codes_is_among(const char *const *words, const char *bytes, size_t n);
bool mt_codes_is_among_any_case(const char *const *words, const char *bytes, size_t n);

/* Where the line that text[begin] is in ends. */
size_t mt_codes_line_end(const struct mt_codes_finder *finder, size_t begin);
size_t mt_codes_skip_blanks(const struct mt_codes_finder *finder, size_t begin, size_t end);

/* Lists text[begin, end) in finder->items; false without memory. */
bool mt_codes_list_items(struct mt_codes_finder *finder, size_t begin, size_t end);

/* ---- finders, in their order ---- */

void mt_codes_find_lines(struct mt_codes_finder *finder); /* fences, tables, time codes, marks */
/* What is typed into a shell: $ ls -la; sudo apt install nginx; docker run -it debian. Not "git is a tool". */
bool mt_codes_is_command(const struct mt_codes_finder *finder, struct mt_range line);
/* Bytes of the program's name and its verb at text[begin, end): npm install; 0: none. */
size_t mt_codes_match_command(const struct mt_codes_finder *finder, size_t begin, size_t end);
void mt_codes_find_icu(struct mt_codes_finder *finder);    /* {n, plural, ...} */
void mt_codes_find_syntax(struct mt_codes_finder *finder); /* placeholders, tags, code, Markdown */
void mt_codes_find_words(struct mt_codes_finder *finder); /* names, numbers, expressions, scripts */
void mt_codes_find_edges(struct mt_codes_finder *finder); /* separators, signs, dots, quotes */
void mt_codes_find_numbers(struct mt_codes_finder *finder); /* texts that are numbers */
void mt_codes_find_repeats(struct mt_codes_finder *finder);

/* ---- parts of them ---- */

/* Tags and marks that may be one of a pair. */
#define MT_MAX_OPEN_TAGS 64
struct mt_open_tag {
    char family; /* '<', '[' of BBCode, '{' of subtitles, '(' of links, or the mark itself */
    size_t begin, end;
    size_t name_begin, name_end;
    size_t found; /* its code, or MT_NO_MATE: it is only one if it has a mate */
};
struct mt_open_tags {
    struct mt_open_tag items[MT_MAX_OPEN_TAGS];
    size_t n;
};
/* Claims the tag that text[begin] begins with; returns its bytes, 0: none. */
size_t mt_codes_take_tag(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin);

/* Bytes of the name at text[begin, end), a run without blanks and outer punctuation: file, host,
 * identifier, hash; 0: it is a word like others. */
size_t mt_codes_match_name(const char *text, size_t begin, size_t end);

/* Claims bars that part texts: A | B. */
void mt_codes_take_bars(struct mt_codes_finder *finder, size_t begin, size_t end);

/* Where the number ends that text[at] begins: digits, with full stops and commas between them. */
size_t mt_codes_number_end(const struct mt_codes_finder *finder, size_t at, size_t end);

/* Claims a number with what belongs to it; a single one is written as the target language does. */
bool mt_codes_claim_amount(struct mt_codes_finder *finder, size_t begin, size_t end);

/* In the list of items from index i on: claims a number with what belongs to it, or an expression;
 * returns how many items it took. *none_before, zeroed for a line, is the item before which no expression
 * of several begins: "5 - 5 - 5" is looked at once. */
size_t mt_codes_take_number(struct mt_codes_finder *finder, size_t i);
size_t mt_codes_take_expression(struct mt_codes_finder *finder, size_t i, size_t *none_before);

#endif
