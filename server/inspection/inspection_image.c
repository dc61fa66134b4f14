#include "server/inspection/inspection_formats.h"
#include "server/inspection/inspection_matrix.h"
#include "server/inspection/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Approximate side of one head's picture in a grid, in pixels. */
#define GRID_PIXELS 120
#define MAX_GRID_CELL 10
#define TITLE_BYTES 160
#define WORD_BEGIN "\xE2\x96\x81"
#define BLANK "\xE2\x90\xA3"

static const char caption[] =
    "Attention is evidence of what the model used, not by itself an explanation.";

struct drawing {
    char title[TITLE_BYTES];
    const char **row_labels, **column_labels;
};

struct image {
    struct mt_inspection *inspection;
    struct mt_inspection_matrix *matrices;
    struct drawing *drawings;
    struct mt_panel *panels;
    size_t n;
};

static void image_destroy(void *context)
{
    struct image *image = context;
    for (size_t i = 0; i < image->n && image->drawings; i++) {
        free(image->drawings[i].row_labels);
        free(image->drawings[i].column_labels);
    }
    free(image->drawings);
    free(image->panels);
    free(image->matrices);
    mt_inspection_destroy(image->inspection);
    free(image);
}

static const float *image_row(void *context, size_t panel, size_t row)
{
    const struct image *image = context;
    return mt_inspection_matrix_row(&image->matrices[panel], row);
}

/* Writes a piece as people read it, and as the web page shows it: the mark of a word's beginning is
 * a blank, which is visible only within a piece or alone. Returns the position behind the label. */
static char *write_label(char *out, const char *piece)
{
    char *const begin = out;
    for (const char *at = piece; *at;) {
        bool is_blank = strncmp(at, WORD_BEGIN, strlen(WORD_BEGIN)) == 0;
        if (!is_blank)
            *out++ = *at;
        else if (out > begin)
            *out++ = ' ';
        at += is_blank ? strlen(WORD_BEGIN) : 1;
    }
    while (out > begin && out[-1] == ' ')
        out--;
    if (out == begin)
        out += sprintf(out, "%s", BLANK);
    *out = '\0';
    return out + 1;
}

/* The labels are stored behind the pointers to them. */
static const char **copy_labels(const struct mt_inspected_token *tokens, size_t n)
{
    size_t bytes = (n + 1) * sizeof(char *);
    for (size_t i = 0; i < n; i++)
        bytes += strlen(tokens[i].piece) + sizeof BLANK;
    const char **labels = calloc(1, bytes);
    char *out = labels ? (char *)(labels + n + 1) : NULL;
    for (size_t i = 0; labels && i < n; i++) {
        labels[i] = out;
        out = write_label(out, tokens[i].piece);
    }
    return labels;
}

/* Draws one of many heads: small, without labels, with the same scale as the others. */
static void draw_small(const struct mt_inspection_matrix *matrix, struct drawing *drawing,
                       struct mt_panel *panel)
{
    size_t layer, head, side = panel->n_rows > panel->n_columns ? panel->n_rows : panel->n_columns;
    mt_inspection_matrix_head(matrix, &layer, &head);
    snprintf(drawing->title, TITLE_BYTES, "%s %zu.%zu", matrix->tensor.name, layer, head);
    panel->starts_line = matrix->index % matrix->tensor.selection.n_heads == 0;
    panel->cell = side < GRID_PIXELS / 2 ? (int)(GRID_PIXELS / side) : 2;
    if (panel->cell > MAX_GRID_CELL)
        panel->cell = MAX_GRID_CELL;
    panel->high = 1;
}

static bool draw_large(const struct mt_inspection_matrix *matrix, struct drawing *drawing,
                       struct mt_panel *panel)
{
    struct mt_text title = {0};
    panel->starts_line = true;
    panel->high = mt_inspection_matrix_largest(matrix);
    mt_inspection_matrix_describe(matrix, &title);
    mt_text_appendf(&title, "; darkest %.2f", panel->high);
    bool is_described = !title.status;
    snprintf(drawing->title, TITLE_BYTES, "%s", is_described ? title.bytes : "");
    mt_text_finish(&title);
    panel->row_labels = drawing->row_labels = copy_labels(matrix->row_tokens, matrix->n_rows);
    panel->column_labels = drawing->column_labels =
        copy_labels(matrix->column_tokens, matrix->n_columns);
    return is_described && drawing->row_labels && drawing->column_labels;
}

static bool draw(const struct mt_inspection_matrix *matrix, struct drawing *drawing,
                 struct mt_panel *panel)
{
    *panel = (struct mt_panel){
        .title = drawing->title, .n_rows = matrix->n_rows, .n_columns = matrix->n_columns};
    if (matrix->tensor.rank != 4 || matrix->tensor.n_matrices == 1)
        return draw_large(matrix, drawing, panel);
    draw_small(matrix, drawing, panel);
    return true;
}

static enum mt_status fill(struct image *image, const struct mt_inspection_cursor *cursor,
                           struct mt_error *err)
{
    enum mt_status status = mt_inspection_matrices(cursor, &image->matrices, &image->n, err);
    if (status)
        return status;
    image->drawings = calloc(image->n + 1, sizeof *image->drawings);
    image->panels = calloc(image->n + 1, sizeof *image->panels);
    bool is_filled = image->drawings && image->panels;
    for (size_t i = 0; i < image->n && is_filled; i++)
        is_filled = draw(&image->matrices[i], &image->drawings[i], &image->panels[i]);
    return is_filled ? MT_OK : mt_fail_memory(err, image->n * sizeof *image->drawings, "an image");
}

static enum mt_status create(const struct mt_inspection_cursor *cursor,
                             struct mt_picture_source *out, struct mt_error *err)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image) {
        mt_inspection_destroy(cursor->inspection);
        return mt_fail_memory(err, sizeof *image, "an image");
    }
    image->inspection = cursor->inspection;
    enum mt_status status = fill(image, cursor, err);
    if (status) {
        image_destroy(image);
        return status;
    }
    *out = (struct mt_picture_source){
        .panels = image->panels,
        .n_panels = image->n,
        .caption = caption,
        .row = image_row,
        .destroy = image_destroy,
        .context = image,
    };
    return MT_OK;
}

enum mt_status mt_inspection_svg_stream(const struct mt_inspection_cursor *cursor,
                                        struct mt_stream **out, struct mt_error *err)
{
    struct mt_picture_source source;
    enum mt_status status = create(cursor, &source, err);
    return status ? status : mt_picture_svg(&source, out, err);
}

enum mt_status mt_inspection_png_stream(const struct mt_inspection_cursor *cursor,
                                        struct mt_stream **out, struct mt_error *err)
{
    struct mt_picture_source source;
    enum mt_status status = create(cursor, &source, err);
    return status ? status : mt_picture_png(&source, out, err);
}
