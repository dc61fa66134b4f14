/*
 * Placeholders in a text, which a translation must have unchanged: printf's %s and %(name)s,
 * {name}, {{x}}, ${x}, URLs and e-mail addresses; numbers of at least four groups (192.168.0.1, a
 * UUID), hashes and keys, accounts, timestamps of ISO 8601, Windows' paths; and emoji. The model
 * sees a stand-in for a placeholder, a word that models copy: a number for one that counts (%d,
 * {count}), else a first name. Emoji are taken out (codes_find.h, which finds the rest, too).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_PROTECT_H
#define MT_SERVER_TEXT_PROTECT_H

#include <stdbool.h>
#include <stddef.h>

enum mt_protected_kind {
    MT_PROTECTED_NOTHING,
    MT_PROTECTED_WORD,
    MT_PROTECTED_EMOJI,
};

struct mt_protected {
    enum mt_protected_kind kind;
    size_t begin, end;
};

/* Returns the first placeholder of text[from, length), well-formed UTF-8. Adjacent placeholders are
 * one, with letters that adjoin them. */
struct mt_protected mt_protect_find(const char *text, size_t length, size_t from);

/* Words to stand in for placeholders, used in turn. */
#define MT_MAX_STAND_INS 8
struct mt_stand_in_words {
    const char *words[MT_MAX_STAND_INS];
    size_t n, next;
};
struct mt_stand_ins {
    struct mt_stand_in_words names, numbers;
};

/* Chooses words that the text itself does not have. */
void mt_stand_ins_init(struct mt_stand_ins *stand_ins, const char *text, size_t length);
/* Returns the next word. */
const char *mt_stand_ins_next(struct mt_stand_ins *stand_ins, bool is_number);

#endif
