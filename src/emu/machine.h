/*
 * The state of a running grid: clusters of CTAs, CTAs of warps, warps of groups of lanes that are at the same place.
 *
 * Registers are arrays of 32 lanes: uint32_t[32] for types of up to 32 bits (narrower ones zero-extended), uint64_t[32]
 * for 64 bits; a predicate is one uint32_t with a bit per lane. An operand is an `emu_slot`: one of four bases in the two
 * low bits, a byte offset in the rest. So handlers see pointers to lanes, whether a value is a register, an immediate
 * or a special register.
 *
 * A handler runs one instruction for the lanes of `mask` (never 0; the guard has been applied). It must leave the lanes
 * outside of it as they are. A launch runs on one thread.
 */
#ifndef PTXBENCH_EMU_MACHINE_H
#define PTXBENCH_EMU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "emu/address_space.h"
#include "emu/emulator.h"
#include "emu/program.h"

struct emu_warp;
struct emu_cta;
struct emu_cluster;
struct emu_grid;
struct emu_group;

/* What a group of lanes waits for. `ready` is asked again and again; it must not change anything. */
struct emu_wait_class {
    const char *name; /* "named barrier" */
    bool (*ready)(const struct emu_warp *warp, const struct emu_group *group);
    /* Completes "warp 3 waits for ": object, counts, the last arrival. One line. */
    void (*describe)(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out);
    /* How likely this wait is the cause when nothing goes on, 1 to 3; NULL: 1. */
    uint32_t (*suspicion)(const struct emu_warp *warp, const struct emu_group *group);
    bool retry;        /* the instruction runs again when the wait is over; else it is complete */
    bool may_time_out; /* mbarrier.try_wait: with nothing left to do the instruction is retried with timed_out set */
    bool merges;       /* waits for other lanes of the warp: groups at the same place join, and the wait is over */
};

struct emu_wait {
    const struct emu_wait_class *class; /* NULL: the group can run */
    void *object;
    uint64_t value[2];
};

/* The registers and call parameters of one activation of a function. */
struct emu_frame {
    struct emu_frame *parent;
    const struct emu_function *function;
    uint32_t return_pc;
    uint32_t depth;
    uint32_t lanes;      /* that have not returned yet */
    uint32_t local_base; /* byte offset of its variables in the local memory of each thread */
    uint8_t *registers;
    uint8_t *parameters;          /* [32][function->parameter_bytes] */
    struct emu_frame *next_owned; /* all frames of the warp */
};

struct emu_group {
    uint32_t pc; /* index into program->ops */
    uint32_t mask;
    struct emu_frame *frame;
    struct emu_wait wait;
    bool timed_out;    /* see emu_wait_class */
    uint32_t patience; /* backward branches since another group of the warp ran */
};

/* Rows of struct emu_warp.special and emu_cta.special, in order of the lowering's table (program_specials.c). */
enum emu_warp_special {
    EMU_WARP_TID_X,
    EMU_WARP_TID_Y,
    EMU_WARP_TID_Z,
    EMU_WARP_LANEID,
    EMU_WARP_LANEMASK_EQ,
    EMU_WARP_LANEMASK_LE,
    EMU_WARP_LANEMASK_LT,
    EMU_WARP_LANEMASK_GE,
    EMU_WARP_LANEMASK_GT,
    EMU_WARP_WARPID,
    EMU_WARP_SPECIALS
};
enum emu_cta_special {
    EMU_CTA_NTID_X,
    EMU_CTA_NTID_Y,
    EMU_CTA_NTID_Z,
    EMU_CTA_CTAID_X,
    EMU_CTA_CTAID_Y,
    EMU_CTA_CTAID_Z,
    EMU_CTA_NCTAID_X,
    EMU_CTA_NCTAID_Y,
    EMU_CTA_NCTAID_Z,
    EMU_CTA_CLUSTERID_X,
    EMU_CTA_CLUSTERID_Y,
    EMU_CTA_CLUSTERID_Z,
    EMU_CTA_NCLUSTERID_X,
    EMU_CTA_NCLUSTERID_Y,
    EMU_CTA_NCLUSTERID_Z,
    EMU_CTA_CLUSTER_CTAID_X,
    EMU_CTA_CLUSTER_CTAID_Y,
    EMU_CTA_CLUSTER_CTAID_Z,
    EMU_CTA_CLUSTER_NCTAID_X,
    EMU_CTA_CLUSTER_NCTAID_Y,
    EMU_CTA_CLUSTER_NCTAID_Z,
    EMU_CTA_CLUSTER_CTARANK,
    EMU_CTA_CLUSTER_NCTARANK,
    EMU_CTA_NWARPID,
    EMU_CTA_SMID,
    EMU_CTA_NSMID,
    EMU_CTA_TOTAL_SMEM,
    EMU_CTA_DYNAMIC_SMEM,
    EMU_CTA_ZERO, /* what the emulator has no value for: %gridid, %envreg */
    EMU_CTA_SPECIALS
};

struct emu_warp {
    uint8_t *base[4]; /* by enum emu_base, of the running group */
    struct emu_group *current;
    struct emu_cta *cta;
    uint32_t index;       /* in the CTA */
    uint32_t first_lanes; /* lanes that exist: all but in the last warp */
    uint32_t live;        /* lanes that have not exited */
    uint32_t group_count;
    struct emu_group groups[EMU_LANES];
    uint32_t polls;                    /* reads of memory that others may write, since the warp last changed anything */
    size_t hint;                       /* of emu_memory_check */
    uint64_t window_low, window_bytes; /* the allocation that was accessed last; bytes 0: none */
    bool window_read, window_written;  /* the warp has read (written) there since the window moved */
    uint8_t *local;                    /* [32][local_bytes] */
    uint32_t local_bytes;
    struct emu_frame *entry_frame;
    struct emu_frame *spare_frames; /* of calls that have returned, linked by `parent` */
    struct emu_frame *frames;       /* all of them, linked by `next_owned` */
    void *async_state;              /* of the asynchronous instructions; NULL until used; freed with the warp */
    void (*async_state_free)(void *state);
    void *copy_state;                   /* of cp.async; NULL until used; freed with the warp */
    struct hazard_registers *registers; /* of wgmma in flight; NULL until used; freed with the warp */
    uint32_t carry;                     /* CC.CF of each lane */
    uint64_t cluster_phase[EMU_LANES];  /* of barrier.cluster, that the lane last arrived at */
    uint32_t special[EMU_WARP_SPECIALS][EMU_LANES];
};

/* bar.* and barrier.cta.*: threads are counted in warps, as the hardware does. */
struct emu_barrier {
    uint32_t expected; /* threads; 0: none has arrived */
    uint32_t arrived;
    uint64_t phase;                      /* completed ones */
    uint32_t count, reduced;             /* bar.red: true predicates and all of them, being collected */
    uint32_t result_count, result_total; /* likewise, of the last complete phase */
    uint32_t last_op;                    /* index of the op of the last arrival */
    uint32_t last_warp;
};

struct emu_cta {
    struct emu_cluster *cluster;
    uint32_t rank; /* in the cluster */
    uint32_t id[3];
    struct emu_warp *warps;
    uint32_t warp_count;
    uint32_t threads;
    uint32_t live_threads; /* that have not exited */
    /* Shared memory from address 0: bytes below EMU_SHARED_RESERVED belong to the system. */
    uint8_t *shared;
    uint64_t *shared_written; /* a bit for each byte */
    uint32_t shared_bytes;    /* end of the last valid byte */
    struct emu_barrier barriers[EMU_BARRIERS];
    void *async_state; /* as of the warp: mbarriers, tags, tensor memory */
    void (*async_state_free)(void *state);
    uint32_t special[EMU_CTA_SPECIALS][EMU_LANES];
};

/*
 * An operation that completes later than its instruction: a bulk or tensor copy, a tensor-core product. Its memory belongs to the
 * class, which embeds this struct. The queue lands them as the schedule wants, and always when no warp can run.
 */
struct emu_async_op;
struct emu_async_class {
    const char *name; /* "tensor copy" */
    /* Whether it may land now: what must complete before it (operations of one group, say) has done so. */
    bool (*ready)(const struct emu_cluster *cluster, const struct emu_async_op *op);
    /* Does its work, and its arrivals. EMU_CONTINUE or EMU_FAULT. */
    enum emu_result (*land)(struct emu_cluster *cluster, struct emu_async_op *op);
    void (*describe)(const struct emu_async_op *op, struct buffer *out);
    void (*release)(struct emu_async_op *op); /* frees it, landed or not */
};

struct emu_async_op {
    const struct emu_async_class *class;
    struct emu_async_op *next;
    struct emu_warp *warp; /* that issued it */
    const struct emu_op *op;
    uint64_t sequence; /* order of issue in the grid */
};

struct emu_cluster {
    struct emu_grid *grid;
    uint64_t index; /* linear, in the grid */
    uint32_t id[3];
    struct emu_cta *ctas;
    uint32_t cta_count;
    struct emu_async_op *async_head, **async_tail; /* in order of issue */
    uint32_t async_count;
    uint32_t arrived;       /* barrier.cluster: threads */
    uint64_t arrived_phase; /* completed phases */
    uint32_t live_threads;
    uint32_t last_op, last_warp, last_cta; /* last arrival at barrier.cluster */
    struct hazards *hazards;               /* hazard.h; NULL: nobody looks for hazards */
    struct emu_cluster *next;              /* resident ones */
    uint64_t instructions;                 /* since it was last scheduled */
    uint64_t progress_seen;                /* grid->progress then */
};

struct emu_grid {
    struct emulator *emulator;
    struct emu_memory *memory;
    struct emu_findings *findings;
    const struct emu_program *program;
    const struct emulator_launch *launch;
    struct emulator_schedule schedule;
    const struct emu_space *space;
    uint8_t *parameters; /* the entry's, registered as read-only memory during the launch */
    uint32_t parameter_bytes;
    uint32_t dynamic_base; /* shared offset */
    uint32_t shared_bytes; /* end of shared memory of each CTA */
    uint32_t cluster_ctas;
    struct emu_cluster *resident;
    uint64_t instructions, budget;
    uint64_t async_sequence;
    uint64_t progress; /* counts everything that may let somebody else go on: stores, arrivals, exits, landings */
    uint64_t random;
    struct hazard_coverage *coverage;                              /* of tensors by copies (hazard_coverage.h) */
    uint64_t clock_reads;                                          /* they make clocks advance within a quantum */
    uint64_t *op_executions;                                       /* [program->op_count] */
    void (*print)(void *context, const char *text, size_t length); /* vprintf; NULL: dropped */
    void *print_context;
};

/* Lanes of an operand for the running group. */
static inline uint8_t *emu_lanes(const struct emu_warp *warp, emu_slot slot)
{
    return warp->base[slot & 3] + (slot & ~UINT32_C(3));
}
static inline uint32_t *emu_lanes32(const struct emu_warp *warp, emu_slot slot)
{
    return (uint32_t *)(void *)emu_lanes(warp, slot);
}
static inline uint64_t *emu_lanes64(const struct emu_warp *warp, emu_slot slot)
{
    return (uint64_t *)(void *)emu_lanes(warp, slot);
}
static inline uint32_t emu_predicate(const struct emu_warp *warp, emu_slot slot)
{
    return *emu_lanes32(warp, slot);
}
/* Sets the bits of `mask` in a predicate; EMU_NO_SLOT: nothing. */
static inline void emu_set_predicate(const struct emu_warp *warp, emu_slot slot, uint32_t value, uint32_t mask)
{
    if (slot != EMU_NO_SLOT) {
        uint32_t *bits = emu_lanes32(warp, slot);

        *bits = (*bits & ~mask) | (value & mask);
    }
}
static inline struct emu_grid *emu_grid_of(const struct emu_warp *warp)
{
    return warp->cta->cluster->grid;
}

/* Address of each lane for the running group. Shared ones: offset | rank << 24. */
void emu_address_lanes(const struct emu_warp *warp, const struct emu_address *address, uint64_t out[EMU_LANES]);

/* Blocks the running group. Returns EMU_BLOCKED. */
enum emu_result emu_wait(struct emu_warp *warp, const struct emu_wait_class *class, void *object, uint64_t value0,
                         uint64_t value1);

/* For instructions that need lanes `members` of the warp together (those that exited do not count): true when they are.
 * Else `*result` is what the handler returns: EMU_BLOCKED until the others come, EMU_FAULT when they cannot. */
bool emu_converged(struct emu_warp *warp, const struct emu_op *op, uint32_t members, enum emu_result *result);

/* bar.warp.sync: lanes may arrive at different ones with the same mask, as on every device from sm_70 on. */
enum emu_result emu_warp_sync(struct emu_warp *warp, const struct emu_op *op, uint32_t members);

/* Adds a finding for a lane (-1: none) of the running group at `op`. Returns EMU_FAULT for class error, else EMU_CONTINUE. */
enum emu_result emu_report(struct emu_warp *warp, const struct emu_op *op, int lane, enum emu_code code,
                           const char *format, ...) PRINTF_LIKE(5, 6);

/* "kernel.cu:12 (inlined at :40, :71)" or "PTX line 40" of an op; text in `out`. Returns `out`. */
const char *emu_place(const struct emu_program *program, uint32_t op_index, char *out, size_t size);

/*
 * Memory. Each returns the host bytes of an access of one lane, or NULL when a finding has been added (class error).
 * Alignment is checked against `align` (a power of two).
 *
 * emu_shared_bytes: `address` in the shared window (offset | rank << 24). `any_cta`: shared::cluster, else it must be the
 * CTA's own. `owner` (may be NULL): whose it is. A write marks the bytes as written; a read of bytes that nobody has
 * written adds a hazard.
 */
uint8_t *emu_shared_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                          uint32_t align, bool write, bool any_cta, struct emu_cta **owner);
uint8_t *emu_global_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                          uint32_t align, bool write);
uint8_t *emu_local_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                         uint32_t align);
/* Generic address: global, or the shared and local windows. */
uint8_t *emu_generic_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                           uint32_t align, bool write);

/* Whether [offset, offset + bytes) of a CTA's shared memory has been written; and marks it so. */
bool emu_shared_is_written(const struct emu_cta *cta, uint32_t offset, uint32_t bytes);
void emu_shared_mark(struct emu_cta *cta, uint32_t offset, uint32_t bytes);

/* Queues an operation (takes it); sets its sequence. Lands it at once under the schedule "as soon as possible". */
enum emu_result emu_async_submit(struct emu_cluster *cluster, struct emu_async_op *op);

/* Lands one operation if the schedule or `force` wants: false when none could. `*result` EMU_FAULT ends the grid. */
bool emu_async_step(struct emu_cluster *cluster, bool force, enum emu_result *result);

/* Something happened that others may wait for. */
static inline void emu_progress(struct emu_warp *warp)
{
    emu_grid_of(warp)->progress++;
    warp->polls = 0;
}

/* A poll that saw nothing new: EMU_CONTINUE, or EMU_YIELD when the warp has done little else for long. */
enum emu_result emu_poll(struct emu_warp *warp);

#endif
