/*
 * Language codes and names. Clients write codes as they please (en, EN, en-US, en_us, zh, zh-Hans,
 * pb for pt-BR); models say en, eng or nothing. All are brought to one form first: BCP 47, with
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

/* MT_INVALID for what is no language tag, MT_MEMORY where ICU has none to tell; out is "" then. */
MT_MUST_CHECK enum mt_status mt_language_parse(const char *code, char out[MT_LANGUAGE_BYTES],
                                               struct mt_error *err);

/* Whether mt_language_parse could. */
bool mt_language_normalise(const char *code, char out[MT_LANGUAGE_BYTES]);

/* A language that has a name, without its region, as glossaries and translation memories are kept by:
 * "pt" for pt-BR, but zh-Hant. False: there is no such language. */
bool mt_language_without_region(const char *code, char out[MT_LANGUAGE_BYTES]);

/* What a model of many languages calls one ("eng_Latn", "en_XX", "zho_Hans", "no"), in our form
 * ("en", "en", "zh-Hans", "nb"): without the script or the region that the language has anyhow.
 * False for what is no code. */
bool mt_language_of_model(const char *code, char out[MT_LANGUAGE_BYTES]);

/* Whether a normalised code that was asked for is served by one that is offered: the same language,
 * and no difference that both name (en-US by en, pt by pt-BR, zh-TW by zh-Hant; not pt-PT by pt-BR,
 * nor zh-Hans by zh-Hant). */
bool mt_language_matches(const char *asked, const char *offered);

/* What documents call a language: a normalised code with the region where it is spoken most (de-DE, zh-TW);
 * and how it is written. False for what is no code. */
struct mt_written_language {
    char tag[MT_LANGUAGE_BYTES];
    bool is_rtl; /* from the right to the left */
    bool is_east_asian;
};
bool mt_language_written(const char *code, struct mt_written_language *out);

/* In English: "German", "Chinese (Simplified)"; the code itself where there is no name. */
void mt_language_name(const char *code, char out[MT_LANGUAGE_NAME_BYTES]);

#endif
