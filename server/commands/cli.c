#include "server/commands/cli.h"

#include "base/json.h"
#include "server/commands/model_choice.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of a flag's name. */
#define MAX_NAME_BYTES 48
/* Most flags of one verb that may not be repeated. */
#define MAX_SINGLE 16

/* Flags of every verb. */
static const struct mt_cli_option common_options[] = {
    {
        .name = "config",
        .value_name = "FILE",
        .doc = "read settings from this JSON file (also ATTENTIOND_CONFIG)",
    },
    {.name = "help", .doc = "print the settings that matter most"},
    {.name = "help-all", .doc = "print all of them"},
    {0},
};

enum flag_kind { FLAG_SETTING, FLAG_OWN, FLAG_CONFIG, FLAG_HELP, FLAG_HELP_ALL };

/* One flag of the command line. */
struct flag {
    enum flag_kind kind;
    char name[MAX_NAME_BYTES + 1];      /* without the dashes */
    const char *value;                  /* NULL: none was given, and none is needed */
    const struct mt_cli_option *option; /* for FLAG_OWN */
};

struct mt_cli_option mt_cli_option_of_field(enum mt_fields_of route, const char *name, void *target)
{
    const struct mt_field *field = mt_field_find(route, name);
    struct mt_cli_option option = {
        .name = field->flag, .value_name = field->flag_value, .doc = field->flag_doc};
    if (field->type == MT_FIELD_BOOLEAN) {
        option.is_set = target;
    } else if (field->type == MT_FIELD_INTEGER) {
        option.integer = target;
        option.low = (int64_t)field->low;
        option.high = (int64_t)field->high;
    } else {
        option.string = target;
        if (strcmp(field->flag_value, "LIST") == 0)
            option.if_repeated = MT_SETTINGS_WITH_COMMAS;
    }
    return option;
}

static const struct mt_cli_option *find_option(const struct mt_cli_option *options,
                                               const char *name)
{
    for (; options && options->name; options++)
        if (!strcmp(options->name, name))
            return options;
    return NULL;
}

static enum mt_status refuse_flag(const struct mt_cli_command *command, const char *name,
                                  struct mt_error *err)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, name);
    mt_settings_offer_flags(command->verb, &nearest);
    for (const struct mt_cli_option *o = command->options; o && o->name; o++)
        mt_nearest_offer(&nearest, o->name);
    for (const struct mt_cli_option *o = common_options; o->name; o++)
        mt_nearest_offer(&nearest, o->name);
    if (!nearest.best)
        return mt_fail(err, MT_INVALID, "unknown flag --%s for %s", name, command->name);
    char best[MT_NEAREST_MAX_BYTES + 1] = {0};
    for (size_t i = 0; nearest.best[i]; i++)
        best[i] = nearest.best[i] == '_' ? '-' : nearest.best[i];
    return mt_fail(err, MT_INVALID, "unknown flag --%s for %s; did you mean --%s?", name,
                   command->name, best);
}

enum value { VALUE_NONE, VALUE_NEEDED, VALUE_OF_A_SWITCH };

/* Finds the flag, and whether it takes a value. */
static enum mt_status look_up(const struct mt_cli_command *command, struct flag *flag,
                              enum value *value, struct mt_error *err)
{
    bool needs_value = true;
    flag->option = find_option(command->options, flag->name);
    *value = VALUE_NEEDED;
    if (flag->option) {
        flag->kind = FLAG_OWN;
        *value = flag->option->is_set ? VALUE_OF_A_SWITCH : VALUE_NEEDED;
    } else if (!strcmp(flag->name, "help") || !strcmp(flag->name, "help-all")) {
        flag->kind = flag->name[4] ? FLAG_HELP_ALL : FLAG_HELP;
        *value = VALUE_NONE;
    } else if (!strcmp(flag->name, "config")) {
        flag->kind = FLAG_CONFIG;
    } else if (mt_settings_is_flag(flag->name, command->verb, &needs_value)) {
        flag->kind = FLAG_SETTING;
        *value = needs_value ? VALUE_NEEDED : VALUE_OF_A_SWITCH;
    } else {
        return refuse_flag(command, flag->name, err);
    }
    return MT_OK;
}

/* Reads argv[*index], which begins with '-', and the next argument if it is the flag's value;
 * *index is then that of the last argument read. A switch takes the next argument if that is a word
 * for on or off. A positional argument that is such a word can be put behind "--". */
static enum mt_status read_flag(const struct mt_cli_command *command, int argc, char **argv,
                                int *index, struct flag *flag, struct mt_error *err)
{
    const char *argument = argv[*index];
    enum value value;
    bool unused;
    *flag = (struct flag){0};
    if (!strcmp(argument, "-h"))
        argument = "--help";
    size_t length = strcspn(argument, "=");
    if (strncmp(argument, "--", 2) || length - 2 > MAX_NAME_BYTES)
        return mt_fail(err, MT_INVALID, "unknown flag %.60s for %s", argument, command->name);
    memcpy(flag->name, argument + 2, length - 2);
    enum mt_status status = look_up(command, flag, &value, err);
    if (status)
        return status;
    const char *next = *index + 1 < argc ? argv[*index + 1] : NULL;
    if (argument[length] == '=') {
        flag->value = argument + length + 1;
    } else if (next && (value == VALUE_NEEDED ||
                        (value == VALUE_OF_A_SWITCH && mt_settings_read_switch(next, &unused)))) {
        flag->value = next;
        ++*index;
    }
    if (value == VALUE_NEEDED && !flag->value)
        return mt_fail(err, MT_INVALID, "--%s needs a value", flag->name);
    if (value == VALUE_NONE && flag->value)
        return mt_fail(err, MT_INVALID, "--%s takes no value", flag->name);
    return MT_OK;
}

/* Integers have the same form as in settings, which is JSON's. */
static enum mt_status store_integer(const struct mt_cli_option *option, const char *text,
                                    struct mt_error *err)
{
    cJSON *value = NULL;
    bool is_number =
        !mt_json_parse(text, strlen(text), NULL, "value", &value, NULL) && cJSON_IsNumber(value);
    double number = is_number ? value->valuedouble : 0;
    cJSON_Delete(value);
    if (!is_number || number < (double)option->low || number > (double)option->high ||
        (double)(int64_t)number != number)
        return mt_fail(err, MT_INVALID, "--%s is \"%.60s\"; expected an integer from %lld to %lld",
                       option->name, text, (long long)option->low, (long long)option->high);
    *option->integer = (int64_t)number;
    return MT_OK;
}

static enum mt_status store_option(const struct flag *flag, struct mt_error *err)
{
    const struct mt_cli_option *option = flag->option;
    if (option->integer)
        return store_integer(option, flag->value, err);
    if (option->string)
        *option->string = flag->value;
    else if (!flag->value)
        *option->is_set = true;
    else if (!mt_settings_read_switch(flag->value, option->is_set))
        return mt_fail(err, MT_INVALID, "--%s is \"%.60s\"; expected on or off", option->name,
                       flag->value);
    return MT_OK;
}

/* The flags so far that must not be repeated. */
struct single {
    char names[MAX_SINGLE][MAX_NAME_BYTES + 1];
    size_t n;
};

/* Refuses to repeat a flag that people may take for a list, where the last value would silently
 * replace the others. */
static enum mt_status check_repetition(struct single *seen, const struct flag *flag,
                                       struct mt_error *err)
{
    const char *advice = flag->kind == FLAG_OWN       ? flag->option->if_repeated
                         : flag->kind == FLAG_SETTING ? mt_settings_if_repeated(flag->name)
                                                      : NULL;
    if (!advice)
        return MT_OK;
    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->names[i], flag->name) == 0)
            return mt_fail(err, MT_INVALID, "--%s is given twice; %s", flag->name, advice);
    if (seen->n < MAX_SINGLE)
        strcpy(seen->names[seen->n++], flag->name);
    return MT_OK;
}

static bool is_flag(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

enum help { HELP_NONE, HELP_SHORT, HELP_ALL };

/* The first pass reads everything except settings, whose flags override the file that --config
 * names. */
static enum mt_status read_options(const struct mt_cli_command *command, int argc, char **argv,
                                   struct mt_cli *cli, enum help *help, struct mt_error *err)
{
    const char *last = "";
    size_t n_arguments = 0;
    bool flags_ended = false;
    struct single seen = {.n = 0};
    for (int i = 0; i < argc; i++) {
        struct flag flag;
        if (flags_ended || !is_flag(argv[i])) {
            last = argv[i];
            n_arguments++;
            continue;
        }
        if (!strcmp(argv[i], "--")) {
            flags_ended = true;
            continue;
        }
        enum mt_status status = read_flag(command, argc, argv, &i, &flag, err);
        if (!status)
            status = check_repetition(&seen, &flag, err);
        if (!status && flag.kind == FLAG_OWN)
            status = store_option(&flag, err);
        if (status)
            return status;
        if (flag.kind == FLAG_CONFIG)
            cli->config_path = flag.value;
        if (flag.kind == FLAG_HELP || flag.kind == FLAG_HELP_ALL)
            *help = flag.kind == FLAG_HELP ? HELP_SHORT : HELP_ALL;
    }
    if (*help)
        return MT_OK;
    if (n_arguments < command->min_arguments)
        return mt_fail(err, MT_INVALID, "an argument is missing; expected: %s", command->synopsis);
    if (n_arguments > command->max_arguments)
        return mt_fail(err, MT_INVALID, "unexpected argument \"%.60s\"; expected: %s%s%s", last,
                       command->synopsis, command->hint ? "; " : "",
                       command->hint ? command->hint : "");
    return MT_OK;
}

static enum mt_status set_flag(struct mt_settings *settings, const struct flag *flag,
                               struct mt_error *err)
{
    char key[MAX_NAME_BYTES + 1] = {0}, origin[MAX_NAME_BYTES + 3];
    for (size_t i = 0; flag->name[i]; i++)
        key[i] = flag->name[i] == '-' ? '_' : flag->name[i];
    snprintf(origin, sizeof origin, "--%s", flag->name);
    return mt_settings_set(settings, key, flag->value ? flag->value : "true", origin, err);
}

/* The second pass reads the settings' flags, and moves the positional arguments to the beginning of
 * argv, over arguments that were read already. */
static enum mt_status read_settings_flags(const struct mt_cli_command *command, int argc,
                                          char **argv, struct mt_cli *cli, struct mt_error *err)
{
    bool flags_ended = false;
    cli->arguments = argv;
    for (int i = 0; i < argc; i++) {
        struct flag flag;
        if (flags_ended || !is_flag(argv[i])) {
            argv[cli->n_arguments++] = argv[i];
            continue;
        }
        if (!strcmp(argv[i], "--")) {
            flags_ended = true;
            continue;
        }
        enum mt_status status = read_flag(command, argc, argv, &i, &flag, err);
        if (!status && flag.kind == FLAG_SETTING) {
            mt_text_appendf(&cli->setting_flags, "\n%s\n", flag.name);
            status = set_flag(&cli->settings, &flag, err);
        }
        if (status)
            return status;
    }
    return mt_text_check(&cli->setting_flags, "flags", err);
}

bool mt_cli_has_flag(const struct mt_cli *cli, const char *name)
{
    char line[MAX_NAME_BYTES + 3];
    snprintf(line, sizeof line, "\n%s\n", name);
    return cli->setting_flags.length > 0 && strstr(cli->setting_flags.bytes, line);
}

static enum mt_status read_settings(const struct mt_cli_command *command, int argc, char **argv,
                                    struct mt_cli *cli, struct mt_error *err)
{
    struct mt_settings *settings = &cli->settings;
    enum mt_status status = mt_settings_init(settings, err);
    if (!status && cli->config_path)
        status = mt_settings_read_file(settings, cli->config_path, err);
    if (!status)
        status = mt_settings_read_environment(settings, err);
    if (!status)
        status = read_settings_flags(command, argc, argv, cli, err);
    return status;
}

/* A reload may leave the daemon without models until there is one; a start may not. */
static enum mt_status choose_models(const struct mt_cli_command *command, bool is_start,
                                    struct mt_settings *settings, struct mt_error *err)
{
    const struct mt_model_choice choice = {
        .command = command->name,
        .serves_many = command->serves_directory,
        .needs_one = command->needs_model && is_start,
        .takes_none = !is_start,
        .creates_root = command->needs_model && command->serves_directory && is_start,
    };
    if (!command->needs_model && !command->serves_directory)
        return MT_OK;
    return mt_model_choice_make(&choice, settings, err);
}

static void append_option(const struct mt_cli_option *option, struct mt_text *out)
{
    mt_settings_print_flag(option->name, option->value_name, option->doc, "", out);
}

static void append_head(const struct mt_cli_command *command, struct mt_text *out)
{
    mt_text_appendf(out, "Usage: attentiond %s %s\n\n%s: %s.\n", command->name, command->synopsis,
                    command->name, command->summary);
    if (command->detail)
        mt_text_appendf(out, "\n%s", command->detail);
    mt_text_append_string(out, "\nFlags:\n");
    for (const struct mt_cli_option *o = command->options; o && o->name; o++)
        append_option(o, out);
    for (const struct mt_cli_option *o = common_options; o->name; o++)
        append_option(o, out);
    mt_text_append_string(out, "\n");
}

static void append_foot(struct mt_text *out)
{
    mt_text_append_string(
        out,
        "\n\"Flags\" are of the command line alone. The others are settings, which may also come "
        "from the\nenvironment (--max-body-bytes is ATTENTIOND_MAX_BODY_BYTES) or from the "
        "--config file\n(\"max_body_bytes\"): a flag wins over the environment, which wins over "
        "the file.\nA switch is on with its flag alone, and takes on or off: --repair-numbers off."
        "\n\nExit status: 0 done; 1 it failed; 2 wrong usage or configuration.\n");
}

static void append_short_help(const struct mt_cli_command *command, struct mt_text *out)
{
    append_head(command, out);
    size_t n_others = mt_settings_print_short_help(command->verb, out);
    if (n_others > 0)
        mt_text_appendf(out, "\n%zu more settings: attentiond %s --help-all\n", n_others,
                        command->name);
    append_foot(out);
}

static void append_all_help(const struct mt_cli_command *command, struct mt_text *out)
{
    append_head(command, out);
    mt_settings_print_help(command->verb, out);
    append_foot(out);
}

static void describe_option(const struct mt_cli_option *option, struct mt_json_writer *writer)
{
    mt_json_begin_object(writer);
    mt_json_member(writer, "flag", option->name);
    if (option->value_name)
        mt_json_member(writer, "value", option->value_name);
    mt_json_member(writer, "doc", option->doc);
    mt_json_end_object(writer);
}

static void describe_options(const struct mt_cli_command *command, struct mt_json_writer *writer)
{
    mt_json_member_array(writer, "options");
    for (const struct mt_cli_option *o = command->options; o && o->name; o++)
        describe_option(o, writer);
    for (const struct mt_cli_option *o = common_options; o->name; o++)
        describe_option(o, writer);
    mt_json_end_array(writer);
}

/* Appends the help page for programs: packaging/manual.py makes the manual and the completions from
 * it. */
static void append_description(const struct mt_cli_command *command, struct mt_text *out)
{
    const char *const members[][2] = {
        {"name", command->name},
        {"synopsis", command->synopsis},
        {"summary", command->summary},
        {"detail", command->detail ? command->detail : ""},
    };
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        mt_json_member(&writer, members[i][0], members[i][1]);
    mt_json_member_count(&writer, "max_arguments", command->max_arguments);
    describe_options(command, &writer);
    mt_json_key(&writer, "settings");
    mt_settings_describe(command->verb, out);
    mt_text_append_string(out, "}\n");
}

static int print_page(const struct mt_cli_command *command,
                      void (*append)(const struct mt_cli_command *, struct mt_text *))
{
    struct mt_text page = {0};
    append(command, &page);
    bool is_printed = !page.status && fputs(page.bytes, stdout) >= 0 && !fflush(stdout);
    mt_text_finish(&page);
    return is_printed ? MT_EXIT_OK : MT_EXIT_FAILURE;
}

/* Before a verb begins, every error is one of usage or configuration, including a missing
 * configuration file; only lack of memory is not. */
static int refuse_usage(const struct mt_cli_command *command, const struct mt_error *err)
{
    mt_cli_fail(command, err);
    if (err->status == MT_MEMORY)
        return MT_EXIT_FAILURE;
    fprintf(stderr, "See: attentiond %s --help\n", command->name);
    return MT_EXIT_USAGE;
}

/* The XDG base directory rules: a variable that is not an absolute path is ignored. */
static enum mt_status choose_cache_dir(struct mt_settings *settings, struct mt_error *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *base = cache && *cache == '/' ? cache : home && *home == '/' ? home : NULL;
    if (*settings->cache_dir || !base)
        return MT_OK;
    char *path;
    if (asprintf(&path, "%s%s/attentiond", base, base == cache ? "" : "/.cache") < 0)
        return mt_fail_memory(err, strlen(base) + 32, "path");
    free(settings->cache_dir);
    settings->cache_dir = path;
    return MT_OK;
}

bool mt_cli_begin(const struct mt_cli_command *command, int argc, char **argv, struct mt_cli *out,
                  int *exit_code)
{
    struct mt_error err;
    enum help help = HELP_NONE;
    *out = (struct mt_cli){0};
    if (argc == 1 && !strcmp(argv[0], "--describe")) {
        *exit_code = print_page(command, append_description);
        return false;
    }
    enum mt_status status = read_options(command, argc, argv, out, &help, &err);
    if (!status && help) {
        *exit_code = print_page(command, help == HELP_ALL ? append_all_help : append_short_help);
        return false;
    }
    const char *config = getenv("ATTENTIOND_CONFIG");
    if (!out->config_path && config && *config)
        out->config_path = config;
    if (!status)
        status = read_settings(command, argc, argv, out, &err);
    if (!status)
        status = choose_cache_dir(&out->settings, &err);
    bool is_understood = !status;
    if (!status)
        status = choose_models(command, true, &out->settings, &err);
    if (!status)
        return true;
    mt_cli_finish(out);
    *exit_code = is_understood && status != MT_INVALID ? mt_cli_fail(command, &err)
                                                       : refuse_usage(command, &err);
    return false;
}

enum mt_status mt_cli_read_settings(const struct mt_cli_command *command, int argc, char **argv,
                                    const char *config_path, struct mt_settings *out,
                                    struct mt_error *err)
{
    struct mt_cli cli = {.config_path = config_path};
    enum mt_status status = read_settings(command, argc, argv, &cli, err);
    if (!status)
        status = choose_cache_dir(&cli.settings, err);
    if (!status)
        status = choose_models(command, false, &cli.settings, err);
    if (status)
        mt_cli_finish(&cli);
    else
        *out = cli.settings;
    mt_text_finish(&cli.setting_flags);
    return status;
}

void mt_cli_finish(struct mt_cli *cli)
{
    mt_settings_finish(&cli->settings);
    mt_text_finish(&cli->setting_flags);
    *cli = (struct mt_cli){0};
}

enum mt_status mt_cli_flush(struct mt_error *err)
{
    if (fflush(stdout) || ferror(stdout))
        return mt_fail(err, MT_IO, "standard output: cannot write");
    return MT_OK;
}

void mt_cli_say(const char *format, ...)
{
    struct mt_text line = {0};
    char *message;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        mt_text_append_printable(&line, message, (size_t)length);
        free(message);
    }
    mt_text_append(&line, "\n", 1);
    (void)fputs(length < 0 || line.status ? "attentiond: out of memory\n" : line.bytes, stderr);
    mt_text_finish(&line);
}

int mt_cli_fail(const struct mt_cli_command *command, const struct mt_error *err)
{
    mt_cli_say("attentiond %s: %s", command->name, err->message);
    return err->status == MT_INVALID ? MT_EXIT_USAGE : MT_EXIT_FAILURE;
}
