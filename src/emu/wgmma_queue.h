/*
 * wgmma.mma_async of a warpgroup: its four warps issue their parts one after another, the product lands when all have
 * and the schedule says so. Products of a warpgroup land in order of issue.
 *
 * While products are in flight their accumulators live here, as 64 rows; the registers get them back when the last one
 * has landed. Under schedules other than "as soon as possible" the registers hold NaN meanwhile. Accumulators stay here
 * between two instructions that nothing can come between (chained), which saves most of the moves.
 */
#ifndef PTXBENCH_EMU_WGMMA_QUEUE_H
#define PTXBENCH_EMU_WGMMA_QUEUE_H

#include "emu/machine.h"
#include "emu/number_format.h"
#include "emu/smem_layout.h"

enum { WGMMA_WARPS = 4, WGMMA_M = 64, WGMMA_N_MAX = 256, WGMMA_ACCUMULATORS = 8, WGMMA_CHECKS = 1024 };

enum wgmma_result { WGMMA_F32, WGMMA_F16, WGMMA_S32 };

/* An instruction, as lowered. */
struct wgmma_detail {
    int n, k;
    enum wgmma_result result;
    enum number_format a_format, b_format;
    bool a_in_registers;
    bool a_mn_major, b_mn_major;
    bool negate_a, negate_b;
    bool saturate;
    bool chained; /* the next wgmma goes on with the same accumulators, and nothing in between touches them */
    bool scale_negated;
    emu_slot scale_d; /* predicate: false zeroes the accumulators */
    emu_slot a[4];    /* registers of A, or the descriptor in a[0] */
    emu_slot b;       /* descriptor */
    uint32_t d_count;
    const emu_slot *d;
    const emu_slot *sorted_d; /* the same, ascending */
};

struct wgmma_accumulators {
    bool active;
    const struct wgmma_detail *detail; /* whose registers they are */
    uint8_t *frame[WGMMA_WARPS];       /* registers of each warp */
    uint32_t loaded;                   /* warps whose part is here */
    uint32_t pending;                  /* products in flight */
    void *rows;                        /* 64 x n floats, int32 or f16; owned */
};

struct wgmma_product;

struct async_warpgroup {
    struct emu_cta *cta;
    uint32_t index; /* in the CTA */
    uint64_t created, landed;
    struct wgmma_product *head; /* that some warps have not issued yet, in order */
    struct wgmma_accumulators accumulators[WGMMA_ACCUMULATORS];
    struct wgmma_checked {
        uint64_t hash;
        uint32_t end;        /* smem_operand_end */
    } checked[WGMMA_CHECKS]; /* operands whose layout has been checked */
};

void async_warpgroup_free(struct async_warpgroup *group); /* accepts NULL */

/* The warpgroup of a warp; NULL after a finding when the CTA has no four warps for it. */
struct async_warpgroup *async_warpgroup_of(struct emu_warp *warp, const struct emu_op *op);

/* The warp's part of a product. EMU_BLOCKED: its accumulators are still in use by products of another shape. */
enum emu_result wgmma_issue(struct async_warpgroup *group, struct emu_warp *warp, const struct emu_op *op,
                            uint32_t mask);

/* Which warps the oldest product that is not complete still needs; 0: none. */
uint32_t wgmma_missing_warps(const struct async_warpgroup *group);

/* wgmma_multiply.c: D = A * B + D on the rows of the accumulators. False after a finding. */
bool wgmma_multiply(const struct wgmma_product *product, void *rows);

struct wgmma_product {
    struct emu_async_op async;
    struct async_warpgroup *group;
    const struct wgmma_detail *detail;
    struct wgmma_accumulators *accumulators;
    struct wgmma_product *next;
    uint64_t index;
    uint32_t warps; /* that have issued it */
    uint64_t a_descriptor, b_descriptor;
    bool zero_d;
    uint32_t a[WGMMA_WARPS][4][EMU_LANES];
};

#endif
