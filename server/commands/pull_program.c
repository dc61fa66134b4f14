#include "server/commands/pull_program.h"

#include "server/commands/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "attentiond-pull"
#define INSTALLED MT_LIBEXECDIR "/" PROGRAM

/* As in a build folder, and in an image that has both in one place. */
static bool find_beside(char out[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - sizeof PROGRAM);
    if (length <= 0)
        return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash)
        return false;
    memcpy(slash + 1, PROGRAM, sizeof PROGRAM);
    return true;
}

int mt_pull_program_run(const char *verb, int argc, char **argv)
{
    char beside[PATH_MAX], name[] = PROGRAM;
    char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
    char *own_verb = strdup(verb);
    if (!arguments || !own_verb) {
        mt_cli_say("attentiond %s: out of memory", verb);
        free(arguments);
        free(own_verb);
        return MT_EXIT_FAILURE;
    }
    arguments[0] = name;
    arguments[1] = own_verb;
    memcpy(arguments + 2, argv, (size_t)argc * sizeof *argv);
    bool is_found = find_beside(beside);
    int reason = ENOENT;
    if (is_found) {
        execv(beside, arguments);
        reason = errno;
    }
    if (reason == ENOENT || reason == EACCES) {
        execv(INSTALLED, arguments);
        if (errno != ENOENT)
            reason = errno;
    }
    mt_cli_say("attentiond %s: cannot start " PROGRAM ", which fetches models: %s; looked for %s "
               "and " INSTALLED,
               verb, strerror(reason), is_found ? beside : "it beside this program");
    free(arguments);
    free(own_verb);
    return MT_EXIT_FAILURE;
}
