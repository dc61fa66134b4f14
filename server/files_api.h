/*
 * Files, LibreTranslate's way: POST /translate_file takes a form with a file and answers
 * {"translatedFileUrl": "http://..."}, from where GET /download_file/NAME fetches it, once or
 * often, until it expires.
 *
 *   file           .txt, .srt, .vtt, .html or .po (document.h)
 *   source         language code, or "auto": then the file's is detected, and refused by its name
 *                  where no model takes it
 *   target         language code
 *   model          as for /translate; so are "models" and "via" of the reply
 *   retranslate    po: true translates the entries that have a translation, too
 *   split_sentences, post_edit, do_not_translate, glossary, length_penalty and the like: as for
 *                  /translate
 *
 * All texts of a file count as one, against max_text_chars. The reply has "terms" as that of
 * /translate where the request has some, and "texts_left", a number, where texts stayed as they
 * were because their translation would have lost a placeholder (document.h).
 */
#ifndef MT_SERVER_FILES_API_H
#define MT_SERVER_FILES_API_H

#include "server/handler.h"

struct mt_json_writer;

/* Room for any name that mt_file_name_translated makes. */
#define MT_FILE_NAME_BYTES 256

extern const struct mt_handler mt_translate_file_handler, mt_download_file_handler;

/* For /frontend/settings: [".txt", ...], and nothing where files are not translated. */
void mt_files_write_extensions(struct mt_json_writer *writer, const struct mt_settings *settings);

/* MT_INVALID for a public_url that is none. */
MT_MUST_CHECK enum mt_status mt_files_check_settings(const struct mt_settings *settings,
                                                     struct mt_error *err);

/* What a translated file is called: "Film.en.srt" to "Film.de.srt"; "de.po" stays, since catalogues
 * are named after the language that they are for. Folders, control characters and
 * what shells and file systems stumble over are left out, whatever the client says. Languages and
 * extension are ours. */
void mt_file_name_translated(const char *file_name, const char *source, const char *target,
                             const char *extension, char out[MT_FILE_NAME_BYTES]);

/* Appends "attachment; filename=..." (RFC 6266). */
void mt_file_write_disposition(const char *file_name, struct mt_text *out);

/* Appends where the server is for this client, without a slash at the end: public_url, or what the
 * headers Host and X-Forwarded-Proto (may be NULL) say. MT_INVALID: Host is missing, or none. */
MT_MUST_CHECK enum mt_status mt_files_base_url(const char *public_url, const char *host,
                                               const char *forwarded_proto, struct mt_text *out,
                                               struct mt_error *err);

#endif
