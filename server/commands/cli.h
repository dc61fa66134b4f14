/*
 * The command line of one verb: its flags and positional arguments, on top of the settings that the
 * verb takes. A command describes itself once, in a struct mt_cli_command; parsing, --help, the
 * configuration file and the messages about wrong flags follow from that and the settings table.
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

/* What the process returns. */
enum mt_exit {
    MT_EXIT_OK = 0,
    MT_EXIT_FAILURE = 1, /* it could not be done: a file, the network, the model */
    MT_EXIT_USAGE = 2,   /* it was asked for wrongly: a flag, a setting */
};

/* A flag of one verb alone; flags that are settings are in the settings table. Exactly one of the
 * targets is set; the caller gives it its default, and it is written only if the flag is there. */
struct mt_cli_option {
    const char *name;       /* "batch-size", without the dashes; NULL ends the array */
    const char *value_name; /* "N", "FILE": how --help calls the value; NULL for is_set */
    const char *doc;        /* one sentence, lower case, without a full stop */
    bool *is_set;           /* a switch: true where the flag is given, unless with "off" */
    int64_t *integer;       /* within [low, high] */
    int64_t low, high;
    const char **string; /* borrowed from argv */
    /* What to say to who gives it twice, where that cannot be meant; NULL: the last one counts. */
    const char *if_repeated;
};

/* The flag that means what a field of requests does. target: bool, int64_t or const char *, as the
 * field's type is; of one that code of its own reads a string. */
struct mt_cli_option mt_cli_option_of_field(enum mt_fields_of route, const char *name,
                                            void *target);

struct mt_cli_command {
    const char *name; /* the verb */
    enum mt_verb verb;
    const char *synopsis; /* what follows "attentiond VERB " on the usage line */
    const char *summary;  /* one line, lower case, without a full stop */
    const char *detail;   /* more about it, complete lines of at most 100 columns; may be NULL */
    const struct mt_cli_option *options; /* may be NULL */
    size_t min_arguments, max_arguments; /* positional ones, and "-" counts as one */
    const char *hint;                    /* where there are more; may be NULL */
    /* Where settings name none, models of this machine are taken (model_choice.h). */
    bool needs_model;      /* refuse to go on where there is none either; one is taken, */
    bool serves_directory; /* or, with this one, all of them */
};

struct mt_cli {
    struct mt_settings settings; /* flag > environment > file > default */
    const char *config_path;     /* --config or ATTENTIOND_CONFIG; NULL: none */
    char **arguments;            /* the positional ones, borrowed from argv; never NULL */
    size_t n_arguments;
};

/*
 * Parses what follows the verb. True: *out is filled, and mt_cli_finish releases it. False: there
 * is nothing to do but return *exit_code, because help was asked for, with --help by people or with
 * --describe by programs, as JSON, and printed to standard output (MT_EXIT_OK) or something is
 * wrong and was said on standard error (MT_EXIT_USAGE, or MT_EXIT_FAILURE where memory ran out).
 * Overwrites argv: the positional arguments move to its front.
 */
MT_MUST_CHECK bool mt_cli_begin(const struct mt_cli_command *command, int argc, char **argv,
                                struct mt_cli *out, int *exit_code);
void mt_cli_finish(struct mt_cli *cli);

/* The settings once more, for a verb without positional arguments: file, environment and flags are
 * read again. argc, argv and config_path are those of mt_cli_begin (and what it made of them).
 * Thread-safety: safe while nobody changes the environment. */
MT_MUST_CHECK enum mt_status mt_cli_read_settings(const struct mt_cli_command *command, int argc,
                                                  char **argv, const char *config_path,
                                                  struct mt_settings *out, struct mt_error *err);

/* Writes out what was printed. MT_IO: it could not be, now or before. */
MT_MUST_CHECK enum mt_status mt_cli_flush(struct mt_error *err);

/* One line on standard error, whose control characters are escaped: names of files, languages and
 * models are whatever somebody wrote. Adds the line feed. */
void mt_cli_say(const char *format, ...) MT_PRINTF(1, 2);

/* "attentiond VERB: message" on standard error, as all commands say what went wrong. Returns the
 * exit code that fits the status: MT_EXIT_USAGE for MT_INVALID, else MT_EXIT_FAILURE. */
int mt_cli_fail(const struct mt_cli_command *command, const struct mt_error *err);

#endif
