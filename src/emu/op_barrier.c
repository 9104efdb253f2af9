/* bar, barrier (.cta), barrier.cluster, bar.warp.sync. Source: PTX ISA, 9.7.13 Parallel Synchronization. */
#include <inttypes.h>

#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_barrier.h"

enum action { ACTION_SYNC, ACTION_ARRIVE, ACTION_REDUCE };
enum reduction { REDUCE_NONE, REDUCE_POPC, REDUCE_AND, REDUCE_OR };

struct bar {
    enum action action;
    enum reduction reduction;
    bool aligned;
    bool negated; /* the predicate of a reduction */
};

static bool bar_is_complete(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct emu_barrier *barrier = group->wait.object;

    (void)warp;
    return barrier->phase != group->wait.value[0];
}

/* Without a count, a barrier waits for all warps of the CTA that have not exited. */
static uint32_t expected_threads(const struct emu_cta *cta, const struct emu_barrier *barrier)
{
    uint32_t threads = 0;

    if (barrier->expected)
        return barrier->expected;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        threads += cta->warps[i].live ? EMU_LANES : 0;
    return threads;
}

static void describe_bar(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct emu_barrier *barrier = group->wait.object;
    char place[256];

    buffer_printf(out, "barrier %d: %u of %u threads arrived, last warp %u at %s", (int)(barrier - warp->cta->barriers),
                  barrier->arrived, expected_threads(warp->cta, barrier), barrier->last_warp,
                  emu_place(emu_grid_of(warp)->program, barrier->last_op, place, sizeof place));
    if (warp->cta->live_threads < warp->cta->threads)
        buffer_printf(out, " (%u threads have exited)", warp->cta->threads - warp->cta->live_threads);
}

static uint32_t suspect_bar(const struct emu_warp *warp, const struct emu_group *group)
{
    (void)warp, (void)group;
    return 2; /* some threads have arrived */
}

static const struct emu_wait_class wait_bar = {
    .name = "named barrier", .ready = bar_is_complete, .describe = describe_bar, .suspicion = suspect_bar};

/* Those who wait at a barrier learn what all who arrived know. */
static void tell_waiting(struct emu_cta *cta, const struct emu_wait_class *class, const struct emu_barrier *barrier)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        struct emu_warp *warp = &cta->warps[i];

        for (uint32_t g = 0; g < warp->group_count; g++) {
            if (warp->groups[g].wait.class != class || warp->groups[g].wait.object != barrier)
                continue;
            if (barrier)
                hazard_bar_acquire(warp, (uint32_t)(barrier - cta->barriers));
            else
                hazard_cluster_acquire(warp);
        }
    }
}

static void complete(struct emu_cta *cta, struct emu_barrier *barrier)
{
    if (cta->cluster->hazards) {
        tell_waiting(cta, &wait_bar, barrier);
        hazard_bar_complete(cta, (uint32_t)(barrier - cta->barriers));
    }
    barrier->result_count = barrier->count;
    barrier->result_total = barrier->reduced;
    barrier->phase++;
    barrier->arrived = 0;
    barrier->expected = 0;
    barrier->count = barrier->reduced = 0;
}

static enum emu_result check_count(struct emu_warp *warp, const struct emu_op *op, uint32_t id, uint32_t count)
{
    const struct emu_barrier *barrier;

    if (id >= EMU_BARRIERS)
        return emu_report(warp, op, -1, EMU_BARRIER_COUNT, "barrier %u does not exist: there are 0 to 15", id);
    barrier = &warp->cta->barriers[id];
    if (count % EMU_LANES)
        return emu_report(warp, op, -1, EMU_BARRIER_COUNT, "barrier %u with %u threads, which is no multiple of 32", id,
                          count);
    if (barrier->arrived && barrier->expected != count)
        return emu_report(warp, op, -1, EMU_BARRIER_COUNT,
                          "barrier %u is used with %u threads, but warp %u arrived at it with %u", id, count,
                          barrier->last_warp, barrier->expected);
    return EMU_CONTINUE;
}

static void collect(struct emu_warp *warp, const struct emu_op *op, const struct bar *bar, struct emu_barrier *barrier,
                    uint32_t mask)
{
    uint32_t value;

    if (bar->action != ACTION_REDUCE)
        return;
    value = emu_predicate(warp, op->c) ^ (bar->negated ? UINT32_MAX : 0);
    barrier->count += (uint32_t)__builtin_popcount(value & mask);
    barrier->reduced += (uint32_t)__builtin_popcount(mask);
}

static void deliver(struct emu_warp *warp, const struct emu_op *op, const struct bar *bar,
                    const struct emu_barrier *barrier, uint32_t mask)
{
    if (bar->action != ACTION_REDUCE)
        return;
    if (bar->reduction == REDUCE_POPC) {
        EMU_FOR_MASK(lane, mask)
        emu_lanes32(warp, op->d)[lane] = barrier->result_count;
    } else {
        bool yes =
            bar->reduction == REDUCE_AND ? barrier->result_count == barrier->result_total : barrier->result_count > 0;

        emu_set_predicate(warp, op->d, yes ? UINT32_MAX : 0, mask);
    }
}

static enum emu_result op_bar(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct bar *bar = op->detail;
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t id = emu_lanes32(warp, op->a)[first];
    uint32_t count = op->b == EMU_NO_SLOT ? 0 : emu_lanes32(warp, op->b)[first];
    struct emu_barrier *barrier;
    enum emu_result result = EMU_CONTINUE;
    uint64_t phase;

    if (bar->aligned && !emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    if (check_count(warp, op, id, count) == EMU_FAULT)
        return EMU_FAULT;
    barrier = &warp->cta->barriers[id];
    phase = barrier->phase;
    barrier->expected = count;
    collect(warp, op, bar, barrier, mask);
    barrier->arrived += bar->aligned ? EMU_LANES : (uint32_t)__builtin_popcount(mask);
    barrier->last_op = (uint32_t)(op - emu_grid_of(warp)->program->ops);
    barrier->last_warp = warp->index;
    hazard_bar_arrive(warp, id);
    emu_progress(warp);
    if (barrier->arrived >= expected_threads(warp->cta, barrier)) {
        if (bar->action != ACTION_ARRIVE)
            hazard_bar_acquire(warp, id);
        complete(warp->cta, barrier);
        return EMU_CONTINUE;
    }
    return bar->action == ACTION_ARRIVE ? EMU_CONTINUE : emu_wait(warp, &wait_bar, barrier, phase, 0);
}

/* The second half of bar.red: an operation of its own, behind the waiting one. */
static enum emu_result op_bar_result(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t id = emu_lanes32(warp, op->a)[__builtin_ctz(mask)];

    deliver(warp, op, op->detail, &warp->cta->barriers[id], mask);
    return EMU_CONTINUE;
}

static enum reduction reduction_of(const struct emu_lower *l)
{
    return emu_lower_has(l, PTX_M_POPC) ? REDUCE_POPC : emu_lower_has(l, PTX_M_AND) ? REDUCE_AND : REDUCE_OR;
}

/* bar.red d, a {, b}, {!}c: the number of operands tells whether there is a count. */
static bool lower_reduce(struct emu_lower *l, struct bar *bar)
{
    uint32_t last = l->instruction->operand_count - 1u;
    unsigned bits = bar->reduction == REDUCE_POPC ? 32 : 1;
    emu_slot d, a, b = EMU_NO_SLOT, c;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), PTX_U32, &a) ||
        (last == 3 && !emu_lower_source(l, emu_lower_operand(l, 2), PTX_U32, &b)) ||
        !emu_lower_predicate(l, emu_lower_operand(l, last), &c, &bar->negated) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), bits, &d))
        return false;
    for (int i = 0; i < 2; i++) {
        struct emu_op *op = emu_lower_add(l, i == 0 ? op_bar : op_bar_result);

        op->d = d;
        op->a = a;
        op->b = b;
        op->c = c;
        op->detail = bar;
    }
    return true;
}

static enum emu_result op_warp_sync(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    return emu_warp_sync(warp, op, emu_lanes32(warp, op->a)[__builtin_ctz(mask)]);
}

static bool lower_warp_sync(struct emu_lower *l)
{
    emu_slot a;

    if (!emu_lower_source(l, emu_lower_operand(l, 0), PTX_U32, &a))
        return false;
    emu_lower_add(l, op_warp_sync)->a = a;
    return true;
}

static bool cluster_is_complete(const struct emu_warp *warp, const struct emu_group *group)
{
    return warp->cta->cluster->arrived_phase != group->wait.value[0];
}

static void describe_cluster(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct emu_cluster *cluster = warp->cta->cluster;
    char place[256];

    (void)group;
    buffer_printf(out, "the cluster barrier: %u of %u threads arrived", cluster->arrived, cluster->live_threads);
    if (cluster->arrived)
        buffer_printf(out, ", last warp %u of CTA %u of the cluster at %s", cluster->last_warp, cluster->last_cta,
                      emu_place(emu_grid_of(warp)->program, cluster->last_op, place, sizeof place));
}

static const struct emu_wait_class wait_cluster = {
    .name = "cluster barrier", .ready = cluster_is_complete, .describe = describe_cluster};

static void complete_cluster(struct emu_cluster *cluster)
{
    if (cluster->arrived >= cluster->live_threads && cluster->arrived) {
        hazard_cluster_complete(cluster);
        for (uint32_t rank = 0; cluster->hazards && rank < cluster->cta_count; rank++)
            tell_waiting(&cluster->ctas[rank], &wait_cluster, NULL);
        cluster->arrived = 0;
        cluster->arrived_phase++;
    }
}

/* `immediate`: aligned */
static enum emu_result op_cluster_arrive(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    enum emu_result result = EMU_CONTINUE;

    if (op->immediate && !emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    EMU_FOR_MASK(lane, mask)
    warp->cluster_phase[lane] = cluster->arrived_phase;
    cluster->arrived += (uint32_t)__builtin_popcount(mask);
    cluster->last_op = (uint32_t)(op - emu_grid_of(warp)->program->ops);
    cluster->last_warp = warp->index;
    cluster->last_cta = warp->cta->rank;
    hazard_cluster_arrive(warp);
    emu_progress(warp);
    complete_cluster(cluster);
    return EMU_CONTINUE;
}

static enum emu_result op_cluster_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    enum emu_result result = EMU_CONTINUE;
    uint64_t phase = warp->cluster_phase[__builtin_ctz(mask)];

    if (op->immediate && !emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    if (warp->cta->cluster->arrived_phase != phase) {
        hazard_cluster_acquire(warp);
        return EMU_CONTINUE;
    }
    return emu_wait(warp, &wait_cluster, NULL, phase, 0);
}

void emu_barrier_lanes_exit(struct emu_warp *warp)
{
    struct emu_cta *cta = warp->cta;

    complete_cluster(cta->cluster);
    if (!cta->live_threads)
        hazard_cta_exit(cta);
    for (uint32_t i = 0; i < EMU_BARRIERS && !warp->live; i++) {
        struct emu_barrier *barrier = &cta->barriers[i];

        if (barrier->arrived && !barrier->expected && barrier->arrived >= expected_threads(cta, barrier))
            complete(cta, barrier);
    }
}

static bool lower_cluster(struct emu_lower *l)
{
    bool wait = emu_lower_has(l, PTX_M_WAIT);

    emu_lower_add(l, wait ? op_cluster_wait : op_cluster_arrive)->immediate = emu_lower_has(l, PTX_M_ALIGNED);
    return true;
}

bool emu_lower_bar(struct emu_lower *l)
{
    struct bar *bar = emu_lower_detail(l, sizeof *bar);
    emu_slot a, b = EMU_NO_SLOT;

    if (emu_lower_has(l, PTX_M_CLUSTER))
        return lower_cluster(l);
    if (emu_lower_has(l, PTX_M_WARP))
        return lower_warp_sync(l);
    bar->action = emu_lower_has(l, PTX_M_RED)      ? ACTION_REDUCE
                  : emu_lower_has(l, PTX_M_ARRIVE) ? ACTION_ARRIVE
                                                   : ACTION_SYNC;
    bar->aligned = l->instruction->opcode == PTX_OP_BAR || emu_lower_has(l, PTX_M_ALIGNED);
    bar->reduction = reduction_of(l);
    if (bar->action == ACTION_REDUCE)
        return lower_reduce(l, bar);
    if (!emu_lower_source(l, emu_lower_operand(l, 0), PTX_U32, &a) ||
        (l->instruction->operand_count > 1 && !emu_lower_source(l, emu_lower_operand(l, 1), PTX_U32, &b)))
        return false;

    struct emu_op *op = emu_lower_add(l, op_bar);

    op->a = a;
    op->b = b;
    op->detail = bar;
    return true;
}
