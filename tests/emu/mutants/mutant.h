/*
 * Defects put into our Hopper kernels one at a time, as edits of their sources, and what the emulator should say about
 * each. The test scores the emulator by them; tests/gpu/mutant_counts.c runs the same defects on a GPU.
 */
#ifndef PTXBENCH_TESTS_MUTANT_H
#define PTXBENCH_TESTS_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../hopper_launch.h"
#include "base/buffer.h"
#include "base/error.h"

enum mutant_kernel { MUTANT_GEMM, MUTANT_MHA };
enum { MUTANT_EDITS_MAX = 3, MUTANT_SECONDS = 8 };

struct mutant_edit {
    const char *replace, *with; /* the first occurrence */
};

struct mutant {
    const char *name;
    enum mutant_kernel kernel;
    struct mutant_edit edits[MUTANT_EDITS_MAX];
    const char *code; /* of the finding that names the cause, as in JSON */
    const char *line; /* a part of the source line that must be named: the finding's, its caller's, or in its message */
    /* Layout and coordinates: wrong in every order of events, by elements that a GPU must agree on. */
    bool layout;
    int32_t shared_extra; /* the host's: see struct hopper_device */
    bool wide_box;
    bool freed_output; /* the output was freed in stream order */
};

extern const struct mutant mutants[];
extern const size_t mutant_count;

/* "gemm_wgmma": its source is kernels/hopper/NAME.cu. */
const char *mutant_kernel_name(enum mutant_kernel kernel);

/* The kernel with the mutant's edits (NULL: as it is) and without its host code; line numbers stay. */
MUST_CHECK bool mutant_source(enum mutant_kernel kernel, const struct mutant *mutant, struct buffer *source,
                              struct error *error);

/* Compiles that with nvcc: `kind` "-ptx" or "-cubin". Appends to `out`. */
MUST_CHECK bool mutant_compile(const struct buffer *source, enum mutant_kernel kernel, const char *kind,
                               struct buffer *out, struct error *error);

/* The work of a run: a small full grid of two CTAs, persistent over several tiles. */
enum {
    MUTANT_GEMM_M = 256,
    MUTANT_GEMM_N = 512,
    MUTANT_GEMM_K = 320,
    MUTANT_MHA_LENGTH = 600, /* one head; four blocks of keys, five of queries */
    MUTANT_MHA_DIM = 128
};

struct mutant_work {
    size_t input_bytes[3], output_bytes, extra_bytes; /* extra: L of MHA */
    uint8_t *inputs[3];                               /* host copies; owned */
    uint8_t *expected;                                /* owned */
};

MUST_CHECK bool mutant_work_new(enum mutant_kernel kernel, struct mutant_work *work, struct error *error);
void mutant_work_free(struct mutant_work *work);

/* Elements of the output that are wrong: any difference for GEMM, more than 1e-2 + 1e-2 |expected| for MHA. The inputs
 * are such that no result is near that limit: a GPU and the emulator agree on every element. */
size_t mutant_wrong(enum mutant_kernel kernel, const struct mutant_work *work, const uint8_t *output);
size_t mutant_elements(enum mutant_kernel kernel);

/* The launch on buffers of a device: inputs, output, extra. */
MUST_CHECK bool mutant_launch(enum mutant_kernel kernel, const struct mutant *mutant, struct hopper_device device,
                              const uint64_t buffers[5], struct hopper_launch *launch, struct error *error);

#endif
