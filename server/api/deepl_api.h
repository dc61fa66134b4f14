/*
 * DeepL's shapes over the same engine, for programs that speak to DeepL and let the server's
 * address be chosen (server/http/fields.json has the fields):
 *
 *   POST /v2/translate      {"translations": [{"detected_source_language": "EN", "text": "..."}]}
 *   GET /v2/languages       type=source | target: [{"language": "EN", "name": "English"}]
 *   GET, POST /v2/usage     {"character_count": 5, "character_limit": 1000}
 *
 * Errors are {"message": "..."}. What changes translations there and is not to be had here is
 * refused by name (glossaries, styles, formality, XML); what only may change them is ignored as
 * DeepL ignores it (context, model_type, preserve_formatting, which is what we do anyway).
 *
 * character_count is what the client's chars_per_day has been charged with; where there is no such
 * limit nothing is counted, and the limit is the one that DeepL gives for "none".
 */
#ifndef MT_SERVER_API_DEEPL_API_H
#define MT_SERVER_API_DEEPL_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_deepl_translate_handler;
extern const struct mt_handler mt_deepl_languages_handler;
extern const struct mt_handler mt_deepl_usage_handler;
extern const struct mt_handler mt_deepl_glossary_pairs_handler;

#endif
