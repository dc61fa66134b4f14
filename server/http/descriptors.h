/*
 * Open files: the system's limit on them (ulimit -n), and how many of them the daemon needs.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_DESCRIPTORS_H
#define MT_SERVER_HTTP_DESCRIPTORS_H

#include "base/status.h"

#include <stddef.h>

struct mt_settings;

/* The daemon's choice of max_connections, where the limit on open files allows it. */
#define MT_USUAL_CONNECTIONS 1024

/* Chooses max_connections if the setting is 0: MT_USUAL_CONNECTIONS or, if the hard limit has no
 * room for these and the files of models, as many as fit, but at least 1. In that case it returns
 * the hard limit that MT_USUAL_CONNECTIONS would need, otherwise 0. */
size_t mt_descriptors_choose(struct mt_settings *settings);

/* Raises the soft limit so that it is enough for these connections and the files of models, as far
 * as the hard limit allows. MT_LIMIT if that has no room for the connections. */
MT_MUST_CHECK enum mt_status mt_descriptors_reserve(size_t max_connections, struct mt_error *err);

#endif
