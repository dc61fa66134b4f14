#include "server/inspection/picture.h"

#include <stdlib.h>
#include <string.h>

enum stage { HEAD, BODY, TAIL, END };

struct svg {
    struct mt_canvas canvas;
    struct mt_picture *picture;
    struct mt_picture_step step;
    struct mt_text *out;
    enum stage stage;
};

static void svg_fill(struct mt_canvas *canvas, int x, int y, int width, int height,
                     struct mt_color color)
{
    struct svg *svg = (struct svg *)canvas;
    mt_text_appendf(svg->out, "<path fill=\"#%02x%02x%02x\" d=\"M%d %dh%dv%dh-%dz\"/>\n", color.red,
                    color.green, color.blue, x, y, width, height, width);
}

/* mt_label_append has replaced characters that XML 1.0 does not allow, and titles are our own. */
static void append_escaped(struct mt_text *out, const char *text)
{
    mt_text_append_markup(out, text, strlen(text));
}

static void svg_text(struct mt_canvas *canvas, int x, int y, enum mt_anchor anchor, bool is_tilted,
                     const char *text)
{
    struct svg *svg = (struct svg *)canvas;
    if (is_tilted)
        mt_text_appendf(svg->out, "<text transform=\"translate(%d %d) rotate(-45)\"", x, y);
    else
        mt_text_appendf(svg->out, "<text x=\"%d\" y=\"%d\"", x, y);
    mt_text_append_string(svg->out, anchor == MT_ANCHOR_END ? " text-anchor=\"end\">" : ">");
    append_escaped(svg->out, text);
    mt_text_append_string(svg->out, "</text>\n");
}

static void write_head(struct svg *svg)
{
    int width = svg->picture->width, height = svg->picture->height;
    mt_text_appendf(svg->out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" "
                    "font-size=\"%d\" fill=\"#1c2430\" shape-rendering=\"crispEdges\">\n"
                    "<path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/>\n",
                    width, height, width, height, MT_PICTURE_FONT_PIXELS, width, height);
}

static bool svg_next(void *state, struct mt_text *out)
{
    struct svg *svg = state;
    svg->out = out;
    switch (svg->stage) {
    case HEAD:
        write_head(svg);
        svg->stage = BODY;
        return true;
    case BODY:
        if (!mt_picture_draw(svg->picture, &svg->step, &svg->canvas))
            svg->stage = TAIL;
        if (svg->canvas.has_lost_text)
            out->status = MT_MEMORY;
        return true;
    case TAIL:
        mt_text_append_string(out, "</svg>\n");
        svg->stage = END;
        return true;
    default:
        return false;
    }
}

static void svg_destroy(void *state)
{
    struct svg *svg = state;
    mt_picture_destroy(svg->picture);
    free(svg);
}

enum mt_status mt_picture_svg(const struct mt_picture_source *source, struct mt_stream **out,
                              struct mt_error *err)
{
    struct mt_picture *picture;
    enum mt_status status = mt_picture_place(source, &picture, err);
    if (status)
        return status;
    struct svg *svg = calloc(1, sizeof *svg);
    if (!svg) {
        mt_picture_destroy(picture);
        return mt_fail_memory(err, sizeof *svg, "an SVG picture");
    }
    svg->picture = picture;
    svg->canvas = (struct mt_canvas){.fill = svg_fill, .text = svg_text, .bottom = picture->height};
    struct mt_stream_source stream = {.next = svg_next, .destroy = svg_destroy, .state = svg};
    return mt_stream_create(stream, MT_STREAM_UNKNOWN, out, err);
}
