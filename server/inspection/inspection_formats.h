/*
 * Writes an inspection in formats of other programs. Each is a stream (stream.h) that produces one
 * row of a matrix at a time, so that none needs memory for the whole.
 *
 *   json         everything, by name
 *   bertviz      the params object of bertviz' head_view and model_view
 *   inseq        what inseq's FeatureAttributionOutput.load reads
 *   pharaoh      "0-0 1-2": source-target links, one line per sentence
 *   soft         the alignment as Marian writes it: per output token its source weights, one line
 *                per sentence
 *   safetensors  tensors "sentences.0.alignment", "sentences.0.cross", ... and token ids
 *   npy          one array: the only requested tensor, or the alignment
 *   csv          the same, one number per line, with a head (inspection_csv.c)
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

/* Facts about a format: its name in requests, the extension of file names, and what it can
 * contain. */
struct mt_inspection_format_info {
    const char *name, *extension, *content_type;
    bool holds_one_sentence; /* of several sentences one has to be chosen */
    bool is_compressed;      /* compressing it would not help */
    /* it has every layer and head separately, so they cannot be averaged */
    bool needs_heads;
    bool holds_numbers; /* of any tensor, and of chosen steps only */
    bool holds_one_array;
    unsigned default_kinds; /* kinds that it shows if none were requested */
};
const struct mt_inspection_format_info *mt_inspection_format_info(enum mt_inspection_format format);

/* MT_INVALID lists the formats. */
MT_MUST_CHECK enum mt_status
mt_inspection_format_parse(const char *name, enum mt_inspection_format *out, struct mt_error *err);

/* Fills in what a format needs: its default kinds if options.kinds is 0, and only the layers that
 * all kinds have if it cannot show others. To be called before mt_inspection_check. MT_INVALID: it
 * is averaged, but the format needs every head. */
MT_MUST_CHECK enum mt_status mt_inspection_format_prepare(enum mt_inspection_format format,
                                                          const struct mt_inspection_model *model,
                                                          struct mt_inspection_options *options,
                                                          struct mt_error *err);

/* All sentences. */
#define MT_ALL_SENTENCES SIZE_MAX

/*
 * Starts the stream and takes over the inspection, even if this fails. sentence: the one to write,
 * or MT_ALL_SENTENCES. MT_INVALID: there is no such sentence; there are several, but the format has
 * one; npy or csv of several tensors; options.steps has a step that a sentence does not have.
 */
MT_MUST_CHECK enum mt_status mt_inspection_render(struct mt_inspection *inspection,
                                                  enum mt_inspection_format format, size_t sentence,
                                                  struct mt_stream **out, struct mt_error *err);

/* For the files that implement the formats ----------------------------------------------------- */

/* How far a stream has come. */
struct mt_inspection_cursor {
    struct mt_inspection *inspection; /* owned */
    size_t sentence, end_sentence;    /* the current sentence, and where to stop */
    struct mt_attention_tensor tensors[MT_MAX_TENSORS]; /* of the current sentence */
    size_t n_tensors;
    size_t tensor, matrix, row; /* the row of the current sentence that comes next */
};

/* Loads the tensors of the sentence and moves to their first row. */
void mt_inspection_cursor_enter(struct mt_inspection_cursor *cursor);
/* Moves to the next row of the same tensor; after its last one, moves to the next tensor and
 * returns false. */
bool mt_inspection_cursor_next_row(struct mt_inspection_cursor *cursor);

/* Finds the only tensor, for a format with one; the cursor is at its first row. NULL: there is
 * none, and the alignment is taken. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_inspection_only_tensor(struct mt_inspection_cursor *cursor,
                                                       const char *format,
                                                       const struct mt_attention_tensor **out,
                                                       struct mt_error *err);

/* Makes the state of a stream: n_bytes that begin with a copy of the cursor and are otherwise zero.
 * Takes over the inspection, even if it fails. NULL: there is no memory (MT_MEMORY). */
void *mt_inspection_state_create(const struct mt_inspection_cursor *cursor, size_t n_bytes,
                                 struct mt_error *err);
void mt_inspection_state_destroy(void *state);

/* Makes a stream of unknown length from such a state. */
MT_MUST_CHECK enum mt_status mt_inspection_state_stream(void *state,
                                                        bool (*next)(void *, struct mt_text *),
                                                        struct mt_stream **out,
                                                        struct mt_error *err);

/* Writes one row of a nested array, with the brackets that open before it and close behind it. */
void mt_json_tensor_row(struct mt_json_writer *writer, const struct mt_attention_tensor *tensor,
                        size_t matrix, size_t row, int decimals);

/* Writes a member that is an array of numbers. */
void mt_json_indices(struct mt_json_writer *writer, const char *key, const size_t *values,
                     size_t n);

/* The streams that mt_inspection_render chooses from. Each owns the cursor's inspection from its
 * creation on, even if that fails. */
typedef enum mt_status mt_inspection_stream(const struct mt_inspection_cursor *cursor,
                                            struct mt_stream **out, struct mt_error *err);
mt_inspection_stream mt_inspection_json_stream;
mt_inspection_stream mt_inspection_inseq_stream;
mt_inspection_stream mt_inspection_safetensors_stream;
mt_inspection_stream mt_inspection_npy_stream;
mt_inspection_stream mt_inspection_csv_stream;
mt_inspection_stream mt_inspection_svg_stream;
mt_inspection_stream mt_inspection_png_stream;

#endif
