#include "emu/target_count.h"

enum { WARPS_OF_WARPGROUP = 4 };

enum sass_family target_family(const struct ptx_function *function, const struct ptx_instruction *instruction)
{
    switch (instruction->opcode) {
    case PTX_OP_WGMMA:
        return ptx_has_word(function, instruction, PTX_M_MMA_ASYNC) ? SASS_GMMA : SASS_OTHER;
    case PTX_OP_CP:
        return ptx_has_word(function, instruction, PTX_M_TENSOR) && !ptx_has_word(function, instruction, PTX_M_PREFETCH)
                   ? SASS_TMA
                   : SASS_OTHER;
    case PTX_OP_MMA:
        return SASS_LEGACY_MMA;
    case PTX_OP_WMMA:
        return ptx_has_word(function, instruction, PTX_M_MMA) ? SASS_LEGACY_MMA : SASS_OTHER;
    case PTX_OP_TCGEN05:
        return SASS_TCGEN;
    default:
        return SASS_OTHER;
    }
}

void target_count_add(struct target_counts *counts, const struct ptx_function *function,
                      const struct ptx_instruction *instruction, uint64_t warps)
{
    enum sass_family family = target_family(function, instruction);
    const uint16_t *size = instruction->size;

    if (family == SASS_OTHER)
        return;
    counts->warps[family] += warps;
    if (family == SASS_GMMA)
        counts->matrix_work += 2ull * size[0] * size[1] * size[2] * warps / WARPS_OF_WARPGROUP;
    else if (family == SASS_LEGACY_MMA)
        counts->legacy_work += 2ull * size[0] * size[1] * size[2] * warps;
}
