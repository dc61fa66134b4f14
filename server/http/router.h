/*
 * Routes: which handler answers which path and method. Paths match exactly, byte for byte; a
 * folder's matches everything below it too.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_SERVER_HTTP_ROUTER_H
#define MT_SERVER_HTTP_ROUTER_H

#include "server/http/reply.h"

#include <stdbool.h>
#include <stddef.h>

struct mt_handler;

/* Which requests need a key, and count: access.h. */
enum mt_access_kind {
    MT_ACCESS_BY_METHOD,       /* POST: metered; GET: open */
    MT_ACCESS_OPEN,            /* anybody; a key that is known still counts for limits of sizes */
    MT_ACCESS_KEYED,           /* keys are checked, but nothing is counted */
    MT_ACCESS_METERED,         /* keys are checked and rates count */
    MT_ACCESS_CHANGES_METERED, /* GET: keyed; other methods: metered */
};

struct mt_route {
    const char *method; /* "GET" (HEAD comes with it) or "POST" */
    /* Other methods that it takes, as a header lists them: "POST, DELETE"; NULL: none. A body may
     * hold fields, the key among them. */
    const char *also;
    const char *path;
    const struct mt_handler *handler;
    bool is_folder; /* path ends in '/' */
    bool is_page;   /* its query is for its scripts, which read a link that was cut short, too */
    /* Whether a body in an encoding that we do not know is refused (415). LibreTranslate's routes
     * instead take it for a request without fields, and clients see that as "missing q". */
    bool is_strict_about_type;
    /* Answered even where connections are over the limit, and never metered: the routes of health
     * and metrics. */
    bool is_vital;
    /* A form with a file in it may be as long as max_document_bytes. */
    bool takes_documents;
    /* Its bodies may be longer than others: long enough to hold max_glossary_bytes of entries. */
    bool takes_glossaries;
    enum mt_access_kind access;
};

/* The daemon's routes, and how many. A route's index is its label in the metrics. */
extern const struct mt_route mt_routes[];
extern const size_t mt_n_routes;

/* No route of the daemon is longer, and no Allow header. */
#define MT_MAX_ALLOW_BYTES 64

enum mt_route_match { MT_ROUTE_FOUND, MT_ROUTE_OPTIONS, MT_ROUTE_WRONG_METHOD, MT_ROUTE_UNKNOWN };

struct mt_routing {
    enum mt_route_match match;
    const struct mt_route *route; /* MT_ROUTE_FOUND; else NULL */
    bool is_vital;                /* the path is, by whichever method */
    /* The methods of the path ("GET, HEAD, OPTIONS"), but for MT_ROUTE_UNKNOWN. */
    char allow[MT_MAX_ALLOW_BYTES];
};

/* The dialect of a request's target, of which nothing need be right: DeepL's paths begin with the
 * version of its interface ("/v2/"). */
enum mt_dialect mt_route_dialect(const char *target);

/* "OPTIONS" matches every known path, and "*". */
void mt_route_find(const struct mt_route *routes, size_t n_routes, const char *method,
                   const char *path, size_t path_length, struct mt_routing *out);

#endif
