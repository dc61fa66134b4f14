/*
 * Our programs that connect to others: attentiond-pull, which fetches models, and
 * attentiond-database (server/main_database.c). They are programs of their own because the daemon
 * never connects anywhere: what can is not linked into it.
 */
#ifndef MT_SERVER_COMMANDS_OTHER_PROGRAMS_H
#define MT_SERVER_COMMANDS_OTHER_PROGRAMS_H

#include <limits.h>

#define MT_DATABASE_PROGRAM "attentiond-database"

/* Where it is: beside this program, as in a build folder, and in an image that has all in one place;
 * else where it is installed, if it is. */
void mt_program_find(const char *name, char out[PATH_MAX]);

/* Becomes "attentiond-pull VERB arguments". argv is what follows the verb. Returns, with the exit code
 * and after a message, only where there is no such program. */
int mt_pull_program_run(const char *verb, int argc, char **argv);

#endif
