/*
 * The sentences on which a model's heads are measured: translated by the model, or forced into a
 * known translation, together with the attention.
 *
 * A line has a source sentence, then optionally a TAB and its translation (otherwise the model's
 * own is taken), and optionally another TAB and the alignment of its words, as pairs "0-0 1-2" with
 * blanks in between. Beside a character of a script without blanks (Japanese, Chinese, Thai, ...) a
 * blank of the translation only separates words and is removed. At most MT_HEAD_SAMPLE_LINES lines
 * of a file are read; empty lines do not count.
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

/* A line. Where sentence is NULL nothing had to be translated, and the members below it are not
 * set. */
struct mt_head_item {
    const char *source, *target, *links; /* NULL: not given */
    const char *target_words;            /* target with all blanks that separate words */
    const struct mt_sentence *sentence;
    const struct mt_trace *trace;
    const struct mt_token_list *tokens; /* tokens of the source */
    size_t n_steps;
    struct mt_translation *translation; /* owns the members above */
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

/* Fills out, which has to be finished in any case; model, settings and path are borrowed. trace is
 * a combination of enum mt_trace_kind; if it has several kinds, then all weights count for the
 * setting max_attention_values. MT_FORMAT: not UTF-8; MT_INVALID: there is no line; MT_LIMIT;
 * MT_IO. */
MT_MUST_CHECK enum mt_status mt_head_sample_read(const struct mt_model *model,
                                                 const struct mt_settings *settings,
                                                 const char *path, unsigned trace,
                                                 struct mt_head_sample *out, struct mt_error *err);
void mt_head_sample_finish(struct mt_head_sample *sample);

/* Puts the file and the line of item i before err's message. */
enum mt_status mt_head_sample_fail(const struct mt_head_sample *sample, size_t i,
                                   enum mt_status status, struct mt_error *err);

/* Returns the piece of an output token; NULL for the end of sentence and padding. */
const char *mt_head_item_piece(const struct mt_head_sample *sample, const struct mt_head_item *item,
                               size_t step);

/* Links between words, which are separated by blanks and counted from 0. */
struct mt_known_links {
    size_t *sources, *targets;
    size_t n;
};

/* Reads "0-0 1-2"; out has to be finished in any case. MT_INVALID: the text is malformed. */
MT_MUST_CHECK enum mt_status mt_known_links_parse(const char *text, struct mt_known_links *out,
                                                  struct mt_error *err);
void mt_known_links_finish(struct mt_known_links *links);

/* Writes the number of the word, counted from 0, of each output token: out has room for n_steps.
 * SIZE_MAX for a token without letters. MT_NO_MEMORY */
MT_MUST_CHECK enum mt_status mt_head_item_target_words(const struct mt_head_sample *sample,
                                                       const struct mt_head_item *item, size_t *out,
                                                       struct mt_error *err);

/* Returns the number of the word of a source token; SIZE_MAX for a special one. */
size_t mt_head_item_source_word(const struct mt_head_item *item, size_t token);

#endif
