/*
 * POST and GET /attention: a translation, either the model's own or one that the caller supplies,
 * with the attention that produced it. Its fields are in server/http/fields.json; unknown ones are
 * refused, unlike on LibreTranslate's routes, because a mistyped "layers" would return all layers.
 * A single model has to lead from source to target. A text does not determine its tokens exactly;
 * target_ids does. GET takes the fields in its query string; its reply has an ETag, a hash of all
 * that it depends on.
 *
 * The reply is small unless tensors are requested: the tokens and one alignment matrix. A request
 * for more numbers than the setting max_attention_values is refused with 413, before decoding where
 * the number is known by then, otherwise after it.
 */
#ifndef MT_SERVER_API_ATTENTION_API_H
#define MT_SERVER_API_ATTENTION_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_attention_handler;

#endif
