/*
 * The verbs of the command line. Each function gets what follows its verb (argv[0] is the first
 * argument, not the verb), handles --help itself, and returns the exit code (enum mt_exit): 0 done,
 * 1 failed, 2 wrong usage or configuration.
 */
#ifndef MT_SERVER_COMMANDS_COMMANDS_H
#define MT_SERVER_COMMANDS_COMMANDS_H

int mt_cmd_bench(int argc, char **argv);
int mt_cmd_serve(int argc, char **argv);
int mt_cmd_translate(int argc, char **argv);
int mt_cmd_inspect(int argc, char **argv);
int mt_cmd_check_config(int argc, char **argv);
int mt_cmd_healthcheck(int argc, char **argv);
int mt_cmd_import(int argc, char **argv);
int mt_cmd_pull(int argc, char **argv);
int mt_cmd_list(int argc, char **argv);
int mt_cmd_remove(int argc, char **argv);

#endif
