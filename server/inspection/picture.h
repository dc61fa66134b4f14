/*
 * Pictures of matrices: heat maps with labels, one or several in a grid, as SVG or PNG. Both are
 * made in strips while they are sent.
 *
 *   title
 *              / / /  column labels
 *   row labels ■ ■ ■
 *              ■ ■ ■
 *
 * Labels in a PNG are drawn with DejaVu Sans or another font of the machine, so that a PNG with
 * labels needs one. SVG leaves fonts to the viewer.
 *
 * Thread-safety: one thread at a time for each picture.
 */
#ifndef MT_SERVER_INSPECTION_PICTURE_H
#define MT_SERVER_INSPECTION_PICTURE_H

#include "server/http/stream.h"

/* Greatest width and height of a picture in pixels. */
#define MT_PICTURE_MAX_SIDE 16384

struct mt_panel {
    const char *title; /* NULL: none */
    size_t n_rows, n_columns;
    const char *const *row_labels, *const *column_labels; /* NULL: none */
    /* the values of the lightest and darkest colour; low < 0: 0 is white, and each sign has a
     * colour of its own */
    double low, high;
    int cell;         /* side of a matrix element in pixels; 0: chosen by the matrix's size */
    bool starts_line; /* begins a new line of panels; the first one always does */
};

/* Borrowed until destroy(context) is called, except the struct itself. */
struct mt_picture_source {
    const struct mt_panel *panels;
    size_t n_panels;
    const char *caption; /* text below everything; NULL: none */
    /* Returns n_columns numbers, valid until the next call. */
    const float *(*row)(void *context, size_t panel, size_t row);
    void (*destroy)(void *context);
    void *context;
};

/* Both take over the source, even if they fail. MT_LIMIT: larger than MT_PICTURE_MAX_SIDE.
 * MT_UNSUPPORTED: PNG without a font. */
MT_MUST_CHECK enum mt_status mt_picture_svg(const struct mt_picture_source *source,
                                            struct mt_stream **out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_picture_png(const struct mt_picture_source *source,
                                            struct mt_stream **out, struct mt_error *err);

/* Colours -------------------------------------------------------------------------------------- */

struct mt_color {
    uint8_t red, green, blue;
};

/* For a dark terminal: brighter, the nearer value is to high. */
struct mt_color mt_color_dark(double value, double low, double high);

/* For the two files that implement SVG and PNG ------------------------------------------------- */

enum mt_anchor { MT_ANCHOR_START, MT_ANCHOR_END };

struct mt_canvas {
    void (*fill)(struct mt_canvas *canvas, int x, int y, int width, int height,
                 struct mt_color color);
    /* x, y is the baseline's start (or end). is_tilted: it rises by 45 degrees. */
    void (*text)(struct mt_canvas *canvas, int x, int y, enum mt_anchor anchor, bool is_tilted,
                 const char *text);
    int top, bottom;    /* only this strip is drawn */
    bool has_lost_text; /* memory for a label was missing; the canvas's owner handles this */
};

#define MT_PICTURE_FONT_PIXELS 12
#define MT_PICTURE_LABEL_COLUMNS 24

struct mt_placed_panel {
    int x, y, cell; /* position of the matrix' first element */
    int title_y;    /* position of the title's baseline */
};

struct mt_picture {
    struct mt_picture_source source;
    struct mt_placed_panel *places;
    int width, height;
    bool has_text;
};

/* Takes over the source, even if it fails. */
MT_MUST_CHECK enum mt_status mt_picture_place(const struct mt_picture_source *source,
                                              struct mt_picture **out, struct mt_error *err);
void mt_picture_destroy(struct mt_picture *picture);

/* The position in drawing a picture: a panel's texts come first, then its rows, then the next
 * panel, and the caption last. */
struct mt_picture_step {
    size_t panel, row;
    bool has_texts; /* the panel's texts have been drawn */
};
/* Draws the next item; false where there was none. Items outside of the canvas' strip are
 * skipped. */
bool mt_picture_draw(const struct mt_picture *picture, struct mt_picture_step *step,
                     struct mt_canvas *canvas);

#endif
