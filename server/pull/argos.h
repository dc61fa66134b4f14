/*
 * The package index of Argos Translate, one document with all packages:
 *
 *   [{"from_code": "en", "to_code": "fr", "package_version": "1.9", "code": "translate-en_fr",
 *     "links": ["https://.../translate-en_fr-1_9.argosmodel"]}]
 *
 * Some entries have another "type" than "translate" (sentence boundaries), and no pair of
 * languages. The index has no sizes, digests or licences. This module makes no connections.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_ARGOS_H
#define MT_SERVER_PULL_ARGOS_H

#include "server/pull/remote.h"

/* The folder of index.json. The variable ARGOS_PACKAGE_INDEX names another one, as for Argos
 * Translate. */
#define MT_ARGOS_INDEX "https://raw.githubusercontent.com/argosopentech/argospm-index/main"

/* Appends the URL of the index. A setting that ends in ".json" is that URL already. */
void mt_argos_append_index_url(const char *setting, struct mt_text *out);

/* Finds the newest package of a pair, or the version that the name contains: a model of one file,
 * which is named after its link. MT_NOT_FOUND tells which packages there are for the source
 * language. The caller owns *out. */
MT_MUST_CHECK enum mt_status mt_argos_read_package(const char *bytes, size_t length,
                                                   const struct mt_pull_name *name,
                                                   struct mt_remote **out, struct mt_error *err);

/* Adds the packages with this source language. */
MT_MUST_CHECK enum mt_status mt_argos_read_index(const char *bytes, size_t length,
                                                 const char *language, struct mt_offers *offers,
                                                 struct mt_error *err);

#endif
