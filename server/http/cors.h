/*
 * Which sites' pages may read our replies: the setting cors_origins, and what browsers are told of
 * it (CORS: the Fetch standard, 3.2). It is "*" for all, "" for none but our own, or origins:
 * "https://example.org, http://localhost:3000".
 *
 * A list would protect nothing on a loopback address by itself: a site can have its own name mean
 * 127.0.0.1 for a moment (DNS rebinding), and its pages then are the server's own to a browser.
 * What tells them from those is the Host that they ask for.
 *
 * Pure functions. Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_CORS_H
#define MT_SERVER_HTTP_CORS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* MT_INVALID: it is not as above. The others take what this lets pass. setting: whose origins they
 * are, for the message; frame_ancestors is written the same way. */
MT_MUST_CHECK enum mt_status mt_cors_check(const char *setting, const char *origins,
                                           struct mt_error *err);

bool mt_cors_is_open(const char *origins);

/* What Access-Control-Allow-Origin says to a request with that Origin (NULL: it has none): "*", the
 * origin, or NULL: nothing. */
const char *mt_cors_allowed(const char *origins, const char *origin);

/* Whether a request for this Host ("localhost:5000") may be meant for a loopback address: no name
 * (only names can be made to mean another machine), localhost, or the host of an origin, which a
 * proxy passes on. */
bool mt_cors_has_host(const char *origins, const char *host, size_t length);

#endif
