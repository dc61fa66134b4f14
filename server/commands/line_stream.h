/*
 * Translates a stream of lines, each of which is a text. Translations are written in the lines'
 * order, and many lines are in flight at once. A window limits the memory. Finished lines are
 * written at once if the next one is not finished, so that a pipe or a terminal gets every
 * translation as soon as possible.
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
    const struct mt_service *service;     /* only settings and attention_budget are used */
    const struct mt_loaded_model *loaded; /* of model, for alignments */
    const struct mt_proofreader *reader;
    struct mt_warning_printer *printer; /* prints the warnings; NULL with as_json */
    const struct mt_model *model;
    struct mt_engine *engine; /* its queue takes window + max_sentences of a line */
    struct mt_lane *lane;     /* the model's lane in the engine */
    struct mt_translation_options translation; /* options for each line */
    size_t window;                             /* most sentences in flight */
    /* Writes one object per line instead of text: "source", "text", "output_ids" (without start,
     * with eos), "score", "token_logprobs", "alternatives" if there are several hypotheses, and
     * "warnings" (warnings.h, without "text") if there are any. The model then gets the line
     * unchanged; otherwise placeholders are replaced by other words (placeholders.h). */
    bool as_json;
    int in_fd, out_fd;
    struct mt_progress_bar *bar; /* shows how many lines are written; may be NULL */
    size_t n_input_bytes;        /* size of the whole input, for the bar; 0: unknown */
    /* a nonblocking signalfd with the signals that stop the stream; -1: none */
    int stop_fd;
    int *stopped_by; /* gets the signal that was read from stop_fd */
};

/*
 * Runs until the input has ended and everything is written. MT_CANCELLED: a signal came, or nobody
 * reads the output (EPIPE); MT_FORMAT: a line is not UTF-8; MT_IO; or the status of a line's
 * translation. Messages have the number of the line. The lines before it are written first, except
 * after MT_CANCELLED and failures of the output. Thread-safety: safe; it uses a thread of its own
 * for the output.
 */
MT_MUST_CHECK enum mt_status mt_line_stream_run(const struct mt_line_stream_options *options,
                                                struct mt_error *err);

#endif
