/*
 * Routes: which handler answers which path and method. Paths match exactly, byte for byte; a
 * folder's path also matches everything below it.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_SERVER_HTTP_ROUTER_H
#define MT_SERVER_HTTP_ROUTER_H

#include "server/http/reply.h"

#include <stdbool.h>
#include <stddef.h>

struct mt_handler;

/* Which requests need a key, and which count against rates: access.h. */
enum mt_access_kind {
    MT_ACCESS_BY_METHOD,       /* POST: metered; GET: open */
    MT_ACCESS_OPEN,            /* anybody may ask; the limits of sizes of a known key still count */
    MT_ACCESS_KEYED,           /* keys are checked, but nothing is counted */
    MT_ACCESS_METERED,         /* keys are checked and rates count */
    MT_ACCESS_CHANGES_METERED, /* GET is keyed, other methods are metered */
};

struct mt_route {
    const char *method; /* "GET" (which includes HEAD) or "POST" */
    /* Further methods that the route takes, as a header lists them: "POST, DELETE"; NULL: none.
     * Their bodies may hold fields, such as the key. */
    const char *also;
    const char *path;
    const struct mt_handler *handler;
    bool is_folder; /* path ends in '/' */
    bool is_page;   /* only its scripts read its query string, which may be cut short */
    /* Whether a body in an unknown encoding is refused (415). LibreTranslate's routes instead treat
     * it as a request without fields, which clients see as "missing q". */
    bool is_strict_about_type;
    /* Answered even where connections are over the limit, and never metered. The routes of health
     * and metrics are vital. */
    bool is_vital;
    /* A form with a file may be as long as max_document_bytes. */
    bool takes_documents;
    /* Bodies may be long enough to hold max_glossary_bytes of entries. */
    bool takes_glossaries;
    enum mt_access_kind access;
};

/* The daemon's routes, and how many there are. A route's index selects its label in the metrics. */
extern const struct mt_route mt_routes[];
extern const size_t mt_n_routes;

/* The daemon has no longer route, and no longer Allow header. */
#define MT_MAX_ALLOW_BYTES 64

enum mt_route_match { MT_ROUTE_FOUND, MT_ROUTE_OPTIONS, MT_ROUTE_WRONG_METHOD, MT_ROUTE_UNKNOWN };

struct mt_routing {
    enum mt_route_match match;
    const struct mt_route *route; /* NULL unless the result is MT_ROUTE_FOUND */
    bool is_vital;                /* the path has a vital route, of whichever method */
    /* The methods of the path ("GET, HEAD, OPTIONS"); not set for MT_ROUTE_UNKNOWN. */
    char allow[MT_MAX_ALLOW_BYTES];
};

/* Returns the dialect of a request's target, which may be malformed: DeepL's paths begin with the
 * version of its interface ("/v2/"). */
enum mt_dialect mt_route_dialect(const char *target);

/* Finds the route. "OPTIONS" matches every known path, and "*". */
void mt_route_find(const struct mt_route *routes, size_t n_routes, const char *method,
                   const char *path, size_t path_length, struct mt_routing *out);

#endif
