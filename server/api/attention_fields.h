/*
 * Lists of token ids, as fields of /attention.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_API_ATTENTION_FIELDS_H
#define MT_SERVER_API_ATTENTION_FIELDS_H

#include "server/http/params.h"

#include <stdint.h>

struct mt_hparams;

/* Tokens that the decoder has to write. */
struct mt_token_ids {
    int32_t *ids; /* NULL: none are given */
    size_t n;
};
void mt_token_ids_finish(struct mt_token_ids *ids);

/* Reads a list of ids of the target vocabulary: an array, or "790,36,335". A missing or empty field
 * gives none. With ends, which is for a whole translation, the end of sentence is added where it is
 * missing; without, for a prefix, it is refused. MT_INVALID, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_token_ids_read(const struct mt_params *params, const char *field,
                                               const struct mt_hparams *hparams, bool ends,
                                               struct mt_token_ids *out, struct mt_error *err);

#endif
