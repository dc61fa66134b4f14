/*
 * What a caller wants to see, read from a request's fields. The command line fills in the same
 * struct from its flags, with the same words.
 *
 *   kinds      ["cross", "encoder", "decoder"], or "cross,encoder"; absent: the format's own, else
 *              none, or cross where layers, heads or reduce say that tensors are wanted
 *   layers     [0, -1], or "0,-1"; absent: all
 *   heads      likewise
 *   reduce     "none", "heads", "layers", "all"
 *   alignment  {"layers", "heads", "mode": "mean" | "max", "shift": "output" | "input"}; in textual
 *              encodings alignment_layers, alignment_heads, alignment_mode, alignment_shift
 *   precision  decimals, 1 to 9, default 4
 *   next_tokens  most probable next tokens per step, 0 to MT_MAX_TOP
 *   include    ["queries", "keys", ...] or "queries,keys": enum mt_quantity by name, of the kinds,
 *              layers and heads above
 *   steps      [4, -1], or "4,-1": only these rows, of next_tokens and logit_lens too
 *   logit_lens  most probable tokens after the embedding and each decoder layer, 0 to MT_MAX_LENS
 *   search     true: what each step of beam search weighed, kept and dropped (json)
 *   format     see inspection_formats.h; default "json"
 *   sentence   the one to write; absent: all
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_REQUEST_H
#define MT_SERVER_INSPECTION_INSPECTION_REQUEST_H

#include "server/inspection/inspection_formats.h"
#include "server/http/params.h"

struct mt_settings;

struct mt_inspection_request {
    struct mt_inspection_options options;
    enum mt_inspection_format format;
    size_t sentence; /* or MT_ALL_SENTENCES */
};

/* options->alignment and max_values keep what the caller put there where the request is silent; all
 * else is set. MT_INVALID names field, value and expectation. */
MT_MUST_CHECK enum mt_status mt_inspection_request_read(const struct mt_params *params,
                                                        struct mt_inspection_request *request,
                                                        struct mt_error *err);

/* From words, as on the command line and in the settings. name is for messages. NULL and "" leave
 * *out alone. */
MT_MUST_CHECK enum mt_status mt_index_list_parse(const char *name, const char *text,
                                                 struct mt_index_list *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_trace_kinds_parse(const char *name, const char *text, unsigned *out,
                                                  struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_reduce_parse(const char *name, const char *text,
                                             enum mt_reduce *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_alignment_mode_parse(const char *name, const char *text,
                                                     enum mt_alignment_mode *out,
                                                     struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_alignment_shift_parse(const char *name, const char *text,
                                                      enum mt_alignment_shift *out,
                                                      struct mt_error *err);

/* The choice that the settings make for this model. Empty settings leave *out alone. */
MT_MUST_CHECK enum mt_status mt_alignment_of_settings(const struct mt_settings *settings,
                                                      struct mt_alignment_choice *out,
                                                      struct mt_error *err);

/* Kinds for a request that names none: cross where other fields speak of tensors. */
void mt_inspection_default_kinds(struct mt_inspection_options *options);

#endif
