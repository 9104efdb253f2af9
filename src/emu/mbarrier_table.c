#include "emu/mbarrier_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard.h"

enum { FIRST_SIZE = 32 };

void mbarrier_table_clear(struct mbarrier_table *table)
{
    for (uint32_t i = 0; i < table->size; i++) {
        if (table->slots[i])
            free(table->slots[i]->sync);
        free(table->slots[i]);
    }
    free(table->slots);
    *table = (struct mbarrier_table){0};
}

/* Slot of an offset: its barrier, or the free slot where it belongs. The table is never full. */
static struct emu_mbarrier **find_slot(struct emu_mbarrier **slots, uint32_t size, uint32_t offset)
{
    uint32_t i = offset / MBARRIER_BYTES * UINT32_C(2654435761) & (size - 1);

    while (slots[i] && slots[i]->offset != offset)
        i = (i + 1) & (size - 1);
    return &slots[i];
}

static void grow(struct mbarrier_table *table)
{
    uint32_t size = table->size ? table->size * 2 : FIRST_SIZE;
    struct emu_mbarrier **slots = emu_async_allocate(size * sizeof *slots);

    for (uint32_t i = 0; i < table->size; i++)
        if (table->slots[i])
            *find_slot(slots, size, table->slots[i]->offset) = table->slots[i];
    free(table->slots);
    table->slots = slots;
    table->size = size;
}

static struct emu_mbarrier *find(const struct mbarrier_table *table, uint32_t offset)
{
    return table->size ? *find_slot(table->slots, table->size, offset) : NULL;
}

static struct emu_mbarrier *find_or_add(struct mbarrier_table *table, uint32_t offset)
{
    if (table->count * 2 >= table->size)
        grow(table);
    struct emu_mbarrier **slot = find_slot(table->slots, table->size, offset);
    if (!*slot) {
        *slot = emu_async_allocate(sizeof **slot);
        (*slot)->offset = offset;
        table->count++;
    }
    return *slot;
}

static void store(struct emu_cta *cta, const struct emu_mbarrier *barrier)
{
    uint64_t bits = mbarrier_encode(&barrier->state);

    memcpy(cta->shared + barrier->offset, &bits, sizeof bits);
    emu_shared_mark(cta, barrier->offset, MBARRIER_BYTES);
}

static uint32_t op_index(const struct emu_actor *actor)
{
    return (uint32_t)(actor->op - emu_grid_of(actor->warp)->program->ops);
}

struct emu_mbarrier *emu_mbarrier_at(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                     const char *what)
{
    struct emu_mbarrier *barrier = find(&emu_async_cta(cta)->mbarriers, offset);
    uint64_t bits;

    if (!barrier || !barrier->live) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_MBARRIER,
                         "%s on the mbarrier at shared+0x%x of CTA %u, which is not initialised%s", what, offset,
                         cta->rank, barrier ? " any more (mbarrier.inval)" : "");
        return NULL;
    }
    memcpy(&bits, cta->shared + offset, sizeof bits);
    if (bits != mbarrier_encode(&barrier->state)) {
        (void)emu_report(
            actor->warp, actor->op, actor->lane, EMU_MBARRIER,
            "%s on the mbarrier at shared+0x%x of CTA %u, whose 8 bytes have been overwritten by something else", what,
            offset, cta->rank);
        return NULL;
    }
    if (!hazard_mbarrier_knows(actor->warp, barrier->sync))
        (void)emu_report(
            actor->warp, actor->op, actor->lane, EMU_MBARRIER_ORDER,
            "%s on the mbarrier at shared+0x%x of CTA %u: no barrier orders this behind its initialisation "
            "by another warp",
            what, offset, cta->rank);
    return barrier;
}

static enum emu_result report(const struct emu_actor *actor, struct emu_cta *cta, const struct emu_mbarrier *barrier,
                              enum mbarrier_status status, const char *what, uint32_t value)
{
    AUTO_BUFFER text = buffer_new(1024);

    emu_mbarrier_describe(cta, barrier, &text);
    switch (status) {
    case MBARRIER_OK:
        break;
    case MBARRIER_BAD_COUNT:
        return emu_report(actor->warp, actor->op, actor->lane, EMU_MBARRIER,
                          "%s with count %u, which is not in 1..%d: %s", what, value, MBARRIER_COUNT_MAX, text.data);
    case MBARRIER_OVER_ARRIVED:
        return emu_report(actor->warp, actor->op, actor->lane, EMU_MBARRIER,
                          "%s with count %u is more than the running phase still waits for: %s", what, value,
                          text.data);
    case MBARRIER_TX_RANGE:
        return emu_report(actor->warp, actor->op, actor->lane, EMU_MBARRIER,
                          "%s of %u bytes takes the tx-count out of its range of 2^20 - 1: %s", what, value, text.data);
    }
    return EMU_CONTINUE;
}

/* The end of every change: mirrors it, or reports why there is none. */
static enum emu_result finish(const struct emu_actor *actor, struct emu_cta *cta, struct emu_mbarrier *barrier,
                              enum mbarrier_status status, const char *what, uint32_t value)
{
    if (status != MBARRIER_OK)
        return report(actor, cta, barrier, status, what, value);
    store(cta, barrier);
    emu_progress(actor->warp);
    return EMU_CONTINUE;
}

enum emu_result emu_mbarrier_init(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset, uint32_t count)
{
    struct emu_mbarrier *barrier = find_or_add(&emu_async_cta(cta)->mbarriers, offset);
    enum mbarrier_status status = mbarrier_init(&barrier->state, count);

    hazard_mbarrier_init(actor->warp, &barrier->sync);
    barrier->live = barrier->live || status == MBARRIER_OK;
    barrier->last_op = barrier->last_bytes_op = EMU_NO_OP;
    return finish(actor, cta, barrier, status, "mbarrier.init", count);
}

enum emu_result emu_mbarrier_invalidate(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "mbarrier.inval");

    if (!barrier)
        return EMU_FAULT;
    barrier->live = false;
    return EMU_CONTINUE;
}

enum emu_result emu_mbarrier_arrive(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset, uint32_t count,
                                    bool drop, uint64_t *token)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "arrival");

    if (!barrier)
        return EMU_FAULT;
    if (cta != actor->warp->cta && !cta->live_threads)
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_COPY_AFTER_EXIT,
                         "the arrival at the mbarrier at shared+0x%x of CTA %u comes when all threads of that CTA have "
                         "exited",
                         offset, cta->rank);
    if (token)
        *token = mbarrier_token(&barrier->state);
    hazard_remote(actor->warp, actor->op, cta);
    hazard_mbarrier_arrive(actor->warp, barrier->sync);
    uint64_t phase = barrier->state.phase;
    enum mbarrier_status status = mbarrier_arrive(&barrier->state, count, drop);
    if (barrier->state.phase != phase)
        hazard_mbarrier_complete(cta->cluster, barrier->sync);
    enum emu_result result = finish(actor, cta, barrier, status, "arrival", count);
    barrier->last_op = op_index(actor);
    barrier->last_warp = actor->warp->index;
    barrier->last_cta = actor->warp->cta->rank;
    return result;
}

enum emu_result emu_mbarrier_expect_tx(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                       uint32_t bytes)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "expect_tx");

    if (!barrier)
        return EMU_FAULT;
    return finish(actor, cta, barrier, mbarrier_expect_tx(&barrier->state, bytes), "expect_tx", bytes);
}

enum emu_result emu_mbarrier_complete_tx(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                         uint32_t bytes)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "complete_tx");

    if (!barrier)
        return EMU_FAULT;
    barrier->last_bytes_op = op_index(actor);
    uint64_t phase = barrier->state.phase;
    enum mbarrier_status status = mbarrier_complete_tx(&barrier->state, bytes);
    if (barrier->state.phase != phase)
        hazard_mbarrier_complete(cta->cluster, barrier->sync);
    return finish(actor, cta, barrier, status, "complete_tx", bytes);
}

enum emu_result emu_mbarrier_add_pending(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "cp.async.mbarrier.arrive");

    if (!barrier)
        return EMU_FAULT;
    return finish(actor, cta, barrier, mbarrier_add_pending(&barrier->state), "cp.async.mbarrier.arrive", 1);
}

void emu_mbarrier_describe(const struct emu_cta *cta, const struct emu_mbarrier *barrier, struct buffer *out)
{
    const struct emu_program *program = cta->cluster->grid->program;
    const struct mbarrier *state = &barrier->state;
    char place[256];

    (void)buffer_printf(out, "mbarrier at shared+0x%x of CTA %u: phase %" PRIu64 ", pending arrivals %u of %u, ",
                        barrier->offset, cta->rank, state->phase, state->pending, state->expected);
    if (state->tx < 0)
        (void)buffer_printf(out, "tx-count %d: %d bytes landed that no expect_tx announced", state->tx, -state->tx);
    else
        (void)buffer_printf(out, "tx-count %d bytes outstanding", state->tx);
    if (barrier->last_bytes_op != EMU_NO_OP)
        (void)buffer_printf(out, ", last bytes by %s", emu_place(program, barrier->last_bytes_op, place, sizeof place));
    if (barrier->last_op == EMU_NO_OP)
        (void)buffer_append_text(out, ", no arrival yet");
    else
        (void)buffer_printf(out, ", last arrival at %s by warp %u of CTA %u",
                            emu_place(program, barrier->last_op, place, sizeof place), barrier->last_warp,
                            barrier->last_cta);
}

struct emu_cta *emu_async_locate(const struct emu_actor *actor, uint64_t address, bool generic, bool any_cta,
                                 uint32_t bytes, uint32_t align, const char *what, uint32_t *offset)
{
    const struct emu_space *space = emu_grid_of(actor->warp)->space;
    struct emu_cta *own = actor->warp->cta, *owner;
    uint64_t shared = address;

    if (generic && !emu_is_shared(space, address)) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_ASYNC_OPERAND,
                         "%s address 0x%" PRIx64 " is not in shared memory", what, address);
        return NULL;
    }
    if (generic)
        shared = (uint32_t)address;
    uint64_t rank = shared >> EMU_CTA_SHIFT, place = shared & ((1u << EMU_CTA_SHIFT) - 1);
    if (rank >= own->cluster->cta_count) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_ASYNC_OPERAND,
                         "%s address 0x%" PRIx64 " is not in the shared memory of any CTA of the cluster", what,
                         address);
        return NULL;
    }
    owner = &own->cluster->ctas[rank];
    if (owner != own && !any_cta) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_ASYNC_OPERAND,
                         "%s address 0x%" PRIx64 " belongs to CTA %" PRIu64 " of the cluster; the instruction takes "
                         "addresses of the executing CTA, which is %u",
                         what, address, rank, own->rank);
        return NULL;
    }
    if (place < EMU_SHARED_RESERVED || place + bytes > owner->shared_bytes) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_SHARED_OUT_OF_BOUNDS,
                         "%s of %u bytes at shared+0x%" PRIx64
                         " leaves the shared memory of the CTA, which ends at 0x%x",
                         what, bytes, place, owner->shared_bytes);
        return NULL;
    }
    if (place % align) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_MISALIGNED,
                         "%s address shared+0x%" PRIx64 " is not aligned to %u bytes", what, place, align);
        return NULL;
    }
    *offset = (uint32_t)place;
    return owner;
}
