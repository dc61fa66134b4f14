/*
 * Counts how much clients have requested, by address and by key.
 *
 * Thread-safety: the limiters are safe.
 */
#ifndef MT_SERVER_SERVICE_METERS_H
#define MT_SERVER_SERVICE_METERS_H

#include "server/http/limiter.h"

/* Addresses that are remembered; if there are more, then the one without requests for longest is
 * forgotten. They take 2.8 MiB. */
#define MT_MAX_METERED_ADDRESSES 32768

/* The levels of all clients, which outlive reloads. */
struct mt_meters {
    struct mt_limiter *addresses;
    struct mt_limiter *keys; /* separate, so that many addresses cannot displace keys */
};

/* max_addresses: how many of them are remembered. */
MT_MUST_CHECK enum mt_status mt_meters_create(size_t max_addresses, struct mt_meters *out,
                                              struct mt_error *err);
/* Returns the most memory that the meters use. */
uint64_t mt_meters_bytes(size_t max_addresses);
/* A zeroed struct is allowed. */
void mt_meters_destroy(struct mt_meters *meters);

#endif
