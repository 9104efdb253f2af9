/*
 * Registers of wgmma: whether they are touched while a product is in flight, written without wgmma.fence, or never
 * written at all.
 *
 * The accumulators and A registers of a program are numbered when it is lowered. Operations that touch one of them run
 * behind a check; all others cost nothing. The rules look at what the warp has waited for, not at what has landed, so
 * they hold in every schedule. Source: PTX ISA, wgmma.fence, wgmma.wait_group ("Accessing the registers ...").
 */
#ifndef PTXBENCH_EMU_HAZARD_REGISTERS_H
#define PTXBENCH_EMU_HAZARD_REGISTERS_H

#include "emu/lower.h"

/* The watched registers of an operation, by number. */
struct emu_watch {
    emu_handler *run;                 /* of the operation itself; NULL: a wgmma, which calls hazard_registers_product */
    uint16_t write_count, read_count; /* a wgmma: accumulators, A registers */
    bool in_order;                    /* a wgmma without A registers: the numbers follow one another */
    const uint16_t *registers;        /* written ones, then those read */
};

/* Numbers the registers of the function that has just been lowered and puts the checks in place. */
void hazard_registers_watch(struct emu_lower *l);

/* A wgmma that the warp issues as its product number `index`. `zero_d`: scale-d is 0. */
void hazard_registers_product(struct emu_warp *warp, const struct emu_op *op, uint64_t index, bool zero_d);

void hazard_registers_fence(struct emu_warp *warp);                /* wgmma.fence */
void hazard_registers_wait(struct emu_warp *warp, uint64_t count); /* the first `count` products are complete */
void hazard_registers_free(struct emu_warp *warp);

#endif
