/*
 * The decoding options of a request under their CTranslate2 names, read over the defaults of the
 * model (model_defaults.h) and those of the settings: what every route that translates has in
 * common.
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
struct mt_settings;

/* asked: what the request says; 0: nothing. 0: what the model's own files say. */
size_t mt_decoding_beam_size(const struct mt_service *service, const struct mt_loaded_model *model,
                             size_t asked);

/* max_length_factor where neither request nor attentiond.json says one; 0 where the model's own
 * files do. */
float mt_decoding_length_factor(const struct mt_settings *settings, const struct mt_model *model);

/* Whether the setting says that a model's shortlist is not used, or its target vocabularies. */
bool mt_decoding_skips_shortlist(const struct mt_settings *settings);
bool mt_decoding_skips_target_vocabulary(const struct mt_settings *settings);

/* length_penalty, min_decoding_length, max_decoding_length, shortlist, target_vocabulary, for
 * request->model; of the length's setting no more than it has positions. A request that names one of
 * the lengths has no other limit. MT_INVALID names field, value and range. */
MT_MUST_CHECK enum mt_status mt_decoding_params_read(const struct mt_request *request,
                                                     const struct mt_fields *fields,
                                                     struct mt_sentence_options *decoding,
                                                     struct mt_error *err);

#endif
