/*
 * POST and GET /attention: a translation, or one that the caller brings, with what the model looked
 * at. Its fields are in server/http/fields.json; others are refused, unlike on LibreTranslate's routes,
 * because a mistyped "layers" would bring all of them. The way must be that of one model. No text
 * says exactly which tokens it was written with: that is what target_ids are for. GET takes the
 * fields in its query string; its reply has an ETag, which is made of all that it shows.
 *
 * The reply is small unless tensors are asked for: the tokens and one alignment matrix. More
 * numbers than the setting max_attention_values are refused with 413, before decoding where that is
 * known, and after it else.
 */
#ifndef MT_SERVER_API_ATTENTION_API_H
#define MT_SERVER_API_ATTENTION_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_attention_handler;

#endif
