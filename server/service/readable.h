/*
 * Lists the directories and files that a daemon reads after its start, for the sandbox: those that
 * its settings name, as they are now and as they may be replaced.
 *
 *   models directories    and everything in them; the targets of links in them, and what is beside
 *                         these
 *   a model, a file       and what is beside it, because it is replaced by a rename; for a link
 *                         also what is beside the target
 *   the system            time zones, fonts, and the kernel's files about processes and processors
 *
 * Thread-safety: safe while nobody changes the environment.
 */
#ifndef MT_SERVER_SERVICE_READABLE_H
#define MT_SERVER_SERVICE_READABLE_H

#include "base/status.h"

#include <stddef.h>

struct mt_settings;

/* Most paths of a list; targets of further links cannot be read. */
#define MT_MAX_READABLE 4096

struct mt_readable {
    char **paths; /* absolute, without links, and none below another */
    size_t n, capacity;
};

/* config_path: NULL where there is none. The system's paths come last. Paths that do not exist are
 * left out, and so are those that the sandbox allows to be written. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_readable_list(const struct mt_settings *settings,
                                              const char *config_path, struct mt_readable *out,
                                              struct mt_error *err);
/* A zeroed list is allowed. */
void mt_readable_finish(struct mt_readable *readable);

#endif
