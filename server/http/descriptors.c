#include "server/http/descriptors.h"

#include "base/fault.h"
#include "config/settings.h"
#include "server/http/connections.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Descriptors for everything but the clients' connections and the files of models: logs, epolls,
 * listeners, connections beyond the limit that are being refused, and the same for the admin
 * socket. */
#define OTHER_DESCRIPTORS (64 + MT_ADMIN_CONNECTIONS + 2 * MT_CONNECTIONS_OVER_LIMIT)

/* Each mapped file of a model keeps a descriptor open. Where the daemon chooses how many
 * connections there may be, it leaves a quarter of the limit to these files: of 1024 this is 204
 * files, and most models are one file. */
static rlim_t room_for_connections(rlim_t limit)
{
    return limit > OTHER_DESCRIPTORS ? (limit - OTHER_DESCRIPTORS) / 4 * 3 : 0;
}

size_t mt_descriptors_choose(struct mt_settings *settings)
{
    struct rlimit limit;
    if (settings->max_connections > 0)
        return 0;
    settings->max_connections = MT_USUAL_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    rlim_t room = room_for_connections(limit.rlim_max);
    if (room >= MT_USUAL_CONNECTIONS)
        return 0;
    settings->max_connections = room > 0 ? (int64_t)room : 1;
    return OTHER_DESCRIPTORS + (MT_USUAL_CONNECTIONS + 2) / 3 * 4;
}

static enum mt_status refuse(size_t max_connections, rlim_t needed, rlim_t allowed,
                             struct mt_error *err)
{
    char lower[64] = "";
    if (allowed > OTHER_DESCRIPTORS)
        snprintf(lower, sizeof lower, ", or lower max_connections to %llu",
                 (unsigned long long)(allowed - OTHER_DESCRIPTORS));
    return mt_fail(err, MT_LIMIT,
                   "max_connections is %zu, which needs %llu open files, but the limit is %llu "
                   "(ulimit -n); raise it (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of "
                   "Docker)%s",
                   max_connections, (unsigned long long)needed, (unsigned long long)allowed, lower);
}

enum mt_status mt_descriptors_reserve(size_t max_connections, struct mt_error *err)
{
    rlim_t needed = max_connections + OTHER_DESCRIPTORS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return mt_fail(err, MT_IO, "cannot read the limit on open files: %s", strerror(errno));
    rlim_t wanted = needed + MT_MAX_FAULT_RANGES;
    if (limit.rlim_cur >= wanted)
        return MT_OK;
    rlim_t allowed = limit.rlim_max;
    limit.rlim_cur = wanted < allowed ? wanted : allowed;
    if (needed > allowed)
        return refuse(max_connections, needed, allowed, err);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return mt_fail(err, MT_IO, "cannot raise the limit on open files to %llu: %s",
                       (unsigned long long)limit.rlim_cur, strerror(errno));
    return MT_OK;
}
