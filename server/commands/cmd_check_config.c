#include "base/log.h"
#include "server/requests/access.h"
#include "server/models/catalog.h"
#include "server/commands/cli.h"
#include "server/http/client.h"
#include "server/commands/commands.h"
#include "server/commands/other_programs.h"
#include "server/data/database.h"
#include "server/http/cors.h"
#include "server/http/descriptors.h"
#include "server/service/file_names.h"
#include "server/service/file_store.h"
#include "server/service/snapshot.h"
#include "server/requests/handler.h"
#include "server/service/keys.h"
#include "server/http/listen.h"
#include "model/tokenizer/tokenizer.h"
#include "server/models/model_host.h"
#include "server/models/served_model.h"
#include "server/http/tls.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Only if the model has any. */
static void describe_vocabularies(const struct mt_model *model)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(model);
    size_t n_languages = mt_tokenizer_n_languages(tokenizer), n_found = 0;
    for (size_t i = 0; i < (n_languages ? n_languages : 1); i++) {
        const char *language = n_languages ? mt_tokenizer_language(tokenizer, i) : NULL;
        size_t n = mt_model_target_vocabulary_size(model, language);
        if (n)
            fprintf(stderr, "%s%s%s%zu",
                    n_found++ ? ", " : "  tokens that are written: ", language ? language : "",
                    language ? " " : "", n);
    }
    if (n_found)
        fprintf(stderr, " of %zu\n", mt_model_hparams(model)->n_target_vocab);
}

static void describe(const char *directory, const struct mt_model *model)
{
    const struct mt_hparams *h = mt_model_hparams(model);
    mt_cli_say("model %s: good, %.1f million parameters, %.1f MiB mapped and %.1f MiB copied",
               directory, (double)mt_model_n_parameters(model) / 1e6,
               (double)mt_model_mapped_bytes(model) / 0x1p20,
               (double)mt_model_private_bytes(model) / 0x1p20);
    fprintf(
        stderr,
        "  d_model %zu; encoder %zu layers, %zu heads, d_ff %zu; decoder %zu layers%s, %zu heads, "
        "d_ff %zu%s; %s, %s-norm%s\n",
        h->d_model, h->n_encoder_layers, h->n_encoder_heads, h->d_ff_encoder, h->n_decoder_layers,
        h->decoder_cell == MT_CELL_SSRU ? " of SSRU" : "", h->n_decoder_heads, h->d_ff_decoder,
        h->feed_forward_kind == MT_FEED_FORWARD_GATED ? ", gated" : "",
        mt_activation_name(h->activation), h->normalize_before ? "pre" : "post",
        h->norm_kind == MT_NORM_RMS ? " (RMS)" : "");
    fprintf(
        stderr,
        "  vocabulary %zu to %zu%s; at most %zu positions; beam %zu, length penalty %g, at most "
        "%zu tokens unless asked otherwise\n",
        h->n_source_vocab, h->n_target_vocab,
        mt_model_has_shortlist(model) ? ", with a lexical shortlist" : "", h->max_positions,
        h->n_beams, (double)h->length_penalty, h->max_length);
    describe_vocabularies(model);
}

static void append_languages(const struct mt_model_language *languages, size_t n,
                             struct mt_text *out)
{
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(out, "%s%s", i > 0 ? ", " : "", languages[i].code);
    if (n == 0)
        mt_text_append_string(out, "any");
}

/* Loads the model as serve does, describes it, and unloads it. */
static enum mt_status check_model(struct mt_served_model *served, struct mt_error *err)
{
    const struct mt_served_model_info *info = mt_served_model_info(served);
    const struct mt_loaded_model *loaded;
    enum mt_status status = mt_served_model_load(served, &loaded, err);
    if (status)
        return status;
    describe(info->directory, loaded->model);
    if (info->is_pinned)
        return MT_OK;
    struct mt_text line = {0};
    mt_text_appendf(&line, "  is called %s, translates ", info->id);
    append_languages(info->sources, info->n_sources, &line);
    mt_text_append_string(&line, " into ");
    append_languages(info->targets, info->n_targets, &line);
    status = mt_text_check(&line, info->id, err);
    if (!status)
        mt_cli_say("%s", line.bytes);
    mt_text_finish(&line);
    if (status)
        return status;
    return mt_served_model_unload(served, err);
}

/* A faulty model in models_directory does not keep the others from being checked. */
static enum mt_status check_catalog(const struct mt_service *service, struct mt_error *err)
{
    const struct mt_catalog *catalog = service->catalog;
    size_t n = mt_catalog_n(catalog), n_broken = 0;
    for (size_t i = 0; i < n; i++) {
        struct mt_served_model *served = mt_catalog_at(catalog, i);
        enum mt_status status = check_model(served, err);
        if (status && mt_served_model_info(served)->is_pinned)
            return status;
        n_broken += status != MT_OK; /* the reason was logged */
    }
    if (n_broken > 0)
        return mt_fail(err, MT_FORMAT, "models_directory %s: %zu of %zu models cannot be served",
                       service->settings->models_directory, n_broken, n);
    return MT_OK;
}

/* Creates the snapshot as serve does, with its engine and its memory plan, so that everything is
 * refused here that serve would refuse at the start or at a reload. Takes over the content of
 * *settings. */
static enum mt_status check_snapshot(struct mt_settings *settings, struct mt_error *err)
{
    const struct mt_service nothing_shared = {0};
    const struct mt_snapshot_options options = {.common = &nothing_shared, .number = 1};
    struct mt_snapshot *snapshot = NULL;
    enum mt_status status = mt_snapshot_create(&options, settings, &snapshot, err);
    if (!status)
        status = check_catalog(mt_snapshot_service(snapshot), err);
    mt_snapshot_destroy(snapshot);
    return status;
}

static enum mt_status check_keys(const struct mt_settings *settings, struct mt_error *err)
{
    struct mt_keys *keys;
    enum mt_status status = mt_keys_open(settings, &keys, err);
    if (status || !keys)
        return status;
    mt_cli_say("api_keys_file %s: good, %zu keys%s", settings->api_keys_file, mt_keys_count(keys),
               mt_keys_file_is_public(keys) ? "; everybody on this machine can read it" : "");
    mt_keys_destroy(keys);
    return MT_OK;
}

/* The daemon creates missing directories when it starts. errno is set where that would fail. */
static bool can_write_below(const char *directory)
{
    char existing[PATH_MAX];
    snprintf(existing, sizeof existing, "%s", directory);
    while (access(existing, R_OK | W_OK | X_OK) != 0) {
        if (errno != ENOENT || strcmp(existing, ".") == 0)
            return false;
        const char *parent = dirname(existing);
        memmove(existing, parent, strlen(parent) + 1);
    }
    return true;
}

/* Opens it as serve does, but without creating tables. */
static enum mt_status check_database(const struct mt_settings *settings, struct mt_error *err)
{
    char program[PATH_MAX];
    struct mt_database *database;
    const struct mt_database_options options = {
        .url = settings->database, .program = program, .is_trial = true};
    mt_program_find(MT_DATABASE_PROGRAM, program);
    enum mt_status status = mt_database_open(&options, &database, err);
    if (status)
        return status == MT_BUSY ? mt_fail_in(err, status, "database") : status;
    mt_database_close(database);
    mt_cli_say("database: good");
    return MT_OK;
}

/* SQLite's file is not opened, because a running daemon may use it. */
static enum mt_status check_data(const struct mt_settings *settings, struct mt_error *err)
{
    const char *directory = settings->data_directory;
    if (settings->database[0] != '\0')
        return check_database(settings, err);
    if (directory[0] == '\0')
        return MT_OK;
    if (!can_write_below(directory))
        return mt_fail(err, MT_IO,
                       "data_directory is %s, which cannot be written: %s; make it, for the user "
                       "that the daemon runs as",
                       directory, strerror(errno));
    mt_cli_say("data_directory %s: good", directory);
    return MT_OK;
}

/* Writes and removes a file, as serve does. */
static enum mt_status check_files(const struct mt_settings *settings, struct mt_error *err)
{
    struct mt_file_store *store;
    struct mt_file_store_counts counts;
    if (settings->files_directory[0] == '\0')
        return MT_OK;
    enum mt_status status = mt_file_store_create(settings->files_directory, &store, err);
    if (status)
        return status;
    mt_file_store_count(store, &counts);
    mt_cli_say("files_directory %s: good, %zu files of %zu bytes", settings->files_directory,
               counts.n_files, counts.n_bytes);
    mt_file_store_destroy(store);
    return MT_OK;
}

static enum mt_status check_tls(const struct mt_settings *settings, struct mt_error *err)
{
    struct mt_tls *tls;
    enum mt_status status = mt_tls_open(settings, &tls, err);
    if (status || !tls)
        return status;
    long days = mt_tls_days_left(tls);
    if (days < 0)
        mt_cli_say("tls_certificate %s: expired", settings->tls_certificate);
    else
        mt_cli_say("tls_certificate %s: good for %ld more days%s", settings->tls_certificate, days,
                   mt_tls_key_is_public(tls) ? "; everybody on this machine can read the key" : "");
    mt_tls_destroy(tls);
    return MT_OK;
}

static enum mt_status print(struct mt_text *text, struct mt_error *err)
{
    enum mt_status status = mt_text_check(text, "settings", err);
    if (!status) {
        (void)fputs(text->bytes, stdout);
        status = mt_cli_flush(err);
    }
    mt_text_finish(text);
    return status;
}

/* Checks what needs no model. */
static enum mt_status check_texts(const struct mt_settings *settings, struct mt_error *err)
{
    struct mt_proxies proxies;
    enum mt_status status =
        mt_proxies_parse(settings->trust_forwarded_for, "trust_forwarded_for", &proxies, err);
    if (!status)
        status = mt_cors_check("cors_origins", settings->cors_origins, err);
    if (!status)
        status = mt_cors_check("frame_ancestors", settings->frame_ancestors, err);
    if (!status)
        status = mt_files_check_url(settings->public_url, err);
    if (!status && *settings->admin_socket)
        status = mt_fail_in(err, mt_listen_unix_check(settings->admin_socket, err), "admin_socket");
    return status;
}

static enum mt_status check(struct mt_settings *settings, struct mt_error *err)
{
    struct mt_text text = {0};
    mt_descriptors_choose(settings);
    mt_settings_print_effective(settings, &text);
    enum mt_status status = print(&text, err);
    if (!status)
        status = check_keys(settings, err);
    if (!status)
        status = check_tls(settings, err);
    if (!status)
        status = check_texts(settings, err);
    if (!status)
        status = check_files(settings, err);
    if (!status)
        status = check_data(settings, err);
    if (status)
        return status;
    if (*settings->model || *settings->models_directory)
        return check_snapshot(settings, err);
    fputs(
        "no model is set, and none is on this machine: serve would need --model DIR, or attentiond "
        "pull NAME\n",
        stderr);
    return MT_OK;
}

static enum mt_status print_example(struct mt_error *err)
{
    struct mt_text text = {0};
    mt_settings_print_example(&text);
    return print(&text, err);
}

int mt_cmd_check_config(int argc, char **argv)
{
    bool wants_example = false;
    const struct mt_cli_option options[] = {
        {
            .name = "print-example",
            .doc = "print a configuration file with every setting, its default and what it does",
            .is_set = &wants_example,
        },
        {0},
    };
    const struct mt_cli_command command = {
        .name = "check-config",
        .verb = MT_VERB_CHECK_CONFIG,
        .synopsis = "[--config FILE] [settings]",
        .summary = "check a configuration and its models, without serving",
        .detail =
            "Reads the settings exactly as serve would and prints those that result, as JSON, "
            "to standard\noutput. Loads the models that they name, one after the other, and says "
            "on standard error\nwhat it found there. Fails where one of them could not be "
            "served, or where serve\nwould not start with these settings; that its addresses are "
            "free is not looked at.\n",
        .options = options,
        .serves_directory = true,
    };
    struct mt_cli cli;
    struct mt_error err;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    mt_log_set_level(MT_LOG_WARN); /* successes are reported in a shorter form */
    enum mt_status status = wants_example ? print_example(&err) : check(&cli.settings, &err);
    exit_code = status ? mt_cli_fail(&command, &err) : MT_EXIT_OK;
    mt_cli_finish(&cli);
    return exit_code;
}
