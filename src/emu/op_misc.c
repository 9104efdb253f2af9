/* Fences, hints and what has no effect on a functional machine. */
#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_move.h"

/* All accesses are sequentially consistent; the hazard layer is told of the proxies. */
static enum emu_result op_fence_proxy(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    (void)op, (void)mask;
    hazard_fence_proxy(warp);
    return EMU_CONTINUE;
}

bool emu_lower_fence(struct emu_lower *l)
{
    emu_lower_add(l, emu_lower_has(l, PTX_M_PROXY) ? op_fence_proxy : emu_op_nothing);
    return true;
}

enum { SLEEP_POLLS = 64 };

static enum emu_result op_nanosleep(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    (void)op, (void)mask;
    warp->polls += SLEEP_POLLS;
    return EMU_YIELD;
}

bool emu_lower_nanosleep(struct emu_lower *l)
{
    emu_lower_add(l, op_nanosleep);
    return true;
}

static enum emu_result op_setmaxnreg(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    return emu_converged(warp, op, UINT32_MAX, &result) ? EMU_CONTINUE : result;
}

/* The count is from 24 to 256, a multiple of 8. Source: PTX ISA, setmaxnreg. */
bool emu_lower_setmaxnreg(struct emu_lower *l)
{
    const struct ptx_operand *count = emu_lower_operand(l, 0);

    if (!count || count->kind != PTX_OPERAND_IMMEDIATE || count->bits < 24 || count->bits > 256 || count->bits % 8)
        return emu_lower_refuse(l, "the register count must be a multiple of 8 from 24 to 256");
    emu_lower_add(l, op_setmaxnreg);
    return true;
}

bool emu_lower_no_effect(struct emu_lower *l)
{
    emu_lower_add(l, emu_op_nothing);
    return true;
}
