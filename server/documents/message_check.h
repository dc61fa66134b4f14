/*
 * Whether a translation may stand in the place of a message of a program: one that has lost a
 * placeholder, a tag or a branch of an ICU message crashes whoever formats it, or shows nonsense.
 *
 * Thread-safety: functions of their arguments alone.
 */
#ifndef MT_SERVER_DOCUMENTS_MESSAGE_CHECK_H
#define MT_SERVER_DOCUMENTS_MESSAGE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the translation has the same placeholders, tags and $NAMES$ as the message, each as often,
 * and those without a name or number (%s) in the same order; in an ICU message, the same syntax
 * around the same branches, each with the placeholders of its own. Both are well-formed UTF-8. */
bool mt_message_is_kept(const char *message, size_t length, const char *translation,
                        size_t n_translation);

#endif
