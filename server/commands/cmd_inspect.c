#include "base/size.h"
#include "model/model.h"
#include "server/commands/cli.h"
#include "server/commands/model_choice.h"
#include "server/commands/commands.h"
#include "server/engine/decode.h"
#include "server/inspection/head_finder.h"
#include "server/inspection/head_report.h"
#include "server/inspection/inspection_image.h"
#include "server/inspection/inspection_request.h"
#include "server/inspection/inspection_translation.h"
#include "server/models/model_settings.h"
#include "server/inspection/positions.h"
#include "server/store/hub.h"
#include "server/text/direction.h"
#include "server/text/translation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TEXT_BYTES ((size_t)1 << 20)
#define BUFFER_BYTES ((size_t)64 << 10)

/* The flags that only this verb has. */
struct flags {
    const char *target_text, *format, *out;
    const char *kinds, *layers, *heads, *reduce;
    struct mt_alignment_words alignment;
    const char *layout, *find_heads, *gold;
    int64_t decimals, next_tokens, sentence, positions;
    bool search;
};

struct session {
    const struct mt_cli *cli;
    const struct mt_settings *settings;
    const struct flags *flags;
    struct mt_model *model;
    char model_id[MT_HUB_NAME_BYTES];
    struct mt_text_direction direction;
    struct mt_inspection_request request;
    bool is_terminal; /* draws a heat map on the terminal */
};

static const char detail[] =
    "Translates TEXT, or standard input, and shows which source tokens the model looked at. "
    "Without\n"
    "--format the result is a heat map for the terminal: in colour where standard output is one "
    "(and\n"
    "NO_COLOR is not set), in percent elsewhere. --out FILE takes the format from the file's "
    "name.\n"
    "\n"
    "  attentiond inspect --model DIR \"Where is the station?\"\n"
    "  attentiond inspect --model DIR --out heads.svg --kinds cross \"Where is the station?\"\n"
    "  attentiond inspect --model DIR --target-text \"Wo ist der Bahnhof?\" --format json < text\n"
    "  attentiond inspect --model DIR --positions 64 --out positions.png\n"
    "  attentiond inspect --model DIR --find-alignment-heads sentences.tsv\n"
    "  attentiond inspect --model DIR --gold links.tsv\n"
    "\n"
    "--find-alignment-heads reads lines of: source, TAB, translation (if there is none, the "
    "model's\n"
    "own is taken), TAB, known links of words like 0-0 1-2 (if there are none, pieces that occur "
    "on\n"
    "both sides are expected to belong together). --gold reads the same, with links in every line, "
    "and\n"
    "prints the error rate (AER) of the alignment as it is set, of every head and of ways to join "
    "heads,\n"
    "what each head does, and the setting with the fewest errors for attentiond.json.\n";

/* Output --------------------------------------------------------------------------------------- */

static enum mt_status cannot_write(const char *path, struct mt_error *err)
{
    return mt_fail(err, MT_IO, "cannot write %s: %s", path, strerror(errno));
}

static enum mt_status print_text(const struct mt_text *text, struct mt_error *err)
{
    if ((text->length && fwrite(text->bytes, 1, text->length, stdout) < text->length) ||
        fflush(stdout))
        return cannot_write("standard output", err);
    return MT_OK;
}

static enum mt_status copy_stream(struct mt_stream *stream, FILE *file, const char *path,
                                  struct mt_error *err)
{
    char *buffer = malloc(BUFFER_BYTES);
    if (!buffer)
        return mt_fail_memory(err, BUFFER_BYTES, "output");
    enum mt_status status = MT_OK;
    ssize_t n;
    while (!status && (n = mt_stream_read(stream, buffer, BUFFER_BYTES)) != 0) {
        if (n < 0)
            status = mt_fail_memory(err, BUFFER_BYTES, "output");
        else if (fwrite(buffer, 1, (size_t)n, file) < (size_t)n)
            status = cannot_write(path, err);
    }
    free(buffer);
    if (!status && fflush(file))
        status = cannot_write(path, err);
    return status;
}

/* Removes a half-written file, but not a device. */
static void remove_file(FILE *file, const char *path)
{
    struct stat status;
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

static enum mt_status write_file(struct mt_stream *stream, const char *path, struct mt_error *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return cannot_write(path, err);
    enum mt_status status = copy_stream(stream, file, path, err);
    if (status)
        remove_file(file, path);
    if (fclose(file) && !status)
        status = cannot_write(path, err);
    return status;
}

/* Takes over the stream. */
static enum mt_status write_stream(const struct session *session, struct mt_stream *stream,
                                   struct mt_error *err)
{
    const char *path = session->flags->out;
    enum mt_status status =
        path ? write_file(stream, path, err) : copy_stream(stream, stdout, "standard output", err);
    mt_stream_destroy(stream);
    return status;
}

/* Finds the last format whose extension the name ends with, because ".bertviz.json" is a ".json",
 * too. */
static bool format_of_name(const char *path, enum mt_inspection_format *out)
{
    size_t longest = 0, length = strlen(path);
    for (size_t i = 0; i < MT_N_INSPECTION_FORMATS; i++) {
        const char *extension = mt_inspection_format_info((enum mt_inspection_format)i)->extension;
        size_t n = strlen(extension);
        if (n <= longest || n > length || strcmp(path + length - n, extension) != 0)
            continue;
        *out = (enum mt_inspection_format)i;
        longest = n;
    }
    return longest > 0;
}

static enum mt_status choose_format(struct session *session, struct mt_error *err)
{
    const struct flags *flags = session->flags;
    enum mt_inspection_format *format = &session->request.format;
    if (flags->format) {
        enum mt_status status = mt_inspection_format_parse(flags->format, format, err);
        bool is_binary = !status && (*format == MT_FORMAT_PNG || *format == MT_FORMAT_NPY ||
                                     *format == MT_FORMAT_SAFETENSORS);
        if (is_binary && !flags->out && isatty(STDOUT_FILENO))
            return mt_fail(err, MT_INVALID,
                           "--format %s: not to a terminal; use --out FILE or redirect",
                           flags->format);
        return status;
    }
    session->is_terminal = !flags->out;
    if (flags->out && !format_of_name(flags->out, format))
        return mt_fail(err, MT_INVALID,
                       "--out %s: the name ends in no format; give --format, or a name like "
                       "heads.svg, heads.png or heads.json",
                       flags->out);
    return MT_OK;
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 0;
}

static bool terminal_has_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

static enum mt_status print_terminal(const struct session *session,
                                     struct mt_inspection *inspection, struct mt_error *err)
{
    struct mt_text text = {0};
    const struct mt_terminal terminal = {.has_color = terminal_has_color(),
                                         .n_columns = terminal_columns(),
                                         .sentence = session->request.sentence};
    enum mt_status status = mt_inspection_draw_terminal(inspection, &terminal, &text, err);
    if (!status)
        status = print_text(&text, err);
    mt_text_finish(&text);
    return status;
}

/* One translation ------------------------------------------------------------------------------ */

static enum mt_status read_request(struct session *session, struct mt_error *err)
{
    const struct flags *flags = session->flags;
    struct mt_inspection_options *options = &session->request.options;
    options->max_values = (uint64_t)session->settings->max_attention_values;
    options->decimals = (int)flags->decimals;
    options->n_top = (size_t)flags->next_tokens;
    options->search = flags->search;
    session->request.sentence = flags->sentence < 0 ? MT_ALL_SENTENCES : (size_t)flags->sentence;
    enum mt_status status = mt_trace_kinds_parse("--kinds", flags->kinds, &options->kinds, err);
    if (!status)
        status = mt_index_list_parse("--layers", flags->layers, &options->layers, err);
    if (!status)
        status = mt_index_list_parse("--heads", flags->heads, &options->heads, err);
    if (!status)
        status = mt_reduce_parse("--reduce", flags->reduce, &options->reduce, err);
    if (!status)
        status = mt_model_choice_alignment(session->settings, &flags->alignment,
                                           &options->alignment, err);
    if (!status && !flags->kinds)
        mt_inspection_default_kinds(options);
    return status;
}

/* This cannot fail, since the settings were checked. */
static enum mt_split split_mode(const struct mt_settings *settings)
{
    enum mt_split split = MT_SPLIT_ON;
    (void)mt_split_parse(settings->split_sentences, &split);
    return split;
}

static enum mt_status read_translation_options(const struct session *session,
                                               struct mt_translation_options *options,
                                               struct mt_error *err)
{
    *options = (struct mt_translation_options){
        .split = split_mode(session->settings),
        .forced_target_text = session->flags->target_text,
    };
    enum mt_status status =
        mt_model_choice_defaults(session->cli, session->model, &options->decoding, NULL, err);
    mt_text_direction_set(&session->direction, options);
    mt_inspection_require(&session->request.options, &options->decoding);
    return status;
}

static enum mt_status decode(const struct session *session, struct mt_translation *translation,
                             struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(translation);
    struct mt_sentence **sentences = calloc(n + 1, sizeof *sentences);
    if (!sentences)
        return mt_fail_memory(err, n * sizeof *sentences, "sentences");
    for (size_t i = 0; i < n; i++)
        sentences[i] = mt_translation_part(translation, i).sentence;
    enum mt_status status =
        mt_decode(session->model, (size_t)session->settings->threads_per_worker,
                  (size_t)session->settings->max_batch_rows, sentences, n, NULL, NULL, err);
    free(sentences);
    return status;
}

static enum mt_status check_size(const struct session *session,
                                 const struct mt_translation *translation, struct mt_error *err)
{
    const struct mt_inspection_options *options = &session->request.options;
    uint64_t n = mt_inspection_estimate_traced(session->model, translation, options,
                                               session->flags->target_text != NULL);
    if (n <= options->max_values)
        return MT_OK;
    return mt_fail(err, MT_LIMIT,
                   "attention of this text: about %llu numbers needed, %llu allowed (see "
                   "--max-attention-values)",
                   (unsigned long long)n, (unsigned long long)options->max_values);
}

static void destroy_translation(void *owner)
{
    mt_translation_destroy(owner);
}

/* Takes over the translation. */
static enum mt_status show(struct session *session, struct mt_translation *translation,
                           const struct mt_inspection_model *description, struct mt_error *err)
{
    struct mt_inspection *inspection;
    struct mt_stream *stream;
    enum mt_status status = mt_inspection_of_translation(
        session->model, translation, description, &session->request.options,
        session->flags->target_text != NULL, &inspection, err);
    if (status) {
        mt_translation_destroy(translation);
        return status;
    }
    mt_inspection_keep(inspection, translation, destroy_translation);
    if (session->is_terminal) {
        status = print_terminal(session, inspection, err);
        mt_inspection_destroy(inspection);
        return status;
    }
    status = mt_inspection_render(inspection, session->request.format, session->request.sentence,
                                  &stream, err);
    return status ? status : write_stream(session, stream, err);
}

static enum mt_status inspect(struct session *session, const char *text, size_t length,
                              struct mt_error *err)
{
    const struct mt_settings *settings = session->settings;
    struct mt_text_direction *direction = &session->direction;
    struct mt_translation *translation = NULL;
    enum mt_status status = mt_model_choice_direction(settings, session->model, direction, err);
    if (status)
        return status;
    const struct mt_inspection_model description = mt_inspection_describe_model(
        session->model, session->model_id, mt_text_direction_source(direction),
        mt_text_direction_target(direction));
    status = read_request(session, err);
    if (!status && !session->is_terminal)
        status = mt_inspection_format_prepare(session->request.format, &description,
                                              &session->request.options, err);
    if (!status)
        status = mt_inspection_check(&description, &session->request.options, err);
    struct mt_translation_options options;
    if (!status)
        status = read_translation_options(session, &options, err);
    if (!status)
        status = mt_translation_create(session->model, text, length, &options, &translation, err);
    if (!status)
        status = check_size(session, translation, err);
    if (!status)
        status = decode(session, translation, err);
    if (status) {
        mt_translation_destroy(translation);
        return status;
    }
    return show(session, translation, &description, err);
}

/* Other output --------------------------------------------------------------------------------- */

static enum mt_status show_positions(struct session *session, struct mt_error *err)
{
    const struct mt_hparams *hparams = mt_model_hparams(session->model);
    struct mt_positions_request request = {
        .model_id = session->model_id,
        .scheme = {.layout = hparams->position_layout,
                   .formula = hparams->position_formula,
                   .first = hparams->first_position},
        .n_rows = (size_t)session->flags->positions,
        .d_model = hparams->d_model,
        .format = session->is_terminal ? MT_FORMAT_JSON : session->request.format,
    };
    struct mt_stream *stream;
    enum mt_status status =
        mt_position_layout_parse(session->flags->layout, &request.scheme.layout, err);
    if (!status)
        status = mt_positions_render(&request, &stream, err);
    return status ? status : write_stream(session, stream, err);
}

static enum mt_status print_report(struct mt_text *report, enum mt_status status,
                                   struct mt_error *err)
{
    if (!status)
        status = print_text(report, err);
    mt_text_finish(report);
    return status;
}

static enum mt_status find_heads(const struct session *session, struct mt_error *err)
{
    struct mt_text report = {0};
    enum mt_status status = mt_find_alignment_heads(session->model, session->settings,
                                                    session->flags->find_heads, &report, err);
    return print_report(&report, status, err);
}

static enum mt_status measure_heads(const struct session *session, struct mt_error *err)
{
    struct mt_text report = {0};
    struct mt_alignment_choice alignment = {0};
    enum mt_status status =
        mt_model_choice_alignment(session->settings, &session->flags->alignment, &alignment, err);
    if (!status)
        status = mt_report_heads(session->model, session->settings, &alignment,
                                 session->flags->gold, &report, err);
    return print_report(&report, status, err);
}

/* Reads all of standard input, without its last line end. */
static enum mt_status read_stdin(struct mt_text *out, struct mt_error *err)
{
    char buffer[4096];
    size_t n;
    out->limit_bytes = MAX_TEXT_BYTES;
    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0 && !out->status)
        mt_text_append(out, buffer, n);
    if (ferror(stdin))
        return mt_fail(err, MT_IO, "cannot read standard input: %s", strerror(errno));
    if (out->length && out->bytes[out->length - 1] == '\n')
        out->length--;
    return mt_text_check(out, "the text on standard input", err);
}

static enum mt_status read_text(const struct mt_cli *cli, struct mt_text *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (cli->n_arguments && strcmp(cli->arguments[0], "-") != 0)
        mt_text_append_string(out, cli->arguments[0]);
    else
        status = read_stdin(out, err);
    if (status)
        return status;
    size_t valid = mt_utf8_valid_prefix(out->bytes ? out->bytes : "", out->length);
    if (valid < out->length)
        return mt_fail(err, MT_INVALID, "the text is not UTF-8 at byte %zu", valid);
    return mt_text_check(out, "the text", err);
}

static enum mt_status open_model(struct session *session, struct mt_error *err)
{
    const struct mt_model_options options = mt_model_options_of_settings(session->settings);
    const char *directory = session->settings->model;
    mt_model_name_of(directory, session->model_id);
    return mt_model_open(directory, &options, &session->model, err);
}

static enum mt_status run(struct session *session, const struct mt_cli *cli, struct mt_error *err)
{
    struct mt_text text = {0};
    enum mt_status status = choose_format(session, err);
    bool is_translation =
        !session->flags->positions && !session->flags->find_heads && !session->flags->gold;
    if (!status && is_translation)
        status = read_text(cli, &text, err);
    if (!status)
        status = open_model(session, err);
    if (!status && session->flags->positions)
        status = show_positions(session, err);
    else if (!status && session->flags->find_heads)
        status = find_heads(session, err);
    else if (!status && session->flags->gold)
        status = measure_heads(session, err);
    else if (!status)
        status = inspect(session, text.bytes ? text.bytes : "", text.length, err);
    mt_text_finish(&text);
    mt_model_close(session->model);
    return status;
}

int mt_cmd_inspect(int argc, char **argv)
{
    struct flags flags = {.sentence = -1};
    const struct mt_cli_option options[] = {
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "format", &flags.format),
        {.name = "out",
         .value_name = "FILE",
         .string = &flags.out,
         .doc = "where to write, instead of standard output"},
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "target_text", &flags.target_text),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "kinds", &flags.kinds),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "layers", &flags.layers),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "heads", &flags.heads),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "reduce", &flags.reduce),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "next_tokens", &flags.next_tokens),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "search", &flags.search),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "sentence", &flags.sentence),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "alignment_layers", &flags.alignment.layers),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "alignment_heads", &flags.alignment.heads),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "alignment_mode", &flags.alignment.mode),
        mt_cli_option_of_field(MT_FIELDS_OF_ATTENTION, "alignment_shift", &flags.alignment.shift),
        {.name = "decimals",
         .value_name = "N",
         .integer = &flags.decimals,
         .low = 1,
         .high = 9,
         .doc = "of numbers in text formats; default 4"},
        {.name = "positions",
         .value_name = "N",
         .integer = &flags.positions,
         .low = 1,
         .high = MT_POSITIONS_MAX_ROWS,
         .doc = "show the positional encoding of N positions instead of a translation"},
        mt_cli_option_of_field(MT_FIELDS_OF_POSITIONS, "layout", &flags.layout),
        {.name = "find-alignment-heads",
         .value_name = "FILE",
         .string = &flags.find_heads,
         .doc = "try all heads on the sentences of FILE and say which align best"},
        {.name = "gold",
         .value_name = "FILE",
         .string = &flags.gold,
         .doc = "measure all heads on the known links of FILE, and say what each head does"},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "inspect",
        .verb = MT_VERB_INSPECT,
        .synopsis = "--model DIR [flags] [TEXT]",
        .summary = "show what the model looked at while it translated",
        .detail = detail,
        .options = options,
        .max_arguments = 1,
        .needs_model = true,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    struct session session = {.cli = &cli, .settings = &cli.settings, .flags = &flags};
    struct mt_error err;
    enum mt_status status = run(&session, &cli, &err);
    exit_code = status ? mt_cli_fail(&command, &err) : MT_EXIT_OK;
    mt_cli_finish(&cli);
    return exit_code;
}
