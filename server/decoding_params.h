/*
 * The decoding options of a request under their CTranslate2 names, read over the settings'
 * defaults: what every route that translates has in common.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DECODING_PARAMS_H
#define MT_SERVER_DECODING_PARAMS_H

#include "model/sentence.h"
#include "server/handler.h"
#include "server/splitter.h"

/* length_penalty, min_decoding_length, max_decoding_length. MT_INVALID names field, value and
 * range. */
MT_MUST_CHECK enum mt_status mt_decoding_params_lengths(const struct mt_service *service,
                                                        const struct mt_params *params,
                                                        struct mt_sentence_options *decoding,
                                                        struct mt_error *err);

/* split_sentences: "on", "off", "newlines". */
MT_MUST_CHECK enum mt_status mt_decoding_params_split(const struct mt_service *service,
                                                      const struct mt_params *params,
                                                      enum mt_split *out, struct mt_error *err);

#endif
