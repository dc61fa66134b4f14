#include "server/text/substitutes.h"

#include <string.h>

/* The first of these are names that small models copy best, without losing another word: of 40
 * sentences with Maria, in three languages, 118 translations have her; with Tom it is 101, and four
 * have lost the noun behind him. */
static const char *const names[] = {"Maria",  "Anna",   "Julia",  "Laura", "Paul",
                                    "Peter",  "Berlin", "Max",    "Bob",   "Ken",
                                    "Boston", "Tom",    "London", "John",  "Mary"};
/* Without 12, 20 and the like, for which a translation may have a word, such as "a dozen". */
static const char *const numbers[] = {"17", "34", "58", "26", "73", "41", "95", "62",
                                      "87", "39", "53", "78", "46", "91", "67"};

static void choose(struct mt_substitute_words *chosen, const char *const *candidates, size_t n,
                   const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (chosen->n < MT_MAX_SUBSTITUTES &&
            (length == 0 || !memmem(text, length, candidates[i], strlen(candidates[i]))))
            chosen->words[chosen->n++] = candidates[i];
    /* a text that has all of these words has enough words for the alignment */
    if (chosen->n == 0)
        chosen->words[chosen->n++] = candidates[0];
}

void mt_substitutes_init(struct mt_substitutes *substitutes, const char *text, size_t length)
{
    *substitutes = (struct mt_substitutes){0};
    choose(&substitutes->names, names, sizeof names / sizeof *names, text, length);
    choose(&substitutes->numbers, numbers, sizeof numbers / sizeof *numbers, text, length);
}

const char *mt_substitutes_next(struct mt_substitutes *substitutes, bool is_number)
{
    struct mt_substitute_words *words = is_number ? &substitutes->numbers : &substitutes->names;
    const char *word = words->words[words->next];
    words->next = (words->next + 1) % words->n;
    return word;
}
