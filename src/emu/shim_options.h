/*
 * What the user may set of the emulated device, by environment variables (docs/formats/emulator.md). `ptxbench emu` sets
 * them for the program that it starts; the look-alike libraries read them once, at the first call.
 */
#ifndef PTXBENCH_EMU_SHIM_OPTIONS_H
#define PTXBENCH_EMU_SHIM_OPTIONS_H

#include "base/error.h"
#include "emu/emulator.h"

#define SHIM_ENV_ARCH "PTXBENCH_EMU_ARCH"         /* sm_90a (default) or sm_100a */
#define SHIM_ENV_FINDINGS "PTXBENCH_EMU_FINDINGS" /* JSONL file that findings are appended to; "fd:N": a descriptor */
#define SHIM_ENV_LAUNCHES "PTXBENCH_EMU_LAUNCHES" /* 1: a line for each launch goes there, too */
#define SHIM_ENV_SAMPLE "PTXBENCH_EMU_SAMPLE"     /* most clusters of a launch that run; 0 (default): all */
#define SHIM_ENV_GUARD "PTXBENCH_EMU_GUARD"       /* 1: host code that touches mapped device memory gets SIGSEGV */
#define SHIM_ENV_STATS "PTXBENCH_EMU_STATS"       /* file for statistics at exit (JSON); "-": text on standard error */
#define SHIM_ENV_QUIET "PTXBENCH_EMU_QUIET"       /* 1: nothing on standard error */
#define SHIM_ENV_BUDGET "PTXBENCH_EMU_BUDGET"     /* most warp instructions of a launch; 0: the emulator's own limit */
#define SHIM_ENV_MEMORY "PTXBENCH_EMU_MEMORY"     /* bytes of device memory, with K, M or G; default: see below */
#define SHIM_ENV_SCHEDULE "PTXBENCH_EMU_SCHEDULE" /* "reverse,quantum=16,completion=late,seed=3,shift=128" */

struct shim_options {
    const char *arch;
    const char *findings_path; /* NULL: none */
    int findings_fd;           /* -1: none */
    bool launches;
    bool guard;
    uint64_t sample;
    const char *stats_path; /* NULL: none */
    bool quiet;
    uint64_t budget;
    uint64_t memory_bytes;
    struct emulator_schedule schedule;
};

/* Value of a variable or NULL; borrowed until the next call of its kind (getenv). */
typedef const char *shim_environment(const char *name);

/* Reads every option. `physical_bytes`: memory of this machine; without a wish of the user the device has three
 * quarters of it and at most the 80 GiB of an H100. Texts are borrowed from `environment`. ERROR_USAGE names the
 * variable, its value and what it may be. Pure. */
MUST_CHECK bool shim_options_read(shim_environment *environment, uint64_t physical_bytes, struct shim_options *out,
                                  struct error *error);

/* One schedule text; "" is the default schedule: warps take turns of 32 instructions (quantum=0: until they wait). ERROR_USAGE names the word that is wrong. Pure. */
MUST_CHECK bool shim_schedule_parse(const char *text, struct emulator_schedule *out, struct error *error);

#endif
