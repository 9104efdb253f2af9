/* ptxbench inspect */
#include "cli/cli.h"

int cmd_inspect(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("inspect", "not yet");
}
