#include "server/documents/plural_forms.h"

#include <string.h>

#include <unicode/uenum.h>
#include <unicode/upluralrules.h>

static const char *const names[MT_N_PLURAL_FORMS] = {"zero", "one", "two", "few", "many", "other"};

const char *mt_plural_form_name(enum mt_plural_form form)
{
    return names[form];
}

bool mt_plural_form_of(const char *name, size_t length, enum mt_plural_form *out)
{
    for (size_t i = 0; i < MT_N_PLURAL_FORMS; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *out = (enum mt_plural_form)i;
            return true;
        }
    return false;
}

void mt_plural_forms_of_language(const char *lang, bool out[MT_N_PLURAL_FORMS])
{
    UErrorCode code = U_ZERO_ERROR;
    UPluralRules *rules = uplrules_open(lang, &code);
    UEnumeration *keywords = rules ? uplrules_getKeywords(rules, &code) : NULL;
    int32_t length = 0;
    for (size_t i = 0; i < MT_N_PLURAL_FORMS; i++)
        out[i] = i == MT_PLURAL_OTHER;
    while (keywords && U_SUCCESS(code)) {
        enum mt_plural_form form;
        const char *name = uenum_next(keywords, &length, &code);
        if (!name)
            break;
        if (mt_plural_form_of(name, (size_t)length, &form))
            out[form] = true;
    }
    uenum_close(keywords);
    uplrules_close(rules);
}
