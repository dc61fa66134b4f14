/*
 * Names of elements, as a field of a request lists them: ["x", "y"], "x,y", or a field that a form
 * repeats.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_TAG_NAMES_H
#define MT_SERVER_HTTP_TAG_NAMES_H

#include "server/http/params.h"

#define MT_MAX_TAG_NAMES 64

/* Has to be zero-initialised. */
struct mt_tag_names {
    const char *items[MT_MAX_TAG_NAMES];
    size_t n;
    struct mt_text bytes;
};

/* MT_INVALID for what cannot be an element's name, MT_LIMIT for too many. The caller finishes *out
 * after a failure, too. */
MT_MUST_CHECK enum mt_status mt_tag_names_read(const struct mt_params *params, const char *field,
                                               struct mt_tag_names *out, struct mt_error *err);
void mt_tag_names_finish(struct mt_tag_names *names);

#endif
