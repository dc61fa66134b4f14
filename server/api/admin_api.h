/*
 * Routes that only the admin socket has:
 *
 *   POST /reload   reloads, like SIGHUP: replies 202 at once; the log has the result, and /stats
 *                  the number of reloads
 *   GET /stats     what the daemon is doing, as JSON
 *   GET /health
 *   /models        models_api.h
 *
 *   curl --unix-socket /run/attentiond/admin -d '' http://localhost/reload
 */
#ifndef MT_SERVER_API_ADMIN_API_H
#define MT_SERVER_API_ADMIN_API_H

#include "server/requests/handler.h"
#include "server/http/router.h"

extern const struct mt_route mt_admin_routes[];
extern const size_t mt_n_admin_routes;

#endif
