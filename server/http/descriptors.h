/*
 * Open files: the limit that the system sets (ulimit -n), and what the daemon needs of it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_DESCRIPTORS_H
#define MT_SERVER_HTTP_DESCRIPTORS_H

#include "base/status.h"

#include <stddef.h>

struct mt_settings;

/* What max_connections is where the settings leave it to us and the
 * limit on open files allows it. */
#define MT_USUAL_CONNECTIONS 1024

/* Chooses max_connections where the settings leave it to us (0): MT_USUAL_CONNECTIONS, or, where
 * the hard limit has no room for so many beside the files of models, fewer, but at least 1. Returns
 * the hard limit that MT_USUAL_CONNECTIONS would take where they became fewer, else 0. */
size_t mt_descriptors_choose(struct mt_settings *settings);

/* Raises the soft limit to what so many connections and the files of models need, as far as the
 * hard limit goes. MT_LIMIT: that has no room for the connections. */
MT_MUST_CHECK enum mt_status mt_descriptors_reserve(size_t max_connections, struct mt_error *err);

#endif
