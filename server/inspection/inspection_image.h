/*
 * An inspection as pictures (for mt_inspection_render) and as a heat map on the terminal. Sentences
 * are below each other; if every head was requested, there is a grid with a line for each layer.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_IMAGE_H
#define MT_SERVER_INSPECTION_INSPECTION_IMAGE_H

#include "server/inspection/inspection.h"

struct mt_terminal {
    bool has_color;   /* 24 bits; otherwise weights are written in percent */
    size_t n_columns; /* wider matrices are divided into blocks; 0: no limit */
    size_t sentence;  /* index, or MT_ALL_SENTENCES */
};

/* Appends texts, heat maps and, if requested, the most probable next tokens. */
MT_MUST_CHECK enum mt_status mt_inspection_draw_terminal(struct mt_inspection *inspection,
                                                         const struct mt_terminal *terminal,
                                                         struct mt_text *out, struct mt_error *err);

#endif
