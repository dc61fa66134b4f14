/*
 * Placeholders in a text, which must come out of a translation as they went in: printf's %s and
 * %(name)s, {name}, {{x}}, ${x}, URLs and e-mail addresses; numbers of four groups and more
 * (192.168.0.1, a UUID), hashes and keys, accounts, timestamps of ISO 8601, Windows' paths; and
 * emoji. The model sees a stand-in for a placeholder: a number for one that counts (%d, {count}), or
 * else a first name, because these are what models copy; emoji are taken out. Beside them the terms
 * of a request (terms.h), which the model sees as they are: on 583 sentences of the development set
 * with one term each the translation had BLEU 30.1 and chrF 52.9 so, 17.8 and 45.7 with stand-ins,
 * 28.7 and 51.9 when the model went on behind the given words.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_PROTECT_H
#define MT_SERVER_TEXT_PROTECT_H

#include "server/text/marked.h"

struct mt_terms;

enum mt_protected_kind {
    MT_PROTECTED_NOTHING,
    MT_PROTECTED_WORD,
    MT_PROTECTED_EMOJI,
    MT_PROTECTED_TERM, /* terms.h */
};

struct mt_protected {
    enum mt_protected_kind kind;
    size_t begin, end;
    size_t term;
};

/* The first placeholder of text[from, length), well-formed UTF-8; neighbours that touch are one,
 * and letters that touch it belong to it. */
struct mt_protected mt_protect_find(const char *text, size_t length, size_t from);

/* Whether the text, blanks around it aside, is one placeholder. */
bool mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind);

/* Words that stand in for something, used in turn. */
#define MT_MAX_STAND_INS 8
struct mt_stand_in_words {
    const char *words[MT_MAX_STAND_INS];
    size_t n, next;
};
struct mt_stand_ins {
    struct mt_stand_in_words names, numbers;
};

/* Those that are not in the text themselves. */
void mt_stand_ins_init(struct mt_stand_ins *stand_ins, const char *text, size_t length);
/* The next one. */
const char *mt_stand_ins_next(struct mt_stand_ins *stand_ins, bool is_number);

/* What is to be found in one text, in order. */
struct mt_protect_scan {
    const char *text;
    size_t length;
    bool protects;                         /* placeholders and emoji */
    struct mt_terms *terms;                /* NULL: none */
    struct mt_protected placeholder, term; /* the next of each, once found */
    bool has_found;
};

/* text is well-formed UTF-8; it and the terms, whose search this begins, are borrowed. */
void mt_protect_scan_begin(struct mt_protect_scan *scan, const char *text, size_t length,
                           bool protects, struct mt_terms *terms, bool crosses_lines);

/* The first that begins at `from` or later, which never decreases: of a placeholder and a term the
 * one that begins first, then the longer one. */
struct mt_protected mt_protect_scan_next(struct mt_protect_scan *scan, size_t from);

/* Plain text as segments with marks, at most MT_MAX_MARKS in each. Appends the text from `from` to
 * `end`, where nothing that is found may stand across, to marked, and returns where the next
 * segment begins: end when all is there. */
size_t mt_protect_append(struct mt_marked *marked, struct mt_stand_ins *stand_ins,
                         struct mt_protect_scan *scan, size_t from, size_t end);

#endif
