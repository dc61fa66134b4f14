#include "server/inspection/picture.h"

#include "base/size.h"
#include "server/inspection/label.h"

#include <stdlib.h>

#define MARGIN 16
#define GAP 10
#define TITLE_HEIGHT 18
#define LINE_HEIGHT 16
#define LABEL_GAP 5
/* Assumed width of a letter: most letters of DejaVu Sans at 12 pixels are narrower. */
#define PIXELS_PER_COLUMN 8
/* Number of distinguishable colours; neighbours of equal colour are drawn as one. */
#define N_LEVELS 64

/* Colours -------------------------------------------------------------------------------------- */

struct stop {
    double red, green, blue;
};

static const struct stop blues[] = {
    {255, 255, 255}, {201, 221, 240}, {112, 166, 212}, {36, 96, 167}, {8, 34, 82}};
static const struct stop reds[] = {
    {255, 255, 255}, {250, 214, 196}, {235, 141, 110}, {188, 54, 48}, {94, 8, 26}};
static const struct stop night[] = {
    {22, 24, 34}, {28, 52, 96}, {34, 112, 148}, {92, 190, 170}, {252, 246, 190}};
static const struct stop night_red[] = {
    {22, 24, 34}, {72, 34, 62}, {136, 48, 68}, {214, 104, 70}, {255, 214, 150}};

static struct mt_color blend(const struct stop *stops, double share)
{
    double at = share <= 0 ? 0 : share >= 1 ? 4 : share * 4;
    size_t i = at >= 4 ? 3 : (size_t)at;
    double rest = at - (double)i;
    const struct stop *a = &stops[i], *b = &stops[i + 1];
    return (struct mt_color){
        .red = (uint8_t)(a->red + (b->red - a->red) * rest + 0.5),
        .green = (uint8_t)(a->green + (b->green - a->green) * rest + 0.5),
        .blue = (uint8_t)(a->blue + (b->blue - a->blue) * rest + 0.5),
    };
}

static struct mt_color color(const struct stop *positive, const struct stop *negative, double value,
                             double low, double high)
{
    if (low < 0 && value < 0)
        return blend(negative, value / low);
    double from = low < 0 ? 0 : low;
    return blend(positive, high > from ? (value - from) / (high - from) : 0);
}

/* For a white background: darker, the nearer value is to high (or to low, in another colour, where
 * low is negative). */
static struct mt_color light_color(double value, double low, double high)
{
    return color(blues, reds, value, low, high);
}

struct mt_color mt_color_dark(double value, double low, double high)
{
    return color(night, night_red, value, low, high);
}

/* Places --------------------------------------------------------------------------------------- */

static int text_width(const char *text)
{
    return (int)mt_size_min(mt_label_columns(text), MT_PICTURE_MAX_SIDE / PIXELS_PER_COLUMN) *
           PIXELS_PER_COLUMN;
}

static int label_width(const char *text)
{
    int limit = MT_PICTURE_LABEL_COLUMNS * PIXELS_PER_COLUMN, width = text_width(text);
    return width < limit ? width : limit;
}

static int widest_label(const char *const *labels, size_t n)
{
    int widest = 0;
    for (size_t i = 0; labels && i < n; i++)
        if (label_width(labels[i]) > widest)
            widest = label_width(labels[i]);
    return widest;
}

/* Returns the side of a square with this diagonal, because labels of columns rise by 45 degrees. */
static int side_of_diagonal(int diagonal)
{
    return diagonal * 5 / 7;
}

/* Chooses the side of a cell in pixels: large enough for labels if then the whole picture fits a
 * screen. */
static int cell_for(const struct mt_panel *panel)
{
    size_t n = mt_size_max(panel->n_rows, panel->n_columns);
    if (panel->cell)
        return panel->cell;
    return n <= 32 ? 24 : n <= 64 ? 18 : n <= 128 ? 14 : n <= 256 ? 6 : 4;
}

/* Labels need rows at least as high as their letters. */
static bool shows_labels(const struct mt_panel *panel)
{
    return cell_for(panel) >= MT_PICTURE_FONT_PIXELS;
}

struct extent {
    size_t left, top, width, height; /* of the matrix within the panel; of the whole panel */
};

static struct extent measure(const struct mt_panel *panel)
{
    size_t cell = (size_t)cell_for(panel);
    struct extent extent = {.top = panel->title ? TITLE_HEIGHT : 0};
    size_t overhang = 0;
    if (shows_labels(panel) && panel->row_labels)
        extent.left = (size_t)widest_label(panel->row_labels, panel->n_rows) + LABEL_GAP;
    if (shows_labels(panel) && panel->column_labels) {
        overhang = (size_t)side_of_diagonal(widest_label(panel->column_labels, panel->n_columns));
        extent.top += overhang + LABEL_GAP + MT_PICTURE_FONT_PIXELS;
    }
    extent.width = extent.left + panel->n_columns * cell + overhang;
    extent.height = extent.top + panel->n_rows * cell;
    if (panel->title)
        extent.width = mt_size_max(extent.width, (size_t)text_width(panel->title));
    return extent;
}

/* Places panels in lines from left to right; each line is as high as its highest panel. */
struct pen {
    size_t x, y, line_height, right;
};

static bool place_panel(struct pen *pen, const struct mt_panel *panel, bool is_first,
                        struct mt_placed_panel *out)
{
    struct extent extent = measure(panel);
    if (panel->starts_line || is_first) {
        pen->y += pen->line_height ? pen->line_height + GAP : 0;
        pen->x = MARGIN;
        pen->line_height = 0;
    }
    size_t right = pen->x + extent.width, bottom = pen->y + extent.height;
    if (right > MT_PICTURE_MAX_SIDE || bottom > MT_PICTURE_MAX_SIDE)
        return false;
    out->cell = cell_for(panel);
    out->x = (int)(pen->x + extent.left);
    out->y = (int)(pen->y + extent.top);
    out->title_y = (int)pen->y + MT_PICTURE_FONT_PIXELS;
    pen->x = right + GAP;
    pen->right = mt_size_max(pen->right, right);
    pen->line_height = mt_size_max(pen->line_height, extent.height);
    return true;
}

static bool has_text(const struct mt_picture_source *source)
{
    for (size_t i = 0; i < source->n_panels; i++) {
        const struct mt_panel *panel = &source->panels[i];
        if (panel->title || (shows_labels(panel) && (panel->row_labels || panel->column_labels)))
            return true;
    }
    return source->caption;
}

static bool place_all(struct mt_picture *picture)
{
    const struct mt_picture_source *source = &picture->source;
    struct pen pen = {.x = MARGIN, .y = MARGIN};
    for (size_t i = 0; i < source->n_panels; i++)
        if (!place_panel(&pen, &source->panels[i], i == 0, &picture->places[i]))
            return false;
    if (source->caption)
        pen.right = mt_size_max(pen.right, MARGIN + (size_t)text_width(source->caption));
    size_t height = pen.y + pen.line_height + (source->caption ? LINE_HEIGHT + GAP : 0) + MARGIN;
    size_t width = pen.right + MARGIN;
    if (width > MT_PICTURE_MAX_SIDE || height > MT_PICTURE_MAX_SIDE)
        return false;
    picture->width = (int)width;
    picture->height = (int)height;
    picture->has_text = has_text(source);
    return true;
}

enum mt_status mt_picture_place(const struct mt_picture_source *source, struct mt_picture **out,
                                struct mt_error *err)
{
    struct mt_picture *picture = calloc(1, sizeof *picture);
    if (!picture) {
        source->destroy(source->context);
        return mt_fail_memory(err, sizeof *picture, "a picture");
    }
    picture->source = *source;
    picture->places = calloc(source->n_panels + 1, sizeof *picture->places);
    enum mt_status status = MT_OK;
    if (!picture->places)
        status = mt_fail_memory(err, source->n_panels * sizeof *picture->places, "a picture");
    else if (!place_all(picture))
        status = mt_fail(err, MT_LIMIT,
                         "the picture is wider or higher than %d pixels: ask for fewer sentences, "
                         "layers or heads",
                         MT_PICTURE_MAX_SIDE);
    if (status) {
        mt_picture_destroy(picture);
        return status;
    }
    *out = picture;
    return MT_OK;
}

void mt_picture_destroy(struct mt_picture *picture)
{
    if (!picture)
        return;
    picture->source.destroy(picture->source.context);
    free(picture->places);
    free(picture);
}

/* Drawing -------------------------------------------------------------------------------------- */

static bool is_outside(const struct mt_canvas *canvas, int top, int bottom)
{
    return bottom <= canvas->top || top >= canvas->bottom;
}

static void draw_label(struct mt_canvas *canvas, int x, int y, enum mt_anchor anchor,
                       bool is_tilted, const char *label)
{
    struct mt_text text = {0};
    mt_label_append(&text, label, MT_PICTURE_LABEL_COLUMNS);
    if (text.length)
        canvas->text(canvas, x, y, anchor, is_tilted, text.bytes);
    if (text.status)
        canvas->has_lost_text = true;
    mt_text_finish(&text);
}

static void draw_texts(const struct mt_panel *panel, const struct mt_placed_panel *place,
                       struct mt_canvas *canvas, int left)
{
    int middle = (place->cell + MT_PICTURE_FONT_PIXELS) / 2 - 2;
    if (panel->title)
        canvas->text(canvas, left, place->title_y, MT_ANCHOR_START, false, panel->title);
    if (!shows_labels(panel))
        return;
    for (size_t i = 0; panel->row_labels && i < panel->n_rows; i++)
        draw_label(canvas, place->x - LABEL_GAP, place->y + (int)i * place->cell + middle,
                   MT_ANCHOR_END, false, panel->row_labels[i]);
    for (size_t i = 0; panel->column_labels && i < panel->n_columns; i++)
        draw_label(canvas, place->x + (int)i * place->cell + middle, place->y - LABEL_GAP,
                   MT_ANCHOR_START, true, panel->column_labels[i]);
}

static int level_of(double value, const struct mt_panel *panel)
{
    double reach = value < 0 && panel->low < 0 ? panel->low : panel->high;
    double from = panel->low < 0 ? 0 : panel->low;
    double share = reach != from ? (value - from) / (reach - from) : 0;
    int level = share <= 0 ? 0 : share >= 1 ? N_LEVELS : (int)(share * N_LEVELS + 0.5);
    return value < 0 && panel->low < 0 ? -level : level;
}

static struct mt_color level_color(int level, const struct mt_panel *panel)
{
    double share = (double)level / N_LEVELS;
    double from = panel->low < 0 ? 0 : panel->low;
    double value = level < 0 ? -share * panel->low : from + share * (panel->high - from);
    return light_color(value, panel->low, panel->high);
}

static void draw_row(const struct mt_panel *panel, const struct mt_placed_panel *place,
                     const float *values, size_t row, struct mt_canvas *canvas)
{
    int y = place->y + (int)row * place->cell;
    size_t begin = 0;
    while (begin < panel->n_columns) {
        int level = level_of((double)values[begin], panel);
        size_t end = begin + 1;
        while (end < panel->n_columns && level_of((double)values[end], panel) == level)
            end++;
        if (level != 0)
            canvas->fill(canvas, place->x + (int)begin * place->cell, y,
                         (int)(end - begin) * place->cell, place->cell, level_color(level, panel));
        begin = end;
    }
}

/* Returns the left edge of a panel including its labels. */
static int left_of(const struct mt_panel *panel, const struct mt_placed_panel *place)
{
    bool has_labels = shows_labels(panel) && panel->row_labels;
    return place->x - (has_labels ? widest_label(panel->row_labels, panel->n_rows) + LABEL_GAP : 0);
}

/* A thin frame makes a matrix of zeros visible. */
static void draw_frame(const struct mt_panel *panel, const struct mt_placed_panel *place,
                       struct mt_canvas *canvas)
{
    static const struct mt_color grey = {196, 202, 210};
    int width = (int)panel->n_columns * place->cell, height = (int)panel->n_rows * place->cell;
    canvas->fill(canvas, place->x - 1, place->y - 1, width + 2, 1, grey);
    canvas->fill(canvas, place->x - 1, place->y + height, width + 2, 1, grey);
    canvas->fill(canvas, place->x - 1, place->y, 1, height, grey);
    canvas->fill(canvas, place->x + width, place->y, 1, height, grey);
}

bool mt_picture_draw(const struct mt_picture *picture, struct mt_picture_step *step,
                     struct mt_canvas *canvas)
{
    const struct mt_picture_source *source = &picture->source;
    if (step->panel > source->n_panels)
        return false;
    if (step->panel == source->n_panels) {
        if (source->caption)
            canvas->text(canvas, MARGIN, picture->height - MARGIN, MT_ANCHOR_START, false,
                         source->caption);
        step->panel++;
        return true;
    }
    const struct mt_panel *panel = &source->panels[step->panel];
    const struct mt_placed_panel *place = &picture->places[step->panel];
    if (!step->has_texts) {
        draw_frame(panel, place, canvas);
        draw_texts(panel, place, canvas, left_of(panel, place));
        step->has_texts = true;
    } else if (step->row < panel->n_rows) {
        int y = place->y + (int)step->row * place->cell;
        if (!is_outside(canvas, y, y + place->cell))
            draw_row(panel, place, source->row(source->context, step->panel, step->row), step->row,
                     canvas);
        step->row++;
    } else {
        *step = (struct mt_picture_step){.panel = step->panel + 1};
    }
    return true;
}
