/*
 * Mozilla's records of the models that Firefox translates with: the collection translations-models
 * of Remote Settings. This module makes no connections.
 *
 *   GET SERVER/v1/       {"capabilities": {"attachments": {"base_url": "https://.../"}}}
 *   GET SERVER/v1/buckets/main/collections/translations-models/records
 *       {"data": [{"fromLang", "toLang", "version", "fileType": "model" | "lex" | "vocab" |
 *                  "srcvocab" | "trgvocab" | "qualityModel",
 *                  "attachment": {"hash": sha256, "size", "location", "filename"}}]}
 *
 * A model consists of all records of one pair and version except the quality model. A version with
 * a letter in it ("1.0a1") is a draft. Mozilla's documentation says that the files are under the
 * MPL 2.0.
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

/* Appends the base of attachments' URLs, with a slash at its end, from the server's root
 * document. */
MT_MUST_CHECK enum mt_status mt_firefox_read_root(const char *bytes, size_t length,
                                                  struct mt_text *out, struct mt_error *err);

/* Finds the newest release for a pair, or the version that the name contains. base comes from
 * mt_firefox_read_root. The caller owns *out. */
MT_MUST_CHECK enum mt_status mt_firefox_read_model(const char *bytes, size_t length,
                                                   const char *base,
                                                   const struct mt_pull_name *name,
                                                   struct mt_remote **out, struct mt_error *err);

/* Adds the models with this source language. */
MT_MUST_CHECK enum mt_status mt_firefox_read_records(const char *bytes, size_t length,
                                                     const char *language, struct mt_offers *offers,
                                                     struct mt_error *err);

#endif
