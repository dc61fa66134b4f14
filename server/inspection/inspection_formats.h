/*
 * An inspection in the formats that other programs read. Each is a stream (stream.h) that makes a
 * row of a matrix at a time, so none needs memory for the whole.
 *
 *   json         everything, by name
 *   bertviz      the params object of bertviz' head_view and model_view
 *   inseq        what inseq's FeatureAttributionOutput.load reads
 *   pharaoh      "0-0 1-2": source-target links, one line per sentence
 *   soft         the alignment as Marian writes it: per output token its source weights, one line
 *                per sentence
 *   safetensors  tensors "sentences.0.alignment", "sentences.0.cross", ... and token ids
 *   npy          one array: the one tensor that was asked for, else the alignment
 *   csv          the same, a number in each line, with a head (inspection_csv.c)
 *   svg, png     a heat map (inspection_image.h)
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_FORMATS_H
#define MT_SERVER_INSPECTION_INSPECTION_FORMATS_H

#include "server/inspection/inspection.h"
#include "server/http/stream.h"

struct mt_json_writer;

enum mt_inspection_format {
    MT_FORMAT_JSON,
    MT_FORMAT_BERTVIZ,
    MT_FORMAT_INSEQ,
    MT_FORMAT_PHARAOH,
    MT_FORMAT_SOFT,
    MT_FORMAT_SAFETENSORS,
    MT_FORMAT_NPY,
    MT_FORMAT_CSV,
    MT_FORMAT_SVG,
    MT_FORMAT_PNG,
    MT_N_INSPECTION_FORMATS,
};

/* What a format is: name as in requests, file name extension, and what it can hold. */
struct mt_inspection_format_info {
    const char *name, *extension, *content_type;
    bool holds_one_sentence; /* of several, one must be chosen */
    bool is_compressed;      /* gzip would not pay */
    bool needs_heads;        /* every layer and head by itself: cannot be reduced */
    bool holds_numbers;      /* of any tensor, and of some steps alone */
    bool holds_one_array;
    unsigned default_kinds; /* what it shows where no kinds were asked for */
};
const struct mt_inspection_format_info *mt_inspection_format_info(enum mt_inspection_format format);

/* MT_INVALID names what there is. */
MT_MUST_CHECK enum mt_status
mt_inspection_format_parse(const char *name, enum mt_inspection_format *out, struct mt_error *err);

/* Fills in what a format needs: its default kinds where options.kinds is 0, and the layers that all
 * kinds have where it can show no others. Before mt_inspection_check. MT_INVALID: reduced where it
 * needs every head. */
MT_MUST_CHECK enum mt_status mt_inspection_format_prepare(enum mt_inspection_format format,
                                                          const struct mt_inspection_model *model,
                                                          struct mt_inspection_options *options,
                                                          struct mt_error *err);

/* All sentences. */
#define MT_ALL_SENTENCES SIZE_MAX

/*
 * Starts the stream and takes the inspection over, on failure too. sentence: the one to write, or
 * MT_ALL_SENTENCES. MT_INVALID: there is no such sentence; there are several where the format holds
 * one; npy or csv of several tensors; options.steps names one that a sentence does not have.
 */
MT_MUST_CHECK enum mt_status mt_inspection_render(struct mt_inspection *inspection,
                                                  enum mt_inspection_format format, size_t sentence,
                                                  struct mt_stream **out, struct mt_error *err);

/* For the formats' own files ------------------------------------------------------------------- */

/* Where a stream stands: sentences [sentence, end_sentence), and in one of them a row. */
struct mt_inspection_cursor {
    struct mt_inspection *inspection; /* owned */
    size_t sentence, end_sentence;
    struct mt_attention_tensor tensors[MT_MAX_TENSORS]; /* of sentence */
    size_t n_tensors;
    size_t tensor, matrix, row;
};

/* Fetches the tensors of the sentence and goes to their first row. */
void mt_inspection_cursor_enter(struct mt_inspection_cursor *cursor);
/* To the next row of the same tensor; false, and on to the next tensor, behind its last one. */
bool mt_inspection_cursor_next_row(struct mt_inspection_cursor *cursor);

/* The one tensor of a format that holds one, at whose first row the cursor stands: NULL where there
 * is none, and it is the alignment. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_inspection_only_tensor(struct mt_inspection_cursor *cursor,
                                                       const char *format,
                                                       const struct mt_attention_tensor **out,
                                                       struct mt_error *err);

/* The state of a stream: n_bytes that begin with a copy of the cursor and are zero otherwise. Takes
 * the inspection over, even where it fails, which is MT_MEMORY: NULL. */
void *mt_inspection_state_create(const struct mt_inspection_cursor *cursor, size_t n_bytes,
                                 struct mt_error *err);
void mt_inspection_state_destroy(void *state);

/* Makes a stream of unknown length of such a state. */
MT_MUST_CHECK enum mt_status mt_inspection_state_stream(void *state,
                                                        bool (*next)(void *, struct mt_text *),
                                                        struct mt_stream **out,
                                                        struct mt_error *err);

/* One row of a nested array, with the brackets that open before it and close behind it. */
void mt_json_tensor_row(struct mt_json_writer *writer, const struct mt_attention_tensor *tensor,
                        size_t matrix, size_t row, int decimals);

/* Writes a member that is an array of numbers. */
void mt_json_indices(struct mt_json_writer *writer, const char *key, const size_t *values,
                     size_t n);

/* The streams that mt_inspection_render reads. Each owns the cursor's inspection from its creation
 * on, even where that fails. */
typedef enum mt_status mt_inspection_stream(const struct mt_inspection_cursor *cursor,
                                            struct mt_stream **out, struct mt_error *err);
mt_inspection_stream mt_inspection_json_stream;
mt_inspection_stream mt_inspection_bertviz_stream;
mt_inspection_stream mt_inspection_inseq_stream;
mt_inspection_stream mt_inspection_pharaoh_stream;
mt_inspection_stream mt_inspection_soft_stream;
mt_inspection_stream mt_inspection_safetensors_stream;
mt_inspection_stream mt_inspection_npy_stream;
mt_inspection_stream mt_inspection_csv_stream;
mt_inspection_stream mt_inspection_svg_stream;
mt_inspection_stream mt_inspection_png_stream;

#endif
