#include "server/commands.h"

#include "base/file.h"
#include "server/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Largest of the small files beside the weights: a vocabulary or a SentencePiece model. */
#define MAX_COPIED_BYTES ((size_t)256 << 20)

/* What a model directory consists of, beside the weights. */
static const struct {
    const char *name;
    bool is_required;
} companions[] = {
    {"config.json", true}, {"generation_config.json", false},  {"tokenizer_config.json", false},
    {"vocab.json", true},  {"target_vocab.json", false},       {"source.spm", true},
    {"target.spm", true},  {"special_tokens_map.json", false}, {"README.md", false},
};

static enum mt_status copy_file(const char *from_directory, const char *to_directory,
                                const char *name, bool is_required, struct mt_error *err)
{
    char *from = NULL, *to = NULL, *bytes = NULL;
    size_t length;
    enum mt_status status = mt_path_join(from_directory, name, &from, err);
    if (!status)
        status = mt_path_join(to_directory, name, &to, err);
    if (!status)
        status = mt_file_read(from, MAX_COPIED_BYTES, &bytes, &length, err);
    if (status == MT_NOT_FOUND && !is_required)
        status = MT_OK;
    else if (!status)
        status = mt_file_write(to, bytes, length, err);
    free(from);
    free(to);
    free(bytes);
    return status;
}

static enum mt_status copy_companions(const char *from, const char *to, struct mt_error *err)
{
    if (mkdir(to, 0755) && errno != EEXIST)
        return mt_fail(err, MT_IO, "%s: cannot create the directory: %s", to, strerror(errno));
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof companions / sizeof *companions && !status; i++)
        status = copy_file(from, to, companions[i].name, companions[i].is_required, err);
    return status;
}

/* What was written must open: the report comes from the result, not from the intention. */
static enum mt_status report(const char *directory, struct mt_error *err)
{
    struct mt_model *model;
    const struct mt_model_options options = {.precision = MT_INT8};
    enum mt_status status = mt_model_open(directory, &options, &model, err);
    if (status)
        return status;
    const struct mt_hparams *h = mt_model_hparams(model);
    printf("MarianMT, %.1f million parameters: d_model %zu, %zu + %zu layers, %zu heads, "
           "vocabulary %zu\n"
           "%s: %.1f MB, int8\n",
           (double)mt_model_n_parameters(model) / 1e6, h->d_model, h->n_encoder_layers,
           h->n_decoder_layers, h->n_encoder_heads, h->n_target_vocab, mt_model_note(model),
           (double)mt_model_mapped_bytes(model) / 1e6);
    mt_model_close(model);
    return MT_OK;
}

static enum mt_status import_directory(const char *from, const char *to,
                                       const struct mt_model_options *options, struct mt_error *err)
{
    char *path = NULL;
    enum mt_status status = copy_companions(from, to, err);
    if (!status)
        status = mt_path_join(to, MT_PACKED_FILE_NAME, &path, err);
    if (!status)
        status = mt_model_import(from, path, options, err);
    if (!status)
        status = report(to, err);
    free(path);
    return status;
}

int mt_cmd_import(int argc, char **argv)
{
    const struct mt_cli_command command = {
        .name = "import",
        .verb = MT_VERB_IMPORT,
        .synopsis = "DIR OUT",
        .summary = "pack a model directory's weights to int8",
        .detail = "DIR is a MarianMT directory as downloaded. OUT becomes a directory that serve "
                  "and translate take\n"
                  "as --model: the packed weights (" MT_PACKED_FILE_NAME
                  ") and copies of the small files.\n"
                  "serve does the same by itself, into a cache, when it is given DIR with "
                  "--precision int8.\n",
        .min_arguments = 2,
        .max_arguments = 2,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    struct mt_model_options options = mt_cli_model_options(&cli.settings);
    mt_cli_show_progress(&options);
    struct mt_error err;
    exit_code = MT_EXIT_OK;
    if (import_directory(cli.arguments[0], cli.arguments[1], &options, &err))
        exit_code = mt_cli_fail(&command, &err);
    mt_cli_finish(&cli);
    return exit_code;
}
