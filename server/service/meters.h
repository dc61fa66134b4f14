/*
 * How much clients have asked for, by address and by key.
 *
 * Thread-safety: the limiters are safe.
 */
#ifndef MT_SERVER_SERVICE_METERS_H
#define MT_SERVER_SERVICE_METERS_H

#include "server/http/limiter.h"

/* Addresses whose requests are remembered; beyond, the one that has been quiet for longest is
 * forgotten. They take 2.8 MiB. */
#define MT_MAX_METERED_ADDRESSES 32768

/* The levels of all clients; they outlive reloads. */
struct mt_meters {
    struct mt_limiter *addresses;
    struct mt_limiter *keys; /* apart, so that no crowd of addresses makes them forgotten */
};

/* max_addresses: how many of them are remembered. */
MT_MUST_CHECK enum mt_status mt_meters_create(size_t max_addresses, struct mt_meters *out,
                                              struct mt_error *err);
/* The memory that they may come to take. */
uint64_t mt_meters_bytes(size_t max_addresses);
/* Takes zeroed ones. */
void mt_meters_destroy(struct mt_meters *meters);

#endif
