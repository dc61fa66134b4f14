/*
 * Which sites' pages may read our replies: the setting cors_origins, and the headers that tell it
 * to browsers (CORS: the Fetch standard, 3.2). The setting is "*" for all sites, "" for none but
 * our own pages, or a list of origins: "https://example.org, http://localhost:3000".
 *
 * On a loopback address such a list alone would protect nothing: a site can make its own name point
 * to 127.0.0.1 for a moment (DNS rebinding), and a browser then takes its pages for the server's
 * own. The Host of their requests gives them away.
 *
 * Pure functions. Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_CORS_H
#define MT_SERVER_HTTP_CORS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* MT_INVALID where origins is not written as above. The other functions take what this one accepts.
 * setting is the setting's name, for the message; frame_ancestors is written the same way. */
MT_MUST_CHECK enum mt_status mt_cors_check(const char *setting, const char *origins,
                                           struct mt_error *err);

bool mt_cors_is_open(const char *origins);

/* Returns the value of Access-Control-Allow-Origin for a request with that Origin (NULL: none):
 * "*", the origin itself, or NULL for no such header. */
const char *mt_cors_allowed(const char *origins, const char *origin);

/* Whether a request for this Host ("localhost:5000") may be meant for a loopback address: the host
 * is a number (only names can be pointed at another machine), localhost, or the host of an origin,
 * which a proxy passes on. */
bool mt_cors_has_host(const char *origins, const char *host, size_t length);

#endif
