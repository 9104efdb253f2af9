#include "emu/bulk_copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard.h"

static struct emu_actor actor_of(const struct bulk_copy *copy)
{
    return (struct emu_actor){copy->async.warp, copy->async.op, copy->lane};
}

/* Host bytes of a global range; NULL after a finding. */
static uint8_t *global_bytes(const struct bulk_copy *copy, uint64_t address, uint32_t bytes, bool write)
{
    return emu_global_bytes(copy->async.warp, copy->async.op, copy->lane, address, bytes, 1, write);
}

static struct emu_cta *first_cta(struct emu_cluster *cluster, uint32_t ctas)
{
    return &cluster->ctas[__builtin_ctz(ctas)];
}

/* Rows of a tile outside of the tensor are not stored: they need not have been written. */
static bool is_inside(const struct tensor_tile *tile)
{
    for (uint32_t i = 0; i < tile->rows; i++) {
        struct tensor_tile_row row;

        tensor_tile_row_at(tile, i, &row);
        if (row.valid_end - row.valid_begin < tile->row_bytes)
            return false;
    }
    return true;
}

static void check_source(const struct bulk_copy *copy, const struct emu_cta *cta)
{
    uint32_t offset = copy->from.offset, bytes = copy->bytes;

    if (cta->live_threads == 0)
        (void)emu_report(
            copy->async.warp, copy->async.op, copy->lane, EMU_COPY_AFTER_EXIT,
            "the copy of %u bytes from shared+0x%x reads its source when all threads of CTA %u have exited", bytes,
            offset, cta->rank);
    if (copy->tile && !is_inside(copy->tile))
        return;
    if (!emu_shared_is_written(cta, offset, bytes))
        (void)emu_report(copy->async.warp, copy->async.op, copy->lane, EMU_UNINITIALISED_SHARED,
                         "the copy reads %u bytes at shared+0x%x that nobody has written completely", bytes, offset);
}

/* The global rows of a tile into the buffer; elements outside of the tensor are filled. */
static bool read_tensor(struct bulk_copy *copy)
{
    const struct tensor_tile *tile = copy->tile;
    uint8_t fill[TENSOR_MAP_CHUNK_BYTES];

    tensor_map_fill_bytes(&tile->map, fill);
    for (uint32_t i = 0; i < tile->rows; i++) {
        uint8_t *to = copy->buffer + (size_t)i * tile->row_bytes;
        struct tensor_tile_row row;

        tensor_tile_row_at(tile, i, &row);
        uint32_t valid = row.valid_end - row.valid_begin;
        if (valid < tile->row_bytes)
            for (uint32_t at = 0; at < tile->row_bytes; at += TENSOR_MAP_CHUNK_BYTES)
                memcpy(to + at, fill, TENSOR_MAP_CHUNK_BYTES);
        if (!valid)
            continue;
        uint64_t address = tile->map.address + (uint64_t)row.global_offset + row.valid_begin;
        const uint8_t *from = global_bytes(copy, address, valid, false);
        if (!from)
            return false;
        memcpy(to + row.valid_begin, from, valid);
    }
    return true;
}

static bool write_tensor(struct bulk_copy *copy)
{
    const struct tensor_tile *tile = copy->tile;

    for (uint32_t i = 0; i < tile->rows; i++) {
        struct tensor_tile_row row;

        tensor_tile_row_at(tile, i, &row);
        /* clipped by units of 16 bytes: row_bytes is a multiple of them */
        uint32_t end = (row.valid_end + TENSOR_MAP_CHUNK_BYTES - 1) & ~(TENSOR_MAP_CHUNK_BYTES - 1u);
        uint32_t valid = end - row.valid_begin;
        if (!valid)
            continue;
        uint64_t address = tile->map.address + (uint64_t)row.global_offset + row.valid_begin;
        uint8_t *to = global_bytes(copy, address, valid, true);
        if (!to)
            return false;
        bulk_reduce(copy->operation, copy->type, to, copy->buffer + (size_t)i * tile->row_bytes + row.valid_begin,
                    valid);
    }
    return true;
}

/* 16 bytes between a buffer and swizzled shared memory; `half` is 8 when the two halves are exchanged. */
static void move_chunk(const struct tensor_tile *tile, uint32_t linear, uint8_t *shared, uint8_t *from, bool to_shared)
{
    uint32_t address = smem_swizzle_address(tile->map.swizzle, linear), half = address & 8;
    uint8_t *place = shared + (address & ~15u);

    if (to_shared) {
        memcpy(place + half, from, 8);
        memcpy(place + (half ^ 8), from + 8, 8);
    } else {
        memcpy(from, place + half, 8);
        memcpy(from + 8, place + (half ^ 8), 8);
    }
}

static void move_tile(struct bulk_copy *copy, struct emu_cta *cta, bool to_shared)
{
    const struct tensor_tile *tile = copy->tile;

    if (tile->map.swizzle == SMEM_SWIZZLE_NONE) {
        uint8_t *place = cta->shared + tile->shared_address;
        memcpy(to_shared ? place : copy->buffer, to_shared ? copy->buffer : place, tile->bytes); /* no gaps */
        return;
    }
    for (uint32_t row = 0; row < tile->rows; row++)
        for (uint32_t at = 0; at < tile->row_bytes; at += TENSOR_MAP_CHUNK_BYTES)
            move_chunk(tile, tile->shared_address + row * tile->row_pitch + at, cta->shared,
                       copy->buffer + (size_t)row * tile->row_bytes + at, to_shared);
}

static bool read_source(struct emu_cluster *cluster, struct bulk_copy *copy)
{
    const struct bulk_end *from = &copy->from;
    const uint8_t *memory;

    if (!copy->buffer)
        copy->buffer = emu_async_allocate(copy->bytes ? copy->bytes : 1);
    switch (from->kind) {
    case BULK_REGISTERS:
        return true;
    case BULK_GLOBAL:
        memory = copy->bytes ? global_bytes(copy, from->address, copy->bytes, false) : copy->buffer;
        if (!memory)
            return false;
        memmove(copy->buffer, memory, copy->bytes);
        return true;
    case BULK_SHARED:
        check_source(copy, first_cta(cluster, from->ctas));
        memcpy(copy->buffer, first_cta(cluster, from->ctas)->shared + from->offset, copy->bytes);
        return true;
    case BULK_TENSOR:
        return read_tensor(copy);
    case BULK_TILE:
        check_source(copy, first_cta(cluster, from->ctas));
        move_tile(copy, first_cta(cluster, from->ctas), false);
        return true;
    }
    return false;
}

/* One destination CTA of a copy into shared memory. */
static enum emu_result write_shared(struct bulk_copy *copy, struct emu_cta *cta)
{
    struct emu_actor actor = actor_of(copy);

    if (cta->live_threads == 0)
        (void)emu_report(copy->async.warp, copy->async.op, copy->lane, EMU_COPY_AFTER_EXIT,
                         "the copy of %u bytes to shared+0x%x of CTA %u lands when all threads of that CTA have exited",
                         copy->bytes, copy->to.offset, cta->rank);
    if (copy->to.kind == BULK_TILE)
        move_tile(copy, cta, true);
    else
        bulk_reduce(copy->operation, copy->type, cta->shared + copy->to.offset, copy->buffer, copy->bytes);
    emu_shared_mark(cta, copy->to.offset, bulk_copy_shared_bytes(copy));
    return emu_mbarrier_complete_tx(&actor, cta, copy->barrier, copy->bytes);
}

static enum emu_result write_destination(struct emu_cluster *cluster, struct bulk_copy *copy)
{
    const struct bulk_end *to = &copy->to;
    uint8_t *memory;

    switch (to->kind) {
    case BULK_REGISTERS:
        break;
    case BULK_GLOBAL:
        if (!copy->bytes)
            return EMU_CONTINUE;
        memory = global_bytes(copy, to->address, copy->bytes, true);
        if (!memory)
            return EMU_FAULT;
        bulk_reduce(copy->operation, copy->type, memory, copy->buffer, copy->bytes);
        return EMU_CONTINUE;
    case BULK_TENSOR:
        return write_tensor(copy) ? EMU_CONTINUE : EMU_FAULT;
    case BULK_SHARED:
    case BULK_TILE:
        for (uint32_t rest = to->ctas; rest; rest &= rest - 1) {
            enum emu_result result = write_shared(copy, first_cta(cluster, rest));
            if (result != EMU_CONTINUE)
                return result;
        }
        return EMU_CONTINUE;
    }
    return EMU_FAULT;
}

static void release(struct emu_async_op *op)
{
    struct bulk_copy *copy = (struct bulk_copy *)op;

    free(copy->tile);
    free(copy->buffer);
    free(copy);
}

static void describe_end(const struct bulk_copy *copy, const struct bulk_end *end, struct buffer *out)
{
    switch (end->kind) {
    case BULK_REGISTERS:
        (void)buffer_append_text(out, "registers");
        break;
    case BULK_GLOBAL:
        (void)buffer_printf(out, "global 0x%" PRIx64, end->address);
        break;
    case BULK_SHARED:
    case BULK_TILE:
        (void)buffer_printf(out, "shared+0x%x of CTA%s", end->offset, end->ctas & (end->ctas - 1) ? "s" : "");
        for (uint32_t rest = end->ctas; rest; rest &= rest - 1)
            (void)buffer_printf(out, " %d", __builtin_ctz(rest));
        break;
    case BULK_TENSOR:
        (void)buffer_append_text(out, "tensor coordinates (");
        for (int i = 0; i < copy->tile->map.rank; i++)
            (void)buffer_printf(out, "%s%d", i ? ", " : "", copy->tile->coordinate[i]);
        (void)buffer_append_text(out, ")");
        break;
    }
}

static void describe(const struct emu_async_op *op, struct buffer *out)
{
    const struct bulk_copy *copy = (const struct bulk_copy *)op;
    char place[256];

    (void)buffer_printf(out, "%s of %u bytes at %s from ", op->class->name, copy->bytes,
                        emu_place(emu_grid_of(op->warp)->program,
                                  (uint32_t)(op->op - emu_grid_of(op->warp)->program->ops), place, sizeof place));
    describe_end(copy, &copy->from, out);
    (void)buffer_append_text(out, " to ");
    describe_end(copy, &copy->to, out);
    if (copy->has_barrier)
        (void)buffer_printf(out, ", mbarrier shared+0x%x", copy->barrier);
}

static bool always_ready(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    (void)cluster, (void)op;
    return true;
}

static enum emu_result land_whole(struct emu_cluster *cluster, struct emu_async_op *op)
{
    struct bulk_copy *copy = (struct bulk_copy *)op;

    return read_source(cluster, copy) ? write_destination(cluster, copy) : EMU_FAULT;
}

static bool write_is_next(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    (void)cluster;
    return emu_async_warp(op->warp)->bulk.landed == ((const struct bulk_copy *)op)->index;
}

static enum emu_result land_write(struct emu_cluster *cluster, struct emu_async_op *op)
{
    enum emu_result result = write_destination(cluster, (struct bulk_copy *)op);

    emu_async_warp(op->warp)->bulk.landed++;
    emu_progress(op->warp);
    return result;
}

static bool read_is_next(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    (void)cluster;
    return emu_async_warp(op->warp)->bulk.read == ((const struct bulk_copy *)op)->index;
}

static const struct emu_async_class write_class = {"bulk copy (write)", write_is_next, land_write, describe, release};

/* Reads the source; what is left to do becomes an operation of its own. */
static enum emu_result land_read(struct emu_cluster *cluster, struct emu_async_op *op)
{
    struct bulk_copy *copy = (struct bulk_copy *)op, *rest;

    if (!read_source(cluster, copy))
        return EMU_FAULT;
    rest = emu_async_allocate(sizeof *rest);
    *rest = *copy;
    rest->async = (struct emu_async_op){.class = &write_class, .warp = op->warp, .op = op->op};
    copy->tile = NULL;
    copy->buffer = NULL;
    emu_async_warp(op->warp)->bulk.read++;
    emu_progress(op->warp);
    return emu_async_submit(cluster, &rest->async);
}

static const struct emu_async_class whole_class = {"bulk copy", always_ready, land_whole, describe, release};
static const struct emu_async_class read_class = {"bulk copy", read_is_next, land_read, describe, release};

struct bulk_copy *bulk_copy_new(struct emu_warp *warp, const struct emu_op *op, int lane, bool with_tile)
{
    struct bulk_copy *copy = emu_async_allocate(sizeof *copy);

    copy->async.warp = warp;
    copy->async.op = op;
    copy->lane = lane;
    if (with_tile)
        copy->tile = emu_async_allocate(sizeof *copy->tile);
    return copy;
}

void bulk_copy_discard(struct bulk_copy *copy)
{
    release(&copy->async);
}

enum emu_result bulk_copy_submit(struct bulk_copy *copy)
{
    struct emu_warp *warp = copy->async.warp;

    copy->async.class = copy->has_barrier ? &whole_class : &read_class;
    if (!copy->has_barrier)
        copy->index = emu_async_warp(warp)->bulk.issued++;
    hazard_copy(copy);
    return emu_async_submit(warp->cta->cluster, &copy->async);
}
