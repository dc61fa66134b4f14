/*
 * Server-sent events (HTML Living Standard, 9.2), as bytes appended to a text:
 *
 *   event: result            left out for the default, "message"
 *   data: {"translatedText":"Hallo."}
 *                            a blank line ends an event
 *
 * Data must be a single line, which compact JSON is.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_EVENTS_H
#define MT_SERVER_HTTP_EVENTS_H

#include "base/text.h"

#define MT_EVENTS_TYPE "text/event-stream"

/* Text appended between begin and end is the event's data. name may be NULL. */
void mt_event_begin(struct mt_text *out, const char *name);
void mt_event_end(struct mt_text *out);

/* Appends a comment, which readers skip. */
void mt_event_comment(struct mt_text *out);

#endif
