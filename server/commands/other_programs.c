#include "server/commands/other_programs.h"

#include "server/commands/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PULL "attentiond-pull"

/* Writes its path if it is beside this program; "" otherwise. */
static void find_beside(const char *name, char out[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash && strlen(name) < (size_t)(out + PATH_MAX - 1 - slash))
        strcpy(slash + 1, name);
    else
        out[0] = '\0';
}

void mt_program_find(const char *name, char out[PATH_MAX])
{
    find_beside(name, out);
    if (access(out, X_OK) != 0)
        snprintf(out, PATH_MAX, MT_LIBEXECDIR "/%s", name);
}

int mt_pull_program_run(const char *verb, int argc, char **argv)
{
    char path[PATH_MAX], beside[PATH_MAX], name[] = PULL;
    char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
    char *own_verb = strdup(verb);
    if (arguments && own_verb) {
        arguments[0] = name;
        arguments[1] = own_verb;
        memcpy(arguments + 2, argv, (size_t)argc * sizeof *argv);
        mt_program_find(PULL, path);
        execv(path, arguments);
        int reason = errno;
        find_beside(PULL, beside);
        mt_cli_say("attentiond %s: cannot start " PULL ", which fetches models: %s; looked for %s "
                   "and " MT_LIBEXECDIR "/" PULL,
                   verb, strerror(reason), beside);
    } else {
        mt_cli_say("attentiond %s: out of memory", verb);
    }
    free(arguments);
    free(own_verb);
    return MT_EXIT_FAILURE;
}
