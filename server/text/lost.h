/*
 * Whether the placeholders of a text (marked.h) are in its translation, each exactly as often.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LOST_H
#define MT_SERVER_TEXT_LOST_H

#include "server/text/marked.h"

/* The bytes are the marked text's. */
typedef void mt_lost_report(void *context, const char *bytes, size_t length);

/* Calls report for every mark that is not there as often, in their order. */
MT_MUST_CHECK enum mt_status mt_lost_find(const struct mt_marked *marked,
                                          const struct mt_text *translation, mt_lost_report *report,
                                          void *context, struct mt_error *err);

#endif
