/*
 * The command line of one verb: its flags and positional arguments, and the settings that it takes.
 * A command describes itself in a struct mt_cli_command. Parsing, --help, the configuration file
 * and the messages about wrong flags follow from that and the settings table.
 *
 *   int mt_cmd_translate(int argc, char **argv)
 *   {
 *       bool json = false;
 *       const struct mt_cli_option options[] = {
 *           {.name = "json", .doc = "one JSON object per line", .is_set = &json},
 *           {0},
 *       };
 *       const struct mt_cli_command command = {
 *           .name = "translate",
 *           .verb = MT_VERB_TRANSLATE,
 *           .synopsis = "--model DIR [options] < text",
 *           .summary = "translate standard input, line by line",
 *           .options = options,
 *           .needs_model = true,
 *       };
 *       struct mt_cli cli;
 *       int exit_code;
 *       if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
 *           return exit_code;
 *       ... cli.settings.beam_size ...
 *       mt_cli_finish(&cli);
 *       return exit_code;
 *   }
 *
 * Thread-safety: call from main's thread, before other threads start (the environment is read).
 */
#ifndef MT_SERVER_COMMANDS_CLI_H
#define MT_SERVER_COMMANDS_CLI_H

#include "config/settings.h"
#include "model/model.h"
#include "server/http/fields.h"

#include <stdbool.h>
#include <stdint.h>

/* Exit codes of the process. */
enum mt_exit {
    MT_EXIT_OK = 0,
    MT_EXIT_FAILURE = 1, /* something failed: a file, the network, the model */
    MT_EXIT_USAGE = 2,   /* a flag or a setting is wrong */
};

/* A flag that only one verb has; flags for settings are in the settings table. Exactly one of the
 * targets is not NULL. The caller initialises it to the default, and it is written only if the flag
 * is given. */
struct mt_cli_option {
    const char *name;       /* "batch-size", without the dashes; NULL ends the array */
    const char *value_name; /* "N", "FILE": the value's name in --help; NULL for is_set */
    const char *doc;        /* one sentence, lower case, without a full stop */
    bool *is_set;           /* a switch: true where the flag is given, unless its value is "off" */
    int64_t *integer;       /* within [low, high] */
    int64_t low, high;
    const char **string; /* borrowed from argv */
    /* Message if the flag is given twice, for flags where that is always a mistake; NULL: the last
     * one counts. */
    const char *if_repeated;
};

/* Returns the flag for a request's field of the same meaning. target points to bool, int64_t or
 * const char *, depending on the field's type; it is a string for a field that is parsed by
 * separate code. */
struct mt_cli_option mt_cli_option_of_field(enum mt_fields_of route, const char *name,
                                            void *target);

struct mt_cli_command {
    const char *name; /* the verb */
    enum mt_verb verb;
    const char *synopsis; /* what follows "attentiond VERB " on the usage line */
    const char *summary;  /* one line, lower case, without a full stop */
    const char *detail;   /* more text, complete lines of at most 100 columns; may be NULL */
    const struct mt_cli_option *options; /* may be NULL */
    size_t min_arguments, max_arguments; /* number of positional arguments, of which "-" is one */
    const char *hint;                    /* message if there are more; may be NULL */
    /* If the settings name no model, then models of this machine are taken (model_choice.h). */
    bool needs_model;      /* one model is taken, and the command fails if there is none */
    bool serves_directory; /* all models are taken */
};

struct mt_cli {
    struct mt_settings settings;  /* flag > environment > file > default */
    const char *config_path;      /* --config or ATTENTIOND_CONFIG; NULL: none */
    struct mt_text setting_flags; /* the settings that flags gave, each as "\nbeam-size\n" */
    char **arguments;             /* the positional arguments, borrowed from argv; never NULL */
    size_t n_arguments;
};

/*
 * Parses what follows the verb. True: *out is filled, and mt_cli_finish frees it. False: the caller
 * only has to return *exit_code. Then help was requested, by people with --help or by programs with
 * --describe (JSON), and printed to standard output (MT_EXIT_OK), or something is wrong, with a
 * message on standard error (MT_EXIT_USAGE, or MT_EXIT_FAILURE where memory ran out). argv is
 * changed: the positional arguments move to its beginning.
 */
MT_MUST_CHECK bool mt_cli_begin(const struct mt_cli_command *command, int argc, char **argv,
                                struct mt_cli *out, int *exit_code);
void mt_cli_finish(struct mt_cli *cli);

/* Whether a setting was given by its flag ("beam-size", without the dashes), and not by the
 * environment or the file. */
bool mt_cli_has_flag(const struct mt_cli *cli, const char *name);

/* Reads the settings again from file, environment and flags, for a verb without positional
 * arguments. argc, argv and config_path are those of mt_cli_begin (and what it changed in them).
 * Thread-safety: safe while nobody changes the environment. */
MT_MUST_CHECK enum mt_status mt_cli_read_settings(const struct mt_cli_command *command, int argc,
                                                  char **argv, const char *config_path,
                                                  struct mt_settings *out, struct mt_error *err);

/* Flushes standard output. MT_IO: writing failed, now or before. */
MT_MUST_CHECK enum mt_status mt_cli_flush(struct mt_error *err);

/* Prints one line on standard error, and adds the line feed. Control characters are escaped,
 * because names of files, languages and models may contain any. */
void mt_cli_say(const char *format, ...) MT_PRINTF(1, 2);

/* Prints "attentiond VERB: message" on standard error, the form of all commands' errors. Returns
 * the exit code for the status: MT_EXIT_USAGE for MT_INVALID, otherwise MT_EXIT_FAILURE. */
int mt_cli_fail(const struct mt_cli_command *command, const struct mt_error *err);

#endif
