/*
 * The rows of the table, in two files. A new setting is added to the section that it belongs to.
 */
#ifndef MT_CONFIG_ROWS_H
#define MT_CONFIG_ROWS_H

#include "config/table.h"

#include <stddef.h>

#define ENGINE \
    (MT_VERB_SERVE | MT_VERB_TRANSLATE | MT_VERB_INSPECT | MT_VERB_BENCH | MT_VERB_CHECK_CONFIG)
#define DAEMON (MT_VERB_SERVE | MT_VERB_CHECK_CONFIG)
#define FIELD(name) .key = #name, .offset = offsetof(struct mt_settings, name)

/* Verbs that decode text, instead of only measuring the engine. */
#define DECODING (MT_VERB_SERVE | MT_VERB_TRANSLATE | MT_VERB_INSPECT | MT_VERB_CHECK_CONFIG)

extern const struct mt_setting mt_rows_engine[], mt_rows_daemon[];
extern const size_t mt_n_rows_engine, mt_n_rows_daemon;

#endif
