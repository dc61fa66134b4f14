/*
 * What translated files are called, and where clients find them.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_SERVICE_FILE_NAMES_H
#define MT_SERVER_SERVICE_FILE_NAMES_H

#include "base/text.h"

/* Room for any name that mt_file_name_translated makes. */
#define MT_FILE_NAME_BYTES 256

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

/* MT_INVALID for a public_url that is none; "" is one. */
MT_MUST_CHECK enum mt_status mt_files_check_url(const char *public_url, struct mt_error *err);

#endif
