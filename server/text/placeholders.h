/*
 * What in a text is a placeholder, or something else that is copied and not translated (protect.h
 * names the kinds), and what is an emoji. Texts are well-formed UTF-8.
 *
 * Thread-safety: functions of their arguments alone.
 */
#ifndef MT_SERVER_TEXT_PLACEHOLDERS_H
#define MT_SERVER_TEXT_PLACEHOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the placeholder that text[begin, length) begins with, or 0. What is before begin is
 * looked at: a placeholder does not begin within a word. */
size_t mt_placeholder_at(const char *text, size_t length, size_t begin);

/* What may touch a placeholder and be part of it: "/{id}", "file_%d", "{n}px". */
bool mt_placeholder_may_touch(char c);

/* Whether a placeholder will be a whole number: %d, %1$lu, %(files)i, Qt's %n; or is named so. */
bool mt_placeholder_is_count(const char *bytes, size_t length);

/* Whether what is named so is a number: n, num, count, number. */
bool mt_placeholder_names_count(const char *name, size_t length);

/* The bytes of the run of emoji that text[begin, length) begins with, or 0. */
size_t mt_emoji_at(const char *text, size_t length, size_t begin);

#endif
