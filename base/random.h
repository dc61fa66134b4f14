/*
 * Random names that cannot be guessed.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_RANDOM_H
#define MT_BASE_RANDOM_H

#include "base/status.h"

/* Most random bytes of a name. */
#define MT_RANDOM_MAX_BYTES 32

/* Writes n_bytes of the system's random bytes as 2 * n_bytes hexadecimal digits in lower case, and
 * a NUL; n_bytes is at most MT_RANDOM_MAX_BYTES. what is for the message. MT_IO: the system has no
 * random bytes. */
MT_MUST_CHECK enum mt_status mt_random_hex(size_t n_bytes, const char *what, char *out,
                                           struct mt_error *err);

/* Writes a UUID of version 4 (RFC 9562, 5.4), such as "96ab91fd-e715-41a1-adeb-5d701f84a483".
 * MT_IO. */
#define MT_UUID_BYTES 37
MT_MUST_CHECK enum mt_status mt_random_uuid(const char *what, char out[MT_UUID_BYTES],
                                            struct mt_error *err);

#endif
