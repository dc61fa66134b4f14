/*
 * Checks whether a translation may replace a message of a program. If it lost a placeholder, a tag
 * or a branch of an ICU message, then formatting it would crash, or show nonsense.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_MESSAGE_CHECK_H
#define MT_SERVER_DOCUMENTS_MESSAGE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the translation has the same placeholders, tags and $NAMES$ as the message, each as
 * often, and those without a name or number (%s) in the same order. An ICU message needs the same
 * syntax around the same branches, each with the placeholders of its own. Both are well-formed
 * UTF-8. */
bool mt_message_can_replace(const char *message, size_t length, const char *translation,
                            size_t n_translation);

#endif
