#include "server/inspection/glyphs.h"
#include "server/inspection/label.h"
#include "server/inspection/picture.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* Rows that are drawn and compressed together. All items of the picture are visited for each strip,
 * which takes little time compared to the compression. */
#define STRIP_ROWS 64
/* Largest extent of a label from its position. */
#define LABEL_REACH (MT_PICTURE_LABEL_COLUMNS * 20)

struct png {
    struct mt_canvas canvas; /* has the strip */
    struct mt_picture *picture;
    struct mt_glyphs *glyphs; /* NULL: there is no text */
    png_struct *writer;
    png_info *info;
    unsigned char *pixels; /* [STRIP_ROWS, width, 3] */
    struct mt_text *out;   /* the output of the current call */
    bool has_head, has_ended;
};

static void draw_fill(struct mt_canvas *canvas, int x, int y, int width, int height,
                      struct mt_color color)
{
    struct png *png = (struct png *)canvas;
    int bottom = y + height < canvas->bottom ? y + height : canvas->bottom;
    for (int row = y > canvas->top ? y : canvas->top; row < bottom; row++) {
        unsigned char *pixel =
            png->pixels +
            ((size_t)(row - canvas->top) * (size_t)png->picture->width + (size_t)x) * 3;
        for (int i = 0; i < width; i++, pixel += 3) {
            pixel[0] = color.red;
            pixel[1] = color.green;
            pixel[2] = color.blue;
        }
    }
}

static unsigned char darken(unsigned char under, int ink, int coverage)
{
    return (unsigned char)(under + (ink - under) * coverage / 255);
}

static void draw_dots(void *context, int x, int y, int n_columns, int n_rows,
                      const unsigned char *dots, int pitch)
{
    struct png *png = context;
    int width = png->picture->width;
    for (int r = 0; r < n_rows; r++) {
        int row = y + r - png->canvas.top;
        if (row < 0 || row >= png->canvas.bottom - png->canvas.top)
            continue;
        for (int i = 0; i < n_columns; i++) {
            if (x + i < 0 || x + i >= width)
                continue;
            unsigned char *pixel =
                png->pixels + ((size_t)row * (size_t)width + (size_t)(x + i)) * 3;
            int coverage = dots[r * pitch + i];
            pixel[0] = darken(pixel[0], 0x1c, coverage);
            pixel[1] = darken(pixel[1], 0x24, coverage);
            pixel[2] = darken(pixel[2], 0x30, coverage);
        }
    }
}

static void draw_text(struct mt_canvas *canvas, int x, int y, enum mt_anchor anchor, bool is_tilted,
                      const char *text)
{
    struct png *png = (struct png *)canvas;
    int reach = is_tilted ? LABEL_REACH : 2 * MT_PICTURE_FONT_PIXELS;
    if (y + 2 * MT_PICTURE_FONT_PIXELS < canvas->top || y - reach > canvas->bottom)
        return;
    if (anchor == MT_ANCHOR_END)
        x -= mt_glyphs_width(png->glyphs, text);
    mt_glyphs_draw(png->glyphs, x, y, is_tilted, text, draw_dots, png);
}

static void draw_strip(struct png *png)
{
    struct mt_picture_step step = {0};
    memset(png->pixels, 0xFF, (size_t)STRIP_ROWS * (size_t)png->picture->width * 3);
    while (mt_picture_draw(png->picture, &step, &png->canvas))
        ;
}

/* libpng calls this, and reports failures by longjmp. */
static void write_bytes(png_struct *writer, png_byte *bytes, size_t n)
{
    const struct png *png = png_get_io_ptr(writer);
    mt_text_append(png->out, (const char *)bytes, n);
}

static void flush_bytes(png_struct *writer)
{
    (void)writer;
}

static void on_error(png_struct *writer, const char *message)
{
    (void)message;
    png_longjmp(writer, 1);
}

static void on_warning(png_struct *writer, const char *message)
{
    (void)writer;
    (void)message;
}

static void write_head(struct png *png)
{
    png_set_write_fn(png->writer, png, write_bytes, flush_bytes);
    png_set_IHDR(png->writer, png->info, (png_uint_32)png->picture->width,
                 (png_uint_32)png->picture->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* Most rows are the same as the one above, so only that filter is used, without searching for
     * the best one. */
    png_set_filter(png->writer, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(png->writer, 6);
    png_write_info(png->writer, png->info);
}

/* Draws and compresses the next strip. */
static void write_strip(struct png *png)
{
    int height = png->picture->height;
    png->canvas.top = png->canvas.bottom;
    png->canvas.bottom += STRIP_ROWS;
    if (png->canvas.bottom > height)
        png->canvas.bottom = height;
    draw_strip(png);
    for (int row = png->canvas.top; row < png->canvas.bottom; row++)
        png_write_row(png->writer, png->pixels + (size_t)(row - png->canvas.top) *
                                                     (size_t)png->picture->width * 3);
    if (png->canvas.bottom == height) {
        png_write_end(png->writer, png->info);
        png->has_ended = true;
    }
}

/* libpng buffers compressed data until a chunk is full, so a strip may produce no bytes yet. */
static bool png_next(void *state, struct mt_text *out)
{
    struct png *png = state;
    png->out = out;
    if (png->has_ended)
        return false;
    if (setjmp(png_jmpbuf(png->writer))) {
        if (!out->status)
            out->status = MT_MEMORY;
        return false;
    }
    if (!png->has_head)
        write_head(png);
    png->has_head = true;
    write_strip(png);
    if (png->canvas.has_lost_text || (png->glyphs && mt_glyphs_have_run_out(png->glyphs)))
        out->status = MT_MEMORY;
    return true;
}

static void png_destroy(void *state)
{
    struct png *png = state;
    png_destroy_write_struct(&png->writer, &png->info);
    mt_glyphs_destroy(png->glyphs);
    mt_picture_destroy(png->picture);
    free(png->pixels);
    free(png);
}

static enum mt_status prepare(struct png *png, struct mt_error *err)
{
    size_t n_bytes = (size_t)STRIP_ROWS * (size_t)png->picture->width * 3;
    png->pixels = malloc(n_bytes);
    if (!png->pixels)
        return mt_fail_memory(err, n_bytes, "a strip of a picture");
    png->writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, png, on_error, on_warning);
    png->info = png->writer ? png_create_info_struct(png->writer) : NULL;
    if (!png->info)
        return mt_fail_memory(err, 0, "libpng");
    if (!png->picture->has_text)
        return MT_OK;
    return mt_glyphs_create(MT_PICTURE_FONT_PIXELS, &png->glyphs, err);
}

enum mt_status mt_picture_png(const struct mt_picture_source *source, struct mt_stream **out,
                              struct mt_error *err)
{
    struct mt_picture *picture;
    enum mt_status status = mt_picture_place(source, &picture, err);
    if (status)
        return status;
    struct png *png = calloc(1, sizeof *png);
    if (!png) {
        mt_picture_destroy(picture);
        return mt_fail_memory(err, sizeof *png, "a PNG picture");
    }
    png->picture = picture;
    png->canvas = (struct mt_canvas){.fill = draw_fill, .text = draw_text};
    status = prepare(png, err);
    if (status) {
        png_destroy(png);
        return status;
    }
    struct mt_stream_source stream = {
        .next = png_next, .destroy = png_destroy, .state = png, .is_slow = true};
    return mt_stream_create(stream, MT_STREAM_UNKNOWN, out, err);
}
