/*
 * A stream of texts, one per line: lines in, translations out, in the same order, many in flight
 * in between. Memory is bounded by a window; what is done is written at once where the next line
 * is not, so that a pipe or a terminal sees every translation as soon as it can.
 */
#ifndef MT_SERVER_COMMANDS_LINE_STREAM_H
#define MT_SERVER_COMMANDS_LINE_STREAM_H

#include "server/text/translation.h"

struct mt_engine;
struct mt_lane;
struct mt_loaded_model;
struct mt_model;
struct mt_progress_bar;
struct mt_proofreader;
struct mt_service;
struct mt_warning_printer;

struct mt_line_stream_options {
    const struct mt_service *service;     /* settings and attention_budget are used */
    const struct mt_loaded_model *loaded; /* of model, for alignments */
    const struct mt_proofreader *reader;
    struct mt_warning_printer *printer; /* is told what the reader finds; NULL: with as_json */
    const struct mt_model *model;
    struct mt_engine *engine; /* its queue takes window + max_sentences of a line */
    struct mt_lane *lane;     /* the model's in the engine */
    struct mt_translation_options translation; /* of each line */
    size_t window;                             /* sentences in flight before reading pauses */
    /* One object per line instead of text: "source", "text", "output_ids" (without start, with
     * eos), "score", "token_logprobs", "alternatives" where there are more hypotheses than one, and
     * "warnings" (warnings.h, without "text") where there are some. The model reads the line as it
     * is, then; otherwise it gets other words in the place of placeholders (protect.h). */
    bool as_json;
    int in_fd, out_fd;
    struct mt_progress_bar *bar; /* is told of the lines that are written; may be NULL */
    size_t n_input_bytes;        /* all there will be, for the bar; 0: unknown */
    int stop_fd;                 /* a signalfd, nonblocking, of what makes it stop; -1: nothing */
    int *stopped_by;             /* set to the signal that was read from there */
};

/*
 * Runs until the input ends and all of it is written. MT_CANCELLED: a signal came, or nobody
 * reads the output (EPIPE); MT_FORMAT: a line is no UTF-8; MT_IO; or what the translation
 * of a line failed with. Messages name the line; the lines before it are written first, but for
 * MT_CANCELLED and failures of the output.
 * Thread-safety: safe; runs a thread of its own for the output.
 */
MT_MUST_CHECK enum mt_status mt_line_stream_run(const struct mt_line_stream_options *options,
                                                struct mt_error *err);

#endif
