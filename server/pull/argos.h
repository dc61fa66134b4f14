/*
 * The package index of Argos Translate, one document with all packages:
 *
 *   [{"from_code": "en", "to_code": "fr", "package_version": "1.9", "code": "translate-en_fr",
 *     "links": ["https://.../translate-en_fr-1_9.argosmodel"]}]
 *
 * Some entries are of another "type" than "translate" (sentence boundaries), and have no two
 * languages. The index has no sizes, digests or licences. Nothing here connects to anything.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_ARGOS_H
#define MT_SERVER_PULL_ARGOS_H

#include "server/pull/remote.h"

/* Where index.json lies, unless ARGOS_PACKAGE_INDEX says another place, as it does to Argos
 * Translate. */
#define MT_ARGOS_INDEX "https://raw.githubusercontent.com/argosopentech/argospm-index/main"

/* The URL of the index; a setting that ends in ".json" is that already. */
void mt_argos_append_index_url(const char *setting, struct mt_text *out);

/* The newest package of a pair, or that of the version which the name asks for: one file, named as
 * its link. MT_NOT_FOUND tells what there is from that language. *out is the caller's. */
MT_MUST_CHECK enum mt_status mt_argos_read_package(const char *bytes, size_t length,
                                                   const struct mt_pull_name *name,
                                                   struct mt_remote **out, struct mt_error *err);

/* Adds the packages that translate from the language. */
MT_MUST_CHECK enum mt_status mt_argos_read_index(const char *bytes, size_t length,
                                                 const char *language, struct mt_offers *offers,
                                                 struct mt_error *err);

#endif
