/*
 * Text that each language writes in its own way and that needs no model: a number alone, quotation
 * marks (from CLDR through ICU).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LOCALISE_H
#define MT_SERVER_TEXT_LOCALISE_H

#include "server/text/codes/coded.h"

struct mt_localising {
    const char *source_lang, *target_lang; /* BCP 47; "": unknown */
};

/* Appends the words of a code of this form as the target language writes them; where that is not
 * known, as they are. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_localise(const struct mt_localising *languages,
                                         enum mt_code_form form, const char *words, size_t length,
                                         struct mt_text *out, struct mt_error *err);

#endif
