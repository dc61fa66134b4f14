/*
 * Sums of engines' statistics: of one that is gone and those that are left.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_ENGINE_STATS_H
#define MT_SERVER_ENGINE_STATS_H

#include "server/engine.h"

/* Adds the counters, which only grow; what is now (workers, queue, what runs) stays as it is. */
void mt_engine_stats_add_counters(const struct mt_engine_stats *from, struct mt_engine_stats *to);

/* Adds the sentences and rows that run now, too. */
void mt_engine_stats_add(const struct mt_engine_stats *from, struct mt_engine_stats *to);

#endif
