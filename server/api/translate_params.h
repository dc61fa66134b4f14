/*
 * The fields of POST /translate (translate_api.h) except its texts: first those that are the same
 * for every model on the way, then the decoding options for one of the models.
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

/* Has to be zero-initialised. Strings belong to the request. */
struct mt_translate_params {
    size_t beam_size; /* 0: the model's default */
    size_t n_alternatives;
    mt_coded_reader *read; /* reader of the format */
    bool has_tags;         /* the format is not plain text */
    struct mt_fields fields;
    enum mt_split split;
    enum mt_publish publish;
    struct mt_glossary glossary;
    struct mt_tag_names ignored_tags, splitting_tags, non_splitting_tags;
};

/* Reads beam size and alternatives, which LibreTranslate checks before it looks at the texts.
 * MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_translate_params_read_beam(struct mt_translate_params *params,
                                                           const struct mt_request *request,
                                                           struct mt_error *err);

/* Reads all other fields. is_array: q is an array. MT_INVALID, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_translate_params_read(struct mt_translate_params *params,
                                                      const struct mt_request *request,
                                                      bool is_array, struct mt_error *err);

/* Reads a text of the request, or the last model's translation of it, as words and codes. The
 * caller finishes *out after a failure, too. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_translate_params_read_text(const struct mt_translate_params *params,
                                                           const struct mt_request *request,
                                                           const char *bytes, size_t length,
                                                           struct mt_coded *out,
                                                           struct mt_error *err);

/* The caller calls this even where reading failed. */
void mt_translate_params_finish(struct mt_translate_params *params);

/* The decoding options for request->model. Has to be zero-initialised. */
struct mt_translate_decoding {
    struct mt_translation_options options; /* the caller sets source_lang */
    int32_t *prefix_ids;                   /* options points to it */
};

/* is_last: the output goes into the reply, so that alternatives, the prefix and streaming apply.
 * MT_INVALID where a length is more than the model takes. */
MT_MUST_CHECK enum mt_status mt_translate_decoding_init(struct mt_translate_decoding *decoding,
                                                        const struct mt_translate_params *params,
                                                        const struct mt_request *request,
                                                        bool is_last, struct mt_error *err);
void mt_translate_decoding_finish(struct mt_translate_decoding *decoding);

#endif
