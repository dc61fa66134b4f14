/* The program's entry: finds the verb and calls its command with the rest of the command line. */

#include "base/fault.h"
#include "base/nearest.h"
#include "model/kernels/kernels.h"
#include "server/commands/cli.h"
#include "server/commands/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <unicode/uloc.h>

struct verb {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
    {"serve", "answer translation requests over HTTP", mt_cmd_serve},
    {"translate", "translate standard input, line by line", mt_cmd_translate},
    {"inspect", "show what the model looked at while it translated", mt_cmd_inspect},
    {"pull", "fetch a model from the internet", mt_cmd_pull},
    {"list", "show the models on this machine, or what there is to pull", mt_cmd_list},
    {"remove", "remove a model that was pulled", mt_cmd_remove},
    {"import", "make a directory of packed weights from a model of any family", mt_cmd_import},
    {"bench", "measure the machine's limits and the engine beside them", mt_cmd_bench},
    {"check-config", "check a configuration and its models, without serving", mt_cmd_check_config},
    {"healthcheck", "ask a running daemon whether it is well", mt_cmd_healthcheck},
};
#define N_VERBS (sizeof verbs / sizeof verbs[0])

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    return NULL;
}

static int print_help(FILE *out)
{
    fputs("Usage: attentiond VERB [flags]\n"
          "\n"
          "A translation server for MarianMT and OPUS-MT models.\n"
          "\n"
          "Verbs:\n",
          out);
    for (size_t i = 0; i < N_VERBS; i++)
        fprintf(out, "  %-14s%s\n", verbs[i].name, verbs[i].summary);
    fputs("\n"
          "attentiond VERB --help   what the verb does, and its flags\n"
          "attentiond --version     the version\n"
          "\n"
          "Exit status: 0 done; 1 it failed; 2 wrong usage or configuration.\n",
          out);
    return fflush(out) ? MT_EXIT_FAILURE : MT_EXIT_OK;
}

/* Prints the same for programs, which then call "attentiond VERB --describe". */
static int describe(void)
{
    fputs("{\"version\":\"" MT_VERSION "\",\"verbs\":[", stdout);
    for (size_t i = 0; i < N_VERBS; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", verbs[i].name);
    puts("]}");
    return fflush(stdout) ? MT_EXIT_FAILURE : MT_EXIT_OK;
}

static int refuse_verb(const char *name)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, name);
    for (size_t i = 0; i < N_VERBS; i++)
        mt_nearest_offer(&nearest, verbs[i].name);
    fprintf(stderr, "attentiond: there is no verb \"%.60s\"", name);
    if (nearest.best)
        fprintf(stderr, "; did you mean %s?", nearest.best);
    fputs("\nSee: attentiond --help\n", stderr);
    return MT_EXIT_USAGE;
}

/* Treats "attentiond help serve" like "attentiond serve --help". */
static int help(const char *name)
{
    if (!name)
        return print_help(stdout);
    const struct verb *verb = find_verb(name);
    if (!verb)
        return refuse_verb(name);
    char flag[] = "--help";
    return verb->run(1, (char *[]){flag, NULL});
}

/* Opens closed standard descriptors, so that no file opened later gets their numbers: logs would be
 * written into it, or the text to translate read from it. */
static void hold_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Sets ICU's default language, which it uses for every language that it does not know. By default
 * it is the process's, so that translations would depend on LANG. */
static void forget_locale(void)
{
    UErrorCode code = U_ZERO_ERROR;
    uloc_setDefault("root", &code);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    forget_locale();
    mt_kernels_end_foreign_threads();
    if (argc < 2) {
        print_help(stderr);
        return MT_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return help(argc > 2 ? argv[2] : NULL);
    if (!strcmp(name, "version") || !strcmp(name, "--version")) {
        puts("attentiond " MT_VERSION);
        return fflush(stdout) ? MT_EXIT_FAILURE : MT_EXIT_OK;
    }
    if (!strcmp(name, "--describe"))
        return describe();
    const struct verb *verb = find_verb(name);
    if (!verb)
        return refuse_verb(name);
    struct mt_error err;
    /* before there are threads, and for every verb, because all of them may map weights */
    if (mt_fault_install(&err)) {
        fprintf(stderr, "attentiond: %s\n", err.message);
        return MT_EXIT_FAILURE;
    }
    return verb->run(argc - 2, argv + 2);
}
