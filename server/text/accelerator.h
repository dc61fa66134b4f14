/*
 * Keyboard accelerators in the labels of programs: "&File" (Qt, KDE, Windows) and "_File" (GTK),
 * which the user sees as an underlined F. A model neither understands the mark nor keeps it, so it
 * is taken out of a message and put into the translation.
 *
 * A mark is the only one of its kind in a message and stands before a letter or digit. It is not
 * within a placeholder (placeholders.h), nor within words that look similar: "&amp;", "R&D",
 * "file_name".
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_ACCELERATOR_H
#define MT_SERVER_TEXT_ACCELERATOR_H

#include "base/text.h"

/* A longer message is not a label. */
#define MT_MAX_LABEL_BYTES 256

struct mt_accelerator {
    char mark; /* '&' or '_'; '\0' where there is none */
    size_t at; /* byte of the mark in the message */
};

struct mt_accelerator mt_accelerator_find(const char *text, size_t length);

/* Appends the translation of a message with the mark that its source had. The mark goes before the
 * first word that begins with the same letter, else before the first word; where the words have no
 * letters that keys have, "(&F)" goes behind all of them. A translation that has such a character
 * already is not changed. */
void mt_accelerator_place(char mark, uint32_t letter, const char *translation, size_t length,
                          struct mt_text *out);

#endif
