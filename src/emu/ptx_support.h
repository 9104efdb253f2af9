/*
 * Whether the emulator runs an instruction, as far as its words tell: the opcode's row (ptx_opcodes.h), narrowed by forms,
 * types and modifiers that it leaves out. Lowering (lower.h) has the last word on combinations of types. Pure.
 */
#ifndef PTXBENCH_EMU_PTX_SUPPORT_H
#define PTXBENCH_EMU_PTX_SUPPORT_H

#include <stdbool.h>

#include "base/arena.h"
#include "emu/ptx_module.h"

/* What stands in the way, or PTX_SUPPORT_EMULATED when nothing does. `*reason` (new in the arena or static) says why, in a
 * few words; NULL when emulated. */
enum ptx_support ptx_support_of(struct arena *arena, const struct ptx_module *module,
                                const struct ptx_function *function, const struct ptx_instruction *instruction,
                                const char **reason);

/* Whether a function that modules only declare is part of the emulator: vprintf, __assertfail. */
bool ptx_external_is_emulated(const char *name);

#endif
