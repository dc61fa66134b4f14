/*
 * Files, LibreTranslate's way: POST /translate_file takes a form with a file and answers
 * {"translatedFileUrl": "http://..."}, from where GET /download_file/NAME fetches it, once or
 * often, until it expires.
 *
 * Its fields are in server/http/fields.json; "models" and "via" of the reply are as for /translate.
 * All words of a file count as one text, against max_text_chars. The reply has "terms" as that of
 * /translate where the request has some, "encoding" of the file that was written, how many "texts"
 * the file has and how many were "translated"; the first of the others are in "left", with the
 * reason. "message" says so where none was.
 */
#ifndef MT_SERVER_API_FILES_API_H
#define MT_SERVER_API_FILES_API_H

#include "server/requests/handler.h"

struct mt_json_writer;

extern const struct mt_handler mt_translate_file_handler, mt_download_file_handler;

/* For /frontend/settings: [".txt", ...], and nothing where files are not translated. */
void mt_files_write_extensions(struct mt_json_writer *writer, const struct mt_settings *settings);

/*
 * For the other door, document_api.h.
 */
struct mt_params_file;
/* The field "file". MT_INVALID: there is none; MT_LIMIT: it is longer than max_document_bytes. */
MT_MUST_CHECK enum mt_status mt_files_read_file(const struct mt_request *request,
                                                const struct mt_params_file **out,
                                                struct mt_error *err);
/* Makes the reply one that says so; MT_OK. */
enum mt_status mt_files_refuse_disabled(struct mt_request *request);
/* Makes the reply the translated file of that name. MT_NOT_FOUND, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_files_send(struct mt_request *request, const char *name,
                                           struct mt_error *err);

#endif
