/*
 * A number that stands for all that an inspection shows: the same one for the same numbers, tokens
 * and options, on any machine of the same byte order.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_DIGEST_H
#define MT_SERVER_INSPECTION_INSPECTION_DIGEST_H

#include "server/inspection/inspection.h"

/* Goes on from the digest of what else belongs to it (base/hash.h). Reads every number once. */
uint64_t mt_inspection_digest(struct mt_inspection *inspection, uint64_t digest);

#endif
