/*
 * The plural forms that a language has, by the rules of the Unicode CLDR.
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

/* Returns "zero", "one", ... */
const char *mt_plural_form_name(enum mt_plural_form form);
/* Finds a form by its name. Returns false where name[0, length) is none. */
bool mt_plural_form_of(const char *name, size_t length, enum mt_plural_form *out);

/* Tells which forms a language has; lang is a code as in language.h. An unknown one has only
 * other. */
void mt_plural_forms_of_language(const char *lang, bool out[MT_N_PLURAL_FORMS]);

#endif
