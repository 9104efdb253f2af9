/* The pure parts of a launch: the rules that the CUDA runtime checks, and the code that it gives to a failed kernel. */
#ifndef PTXBENCH_EMU_SHIM_SHIM_LAUNCH_H
#define PTXBENCH_EMU_SHIM_SHIM_LAUNCH_H

#include "emu/emulator.h"
#include "emu/shim/shim.h"

enum { SHIM_INVALID_CONFIGURATION = 9 }; /* cudaErrorInvalidConfiguration; the driver says CUDA_ERROR_INVALID_VALUE */

struct shim_launch_limits {
    uint32_t device_threads;  /* of a block */
    uint64_t max_threads;     /* of a block of this kernel (.maxntid, .reqntid) */
    uint32_t shared_bytes;    /* dynamic */
    uint32_t max_cluster;     /* blocks */
    uint32_t cluster[3];      /* required; 0: free */
    uint64_t resident_blocks; /* for cooperative launches */
};

/* Checks dimensions, cluster (every dimension >= 1) and shared memory. 0, or the code with `*why` (static). Pure. */
MUST_CHECK int shim_launch_check(const struct shim_launch_limits *limits, const struct shim_launch *launch,
                                 const char **why);

/* The CUresult of an outcome; a fault is told from its last error finding. Pure. */
int shim_fault_code(enum emulator_outcome outcome, const struct emu_findings *findings);

#endif
