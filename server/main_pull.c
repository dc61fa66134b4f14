/* attentiond-pull: connects to registries, so that the daemon never has to. attentiond starts it
 * for `attentiond pull` and `attentiond list --remote` (server/commands/other_programs.h). */

#include "server/commands/cli.h"
#include "server/models/model_settings.h"
#include "server/pull/console.h"
#include "server/pull/list_remote.h"
#include "server/pull/pull.h"
#include "server/store/places.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set by SIGINT and SIGTERM. */
static atomic_bool is_cancelled;
static volatile sig_atomic_t stopped_by;

static void on_signal(int number)
{
    stopped_by = number;
    atomic_store(&is_cancelled, true);
}

/* The signals interrupt system calls that wait, for a reply or for another pull. */
static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* max_parallel 0: the default. */
static enum mt_status create_downloader(const struct mt_endpoints *endpoints, size_t max_parallel,
                                        int64_t min_speed, struct mt_downloader **out,
                                        struct mt_error *err)
{
    const struct mt_download_settings settings = {
        .token = endpoints->token,
        .token_origin = endpoints->hub,
        .is_cancelled = &is_cancelled,
        .max_parallel = max_parallel,
        .min_speed = min_speed > 0 ? min_speed : -1,
    };
    return mt_downloader_create(&settings, out, err);
}

static int fail(const struct mt_cli_command *command, const struct mt_error *err)
{
    if (stopped_by) {
        mt_cli_say("attentiond %s: stopped", command->name);
        return 128 + stopped_by;
    }
    return mt_cli_fail(command, err);
}

/* --- pull --- */

/* Quotes the text for a shell. */
static void append_quoted(struct mt_text *out, const char *text)
{
    if (text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:")] ==
        '\0') {
        mt_text_append_string(out, text);
        return;
    }
    mt_text_append_string(out, "'");
    for (; *text; text++)
        mt_text_append_string(out, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    mt_text_append_string(out, "'");
}

/* Prints what was fetched, and how to serve it. */
static enum mt_status report(const struct mt_pulled *pulled, const char *models_directory,
                             struct mt_error *err)
{
    const struct mt_remote *remote = pulled->remote;
    struct mt_text lines = {0};
    char size[MT_CONSOLE_SIZE_BYTES];
    mt_console_format_size(pulled->size, size);
    mt_text_append_printable(&lines, pulled->path, strlen(pulled->path));
    mt_text_append_string(&lines, pulled->was_there ? " is there already\n  " : "\n  ");
    if (*remote->languages) {
        mt_text_append_printable(&lines, remote->languages, strlen(remote->languages));
        mt_text_append_string(&lines, "; ");
    }
    mt_text_append_string(&lines, *remote->licence ? "licence " : "its licence is not stated");
    mt_text_append_printable(&lines, remote->licence, strlen(remote->licence));
    mt_text_appendf(&lines, "; %s; from ", size);
    mt_text_append_printable(&lines, remote->from, strlen(remote->from));
    mt_text_append_string(&lines, "\nTo serve it: attentiond serve");
    if (*models_directory) {
        mt_text_append_string(&lines, " --models-directory ");
        append_quoted(&lines, models_directory);
    }
    mt_text_append_string(&lines, "\n");
    enum mt_status status = mt_text_check(&lines, "report", err);
    if (!status)
        fputs(lines.bytes, stdout);
    mt_text_finish(&lines);
    return status ? status : mt_cli_flush(err);
}

/* The flags of pull. */
struct flags {
    const char *name;
    bool accepts_licence, is_quiet;
    int64_t files_at_once, min_speed;
};

static int pull_model(const struct mt_cli_command *command, const struct mt_cli *cli,
                      const struct flags *flags)
{
    struct mt_console console;
    struct mt_pulled pulled = {0};
    struct mt_places places = {0};
    struct mt_error err;
    const struct mt_model_options model = mt_model_options_of_settings(&cli->settings);
    struct mt_pull pull = {
        .text = cli->arguments[0],
        .local_name = flags->name,
        .model = &model,
        .is_cancelled = &is_cancelled,
        .say = mt_console_say,
        .accept_licence = mt_console_accept_licence,
        .on_files = mt_console_on_files,
        .on_progress = mt_console_on_progress,
        .context = &console,
    };
    mt_endpoints_read(&pull.endpoints);
    mt_console_begin(&console, flags->is_quiet, flags->accepts_licence);
    enum mt_status status = mt_places_find(cli->settings.models_directory, &places, &err);
    if (!status)
        status = create_downloader(&pull.endpoints, (size_t)flags->files_at_once, flags->min_speed,
                                   &pull.downloader, &err);
    if (!status) {
        pull.root = mt_places_root(&places);
        status = mt_pull_run(&pull, &pulled, &err);
    }
    mt_console_end(&console);
    if (!status && !flags->is_quiet)
        status = report(&pulled, cli->settings.models_directory, &err);
    mt_pulled_finish(&pulled);
    mt_downloader_destroy(pull.downloader);
    mt_places_finish(&places);
    if (status && stopped_by)
        mt_cli_say("What has come is kept: the same command goes on where it was.");
    return status ? fail(command, &err) : MT_EXIT_OK;
}

static int run_pull(int argc, char **argv)
{
    struct flags flags = {.files_at_once = MT_DOWNLOAD_PARALLEL,
                          .min_speed = MT_DOWNLOAD_MIN_SPEED};
    const struct mt_cli_option options[] = {
        {.name = "name",
         .value_name = "NAME",
         .doc = "what the model is called here, and in requests (the last part of its name there)",
         .string = &flags.name},
        {.name = "accept-licence",
         .doc = "take a licence that forbids commercial use, without being asked",
         .is_set = &flags.accepts_licence},
        {.name = "quiet", .doc = "say nothing but what goes wrong", .is_set = &flags.is_quiet},
        {.name = "files-at-once",
         .value_name = "N",
         .doc = "how many files are fetched at the same time (default 4)",
         .integer = &flags.files_at_once,
         .low = 1,
         .high = MT_DOWNLOAD_MAX_PARALLEL},
        {.name = "min-speed",
         .value_name = "BYTES",
         .doc =
             "how many bytes a second each file must bring over a minute, lest the server be given "
             "up "
             "(default 1000; 0: any, as for a proxy that keeps files until it has looked at them)",
         .integer = &flags.min_speed,
         .low = 0,
         .high = 1000000000},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "pull",
        .verb = MT_VERB_PULL,
        .synopsis = "MODEL [options]",
        .summary = "fetch a model, so that serve and translate have it",
        .detail =
            "MODEL is one of\n"
            "\n"
            "  Helsinki-NLP/opus-mt-en-fr   of Hugging Face; with @REVISION behind it that branch, "
            "tag or\n"
            "                               commit, else main; Helsinki-NLP/ may be left out\n"
            "  argos:en-fr                  a package of Argos Translate\n"
            "  firefox:en-fr                a model of Firefox\n"
            "  https://...                  a model's page at Hugging Face, an .argosmodel file, "
            "or a directory\n"
            "                               with the files of a model\n"
            "\n"
            "`attentiond list --remote en` shows what there is to translate from English.\n"
            "\n"
            "Only the files that serving needs are fetched, with the card and the licence. Each is "
            "checked against\n"
            "the registry's digest, and the model appears when all are there. A pull that was "
            "stopped goes on\n"
            "where it was when it is repeated; one of a model that is there fetches what has "
            "changed, or nothing.\n"
            "\n"
            "Environment: HF_ENDPOINT and HF_TOKEN as Hugging Face's own programs read them, "
            "ARGOS_PACKAGE_INDEX,\n"
            "FIREFOX_ENDPOINT; https_proxy, all_proxy, no_proxy; CURL_CA_BUNDLE, SSL_CERT_FILE, "
            "SSL_CERT_DIR.\n",
        .options = options,
        .min_arguments = 1,
        .max_arguments = 1,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    catch_signals();
    exit_code = pull_model(&command, &cli, &flags);
    mt_cli_finish(&cli);
    return exit_code;
}

/* --- list --remote --- */

/* If one registry fails, the others are still asked. */
static enum mt_status ask(const struct mt_cli_command *command, const char *language,
                          const char *only, struct mt_offers *offers, struct mt_error *err)
{
    enum mt_registry chosen = MT_REGISTRY_URL;
    struct mt_endpoints endpoints;
    struct mt_downloader *downloader = NULL;
    enum mt_status failure = only ? mt_registry_parse(only, &chosen, err) : MT_OK;
    if (failure)
        return failure;
    mt_endpoints_read(&endpoints);
    failure = create_downloader(&endpoints, 0, MT_DOWNLOAD_MIN_SPEED, &downloader, err);
    for (enum mt_registry i = 0; i < MT_REGISTRY_URL && !stopped_by && downloader; i++) {
        struct mt_error problem;
        if (only && i != chosen)
            continue;
        enum mt_status status =
            mt_look_up_offers(downloader, &endpoints, i, language, offers, &problem);
        if (status && failure)
            mt_cli_say("attentiond %s: %s", command->name, err->message);
        if (status) {
            failure = status;
            *err = problem;
        }
    }
    mt_downloader_destroy(downloader);
    return failure;
}

static int list_offers(const struct mt_cli_command *command, const char *language, const char *only,
                       bool is_json)
{
    struct mt_offers offers = {0};
    struct mt_text lines = {0};
    struct mt_error err, problem;
    enum mt_status failure = ask(command, language, only, &offers, &err);
    mt_offers_sort(&offers);
    if (is_json)
        mt_offers_append_json(&offers, &lines);
    else
        mt_offers_append_table(&offers, &lines);
    enum mt_status status = mt_text_check(&lines, "list", &problem);
    if (!status && lines.length > 0 && (offers.n > 0 || !failure))
        fputs(lines.bytes, stdout);
    if (!status)
        status = mt_cli_flush(&problem);
    if (status && !failure)
        err = problem;
    if (!status && !failure && offers.n == 0)
        mt_cli_say("There is nothing to pull that translates from \"%s\".", language);
    mt_text_finish(&lines);
    mt_offers_finish(&offers);
    return status || failure ? fail(command, &err) : MT_EXIT_OK;
}

static int run_list(int argc, char **argv)
{
    const char *language = NULL, *registry = NULL;
    bool is_json = false;
    const struct mt_cli_option options[] = {
        {.name = "remote",
         .value_name = "LANGUAGE",
         .doc = "what there is to pull that translates from this language (en)",
         .string = &language},
        {.name = "registry",
         .value_name = "huggingface|argos|firefox",
         .doc = "ask this one alone",
         .string = &registry},
        {.name = "json", .doc = "one JSON array", .is_set = &is_json},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "list",
        .verb = MT_VERB_LIST,
        .synopsis = "--remote LANGUAGE [options]",
        .summary = "show what there is to pull",
        .options = options,
    };
    struct mt_cli cli;
    struct mt_error err;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    catch_signals();
    if (!language || !*language || strlen(language) >= sizeof((struct mt_offer *)0)->source) {
        (void)mt_fail(&err, MT_INVALID,
                      "--remote is \"%.60s\"; expected a language, as en or pt_br",
                      language ? language : "");
        exit_code = mt_cli_fail(&command, &err);
    } else {
        exit_code = list_offers(&command, language, registry, is_json);
    }
    mt_cli_finish(&cli);
    return exit_code;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "pull") == 0)
        return run_pull(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "list") == 0)
        return run_list(argc - 2, argv + 2);
    fputs(
        "attentiond-pull is a part of attentiond: see attentiond pull --help, and attentiond list "
        "--help\n",
        stderr);
    return MT_EXIT_USAGE;
}
