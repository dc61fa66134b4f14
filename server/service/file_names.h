/*
 * Names of translated files, and the URLs under which clients find them.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_SERVICE_FILE_NAMES_H
#define MT_SERVER_SERVICE_FILE_NAMES_H

#include "base/text.h"

/* Room for any name that mt_file_name_translated makes. */
#define MT_FILE_NAME_BYTES 256

/* Makes the name of a translated file: "Film.en.srt" becomes "Film.de.srt"; "de.po" stays, since
 * catalogues are named after their target language. Folders, control characters and characters with
 * a meaning for shells and file systems are left out of the client's name. Languages and extension
 * are ours. */
void mt_file_name_translated(const char *file_name, const char *source, const char *target,
                             const char *extension, char out[MT_FILE_NAME_BYTES]);

/* Appends "attachment; filename=..." (RFC 6266). */
void mt_file_write_disposition(const char *file_name, struct mt_text *out);

/* Appends the server's address for this client, without a slash at the end: public_url, or what the
 * headers Host and X-Forwarded-Proto (may be NULL) say. MT_INVALID: Host is missing or
 * malformed. */
MT_MUST_CHECK enum mt_status mt_files_base_url(const char *public_url, const char *host,
                                               const char *forwarded_proto, struct mt_text *out,
                                               struct mt_error *err);

/* MT_INVALID for a malformed public_url; "" is allowed. */
MT_MUST_CHECK enum mt_status mt_files_check_url(const char *public_url, struct mt_error *err);

#endif
