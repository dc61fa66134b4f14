/*
 * GET /positions: the positional encoding of the model.
 *
 *   model    the model's name; may be left out
 *   n        rows, 1 to MT_POSITIONS_MAX_ROWS, default MT_POSITIONS_DEFAULT_ROWS
 *   layout   "concatenated" or "interleaved"; default the model's
 *   format   "json" (default), "npy", "svg", "png"
 */
#ifndef MT_SERVER_API_POSITIONS_API_H
#define MT_SERVER_API_POSITIONS_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_positions_handler;

#endif
