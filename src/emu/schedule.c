/*
 * Which warp runs when. The warps of a cluster take turns; clusters run one after another. A cluster that does nothing but
 * poll, or waits for nothing of its own, gets company: more clusters become resident, as many as fit on the device.
 */
#include <inttypes.h>

#include "base/splitmix.h"
#include "emu/groups.h"
#include "emu/hazard.h"
#include "emu/hazard_coverage.h"
#include "emu/machine_new.h"

enum {
    QUANTUM_MAX = 100000, /* instructions of a warp that never blocks */
    IDLE_ROUNDS = 4,      /* of polling alone before something pending is made to happen */
    STUCK_ROUNDS = 64,    /* of the whole grid without any progress: nothing will happen any more */
    SLICE = 16 << 20,     /* instructions of a cluster before others are looked after */
    SM_THREADS = 2048,    /* limits of a multiprocessor, compute capability 9.0 and 10.0 */
    SM_SHARED_BYTES = 228 << 10,
    SM_CTAS = 32
};

enum cluster_state {
    CLUSTER_DONE,
    CLUSTER_BUSY, /* made progress; its slice is over */
    CLUSTER_IDLE, /* polls or waits, and nothing of its own is pending */
    CLUSTER_FAULT
};

static uint64_t quantum_of(struct emu_grid *grid)
{
    if (grid->schedule.quantum)
        return grid->schedule.quantum;
    if (grid->schedule.completion == 2)
        return 1 + splitmix_next(&grid->random) % 256;
    return QUANTUM_MAX;
}

/* One turn of every warp. */
struct round {
    bool alive;  /* some warp has not exited */
    bool ran;    /* some warp could run */
    bool worked; /* some warp did more than polling */
    bool faulted;
};

static void run_cta(struct emu_cta *cta, struct round *round)
{
    struct emu_grid *grid = cta->cluster->grid;

    for (uint32_t i = 0; i < cta->warp_count && !round->faulted; i++) {
        struct emu_warp *warp = &cta->warps[grid->schedule.reverse_warps ? cta->warp_count - 1 - i : i];
        uint64_t before = grid->instructions;
        enum emu_run run;

        if (!warp->group_count)
            continue;
        run = emu_warp_run(warp, quantum_of(grid));
        round->faulted = run == EMU_RUN_FAULT;
        round->alive |= run != EMU_RUN_EXITED;
        if (grid->instructions == before)
            continue;
        round->ran = true;
        round->worked |= !emu_warp_is_polling(warp);

        enum emu_result landed = EMU_CONTINUE;

        if (emu_async_step(cta->cluster, false, &landed))
            round->worked = true;
        round->faulted |= landed == EMU_FAULT;
    }
}

static bool time_out_one(struct emu_cluster *cluster)
{
    bool any = false;

    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        struct emu_cta *cta = &cluster->ctas[rank];

        for (uint32_t i = 0; i < cta->warp_count; i++)
            any |= emu_warp_time_out(&cta->warps[i]);
    }
    return any;
}

/* Makes something happen that the warps do not do themselves: false when there is nothing. */
static bool force_pending(struct emu_cluster *cluster, bool *faulted)
{
    enum emu_result result = EMU_CONTINUE;

    if (!emu_async_step(cluster, true, &result))
        return false;
    *faulted = result == EMU_FAULT;
    return true;
}

/* What is pending when the last thread exits still happens: stores that nobody waits for. */
static bool land_rest(struct emu_cluster *cluster)
{
    bool faulted = false;

    while (!faulted && force_pending(cluster, &faulted))
        ;
    return !faulted;
}

static enum cluster_state run_cluster(struct emu_cluster *cluster)
{
    struct emu_grid *grid = cluster->grid;
    uint32_t idle_rounds = 0;
    bool timed_out = false;

    cluster->instructions = 0;
    while (cluster->instructions < SLICE) {
        struct round round = {0};
        uint64_t progress = grid->progress;

        for (uint32_t rank = 0; rank < cluster->cta_count && !round.faulted; rank++)
            run_cta(&cluster->ctas[rank], &round);
        if (round.faulted)
            return CLUSTER_FAULT;
        if (!round.alive) {
            if (!land_rest(cluster))
                return CLUSTER_FAULT;
            hazard_cluster_end(cluster);
            return CLUSTER_DONE;
        }
        if (grid->instructions > grid->budget)
            return CLUSTER_BUSY;
        if (grid->progress != progress)
            timed_out = false;
        if (grid->progress != progress || round.worked) {
            idle_rounds = 0;
            continue;
        }
        if (round.ran && ++idle_rounds < IDLE_ROUNDS)
            continue;
        idle_rounds = 0;
        if (force_pending(cluster, &round.faulted)) {
            if (round.faulted)
                return CLUSTER_FAULT;
            timed_out = false;
            continue;
        }
        if (timed_out || !time_out_one(cluster))
            return CLUSTER_IDLE;
        timed_out = true;
    }
    return grid->progress == cluster->progress_seen ? CLUSTER_IDLE : CLUSTER_BUSY;
}

/* How many clusters can be on the device together. */
static uint64_t resident_limit(const struct emu_grid *grid)
{
    const struct emulator_launch *launch = grid->launch;
    uint32_t threads = (launch->block[0] * launch->block[1] * launch->block[2] + 31) & ~31u;
    uint32_t per_sm = SM_THREADS / threads;
    uint64_t clusters;

    if (per_sm > SM_SHARED_BYTES / grid->shared_bytes)
        per_sm = SM_SHARED_BYTES / grid->shared_bytes;
    if (per_sm > SM_CTAS)
        per_sm = SM_CTAS;
    clusters = (uint64_t)per_sm * (uint64_t)emulator_properties(grid->emulator)->multiprocessors / grid->cluster_ctas;
    return clusters ? clusters : 1;
}

struct queue {
    struct emu_grid *grid;
    uint64_t next, count; /* clusters that have not started */
    uint64_t resident, limit;
    struct emu_cluster **tail;
};

static bool admit(struct queue *queue)
{
    struct emu_grid *grid = queue->grid;
    uint64_t index = grid->launch->sample ? grid->launch->sample[queue->next] : queue->next;
    struct emu_cluster *cluster = emu_cluster_new(grid, index);

    if (!cluster)
        return false;
    *queue->tail = cluster;
    queue->tail = &cluster->next;
    queue->next++;
    queue->resident++;
    grid->progress++;
    return true;
}

/* Twice as many as before, so that a grid of many clusters is not looked through once for each of them. */
static bool admit_more(struct queue *queue)
{
    for (uint64_t more = queue->resident; more; more--) {
        if (queue->next == queue->count || queue->resident == queue->limit)
            break;
        if (!admit(queue))
            return false;
    }
    return true;
}

/* Unlinks and frees a cluster; returns the link to the one behind. */
static void retire(struct queue *queue, struct emu_cluster **link)
{
    struct emu_cluster *cluster = *link;

    *link = cluster->next;
    if (!*link)
        queue->tail = link;
    queue->resident--;
    queue->grid->progress++;
    emu_cluster_free(cluster);
}

struct sweep {
    bool faulted;
    bool busy;   /* some cluster made progress */
    bool polled; /* some warp ran */
};

static void run_resident(struct queue *queue, struct emulator_report *report, struct sweep *sweep)
{
    struct emu_grid *grid = queue->grid;
    struct emu_cluster **link = &grid->resident;

    while (*link && grid->instructions <= grid->budget && !sweep->faulted) {
        struct emu_cluster *cluster = *link;
        uint64_t before = grid->instructions;
        enum cluster_state state;

        cluster->progress_seen = grid->progress;
        state = run_cluster(cluster);
        sweep->faulted = state == CLUSTER_FAULT;
        sweep->busy |= state == CLUSTER_BUSY || state == CLUSTER_DONE || grid->progress != cluster->progress_seen;
        sweep->polled |= grid->instructions != before;
        if (state == CLUSTER_DONE) {
            report->clusters_run++;
            retire(queue, link);
        } else {
            link = &cluster->next;
        }
    }
}

/* Whether a sample has taken as much work as it may. */
static bool is_enough(const struct queue *queue)
{
    enum { MATRIX_WORK_OF_INSTRUCTION = 600 }; /* what the emulator does in the time of a warp instruction */
    const struct emu_grid *grid = queue->grid;
    struct target_counts counts = {0};

    if (!grid->launch->sample || !grid->launch->sample_work || !queue->next)
        return false;
    for (uint32_t i = 0; i < grid->program->op_count; i++) {
        const struct emu_op *op = &grid->program->ops[i];
        if (op->first && grid->op_executions[i])
            target_count_add(&counts, grid->program->functions[op->function].ptx, emu_op_ptx(grid->program, op),
                             grid->op_executions[i]);
    }
    uint64_t matrix = (counts.matrix_work + counts.legacy_work) / MATRIX_WORK_OF_INSTRUCTION;
    return grid->instructions + matrix >= grid->launch->sample_work;
}

static bool run_queue(struct queue *queue, struct emulator_report *report)
{
    struct emu_grid *grid = queue->grid;
    uint32_t stuck = 0;

    while (queue->resident || queue->next < queue->count) {
        struct sweep sweep = {0};

        if (!queue->resident && is_enough(queue))
            break;
        if (!queue->resident && !admit(queue))
            return false;
        run_resident(queue, report, &sweep);
        if (sweep.faulted) {
            report->outcome = EMULATOR_FAULTED;
            return true;
        }
        if (grid->instructions > grid->budget) {
            emu_report_budget(grid);
            report->outcome = EMULATOR_OUT_OF_BUDGET;
            return true;
        }
        if (sweep.busy) {
            stuck = 0;
            continue;
        }
        if (queue->next < queue->count && queue->resident < queue->limit) {
            if (!admit_more(queue))
                return false;
            stuck = 0;
            continue;
        }
        if (sweep.polled && ++stuck < STUCK_ROUNDS)
            continue;
        emu_report_deadlock(grid, sweep.polled);
        if (sweep.polled)
            emu_memory_assume_missing(grid->memory);
        report->outcome = EMULATOR_DEADLOCKED;
        return true;
    }
    report->outcome = EMULATOR_COMPLETED;
    return true;
}

bool emu_grid_run(struct emu_grid *grid, struct emulator_report *report)
{
    const struct emulator_launch *launch = grid->launch;
    uint64_t total = 1;
    struct queue queue = {.grid = grid, .limit = resident_limit(grid), .tail = &grid->resident};

    for (int axis = 0; axis < 3; axis++)
        total *= launch->grid[axis] / launch->cluster[axis];
    queue.count = launch->sample ? launch->sample_count : total;
    grid->random = grid->schedule.seed;

    bool ok = run_queue(&queue, report);

    if (ok && report->outcome == EMULATOR_COMPLETED)
        hazard_coverage_end(grid);
    hazard_coverage_free(grid);

    while (grid->resident)
        retire(&queue, &grid->resident);
    return ok;
}
