/*
 * A digest of everything that an inspection shows: equal for equal numbers, tokens and options, on
 * any machine of the same byte order.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_DIGEST_H
#define MT_SERVER_INSPECTION_INSPECTION_DIGEST_H

#include "server/inspection/inspection.h"

/* Continues from a digest of other data (base/hash.h). Every number is read once. */
uint64_t mt_inspection_digest(struct mt_inspection *inspection, uint64_t digest);

#endif
