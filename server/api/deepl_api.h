/*
 * DeepL's API over the same engine, for programs that use DeepL and let the server's address be
 * chosen (server/http/fields.json has the fields):
 *
 *   POST /v2/translate      {"translations": [{"detected_source_language": "EN", "text": "..."}]}
 *   GET /v2/languages       type=source | target: [{"language": "EN", "name": "English"}]
 *   GET, POST /v2/usage     {"character_count": 5, "character_limit": 1000}
 *
 * Errors are {"message": "..."}. Fields that change translations at DeepL and are not supported
 * here are refused by name (several glossaries, styles, formality). Those that only may change them
 * are ignored (context, model_type, preserve_formatting, which is always on here).
 *
 * character_count is what the client's chars_per_day has been charged with. Without such a limit
 * nothing is counted, and character_limit is the one that DeepL returns for "none".
 */
#ifndef MT_SERVER_API_DEEPL_API_H
#define MT_SERVER_API_DEEPL_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_deepl_translate_handler;
extern const struct mt_handler mt_deepl_languages_handler;
extern const struct mt_handler mt_deepl_usage_handler;

/*
 * /v2/document (document_api.h) shares the following.
 */
struct mt_fields;
struct mt_params;
/* MT_INVALID names a field of DeepL's that changes translations and is not supported here. */
MT_MUST_CHECK enum mt_status mt_deepl_refuse_unsupported(const struct mt_params *params,
                                                         const struct mt_fields *given,
                                                         struct mt_error *err);
/* Returns MT_INVALID with a message about the field's value. */
enum mt_status mt_deepl_refuse_value(const char *name, struct mt_error *err);
/* Reads source_lang and target_lang; *source is "auto" where there is none. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_deepl_read_languages(const struct mt_service *service,
                                                     const struct mt_fields *given,
                                                     const char **source, const char **target,
                                                     struct mt_error *err);

#endif
