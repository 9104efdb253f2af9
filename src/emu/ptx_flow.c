#include "emu/ptx_flow.h"

#include <string.h>

struct builder {
    struct arena *arena;
    const struct ptx_module *module;
    const struct ptx_function *function;
    struct ptx_block *blocks;
    uint32_t count;
    uint32_t *block_of;
    /* predecessors of the reversed walk: edges by target */
    uint32_t *edge_first; /* [count + 2] */
    uint32_t *edges;
};

static bool is_branch(const struct ptx_instruction *instruction)
{
    return instruction->opcode == PTX_OP_BRA || instruction->opcode == PTX_OP_BRX;
}

/* A trap ends the whole grid, so nobody waits for lanes that take it: it leads nowhere, like a call without return. */
static bool leaves(const struct ptx_instruction *instruction)
{
    return instruction->opcode == PTX_OP_RET || instruction->opcode == PTX_OP_EXIT;
}

/* Instructions that a branch may jump to. */
static const uint32_t *targets_of(const struct ptx_function *function, const struct ptx_instruction *branch,
                                  uint32_t *count)
{
    const struct ptx_operand *operands = &function->operands[branch->first_operand];

    if (branch->opcode == PTX_OP_BRX) {
        *count = function->tables[operands[1].value].count;
        return function->tables[operands[1].value].targets;
    }
    *count = 1;
    return &operands[0].value;
}

static void split_blocks(struct builder *builder)
{
    const struct ptx_function *function = builder->function;
    uint32_t total = function->instruction_count, count;
    bool *starts = arena_calloc(builder->arena, (size_t)total + 1, sizeof *starts);

    starts[0] = true;
    for (uint32_t i = 0; i < total; i++) {
        const struct ptx_instruction *at = &function->instructions[i];
        if (is_branch(at)) {
            const uint32_t *targets = targets_of(function, at, &count);
            for (uint32_t j = 0; j < count; j++)
                starts[targets[j]] = true;
        }
        if (is_branch(at) || leaves(at) || at->opcode == PTX_OP_TRAP || ptx_ends_block(builder->module, function, at))
            starts[i + 1] = true;
    }
    builder->block_of = arena_calloc(builder->arena, total, sizeof *builder->block_of);
    for (uint32_t i = 0; i < total; i++) {
        builder->count += starts[i];
        builder->block_of[i] = builder->count - 1;
    }
    builder->blocks = arena_calloc(builder->arena, builder->count, sizeof *builder->blocks);
    for (uint32_t i = 0; i < total; i++) {
        struct ptx_block *block = &builder->blocks[builder->block_of[i]];
        if (starts[i])
            block->first = i;
        block->count++;
    }
}

static void add_successor(struct builder *builder, struct ptx_block *block, uint32_t *successors, uint32_t instruction)
{
    if (instruction >= builder->function->instruction_count)
        block->exits = true;
    else
        successors[block->successor_count++] = builder->block_of[instruction];
}

static void link_block(struct builder *builder, struct ptx_block *block)
{
    const struct ptx_function *function = builder->function;
    const struct ptx_instruction *last = &function->instructions[block->first + block->count - 1];
    const uint32_t *targets = NULL;
    uint32_t count = 0;

    if (is_branch(last))
        targets = targets_of(function, last, &count);
    uint32_t *successors = arena_calloc(builder->arena, (size_t)count + 1, sizeof *successors);
    block->successors = successors;
    for (uint32_t i = 0; i < count; i++)
        add_successor(builder, block, successors, targets[i]);
    if (leaves(last))
        block->exits = true;
    if (!ptx_ends_block(builder->module, function, last))
        add_successor(builder, block, successors, block->first + block->count);
}

/* Edges sorted by target; the virtual exit is node `count`. */
static void reverse_edges(struct builder *builder)
{
    uint32_t count = builder->count;
    uint32_t *first = arena_calloc(builder->arena, (size_t)count + 3, sizeof *first);

    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_block *block = &builder->blocks[i];
        for (uint32_t j = 0; j < block->successor_count; j++)
            first[block->successors[j] + 2]++;
        first[count + 2] += block->exits;
    }
    for (uint32_t i = 2; i < count + 3; i++)
        first[i] += first[i - 1];
    builder->edges = arena_calloc(builder->arena, first[count + 2], sizeof *builder->edges);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_block *block = &builder->blocks[i];
        for (uint32_t j = 0; j < block->successor_count; j++)
            builder->edges[first[block->successors[j] + 1]++] = i;
        if (block->exits)
            builder->edges[first[count + 1]++] = i;
    }
    builder->edge_first = first;
}

/* Nodes that reach the exit, in post-order of a walk from it against the edges. Returns how many. */
static uint32_t post_order(struct builder *builder, uint32_t *order, uint32_t *number)
{
    uint32_t nodes = builder->count + 1, depth = 0, done = 0;
    uint32_t *stack = arena_calloc(builder->arena, nodes, sizeof *stack);
    uint32_t *next = arena_calloc(builder->arena, nodes, sizeof *next);
    bool *seen = arena_calloc(builder->arena, nodes, sizeof *seen);

    memcpy(next, builder->edge_first, nodes * sizeof *next);
    stack[depth++] = builder->count;
    seen[builder->count] = true;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] == builder->edge_first[node + 1]) {
            number[node] = done;
            order[done++] = node;
            depth--;
            continue;
        }
        uint32_t from = builder->edges[next[node]++];
        if (!seen[from]) {
            seen[from] = true;
            stack[depth++] = from;
        }
    }
    return done;
}

static uint32_t intersect(const uint32_t *dominator, const uint32_t *number, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (number[a] < number[b])
            a = dominator[a];
        while (number[b] < number[a])
            b = dominator[b];
    }
    return a;
}

/* The post-dominator of a node that its successors agree on so far. */
static uint32_t meet(const struct builder *builder, const uint32_t *dominator, const uint32_t *number, uint32_t node)
{
    const struct ptx_block *block = &builder->blocks[node];
    uint32_t result = block->exits ? builder->count : PTX_NONE;

    for (uint32_t i = 0; i < block->successor_count; i++) {
        uint32_t successor = block->successors[i];
        if (dominator[successor] == PTX_NONE)
            continue;
        result = result == PTX_NONE ? successor : intersect(dominator, number, result, successor);
    }
    return result;
}

static void post_dominate(struct builder *builder)
{
    uint32_t nodes = builder->count + 1;
    uint32_t *order = arena_calloc(builder->arena, nodes, sizeof *order);
    uint32_t *number = arena_calloc(builder->arena, nodes, sizeof *number);
    uint32_t *dominator = arena_calloc(builder->arena, nodes, sizeof *dominator);
    uint32_t reached = post_order(builder, order, number);

    memset(dominator, 0xFF, nodes * sizeof *dominator);
    dominator[builder->count] = builder->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = reached - 1; i-- > 0;) {
            uint32_t node = order[i], now = meet(builder, dominator, number, node);
            if (dominator[node] == now)
                continue;
            dominator[node] = now;
            changed = true;
        }
    }
    for (uint32_t i = 0; i < builder->count; i++)
        builder->blocks[i].reconvergence = dominator[i] < builder->count ? dominator[i] : PTX_NONE;
}

const struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_module *module,
                                    const struct ptx_function *function)
{
    struct builder builder = {.arena = arena, .module = module, .function = function};
    struct ptx_flow *flow = arena_alloc(arena, sizeof *flow);

    if (!function->instruction_count)
        return flow;
    split_blocks(&builder);
    for (uint32_t i = 0; i < builder.count; i++)
        link_block(&builder, &builder.blocks[i]);
    reverse_edges(&builder);
    post_dominate(&builder);
    flow->blocks = builder.blocks;
    flow->block_count = builder.count;
    flow->block_of = builder.block_of;
    return flow;
}

uint32_t ptx_flow_reconvergence(const struct ptx_flow *flow, uint32_t instruction)
{
    uint32_t block = flow->blocks[flow->block_of[instruction]].reconvergence;

    return block == PTX_NONE ? PTX_NONE : flow->blocks[block].first;
}
