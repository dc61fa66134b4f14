#include "base/flat.h"

#include <string.h>

#define NUMBER_BYTES sizeof(size_t)

void mt_flat_put_number(struct mt_text *out, size_t number)
{
    char bytes[NUMBER_BYTES];
    memcpy(bytes, &number, sizeof bytes);
    mt_text_append(out, bytes, sizeof bytes);
}

void mt_flat_put_text(struct mt_text *out, const struct mt_text *text)
{
    mt_flat_put_number(out, text->length);
    mt_text_append(out, text->bytes ? text->bytes : "", text->length);
}

void mt_flat_put_string(struct mt_text *out, const char *bytes, size_t length)
{
    mt_flat_put_number(out, length);
    mt_text_append(out, bytes, length);
    mt_text_append(out, "", 1);
}

size_t mt_flat_number(struct mt_flat *flat, size_t most)
{
    size_t number = 0;
    if (!flat->is_broken && flat->length - flat->at >= NUMBER_BYTES) {
        memcpy(&number, flat->bytes + flat->at, NUMBER_BYTES);
        flat->at += NUMBER_BYTES;
        if (number <= most)
            return number;
    }
    flat->is_broken = true;
    return 0;
}

size_t mt_flat_count(struct mt_flat *flat)
{
    return mt_flat_number(flat, (flat->length - flat->at) / NUMBER_BYTES);
}

void mt_flat_text(struct mt_flat *flat, struct mt_text *out)
{
    size_t n = mt_flat_number(flat, flat->length - flat->at);
    if (n > flat->length - flat->at)
        n = 0, flat->is_broken = true;
    const char *bytes = n > 0 ? flat->bytes + flat->at : "";
    if (mt_utf8_valid_prefix(bytes, n) < n || memchr(bytes, '\0', n))
        n = 0, flat->is_broken = true;
    mt_text_append(out, bytes, n);
    flat->at += n;
}

const char *mt_flat_string(struct mt_flat *flat, size_t *length)
{
    size_t n = mt_flat_number(flat, flat->length - flat->at);
    const char *bytes = flat->bytes + flat->at;
    flat->is_broken = flat->is_broken || n >= flat->length - flat->at || bytes[n] != '\0' ||
                      memchr(bytes, '\0', n) || mt_utf8_valid_prefix(bytes, n) < n;
    if (length)
        *length = flat->is_broken ? 0 : n;
    if (flat->is_broken)
        return "";
    flat->at += n + 1;
    return bytes;
}

enum mt_status mt_flat_end(const struct mt_flat *flat, const char *what, struct mt_error *err)
{
    if (!flat->is_broken && flat->at == flat->length)
        return MT_OK;
    return mt_fail(err, MT_FORMAT,
                   "%s: the process that read it gave what is no table of texts (at byte %zu of "
                   "%zu)",
                   what, flat->at, flat->length);
}
