#include "base/json.h"
#include "inspection_sample.h"
#include "server/inspection/inspection_formats.h"
#include "server/inspection/inspection_image.h"
#include "server/inspection/picture.h"
#include "weights/safetensors.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <png.h>
#include <zlib.h>

#define ALL_KINDS (MT_TRACE_ENCODER | MT_TRACE_DECODER | MT_TRACE_CROSS)

static struct sample sample;
static bool sample_has_cell; /* in the place of decoder self-attention */
static struct mt_error err;
static struct mt_text bytes;
static bool is_released;

static void note_release(void *owner)
{
    (void)owner;
    is_released = true;
}

/* Appends everything that the stream gives to bytes. */
static void read_all(struct mt_stream *stream)
{
    char buffer[4096];
    ssize_t n;
    while ((n = mt_stream_read(stream, buffer, sizeof buffer)) > 0)
        mt_text_append(&bytes, buffer, (size_t)n);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(bytes.status, MT_OK);
}

static enum mt_status try_render(struct mt_inspection_options options,
                                 enum mt_inspection_format format, size_t sentence)
{
    struct mt_inspection *inspection;
    struct mt_stream *stream;
    sample_init(&sample);
    sample.input.model.has_cell = sample_has_cell;
    mt_text_finish(&bytes);
    is_released = false;
    enum mt_status status =
        mt_inspection_format_prepare(format, &sample.input.model, &options, &err);
    if (!status)
        status = mt_inspection_create(&sample.input, &options, &inspection, &err);
    if (status)
        return status;
    mt_inspection_keep(inspection, NULL, note_release);
    status = mt_inspection_render(inspection, format, sentence, &stream, &err);
    if (!status) {
        uint64_t announced = mt_stream_bytes(stream);
        read_all(stream);
        if (announced != MT_STREAM_UNKNOWN)
            ck_assert_uint_eq(announced, bytes.length);
        mt_stream_destroy(stream);
    }
    ck_assert(is_released);
    return status;
}

static void render(struct mt_inspection_options options, enum mt_inspection_format format,
                   size_t sentence)
{
    enum mt_status status = try_render(options, format, sentence);
    ck_assert_msg(!status, "%s", err.message);
}

static struct cJSON *parse(void)
{
    struct cJSON *json = NULL;
    const struct mt_json_limits limits = {.max_depth = 24, .max_values = 100000};
    enum mt_status status = mt_json_parse(bytes.bytes, bytes.length, &limits, "reply", &json, &err);
    ck_assert_msg(!status, "%s", err.message);
    return json;
}

/* "sentences/0/alignment/matrix": keys, and positions in arrays. */
static const struct cJSON *at(const struct cJSON *json, const char *path)
{
    char *copy = strdup(path), *rest = NULL;
    for (char *key = strtok_r(copy, "/", &rest); key; key = strtok_r(NULL, "/", &rest)) {
        json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(key))
                                   : cJSON_GetObjectItemCaseSensitive(json, key);
        ck_assert_msg(json, "no %s in %s", key, path);
    }
    free(copy);
    return json;
}

static void assert_matrix(const struct cJSON *matrix, size_t kind, size_t layer, size_t head,
                          int n_rows, int n_columns, double tolerance)
{
    ck_assert_int_eq(cJSON_GetArraySize(matrix), n_rows);
    for (int r = 0; r < n_rows; r++) {
        const struct cJSON *row = cJSON_GetArrayItem(matrix, r);
        ck_assert_int_eq(cJSON_GetArraySize(row), n_columns);
        for (int i = 0; i < n_columns; i++)
            ck_assert_double_eq_tol(cJSON_GetArrayItem(row, i)->valuedouble,
                                    (double)sample.attention[0].rows[kind][layer][head][r][i],
                                    tolerance);
    }
}

START_TEST(json_has_the_documented_fields)
{
    static const struct {
        const char *path;
        int type;
    } cases[] = {
        {"model/id", cJSON_String},
        {"model/layers_dec", cJSON_Number},
        {"source", cJSON_String},
        {"target_text", cJSON_String},
        {"sentences/0/source/text", cJSON_String},
        {"sentences/1/target/begin_utf16", cJSON_Number},
        {"sentences/0/source_tokens/0/end_char", cJSON_Number},
        {"sentences/0/source_tokens/2/unknown", cJSON_True},
        {"sentences/0/source_tokens/3/special", cJSON_True},
        {"sentences/0/decoder_input_tokens/0/piece", cJSON_String},
        {"sentences/0/output_tokens/1/logprob", cJSON_Number},
        {"sentences/0/alignment/layers/0", cJSON_Number},
        {"sentences/0/alignment/mode", cJSON_String},
        {"sentences/0/alignment/shift", cJSON_String},
        {"sentences/0/alignment/hard", cJSON_String},
        {"sentences/0/truncated", cJSON_False},
        {"sentences/0/next_tokens/2/top/1/piece", cJSON_String},
        {"sentences/1/next_tokens/1/entropy", cJSON_Number},
        {"tensors/cross/reduce", cJSON_String},
        {"tensors/encoder/layers/1", cJSON_Number},
    };
    render((struct mt_inspection_options){.kinds = ALL_KINDS, .n_top = 2}, MT_FORMAT_JSON,
           MT_ALL_SENTENCES);
    struct cJSON *json = parse();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg((at(json, cases[i].path)->type & 0xFF) == cases[i].type, "%s", cases[i].path);
    ck_assert_str_eq(at(json, "sentences/0/source/text")->valuestring, "Wörld € 😀.");
    ck_assert_str_eq(at(json, "sentences/1/target/text")->valuestring, "Yes");
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences")), 2);
    cJSON_Delete(json);
}
END_TEST

START_TEST(a_model_with_a_cell_has_no_decoder_attention_and_says_why)
{
    sample_has_cell = true;
    render((struct mt_inspection_options){.kinds = MT_TRACE_CROSS}, MT_FORMAT_JSON,
           MT_ALL_SENTENCES);
    struct cJSON *json = parse();
    ck_assert_ptr_nonnull(
        strstr(at(json, "model/no_decoder_attention")->valuestring, "recurrent cell (SSRU)"));
    /* The last of three layers, and the head that was trained to align. */
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/alignment/layers")), 1);
    ck_assert_int_eq(at(json, "sentences/0/alignment/layers/0")->valueint, 2);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/alignment/heads")), 1);
    ck_assert_int_eq(at(json, "sentences/0/alignment/heads/0")->valueint, 0);
    cJSON_Delete(json);
    ck_assert_int_eq(try_render((struct mt_inspection_options){.kinds = ALL_KINDS}, MT_FORMAT_JSON,
                                MT_ALL_SENTENCES),
                     MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "kinds: the decoder of this model has a recurrent"));
    ck_assert_ptr_nonnull(strstr(err.message, ": expected encoder or cross"));
    render((struct mt_inspection_options){0}, MT_FORMAT_BERTVIZ, 0);
    json = parse();
    cJSON_Delete(json);
    render((struct mt_inspection_options){0}, MT_FORMAT_INSEQ, 0);
    json = parse();
    cJSON_Delete(json);
    sample_has_cell = false;
    render((struct mt_inspection_options){.kinds = MT_TRACE_CROSS}, MT_FORMAT_JSON, 0);
    json = parse();
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(at(json, "model"), "no_decoder_attention"));
    cJSON_Delete(json);
}
END_TEST

START_TEST(json_tensors_nest_as_layer_head_row_column)
{
    render((struct mt_inspection_options){.kinds = ALL_KINDS, .decimals = 6}, MT_FORMAT_JSON,
           MT_ALL_SENTENCES);
    struct cJSON *json = parse();
    assert_matrix(at(json, "sentences/0/cross/2/1"), 2, 2, 1, 3, 4, 6e-7);
    assert_matrix(at(json, "sentences/0/decoder/1/0"), 1, 1, 0, 3, 3, 6e-7);
    assert_matrix(at(json, "sentences/0/encoder/1/1"), 0, 1, 1, 4, 4, 6e-7);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/encoder")), 2);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/cross")), 3);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/cross/0")), 2);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/1/cross/0/0")), 2);
    cJSON_Delete(json);
}
END_TEST

START_TEST(json_nests_less_where_axes_were_averaged_away)
{
    static const struct {
        enum mt_reduce reduce;
        const char *row; /* the first row of numbers */
        int n_outer;
    } cases[] = {
        {MT_REDUCE_HEADS, "sentences/0/cross/0/0", 3},
        {MT_REDUCE_LAYERS, "sentences/0/cross/0/0", 2},
        {MT_REDUCE_ALL, "sentences/0/cross/0", 3},
    };
    for (size_t i = 0; i < 3; i++) {
        render((struct mt_inspection_options){.kinds = MT_TRACE_CROSS, .reduce = cases[i].reduce},
               MT_FORMAT_JSON, MT_ALL_SENTENCES);
        struct cJSON *json = parse();
        ck_assert_int_eq(cJSON_GetArraySize(at(json, cases[i].row)), 4);
        ck_assert(cJSON_IsNumber(cJSON_GetArrayItem(at(json, cases[i].row), 0)));
        ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/cross")), cases[i].n_outer);
        cJSON_Delete(json);
    }
}
END_TEST

START_TEST(json_alone_holds_the_alignment_and_no_tensors)
{
    render((struct mt_inspection_options){0}, MT_FORMAT_JSON, MT_ALL_SENTENCES);
    struct cJSON *json = parse();
    ck_assert_ptr_null(cJSON_GetObjectItem(json, "tensors"));
    ck_assert_ptr_null(cJSON_GetObjectItem(at(json, "sentences/0"), "cross"));
    ck_assert_ptr_null(cJSON_GetObjectItem(at(json, "sentences/0"), "next_tokens"));
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences/0/alignment/matrix")), 3);
    cJSON_Delete(json);
}
END_TEST

START_TEST(json_of_one_sentence_holds_that_one)
{
    render((struct mt_inspection_options){.kinds = MT_TRACE_CROSS}, MT_FORMAT_JSON, 1);
    struct cJSON *json = parse();
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "sentences")), 1);
    ck_assert_str_eq(at(json, "sentences/0/source/text")->valuestring, "Ja");
    cJSON_Delete(json);
}
END_TEST

START_TEST(a_blank_text_gives_no_sentences)
{
    struct mt_inspection *inspection;
    struct mt_stream *stream;
    static const enum mt_inspection_format formats[] = {
        MT_FORMAT_JSON,        MT_FORMAT_INSEQ, MT_FORMAT_PHARAOH, MT_FORMAT_SOFT,
        MT_FORMAT_SAFETENSORS, MT_FORMAT_SVG,   MT_FORMAT_PNG};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        sample_init(&sample);
        sample.input.n_parts = 0;
        mt_text_finish(&bytes);
        ck_assert_int_eq(mt_inspection_create(&sample.input, &(struct mt_inspection_options){0},
                                              &inspection, &err),
                         MT_OK);
        ck_assert_int_eq(
            mt_inspection_render(inspection, formats[i], MT_ALL_SENTENCES, &stream, &err), MT_OK);
        read_all(stream);
        mt_stream_destroy(stream);
        if (formats[i] == MT_FORMAT_JSON || formats[i] == MT_FORMAT_INSEQ)
            cJSON_Delete(parse());
    }
}
END_TEST

START_TEST(formats_of_one_sentence_say_so)
{
    struct mt_inspection_options none = {0};
    ck_assert_int_eq(try_render(none, MT_FORMAT_NPY, MT_ALL_SENTENCES), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "holds one sentence, and the text has 2"));
    ck_assert_int_eq(try_render(none, MT_FORMAT_BERTVIZ, MT_ALL_SENTENCES), MT_INVALID);
    ck_assert_int_eq(try_render(none, MT_FORMAT_JSON, 2), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "found 2, but the text has 2 sentences"));
    ck_assert_int_eq(
        try_render((struct mt_inspection_options){.kinds = ALL_KINDS}, MT_FORMAT_NPY, 0),
        MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "one array, and 3"));
    ck_assert_int_eq(
        try_render((struct mt_inspection_options){.reduce = MT_REDUCE_ALL}, MT_FORMAT_BERTVIZ, 0),
        MT_INVALID);
}
END_TEST

START_TEST(bertviz_matrices_fit_their_tokens_and_layers_are_common_to_all)
{
    render((struct mt_inspection_options){0}, MT_FORMAT_BERTVIZ, 0);
    struct cJSON *json = parse();
    const struct cJSON *item;
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "attention")), 3);
    ck_assert_int_eq(cJSON_GetArraySize(at(json, "include_layers")), 2);
    ck_assert_str_eq(at(json, "attention/0/name")->valuestring, "Encoder");
    ck_assert_str_eq(at(json, "attention/2/left_text/0")->valuestring, "▁Welt");
    ck_assert_str_eq(at(json, "attention/1/left_text/0")->valuestring, "<pad>");
    ck_assert_str_eq(at(json, "default_filter")->valuestring, "0");
    cJSON_ArrayForEach(item, at(json, "attention"))
    {
        ck_assert_int_eq(cJSON_GetArraySize(at(item, "attn")), 2);
        ck_assert_int_eq(cJSON_GetArraySize(at(item, "attn/1")), SAMPLE_HEADS);
        ck_assert_int_eq(cJSON_GetArraySize(at(item, "attn/1/1")),
                         cJSON_GetArraySize(at(item, "left_text")));
        ck_assert_int_eq(cJSON_GetArraySize(at(item, "attn/1/1/0")),
                         cJSON_GetArraySize(at(item, "right_text")));
    }
    assert_matrix(at(json, "attention/2/attn/1/1"), 2, 1, 1, 3, 4, 6e-5);
    cJSON_Delete(json);
}
END_TEST

/* The floats of a "b64:" string. */
static float *decode(const char *text, size_t *n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    ck_assert(strncmp(text, "b64:", 4) == 0);
    unsigned char *out = malloc(strlen(text) + sizeof(float));
    size_t length = 0;
    uint32_t bits = 0;
    int n_bits = 0;
    for (text += 4; *text && *text != '='; text++) {
        const char *letter = strchr(letters, *text);
        ck_assert_ptr_nonnull(letter);
        bits = bits << 6 | (uint32_t)(letter - letters);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[length++] = (unsigned char)(bits >> n_bits);
        }
    }
    ck_assert_uint_eq(length % sizeof(float), 0);
    *n = length / sizeof(float);
    return (float *)out;
}

START_TEST(inseq_arrays_are_transposed_and_nan_for_the_unseen)
{
    render((struct mt_inspection_options){0}, MT_FORMAT_INSEQ, MT_ALL_SENTENCES);
    struct cJSON *json = parse();
    const struct cJSON *sequence = at(json, "attributes/sequence_attributions/0/attributes");
    ck_assert_str_eq(at(sequence, "source/0/__instance_type__/1")->valuestring, "TokenWithId");
    ck_assert_str_eq(at(sequence, "target/0/attributes/token")->valuestring, "▁Welt");
    size_t n;
    float *source = decode(at(sequence, "source_attributions/__ndarray__")->valuestring, &n);
    ck_assert_uint_eq(n, 4 * 3 * 3 * 2);
    float *target = decode(at(sequence, "target_attributions/__ndarray__")->valuestring, &n);
    ck_assert_uint_eq(n, 3 * 3 * 3 * 2);
    for (size_t s = 0; s < 4; s++)
        for (size_t t = 0; t < 3; t++)
            for (size_t l = 0; l < 3; l++)
                for (size_t h = 0; h < 2; h++)
                    ck_assert_float_eq(source[((s * 3 + t) * 3 + l) * 2 + h],
                                       sample.attention[0].rows[2][l][h][t][s]);
    /* output token 0 is what step 1 read at position 1 */
    ck_assert_float_eq(target[((0 * 3 + 1) * 3 + 2) * 2 + 1],
                       sample.attention[0].rows[1][2][1][1][1]);
    ck_assert_float_nan(target[0]);
    free(source);
    free(target);
    cJSON_Delete(json);
}
END_TEST

START_TEST(pharaoh_and_soft_have_a_line_per_sentence)
{
    render((struct mt_inspection_options){0}, MT_FORMAT_PHARAOH, MT_ALL_SENTENCES);
    int s, t, s2, t2, n = 0;
    ck_assert_int_eq(sscanf(bytes.bytes, "%d-%d %d-%d\n0-0\n%n", &s, &t, &s2, &t2, &n), 4);
    ck_assert_uint_eq((size_t)n, bytes.length);

    render((struct mt_inspection_options){0}, MT_FORMAT_SOFT, MT_ALL_SENTENCES);
    size_t n_lines = 0, n_groups = 0, n_commas = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        n_lines += bytes.bytes[i] == '\n';
        n_groups += bytes.bytes[i] == ' ';
        n_commas += bytes.bytes[i] == ',';
    }
    ck_assert_uint_eq(n_lines, 2);
    ck_assert_uint_eq(n_groups, 2 + 1);
    ck_assert_uint_eq(n_commas, 3 * 3 + 2 * 1);
    ck_assert_double_eq_tol(strtod(bytes.bytes, NULL),
                            (double)(sample.attention[0].rows[2][1][0][0][0] +
                                     sample.attention[0].rows[2][1][1][0][0] +
                                     sample.attention[0].rows[2][2][0][0][0] +
                                     sample.attention[0].rows[2][2][1][0][0]) /
                                4,
                            1e-5);
}
END_TEST

START_TEST(safetensors_read_back)
{
    struct mt_safetensors *file;
    render((struct mt_inspection_options){.kinds = ALL_KINDS}, MT_FORMAT_SAFETENSORS,
           MT_ALL_SENTENCES);
    enum mt_status status =
        mt_safetensors_open_memory(bytes.bytes, bytes.length, "reply", &file, &err);
    ck_assert_msg(!status, "%s", err.message);
    const struct mt_tensor *cross = mt_safetensors_find(file, "sentences.0.cross");
    ck_assert_ptr_nonnull(cross);
    ck_assert_uint_eq(cross->rank, 4);
    ck_assert_uint_eq(cross->shape[2], 3);
    float value;
    memcpy(&value, (const char *)cross->data + sizeof value * (((2 * 2 + 1) * 3 + 2) * 4 + 3),
           sizeof value);
    ck_assert_float_eq(value, sample.attention[0].rows[2][2][1][2][3]);
    const struct mt_tensor *ids = mt_safetensors_find(file, "sentences.1.output_ids");
    ck_assert_ptr_nonnull(ids);
    int32_t id;
    memcpy(&id, ids->data, sizeof id);
    ck_assert_int_eq(id, 23);
    ck_assert_ptr_nonnull(mt_safetensors_find(file, "sentences.1.encoder"));
    ck_assert_str_eq(mt_safetensors_metadata(file, "sentences.1.output_tokens"),
                     "[\"▁Yes\",\"</s>\"]");
    ck_assert_str_eq(mt_safetensors_metadata(file, "alignment"),
                     "layers 1,2; heads 0,1; mode mean; shift output");
    mt_safetensors_close(file);
}
END_TEST

START_TEST(npy_holds_the_alignment_or_the_one_tensor)
{
    static const struct {
        unsigned kinds;
        const char *header;
        size_t n_values;
    } cases[] = {
        {0, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 12},
        {MT_TRACE_ENCODER, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 4, 4), }", 64},
    };
    for (size_t i = 0; i < 2; i++) {
        render((struct mt_inspection_options){.kinds = cases[i].kinds}, MT_FORMAT_NPY, 0);
        ck_assert_mem_eq(bytes.bytes, "\x93NUMPY\x01\x00", 8);
        size_t length = (unsigned char)bytes.bytes[8] + 256U * (unsigned char)bytes.bytes[9];
        ck_assert_uint_eq((10 + length) % 64, 0);
        ck_assert_uint_eq(bytes.length, 10 + length + 4 * cases[i].n_values);
        ck_assert_mem_eq(bytes.bytes + 10, cases[i].header, strlen(cases[i].header));
        ck_assert_int_eq(bytes.bytes[9 + length], '\n');
    }
}
END_TEST

START_TEST(svg_names_tokens_and_escapes_them)
{
    render((struct mt_inspection_options){0}, MT_FORMAT_SVG, MT_ALL_SENTENCES);
    ck_assert(strncmp(bytes.bytes, "<svg xmlns=", 11) == 0);
    ck_assert_ptr_nonnull(strstr(bytes.bytes, ">Wörld</text>"));
    ck_assert_ptr_null(strstr(bytes.bytes, "▁"));
    ck_assert_ptr_nonnull(strstr(bytes.bytes, ">&lt;/s&gt;</text>"));
    ck_assert_ptr_nonnull(strstr(bytes.bytes, "</svg>\n"));
    ck_assert_ptr_nonnull(strstr(bytes.bytes, "mean, layers 1,2, heads 0,1; darkest 0."));
}
END_TEST

START_TEST(png_decodes_to_the_pixels_of_the_svg)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    render((struct mt_inspection_options){.kinds = ALL_KINDS}, MT_FORMAT_SVG, MT_ALL_SENTENCES);
    int width, height;
    ck_assert_int_eq(
        sscanf(strstr(bytes.bytes, "width="), "width=\"%d\" height=\"%d\"", &width, &height), 2);
    const char *path = strstr(bytes.bytes, "</text>\n<path");
    unsigned red, green, blue;
    int x, y;
    ck_assert_int_eq(
        sscanf(path, "</text>\n<path fill=\"#%2x%2x%2x\" d=\"M%d %d", &red, &green, &blue, &x, &y),
        5);
    render((struct mt_inspection_options){.kinds = ALL_KINDS}, MT_FORMAT_PNG, MT_ALL_SENTENCES);
    ck_assert_int_ne(png_image_begin_read_from_memory(&image, bytes.bytes, bytes.length), 0);
    ck_assert_int_eq((int)image.width, width);
    ck_assert_int_eq((int)image.height, height);
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    ck_assert_int_ne(png_image_finish_read(&image, NULL, pixels, 0, NULL), 0);
    const unsigned char *pixel = pixels + ((y + 1) * width + x + 1) * 3;
    ck_assert_uint_eq(pixel[0], red);
    ck_assert_uint_eq(pixel[1], green);
    ck_assert_uint_eq(pixel[2], blue);
    free(pixels);
}
END_TEST

static const float *next_blank_row(void *context, size_t panel, size_t row)
{
    static const float blanks[512];
    (void)panel;
    *(size_t *)context = row + 1;
    return blanks;
}

static void keep(void *context)
{
    (void)context;
}

/* Blank rows give hardly any bytes, and a server does nothing else during a read. */
START_TEST(a_read_of_a_png_draws_some_of_it)
{
    struct mt_panel panel = {.n_rows = 512, .n_columns = 512, .high = 1};
    size_t n_drawn = 0;
    const struct mt_picture_source source = {.panels = &panel,
                                             .n_panels = 1,
                                             .row = next_blank_row,
                                             .destroy = keep,
                                             .context = &n_drawn};
    struct mt_stream *stream;
    char buffer[32768];
    ck_assert_int_eq(mt_picture_png(&source, &stream, &err), MT_OK);
    ck_assert_int_gt(mt_stream_read(stream, buffer, sizeof buffer), 0);
    ck_assert_uint_lt(n_drawn, 64);
    while (mt_stream_read(stream, buffer, sizeof buffer) > 0)
        ;
    ck_assert_uint_eq(n_drawn, 512);
    mt_stream_destroy(stream);
}
END_TEST

START_TEST(gzip_gives_the_same_bytes)
{
    struct mt_inspection *inspection;
    struct mt_stream *stream;
    struct mt_text packed = {0};
    struct mt_inspection_options options = {.kinds = ALL_KINDS};
    render(options, MT_FORMAT_JSON, MT_ALL_SENTENCES);
    ck_assert_int_eq(mt_inspection_create(&sample.input, &options, &inspection, &err), MT_OK);
    ck_assert_int_eq(
        mt_inspection_render(inspection, MT_FORMAT_JSON, MT_ALL_SENTENCES, &stream, &err), MT_OK);
    ck_assert_int_eq(mt_stream_gzip(stream, &stream, &err), MT_OK);
    char buffer[7]; /* small, so that pieces are cut everywhere */
    for (ssize_t n; (n = mt_stream_read(stream, buffer, sizeof buffer)) > 0;)
        mt_text_append(&packed, buffer, (size_t)n);
    mt_stream_destroy(stream);
    char *unpacked = malloc(bytes.length + 1);
    z_stream z = {.next_in = (Bytef *)packed.bytes,
                  .avail_in = (uInt)packed.length,
                  .next_out = (Bytef *)unpacked,
                  .avail_out = (uInt)bytes.length + 1};
    ck_assert_int_eq(inflateInit2(&z, 16 + 15), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.total_out, bytes.length);
    ck_assert_mem_eq(unpacked, bytes.bytes, bytes.length);
    inflateEnd(&z);
    free(unpacked);
    mt_text_finish(&packed);
}
END_TEST

START_TEST(formats_are_known_by_name)
{
    enum mt_inspection_format format;
    for (size_t i = 0; i < MT_N_INSPECTION_FORMATS; i++) {
        const char *name = mt_inspection_format_info((enum mt_inspection_format)i)->name;
        ck_assert_int_eq(mt_inspection_format_parse(name, &format, &err), MT_OK);
        ck_assert_uint_eq(format, i);
    }
    ck_assert_int_eq(mt_inspection_format_parse("xml", &format, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "found \"xml\", expected json"));
}
END_TEST

Suite *suite_inspection_formats(void)
{
    Suite *suite = suite_create("inspection_formats");
    TCase *tests = tcase_create("inspection_formats");
    tcase_add_test(tests, json_has_the_documented_fields);
    tcase_add_test(tests, a_model_with_a_cell_has_no_decoder_attention_and_says_why);
    tcase_add_test(tests, json_tensors_nest_as_layer_head_row_column);
    tcase_add_test(tests, json_nests_less_where_axes_were_averaged_away);
    tcase_add_test(tests, json_alone_holds_the_alignment_and_no_tensors);
    tcase_add_test(tests, json_of_one_sentence_holds_that_one);
    tcase_add_test(tests, a_blank_text_gives_no_sentences);
    tcase_add_test(tests, formats_of_one_sentence_say_so);
    tcase_add_test(tests, bertviz_matrices_fit_their_tokens_and_layers_are_common_to_all);
    tcase_add_test(tests, inseq_arrays_are_transposed_and_nan_for_the_unseen);
    tcase_add_test(tests, pharaoh_and_soft_have_a_line_per_sentence);
    tcase_add_test(tests, safetensors_read_back);
    tcase_add_test(tests, npy_holds_the_alignment_or_the_one_tensor);
    tcase_add_test(tests, svg_names_tokens_and_escapes_them);
    tcase_add_test(tests, png_decodes_to_the_pixels_of_the_svg);
    tcase_add_test(tests, a_read_of_a_png_draws_some_of_it);
    tcase_add_test(tests, gzip_gives_the_same_bytes);
    tcase_add_test(tests, formats_are_known_by_name);
    suite_add_tcase(suite, tests);
    return suite;
}
