/*
 * compute-sanitizer around a command, and its text output as findings (formats: Compute Sanitizer 2025.3 manual).
 *
 * Trouble of the tool is never the candidate's: it ends in `clean` unknown with a reason. Errors of the driver probing
 * for entry points (cuGetProcAddress, CUDA_ERROR_NOT_FOUND and the like) are noise and ignored.
 */
#ifndef PTXBENCH_JUDGE_SANITIZER_H
#define PTXBENCH_JUDGE_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/record.h"
#include "judge/finding.h"
#include "judge/verdict.h"

enum sanitizer_tool { SANITIZER_MEMCHECK, SANITIZER_RACECHECK, SANITIZER_SYNCCHECK, SANITIZER_INITCHECK };

struct sanitizer_report {
    enum tristate clean;          /* yes: the tool ran to its summary and reported nothing of the candidate's */
    const char *reason;           /* when unknown: why; NULL otherwise */
    struct count errors;          /* the tool's own total, noise included; unknown without a summary line */
    int64_t noise;                /* driver probes, calls of ours and consequences of an earlier fault: ignored */
    bool target_failed;           /* "Target application returned an error" */
    bool use_after_free;          /* undefined behaviour that makes instruction counts no evidence */
    struct finding_list findings; /* merged by kind, file, line, kernel */
};

/* Parses what the tool printed (untrusted, any bytes). Lines without "=========" belong to the program under test and
 * are skipped. Absolute paths of sources are cut to the file name. Pure. */
void sanitizer_parse(struct arena *arena, enum sanitizer_tool tool, const char *text, size_t length,
                     struct sanitizer_report *out);

struct sanitizer_request {
    enum sanitizer_tool tool;
    const char *program;            /* compute-sanitizer; NULL: found on PATH and beside nvcc of $CUDA_HOME */
    const char *const *argv;        /* command to run, NULL-terminated */
    const char *const *environment; /* NULL: the parent's */
    const char *folder;             /* NULL: the parent's */
    const char *witness;            /* line that the command prints when it has run to its end; without it in the
                                        output `clean` is never yes. NULL: not asked for */
    const int *inherit;             /* as in struct process_spec */
    int inherit_count;
    int64_t timeout_ns; /* 0: 120 s */
    int print_limit;    /* findings printed in full; 0: 100 */
};

/* Argument vector for the request in the arena, NULL-terminated. */
const char *const *sanitizer_command(struct arena *arena, const struct sanitizer_request *request, const char *program);

/* Runs the tool with a private log file (the command's own output cannot pass for the tool's) and parses. A missing
 * tool, a time-out or an output without a summary is a report with `clean` unknown, never an error; `record` (may be
 * NULL) receives the part of the verdict. Returns false only when the system fails. */
MUST_CHECK bool sanitizer_run(struct arena *arena, const struct sanitizer_request *request,
                              struct sanitizer_report *out, struct verdict_sanitizer *record, struct error *error);

const char *sanitizer_tool_text(enum sanitizer_tool tool); /* "memcheck" */
bool sanitizer_tool_parse(const char *text, enum sanitizer_tool *out);

#endif
