/*
 * The header traceparent, by which a client says of which trace its request is part
 * (W3C Trace Context, level 1: https://www.w3.org/TR/trace-context-1/).
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *      trace id                         parent id        flags
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_TRACEPARENT_H
#define MT_SERVER_HTTP_TRACEPARENT_H

#include <stdbool.h>

#define MT_TRACE_ID_BYTES 32
#define MT_PARENT_ID_BYTES 16

/* The parts of the header. The strings are lower-case hexadecimal and not all zeros. */
struct mt_traceparent {
    char trace_id[MT_TRACE_ID_BYTES + 1], parent_id[MT_PARENT_ID_BYTES + 1];
    char value[56]; /* in the form of version 00; "": there is no trace */
};

/* Version 00 must match exactly. A later version may have more parts behind another '-': the parts
 * of version 00 are read from it, and of its flags only "sampled" (section 3.2.4, "Versioning of
 * traceparent"). Returns false where the header has to be ignored; *out is empty then. */
bool mt_traceparent_parse(const char *value, struct mt_traceparent *out);

#endif
