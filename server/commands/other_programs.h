/*
 * Our programs that make connections: attentiond-pull, which fetches models, and
 * attentiond-database (server/main_database.c). They are separate programs so that no code that
 * connects is linked into the daemon, which never makes connections.
 */
#ifndef MT_SERVER_COMMANDS_OTHER_PROGRAMS_H
#define MT_SERVER_COMMANDS_OTHER_PROGRAMS_H

#include <limits.h>

#define MT_DATABASE_PROGRAM "attentiond-database"

/* Finds a program: beside this one, as in a build folder or an image with everything in one place;
 * otherwise where it is installed. */
void mt_program_find(const char *name, char out[PATH_MAX]);

/* Replaces the process by "attentiond-pull VERB arguments". argv is what follows the verb. It
 * returns, after a message, only if there is no such program; the value is the exit code. */
int mt_pull_program_run(const char *verb, int argc, char **argv);

#endif
