/*
 * What a daemon reads once it has started, as lists of directories and files for the sandbox: what
 * its settings name, as it is and as it may be renewed.
 *
 *   models directories    and all that is in them; what links in them lead to, and beside that
 *   a model, a file       and what is beside it, because it is replaced by a rename; where it is a
 *                         link, what is beside the target, too
 *   the system            time zones, fonts, and what the kernel says of processes and processors
 *
 * Thread-safety: safe while nobody changes the environment.
 */
#ifndef MT_SERVER_SERVICE_READABLE_H
#define MT_SERVER_SERVICE_READABLE_H

#include "base/status.h"

#include <stddef.h>

struct mt_settings;

/* Most paths of a list: what more links lead to cannot be read. */
#define MT_MAX_READABLE 4096

struct mt_readable {
    char **paths; /* absolute, without links, and none below another */
    size_t n, capacity;
};

/* config_path: NULL where there is none. The system comes last. What does not exist is left out, and
 * so is what the sandbox lets the daemon write. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_readable_list(const struct mt_settings *settings,
                                              const char *config_path, struct mt_readable *out,
                                              struct mt_error *err);
/* Takes zeroed ones. */
void mt_readable_finish(struct mt_readable *readable);

#endif
