/* What `ptxbench compile` found out, for people and as JSON ("ptxbench.compile.v1", docs/formats/diagnostics.md). */
#ifndef PTXBENCH_CLI_COMPILE_REPORT_H
#define PTXBENCH_CLI_COMPILE_REPORT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "toolchain/compile.h"
#include "toolchain/sass.h"
#include "toolchain/screen.h"

struct compile_report {
    const char *name; /* of the candidate */
    struct compile_result compile;
    struct screen_report screen;
    struct sass_report sass;
    bool has_sass;
    const char *sass_problem; /* why there is none; NULL when there was no object */
};

/* Compiled, has an entry point, and no offence. */
bool compile_report_passed(const struct compile_report *report);

void compile_report_print(const struct compile_report *report, FILE *out, bool color);

/* The caller owns it. */
json_object *compile_report_to_json(const struct compile_report *report);

#endif
