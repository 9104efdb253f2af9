/*
 * What a module holds, counted in its text: instructions, target instructions, and what the emulator does not run.
 * Nothing is executed. JSON form: docs/formats/census.md. Pure.
 */
#ifndef PTXBENCH_EMU_PTX_CENSUS_H
#define PTXBENCH_EMU_PTX_CENSUS_H

#include <json-c/json.h>
#include <stdio.h>

#include "base/arena.h"
#include "emu/ptx_module.h"

/* X(identifier, text): PTX instructions that become target instructions of the machine code. */
#define PTX_TARGETS(X)                                                                                                 \
    X(PTX_TARGET_WGMMA, "wgmma")              /* wgmma.mma_async */                                                    \
    X(PTX_TARGET_TMA, "cp.async.bulk.tensor") /* loads, stores and reductions; no prefetches */                        \
    X(PTX_TARGET_TCGEN05, "tcgen05")          /* all but waits and fences */

enum ptx_target {
#define X(id, text) id,
    PTX_TARGETS(X)
#undef X
        PTX_TARGET_COUNT
};

struct ptx_census_opcode {
    const char *text; /* with modifiers */
    uint32_t count;
};

struct ptx_census_problem {
    const char *text; /* instruction with modifiers */
    const char *reason;
    enum ptx_support support;
    uint32_t count; /* of the same text and reason in the function */
    uint32_t line;  /* the first, in the PTX */
    struct ptx_source source;
};

struct ptx_census_function {
    const struct ptx_function *function;
    uint32_t target[PTX_TARGET_COUNT];
    uint64_t shared_bytes;                   /* of the .shared variables that it names, with their alignment */
    bool dynamic_shared;                     /* it names an unsized one */
    const struct ptx_census_opcode *opcodes; /* most frequent first */
    uint32_t opcode_count;
    const struct ptx_census_problem *problems; /* in the order of the text */
    uint32_t problem_count;
};

struct ptx_census {
    const struct ptx_module *module;
    const struct ptx_census_function *functions; /* those with a body */
    uint32_t function_count;
    uint32_t problem_count; /* of all of them */
};

/* Borrows the module. */
const struct ptx_census *ptx_census_new(struct arena *arena, const struct ptx_module *module);

const char *ptx_target_text(enum ptx_target target);

/* For people. */
void ptx_census_print(const struct ptx_census *census, FILE *stream);

/* One member of "modules". The caller owns it. */
json_object *ptx_census_to_json(const struct ptx_census *census);

#endif
