/*
 * Mozilla's records of the models that Firefox translates with: the collection translations-models
 * of Remote Settings. Nothing here connects to anything.
 *
 *   GET SERVER/v1/       {"capabilities": {"attachments": {"base_url": "https://.../"}}}
 *   GET SERVER/v1/buckets/main/collections/translations-models/records
 *       {"data": [{"fromLang", "toLang", "version", "fileType": "model" | "lex" | "vocab" |
 *                  "srcvocab" | "trgvocab" | "qualityModel",
 *                  "attachment": {"hash": sha256, "size", "location", "filename"}}]}
 *
 * A model is all records of one pair and version but the quality model; a version with a letter in
 * it ("1.0a1") is a draft. Mozilla's documentation says that the files are under the MPL 2.0.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_FIREFOX_H
#define MT_SERVER_PULL_FIREFOX_H

#include "server/pull/remote.h"

#define MT_FIREFOX_SERVER "https://firefox.settings.services.mozilla.com" /* FIREFOX_ENDPOINT */
#define MT_FIREFOX_LICENCE "mpl-2.0"

void mt_firefox_append_root_url(const char *server, struct mt_text *out);
void mt_firefox_append_records_url(const char *server, struct mt_text *out);

/* Where attachments lie, from the server's root document: appended, with a slash at its end. */
MT_MUST_CHECK enum mt_status mt_firefox_read_root(const char *bytes, size_t length,
                                                  struct mt_text *out, struct mt_error *err);

/* The newest release for a pair, or the version that the name asks for. base is what
 * mt_firefox_read_root gave. *out is the caller's. */
MT_MUST_CHECK enum mt_status mt_firefox_read_model(const char *bytes, size_t length,
                                                   const char *base,
                                                   const struct mt_pull_name *name,
                                                   struct mt_remote **out, struct mt_error *err);

/* Adds the models that translate from the language. */
MT_MUST_CHECK enum mt_status mt_firefox_read_records(const char *bytes, size_t length,
                                                     const char *language, struct mt_offers *offers,
                                                     struct mt_error *err);

#endif
