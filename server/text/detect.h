/*
 * Detects which language a text is in, with CLD2. It knows 80 languages, and prefers those that a
 * server has where a text may be in several: "Ja" alone would be Finnish otherwise.
 *
 * Confidence is 0 to 100, as LibreTranslate's: how often such an answer is right, given what CLD2
 * found and how much text it saw, measured on single sentences of 17 languages (detect.cc). The
 * part of the text that is in the language counts, too. A short word gives little confidence:
 * "Hello" has 5. Of a text in several languages the one with the largest part is named. A language
 * that is not written in the text's script (scripts.h) is never named.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_DETECT_H
#define MT_SERVER_TEXT_DETECT_H

#include "base/status.h"
#include "server/text/language.h"

#include <stdbool.h>

/* Languages to choose from. The list may be empty. */
#define MT_DETECT_MAX_LANGUAGES 1024
struct mt_detect_languages {
    const char *codes[MT_DETECT_MAX_LANGUAGES]; /* normalised (language.h) */
    size_t n;                                   /* 0: all languages that CLD2 knows */
    bool has_usual; /* codes[0] is assumed where the text does not show another language */
};

struct mt_detection {
    char language[MT_LANGUAGE_BYTES];
    double confidence; /* 0 to 100; 0: not detectable */
    bool is_served;    /* the detected language is in the list, and spelled as there */
    bool is_certain;   /* certain enough to refuse a text in a language that is not served */
    /* the text has one word at most, or two with little confidence, and the list has a usual
     * language */
    bool is_open;
    const char *first; /* first language of the list with such letters; borrowed */
};

/*
 * The confidence from which on an answer is certain. Where the language is not served, the text
 * also needs so many bytes or words of two letters, because a single word is often one of several
 * languages ("Timer", "Presentation"). With English and German served this is wrong for 0 of 2,429
 * English and 0 of 1,063 German sentences of Tatoeba, and for 62 of 20,000 English strings of
 * interfaces. Two words need more confidence: that is wrong for 8 of 2,995 English pairs of words
 * of interfaces, most of them names, and holds for half of the German pairs ("Guten Morgen"). A
 * text in a script that no served language is written in is certain, too, except in Latin letters,
 * which texts of any language have.
 */
#define MT_DETECT_CERTAIN 60
#define MT_DETECT_LONG_BYTES 16
#define MT_DETECT_LONG_WORDS 3
#define MT_DETECT_PAIR_CERTAIN 84
/* Two words with less confidence are in the usual language. "Help me" is German otherwise, as 4 % of
 * 3,000 English pairs of Tatoeba and interfaces are German, French or Japanese; of as many German
 * pairs 6 % have so little and are right. */
#define MT_DETECT_PAIR_OPEN 30

/* Most bytes that are looked at: the beginning of a text is enough. */
#define MT_DETECT_MAX_BYTES ((size_t)1 << 16)

/* Makes `code` the usual language, where it is among the first n. */
void mt_detect_prefer(struct mt_detect_languages *languages, size_t n, const char *code);

/* text is well-formed UTF-8. With is_html, tags do not count. Where nothing is found (no letters),
 * the answer is the first language ("en" where there are none) with confidence 0. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                       const struct mt_detect_languages *languages,
                                       struct mt_detection *out, struct mt_error *err);

/* Finds the language of a page from the languages of its texts: the one with at least half of the
 * bytes, or "". {0} at first. */
struct mt_detect_page {
    char language[MT_LANGUAGE_BYTES];
    size_t n_bytes; /* by how many bytes the language leads */
};
void mt_detect_page_add(struct mt_detect_page *page, const struct mt_detection *detection,
                        size_t length);

/* Decides which language to translate from. An answer that is not certain becomes the first
 * language with confidence 0, unless it is one of the languages and the text is more than an open
 * word. So "Delete" is English and not Norwegian: with English and German served, this is right for
 * 99.8 % of 5,855 English words of interfaces, and without it for 79 %. */
void mt_detection_decide(struct mt_detection *detection);

#endif
