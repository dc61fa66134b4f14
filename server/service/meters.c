#include "server/service/meters.h"

#include "server/service/keys.h"

enum mt_status mt_meters_create(size_t max_addresses, struct mt_meters *out, struct mt_error *err)
{
    struct mt_meters meters = {0};
    enum mt_status status = mt_limiter_create(max_addresses, &meters.addresses, err);
    if (!status)
        status = mt_limiter_create(MT_MAX_KEYS, &meters.keys, err);
    if (status) {
        mt_meters_destroy(&meters);
        return status;
    }
    *out = meters;
    return MT_OK;
}

uint64_t mt_meters_bytes(size_t max_addresses)
{
    return mt_limiter_bytes(max_addresses) + mt_limiter_bytes(MT_MAX_KEYS);
}

void mt_meters_destroy(struct mt_meters *meters)
{
    mt_limiter_destroy(meters->addresses);
    mt_limiter_destroy(meters->keys);
    *meters = (struct mt_meters){0};
}
