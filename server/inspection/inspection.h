/*
 * The attention with which a model translated a text, ready to be written in any format. It has for
 * every sentence its tokens with their positions in the texts, the requested attention matrices,
 * and one alignment matrix, which is made of chosen heads of the cross-attention.
 *
 *   T output tokens = T decoder steps, S source tokens
 *   row t of cross [T, S] and decoder [T, T]: step t, which read input_tokens[t] (the start token
 *   first) and wrote output_tokens[t]
 *   encoder [S, S]
 *
 * Matrices are not copied: a format reads them row by row from the trace (in tests from plain
 * arrays).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_H
#define MT_SERVER_INSPECTION_INSPECTION_H

#include "base/text.h"
#include "model/lens.h"
#include "model/sentence.h"
#include "model/switches.h"
#include "model/tokenizer/tokenizer.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_json_writer;

/* What may be requested
 * -------------------------------------------------------------------------- */

/* Numbers of layers or heads, from 0; -1 is the last one, -2 the one before it. n 0: all. */
#define MT_MAX_INDICES 64
struct mt_index_list {
    size_t n;
    int values[MT_MAX_INDICES];
};

/* Axes of [layers, heads, rows, columns] over which a kind is averaged. */
enum mt_reduce { MT_REDUCE_NONE, MT_REDUCE_HEADS, MT_REDUCE_LAYERS, MT_REDUCE_ALL };

enum mt_alignment_mode { MT_ALIGNMENT_MEAN, MT_ALIGNMENT_MAX };

/* The step that is taken for output token t: the one that wrote it (step t), or the one that read
 * it (step t + 1; the last token was never read, so step T - 1 is taken for it, too). The right
 * choice depends on the model and the layer. */
enum mt_alignment_shift { MT_SHIFT_OUTPUT, MT_SHIFT_INPUT };

struct mt_alignment_choice {
    /* no layers: the upper half of the decoder; for a model with a recurrent cell both are from
     * mt_alignment_guided */
    struct mt_index_list layers, heads;
    enum mt_alignment_mode mode;
    enum mt_alignment_shift shift;
};

/* Numbers that can be requested, of attention and of the computations around it. N is S or T, as
 * above; K numbers of a head, P sublayers of a layer: 2 of the encoder, 3 of the decoder. */
enum mt_quantity {
    MT_QUANTITY_WEIGHTS,        /* of each requested kind, without being named: softmax(scores) */
    MT_QUANTITY_QUERIES,        /* [L, H, rows, K] */
    MT_QUANTITY_KEYS,           /* [L, H, columns, K] */
    MT_QUANTITY_SCORES,         /* [L, H, rows, columns]: q k / sqrt(K); -infinity if masked */
    MT_QUANTITY_VALUES,         /* [L, H, columns, K] */
    MT_QUANTITY_HEAD_OUTPUTS,   /* [L, H, rows, K]: weights times values */
    MT_QUANTITY_VALUE_WEIGHTED, /* [L, H, rows, columns]: |a_ij v_j W^O|, Kobayashi et al. 2020 */
    /* Both encoder and decoder have these; the decoder's belong to kind cross, too. */
    MT_QUANTITY_STATES,    /* [L, P + 1, rows, D]: x before each sublayer and after the last */
    MT_QUANTITY_SUBLAYERS, /* [L, P, rows, D]: f(x), what each adds */
    /* [L, P, rows, 3]: mean, deviation and length of each layer norm's input: x + f(x), or x for a
     * pre-norm model */
    MT_QUANTITY_RESIDUALS,
    MT_QUANTITY_HIDDEN, /* [L, rows, F]: hidden layer of the feed-forward block */
    /* This one is computed from all kinds together. */
    MT_QUANTITY_ROLLOUT, /* [T, S]: Abnar and Zuidema 2020, with half of the weight for residuals */
    MT_N_QUANTITIES,
};

/* {0}: only the alignment, of all heads, with 4 decimals. */
struct mt_inspection_options {
    unsigned kinds; /* requested tensors: enum mt_trace_kind, combined */
    /* The only heads whose MT_TRACE_CROSS is kept; borrowed. n 0: all. An alignment needs its own;
     * everything else that is requested needs all. */
    struct mt_kept_heads kept_heads;
    unsigned include;   /* further quantities: 1 << enum mt_quantity, combined */
    bool skips_weights; /* only the quantities in include are written */
    struct mt_index_list layers, heads;
    /* the only rows of tensors, next tokens and opinions that are written; those that a sentence
     * does not have are left out */
    struct mt_index_list steps;
    bool has_lens;
    size_t n_lens; /* number of most probable tokens in each layer's opinion, 0 to MT_MAX_LENS */
    const struct mt_head *switched_off; /* heads that were switched off */
    size_t n_switched_off;
    enum mt_reduce reduce;
    struct mt_alignment_choice alignment;
    int decimals;          /* of numbers in text formats, 1 to 9; 0: 4 */
    size_t n_top;          /* number of most probable next tokens per step, 0 to MT_MAX_TOP */
    bool search;           /* the continuations that each step of the search considered */
    size_t n_alternatives; /* other translations of each sentence */
    uint64_t max_values;   /* numbers in all matrices together; 0: no limit */
};

#define MT_MAX_LENS 10

/* What it is made from ------------------------------------------------------------------------- */

/* The source of attention weights. shape is all 0 for a kind that was not traced. */
struct mt_attention {
    struct mt_trace_shape (*shape)(const void *context, enum mt_trace_kind kind);
    const float *(*row)(const void *context, enum mt_trace_kind kind, size_t layer, size_t head,
                        size_t row);
    const void *context; /* borrowed */
};
struct mt_attention mt_attention_of_trace(const struct mt_trace *trace);

struct mt_inspection_model {
    const char *id; /* "en-de" */
    const char *source_lang, *target_lang;
    size_t n_encoder_layers, n_decoder_layers, n_encoder_heads, n_decoder_heads, d_model;
    size_t d_ff_encoder, d_ff_decoder, n_vocabulary; /* of the target */
    bool has_cell;          /* the decoder has a recurrent cell, and no self-attention */
    bool normalizes_before; /* pre-norm */
    bool normalizes_embedding;
};

/* Why such a model has no decoder self-attention, as a sentence without its full stop. */
#define MT_NO_DECODER_ATTENTION                                                                    \
    "the decoder of this model has a recurrent cell (SSRU) in the place of self-attention, which " \
    "has no weights to show"

/* Another translation that the search found. */
struct mt_alternative {
    const char *text;
    float score;
};

/* The input for one sentence. Everything except the attention is copied. */
struct mt_inspection_part {
    size_t source_begin, source_end;      /* bytes in the source text */
    size_t target_begin, target_end;      /* bytes in the target text */
    const struct mt_token *source_tokens; /* offsets relative to source_begin */
    size_t n_source;
    const struct mt_token *output_tokens; /* offsets relative to target_begin */
    size_t n_output;
    struct mt_token start;                 /* the token that the decoder began with: id and piece */
    const float *logprobs;                 /* of the output tokens; NULL: unknown */
    const struct mt_top_token *const *top; /* options.n_top per step; NULL: unknown */
    const float *entropy;                  /* of each step's distribution, in nats; NULL: unknown */
    /* Returns the continuations that a step of the search considered, and their number *n
     * (mt_sentence_search). NULL: unknown. */
    const struct mt_search_candidate *(*search)(const void *context, size_t step, size_t *n);
    const void *search_context;
    size_t n_search_steps;
    const struct mt_alternative *alternatives; /* best first */
    size_t n_alternatives;
    /* What each layer would predict at the n chosen steps: opinions [n, Ld + 1] and their top [n,
     * Ld + 1, options.n_lens]. NULL: unknown. */
    const struct mt_lens_opinion *opinions;
    const struct mt_top_token *opinion_top;
    const float
        *value_norms[3]; /* [L, H, columns] of encoder, decoder, cross (lens.h); NULL: unknown */
    struct mt_attention attention;
    float score;
    bool has_eos;
    bool was_cut;
};

struct mt_inspection_input {
    struct mt_inspection_model model;
    const char *source_text, *target_text; /* well-formed UTF-8 */
    size_t source_length, target_length;
    const struct mt_inspection_part *parts;
    size_t n_parts;
    bool is_forced; /* the target was given by the caller */
    /* Returns the piece of a target id, for the tokens of top; NULL where there is none. */
    const char *(*target_piece)(const void *context, int32_t id);
    const void *context;
};

/* What it contains ----------------------------------------------------------------------------- */

/* A range of a text in the three units that programs use: UTF-8 bytes (C, Rust), code points
 * (Python), UTF-16 code units (JavaScript, Java). */
struct mt_offsets {
    size_t begin, end;
    size_t begin_char, end_char;
    size_t begin_utf16, end_utf16;
};
/* Writes a member {"text", "begin", "end", ...}: a piece of a text and its position. */
void mt_span_write(struct mt_json_writer *writer, const char *key, const char *text,
                   const struct mt_offsets *at);

struct mt_inspected_token {
    const char *piece; /* raw: U+2581 for a blank */
    int32_t id;
    bool special, unknown;
    bool has_place;       /* at is valid: input_tokens[0] is in no text */
    struct mt_offsets at; /* in the whole text */
    bool has_logprob;
    float logprob;
};

struct mt_inspected_candidate {
    const char *piece;
    int32_t id;
    float logprob;
};

/* What a layer would have predicted. */
struct mt_inspected_opinion {
    struct mt_lens_opinion is;
    struct mt_inspected_candidate *top; /* [options.n_lens] */
};

/* A continuation that a step of the search considered. */
struct mt_inspected_continuation {
    const char *piece;
    struct mt_search_candidate is;
};
struct mt_inspected_step {
    struct mt_inspected_continuation *continuations; /* best first */
    size_t n;
};

/* A link from an output token to the source token that explains it best. */
struct mt_link {
    size_t source, target;
};

struct mt_inspected_sentence {
    struct mt_offsets source, target; /* in the whole texts */
    struct mt_inspected_token *source_tokens;
    size_t n_source;
    struct mt_inspected_token *input_tokens, *output_tokens;
    size_t n_steps;
    struct mt_inspected_candidate *top; /* [n_steps, n_top], or NULL */
    float *entropy;                     /* of each step's distribution in nats, or NULL */
    struct mt_inspected_step *search;   /* [n_search_steps], or NULL */
    size_t n_search_steps;
    struct mt_alternative *alternatives; /* [n_alternatives], best first */
    size_t n_alternatives;
    /* If options.steps is not empty: the chosen steps, and the chosen rows of the encoder. */
    size_t *chosen_steps, *chosen_source;
    size_t n_chosen_steps, n_chosen_source;
    struct mt_inspected_opinion *opinions; /* [chosen or all steps, Ld + 1], or NULL */
    const float *value_norms[3];
    float *rollout; /* [n_steps, n_source], or NULL */
    struct mt_attention attention;
    float *alignment;      /* [n_steps, n_source]: row t belongs to output token t and sums to 1 */
    struct mt_link *links; /* ascending by source, without special tokens */
    size_t n_links;
    float score;
    bool has_eos, was_cut;
};

/* Layers and heads after they were checked. */
struct mt_selection {
    size_t n_layers, n_heads;
    size_t layers[MT_MAX_INDICES], heads[MT_MAX_INDICES];
};

/* Returns the layers and heads that an alignment is made of. MT_INVALID: the model lacks one. */
MT_MUST_CHECK enum mt_status
mt_inspection_select_alignment(const struct mt_inspection_model *model,
                               const struct mt_alignment_choice *choice, struct mt_selection *out,
                               struct mt_error *err);

struct mt_inspection {
    struct mt_inspection_model model;
    const char *source_text, *target_text;
    size_t source_length, target_length;
    struct mt_inspected_sentence *sentences;
    size_t n_sentences;
    bool is_forced;
    struct mt_inspection_options options;    /* as given, with defaults filled in */
    struct mt_selection alignment_selection; /* the layers and heads of the alignment */
    uint64_t n_values;                       /* numbers in all matrices */
    struct mt_inspection_memory *memory;     /* internal */
};

/*
 * Attention stays borrowed. Cross-attention always has to be traced. MT_INVALID: a layer or head
 * does not exist in the model, or the trace lacks a requested kind, or has another shape than the
 * tokens. MT_LIMIT: more than options.max_values, with both numbers.
 */
MT_MUST_CHECK enum mt_status mt_inspection_create(const struct mt_inspection_input *input,
                                                  const struct mt_inspection_options *options,
                                                  struct mt_inspection **out, struct mt_error *err);

/* NULL is allowed. */
void mt_inspection_destroy(struct mt_inspection *inspection);

/* Calls destroy with owner when the inspection is destroyed, so that owner, from which the
 * attention is borrowed, lives as long. */
void mt_inspection_keep(struct mt_inspection *inspection, void *owner, void (*destroy)(void *));

/* Checks options against a model before anything is decoded: MT_INVALID as above. */
MT_MUST_CHECK enum mt_status mt_inspection_check(const struct mt_inspection_model *model,
                                                 const struct mt_inspection_options *options,
                                                 struct mt_error *err);

/* Counts the numbers in the matrices of one sentence with these lengths: those of the tensors after
 * averaging, and the alignment's. options must have passed mt_inspection_check. */
uint64_t mt_inspection_count_values(const struct mt_inspection_model *model,
                                    const struct mt_inspection_options *options, size_t n_source,
                                    size_t n_steps);

/* MT_LIMIT where that is more than options->max_values; the message tells how to request less. */
MT_MUST_CHECK enum mt_status mt_inspection_check_values(const struct mt_inspection_options *options,
                                                        uint64_t n_values, struct mt_error *err);

/* Writes the rows of n_rows that options.steps chooses, in the order of the list, without
 * duplicates. out has room for MT_MAX_INDICES. Returns their number. */
size_t mt_inspection_choose_steps(const struct mt_index_list *steps, size_t n_rows,
                                  size_t out[MT_MAX_INDICES]);

/* Tensors -------------------------------------------------------------------------------------- */

/* Three kinds of 7 quantities, two of 4, and rollout. */
#define MT_MAX_TENSORS 30

/* One quantity of one kind of one sentence, with chosen layers and heads, and perhaps averaged. The
 * shape is as in enum mt_quantity, without the averaged axes. */
struct mt_attention_tensor {
    char name[32]; /* "cross", "encoder", "decoder", "queries.cross", "rollout" */
    enum mt_quantity quantity;
    enum mt_trace_kind kind;
    size_t rank;
    size_t shape[4];
    size_t n_matrices, n_rows, n_columns; /* n_matrices: product of the axes before the last two */
    /* the layers and heads along these axes, or of the mean */
    struct mt_selection selection;
    const struct mt_inspected_sentence *sentence;
    struct mt_inspection *inspection;
    enum mt_reduce reduce;
};

/* Lists the tensors of a sentence that options.kinds requests, in the order encoder, decoder,
 * cross. Returns their number. */
size_t mt_inspection_tensors(struct mt_inspection *inspection, size_t sentence,
                             struct mt_attention_tensor tensors[MT_MAX_TENSORS]);

/* Returns one row, borrowed until the next call for the same inspection. */
const float *mt_attention_tensor_row(const struct mt_attention_tensor *tensor, size_t matrix,
                                     size_t row);

/* Return the tokens of its rows and columns. Rows of cross have the token that the step wrote, or
 * read, depending on options.alignment.shift; those of decoder always the one it read. */
const struct mt_inspected_token *mt_attention_tensor_rows(const struct mt_attention_tensor *tensor);
const struct mt_inspected_token *
mt_attention_tensor_columns(const struct mt_attention_tensor *tensor);

/* Returns the sentence's row for a row of the tensor: another one if steps were chosen. */
size_t mt_attention_tensor_index(const struct mt_attention_tensor *tensor, size_t row);

/* Whether its columns are tokens. */
bool mt_quantity_is_map(enum mt_quantity quantity);
/* Whether its rows are keys or values, for which options.steps is ignored. */
bool mt_quantity_is_looked_at(enum mt_quantity quantity);

const char *mt_trace_kind_name(enum mt_trace_kind kind);
/* Returns the name in include; "" for weights. */
const char *mt_quantity_name(enum mt_quantity quantity);

#endif
