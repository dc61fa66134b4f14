/*
 * Stored glossaries, in both versions of DeepL's API:
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
 *   GET /v3/glossaries/ID/entries    the entries of the dictionary with source_lang and target_lang
 *   PATCH /v3/glossaries/ID          name, dictionaries: their entries are added, or replace others
 *   PUT /v3/glossaries/ID/dictionaries     replaces a dictionary
 *   DELETE /v3/glossaries/ID[/dictionaries]   204
 *
 * A glossary belongs to the API key that made it, or to all keys of the same name; without keys it
 * belongs to everybody. For others it does not exist (404). Regions of languages are ignored ("pt"
 * for pt-BR), scripts are not (zh-Hant).
 */
#ifndef MT_SERVER_API_GLOSSARIES_API_H
#define MT_SERVER_API_GLOSSARIES_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_glossaries_handler; /* for all of these routes */
/* GET /v2/glossary-language-pairs: the pairs that the server translates. */
extern const struct mt_handler mt_glossary_pairs_handler;

#endif
