#include "server/inspection/positions.h"

#include "base/json.h"
#include "model/files/positions.h"
#include "server/inspection/npy.h"
#include "server/inspection/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS 6

struct positions {
    struct mt_positions_request request;
    char *model_id;
    float *table; /* [n_rows, d_model] */
    size_t row;
    bool has_head, has_ended;
    struct mt_json_writer writer;
    struct mt_panel panel;
    char title[160];
};

static const char *layout_name(enum mt_position_layout layout)
{
    return layout == MT_POSITIONS_CONCATENATED ? "concatenated" : "interleaved";
}

enum mt_status mt_position_layout_parse(const char *text, enum mt_position_layout *out,
                                        struct mt_error *err)
{
    if (!text || !text[0])
        return MT_OK;
    if (strcmp(text, "concatenated") == 0)
        *out = MT_POSITIONS_CONCATENATED;
    else if (strcmp(text, "interleaved") == 0)
        *out = MT_POSITIONS_INTERLEAVED;
    else
        return mt_fail(err, MT_INVALID,
                       "layout: found \"%.40s\", expected concatenated or interleaved", text);
    return MT_OK;
}

static void destroy(void *state)
{
    struct positions *positions = state;
    free(positions->model_id);
    free(positions->table);
    free(positions);
}

static const float *row_of(const struct positions *positions, size_t row)
{
    return positions->table + row * positions->request.d_model;
}

/* JSON ----------------------------------------------------------------------------------------- */

static void write_head(struct positions *positions)
{
    struct mt_json_writer *writer = &positions->writer;
    mt_json_begin_object(writer);
    mt_json_member(writer, "model", positions->model_id);
    mt_json_member(writer, "layout", layout_name(positions->request.scheme.layout));
    mt_json_member_count(writer, "n", positions->request.n_rows);
    mt_json_member_count(writer, "d_model", positions->request.d_model);
    mt_json_member_array(writer, "matrix");
}

static bool json_next(void *state, struct mt_text *out)
{
    struct positions *positions = state;
    struct mt_json_writer *writer = &positions->writer;
    writer->out = out;
    if (positions->has_ended)
        return false;
    if (!positions->has_head) {
        write_head(positions);
        positions->has_head = true;
        return true;
    }
    if (positions->row == positions->request.n_rows) {
        mt_json_end_array(writer);
        mt_json_end_object(writer);
        mt_text_append(out, "\n", 1);
        positions->has_ended = true;
        return true;
    }
    const float *row = row_of(positions, positions->row++);
    mt_json_begin_array(writer);
    for (size_t i = 0; i < positions->request.d_model; i++)
        mt_json_fixed(writer, (double)row[i], DECIMALS);
    mt_json_end_array(writer);
    return true;
}

/* npy ------------------------------------------------------------------------------------------ */

static bool npy_next(void *state, struct mt_text *out)
{
    struct positions *positions = state;
    const struct mt_positions_request *request = &positions->request;
    if (!positions->has_head) {
        size_t shape[] = {request->n_rows, request->d_model};
        mt_npy_append_head(out, shape, 2);
        positions->has_head = true;
        return true;
    }
    if (positions->row == request->n_rows)
        return false;
    mt_npy_append_numbers(out, row_of(positions, positions->row++), request->d_model);
    return true;
}

/* Pictures ------------------------------------------------------------------------------------- */

static const float *picture_row(void *context, size_t panel, size_t row)
{
    (void)panel;
    return row_of(context, row);
}

static struct mt_picture_source picture_of(struct positions *positions)
{
    const struct mt_positions_request *request = &positions->request;
    size_t side = request->n_rows > request->d_model ? request->n_rows : request->d_model;
    snprintf(positions->title, sizeof positions->title,
             "positional encoding, %s: positions 0 to %zu downwards, %zu dimensions",
             layout_name(request->scheme.layout), request->n_rows - 1, request->d_model);
    positions->panel = (struct mt_panel){
        .title = positions->title,
        .n_rows = request->n_rows,
        .n_columns = request->d_model,
        .low = -1,
        .high = 1,
        .cell = side <= 512    ? 3
                : side <= 1024 ? 2
                               : 1,
    };
    return (struct mt_picture_source){
        .panels = &positions->panel,
        .n_panels = 1,
        .caption = "blue: positive, red: negative, white: 0",
        .row = picture_row,
        .destroy = destroy,
        .context = positions,
    };
}

/* Takes over positions. */
static enum mt_status render(struct positions *positions, struct mt_stream **out,
                             struct mt_error *err)
{
    struct mt_picture_source picture;
    struct mt_stream_source stream = {.next = json_next, .destroy = destroy, .state = positions};
    enum mt_inspection_format format = positions->request.format;
    switch (format) {
    case MT_FORMAT_JSON:
        return mt_stream_create(stream, MT_STREAM_UNKNOWN, out, err);
    case MT_FORMAT_NPY:
        stream.next = npy_next;
        return mt_stream_create(stream, MT_STREAM_UNKNOWN, out, err);
    case MT_FORMAT_SVG:
        picture = picture_of(positions);
        return mt_picture_svg(&picture, out, err);
    case MT_FORMAT_PNG:
        picture = picture_of(positions);
        return mt_picture_png(&picture, out, err);
    default:
        destroy(positions);
        return mt_fail(err, MT_INVALID, "format: found %s, expected json, npy, svg or png",
                       mt_inspection_format_info(format)->name);
    }
}

enum mt_status mt_positions_render(const struct mt_positions_request *request,
                                   struct mt_stream **out, struct mt_error *err)
{
    size_t n_bytes = request->n_rows * request->d_model * sizeof(float);
    struct positions *positions = calloc(1, sizeof *positions);
    if (!positions)
        return mt_fail_memory(err, sizeof *positions, "positions");
    positions->request = *request;
    positions->model_id = strdup(request->model_id);
    positions->table = malloc(n_bytes);
    if (!positions->model_id || !positions->table) {
        destroy(positions);
        return mt_fail_memory(err, n_bytes, "positions");
    }
    mt_positions_fill(&request->scheme, request->n_rows, request->d_model, positions->table);
    return render(positions, out, err);
}
