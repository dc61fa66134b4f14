/*
 * LibreTranslate's routes for files: POST /translate_file takes a form with a file and replies
 * {"translatedFileUrl": "http://..."}, which names GET /download_file/NAME. The file can be
 * downloaded any number of times until it expires.
 *
 * Its fields are in server/http/fields.json; "models" and "via" of the reply are as for /translate.
 * All words of a file count as one text for max_text_chars. The reply has "terms" as for /translate
 * if the request has some, the "encoding" of the written file, the number of "texts" in the file
 * and how many were "translated". "left" lists the first of the others, with the reasons, and
 * "message" tells that no text was translated.
 */
#ifndef MT_SERVER_API_FILES_API_H
#define MT_SERVER_API_FILES_API_H

#include "server/requests/handler.h"

struct mt_json_writer;

extern const struct mt_handler mt_translate_file_handler, mt_download_file_handler;

/* Writes the list [".txt", ...] for /frontend/settings, which is empty where files are not
 * translated. */
void mt_files_write_extensions(struct mt_json_writer *writer, const struct mt_settings *settings);

/*
 * document_api.h shares the following.
 */
struct mt_params_file;
/* Reads the field "file". MT_INVALID: there is none; MT_LIMIT: it is longer than
 * max_document_bytes. */
MT_MUST_CHECK enum mt_status mt_files_read_file(const struct mt_request *request,
                                                const struct mt_params_file **out,
                                                struct mt_error *err);
/* Sets the reply that says that files are not translated. Returns MT_OK. */
enum mt_status mt_files_refuse_disabled(struct mt_request *request);
/* Sends the translated file of that name as the reply. MT_NOT_FOUND, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_files_send(struct mt_request *request, const char *name,
                                           struct mt_error *err);

#endif
