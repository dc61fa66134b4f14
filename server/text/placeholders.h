/*
 * Placeholders in a text, which a translation must have unchanged: printf's %s and %(name)s,
 * {name}, {{x}}, ${x}, URLs and e-mail addresses, queries and words with escaped bytes
 * (Hello%20World); numbers of at least four groups (192.168.0.1, a UUID), hashes and keys, accounts,
 * digital object identifiers, media types, versions of programs (Mozilla/5.0), timestamps of
 * ISO 8601, Windows' paths; and emoji. The model
 * sees a word in their place (substitutes.h); emoji are taken out (codes_find.h, which finds the
 * rest, too). Texts are well-formed UTF-8.
 *
 * Thread-safety: the functions depend on their arguments alone.
 */
#ifndef MT_SERVER_TEXT_PLACEHOLDERS_H
#define MT_SERVER_TEXT_PLACEHOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the placeholder that text[begin, length) begins with, or 0. The text before
 * begin is looked at, too: a placeholder does not begin inside a word. */
size_t mt_placeholder_at(const char *text, size_t length, size_t begin);

/* Whether this character may adjoin a placeholder as a part of it: "/{id}", "file_%d", "{n}px". */
bool mt_placeholder_may_touch(char c);

/* Whether a placeholder stands for a whole number, by its kind (%d, %1$lu, %(files)i, Qt's %n) or
 * its name. */
bool mt_placeholder_is_count(const char *bytes, size_t length);

/* Whether the name is that of a number: n, num, count, number. */
bool mt_placeholder_names_count(const char *name, size_t length);

/* Returns the length of the run of emoji that text[begin, length) begins with, or 0. */
size_t mt_emoji_at(const char *text, size_t length, size_t begin);

enum mt_placeholder_kind {
    MT_NO_PLACEHOLDER,
    MT_PLACEHOLDER_WORD,
    MT_PLACEHOLDER_EMOJI,
};

struct mt_placeholder {
    enum mt_placeholder_kind kind;
    size_t begin, end;
};

/* Returns the first placeholder of text[from, length). Adjacent placeholders are one, with letters
 * that adjoin them. */
struct mt_placeholder mt_placeholder_find(const char *text, size_t length, size_t from);

#endif
