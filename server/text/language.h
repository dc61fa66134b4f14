/*
 * Language codes and names. Clients write codes in many ways (en, EN, en-US, en_us, zh, zh-Hans, pb
 * for pt-BR); models say en, eng or nothing. All are first brought to one form: BCP 47, with
 * LibreTranslate's short forms resolved (pb is pt-BR, zh is zh-Hans, zt is zh-Hant).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LANGUAGE_H
#define MT_SERVER_TEXT_LANGUAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define MT_LANGUAGE_BYTES 32
#define MT_LANGUAGE_NAME_BYTES 96

/* MT_INVALID where code is not a language tag, MT_MEMORY where ICU has no memory to find out; out
 * is "" then. */
MT_MUST_CHECK enum mt_status mt_language_parse(const char *code, char out[MT_LANGUAGE_BYTES],
                                               struct mt_error *err);

/* Does the same as mt_language_parse, but returns whether it succeeded. */
bool mt_language_normalise(const char *code, char out[MT_LANGUAGE_BYTES]);

/* Writes the language without its region, by which glossaries and translation memories are kept:
 * "pt" for pt-BR, but zh-Hant. Returns false where the language has no name. */
bool mt_language_without_region(const char *code, char out[MT_LANGUAGE_BYTES]);

/* Brings a language code of a model of many languages ("eng_Latn", "en_XX", "zho_Hans", "no") to
 * our form ("en", "en", "zh-Hans", "nb"), without a script or region that is the usual one. Returns
 * false where it is no code. */
bool mt_language_of_model(const char *code, char out[MT_LANGUAGE_BYTES]);

/* Whether a normalised code that was asked for is served by one that is offered: the language is
 * the same, and script and region do not differ where both have one (en-US by en, pt by pt-BR,
 * zh-TW by zh-Hant; not pt-PT by pt-BR, nor zh-Hans by zh-Hant). */
bool mt_language_matches(const char *asked, const char *offered);

/* A language as documents name it: a normalised code with the region where it is spoken most
 * (de-DE, zh-TW), and the direction in which it is written. The function returns false where the
 * code is none. */
struct mt_written_language {
    char tag[MT_LANGUAGE_BYTES];
    bool is_rtl; /* written from right to left */
    bool is_east_asian;
};
bool mt_language_written(const char *code, struct mt_written_language *out);

/* Writes the English name: "German", "Chinese (Simplified)"; the code itself where there is no
 * name. */
void mt_language_name(const char *code, char out[MT_LANGUAGE_NAME_BYTES]);

#endif
