/*
 * The decoding options of a request under CTranslate2's names, which all routes that translate have
 * in common. Options that the request lacks come from the model (model_defaults.h) or the settings.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_API_DECODING_PARAMS_H
#define MT_SERVER_API_DECODING_PARAMS_H

#include "model/sentence.h"
#include "server/http/fields.h"
#include "server/requests/handler.h"

struct mt_loaded_model;
struct mt_model;
struct mt_model_defaults;
struct mt_settings;

/* asked: the size in the request; 0: it has none. Returns 0 where the model's own files have
 * one. */
size_t mt_decoding_beam_size(const struct mt_service *service, const struct mt_loaded_model *model,
                             size_t asked);

/* Returns the options of a request that has none: those of attentiond.json (own), or else of the
 * settings. 0 or absent where the model's own files have them. */
struct mt_sentence_options mt_decoding_defaults(const struct mt_settings *settings,
                                                const struct mt_model *model,
                                                const struct mt_model_defaults *own);

/* Reads length_penalty, min_decoding_length, max_decoding_length, shortlist and target_vocabulary
 * for request->model. The length from the settings is limited by the model's positions. A request
 * with one of the lengths has no other limit. MT_INVALID names field, value and range. */
MT_MUST_CHECK enum mt_status mt_decoding_params_read(const struct mt_request *request,
                                                     const struct mt_fields *fields,
                                                     struct mt_sentence_options *decoding,
                                                     struct mt_error *err);

#endif
