/* The parts of `ptxbench model`: cmd_model.c reads the command line, model_show.c lists and checks, model_ask.c asks. */
#ifndef PTXBENCH_CLI_MODEL_INTERNAL_H
#define PTXBENCH_CLI_MODEL_INTERNAL_H

#include <stdint.h>

#include "cli/cli.h"
#include "llm/chat.h"

struct model_options {
    bool json;
    bool dry_run;
    const char *system; /* NULL: no system message */
    const char *trajectory;
    int turn;
    bool has_seed;
    uint64_t seed;
    int64_t max_output_tokens; /* 0: the model's */
    int attempts;              /* 0: the client's default */
};

int model_list(const struct model_options *options);
int model_check(const char *name, const struct model_options *options);
int model_ask(const char *name, const char *text, const struct model_options *options);

#endif
