/* What the parts of the emulated device share: private to emulator*.c. */
#ifndef PTXBENCH_EMU_EMULATOR_INTERNAL_H
#define PTXBENCH_EMU_EMULATOR_INTERNAL_H

#include "base/buffer.h"
#include "emu/address_space.h"
#include "emu/emulator.h"
#include "emu/program.h"

enum { EMULATOR_PRINT_MAX = 1 << 20 };

struct emulator {
    struct emulator_properties properties;
    struct emu_memory *memory;
    struct emu_findings *findings;
    struct emulator_schedule schedule;
    struct emu_space space;
    struct buffer printed; /* of vprintf; emptied by each launch */
    uint64_t modules;      /* that live */
};

struct emulator_module {
    struct emulator *emulator;
    struct arena *arena;
    const struct ptx_module *ptx;
    uint64_t *variables;           /* addresses of .global and .const, by variable */
    struct emu_program **programs; /* by function; lowered at the first launch */
};

#endif
