/*
 * Characters that a segment's source wrote as entities are written so in its translation, too:
 * &nbsp; stays &nbsp;, &quot; stays &quot;. A segment has a few of them in mind (coded.h, own).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_ENTITIES_H
#define MT_SERVER_TEXT_CODES_ENTITIES_H

#include "server/text/codes/coded.h"

/* The segment's source writes the character so, name with & and ; in it. The first name of a
 * character counts, and the first 32 characters. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_entities_remember(struct mt_coded_segment *segment,
                                                  uint32_t code_point, const char *name,
                                                  size_t length, struct mt_error *err);

/* mt_coded's write and finish_own: &, < and > are always entities. */
mt_coded_write mt_entities_write;
void mt_entities_finish(void *own);

#endif
