/* The program: finds the subcommand and calls it. */
#include <signal.h>
#include <string.h>

#include "cli/cli.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct command commands[] = {
    {"eval", cmd_eval, "judge a kernel on a task: right, on the tensor cores, how fast, and why not"},
    {"compile", cmd_compile, "compile and screen a kernel, and count its target instructions; needs no GPU"},
    {"task", cmd_task, "list, show and check tasks"},
    {"pack", cmd_pack, "build and check knowledge packs, and count tokens"},
    {"emu", cmd_emu, "run a CUDA program without a GPU and explain its failures, or count a kernel's PTX instructions"},
    {"run", cmd_run, "put models into a loop with the judge: prompt, kernel, verdict, and again"},
    {"inspect", cmd_inspect, "page through a run: turns, code, differences, verdicts"},
    {"worker", cmd_worker, "judge candidates that come as lines on standard input"},
    {"report", cmd_report, "metrics and tables of runs, and run against run"},
    {"model", cmd_model, "list the models that runs can use, and try one"},
    {"prompt", cmd_prompt, "show what a model is sent, and read the kernel out of its answer"},
    {"doctor", cmd_doctor, "say what this machine can do, and how to get what is missing"},
};

static const char *nearest_command(const char *typed)
{
    const char *names[ARRAY_LEN(commands) + 1] = {NULL};

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        names[i] = commands[i].name;
    return cli_nearest(typed, names);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return NULL;
}

static void print_help(FILE *stream)
{
    (void)fputs("usage: ptxbench COMMAND [ARGUMENT]...\n"
                "\n"
                "Judges CUDA kernels with inline PTX.\n"
                "\n"
                "commands:\n",
                stream);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        (void)fprintf(stream, "  %-9s %s\n", commands[i].name, commands[i].help);
    (void)fputs("\n"
                "  ptxbench COMMAND --help    options of a command; also: man ptxbench-COMMAND\n"
                "  ptxbench --version         version\n"
                "\n"
                "exit status: 0 passed or done, 1 the kernel failed, 2 machine or tool trouble, 64 usage\n",
                stream);
}

static int unknown_command(const char *name)
{
    const char *nearest = nearest_command(name);

    if (*name == '-')
        return cli_usage(NULL, "unknown option '%s'", name);
    if (nearest)
        return cli_usage(NULL, "'%s' is not a command; did you mean '%s'?", name, nearest);
    return cli_usage(NULL, "'%s' is not a command", name);
}

static int run_command(const struct command *command, int argc, char **argv)
{
    char name[64];

    (void)snprintf(name, sizeof name, "ptxbench %s", command->name);
    argv[0] = name;
    return command->run(argc, argv);
}

static int run_help(const char *topic)
{
    const struct command *command = topic ? find_command(topic) : NULL;
    char option[] = "--help";
    char *argv[] = {NULL, option, NULL};

    if (command)
        return run_command(command, 2, argv);
    if (topic)
        return unknown_command(topic);
    print_help(stdout);
    return CLI_PASSED;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return run_help(argc > 2 ? argv[2] : NULL);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        (void)printf("ptxbench %s\n", PTXBENCH_VERSION);
        return CLI_PASSED;
    }
    const struct command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    return run_command(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error to report, not a silent death */
    return cli_finish(dispatch(argc, argv));
}
