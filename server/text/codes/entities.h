/*
 * Characters that a segment's source wrote as entities are written as entities in its translation,
 * too: &nbsp; stays &nbsp;, &quot; stays &quot;. Each segment remembers a few of them (coded.h,
 * own).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_CODES_ENTITIES_H
#define MT_SERVER_TEXT_CODES_ENTITIES_H

#include "server/text/codes/coded.h"

/* Notes that the segment's source writes the character as name, which includes & and ;. Only the
 * first name of a character counts, and the first 32 characters. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_entities_remember(struct mt_coded_segment *segment,
                                                  uint32_t code_point, const char *name,
                                                  size_t length, struct mt_error *err);

/* The write and finish_own of mt_coded. &, < and > are always written as entities. */
mt_coded_write mt_entities_write;
void mt_entities_finish(void *own);

#endif
