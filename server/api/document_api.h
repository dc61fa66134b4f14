/*
 * Documents, DeepL's way: a file is sent, asked after, and fetched when it is done. The work is that
 * of /translate_file (file_translation.h), but nobody waits for it.
 *
 *   POST /v2/document                {"document_id": "...", "document_key": "..."}, as soon as the
 *                                    file is parsed: one that is damaged fails here
 *   GET, POST /v2/document/ID        {"document_id", "status": "queued", "translating", "done" or
 *                                    "error"}, with "seconds_remaining" where that is known;
 *                                    translating: "progress", a share from 0 to 1;
 *                                    done: "billed_characters" and what became of the file, as the
 *                                    reply of /translate_file has it; error: "error_message"
 *   GET, POST /v2/document/ID/result the file; 503 while it is not done. After POST it is forgotten
 *   DELETE /v2/document/ID           ends the work and forgets it: {}
 *
 * Fields are in server/http/fields.json; all but the first take document_key. Whoever has both may
 * ask; to all others, and after a restart, there is no such document (404).
 */
#ifndef MT_SERVER_API_DOCUMENT_API_H
#define MT_SERVER_API_DOCUMENT_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_document_handler;
extern const struct mt_handler mt_document_status_handler; /* what is below it */

#endif
