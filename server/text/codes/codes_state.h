/*
 * What the finders of codes share (codes_*.c): the words, which of their bytes are taken, and the
 * codes found so far. Each finder goes over the words once and claims bytes that no other has
 * claimed, so the order in which mt_codes_find calls them decides which one wins.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_CODES_STATE_H
#define MT_SERVER_TEXT_CODES_CODES_STATE_H

#include "server/text/codes/codes_find.h"

#include "base/ascii.h"
#include "server/text/scripts.h"
#include "server/text/tagged_text.h"

#include <string.h>

/* What each byte of the words belongs to. */
enum mt_taken {
    MT_FREE,
    MT_TAKEN_BLANK, /* a blank of the reader's, within a code or outside */
    MT_TAKEN_OWN,   /* words that are covered by a code of the reader's */
    MT_TAKEN_SIGN,  /* a code that is no word: a point or a pair */
    MT_TAKEN_WORD,  /* a code in the place of a word or number */
    MT_TAKEN_LOOSE, /* the same, but an edge at either end of a text: #tag, @mention */
    MT_TAKEN_EDGE,
    MT_TAKEN_REPEAT,
};

struct mt_found {
    struct mt_code code;
    size_t place; /* its index before they were sorted */
};

/* A run of bytes without blanks that are free, or that are taken for the same. */
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
    struct mt_codes_item *items; /* items of a line (mt_codes_list_items) */
    size_t n_items, items_capacity;
    struct mt_language_scripts scripts; /* of the source language */
    unsigned char ascii[128];           /* enum mt_reading of the characters that the text has */
    struct mt_error *err;
    enum mt_status status; /* the first failure, after which nothing more is claimed */
};

/* ---- claiming ---- */

/* Returns the index of the first of the reader's codes that begins behind text[begin]. */
size_t mt_codes_first_own(const struct mt_coded_segment *segment, size_t begin);

/* Whether all bytes are free. */
bool mt_codes_is_free(const struct mt_codes_finder *finder, size_t begin, size_t end);

/* Adds a code over free bytes. It may include blanks of the reader's, and pairs as a whole. Returns
 * its index, or MT_NO_MATE where these bytes cannot become a code. */
size_t mt_codes_claim(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                      size_t end);
static inline bool mt_codes_take(struct mt_codes_finder *finder, enum mt_code_kind kind,
                                 size_t begin, size_t end)
{
    return mt_codes_claim(finder, kind, begin, end) != MT_NO_MATE;
}
/* Claims as mt_codes_claim does, but also over codes that were found before, which are forgotten.
 * */
size_t mt_codes_claim_over(struct mt_codes_finder *finder, enum mt_code_kind kind, size_t begin,
                           size_t end);
/* Adds two codes that are a pair, or neither. Returns whether it did. */
bool mt_codes_claim_pair(struct mt_codes_finder *finder, struct mt_range open,
                         struct mt_range close);
/* Joins the last two codes and the free bytes between them, if they can be one code. */
void mt_codes_join(struct mt_codes_finder *finder);
/* Changes the kind of a code that was claimed. */
void mt_codes_change(struct mt_codes_finder *finder, size_t found, enum mt_code_kind kind);
void mt_codes_loosen(struct mt_codes_finder *finder, size_t found);

/* Whether the source language is English, or unknown. */
bool mt_codes_is_english(const struct mt_codes_finder *finder);

/* ---- characters ---- */

static inline char mt_codes_char(const struct mt_codes_finder *finder, size_t index)
{
    return index < finder->length ? finder->text[index] : '\0';
}

/* The code point at text[index], or the one before it; a line feed beyond the text's ends. */
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
/* Whether the character is neither a letter, a digit, a blank, nor punctuation of sentences. */
bool mt_codes_is_sign(uint32_t c);
/* Looks up which characters of the text the model can read. */
void mt_codes_learn(struct mt_codes_finder *finder);
/* Whether the model cannot read a visible character: no piece of the vocabulary has it, or its
 * script is not that of the source language. Such a script has pieces where the target language
 * uses it. */
bool mt_codes_is_unread(const struct mt_codes_finder *finder, uint32_t c);
/* Whether the sign belongs to the number beside it: a half, times, a degree, a currency. */
bool mt_codes_joins_numbers(uint32_t c);
/* Whether the character is invisible, and the model cannot read it. */
bool mt_codes_is_invisible(const struct mt_codes_finder *finder, uint32_t c);
/* Whether the character cannot be read, or is one of < > \ ^ | ` =, which are rare in the sentences
 * that models were trained with. */
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

/* Whether the bytes are one of the words, which end with NULL; the second function ignores case. */
bool mt_codes_is_among(const char *const *words, const char *bytes, size_t n);
bool mt_codes_is_among_any_case(const char *const *words, const char *bytes, size_t n);

/* Returns where the line ends that text[begin] is in. */
size_t mt_codes_line_end(const struct mt_codes_finder *finder, size_t begin);
size_t mt_codes_skip_blanks(const struct mt_codes_finder *finder, size_t begin, size_t end);

/* Lists text[begin, end) in finder->items. Returns false where memory is missing. */
bool mt_codes_list_items(struct mt_codes_finder *finder, size_t begin, size_t end);

/* ---- finders, in their order ---- */

void mt_codes_find_lines(struct mt_codes_finder *finder); /* fences, tables, time codes, marks */
/* Whether a program wrote the line, or it is a part of one. It ends like x = 1; f(x); i++; if (x) {
 * or { return x; } (but "file(s);" and "&nbsp;}" do not count), or it begins like Python's
 * def f(x): or like a line in the log of a web server. */
bool mt_codes_is_program(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns where the comment behind a line of a program begins, as in x = 5; // a number; 0: there
 * is none. */
size_t mt_codes_comment_begin(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns the length of the type that a commit's message begins with: feat:, fix(api):, refactor!:.
 */
size_t mt_codes_match_commit(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns the length of what a line of a log begins with: 2024-01-15 10:23:45 INFO, [WARN], Nov 28
 * 21:00:01 host sshd[123]: */
size_t mt_codes_match_log(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns the length of a mark of Markdown's dialects, reStructuredText or Textile: [!NOTE], :::
 * warning, .. note::, h1., *[HTML]: */
/* Return the length of a time, of fields or of a name that a line begins with (codes_labels.c). */
size_t mt_codes_match_hour(const struct mt_codes_finder *finder, const struct mt_range *line);
size_t mt_codes_match_fields(const struct mt_codes_finder *finder, const struct mt_range *line);
size_t mt_codes_match_nick(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Claims how somebody says something, TOM (smiling):, and the marks of a line that is sung. */
void mt_codes_take_labels(struct mt_codes_finder *finder, const struct mt_range *line);
size_t mt_codes_match_mark(const struct mt_codes_finder *finder, const struct mt_range *line);
/* Claims a line that is Markdown's definition of a link, [name]: address "Title", or begins a block
 * with a title, !!! note "Title"; its title is left. */
bool mt_codes_take_definition(struct mt_codes_finder *finder, const struct mt_range *line);
/* Claims the # at the end of a heading. */
void mt_codes_take_closing(struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns where the line begins that ends the front matter, "key: value" between two lines ---;
 * 0: there is none. */
size_t mt_codes_front_matter_end(const struct mt_codes_finder *finder);
/* Claims a line of it, except for the value of a title or description. */
void mt_codes_take_property(struct mt_codes_finder *finder, const struct mt_range *line);
/* Returns n where a blank and more of the line follow its first n bytes, otherwise 0. */
size_t mt_codes_before_blank(const struct mt_codes_finder *finder, const struct mt_range *line,
                             size_t n);
/* Whether the line is typed into a shell: $ ls -la; sudo apt install nginx; docker run -it debian.
 * "git is a tool" is not. */
bool mt_codes_is_command(const struct mt_codes_finder *finder, struct mt_range line);
/* Returns the bytes of a program's name and its verb at text[begin, end), as in npm install; 0:
 * there are none. */
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
    char family; /* '<', '[' of BBCode, '{' of subtitles, '(' of links, or a Markdown mark itself */
    size_t begin, end;
    size_t name_begin, name_end;
    size_t found; /* index of its code; MT_NO_MATE: it becomes one only if its mate is found */
};
struct mt_open_tags {
    struct mt_open_tag items[MT_MAX_OPEN_TAGS];
    size_t n;
};
/* Claims the tag that begins at text[begin] and returns its length; 0: there is none. */
size_t mt_codes_take_tag(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin);

/* Returns the length of the name at text[begin, end), a run without blanks and outer punctuation: a
 * file, host, identifier or hash; 0: it is an ordinary word. */
size_t mt_codes_match_name(const char *text, size_t begin, size_t end);

/* Claims bars that separate texts: A | B. */
void mt_codes_take_bars(struct mt_codes_finder *finder, size_t begin, size_t end);

/* Claims, in a line, the signs that frame it, as in ":: Welcome ::" and "-Save-"; the quotation marks
 * and separators of cells ("Save","Cancel") or of a member in JSON ("title": "Hello"); and, in a text
 * between edges, a quotation mark at one end that has no other. */
void mt_codes_take_frame(struct mt_codes_finder *finder, size_t begin, size_t end);
void mt_codes_take_quoted_cells(struct mt_codes_finder *finder, size_t begin, size_t end);
void mt_codes_take_lone_quote(struct mt_codes_finder *finder, size_t begin, size_t end);
/* Claims [...] and (...) within a text, and the dots of "Save as..." within a sentence. */
bool mt_codes_take_omission(struct mt_codes_finder *finder, size_t begin, size_t stop, size_t end);
/* Claims the brackets around a word or two at an end of a title: "Hello (world)". */
void mt_codes_take_remark(struct mt_codes_finder *finder, size_t begin, size_t end);
/* Claims the marks of \"words\" as a pair and returns where the first one ends; 0: there is none. */
size_t mt_codes_take_escaped_quotes(struct mt_codes_finder *finder, size_t begin);

/* Whether "Mr. " or the like is before text[at], so that the blank there stands for a name. */
bool mt_codes_is_addressed(const struct mt_codes_finder *finder, size_t at);
/* Claims, in a line, signs that touch words (codes_glued.c). */
void mt_codes_take_glued(struct mt_codes_finder *finder, size_t begin, size_t end);
/* Whether the sentence is about the signs text[begin, end): "the > sign". */
bool mt_codes_is_mentioned(const struct mt_codes_finder *finder, size_t begin, size_t end);

/* Returns where the number that begins at text[at] ends: digits, with full stops and commas between
 * them. */
size_t mt_codes_number_end(const struct mt_codes_finder *finder, size_t at, size_t end);

/* Claims a number with its signs and units. A number alone is written in the target language's
 * way. */
bool mt_codes_claim_amount(struct mt_codes_finder *finder, size_t begin, size_t end);

/* Returns the item, or one that is an edge where there is none. */
const struct mt_codes_item *mt_codes_item_at(const struct mt_codes_finder *finder, size_t i);
/* Whether the item is a free number, apart from punctuation around it. */
bool mt_codes_is_number(const struct mt_codes_finder *finder, const struct mt_codes_item *item);
bool mt_codes_is_digits(const struct mt_codes_finder *finder, size_t begin, size_t end);
/* Whether `next` follows `item` after one blank, without punctuation in between. */
bool mt_codes_follows(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                      const struct mt_codes_item *next);
/* Whether the item is the code of a currency that is used today, such as USD. */
bool mt_codes_is_currency(const struct mt_codes_finder *finder, const struct mt_codes_item *item);
/* Whether the item is one of the words, apart from punctuation around it. */
bool mt_codes_item_is(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                      const char *const *words);
/* Returns with how many pieces the vocabulary spells the text; 1: it has a piece for the whole. */
size_t mt_codes_count_pieces(struct mt_codes_finder *finder, const char *text, size_t length);

/* They look at the list of items from index i on, claim an amount with its unit, a number with its
 * signs, or an expression, and return how many items they took. *none_before, which is zero at the beginning of
 * a line, is the item before which no expression of several items begins, so that "5 - 5 - 5" is
 * searched only once. */
size_t mt_codes_take_measure(struct mt_codes_finder *finder, size_t i);
size_t mt_codes_take_number(struct mt_codes_finder *finder, size_t i);
size_t mt_codes_take_expression(struct mt_codes_finder *finder, size_t i, size_t *none_before);

#endif
