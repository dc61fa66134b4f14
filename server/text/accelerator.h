/*
 * Keyboard accelerators in the labels of programs: "&File" (Qt, KDE, Windows) and "_File" (GTK), of
 * which the user sees an underlined F. A model neither understands the mark nor keeps it, so it is
 * taken out of a message and put into the translation.
 *
 * A mark is the only one of its kind in a message, stands before a letter or digit, and neither in
 * a placeholder (protect.h) nor in what looks alike: "&amp;", "R&D", "file_name".
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_ACCELERATOR_H
#define MT_SERVER_TEXT_ACCELERATOR_H

#include "base/text.h"

/* What is longer is no label. */
#define MT_MAX_LABEL_BYTES 256

struct mt_accelerator {
    char mark; /* '&' or '_'; '\0': there is none */
    size_t at; /* byte of the mark in the message */
};

struct mt_accelerator mt_accelerator_find(const char *text, size_t length);

/* Appends the translation of a message without its mark, with the mark: before the word that begins
 * with the same letter, or else before the first word; behind all words, "(&F)", where they have no
 * letters that a keyboard has keys for. A translation that has such a character already stays. */
void mt_accelerator_place(char mark, uint32_t letter, const char *translation, size_t length,
                          struct mt_text *out);

#endif
