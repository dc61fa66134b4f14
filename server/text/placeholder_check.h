/*
 * Finds placeholders of a text (tagged_text.h) that its translation does not have exactly as often.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_PLACEHOLDER_CHECK_H
#define MT_SERVER_TEXT_PLACEHOLDER_CHECK_H

#include "server/text/tagged_text.h"

/* bytes belong to the tagged text. */
typedef void mt_placeholder_report(void *context, const char *bytes, size_t length);

/* Calls report for every tag that the translation does not have as often, in order. */
MT_MUST_CHECK enum mt_status mt_placeholder_check(const struct mt_tagged_text *tagged,
                                                  const struct mt_text *translation,
                                                  mt_placeholder_report *report, void *context,
                                                  struct mt_error *err);

#endif
