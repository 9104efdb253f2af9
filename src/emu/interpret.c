/*
 * Runs the groups of a warp. The deepest call goes first, then the lowest program counter, so that lanes that took different
 * ways meet again where the ways do. A group that keeps branching back loses its turn to the others once in a while:
 * it may be waiting for one of them.
 */
#include <inttypes.h>

#include "emu/groups.h"
#include "emu/lanes.h"

enum { PATIENCE = 256, POLLS_MAX = 256 };

void emu_group_add(struct emu_warp *warp, uint32_t pc, uint32_t mask, struct emu_frame *frame)
{
    warp->groups[warp->group_count++] =
        (struct emu_group){.pc = pc, .mask = mask, .frame = frame, .patience = warp->current->patience};
}

void emu_group_remove_lanes(struct emu_group *group, uint32_t mask)
{
    group->mask &= ~mask;
}

static void drop_empty(struct emu_warp *warp)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (warp->groups[i].mask)
            warp->groups[kept++] = warp->groups[i];
    }
    warp->group_count = kept;
}

static void end_wait(struct emu_group *group)
{
    if (!group->wait.class->retry)
        group->pc++;
    group->wait.class = NULL;
}

static bool can_run(struct emu_warp *warp, struct emu_group *group)
{
    if (group->wait.class && group->wait.class->ready(warp, group))
        end_wait(group);
    return !group->wait.class;
}

/* Whether `a` goes before `b`. */
static bool goes_first(const struct emu_group *a, const struct emu_group *b)
{
    uint32_t turns_a = a->patience / PATIENCE, turns_b = b->patience / PATIENCE;

    if (turns_a != turns_b)
        return turns_a < turns_b;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

/* Joins the groups that are where `group` is. */
static void join(struct emu_warp *warp, struct emu_group *group)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct emu_group *other = &warp->groups[i];

        if (other == group || !other->mask || other->pc != group->pc || other->frame != group->frame)
            continue;
        if (other->wait.class && !other->wait.class->merges)
            continue;
        group->mask |= other->mask;
        if (other->patience < group->patience)
            group->patience = other->patience;
        other->mask = 0;
    }
}

/* When all groups of the warp wait for lanes that can never come, one of them is told so. */
static struct emu_group *find_hopeless(struct emu_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (!warp->groups[i].wait.class->merges)
            return NULL;
    }
    warp->groups[0].timed_out = true;
    warp->groups[0].wait.class = NULL;
    return &warp->groups[0];
}

static struct emu_group *pick(struct emu_warp *warp)
{
    struct emu_group *best = NULL;

    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (can_run(warp, &warp->groups[i]) && (!best || goes_first(&warp->groups[i], best)))
            best = &warp->groups[i];
    }
    if (!best)
        return warp->group_count ? find_hopeless(warp) : NULL;
    if (warp->group_count > 1) {
        uint32_t mask = best->mask;

        join(warp, best);
        if (best->mask != mask) {
            struct emu_group joined = *best;

            drop_empty(warp);
            for (uint32_t i = 0; i < warp->group_count; i++) {
                if (warp->groups[i].mask == joined.mask)
                    best = &warp->groups[i];
            }
        }
    }
    return best;
}

/* Where a group has to stop because another one of the same frame is there. */
static uint32_t find_limit(const struct emu_warp *warp, const struct emu_group *group)
{
    uint32_t limit = UINT32_MAX;

    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct emu_group *other = &warp->groups[i];

        if (other != group && other->frame == group->frame && other->pc > group->pc && other->pc < limit)
            limit = other->pc;
    }
    return limit;
}

static enum emu_result run_group(struct emu_warp *warp, struct emu_group *group, uint64_t quantum, uint64_t *executed)
{
    struct emu_grid *grid = emu_grid_of(warp);
    const struct emu_op *ops = grid->program->ops;
    uint64_t *executions = grid->op_executions;
    uint32_t limit = warp->group_count > 1 ? find_limit(warp, group) : UINT32_MAX;
    enum emu_result result = EMU_CONTINUE;
    uint64_t count = 0;

    warp->current = group;
    warp->base[EMU_BASE_FRAME] = group->frame->registers;
    while (count < quantum) {
        const struct emu_op *op = &ops[group->pc];
        uint32_t mask = group->mask;

        count++;
        if (op->guard != EMU_NO_SLOT) {
            uint32_t guard = emu_predicate(warp, op->guard);

            mask &= op->guard_negated ? ~guard : guard;
            if (!mask) {
                if (++group->pc == limit)
                    break;
                continue;
            }
        }
        executions[group->pc]++; /* with a lane that its predicate lets through, as target instructions count */
        result = op->run(warp, op, mask);
        if (result == EMU_CONTINUE) {
            if (++group->pc == limit)
                break;
            continue;
        }
        if (result == EMU_JUMPED && warp->group_count == 1 && group->mask) {
            warp->base[EMU_BASE_FRAME] = group->frame->registers;
            continue;
        }
        if (result == EMU_YIELD)
            group->pc++;
        if (result == EMU_BLOCKED && group->wait.class->retry)
            executions[group->pc]--;
        break;
    }
    *executed += count;
    return result;
}

enum emu_run emu_warp_run(struct emu_warp *warp, uint64_t quantum)
{
    struct emu_grid *grid = emu_grid_of(warp);
    uint64_t executed = 0;
    enum emu_run outcome = EMU_RUN_QUANTUM;

    while (executed < quantum) {
        struct emu_group *group = pick(warp);

        if (!group) {
            outcome = warp->group_count ? EMU_RUN_BLOCKED : EMU_RUN_EXITED;
            break;
        }

        enum emu_result result = run_group(warp, group, quantum - executed, &executed);

        if (result == EMU_FAULT) {
            outcome = EMU_RUN_FAULT;
            break;
        }
        if (result == EMU_JUMPED)
            drop_empty(warp);
        if (result == EMU_YIELD)
            break;
    }
    grid->instructions += executed;
    warp->cta->cluster->instructions += executed;
    return outcome;
}

bool emu_warp_is_runnable(struct emu_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (can_run(warp, &warp->groups[i]))
            return true;
    }
    return false;
}

bool emu_warp_time_out(struct emu_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct emu_group *group = &warp->groups[i];

        if (group->wait.class && group->wait.class->may_time_out) {
            group->timed_out = true;
            group->wait.class = NULL;
            return true;
        }
    }
    return false;
}

enum emu_result emu_wait(struct emu_warp *warp, const struct emu_wait_class *class, void *object, uint64_t value0,
                         uint64_t value1)
{
    warp->current->wait = (struct emu_wait){.class = class, .object = object, .value = {value0, value1}};
    return EMU_BLOCKED;
}

enum emu_result emu_poll(struct emu_warp *warp)
{
    return ++warp->polls > POLLS_MAX ? EMU_YIELD : EMU_CONTINUE;
}

bool emu_warp_is_polling(const struct emu_warp *warp)
{
    return warp->polls > POLLS_MAX;
}

static bool members_have_come(const struct emu_warp *warp, const struct emu_group *group)
{
    uint32_t members = (uint32_t)group->wait.value[0] & warp->live;

    return (members & ~group->mask) == 0;
}

static void describe_members(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    uint32_t members = (uint32_t)group->wait.value[0] & warp->live;

    buffer_printf(out, "lanes 0x%08x of its warp to arrive at the same instruction", members & ~group->mask);
}

static const struct emu_wait_class wait_members = {.name = "convergence of the warp",
                                                   .ready = members_have_come,
                                                   .describe = describe_members,
                                                   .retry = true,
                                                   .merges = true};

static const struct emu_wait_class wait_warp_sync = {
    .name = "bar.warp.sync", .ready = members_have_come, .describe = describe_members, .retry = true, .merges = true};

/* Reports the lanes that do not come; the others stand at `op`. */
static enum emu_result report_missing(struct emu_warp *warp, const struct emu_op *op, uint32_t missing)
{
    uint32_t here = warp->current->mask;
    char place[256];

    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct emu_group *other = &warp->groups[i];

        if (other->mask & missing)
            return emu_report(warp, op, __builtin_ctz(missing), EMU_DIVERGENT_ALIGNED,
                              "lanes 0x%08x are here, but lanes 0x%08x, which must take part, are at %s", here, missing,
                              emu_place(emu_grid_of(warp)->program, other->pc, place, sizeof place));
    }
    return emu_report(warp, op, -1, EMU_DIVERGENT_ALIGNED, "lanes 0x%08x do not arrive", missing);
}

bool emu_converged(struct emu_warp *warp, const struct emu_op *op, uint32_t members, enum emu_result *result)
{
    uint32_t missing = members & warp->live & ~warp->current->mask;

    if (!missing)
        return true;
    *result =
        warp->current->timed_out ? report_missing(warp, op, missing) : emu_wait(warp, &wait_members, NULL, members, 0);
    return false;
}

static bool waits_for_same(const struct emu_group *group, uint32_t members)
{
    return group->wait.class == &wait_warp_sync && (uint32_t)group->wait.value[0] == members;
}

enum emu_result emu_warp_sync(struct emu_warp *warp, const struct emu_op *op, uint32_t members)
{
    uint32_t missing = members & warp->live & ~warp->current->mask;

    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (waits_for_same(&warp->groups[i], members))
            missing &= ~warp->groups[i].mask;
    }
    if (missing)
        return warp->current->timed_out ? report_missing(warp, op, missing)
                                        : emu_wait(warp, &wait_warp_sync, NULL, members, 0);
    enum emu_result result = EMU_CONTINUE;

    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct emu_group *other = &warp->groups[i];

        if (waits_for_same(other, members)) {
            other->wait.class = NULL;
            emu_grid_of(warp)->op_executions[other->pc++]++;
            result = EMU_YIELD; /* those behind go first, so that the ways meet */
        }
    }
    return result;
}
