/*
 * What the subcommands share. One file per subcommand: src/cli/cmd_NAME.c defines cmd_NAME and adds a row to the table
 * in main.c.
 *
 * A command gets argv[0] = "ptxbench NAME" (so that argp's usage text reads right) and the arguments behind the name;
 * it returns the exit status. Results go to standard output, everything else to standard error.
 *
 * Here, and only here, the program may exit. argp itself exits with 64 on a usage error, which is what we want.
 */
#ifndef PTXBENCH_CLI_CLI_H
#define PTXBENCH_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Exit statuses of every command. */
enum cli_status {
    CLI_PASSED = 0,  /* the candidate passed, or the command did what was asked */
    CLI_FAILED = 1,  /* the candidate failed */
    CLI_TROUBLE = 2, /* infrastructure or tool trouble: says nothing about the candidate */
    CLI_USAGE = 64   /* the command line, or a file that it names, is wrong */
};

int cmd_eval(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_task(int argc, char **argv);
int cmd_emu(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_prompt(int argc, char **argv);

/* Prints "ptxbench: message" and, when there is one, "hint: ..." to standard error. Returns the exit status that
 * belongs to the code, so that `return cli_fail(&error);` ends a command. */
int cli_fail(const struct error *error);

/* Prints "ptxbench: message" and "hint: see 'ptxbench COMMAND --help'" (command NULL: the program's own help) to
 * standard error. Returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) PRINTF_LIKE(2, 3);

/* Whether to colour what goes to `stream`: a terminal, NO_COLOR unset or empty, TERM not "dumb". */
bool cli_use_color(FILE *stream);

/* Flushes standard output and returns `status`, or CLI_TROUBLE when the output could not be written: a full disk is
 * told, a closed pipe is not. main calls it behind every command. */
int cli_finish(int status);

/* The value of --option, a decimal number from `least` to `most`; anything else is a usage error. */
long cli_parse_number(struct argp_state *state, const char *option, const char *text, long least, long most);

/* The word of `words` (NULL-terminated) nearest to `typed`, or NULL when none is near: for "did you mean". */
const char *cli_nearest(const char *typed, const char *const *words);

#endif
