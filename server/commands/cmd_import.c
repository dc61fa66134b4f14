#include "server/commands/commands.h"

#include "base/file.h"
#include "base/text.h"
#include "model/files/import.h"
#include "model/sentence.h"
#include "model/files/source.h"
#include "model/tokenizer/tokenizer.h"
#include "server/commands/cli.h"
#include "server/commands/import_vocabulary.h"
#include "server/commands/model_choice.h"
#include "server/engine/decode.h"
#include "server/models/model_defaults.h"
#include "server/models/model_settings.h"
#include "server/store/origin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A sentence that both the original and the copy translate. */
#define SENTENCE "This is a test."

/* Largest difference per token of the log-probabilities that the original and the copy give to the
 * original's translation. int8 causes a tenth of it. */
#define MAX_DIFFERENCE 1.0f

/* --- Reports --- */

static void report_weights(const struct mt_bind_report *weights)
{
    const struct {
        const char *name;
        bool is_there;
    } types[] = {{"F32", weights->has_f32},
                 {"F16", weights->has_f16},
                 {"BF16", weights->has_bf16},
                 {"I8", weights->has_i8},
                 {"others", weights->has_other}};
    const char *separator = "";
    printf("weights: %.1f MB in %zu tensors, ", (double)weights->n_bytes / 1e6, weights->n_tensors);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].is_there) {
            printf("%s%s", separator, types[i].name);
            separator = " and ";
        }
    }
    printf("; unused: %s", weights->n_unused ? "" : "none");
    for (size_t i = 0; i < weights->n_unused && i < MT_BIND_MAX_NAMED; i++)
        printf("%s%s", i ? ", " : "", weights->unused[i]);
    if (weights->n_unused > MT_BIND_MAX_NAMED)
        printf(" and %zu more", weights->n_unused - MT_BIND_MAX_NAMED);
    printf("; missing: %s%s%s\n", weights->no_output_bias ? "final_logits_bias (zeros)" : "",
           weights->no_output_bias && weights->computed_positions ? ", " : "",
           weights->computed_positions ? "positions (computed)"
           : weights->no_output_bias   ? ""
                                       : "none");
}

static void report_model(const struct mt_import_report *report, const struct mt_model *model)
{
    static const char *const rules[] = {
        [MT_SEARCH_GENERATE] = "Hugging Face's generate",
        [MT_SEARCH_MARIAN] = "Marian",
        [MT_SEARCH_CTRANSLATE2] = "CTranslate2",
    };
    const struct mt_hparams *h = mt_model_hparams(model);
    printf("%s, %.1f million parameters: d_model %zu, %zu + %zu layers, %zu heads, d_ff %zu, "
           "vocabulary %zu to %zu\n",
           report->family, (double)mt_model_n_parameters(model) / 1e6, h->d_model,
           h->n_encoder_layers, h->n_decoder_layers, h->n_encoder_heads, h->d_ff_encoder,
           h->n_source_vocab, h->n_target_vocab);
    printf("computes: %s%s, %s-norm, %s norms with epsilon %g, positions %s, searches as %s does\n",
           mt_activation_name(h->activation),
           h->feed_forward_kind == MT_FEED_FORWARD_GATED ? " in gated feed-forward blocks" : "",
           h->normalize_before ? "pre" : "post", h->norm_kind == MT_NORM_RMS ? "RMS" : "layer",
           (double)h->norm_eps,
           h->learned_positions                                ? "learned"
           : !report->weights.computed_positions               ? "as a table"
           : h->position_formula == MT_POSITIONS_TENSOR2TENSOR ? "of Tensor2Tensor"
                                                               : "of the paper",
           rules[h->search_rules]);
    if (h->decoder_cell == MT_CELL_SSRU)
        printf("decoder: a recurrent cell (SSRU) in the place of self-attention%s\n",
               mt_model_has_shortlist(model) ? "; a lexical shortlist" : "");
    report_weights(&report->weights);
}

/* --- Comparing the copy with the original --- */

static enum mt_status run(const struct mt_model *model, const struct mt_token_list *tokens,
                          const struct mt_sentence_options *options, struct mt_sentence **out,
                          struct mt_error *err)
{
    int32_t *ids = calloc(tokens->n + 1, sizeof *ids); /* one more than n, which may be 0 */
    struct mt_sentence *sentence = NULL;
    enum mt_status status = ids ? MT_OK : mt_fail_memory(err, tokens->n * sizeof *ids, "sentence");
    for (size_t i = 0; i < tokens->n && !status; i++)
        ids[i] = tokens->tokens[i].id;
    if (!status)
        status = mt_sentence_create(model, ids, tokens->n, options, &sentence, err);
    if (!status)
        status = mt_decode(model, 0, 0, &sentence, 1, NULL, NULL, err);
    free(ids);
    if (status)
        mt_sentence_destroy(sentence);
    else
        *out = sentence;
    return status;
}

/* Computes the mean log-probability that a model gives the tokens of a translation. */
static enum mt_status score(const struct mt_model *model, const struct mt_token_list *tokens,
                            const struct mt_hypothesis *translation, float *out,
                            struct mt_error *err)
{
    const struct mt_sentence_options options = {.forced_target = translation->ids,
                                                .n_forced_target = translation->n_ids};
    struct mt_sentence *sentence;
    enum mt_status status = run(model, tokens, &options, &sentence, err);
    if (status)
        return status;
    *out = mt_sentence_hypothesis(sentence, 0).score;
    mt_sentence_destroy(sentence);
    return MT_OK;
}

static enum mt_status print_translation(const struct mt_model *model,
                                        const struct mt_token_list *tokens,
                                        struct mt_sentence **out, struct mt_error *err)
{
    struct mt_text text = {0};
    enum mt_status status = run(model, tokens, NULL, out, err);
    if (status)
        return status;
    const struct mt_hypothesis best = mt_sentence_hypothesis(*out, 0);
    status = mt_detokenize(mt_model_tokenizer(model), best.ids, best.n_ids, NULL, &text, err);
    if (!status)
        printf("%s: %s\n", mt_model_precision(model) == MT_INT8 ? "int8" : "fp32",
               text.bytes ? text.bytes : "");
    mt_text_finish(&text);
    return status;
}

static enum mt_status compare(const struct mt_model *original, const struct mt_model *copy,
                              const char *text, struct mt_error *err)
{
    struct mt_token_list tokens = {0};
    struct mt_sentence *by_original = NULL, *by_copy = NULL;
    float expected = 0.0f, found = 0.0f;
    enum mt_status status = mt_tokenize(mt_model_tokenizer(original), text, strlen(text),
                                        MT_TOKENIZE_SOURCE, &tokens, err);
    if (!status)
        status = print_translation(original, &tokens, &by_original, err);
    if (!status)
        status = print_translation(copy, &tokens, &by_copy, err);
    if (!status) {
        const struct mt_hypothesis best = mt_sentence_hypothesis(by_original, 0);
        status = score(original, &tokens, &best, &expected, err);
        if (!status)
            status = score(copy, &tokens, &best, &found, err);
    }
    if (!status)
        printf("log-probability of the first, a token: %.3f, and %.3f by the copy\n",
               (double)expected, (double)found);
    if (!status && !(fabsf(found - expected) <= MAX_DIFFERENCE))
        status = mt_fail(err, MT_FORMAT,
                         "the copy gives a translation log-probability %g a token, expected %g as "
                         "the original",
                         (double)found, (double)expected);
    mt_sentence_destroy(by_original);
    mt_sentence_destroy(by_copy);
    mt_token_list_finish(&tokens);
    return status;
}

/* What is checked before the copy is moved to its place. */
struct confirmation {
    const char *from, *to, *sentence, *texts;
    const struct mt_model_options *options;
    struct mt_import_report report;
    double megabytes; /* size of its weights */
};

static struct mt_model_options copy_options(const struct confirmation *confirmation)
{
    return (struct mt_model_options){.precision = confirmation->options->precision,
                                     .kernels = confirmation->options->kernels};
}

/* Makes the target vocabularies of the copy, because they depend on its tokenizer and
 * vocabulary. */
static enum mt_status make_vocabularies(const struct confirmation *confirmation, const char *path,
                                        struct mt_error *err)
{
    const struct mt_model_options options = copy_options(confirmation);
    struct mt_model *copy = NULL;
    enum mt_status status = mt_model_open(path, &options, &copy, err);
    if (!status)
        status = mt_import_vocabularies(copy, path, confirmation->texts, err);
    mt_model_close(copy);
    return status;
}

/* Opens the copy, so that the report is about the files that were written. */
static enum mt_status verify(struct confirmation *confirmation, const char *path,
                             struct mt_error *err)
{
    const struct mt_model_options of_copy = copy_options(confirmation);
    const struct mt_model_options of_original = {.precision = MT_FP32, .kernels = of_copy.kernels};
    struct mt_model *original = NULL, *copy = NULL;
    enum mt_status status = mt_model_open(path, &of_copy, &copy, err);
    if (!status)
        status = mt_model_open(confirmation->from, &of_original, &original, err);
    if (!status) {
        report_model(&confirmation->report, copy);
        confirmation->megabytes = (double)mt_model_mapped_bytes(copy) / 1e6;
        status = compare(original, copy, confirmation->sentence, err);
    }
    mt_model_close(original);
    mt_model_close(copy);
    return status;
}

/* Copies an attentiond.json of the original, which in the copy counts as the operator's, unless the
 * copy has one already. */
static enum mt_status resolve_defaults(const struct confirmation *confirmation, const char *path,
                                       struct mt_error *err)
{
    bool is_brought;
    char *file;
    enum mt_status status = mt_origin_brought(confirmation->from, MT_MODEL_DEFAULTS_FILE,
                                              MT_MODEL_DEFAULTS_MAX_BYTES, &is_brought, err);
    if (status || !is_brought || !mt_path_holds(path, MT_MODEL_DEFAULTS_FILE))
        return status;
    if (!mt_path_holds(confirmation->to, MT_MODEL_DEFAULTS_FILE))
        return mt_model_defaults_strip(path, err);
    status = mt_path_join(path, MT_MODEL_DEFAULTS_FILE, &file, err);
    if (status)
        return status;
    if (unlink(file))
        status = mt_fail_errno(err, file, "remove");
    free(file);
    return status;
}

static enum mt_status confirm(void *context, const char *path, struct mt_error *err)
{
    struct confirmation *confirmation = context;
    enum mt_status status = resolve_defaults(confirmation, path, err);
    if (!status && *confirmation->texts)
        status = make_vocabularies(confirmation, path, err);
    return status ? status : verify(confirmation, path, err);
}

/* --- The command --- */

static bool read_precision(const char *text, enum mt_precision *out)
{
    *out = strcmp(text, "int8") == 0 ? MT_INT8 : MT_FP32;
    return strcmp(text, "int8") == 0 || strcmp(text, "fp32") == 0;
}

static int run_import(const struct mt_cli_command *command, const struct mt_cli *cli,
                      const char *precision, const char *sentence, const char *texts)
{
    struct mt_model_options options = mt_model_options_of_settings(&cli->settings);
    struct confirmation confirmation = {
        .to = cli->arguments[1], .sentence = sentence, .texts = texts, .options = &options};
    struct mt_error err;
    char *from = NULL;
    enum mt_status status =
        mt_model_choice_find(cli->settings.models_directory, cli->arguments[0], &from, &err);
    if (!status && !read_precision(precision, &options.precision))
        status =
            mt_fail(&err, MT_INVALID, "--precision is \"%.60s\"; expected int8 or fp32", precision);
    mt_model_options_show_progress(&options);
    confirmation.from = from;
    const struct mt_model_import import = {.from = from,
                                           .to = confirmation.to,
                                           .options = &options,
                                           .confirm = confirm,
                                           .context = &confirmation};
    if (!status)
        status = mt_model_import(&import, &confirmation.report, &err);
    if (!status) {
        printf("written: %s, %.1f MB\n", confirmation.report.written, confirmation.megabytes);
        status = mt_cli_flush(&err);
    }
    free(from);
    return status ? mt_cli_fail(command, &err) : MT_EXIT_OK;
}

int mt_cmd_import(int argc, char **argv)
{
    const char *precision = "int8", *sentence = SENTENCE, *texts = "";
    const struct mt_cli_option options[] = {
        {.name = "precision",
         .value_name = "int8|fp32",
         .doc = "of the weights that are written: packed (the default), or as they are, in "
                "model.safetensors",
         .string = &precision},
        {.name = "sentence",
         .value_name = "TEXT",
         .doc = "translated by the original in fp32 and by the copy, to see that they agree "
                "(\"" SENTENCE "\")",
         .string = &sentence},
        {.name = "target-vocabulary",
         .value_name = "[LANGUAGE=]FILE[,...]",
         .doc = "texts in the target's language, a sentence a line: the model is to write only "
                "tokens that they have, and digits and punctuation; of a model of many languages "
                "with the language before each file",
         .if_repeated = MT_SETTINGS_WITH_COMMAS,
         .string = &texts},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "import",
        .verb = MT_VERB_IMPORT,
        .synopsis = "DIR OUT [options]",
        .summary = "make a directory of packed weights from a model of any family",
        .detail =
            "DIR is a model as it was downloaded: MarianMT, Marian's .npz with its decoder.yml, "
            "CTranslate2's\n"
            "model.bin, or a package of Argos Translate. OUT becomes a directory that serve "
            "and translate take as\n"
            "--model: the packed weights (" MT_PACKED_FILE_NAME ") and the small\n"
            "files beside them.\n"
            "serve does the same by itself, into a cache, when it is given DIR with "
            "--precision int8.\n",
        .options = options,
        .min_arguments = 2,
        .max_arguments = 2,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    exit_code = run_import(&command, &cli, precision, sentence, texts);
    mt_cli_finish(&cli);
    return exit_code;
}
