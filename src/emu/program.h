/*
 * A kernel in executable form: the entry and every function that it calls, lowered to one array of operations.
 *
 * Handlers are plain functions; what they need beyond slots (shapes, lists of registers) hangs from `detail`, in the
 * program's arena. A program is read-only after lowering. Adding an instruction is a row in lower_table.c, a lowering
 * function (lower.h) and a handler.
 */
#ifndef PTXBENCH_EMU_PROGRAM_H
#define PTXBENCH_EMU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "emu/address_space.h"
#include "emu/ptx_module.h"

struct emu_warp;
struct emu_op;

enum emu_result {
    EMU_CONTINUE, /* done: on to the next instruction */
    EMU_JUMPED,   /* done: the handler has set the program counters of the groups */
    EMU_BLOCKED,  /* the handler has called emu_wait; the group rests until the wait is over */
    EMU_YIELD,    /* as EMU_CONTINUE, but let others run now: a poll that did not succeed, nanosleep */
    EMU_FAULT     /* a finding of class error has been added: the grid stops */
};

/* Runs an operation for the lanes of `mask`, which is not 0. See machine.h. */
typedef enum emu_result emu_handler(struct emu_warp *warp, const struct emu_op *op, uint32_t mask);

/* Byte offset of an operand (a multiple of 4), and in the two low bits what it is relative to. */
typedef uint32_t emu_slot;
#define EMU_NO_SLOT UINT32_MAX

enum emu_base {
    EMU_BASE_FRAME,    /* registers */
    EMU_BASE_CONSTANT, /* immediates: program->constants */
    EMU_BASE_WARP,     /* special registers of a warp */
    EMU_BASE_CTA       /* of a CTA */
};

struct emu_op {
    emu_handler *run;
    emu_slot d, e;    /* results; EMU_NO_SLOT when absent */
    emu_slot a, b, c; /* sources */
    emu_slot guard;   /* predicate, or EMU_NO_SLOT */
    uint16_t opcode;  /* enum ptx_opcode */
    bool guard_negated;
    bool first;         /* of its PTX instruction: the one that counts */
    uint32_t target;    /* of a branch: op index; else free for the handler */
    uint32_t ptx;       /* index of the PTX instruction in its function */
    uint32_t function;  /* index into program->functions */
    uint64_t immediate; /* free for the handler */
    const void *detail; /* likewise */
};

/* An address operand: base register (or none) + offset, and what the offset is relative to. */
enum emu_relative {
    EMU_ADDRESS_PLAIN,   /* as it is */
    EMU_ADDRESS_STATIC,  /* a shared variable of the running CTA */
    EMU_ADDRESS_DYNAMIC, /* its dynamic shared memory */
    EMU_ADDRESS_LOCAL    /* a local variable of the running frame */
};
struct emu_address {
    emu_slot base; /* EMU_NO_SLOT: none */
    bool wide;     /* the base has 64-bit lanes */
    enum emu_relative relative;
    int64_t offset;
};

struct emu_function {
    const struct ptx_function *ptx;
    uint32_t first_op, op_count;
    uint32_t register_bytes;  /* of a frame */
    uint32_t parameter_bytes; /* of each lane: own parameters, results, and .param variables of its calls */
    uint32_t local_bytes;     /* of each lane */
    /* Offset in shared, local or parameter memory of each of the module's variables that the function uses. */
    const uint32_t *variable_offsets; /* [module->variable_count] */
};

struct emu_program {
    const struct ptx_module *module;
    struct arena *arena;
    const struct emu_op *ops;
    uint32_t op_count;
    const struct emu_function *functions; /* [0]: the entry */
    uint32_t function_count;
    const uint8_t *constants;
    uint32_t static_shared_end; /* offset of the first byte behind the static shared variables */
    uint32_t dynamic_align;     /* the largest alignment of the extern shared variables */
    bool uses_dynamic_shared;
    bool uses_async;            /* asynchronous copies or wgmma */
    struct emu_watch **watches; /* by op, of operations that touch registers of a wgmma (hazard_registers.h) */
    uint32_t watched_registers;
    const char *unsupported; /* "kernel.cu:12: tcgen05.mma ... (PTX line 40)" of the first instruction, or NULL */
};

/* Addresses of the module's .global and .const variables, by index; 0 for others. */
struct emu_globals {
    const uint64_t *address;
};

/* Lowers an entry of the module. Borrows the module. An instruction that is not emulated is no error: see `unsupported`.
 * ERROR_INPUT: an operand that the ISA does not allow. `target`: what the device is, "sm_90a". */
MUST_CHECK bool emu_program_new(const struct ptx_module *module, uint32_t entry, const struct emu_globals *globals,
                                const struct emu_space *space, struct emu_program **out, struct error *error);
void emu_program_free(struct emu_program *program); /* accepts NULL */

static inline const struct ptx_instruction *emu_op_ptx(const struct emu_program *program, const struct emu_op *op)
{
    return &program->functions[op->function].ptx->instructions[op->ptx];
}

#endif
