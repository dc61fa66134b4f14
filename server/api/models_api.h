/*
 * The models that are served.
 *
 *   GET /models        {"models": [{"aliases", "default", "id", "sources", "state", "targets"}]};
 *                      state: "cold", "loading", "ready" or "failed"
 *   GET /models/ID     one of them (or an alias), and what is known of it: defaults, licence and
 *                      shape as its files say; memory and parameters as of the last time it was
 *                      loaded
 *
 * Over the admin socket both say "directory" too, and of one that failed "reason"; and there are:
 *
 *   POST /models/reload      (and POST /reload) what has changed in the directory is seen
 *   POST /models/ID/load     answers when it is in memory, as GET does
 *   POST /models/ID/unload   as soon as nobody uses it
 */
#ifndef MT_SERVER_API_MODELS_API_H
#define MT_SERVER_API_MODELS_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_models_handler, mt_model_handler;
extern const struct mt_handler mt_admin_models_handler, mt_admin_model_handler;
/* What is posted below /models/. */
extern const struct mt_handler mt_admin_model_action_handler;
extern const struct mt_handler mt_admin_reload_handler;

#endif
