#include "base/random.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

enum mt_status mt_random_hex(size_t n_bytes, const char *what, char *out, struct mt_error *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[MT_RANDOM_MAX_BYTES];
    ssize_t n;
    assert(n_bytes <= sizeof bits);
    do
        n = getrandom(bits, n_bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)n_bytes)
        return mt_fail(err, MT_IO, "no random numbers for %s: %s", what,
                       n < 0 ? strerror(errno) : "too few");
    for (size_t i = 0; i < n_bytes; i++) {
        out[2 * i] = digits[bits[i] >> 4];
        out[2 * i + 1] = digits[bits[i] & 15];
    }
    out[2 * n_bytes] = '\0';
    return MT_OK;
}

enum mt_status mt_random_uuid(const char *what, char out[MT_UUID_BYTES], struct mt_error *err)
{
    static const char form[MT_UUID_BYTES] = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
    char digits[33];
    enum mt_status status = mt_random_hex(16, what, digits, err);
    for (size_t i = 0, at = 0; i < sizeof form && !status; i++) {
        bool is_digit = form[i] == 'x' || form[i] == 'y';
        out[i] = form[i] == 'x' ? digits[at] : form[i] == 'y' ? "89ab"[digits[at] % 4] : form[i];
        at += is_digit;
    }
    return status;
}
