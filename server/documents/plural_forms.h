/*
 * The forms that a language has for numbers, by the Unicode CLDR's rules.
 *
 *   en   one other            ja   other
 *   pl   one few many other   ar   zero one two few many other
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_PLURAL_FORMS_H
#define MT_SERVER_DOCUMENTS_PLURAL_FORMS_H

#include <stdbool.h>
#include <stddef.h>

enum mt_plural_form {
    MT_PLURAL_ZERO,
    MT_PLURAL_ONE,
    MT_PLURAL_TWO,
    MT_PLURAL_FEW,
    MT_PLURAL_MANY,
    MT_PLURAL_OTHER,
    MT_N_PLURAL_FORMS
};

/* "zero", "one", ... */
const char *mt_plural_form_name(enum mt_plural_form form);
/* False: name[0, length) is none of them. */
bool mt_plural_form_of(const char *name, size_t length, enum mt_plural_form *out);

/* Which forms a language has: a code as language.h gives it. Of one that is not known: other alone. */
void mt_plural_forms_of_language(const char *lang, bool out[MT_N_PLURAL_FORMS]);

#endif
