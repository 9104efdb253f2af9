/*
 * The mbarriers of a CTA: their state and what a report says about them, by shared offset. The eight bytes in shared
 * memory only mirror the state, so that stores over them are noticed.
 *
 * Objects never move, so that a wait may point to one. Operations are done on behalf of a warp at an op, also when a
 * copy lands long after its instruction; they add findings and return EMU_CONTINUE or EMU_FAULT.
 */
#ifndef PTXBENCH_EMU_MBARRIER_TABLE_H
#define PTXBENCH_EMU_MBARRIER_TABLE_H

#include "emu/machine.h"
#include "emu/mbarrier.h"

struct emu_mbarrier {
    struct mbarrier state;
    uint32_t offset;
    bool live;        /* initialised and not invalidated */
    uint32_t last_op; /* of the last arrival; EMU_NO_OP: none */
    uint32_t last_warp, last_cta;
    uint32_t last_bytes_op;   /* of the last complete_tx; EMU_NO_OP: none */
    struct hazard_sync *sync; /* hazard.h; owned; NULL: nobody looks for hazards */
};
#define EMU_NO_OP UINT32_MAX

struct mbarrier_table {
    struct emu_mbarrier **slots; /* open addressing by offset */
    uint32_t size, count;
};

void mbarrier_table_clear(struct mbarrier_table *table);

/* Who does something to a barrier. */
struct emu_actor {
    struct emu_warp *warp;
    const struct emu_op *op;
    int lane; /* -1: none */
};

/* The live barrier at an offset of a CTA, or NULL after a finding: not initialised, invalidated, overwritten. `what`
 * the actor wants to do: "arrive". */
struct emu_mbarrier *emu_mbarrier_at(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                     const char *what);

enum emu_result emu_mbarrier_init(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset, uint32_t count);
enum emu_result emu_mbarrier_invalidate(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset);
/* `token` (may be NULL): of the state before the arrival. */
enum emu_result emu_mbarrier_arrive(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset, uint32_t count,
                                    bool drop, uint64_t *token);
enum emu_result emu_mbarrier_expect_tx(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                       uint32_t bytes);
enum emu_result emu_mbarrier_complete_tx(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                         uint32_t bytes);
enum emu_result emu_mbarrier_add_pending(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset);

/* "mbarrier at shared+0x1c400 of CTA 1: phase 3, pending arrivals 1 of 2, tx-count 128 bytes outstanding, last arrival
 * at gemm.cu:17 by warp 0". */
void emu_mbarrier_describe(const struct emu_cta *cta, const struct emu_mbarrier *barrier, struct buffer *out);

/* The CTA and the offset of an address in the shared window, or in the generic one when `generic`. NULL after a
 * finding. `what` the address is for: "mbarrier". */
struct emu_cta *emu_async_locate(const struct emu_actor *actor, uint64_t address, bool generic, bool any_cta,
                                 uint32_t bytes, uint32_t align, const char *what, uint32_t *offset);

#endif
