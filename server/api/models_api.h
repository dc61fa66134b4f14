/*
 * The models that are served.
 *
 *   GET /models        {"models": [{"aliases", "default", "id", "sources", "state", "targets"}]};
 *                      state: "cold", "loading", "ready" or "failed"
 *   GET /models/ID     one of them, by id or alias, with more details: defaults, licence and shape
 *                      from its files; memory and parameters as of the last time it was loaded
 *
 * Over the admin socket both also have "directory", and for a failed model "reason". It also has:
 *
 *   POST /models/reload      (and POST /reload) notices what has changed in the directory
 *   POST /models/ID/load     replies when the model is in memory, like GET
 *   POST /models/ID/unload   unloads it as soon as nobody uses it
 */
#ifndef MT_SERVER_API_MODELS_API_H
#define MT_SERVER_API_MODELS_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_models_handler, mt_model_handler;
extern const struct mt_handler mt_admin_models_handler, mt_admin_model_handler;
/* POST to routes below /models/. */
extern const struct mt_handler mt_admin_model_action_handler;
extern const struct mt_handler mt_admin_reload_handler;

#endif
