/* The state of the hazard layer: private to hazard_*.c. See hazard.h. */
#ifndef PTXBENCH_EMU_HAZARD_STATE_H
#define PTXBENCH_EMU_HAZARD_STATE_H

#include "emu/hazard.h"

enum {
    HAZARD_BLOCK_BYTES = 128, /* of a tile, in shared memory */
    HAZARD_GRANULE_BYTES = 16,
    HAZARD_GRANULES = HAZARD_BLOCK_BYTES / HAZARD_GRANULE_BYTES,
    HAZARD_MBARRIERS_MAX = 192, /* of a cluster that have a column; copies to others are not looked at */
    HAZARD_READS_MAX = 256,
    HAZARD_OPERANDS = 1024 /* descriptors that are remembered */
};
#define HAZARD_NO_COLUMN UINT32_C(0xffff)

/* What a warp knows, or a barrier hands on. */
struct hazard_clock {
    uint32_t *known;  /* by column */
    uint32_t *fenced; /* by warp: generic writes that the asynchronous proxy sees */
};

struct hazard_sync {
    uint32_t column;
    uint32_t warp, epoch; /* of the initialisation */
    struct hazard_clock pending, complete;
};

/* Who wrote last, or reads: known to a warp when known[column] >= epoch. */
struct hazard_event {
    uint32_t epoch;
    uint32_t op;
    uint16_t column; /* below the number of warps: a generic access */
};

struct hazard_granule {
    struct hazard_event write;
    uint16_t tile; /* 0: none */
};

struct hazard_block {
    uint16_t tile; /* that covers all of it; 0: unwritten */
    bool mixed;    /* its granules say more */
    bool read;
};

/* A copy into shared memory. */
struct hazard_tile {
    struct hazard_event write;
    uint32_t references;   /* blocks and granules */
    uint32_t blocks, read; /* of 128 bytes: all, and those read by the time they were overwritten */
    bool broken;           /* overwritten in part by something else than a tile */
    bool has_map;
    struct emu_warp *warp;
    const struct emu_op *op;
    int lane;
    struct tensor_tile tile; /* with has_map */
    uint16_t next_free;
};

/* A read by an asynchronous operation. */
struct hazard_read {
    struct hazard_event event;
    uint32_t begin, end; /* bounds */
    bool is_operand;
    struct smem_operand operand; /* of a wgmma: what it reads exactly */
};

struct hazard_operand {
    uint64_t key; /* descriptor and op */
    uint32_t end;
    uint64_t geometry; /* of the tile that its layout was compared with */
    bool agrees;       /* with the tile */
};

/* The last access or arrival of a warp of another CTA. */
struct hazard_remote {
    uint32_t epoch; /* 0: none */
    struct emu_warp *warp;
    const struct emu_op *op;
};

struct hazard_cta {
    struct hazard_remote *remotes; /* by warp of the cluster */
    struct hazard_block *blocks;
    struct hazard_granule *granules;
    struct hazard_event *readers; /* last generic read of each granule; epoch 0: none */
    bool has_readers;
    struct hazard_tile *tiles; /* [0] is not used */
    uint32_t tile_count, tile_capacity;
    uint16_t free_tile;
    struct hazard_read reads[HAZARD_READS_MAX];
    uint32_t read_count, read_next;
    uint32_t reads_begin, reads_end; /* bounds of all */
    struct hazard_operand operands[HAZARD_OPERANDS];
};

struct hazards {
    uint32_t warps, warps_of_cta, groups_of_cta;
    uint32_t columns, capacity;  /* used, and allocated */
    struct hazard_clock *clocks; /* by warp */
    struct hazard_clock *bars;   /* by CTA and barrier; NULL arrays until used */
    struct hazard_clock cluster_pending, cluster_complete, memory;
    struct hazard_cta *ctas;
};

static inline struct hazards *hazards_of(const struct emu_warp *warp)
{
    return warp->cta->cluster->hazards;
}
static inline uint32_t hazard_warp_index(const struct emu_warp *warp)
{
    return warp->cta->rank * warp->cta->warp_count + warp->index;
}
static inline uint32_t hazard_copy_column(const struct emu_warp *warp)
{
    return hazards_of(warp)->warps + hazard_warp_index(warp);
}
static inline uint32_t hazard_copy_async_column(const struct emu_warp *warp)
{
    return 2 * hazards_of(warp)->warps + hazard_warp_index(warp);
}
static inline uint32_t hazard_group_column(const struct emu_cta *cta, uint32_t group)
{
    const struct hazards *hazards = cta->cluster->hazards;

    return 3 * hazards->warps + cta->rank * hazards->groups_of_cta + group;
}
static inline struct hazard_cta *hazard_cta_of(const struct emu_cta *cta)
{
    return &cta->cluster->hazards->ctas[cta->rank];
}

/* What the warps of an operation know together. */
struct hazard_view {
    const struct hazard_clock *clocks[WGMMA_WARPS];
    uint32_t count;
    struct emu_warp *warp; /* for findings */
    const struct emu_op *op;
    int lane;
};

struct hazard_view hazard_view_of(struct emu_warp *warp, const struct emu_op *op, int lane);
bool hazard_knows(const struct hazard_view *view, uint32_t column, uint32_t epoch);
bool hazard_sees(const struct hazard_view *view, uint32_t warp, uint32_t epoch); /* through the asynchronous proxy */

/* The shadow of shared memory (hazard_shadow.c). A new tile, zeroed, which is released when its references are gone:
 * set one until it has been marked. A write to a granule; a tile over [begin, end), which starts at a granule. */
uint16_t hazard_tile_new(struct hazard_cta *cta);
void hazard_tile_release(struct hazard_cta *cta, uint16_t index);
void hazard_shadow_write(struct hazard_cta *cta, uint32_t offset, const struct hazard_event *write);
void hazard_shadow_mark(struct hazard_cta *cta, uint16_t index, uint32_t begin, uint32_t end);

/* The last write of 16 bytes; false: never written. `*tile`: its tile or NULL. */
bool hazard_writer_at(const struct hazard_cta *cta, uint32_t offset, struct hazard_event *write,
                      const struct hazard_tile **tile);

/* Layouts (hazard_layout.c): operands of a wgmma against the tiles that they lie in. True: all of it was compared, and
 * agrees. */
bool hazard_check_layout(const struct hazard_view *view, const struct hazard_cta *cta,
                         const struct smem_operand *operand, char name);
void hazard_check_k(const struct hazard_view *view, const struct hazard_cta *cta, const struct smem_operand *a,
                    const struct smem_operand *b);
void hazard_check_store(const struct hazard_view *view, const struct hazard_cta *cta, const struct tensor_tile *tile);

#endif
