#include "server/commands/cli.h"
#include "server/commands/commands.h"

#include "base/cores.h"
#include "base/file.h"
#include "base/sanitized.h"
#include "base/size.h"
#include "model/files/hparams.h"
#include "model/model.h"
#include "server/commands/document_command.h"
#include "server/commands/file_list.h"
#include "server/engine/engine.h"
#include "server/commands/line_stream.h"
#include "server/models/model_settings.h"
#include "server/commands/progress_bar.h"
#include "server/commands/signals.h"
#include "server/api/warnings.h"
#include "server/commands/warning_printer.h"
#include "server/models/model_defaults.h"
#include "server/models/served_model.h"
#include "server/commands/model_choice.h"
#include "server/passages/budget.h"
#include "server/service/service.h"
#include "server/text/direction.h"
#include "server/text/proofread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most sentences of one line. */
#define MAX_LINE_SENTENCES 10000
/* Sentences in flight, in multiples of what the workers' batches hold: enough that workers never
 * wait for the reader, and few enough to need little memory. */
#define WINDOW_BATCHES 4
#define MIN_WINDOW 64
#define MAX_WINDOW 4096

/* The flags that only this verb has. */
struct flags {
    bool as_json;
    int64_t batch_size; /* 0: the setting max_batch_rows */
    int64_t num_hypotheses;
    /* of a document; NULL: the input is lines, or the file's name determines it */
    const char *format;
    const char *encoding; /* of a document; NULL: it is detected */
    bool retranslate;
    const char *output_dir; /* for documents; NULL: standard output */
};

/* Everything that is open while the verb runs; zero-initialised, except for stop_fd. */
struct session {
    struct mt_model *model;
    struct mt_engine *engine;
    struct mt_lane *lane; /* the model's lane in the engine */
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
    struct mt_text_direction direction;
    struct mt_proofreader reader;
    struct mt_warning_printer printer;
    struct mt_file_list files;
    int stop_fd, stopped_by;
    struct mt_progress_bar bar;
};

static const char detail[] =
    "Reads UTF-8 from standard input and writes one line for each line, in the same order. A line\n"
    "may hold several sentences; an empty line stays empty. Placeholders, addresses and emoji are\n"
    "kept.\n\n"
    "With --json each line becomes {\"source\", \"text\", \"output_ids\", \"score\",\n"
    "\"token_logprobs\"}, with \"warnings\" where there are some. The model reads placeholders\n"
    "itself then, and a line is one sentence (--split-sentences off), cut only where it is too\n"
    "long for the model.\n\n"
    "A FILE (.txt, .srt, .html, .po, .json and others: docs/documents.md), or standard input with\n"
    "--format, is translated as a whole: what is no text in it stays as it is. With --output-dir\n"
    "there may be several, and directories with all that is in them; each is written under its\n"
    "own name, and one that fails is named, and keeps no other from being written.\n";

/* Opens the model, and returns how it decodes and aligns. */
static enum mt_status open_model(struct session *session, const struct mt_cli *cli,
                                 const struct flags *flags, struct mt_sentence_options *decoding,
                                 struct mt_alignment_choice *alignment, struct mt_error *err)
{
    const struct mt_model_options options = mt_model_options_of_settings(&cli->settings);
    enum mt_status status = mt_model_open(cli->settings.model, &options, &session->model, err);
    if (!status)
        status = mt_model_choice_defaults(cli, session->model, decoding, alignment, err);
    if (status)
        return status;
    decoding->num_hypotheses = (size_t)flags->num_hypotheses;
    decoding->skip_scores = !flags->as_json;
    decoding->return_logprobs = flags->as_json;
    return MT_OK;
}

/* A beam is at most as large as a batch: with --batch-size 1 sentences are decoded one by one. */
static struct mt_engine_options engine_options(const struct mt_settings *settings,
                                               const struct flags *flags, size_t n_beams)
{
    int64_t n_rows = flags->batch_size ? flags->batch_size : settings->max_batch_rows;
    return (struct mt_engine_options){
        .n_workers = (size_t)settings->workers,
        .threads_per_worker = (size_t)settings->threads_per_worker,
        .max_batch_rows = mt_size_max((size_t)n_rows, n_beams),
    };
}

static size_t window_of(const struct mt_engine_options *options)
{
    size_t n_workers = options->n_workers, n_threads;
    if (!n_workers)
        mt_engine_default_threads(mt_cores_available(), &n_workers, &n_threads);
    size_t window = WINDOW_BATCHES * n_workers * options->max_batch_rows;
    return mt_size_min(mt_size_max(window, MIN_WINDOW), MAX_WINDOW);
}

/* Checks the decoding options before a line is read, since an error would be the same for all
 * lines. */
static enum mt_status check_decoding(const struct mt_model *model,
                                     const struct mt_sentence_options *options,
                                     struct mt_error *err)
{
    struct mt_sentence *sentence = NULL;
    const int32_t eos = mt_model_hparams(model)->eos_id;
    enum mt_status status = mt_sentence_create(model, &eos, 1, options, &sentence, err);
    mt_sentence_destroy(sentence);
    return status;
}

/* Makes SIGINT and SIGTERM readable on stop_fd. */
static enum mt_status catch_signals(int *stop_fd, struct mt_error *err)
{
    sigset_t stopping;
    mt_signals_catch(&stopping);
    *stop_fd = signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK);
    if (*stop_fd < 0)
        return mt_fail(err, MT_IO, "cannot catch signals: %s", strerror(errno));
    return MT_OK;
}

/* Returns the rest of standard input's size if that is a file; otherwise 0. */
static size_t input_bytes(void)
{
    struct stat st;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    bool is_file = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    return is_file && at >= 0 && at < st.st_size ? (size_t)(st.st_size - at) : 0;
}

/* Makes the proofreader, which depends on the languages. */
static enum mt_status make_reader(struct session *session, const struct mt_settings *settings,
                                  struct mt_error *err)
{
    struct mt_text_direction *direction = &session->direction;
    session->printer.checks = mt_quality_options_of(settings);
    enum mt_status status = mt_model_choice_direction(settings, session->model, direction, err);
    if (!status)
        status = mt_number_words_create(&session->number_words, err);
    return status ? status
                  : mt_proofreader_init(&session->reader, session->number_words,
                                        mt_text_direction_source(direction),
                                        mt_text_direction_target(direction), err);
}

static enum mt_status run(struct session *session, const struct mt_cli *cli,
                          const struct flags *flags, struct mt_error *err)
{
    const struct mt_settings *settings = &cli->settings;
    const struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    struct mt_loaded_model loaded = {.label = "", .defaults = &defaults};
    struct mt_sentence_options decoding;
    enum mt_status status = open_model(session, cli, flags, &decoding, &loaded.alignment, err);
    if (status)
        return status;
    loaded.model = session->model;
    struct mt_line_stream_options stream = {
        .model = session->model,
        .translation = {.decoding = decoding},
        .as_json = flags->as_json,
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
    };
    status = check_decoding(session->model, &decoding, err);
    if (status)
        return status;

    const struct mt_hparams *hparams = mt_model_hparams(session->model);
    size_t n_beams = decoding.beam_size ? decoding.beam_size : hparams->n_beams;
    struct mt_engine_options engine = engine_options(settings, flags, n_beams);
    stream.window = window_of(&engine);
    engine.max_queued_sentences = stream.window + MAX_LINE_SENTENCES;
    status = catch_signals(&session->stop_fd, err);
    if (!status)
        status = mt_engine_create(&engine, &session->engine, err);
    if (!status)
        status = mt_engine_attach(session->engine, session->model, &session->lane, err);
    if (!status)
        status = mt_splitter_create(&session->splitter, err);
    if (!status)
        status = make_reader(session, settings, err);
    if (status)
        return status;

    /* Traces need no limit here, because the number of lines in flight limits them. */
    struct mt_budget budget = {.limit = UINT64_MAX};
    const struct mt_service service = {.settings = settings, .attention_budget = &budget};
    stream.service = &service;
    stream.loaded = &loaded;
    stream.reader = &session->reader;
    stream.printer = &session->printer;
    /* If the translations go to a terminal, they show the progress themselves, and a bar would
     * disturb them. */
    if (!isatty(STDOUT_FILENO))
        mt_progress_bar_begin(&session->bar, "lines");
    stream.bar = &session->bar;
    stream.n_input_bytes = input_bytes();
    stream.engine = session->engine;
    stream.lane = session->lane;
    stream.stop_fd = session->stop_fd;
    stream.stopped_by = &session->stopped_by;
    /* mt_split_parse cannot fail, since the settings were checked. */
    stream.translation.split = MT_SPLIT_OFF;
    if (!flags->as_json)
        (void)mt_split_parse(settings->split_sentences, &stream.translation.split);
    stream.translation.eases_source = !flags->as_json && settings->post_edit;
    stream.translation.splitter = session->splitter;
    mt_text_direction_set(&session->direction, &stream.translation);
    stream.translation.max_sentences = MAX_LINE_SENTENCES;
    return mt_line_stream_run(&stream, err);
}

/* Checks whether the flags fit together, and whether they are for documents. */
static enum mt_status check_flags(const struct flags *flags, size_t n_paths, bool *are_documents,
                                  enum mt_document_format *format, struct mt_error *err)
{
    char known[MT_DOCUMENT_LIST_BYTES];
    *are_documents = flags->format || n_paths > 0;
    if (*are_documents && flags->as_json)
        return mt_fail(err, MT_INVALID, "--json is for lines, not for a file");
    if (flags->num_hypotheses > 1 && !flags->as_json)
        return mt_fail(err, MT_INVALID, "--num-hypotheses %lld: more than 1 needs --json",
                       (long long)flags->num_hypotheses);
    if (flags->retranslate && !*are_documents)
        return mt_fail(err, MT_INVALID, "--retranslate is for files, not for lines");
    if (flags->encoding && !*are_documents)
        return mt_fail(err, MT_INVALID, "--encoding is for files, not for lines");
    if (flags->output_dir && n_paths == 0)
        return mt_fail(err, MT_INVALID, "--output-dir is for files, and none is named");
    if (flags->output_dir && flags->output_dir[0] == '\0')
        return mt_fail(err, MT_INVALID, "--output-dir is \"\", expected a directory");
    if (flags->format && !mt_document_format_of_name(flags->format, format))
        return mt_fail(err, MT_INVALID, "--format is \"%.40s\", expected %s", flags->format,
                       mt_document_list_names(known));
    return MT_OK;
}

/* Checks the only file, which is written to standard output. */
static enum mt_status check_path(const struct flags *flags, char *const *paths, size_t n,
                                 enum mt_document_format *format, struct mt_error *err)
{
    struct stat st;
    const char *path = n > 0 ? paths[0] : NULL;
    bool is_there = path && (strcmp(path, "-") == 0 || stat(path, &st) == 0);
    enum mt_document_format own;
    bool is_named = path && mt_document_format_of_file(path, &own);
    if (is_named && !flags->format)
        *format = own;
    if (path && !is_there && !is_named && !flags->format)
        return mt_fail(
            err, MT_INVALID,
            "\"%.200s\": there is no such file; text comes by a pipe, as in: echo Hello. | "
            "attentiond translate --model DIR",
            path);
    if (n > 1)
        return mt_fail(err, MT_INVALID,
                       "%zu files: expected --output-dir DIR, to say where they are written", n);
    if (is_there && strcmp(path, "-") != 0 && S_ISDIR(st.st_mode))
        return mt_fail(err, MT_INVALID,
                       "%.200s is a directory: expected --output-dir DIR, to say where its files "
                       "are written",
                       path);
    if (flags->format || !path || is_named)
        return MT_OK;
    return mt_file_list_fail_name(path, err);
}

/* Lists the files with their outputs. */
static enum mt_status list_files(struct mt_file_list *list, const struct flags *flags,
                                 char *const *paths, size_t n,
                                 const enum mt_document_format *format, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    list->output_dir = flags->output_dir;
    for (size_t i = 0; i < n && !status; i++)
        status =
            strcmp(paths[i], "-") == 0
                ? mt_fail(err, MT_INVALID, "standard input has no name for a file in --output-dir")
                : mt_file_list_add(list, paths[i], flags->format ? format : NULL, err);
    if (!status && list->n == 0)
        status = mt_fail(err, MT_NOT_FOUND, "no file in %.200s has a known format (%zu files)",
                         paths[0], list->n_passed_over);
    return status ? status : mt_file_list_check(list, err);
}

/* Prints what happened to a file, besides its translation; name is "" or "NAME: ". */
static void tell(struct session *session, const char *name, const struct mt_document_report *report)
{
    mt_progress_bar_hide(&session->bar);
    if (report->n_refused > 0)
        mt_cli_say("attentiond translate: %s%zu texts stay as they are: their placeholders did "
                   "not survive",
                   name, report->n_refused);
    if (report->n_translated == 0)
        mt_cli_say("attentiond translate: %snothing of the file was translated (%zu texts)", name,
                   report->n_texts);
}

/* A failure is reported with the file's name, and the other files are still translated. */
static enum mt_status run_files(struct session *session, struct mt_document_command *command,
                                struct mt_error *err)
{
    const struct mt_file_list *list = &session->files;
    size_t n_failed = 0;
    command->n_files = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const struct mt_file_list_item *item = &list->items[i];
        struct mt_document_report report = {0};
        struct mt_text name = {0}, unit = {0};
        mt_text_appendf(&name, "%s: ", item->path);
        mt_text_appendf(&unit, "%stext", name.status ? "" : name.bytes);
        command->path = item->path;
        command->output = item->output;
        command->document.format = item->format;
        command->n_files_before = i;
        command->unit = unit.status ? NULL : unit.bytes;
        enum mt_status status = mt_document_command_run(command, &report, err);
        mt_progress_bar_hide(&session->bar);
        if (status)
            mt_cli_say("attentiond translate: %s", err->message);
        else
            tell(session, name.status ? "" : name.bytes, &report);
        n_failed += status != MT_OK;
        mt_text_finish(&name);
        mt_text_finish(&unit);
    }
    if (list->n_passed_over > 0)
        mt_cli_say("attentiond translate: %zu files are of no known format", list->n_passed_over);
    if (n_failed == 0)
        return MT_OK;
    return mt_fail(err, MT_IO, "%zu of %zu files were not translated", n_failed, list->n);
}

static enum mt_status run_documents(struct session *session, const struct mt_cli *cli,
                                    const struct flags *flags, enum mt_document_format format,
                                    const char *path, struct mt_error *err)
{
    const struct mt_settings *settings = &cli->settings;
    struct mt_sentence_options decoding;
    struct mt_alignment_choice alignment;
    enum mt_status status = open_model(session, cli, flags, &decoding, &alignment, err);
    if (!status)
        status = mt_splitter_create(&session->splitter, err);
    if (!status)
        status = make_reader(session, settings, err);
    if (status)
        return status;
    struct mt_document_report report = {0};
    struct mt_document_command command = {
        .settings = settings,
        .model = session->model,
        .alignment = alignment,
        .document = {.format = format,
                     .retranslate = flags->retranslate,
                     .encoding = flags->encoding,
                     .confines = !MT_IS_SANITIZED},
        .translation =
            {
                .decoding = decoding,
                .eases_source = settings->post_edit,
                .splitter = session->splitter,
            },
        .max_rows = (size_t)(flags->batch_size ? flags->batch_size : settings->max_batch_rows),
        .reader = &session->reader,
        .printer = &session->printer,
        .path = path,
        .bar = &session->bar,
    };
    mt_text_direction_set(&session->direction, &command.translation);
    command.document.target_lang = mt_text_direction_target(&session->direction);
    command.document.source_lang = mt_text_direction_source(&session->direction);
    mt_progress_bar_begin(&session->bar, "sentences");
    /* This cannot fail, since the settings were checked. */
    (void)mt_split_parse(settings->split_sentences, &command.translation.split);
    if (flags->output_dir) {
        status = run_files(session, &command, err);
    } else {
        status = mt_document_command_run(&command, &report, err);
        if (!status)
            tell(session, "", &report);
    }
    mt_progress_bar_end(&session->bar);
    return status;
}

/* Returns the exit code that shells use for a process ended by this signal. 0: the reader of our
 * output has gone, which is a failure. */
static int cancelled(int stopped_by)
{
    return stopped_by ? 128 + stopped_by : MT_EXIT_FAILURE;
}

int mt_cmd_translate(int argc, char **argv)
{
    struct flags flags = {.num_hypotheses = 1};
    const struct mt_cli_option options[] = {
        {.name = "json", .doc = "one JSON object per line", .is_set = &flags.as_json},
        {
            .name = "batch-size",
            .value_name = "N",
            .doc = "rows of one decoder step, at least the beam size; the same as --max-batch-rows",
            .integer = &flags.batch_size,
            .low = 1,
            .high = 1024,
        },
        {
            .name = "num-hypotheses",
            .value_name = "N",
            .doc = "translations of each line, best first; more than 1 needs --json and a beam as "
                   "large",
            .integer = &flags.num_hypotheses,
            .low = 1,
            .high = MT_MAX_BEAMS,
        },
        {
            .name = "format",
            .value_name = "F",
            .doc = "translate a whole file: text, srt, html, po, json and others "
                   "(docs/documents.md); by "
                   "default what FILE's name ends in",
            .string = &flags.format,
        },
        mt_cli_option_of_field(MT_FIELDS_OF_FILE, "encoding", &flags.encoding),
        mt_cli_option_of_field(MT_FIELDS_OF_FILE, "retranslate", &flags.retranslate),
        {
            .name = "output-dir",
            .value_name = "DIR",
            .doc = "where translated files are written, under their own names; what is there is "
                   "replaced",
            .string = &flags.output_dir,
        },
        {0},
    };
    const struct mt_cli_command command = {
        .name = "translate",
        .verb = MT_VERB_TRANSLATE,
        .synopsis = "--model DIR [flags] [FILE ...] < text",
        .summary = "translate standard input line by line, or whole files",
        .detail = detail,
        .options = options,
        .max_arguments = MT_FILE_LIST_MAX,
        .needs_model = true,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;

    struct session session = {.stop_fd = -1};
    char **paths = cli.arguments;
    size_t n_paths = cli.n_arguments;
    enum mt_document_format format = MT_DOCUMENT_TEXT;
    bool are_documents = false;
    struct mt_error err;
    enum mt_status status = check_flags(&flags, n_paths, &are_documents, &format, &err);
    if (!status && flags.output_dir)
        status = list_files(&session.files, &flags, paths, n_paths, &format, &err);
    else if (!status)
        status = check_path(&flags, paths, n_paths, &format, &err);
    if (!status)
        status = are_documents ? run_documents(&session, &cli, &flags, format,
                                               n_paths ? paths[0] : NULL, &err)
                               : run(&session, &cli, &flags, &err);
    mt_progress_bar_end(&session.bar);
    mt_warning_printer_end(&session.printer);
    if (status == MT_CANCELLED)
        exit_code = cancelled(session.stopped_by);
    else
        exit_code = status ? mt_cli_fail(&command, &err) : MT_EXIT_OK;

    mt_file_list_finish(&session.files);
    mt_engine_destroy(session.engine);
    mt_splitter_destroy(session.splitter);
    mt_number_words_destroy(session.number_words);
    mt_model_close(session.model);
    if (session.stop_fd >= 0)
        close(session.stop_fd);
    mt_cli_finish(&cli);
    return exit_code;
}
