/*
 * Which language a text is in: CLD2 behind C. It names any that it knows (80), and prefers those
 * that a server has where a text leaves it open: "Ja" alone is Finnish otherwise.
 *
 * Confidence is 0 to 100, as LibreTranslate's: how often such an answer is right, by what CLD2
 * found and how much text it saw, measured on single sentences of 17 languages (detect.cc); the
 * part of the text that is in the language counts, too. A short word says little: "Hello" is 5.
 * Of a text in several languages the one with the largest part is named.
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
};

struct mt_detection {
    char language[MT_LANGUAGE_BYTES];
    double confidence; /* 0 to 100; 0: undetectable */
    bool is_served;    /* language is one of the languages, as written there */
    bool is_certain;   /* so that a text in a language that is not served may be refused */
};

/*
 * From which confidence an answer is certain, and, where it is a language that is not served, from
 * how many bytes: a word alone is often one of several languages ("Timer", "Presentation"). With
 * English and German served and sentences of Tatoeba, that is said of 0 of 1,063 English and 2 of
 * 2,063 German ones, and of 88 % of the Dutch, 92 % of the French and 85 % of the Spanish ones.
 */
#define MT_DETECT_CERTAIN 60
#define MT_DETECT_LONG_BYTES 16

/* Bytes that are looked at; what is longer is judged by its beginning. */
#define MT_DETECT_MAX_BYTES ((size_t)1 << 16)

/* text is well-formed UTF-8. With is_html, tags do not count. Where nothing is found (no letters)
 * the answer is the first language ("en" where there are none) with confidence 0. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                       const struct mt_detect_languages *languages,
                                       struct mt_detection *out, struct mt_error *err);

/* For who has to translate: where a language that is none of those that there are is not certain,
 * the first of them, with confidence 0. */
void mt_detection_settle(struct mt_detection *detection,
                         const struct mt_detect_languages *languages);

#endif
