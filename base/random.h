/*
 * Names that nobody can guess.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_RANDOM_H
#define MT_BASE_RANDOM_H

#include "base/status.h"

/* Most random bytes of a name. */
#define MT_RANDOM_MAX_BYTES 32

/* Writes 2 * n_bytes hexadecimal digits in lower case and a NUL, of as many random bytes of the
 * system's; at most MT_RANDOM_MAX_BYTES. what is said in the message. MT_IO: the system has none. */
MT_MUST_CHECK enum mt_status mt_random_hex(size_t n_bytes, const char *what, char *out,
                                           struct mt_error *err);

/* "96ab91fd-e715-41a1-adeb-5d701f84a483": a UUID of version 4 (RFC 9562, 5.4). MT_IO. */
#define MT_UUID_BYTES 37
MT_MUST_CHECK enum mt_status mt_random_uuid(const char *what, char out[MT_UUID_BYTES],
                                            struct mt_error *err);

#endif
