/*
 * Nsight Compute as a cross-check of the target instruction counts (paper, appendix A.2): application replay, source
 * page as CSV, counters inst_executed and thread_inst_executed_true for each SASS instruction.
 */
#ifndef PTXBENCH_JUDGE_NCU_H
#define PTXBENCH_JUDGE_NCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/record.h"

struct ncu_instruction {
    const char *kernel; /* as ncu prints it (demangled); NULL when the page does not say */
    uint64_t address;   /* 0 when not printed */
    const char *opcode; /* "HGMMA.64x256x16.F32.BF16", predicate and operands removed */
    int64_t warps;      /* inst_executed */
    int64_t threads;    /* thread_inst_executed_true */
};

struct ncu_report {
    struct ncu_instruction *items;
    size_t count;
    size_t tables;       /* source tables found: one per kernel launch profiled */
    size_t skipped;      /* rows of a table without a readable count */
    const char *trouble; /* what ncu complained about ("==ERROR== ..."), first line; NULL: nothing */
};

/* Parses `ncu --page source --csv` output (untrusted, any bytes). Returns false with ERROR_TOOL when there is no source
 * table with both counters; the message carries what ncu complained about. Pure. */
MUST_CHECK bool ncu_parse(struct arena *arena, const char *text, size_t length, struct ncu_report *out,
                          struct error *error);

/* Sums over the families of sass.h on `arch`; families that did not occur are present with 0. */
void ncu_families(struct arena *arena, const struct ncu_report *report, const char *arch, struct count_map *warps,
                  struct count_map *threads);

struct ncu_request {
    const char *program;            /* ncu; NULL: found on PATH */
    const char *const *argv;        /* command to profile, NULL-terminated */
    const char *const *environment; /* NULL: the parent's */
    const char *folder;
    const char *nvtx_range;     /* only launches inside this push/pop range; NULL: all */
    const char *kernel_pattern; /* only kernels whose name matches this regex; NULL: all */
    int launch_count;           /* 0: all */
    int64_t timeout_ns;         /* 0: 120 s */
};

/* Argument vector in the arena, NULL-terminated. */
const char *const *ncu_command(struct arena *arena, const struct ncu_request *request, const char *program);

/* Runs and parses. ERROR_TOOL: missing, timed out, failed, or without a table. */
MUST_CHECK bool ncu_run(struct arena *arena, const struct ncu_request *request, struct ncu_report *out,
                        struct error *error);

#endif
