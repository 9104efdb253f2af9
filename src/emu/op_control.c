/* Branches, calls and ends of threads. */
#include "emu/op_control.h"

#include <stdlib.h>

#include "emu/groups.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_barrier.h"

enum { CALL_DEPTH_MAX = 512, LOCAL_STACK_MAX = 512 << 10 };

enum emu_result emu_op_branch(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct emu_group *group = warp->current;

    if (op->target <= group->pc)
        group->patience++;
    if (mask == group->mask) {
        group->pc = op->target;
    } else {
        group->mask &= ~mask;
        group->pc++;
        emu_group_add(warp, op->target, mask, group->frame);
    }
    return EMU_JUMPED;
}

enum emu_result emu_op_branch_indexed(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct emu_targets *targets = op->detail;
    const uint32_t *index = emu_lanes32(warp, op->a);
    struct emu_frame *frame = warp->current->frame;
    uint32_t lane = (uint32_t)__builtin_ctz(mask), same = 0;

    if (index[lane] >= targets->count)
        return emu_report(warp, op, (int)lane, EMU_BAD_INSTRUCTION, "brx.idx with index %u of %u targets", index[lane],
                          targets->count);
    EMU_FOR_MASK(l, mask)
    same |= index[l] == index[lane] ? emu_lane_bit[l] : 0;

    /* One target at a time: the other lanes stay here and come back. */
    uint32_t rest = warp->current->mask & ~same;

    if (targets->ops[index[lane]] <= warp->current->pc)
        warp->current->patience++;
    if (!rest) {
        warp->current->pc = targets->ops[index[lane]];
    } else {
        warp->current->mask = rest;
        if (mask == same)
            warp->current->pc++;
        emu_group_add(warp, targets->ops[index[lane]], same, frame);
    }
    return EMU_JUMPED;
}

struct emu_frame *emu_frame_new(struct emu_warp *warp, const struct emu_function *function, uint32_t lanes,
                                struct emu_frame *parent, uint32_t return_pc)
{
    struct emu_frame **link = &warp->spare_frames;

    while (*link && (*link)->function != function)
        link = &(*link)->parent;

    struct emu_frame *frame = *link;

    if (frame) {
        *link = frame->parent;
    } else {
        size_t parameters = (size_t)EMU_LANES * function->parameter_bytes;

        frame = calloc(1, sizeof *frame);
        if (!frame)
            return NULL;
        frame->registers = aligned_alloc(64, function->register_bytes + 64);
        frame->parameters = parameters ? malloc(parameters) : NULL;
        if (!frame->registers || (parameters && !frame->parameters)) {
            emu_frame_free(frame);
            return NULL;
        }
        frame->next_owned = warp->frames;
        warp->frames = frame;
        memset(frame->registers, 0xff, function->register_bytes); /* as memory: NaN until written */
        if (parameters)
            memset(frame->parameters, 0xff, parameters);
    }
    frame->function = function;
    frame->parent = parent;
    frame->return_pc = return_pc;
    frame->depth = parent ? parent->depth + 1 : 0;
    frame->lanes = lanes;
    frame->local_base = parent ? parent->local_base + parent->function->local_bytes : 0;
    return frame;
}

void emu_frame_free(struct emu_frame *frame)
{
    if (!frame)
        return;
    free(frame->registers);
    free(frame->parameters);
    free(frame);
}

/* A call: which bytes of the caller's parameter memory become which of the callee's, and back. */
struct copy {
    uint32_t from, to, bytes;
};
struct call {
    const struct emu_function *callee;
    uint32_t argument_count, result_count;
    struct copy copies[]; /* arguments, then results */
};

static bool grow_local(struct emu_warp *warp, uint32_t bytes)
{
    if (bytes <= warp->local_bytes)
        return true;

    uint8_t *local = bytes <= LOCAL_STACK_MAX ? malloc((size_t)EMU_LANES * bytes) : NULL;

    if (!local)
        return false;
    memset(local, 0xff, (size_t)EMU_LANES * bytes);
    EMU_FOR_LANES(l)
    {
        if (warp->local_bytes)
            memcpy(local + (size_t)l * bytes, warp->local + (size_t)l * warp->local_bytes, warp->local_bytes);
    }
    free(warp->local);
    warp->local = local;
    warp->local_bytes = bytes;
    return true;
}

static void copy_parameters(uint8_t *to, uint32_t to_stride, const uint8_t *from, uint32_t from_stride,
                            const struct copy *copies, uint32_t count, uint32_t mask)
{
    for (uint32_t i = 0; i < count; i++) {
        EMU_FOR_MASK(lane, mask)
        memcpy(to + (size_t)lane * to_stride + copies[i].to, from + (size_t)lane * from_stride + copies[i].from,
               copies[i].bytes);
    }
}

enum emu_result emu_op_call(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct call *call = op->detail;
    struct emu_group *group = warp->current;
    struct emu_frame *caller = group->frame;
    uint32_t local_end = caller->local_base + caller->function->local_bytes + call->callee->local_bytes;

    if (caller->depth >= CALL_DEPTH_MAX || !grow_local(warp, local_end))
        return emu_report(warp, op, -1, EMU_LOCAL_OUT_OF_BOUNDS,
                          "stack overflow: call depth %u, %u bytes of local memory", caller->depth, local_end);

    struct emu_frame *frame = emu_frame_new(warp, call->callee, mask, caller, group->pc + 1);

    if (!frame)
        return emu_report(warp, op, -1, EMU_LOCAL_OUT_OF_BOUNDS, "out of memory for a call");
    copy_parameters(frame->parameters, call->callee->parameter_bytes, caller->parameters,
                    caller->function->parameter_bytes, call->copies, call->argument_count, mask);
    if (mask == group->mask) {
        group->pc = call->callee->first_op;
        group->frame = frame;
    } else {
        group->mask &= ~mask;
        group->pc++;
        emu_group_add(warp, call->callee->first_op, mask, frame);
    }
    return EMU_JUMPED;
}

void emu_lanes_exit(struct emu_warp *warp, uint32_t mask)
{
    uint32_t count = (uint32_t)__builtin_popcount(mask);

    warp->live &= ~mask;
    warp->cta->live_threads -= count;
    warp->cta->cluster->live_threads -= count;
    emu_progress(warp);
    emu_barrier_lanes_exit(warp);
    emu_group_remove_lanes(warp->current, mask);
}

static enum emu_result op_exit(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    (void)op;
    warp->current->pc++;
    emu_lanes_exit(warp, mask);
    return EMU_JUMPED;
}

enum emu_result emu_op_return(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct emu_group *group = warp->current;
    struct emu_frame *frame = group->frame, *caller = frame->parent;

    if (!caller)
        return op_exit(warp, op, mask);

    const struct emu_op *call_op = &emu_grid_of(warp)->program->ops[frame->return_pc - 1];
    const struct call *call = call_op->detail;
    uint32_t return_pc = frame->return_pc;

    copy_parameters(caller->parameters, caller->function->parameter_bytes, frame->parameters,
                    frame->function->parameter_bytes, call->copies + call->argument_count, call->result_count, mask);
    frame->lanes &= ~mask;
    if (mask == group->mask) {
        group->pc = return_pc;
        group->frame = caller;
    } else {
        group->mask &= ~mask;
        group->pc++;
        emu_group_add(warp, return_pc, mask, caller);
    }
    if (!frame->lanes) {
        frame->parent = warp->spare_frames;
        warp->spare_frames = frame;
    }
    return EMU_JUMPED;
}

static enum emu_result op_trap(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    return emu_report(warp, op, __builtin_ctz(mask), EMU_TRAP, "the kernel executed trap");
}

bool emu_lower_branch(struct emu_lower *l)
{
    const struct ptx_operand *label = emu_lower_operand(l, 0);

    if (!label || label->kind != PTX_OPERAND_LABEL)
        return emu_lower_refuse(l, "bra needs a label");
    emu_lower_add(l, emu_op_branch)->target = label->value;
    return true;
}

bool emu_lower_branch_indexed(struct emu_lower *l)
{
    const struct ptx_operand *index = emu_lower_operand(l, 0), *table = emu_lower_operand(l, 1);
    emu_slot source;

    if (!table || table->kind != PTX_OPERAND_TABLE || l->ptx->tables[table->value].kind != PTX_BRANCH_TARGETS)
        return emu_lower_refuse(l, "brx.idx needs an index and .branchtargets");
    if (!emu_lower_source(l, index, PTX_U32, &source))
        return false;

    const struct ptx_table *from = &l->ptx->tables[table->value];
    struct emu_targets *targets = emu_lower_detail(l, sizeof *targets + from->count * sizeof targets->ops[0]);
    struct emu_op *op = emu_lower_add(l, emu_op_branch_indexed);

    targets->count = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        targets->ops[i] = from->targets[i];
    op->a = source;
    op->detail = targets;
    return true;
}

/* Pairs the variables of a list in the caller with those of the callee. Literals and registers as arguments do not occur in
 * compiled PTX. */
static bool lower_copies(struct emu_lower *l, const struct ptx_operand *list, uint32_t first, uint32_t count,
                         bool results, struct copy *out)
{
    if ((list ? list->count : 0) != count)
        return emu_lower_refuse(l, "the call passes %u values where %u are declared", list ? list->count : 0, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *own = emu_lower_element(l, list, i);
        const struct ptx_variable *formal = &l->module->variables[first + i];

        if (own->kind != PTX_OPERAND_VARIABLE || l->module->variables[own->value].space != PTX_SPACE_PARAM)
            return emu_lower_unsupported(l, "a call with values that are no .param variables");

        const struct ptx_variable *actual = &l->module->variables[own->value];
        uint32_t mine = l->variable_offset[own->value];

        if (mine == PTX_NONE || actual->bytes < formal->bytes)
            return emu_lower_refuse(l, "%s does not fit %s", actual->name, formal->name);
        /* The callee's offsets are not known before it is lowered: its index stands in for them (see resolve). */
        out[i] = results ? (struct copy){.from = first + i, .to = mine, .bytes = (uint32_t)formal->bytes}
                         : (struct copy){.from = mine, .to = first + i, .bytes = (uint32_t)formal->bytes};
    }
    return true;
}

bool emu_lower_call(struct emu_lower *l)
{
    const struct ptx_function *target = ptx_call_target(l->module, l->ptx, l->instruction);
    const struct ptx_operand *lists[2] = {NULL, NULL}; /* results, arguments */
    uint32_t index;

    if (!target)
        return emu_lower_unsupported(l, "indirect calls");
    if (!target->is_defined)
        return emu_lower_external_call(l, target);
    for (uint32_t i = 0, seen_name = 0; i < l->instruction->operand_count; i++) {
        const struct ptx_operand *operand = emu_lower_operand(l, i);

        if (operand->kind == PTX_OPERAND_LIST)
            lists[seen_name] = operand;
        else if (operand->kind == PTX_OPERAND_FUNCTION)
            seen_name = 1;
    }
    if (!emu_lower_callee(l, target, &index))
        return false;

    uint32_t copies = target->parameter_count + target->result_count;
    struct call *call = emu_lower_detail(l, sizeof *call + copies * sizeof call->copies[0]);

    call->callee = &l->program->functions[index];
    call->argument_count = target->parameter_count;
    call->result_count = target->result_count;
    if (!lower_copies(l, lists[1], target->first_parameter, call->argument_count, false, call->copies) ||
        !lower_copies(l, lists[0], target->first_result, call->result_count, true, call->copies + call->argument_count))
        return false;

    struct emu_op *op = emu_lower_add(l, emu_op_call);

    op->detail = call;
    return true;
}

void emu_call_resolve(const struct emu_op *op, const uint32_t *variable_offset)
{
    struct call *call = (struct call *)(uintptr_t)op->detail;

    for (uint32_t i = 0; i < call->argument_count; i++)
        call->copies[i].to = variable_offset[call->copies[i].to];
    for (uint32_t i = call->argument_count; i < call->argument_count + call->result_count; i++)
        call->copies[i].from = variable_offset[call->copies[i].from];
}

bool emu_lower_return(struct emu_lower *l)
{
    emu_lower_add(l, emu_op_return);
    return true;
}

bool emu_lower_exit(struct emu_lower *l)
{
    emu_lower_add(l, op_exit);
    return true;
}

bool emu_lower_trap(struct emu_lower *l)
{
    emu_lower_add(l, op_trap);
    return true;
}
