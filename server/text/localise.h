/*
 * What is written in each language's own way and needs no model: a bare number, quotation marks
 * (CLDR by way of ICU).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LOCALISE_H
#define MT_SERVER_TEXT_LOCALISE_H

#include "server/text/codes/coded.h"

struct mt_localising {
    const char *source_lang, *target_lang; /* BCP 47; "": not known */
};

/* Appends words that are covered by a code of this form as the target language writes them; as they
 * are where that is not known. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_localise(const struct mt_localising *languages,
                                         enum mt_code_form form, const char *words, size_t length,
                                         struct mt_text *out, struct mt_error *err);

#endif
