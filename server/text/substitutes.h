/*
 * Words that the model sees in the place of placeholders (placeholders.h), because models copy
 * them: a number for a placeholder that counts (%d, {count}), else a first name.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_SUBSTITUTES_H
#define MT_SERVER_TEXT_SUBSTITUTES_H

#include <stdbool.h>
#include <stddef.h>

/* They are used in turn. */
#define MT_MAX_SUBSTITUTES 8
struct mt_substitute_words {
    const char *words[MT_MAX_SUBSTITUTES];
    size_t n, next;
};
struct mt_substitutes {
    struct mt_substitute_words names, numbers;
};

/* Chooses words that the text itself does not have. */
void mt_substitutes_init(struct mt_substitutes *substitutes, const char *text, size_t length);
/* Returns the next word. */
const char *mt_substitutes_next(struct mt_substitutes *substitutes, bool is_number);

#endif
