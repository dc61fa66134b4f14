/*
 * Translation memories (server/data/translation_memory.h), with the names of DeepL's API where that
 * has them:
 *
 *   GET /v3/translation_memories[/ID]   {"translation_memory_id", "name", "source_language",
 *                                       "target_languages", "segment_count", "creation_time"}, or
 *                                       a page of them: page, page_size
 *   POST /v3/translation_memories       name, source_lang, and a TMX file, which may be missing
 *   GET /v3/translation_memories/ID/tmx     the memory as TMX
 *   POST /v3/translation_memories/ID/tmx    adds the units of a TMX file
 *   DELETE /v3/translation_memories/ID      204
 *   POST /suggest                       {"q", "s", "source", "target"}: a better translation, as in
 *                                       LibreTranslate's API, if settings->suggestions; it is
 *                                       stored in the memory "suggestions"
 *
 * Their owners are determined as for glossaries (glossaries_api.h).
 */
#ifndef MT_SERVER_API_MEMORIES_API_H
#define MT_SERVER_API_MEMORIES_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_memories_handler, mt_suggest_handler;

#endif
