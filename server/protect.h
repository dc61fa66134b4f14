/*
 * Placeholders in a text, which must come out of a translation as they went in: printf's %s and
 * %(name)s, {name}, {{x}}, ${x}, URLs, e-mail addresses; and emoji. The model sees a stand-in for a
 * placeholder, a first name, because names are what models copy; emoji are taken out.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PROTECT_H
#define MT_SERVER_PROTECT_H

#include "server/marked.h"

/* Longest placeholder in bytes, URLs apart. */
#define MT_MAX_PLACEHOLDER_BYTES 256

enum mt_protected_kind { MT_PROTECTED_NOTHING, MT_PROTECTED_WORD, MT_PROTECTED_EMOJI };

struct mt_protected {
    enum mt_protected_kind kind;
    size_t begin, end;
};

/* The first placeholder of text[from, length), well-formed UTF-8; neighbours that touch are one,
 * and letters that touch it belong to it. */
struct mt_protected mt_protect_find(const char *text, size_t length, size_t from);

/* Whether the text, blanks around it aside, is one placeholder. */
bool mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind);

/* Words that stand in for something, used in turn. */
#define MT_MAX_STAND_INS 8
struct mt_stand_ins {
    const char *words[MT_MAX_STAND_INS];
    size_t n, next;
};

/* Those that are not in the text themselves. */
void mt_stand_ins_init(struct mt_stand_ins *stand_ins, const char *text, size_t length);
const char *mt_stand_ins_next(struct mt_stand_ins *stand_ins);

/* Plain text as segments with marks, at most MT_MAX_MARKS in each. Appends the text from `from` on
 * to marked and returns where the next segment begins: length at the end. */
size_t mt_protect_append(struct mt_marked *marked, struct mt_stand_ins *stand_ins, const char *text,
                         size_t length, size_t from);

#endif
