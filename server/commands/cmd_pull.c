#include "server/commands/commands.h"
#include "server/commands/other_programs.h"

int mt_cmd_pull(int argc, char **argv)
{
    return mt_pull_program_run("pull", argc, argv);
}
