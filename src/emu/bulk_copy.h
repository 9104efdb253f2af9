/*
 * Bulk copies as asynchronous operations: one end is read into a buffer, the other end is written from it.
 *
 * A copy into shared memory does both when it lands and tells an mbarrier of each destination CTA. A copy out of shared
 * memory belongs to the bulk groups of its warp and lands in two steps: after the first its source may be reused
 * (.read), after the second its result is visible. Copies of one warp do each step in order of issue.
 */
#ifndef PTXBENCH_EMU_BULK_COPY_H
#define PTXBENCH_EMU_BULK_COPY_H

#include "emu/bulk_reduce.h"
#include "emu/machine.h"
#include "emu/tensor_map.h"

enum bulk_end_kind {
    BULK_REGISTERS, /* source: st.async; the buffer has its bytes from the start */
    BULK_GLOBAL,    /* contiguous, at address */
    BULK_SHARED,    /* contiguous, at offset of each CTA of `ctas` */
    BULK_TENSOR,    /* the global side of a tile */
    BULK_TILE       /* its shared side: at tile.shared_address of each CTA of `ctas` */
};

struct bulk_end {
    enum bulk_end_kind kind;
    uint64_t address;
    uint32_t offset;
    uint32_t ctas; /* bits by rank */
};

struct bulk_copy {
    struct emu_async_op async;
    int lane; /* that issued it */
    struct bulk_end from, to;
    uint32_t bytes;
    struct tensor_tile *tile; /* of BULK_TENSOR and BULK_TILE; owned */
    enum bulk_operation operation;
    enum bulk_type type;
    bool has_barrier; /* else it belongs to a bulk group */
    uint32_t barrier; /* shared offset, in each destination CTA */
    uint64_t index;   /* in the bulk order of the warp */
    uint8_t *buffer;  /* owned; NULL until the source has been read */
};

/* Bytes of shared memory from the first to the last that it touches: a tile may have gaps between its rows. */
static inline uint32_t bulk_copy_shared_bytes(const struct bulk_copy *copy)
{
    return copy->tile ? copy->tile->shared_bytes : copy->bytes;
}

/* A copy to be filled in by the caller; tile: zeroed memory for one when asked for. */
struct bulk_copy *bulk_copy_new(struct emu_warp *warp, const struct emu_op *op, int lane, bool with_tile);

void bulk_copy_discard(struct bulk_copy *copy);

/* Queues it (takes it). */
enum emu_result bulk_copy_submit(struct bulk_copy *copy);

#endif
