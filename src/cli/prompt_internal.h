/* What the files of `ptxbench prompt` share: cmd_prompt.c reads the command line, prompt_actions.c does the work. */
#ifndef PTXBENCH_CLI_PROMPT_INTERNAL_H
#define PTXBENCH_CLI_PROMPT_INTERNAL_H

#include "base/error.h"

enum { PROMPT_MAX_ROOTS = 64, PROMPT_MAX_ARGUMENTS = 2 /* behind the action */ };

struct prompt_options {
    const char *roots[PROMPT_MAX_ROOTS];
    size_t root_count;
    const char *arguments[PROMPT_MAX_ARGUMENTS + 1];
    size_t argument_count;
    const char *task;
    const char *workload;
    const char *axes;
    const char *arch;
    const char *language;
    const char *binding;
    const char *pack;
    const char *guidance;
    const char *part;
    const char *source;   /* show --part repair */
    const char *feedback; /* show --part turn or repair */
    const char *secret;
    const char *file;
    const char *hold_out;
    const char *op_type;
    double goal;
    long limit;
    long most;
    long variant; /* 1 + --variant; 0: not given */
    bool json;
    bool question;
    bool with_fix;
};

/* Each prints to standard output. `*status` is the exit status unless false is returned. */
MUST_CHECK bool prompt_show(const struct prompt_options *options, int *status, struct error *error);
MUST_CHECK bool prompt_extract(const struct prompt_options *options, int *status, struct error *error);
MUST_CHECK bool prompt_feedback(const struct prompt_options *options, int *status, struct error *error);
MUST_CHECK bool prompt_notes(const struct prompt_options *options, int *status, struct error *error);

#endif
