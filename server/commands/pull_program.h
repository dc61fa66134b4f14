/*
 * The program that fetches models, attentiond-pull. It is one of its own because the daemon never
 * connects anywhere: what can is not linked into it.
 */
#ifndef MT_SERVER_COMMANDS_PULL_PROGRAM_H
#define MT_SERVER_COMMANDS_PULL_PROGRAM_H

/* Becomes "attentiond-pull VERB arguments": the one beside this program, else the installed one.
 * argv is what follows the verb. Returns, with the exit code and after a message, only where there
 * is no such program. */
int mt_pull_program_run(const char *verb, int argc, char **argv);

#endif
