/*
 * GET /positions: the positional encoding of a model; its fields are in server/http/fields.json.
 */
#ifndef MT_SERVER_API_POSITIONS_API_H
#define MT_SERVER_API_POSITIONS_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_positions_handler;

#endif
