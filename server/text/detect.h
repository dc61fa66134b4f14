/*
 * Which language a text is in: CLD2 behind C. It names any that it knows (80), and prefers those
 * that a server has where a text leaves it open: "Ja" alone is Finnish otherwise.
 *
 * Confidence is 0 to 100, as LibreTranslate's: how often such an answer is right, by what CLD2
 * found and how much text it saw, measured on single sentences of 17 languages (detect.cc); the
 * part of the text that is in the language counts, too. A short word says little: "Hello" is 5.
 * Of a text in several languages the one with the largest part is named. A language that is not
 * written in the text's script (scripts.h) is never named.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_DETECT_H
#define MT_SERVER_TEXT_DETECT_H

#include "base/status.h"
#include "server/text/language.h"

#include <stdbool.h>

/* Languages to choose from; there may be none. */
#define MT_DETECT_MAX_LANGUAGES 1024
struct mt_detect_languages {
    const char *codes[MT_DETECT_MAX_LANGUAGES]; /* normalised (language.h) */
    size_t n;                                   /* 0: all that CLD2 knows */
    bool has_usual; /* codes[0] is what texts are in, as long as nothing says otherwise */
};

struct mt_detection {
    char language[MT_LANGUAGE_BYTES];
    double confidence; /* 0 to 100; 0: undetectable */
    bool is_served;    /* language is one of the languages, as written there */
    bool is_certain;   /* so that a text in a language that is not served may be refused */
    bool is_open;      /* one word at most, and the languages have a usual one */
    const char *first; /* the first of the languages that the letters may be for; borrowed */
};

/*
 * From which confidence an answer is certain, and, where it is a language that is not served, from
 * how many bytes or words of two letters: a word alone is often one of several languages ("Timer",
 * "Presentation"). With English and German served and sentences of Tatoeba, that is said of 0 of
 * 2,429 English and 0 of 1,063 German ones, and of 62 of 20,000 English strings of interfaces. Two
 * words have to be more certain: that is said of 8 of 2,995 English pairs of interfaces, most of them
 * names, and of half of the German ones ("Guten Morgen"). What no served language is written in is certain, too, unless it is in Latin letters, which stand in
 * texts of any language.
 */
#define MT_DETECT_CERTAIN 60
#define MT_DETECT_LONG_BYTES 16
#define MT_DETECT_LONG_WORDS 3
#define MT_DETECT_PAIR_CERTAIN 84

/* Bytes that are looked at; what is longer is judged by its beginning. */
#define MT_DETECT_MAX_BYTES ((size_t)1 << 16)

/* Makes one of the first n languages the usual one, where it is among them. */
void mt_detect_prefer(struct mt_detect_languages *languages, size_t n, const char *code);

/* text is well-formed UTF-8. With is_html, tags do not count. Where nothing is found (no letters)
 * the answer is the first language ("en" where there are none) with confidence 0. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                       const struct mt_detect_languages *languages,
                                       struct mt_detection *out, struct mt_error *err);

/* The language that a page is in, "" where nothing of it is certain, by its texts: that of most
 * bytes, where one language has half of them. Begins as {0}. */
struct mt_detect_page {
    char language[MT_LANGUAGE_BYTES];
    size_t n_bytes; /* by which it is ahead */
};
void mt_detect_page_add(struct mt_detect_page *page, const struct mt_detection *detection,
                        size_t length);

/* For who has to translate: where the answer is not certain, and is none of the languages or of a
 * text that is open, the first language with confidence 0. "Delete" is English then, and not
 * Norwegian: of 5,855 English words of interfaces 99.8 % are with English and German served, and 79 %
 * without it. */
void mt_detection_settle(struct mt_detection *detection);

#endif
