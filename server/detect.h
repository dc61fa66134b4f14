/*
 * Which language a text is in, among those that a server has: CLD2 behind C.
 *
 * Confidence is LibreTranslate's, 0 to 100: the part of the text, in percent, that CLD2 gives to
 * the language; half of it where CLD2 calls its own answer unreliable, or only leans to the
 * language once it is told which ones there are ("Ja" alone is Finnish otherwise). Of a text in
 * several languages the one with the largest part is named.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DETECT_H
#define MT_SERVER_DETECT_H

#include "base/status.h"
#include "server/language.h"

#include <stdbool.h>

/* Languages to choose from; there may be none. */
#define MT_DETECT_MAX_LANGUAGES 1024
struct mt_detect_languages {
    const char *codes[MT_DETECT_MAX_LANGUAGES]; /* normalised (language.h) */
    size_t n;                                   /* 0: all that CLD2 knows */
};

struct mt_detection {
    char language[MT_LANGUAGE_BYTES]; /* one of the languages, as written there */
    double confidence;                /* 0 to 100; 0: undetectable */
};

/* Bytes that are looked at; what is longer is judged by its beginning. */
#define MT_DETECT_MAX_BYTES ((size_t)1 << 16)

/* text is well-formed UTF-8. With is_html, tags do not count. Where nothing is found (no letters, a
 * language that is not among them) the answer is the first language ("en" where there are none)
 * with confidence 0. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                       const struct mt_detect_languages *languages,
                                       struct mt_detection *out, struct mt_error *err);

#endif
