/*
 * Writes the models that can be pulled for a language, as a table for people or JSON for programs:
 *
 *   [{"pull": "argos:en-fr", "registry": "argos", "source": "en", "target": "fr",
 *     "version": "1.9", "licence": null}]
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_LIST_REMOTE_H
#define MT_SERVER_PULL_LIST_REMOTE_H

#include "server/pull/remote.h"

void mt_offers_append_table(const struct mt_offers *offers, struct mt_text *out);
void mt_offers_append_json(const struct mt_offers *offers, struct mt_text *out);

#endif
