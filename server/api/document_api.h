/*
 * DeepL's routes for documents: a file is uploaded, its state is polled, and the result is
 * downloaded when it is done. The work is that of /translate_file (file_translation.h), but no
 * request waits for it.
 *
 *   POST /v2/document                {"document_id": "...", "document_key": "..."}, as soon as the
 *                                    file is parsed: a damaged one fails here
 *   GET, POST /v2/document/ID        {"document_id", "status": "queued", "translating", "done" or
 *                                    "error"}, with "seconds_remaining" where that is known;
 *                                    translating: "progress", a share from 0 to 1;
 *                                    done: "billed_characters" and the report on the file, as in
 *                                    the reply of /translate_file; error: "error_message"
 *   GET, POST /v2/document/ID/result the file; 503 while it is not done. POST also deletes it
 *   DELETE /v2/document/ID           ends the work and deletes the document: {}
 *
 * Fields are in server/http/fields.json; all routes but the first take document_key. A client needs
 * both id and key. For others, and after a restart, the document does not exist (404).
 */
#ifndef MT_SERVER_API_DOCUMENT_API_H
#define MT_SERVER_API_DOCUMENT_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_document_handler;
extern const struct mt_handler mt_document_status_handler; /* the routes below /v2/document */

#endif
