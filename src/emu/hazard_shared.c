/* Shared memory: who wrote what last, which asynchronous operations still read it, and what is wrong about the next one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard_coverage.h"
#include "emu/hazard_state.h"

static uint32_t op_index(const struct emu_warp *warp, const struct emu_op *op)
{
    return (uint32_t)(op - emu_grid_of(warp)->program->ops);
}

/* Findings. */

static const char *place_of(const struct hazard_view *view, uint32_t op, char out[256])
{
    return emu_place(emu_grid_of(view->warp)->program, op, out, 256);
}

static bool is_generic(const struct hazard_view *view, const struct hazard_event *event)
{
    return event->column < hazards_of(view->warp)->warps;
}

/* An asynchronous read of bytes that were written last by `write`. */
static void check_written(const struct hazard_view *view, const struct hazard_event *write, uint32_t offset,
                          const char *what)
{
    char place[256];
    uint32_t warps = hazards_of(view->warp)->warps_of_cta;

    if (!is_generic(view, write)) {
        if (!hazard_knows(view, write->column, write->epoch))
            (void)emu_report(
                view->warp, view->op, view->lane, EMU_COPY_NOT_AWAITED,
                "%s reads shared+0x%x, where the copy at %s may still be writing: nobody has waited for its "
                "mbarrier",
                what, offset, place_of(view, write->op, place));
        return;
    }
    if (!hazard_knows(view, write->column, write->epoch))
        (void)emu_report(view->warp, view->op, view->lane, EMU_MISSING_BARRIER,
                         "%s reads shared+0x%x, which warp %u writes at %s: no barrier orders the two", what, offset,
                         write->column % warps, place_of(view, write->op, place));
    else if (!hazard_sees(view, write->column, write->epoch))
        (void)emu_report(view->warp, view->op, view->lane, EMU_PROXY_FENCE,
                         "%s reads shared+0x%x, which warp %u wrote at %s, but no fence.proxy.async stands between the "
                         "two",
                         what, offset, write->column % warps, place_of(view, write->op, place));
}

/* Reads by asynchronous operations. */

static bool reads_from(const struct hazard_read *read, uint32_t begin, uint32_t end)
{
    const struct smem_operand *operand = &read->operand;

    if (read->begin >= end || read->end <= begin)
        return false;
    if (!read->is_operand)
        return true;
    for (int line = 0; line < smem_operand_line_count(operand); line++)
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            uint32_t address = smem_operand_chunk(operand, line, chunk);
            if (address < end && address + HAZARD_GRANULE_BYTES > begin)
                return true;
        }
    return false;
}

static void add_read(struct hazard_cta *cta, const struct hazard_read *read)
{
    uint32_t at = cta->read_count < HAZARD_READS_MAX ? cta->read_count++ : cta->read_next++ % HAZARD_READS_MAX;

    cta->reads[at] = *read;
    cta->reads_begin = read->begin < cta->reads_begin ? read->begin : cta->reads_begin;
    cta->reads_end = read->end > cta->reads_end ? read->end : cta->reads_end;
}

/* Whether a write of [begin, end) waits for all reads of these bytes; what is overwritten is forgotten. */
static void check_readers(const struct hazard_view *view, struct hazard_cta *cta, uint32_t begin, uint32_t end,
                          const char *what)
{
    char place[256];

    if (end <= cta->reads_begin || begin >= cta->reads_end)
        return;
    for (uint32_t i = 0; i < cta->read_count; i++) {
        struct hazard_read *read = &cta->reads[i];

        if (read->begin >= end || read->end <= begin)
            continue;
        if (!hazard_knows(view, read->event.column, read->event.epoch) && reads_from(read, begin, end)) {
            (void)emu_report(view->warp, view->op, view->lane, EMU_OVERWRITTEN,
                             "%s overwrites shared+0x%x, which the %s at %s may still be reading", what,
                             read->begin > begin ? read->begin : begin, read->is_operand ? "wgmma" : "copy",
                             place_of(view, read->event.op, place));
            return;
        }
        if (read->begin >= begin && read->end <= end)
            cta->reads[i--] = cta->reads[--cta->read_count];
        else if (read->begin >= begin)
            read->begin = end;
        else if (read->end <= end)
            read->end = begin;
    }
    if (!cta->read_count) {
        cta->reads_begin = UINT32_MAX;
        cta->reads_end = 0;
    }
}

/* Generic accesses. */

/* Copies that may still be writing. */
static void check_copied(const struct hazard_view *view, const struct hazard_event *last, uint32_t offset, bool write)
{
    char place[256];

    if (is_generic(view, last))
        return;
    if (view->op->opcode == PTX_OP_CP && last->column == hazard_copy_async_column(view->warp))
        return; /* groups of cp.async land in order */
    if (!write)
        check_written(view, last, offset, "this");
    else if (!hazard_knows(view, last->column, last->epoch))
        (void)emu_report(
            view->warp, view->op, view->lane, EMU_COPY_NOT_AWAITED,
            "this write to shared+0x%x is not ordered behind the copy at %s, which may still be writing there", offset,
            place_of(view, last->op, place));
}

void hazard_access(struct emu_warp *warp, const struct emu_op *op, int lane, struct emu_cta *owner, uint32_t offset,
                   uint32_t bytes, bool write)
{
    struct hazard_view view;
    struct hazard_cta *cta;
    uint32_t index;

    if (!hazards_of(warp))
        return;
    view = hazard_view_of(warp, op, lane);
    hazard_remote(warp, op, owner);
    cta = hazard_cta_of(owner);
    index = hazard_warp_index(warp);
    for (uint32_t at = offset & ~(HAZARD_GRANULE_BYTES - 1u); at < offset + bytes; at += HAZARD_GRANULE_BYTES) {
        const struct hazard_tile *tile;
        struct hazard_event last;

        const struct hazard_event event = {
            .epoch = view.clocks[0]->known[index], .op = op_index(warp, op), .column = (uint16_t)index};

        if (!write) {
            cta->blocks[at / HAZARD_BLOCK_BYTES].read = true;
            cta->readers[at / HAZARD_GRANULE_BYTES] = event;
            cta->has_readers = true;
        }
        if (hazard_writer_at(cta, at, &last, &tile))
            check_copied(&view, &last, at, write);
        if (write)
            hazard_shadow_write(cta, at, &event);
    }
    if (write)
        check_readers(&view, cta, offset, offset + bytes, "this write");
}

/* Copies. */

/* Threads that read what a copy is about to overwrite; the last one of each 16 bytes is known. */
static void check_generic_readers(const struct hazard_view *view, struct hazard_cta *cta, uint32_t begin, uint32_t end)
{
    bool told = false;
    char place[256];

    for (uint32_t at = begin; cta->has_readers && at < end; at += HAZARD_GRANULE_BYTES) {
        struct hazard_event *reader = &cta->readers[at / HAZARD_GRANULE_BYTES];

        if (reader->epoch && !told && !hazard_knows(view, reader->column, reader->epoch)) {
            (void)emu_report(view->warp, view->op, view->lane, EMU_OVERWRITTEN,
                             "the copy overwrites shared+0x%x, which warp %u reads at %s: no barrier orders the two",
                             at, reader->column % hazards_of(view->warp)->warps_of_cta,
                             place_of(view, reader->op, place));
            told = true;
        }
        reader->epoch = 0;
    }
}

void hazard_copy_async(struct emu_warp *warp, const struct emu_op *op, int lane, uint32_t offset, uint32_t bytes,
                       uint64_t number)
{
    uint32_t begin = offset & ~(HAZARD_GRANULE_BYTES - 1u);
    struct hazard_view view;
    struct hazard_event write;

    if (!hazards_of(warp) || bytes < HAZARD_GRANULE_BYTES) /* smaller ones share their granule */
        return;
    view = hazard_view_of(warp, op, lane);
    write = (struct hazard_event){
        .epoch = (uint32_t)number + 1, .op = op_index(warp, op), .column = (uint16_t)hazard_copy_async_column(warp)};
    check_generic_readers(&view, hazard_cta_of(warp->cta), begin, offset + bytes);
    hazard_shadow_write(hazard_cta_of(warp->cta), begin, &write);
}

static void check_writers(const struct hazard_view *view, const struct hazard_cta *cta, uint32_t begin, uint32_t end)
{
    const struct hazard_tile *tile, *last_tile = NULL;
    uint32_t warps = hazards_of(view->warp)->warps_of_cta;
    char place[256];

    for (uint32_t at = begin; at < end; at += HAZARD_GRANULE_BYTES) {
        struct hazard_event write;

        if (!cta->blocks[at / HAZARD_BLOCK_BYTES].mixed &&
            (!cta->blocks[at / HAZARD_BLOCK_BYTES].tile ||
             &cta->tiles[cta->blocks[at / HAZARD_BLOCK_BYTES].tile] == last_tile)) {
            at |= HAZARD_BLOCK_BYTES - HAZARD_GRANULE_BYTES;
            continue;
        }
        if (!hazard_writer_at(cta, at, &write, &tile))
            continue;
        last_tile = tile;
        if (hazard_knows(view, write.column, write.epoch))
            continue;
        if (is_generic(view, &write))
            (void)emu_report(view->warp, view->op, view->lane, EMU_MISSING_BARRIER,
                             "the copy writes shared+0x%x, which warp %u writes at %s: no barrier orders the two", at,
                             write.column % warps, place_of(view, write.op, place));
        else
            (void)emu_report(view->warp, view->op, view->lane, EMU_OVERWRITTEN,
                             "the copy overwrites shared+0x%x, where the copy at %s may still be writing", at,
                             place_of(view, write.op, place));
        return;
    }
}

static void copy_in(const struct hazard_view *view, const struct bulk_copy *copy, struct emu_cta *owner)
{
    struct emu_actor actor = {copy->async.warp, copy->async.op, copy->lane};
    struct hazard_cta *cta = hazard_cta_of(owner);
    const struct emu_mbarrier *barrier = emu_mbarrier_at(&actor, owner, copy->barrier, "the copy counts");
    uint32_t begin = copy->to.offset, end = begin + bulk_copy_shared_bytes(copy);

    if (!barrier || !barrier->sync || !copy->bytes)
        return;
    check_readers(view, cta, begin, end, "the copy");
    check_writers(view, cta, begin & ~(HAZARD_GRANULE_BYTES - 1u), end);
    check_generic_readers(view, cta, begin & ~(HAZARD_GRANULE_BYTES - 1u), end);
    uint16_t index = hazard_tile_new(cta);
    struct hazard_tile *tile = &cta->tiles[index];
    tile->write = (struct hazard_event){.epoch = (uint32_t)barrier->state.phase + 1,
                                        .op = op_index(view->warp, view->op),
                                        .column = (uint16_t)barrier->sync->column};
    tile->warp = copy->async.warp;
    tile->op = copy->async.op;
    tile->lane = copy->lane;
    tile->has_map = copy->to.kind == BULK_TILE;
    if (tile->has_map)
        tile->tile = *copy->tile;
    tile->references = 1;
    hazard_shadow_mark(cta, index, begin & ~(HAZARD_GRANULE_BYTES - 1u), end);
    hazard_tile_release(cta, index);
}

/* The source of a copy; `column` and `epoch`: when it is known to have been read. */
static void copy_out(const struct hazard_view *view, const struct bulk_copy *copy, uint32_t column, uint32_t epoch)
{
    struct emu_cta *owner = &copy->async.warp->cta->cluster->ctas[__builtin_ctz(copy->from.ctas)];
    struct hazard_cta *cta = hazard_cta_of(owner);
    const struct hazard_read read = {.event = {epoch, op_index(view->warp, view->op), (uint16_t)column},
                                     .begin = copy->from.offset,
                                     .end = copy->from.offset + bulk_copy_shared_bytes(copy)};

    for (uint32_t at = read.begin & ~(HAZARD_GRANULE_BYTES - 1u); at < read.end; at += HAZARD_GRANULE_BYTES) {
        const struct hazard_tile *tile;
        struct hazard_event write;

        cta->blocks[at / HAZARD_BLOCK_BYTES].read = true;
        if (hazard_writer_at(cta, at, &write, &tile))
            check_written(view, &write, at, "the copy");
    }
    if (copy->from.kind == BULK_TILE)
        hazard_check_store(view, cta, copy->tile);
    if (column != HAZARD_NO_COLUMN && copy->bytes)
        add_read(cta, &read);
}

void hazard_copy(struct bulk_copy *copy)
{
    struct emu_warp *warp = copy->async.warp;
    struct hazard_view view;
    bool shared_source = copy->from.kind == BULK_SHARED || copy->from.kind == BULK_TILE;

    if (!hazards_of(warp))
        return;
    view = hazard_view_of(warp, copy->async.op, copy->lane);
    hazard_coverage_copy(copy);
    if (shared_source && !copy->has_barrier)
        copy_out(&view, copy, hazard_copy_column(warp), (uint32_t)copy->index + 1);
    else if (shared_source)
        copy_out(&view, copy, HAZARD_NO_COLUMN, 0);
    for (uint32_t rest = copy->has_barrier ? copy->to.ctas : 0; rest; rest &= rest - 1)
        copy_in(&view, copy, &warp->cta->cluster->ctas[__builtin_ctz(rest)]);
}

/* Products. */

static uint64_t key_of(uint64_t descriptor, uint32_t op, bool mn_major)
{
    return (descriptor ^ (uint64_t)(op + 1) << 20 ^ (uint64_t)mn_major << 62) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct hazard_operand *find_operand(struct hazard_cta *cta, uint64_t key)
{
    return &cta->operands[key >> 40 & (HAZARD_OPERANDS - 1)];
}

static struct hazard_operand *remember(struct hazard_cta *cta, uint64_t descriptor, uint32_t op,
                                       const struct smem_operand *operand)
{
    uint64_t key = key_of(descriptor, op, operand->mn_major);
    struct hazard_operand *known = find_operand(cta, key);

    if (known->key != key)
        *known = (struct hazard_operand){.key = key, .end = smem_operand_end(operand)};
    return known;
}

bool hazard_operand_agrees(const struct wgmma_product *product, uint64_t descriptor, bool mn_major)
{
    struct emu_cta *owner = product->group->cta;
    uint64_t key = key_of(descriptor, op_index(product->async.warp, product->async.op), mn_major);

    if (!owner->cluster->hazards)
        return false;
    const struct hazard_operand *known = find_operand(hazard_cta_of(owner), key);

    return known->key == key && known->agrees;
}

/* Exactly the bytes that are read. */
static void check_chunks(const struct hazard_view *view, struct hazard_cta *cta, const struct smem_operand *operand,
                         uint32_t limit, const char *what)
{
    for (int line = 0; line < smem_operand_line_count(operand); line++)
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            uint32_t address = smem_operand_chunk(operand, line, chunk);
            const struct hazard_tile *tile;
            struct hazard_event write;

            if (address >= limit)
                continue;
            cta->blocks[address / HAZARD_BLOCK_BYTES].read = true;
            if (hazard_writer_at(cta, address, &write, &tile))
                check_written(view, &write, address, what);
        }
}

/* True when all of the range is tiles that are known to have landed; then all of it counts as read. */
static bool is_landed(const struct hazard_view *view, struct hazard_cta *cta, uint32_t begin, uint32_t end)
{
    uint16_t last = 0;

    for (uint32_t i = begin / HAZARD_BLOCK_BYTES; i * HAZARD_BLOCK_BYTES < end; i++) {
        struct hazard_block *block = &cta->blocks[i];

        if (block->mixed || !block->tile)
            return false;
        block->read = true;
        if (block->tile == last)
            continue;
        last = block->tile;
        if (!hazard_knows(view, cta->tiles[last].write.column, cta->tiles[last].write.epoch))
            return false;
    }
    return true;
}

static uint64_t geometry_of(const struct hazard_cta *cta, uint32_t address)
{
    const struct hazard_tile *tile;
    struct hazard_event write;

    if (!hazard_writer_at(cta, address, &write, &tile) || !tile || !tile->has_map)
        return 0;
    return (uint64_t)tile->tile.shared_address << 32 | tile->tile.row_pitch << 4 | tile->tile.map.swizzle;
}

static void check_operand(const struct hazard_view *view, struct hazard_cta *cta, const struct smem_operand *operand,
                          const struct hazard_read *event, uint64_t descriptor, char name, uint32_t limit)
{
    struct hazard_operand *known = remember(cta, descriptor, event->event.op, operand);
    uint32_t begin = operand->descriptor.start & ~(HAZARD_BLOCK_BYTES - 1u);
    uint32_t first = smem_operand_chunk(operand, 0, 0);
    struct hazard_read read = *event;
    uint64_t geometry;

    if (first >= limit)
        return;
    geometry = geometry_of(cta, first);
    if (geometry != known->geometry) {
        known->geometry = geometry;
        known->agrees = geometry && hazard_check_layout(view, cta, operand, name);
    }
    if (known->end > limit || begin >= known->end || !is_landed(view, cta, begin, known->end))
        check_chunks(view, cta, operand, limit, name == 'A' ? "matrix A of the wgmma" : "matrix B of the wgmma");
    read.begin = begin;
    read.end = known->end;
    read.is_operand = true;
    read.operand = *operand;
    add_read(cta, &read);
}

void hazard_product(const struct wgmma_product *product)
{
    struct emu_cta *owner = product->group->cta;
    const struct wgmma_detail *detail = product->detail;
    struct emu_warp *warp = product->async.warp;
    struct hazard_view view;
    struct smem_operand a, b;
    struct error error;

    if (!owner->cluster->hazards)
        return;
    view = hazard_view_of(warp, product->async.op, -1);
    view.count = WGMMA_WARPS;
    for (uint32_t i = 0; i < WGMMA_WARPS; i++)
        view.clocks[i] = hazard_view_of(&owner->warps[product->group->index * WGMMA_WARPS + i], NULL, -1).clocks[0];
    const struct hazard_read read = {.event = {.epoch = (uint32_t)product->index + 1,
                                               .op = op_index(warp, product->async.op),
                                               .column = (uint16_t)hazard_group_column(owner, product->group->index)}};
    bool has_a = !detail->a_in_registers && smem_operand_init(&a, product->a_descriptor, number_bytes(detail->a_format),
                                                              WGMMA_M, detail->a_mn_major, &error);
    bool has_b = smem_operand_init(&b, product->b_descriptor, number_bytes(detail->b_format), detail->n,
                                   detail->b_mn_major, &error);

    struct hazard_cta *cta = hazard_cta_of(owner);
    if (has_a)
        check_operand(&view, cta, &a, &read, product->a_descriptor, 'A', owner->shared_bytes);
    if (has_b)
        check_operand(&view, cta, &b, &read, product->b_descriptor, 'B', owner->shared_bytes);
    if (has_a && has_b)
        hazard_check_k(&view, cta, &a, &b);
}
