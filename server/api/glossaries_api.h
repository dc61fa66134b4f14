/*
 * Glossaries that stay, DeepL's way, in both versions of its interface:
 *
 *   POST /v2/glossaries              {"name", "source_lang", "target_lang", "entries",
 *                                    "entries_format": "tsv" or "csv"}
 *   GET /v2/glossaries[/ID]          {"glossary_id", "ready": true, "name", "source_lang",
 *                                    "target_lang", "creation_time", "entry_count"}, or a list:
 *                                    those that have one dictionary
 *   GET /v2/glossaries/ID/entries    text/tab-separated-values
 *   DELETE /v2/glossaries/ID         204
 *
 *   POST /v3/glossaries              {"name", "dictionaries": [{"source_lang", "target_lang",
 *                                    "entries", "entries_format"}]}; forms have
 *                                    "dictionaries[0].source_lang" and so on
 *   GET /v3/glossaries[/ID]          {"glossary_id", "name", "dictionaries": [{"source_lang",
 *                                    "target_lang", "entry_count"}], "creation_time"}, or a list
 *   GET /v3/glossaries/ID/entries    with source_lang and target_lang: the dictionary's
 *   PATCH /v3/glossaries/ID          name, dictionaries: entries are added or take others' place
 *   PUT /v3/glossaries/ID/dictionaries     a dictionary, which becomes this
 *   DELETE /v3/glossaries/ID[/dictionaries]   204
 *
 * A glossary belongs to the API key that made it, or to all keys of the same name; where there are
 * none, to everybody. To all others there is no such glossary (404). Regions of languages do not
 * count ("pt" for pt-BR), scripts do (zh-Hant).
 */
#ifndef MT_SERVER_API_GLOSSARIES_API_H
#define MT_SERVER_API_GLOSSARIES_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_glossaries_handler; /* all of these */
/* GET /v2/glossary-language-pairs: those that the server translates. */
extern const struct mt_handler mt_glossary_pairs_handler;

#endif
