/*
 * The positional encoding that the model adds to its embeddings (Vaswani et al. 2017, section 3.5),
 * as numbers or as a picture, in either layout.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_POSITIONS_H
#define MT_SERVER_INSPECTION_POSITIONS_H

#include "model/files/positions.h"
#include "server/inspection/inspection_formats.h"

#define MT_POSITIONS_MAX_ROWS 4096

struct mt_positions_request {
    const char *model_id;
    struct mt_position_scheme scheme;
    size_t n_rows, d_model;           /* positions 0 to n_rows - 1 */
    enum mt_inspection_format format; /* json, npy, svg or png */
};

/* Reads "concatenated" or "interleaved"; NULL and "" leave *out unchanged. */
MT_MUST_CHECK enum mt_status
mt_position_layout_parse(const char *text, enum mt_position_layout *out, struct mt_error *err);

/* MT_INVALID: the format is not one of those above. */
MT_MUST_CHECK enum mt_status mt_positions_render(const struct mt_positions_request *request,
                                                 struct mt_stream **out, struct mt_error *err);

#endif
