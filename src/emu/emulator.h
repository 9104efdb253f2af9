/*
 * The emulated device: memory, modules and launches. What the CUDA look-alike libraries and the tests talk to.
 *
 * Device addresses of global memory are host addresses, so that host code can pass them around; every access of a kernel
 * goes through the allocation table (memory.h). A launch runs to its end before emulator_launch returns.
 *
 * An emulator belongs to one thread at a time.
 */
#ifndef PTXBENCH_EMU_EMULATOR_H
#define PTXBENCH_EMU_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "emu/emu_finding.h"
#include "emu/memory.h"
#include "emu/ptx_module.h"
#include "emu/target_count.h"

struct emulator;
struct emulator_module;

/* Limits and properties of the device; those of an H100 (sm_90a) unless said otherwise. */
struct emulator_properties {
    const char *name;                /* "ptxbench emulator (sm_90a)" */
    int major, minor;                /* 9, 0 */
    int multiprocessors;             /* 132 */
    uint32_t shared_per_block;       /* 49152 static, without opt-in */
    uint32_t shared_per_block_optin; /* 232448 */
    uint32_t registers_per_block;    /* 65536 */
    uint32_t max_threads_per_block;  /* 1024 */
    uint32_t max_cluster;            /* 8; 16 with the non-portable attribute */
};

/* In which order things happen where the hardware is free to choose (schedule.c). */
struct emulator_schedule {
    bool reverse_warps;  /* warps of a CTA from last to first */
    uint32_t quantum;    /* instructions of a warp before the next one runs; 0: until it blocks */
    uint32_t completion; /* asynchronous operations: 0 as soon as possible, 1 as late as possible, 2 random */
    uint64_t seed;       /* of random choices */
    uint32_t
        shared_shift; /* added to the base of dynamic shared memory, in bytes, rounded up to its declared alignment */
    bool unchecked;   /* nobody looks for hazards (hazard.h): faster, and quieter */
};

MUST_CHECK bool emulator_new(const char *arch /* "sm_90a" */, struct emulator **out, struct error *error);
void emulator_free(struct emulator *emulator); /* accepts NULL */

const struct emulator_properties *emulator_properties(const struct emulator *emulator);
struct emu_memory *emulator_memory(struct emulator *emulator);
struct emu_findings *emulator_findings(struct emulator *emulator);
void emulator_set_schedule(struct emulator *emulator, const struct emulator_schedule *schedule);

/* What the kernel of the last launch printed; at most 1 MiB. */
const char *emulator_printed(const struct emulator *emulator);

/* Parses and lowers PTX; module variables are allocated and initialised. ERROR_INPUT: malformed; ERROR_UNSUPPORTED: an
 * instruction that is not emulated, named with its line (only for functions that are launched: see emulator_launch). */
MUST_CHECK bool emulator_load(struct emulator *emulator, const char *name, const char *ptx, size_t length,
                              struct emulator_module **out, struct error *error);
void emulator_unload(struct emulator *emulator, struct emulator_module *module);

/* Entry function by its mangled name; -1 when there is none. Global variable: address and size. */
int emulator_find_entry(const struct emulator_module *module, const char *name);
bool emulator_find_variable(const struct emulator_module *module, const char *name, void **address, size_t *bytes);
const struct ptx_module *emulator_module_ptx(const struct emulator_module *module);

struct emulator_launch {
    const struct emulator_module *module;
    int entry;
    uint32_t grid[3], block[3];
    uint32_t cluster[3];    /* 1, 1, 1: none */
    uint32_t shared_bytes;  /* dynamic */
    const void *parameters; /* laid out as the entry's .param list, with its alignments */
    size_t parameter_bytes;
    /* Which clusters of the grid run: all when `sample` is NULL, else `sample_count` linear cluster indices in this order.
     * No further one is begun once `sample_work` is spent (warp instructions, and the matrix work that takes as long);
     * 0: no limit. */
    const uint64_t *sample;
    size_t sample_count;
    uint64_t sample_work;
};

enum emulator_outcome {
    EMULATOR_COMPLETED,
    EMULATOR_FAULTED,       /* an error finding says why */
    EMULATOR_DEADLOCKED,    /* likewise */
    EMULATOR_OUT_OF_BUDGET, /* more instructions than allowed: an endless loop, or a limit too small */
    EMULATOR_UNSUPPORTED    /* an instruction that is not emulated: `unsupported` */
};

struct emulator_report {
    enum emulator_outcome outcome;
    uint64_t warp_instructions;
    uint64_t clusters_run;
    bool depends_on_missing; /* it needs what a sampled launch left out: see emu_memory_depends_on_missing */
    const char *unsupported; /* "kernel.cu:12: tcgen05.mma ..."; arena */
    /* Executed counts of the kernel by opcode: opcode_warps[enum ptx_opcode]; arena */
    uint64_t *opcode_warps;
    struct target_counts targets;
};

/* Checks the launch (dimensions, shared memory, parameters) and runs it. Returns false only for a launch that the CUDA
 * runtime would refuse (ERROR_INPUT with the rule) or for trouble of ours. `budget`: most warp instructions, 0: 2^36. */
MUST_CHECK bool emulator_launch(struct emulator *emulator, const struct emulator_launch *launch, uint64_t budget,
                                struct arena *arena, struct emulator_report *report, struct error *error);

#endif
