/*
 * The fields of POST /translate (translate_api.h), but for the texts: what is asked of every model
 * that they go through, and then, for one of them, the options to decode with.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_TRANSLATE_PARAMS_H
#define MT_SERVER_API_TRANSLATE_PARAMS_H

#include "server/api/glossary.h"
#include "server/http/fields.h"
#include "server/requests/handler.h"
#include "server/http/tag_names.h"
#include "server/text/translation.h"
#include "server/text/codes/coded.h"

/* Zero-initialise. Strings are the request's. */
struct mt_translate_params {
    size_t beam_size; /* 0: the model's own */
    size_t n_alternatives;
    mt_coded_reader *read; /* the format */
    bool has_tags;         /* it is no plain text */
    struct mt_fields fields;
    enum mt_split split;
    enum mt_publish publish;
    struct mt_glossary glossary;
    struct mt_tag_names ignored_tags, splitting_tags, non_splitting_tags;
};

/* Beam and alternatives, about which LibreTranslate complains before it looks at the texts.
 * MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_translate_params_read_beam(struct mt_translate_params *params,
                                                           const struct mt_request *request,
                                                           struct mt_error *err);

/* All others. is_array: q is. MT_INVALID, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_translate_params_read(struct mt_translate_params *params,
                                                      const struct mt_request *request,
                                                      bool is_array, struct mt_error *err);

/* A text of the request, or what the last model made of it, as words and codes. The caller finishes
 * *out on failure, too. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_translate_params_read_text(const struct mt_translate_params *params,
                                                           const struct mt_request *request,
                                                           const char *bytes, size_t length,
                                                           struct mt_coded *out,
                                                           struct mt_error *err);

/* The caller finishes them where reading failed, too. */
void mt_translate_params_finish(struct mt_translate_params *params);

/* How request->model is to decode. Zero-initialise. */
struct mt_translate_decoding {
    struct mt_translation_options options; /* source_lang is the caller's to fill in */
    int32_t *prefix_ids;                   /* what options points to */
};

/* is_last: what comes out is the reply's, so that alternatives, the prefix and publishing are of
 * use. MT_INVALID where a length is more than the model takes. */
MT_MUST_CHECK enum mt_status mt_translate_decoding_init(struct mt_translate_decoding *decoding,
                                                        const struct mt_translate_params *params,
                                                        const struct mt_request *request,
                                                        bool is_last, struct mt_error *err);
void mt_translate_decoding_finish(struct mt_translate_decoding *decoding);

#endif
