/*
 * An inspection for the eye: pictures (behind mt_inspection_render) and the terminal's heat map.
 * Sentences come below each other; where every head was asked for, a grid with a line per layer.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_IMAGE_H
#define MT_SERVER_INSPECTION_INSPECTION_IMAGE_H

#include "server/inspection/inspection.h"

struct mt_terminal {
    bool has_color;   /* 24 bits; else weights are written in percent */
    size_t n_columns; /* wider matrices are cut into blocks; 0: no limit */
    size_t sentence;  /* or MT_ALL_SENTENCES */
};

/* Appends texts, heat maps and, where they were asked for, the most probable next tokens. */
MT_MUST_CHECK enum mt_status mt_inspection_draw_terminal(struct mt_inspection *inspection,
                                                         const struct mt_terminal *terminal,
                                                         struct mt_text *out, struct mt_error *err);

#endif
