/*
 * The sentences on which a model's heads are measured: translated, or forced into a known translation,
 * with what attention looked at.
 *
 * A line is a source sentence, where it is known a TAB and its translation (else the model's own is
 * taken), and where that is known another TAB and the alignment of its words, separated by blanks, as
 * pairs "0-0 1-2". Beside a character of a script that is written without blanks (Japanese, Chinese,
 * Thai, ...) a blank of the translation parts words, but is no part of it. Of a file
 * MT_HEAD_SAMPLE_LINES lines are read; empty ones do not count.
 *
 * Thread-safety: safe on distinct samples.
 */
#ifndef MT_SERVER_INSPECTION_HEAD_SAMPLE_H
#define MT_SERVER_INSPECTION_HEAD_SAMPLE_H

#include "base/status.h"

#include <stddef.h>

struct mt_hparams;
struct mt_model;
struct mt_sentence;
struct mt_settings;
struct mt_token_list;
struct mt_trace;
struct mt_translation;

/* Most lines of a sample that are read. */
#define MT_HEAD_SAMPLE_LINES 2000

/* A line. Where sentence is NULL there was nothing to translate, and nothing below it is set. */
struct mt_head_item {
    const char *source, *target, *links; /* NULL: not given */
    const char *target_words;            /* target with all blanks that part words */
    const struct mt_sentence *sentence;
    const struct mt_trace *trace;
    const struct mt_token_list *tokens; /* of the source */
    size_t n_steps;
    struct mt_translation *translation; /* owns the above */
    char *joined;                       /* owns target */
};

struct mt_head_sample {
    const struct mt_model *model;
    const struct mt_settings *settings;
    const struct mt_hparams *hparams;
    const char *path;
    struct mt_head_item *items;
    size_t n;
    char *bytes;
};

/* Fills out, which then has to be finished in any case; model, settings and path are borrowed. trace: enum
 * mt_trace_kind, or'ed; weights of all kinds, where it names more than one, count against the setting
 * max_attention_values. MT_FORMAT: no UTF-8; MT_INVALID: no line; MT_LIMIT; MT_IO. */
MT_MUST_CHECK enum mt_status mt_head_sample_read(const struct mt_model *model,
                                                 const struct mt_settings *settings,
                                                 const char *path, unsigned trace,
                                                 struct mt_head_sample *out, struct mt_error *err);
void mt_head_sample_finish(struct mt_head_sample *sample);

/* Puts the file and the line of item i before err's message. */
enum mt_status mt_head_sample_fail(const struct mt_head_sample *sample, size_t i,
                                   enum mt_status status, struct mt_error *err);

/* The piece of an output token; NULL for one that ends or pads. */
const char *mt_head_item_piece(const struct mt_head_sample *sample, const struct mt_head_item *item,
                               size_t step);

/* Links of words, counted by blanks from 0. */
struct mt_known_links {
    size_t *sources, *targets;
    size_t n;
};

/* Reads "0-0 1-2"; out has to be finished in any case. MT_INVALID: the text is none of that. */
MT_MUST_CHECK enum mt_status mt_known_links_parse(const char *text, struct mt_known_links *out,
                                                  struct mt_error *err);
void mt_known_links_finish(struct mt_known_links *links);

/* The word, counted by blanks from 0, of each output token: out has room for n_steps. SIZE_MAX for one that
 * has no letters of its own. MT_NO_MEMORY */
MT_MUST_CHECK enum mt_status mt_head_item_target_words(const struct mt_head_sample *sample,
                                                       const struct mt_head_item *item, size_t *out,
                                                       struct mt_error *err);

/* The word of a source token; SIZE_MAX for a special one. */
size_t mt_head_item_source_word(const struct mt_head_item *item, size_t token);

#endif
