/* Who wrote every 16 bytes of shared memory last: blocks of 128 bytes that one tile covers, or 16 bytes each. */
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard_state.h"

uint16_t hazard_tile_new(struct hazard_cta *cta)
{
    uint16_t index = cta->free_tile;

    if (index) {
        cta->free_tile = cta->tiles[index].next_free;
    } else {
        if (cta->tile_count >= cta->tile_capacity) {
            uint32_t capacity = cta->tile_capacity ? cta->tile_capacity * 2 : 64;
            struct hazard_tile *tiles = emu_async_allocate(capacity * sizeof *tiles);

            if (cta->tiles)
                memcpy(tiles, cta->tiles, cta->tile_count * sizeof *tiles);
            free(cta->tiles);
            cta->tiles = tiles;
            cta->tile_capacity = capacity;
        }
        index = (uint16_t)cta->tile_count++; /* at most one for each 16 bytes */
    }
    memset(&cta->tiles[index], 0, sizeof cta->tiles[index]);
    return index;
}

static void tell_unread(const struct hazard_tile *tile)
{
    if (tile->broken || !tile->has_map || !tile->read || tile->read >= tile->blocks)
        return;
    (void)emu_report(tile->warp, tile->op, tile->lane, EMU_TILE_UNREAD,
                     "only %u of %u bytes of this copy to shared+0x%x were read before they were overwritten",
                     tile->read * HAZARD_BLOCK_BYTES, tile->blocks * HAZARD_BLOCK_BYTES, tile->tile.shared_address);
}

void hazard_tile_release(struct hazard_cta *cta, uint16_t index)
{
    struct hazard_tile *tile;

    if (!index)
        return;
    tile = &cta->tiles[index];
    if (--tile->references)
        return;
    tell_unread(tile);
    tile->next_free = cta->free_tile;
    cta->free_tile = index;
}

/* Forgets what a block holds. */
static void drop_block(struct hazard_cta *cta, uint32_t index)
{
    struct hazard_block *block = &cta->blocks[index];
    struct hazard_granule *granules = &cta->granules[index * HAZARD_GRANULES];

    if (block->mixed) {
        for (uint32_t i = 0; i < HAZARD_GRANULES; i++)
            hazard_tile_release(cta, granules[i].tile);
    } else if (block->tile) {
        cta->tiles[block->tile].read += block->read;
        hazard_tile_release(cta, block->tile);
    }
    *block = (struct hazard_block){0};
}

/* From one tile to 16 bytes each. */
static void split_block(struct hazard_cta *cta, uint32_t index)
{
    struct hazard_block *block = &cta->blocks[index];
    struct hazard_granule *granules = &cta->granules[index * HAZARD_GRANULES];
    struct hazard_granule whole = {.write.column = HAZARD_NO_COLUMN, .tile = block->tile};

    if (block->mixed)
        return;
    if (block->tile) {
        struct hazard_tile *tile = &cta->tiles[block->tile];

        whole.write = tile->write;
        tile->references += HAZARD_GRANULES - 1;
        tile->broken = true;
    }
    for (uint32_t i = 0; i < HAZARD_GRANULES; i++)
        granules[i] = whole;
    block->mixed = true;
}

bool hazard_writer_at(const struct hazard_cta *cta, uint32_t offset, struct hazard_event *write,
                      const struct hazard_tile **tile)
{
    const struct hazard_block *block = &cta->blocks[offset / HAZARD_BLOCK_BYTES];
    const struct hazard_granule *granule = &cta->granules[offset / HAZARD_GRANULE_BYTES];
    uint16_t index = block->mixed ? granule->tile : block->tile;

    *tile = index ? &cta->tiles[index] : NULL;
    if (!block->mixed && !index)
        return false;
    *write = block->mixed ? granule->write : (*tile)->write;
    return !block->mixed || index || write->column != HAZARD_NO_COLUMN;
}

void hazard_cluster_end(struct emu_cluster *cluster)
{
    for (uint32_t rank = 0; cluster->hazards && rank < cluster->cta_count; rank++)
        for (uint32_t i = 0; i * HAZARD_BLOCK_BYTES < cluster->ctas[rank].shared_bytes; i++)
            drop_block(&cluster->hazards->ctas[rank], i);
}

void hazard_shadow_write(struct hazard_cta *cta, uint32_t offset, const struct hazard_event *write)
{
    struct hazard_granule *granule = &cta->granules[offset / HAZARD_GRANULE_BYTES];

    split_block(cta, offset / HAZARD_BLOCK_BYTES);
    hazard_tile_release(cta, granule->tile);
    *granule = (struct hazard_granule){.write = *write};
}

void hazard_shadow_mark(struct hazard_cta *cta, uint16_t index, uint32_t begin, uint32_t end)
{
    for (uint32_t at = begin; at < end;) {
        uint32_t block = at / HAZARD_BLOCK_BYTES;

        if (at % HAZARD_BLOCK_BYTES == 0 && end - at >= HAZARD_BLOCK_BYTES) {
            drop_block(cta, block);
            cta->blocks[block].tile = index;
            cta->tiles[index].references++;
            cta->tiles[index].blocks++;
            at += HAZARD_BLOCK_BYTES;
            continue;
        }
        hazard_shadow_write(cta, at, &cta->tiles[index].write);
        cta->granules[at / HAZARD_GRANULE_BYTES].tile = index;
        cta->tiles[index].references++;
        cta->tiles[index].broken = true;
        at += HAZARD_GRANULE_BYTES;
    }
}
