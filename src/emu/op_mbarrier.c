/* mbarrier.*: see mbarrier.h for what the operations do, mbarrier_table.h for the objects of a CTA. */
#include <inttypes.h>

#include "emu/async_groups.h"
#include "emu/hazard.h"
#include "emu/lower_async.h"

/* What the operand list and the modifiers of an instruction say. */
struct detail {
    struct emu_address address;
    bool generic, any_cta;
    bool drop, expect, has_count, keeps_phase;
};

static struct emu_actor actor_at(struct emu_warp *warp, const struct emu_op *op, uint32_t lane)
{
    return (struct emu_actor){warp, op, (int)lane};
}

static struct emu_cta *locate(const struct emu_actor *actor, const struct detail *detail, uint64_t address,
                              uint32_t *offset)
{
    return emu_async_locate(actor, address, detail->generic, detail->any_cta, MBARRIER_BYTES, MBARRIER_BYTES,
                            "mbarrier", offset);
}

/* One lane's share of an instruction that changes a barrier. */
typedef enum emu_result lane_function(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                      const struct emu_op *op);

static enum emu_result for_lanes(struct emu_warp *warp, const struct emu_op *op, uint32_t mask, lane_function *function)
{
    const struct detail *detail = op->detail;
    uint64_t addresses[EMU_LANES];
    enum emu_result result = EMU_CONTINUE;

    emu_address_lanes(warp, &detail->address, addresses);
    for (uint32_t rest = mask; rest && result == EMU_CONTINUE; rest &= rest - 1) {
        struct emu_actor actor = actor_at(warp, op, (uint32_t)__builtin_ctz(rest));
        uint32_t offset;
        struct emu_cta *cta = locate(&actor, detail, addresses[actor.lane], &offset);
        result = cta ? function(&actor, cta, offset, op) : EMU_FAULT;
    }
    return result;
}

static enum emu_result init_lane(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                 const struct emu_op *op)
{
    return emu_mbarrier_init(actor, cta, offset, emu_lanes32(actor->warp, op->a)[actor->lane]);
}

static enum emu_result inval_lane(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                  const struct emu_op *op)
{
    (void)op;
    return emu_mbarrier_invalidate(actor, cta, offset);
}

static enum emu_result expect_lane(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                   const struct emu_op *op)
{
    return emu_mbarrier_expect_tx(actor, cta, offset, emu_lanes32(actor->warp, op->a)[actor->lane]);
}

static enum emu_result complete_lane(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                     const struct emu_op *op)
{
    return emu_mbarrier_complete_tx(actor, cta, offset, emu_lanes32(actor->warp, op->a)[actor->lane]);
}

/* .noComplete promises that the arrival does not complete the phase. */
static enum emu_result check_no_complete(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                         uint32_t count)
{
    const struct emu_mbarrier *barrier = emu_mbarrier_at(actor, cta, offset, "arrival");

    if (!barrier)
        return EMU_FAULT;
    if (barrier->state.pending > count || barrier->state.tx != 0)
        return EMU_CONTINUE;
    return emu_report(actor->warp, actor->op, actor->lane, EMU_MBARRIER,
                      "arrival with .noComplete and count %u would complete the phase: %u arrivals are pending", count,
                      barrier->state.pending);
}

static enum emu_result arrive_lane(const struct emu_actor *actor, struct emu_cta *cta, uint32_t offset,
                                   const struct emu_op *op)
{
    const struct detail *detail = op->detail;
    uint32_t value = detail->has_count ? emu_lanes32(actor->warp, op->a)[actor->lane] : 1;
    enum emu_result result = EMU_CONTINUE;
    uint64_t token;

    if (detail->expect)
        result = emu_mbarrier_expect_tx(actor, cta, offset, value);
    else if (detail->keeps_phase)
        result = check_no_complete(actor, cta, offset, value);
    if (result == EMU_CONTINUE)
        result = emu_mbarrier_arrive(actor, cta, offset, detail->expect ? 1 : value, detail->drop, &token);
    if (result == EMU_CONTINUE && op->d != EMU_NO_SLOT)
        emu_lanes64(actor->warp, op->d)[actor->lane] = token;
    return result;
}

#define HANDLER(name)                                                                                                  \
    static enum emu_result op_##name(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)                    \
    {                                                                                                                  \
        return for_lanes(warp, op, mask, name##_lane);                                                                 \
    }
HANDLER(init)
HANDLER(inval)
HANDLER(expect)
HANDLER(complete)
HANDLER(arrive)

static enum emu_result op_pending_count(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t *d = emu_lanes32(warp, op->d);
    const uint64_t *tokens = emu_lanes64(warp, op->a);

    for (uint32_t rest = mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = mbarrier_token_pending(tokens[__builtin_ctz(rest)]);
    return EMU_CONTINUE;
}

/* What the lanes of a test see. */
struct test {
    uint32_t complete; /* lanes whose phase is complete */
    struct emu_cta *cta;
    struct emu_mbarrier *barrier; /* of the last lane that waits */
    bool same;                    /* all lanes look at one barrier */
};

static bool lane_is_complete(const struct emu_warp *warp, const struct emu_op *op, int lane,
                             const struct mbarrier *barrier)
{
    if (op->immediate) /* .parity */
        return mbarrier_parity_is_complete(barrier, emu_lanes32(warp, op->a)[lane]);
    return mbarrier_token_is_complete(barrier, emu_lanes64(warp, op->a)[lane]);
}

static bool test_lanes(struct emu_warp *warp, const struct emu_op *op, uint32_t mask, struct test *test)
{
    const struct detail *detail = op->detail;
    const struct emu_mbarrier *known = NULL;
    uint64_t addresses[EMU_LANES];

    *test = (struct test){.same = true};
    emu_address_lanes(warp, &detail->address, addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        struct emu_actor actor = actor_at(warp, op, (uint32_t)__builtin_ctz(rest));
        uint32_t offset;
        struct emu_cta *cta = locate(&actor, detail, addresses[actor.lane], &offset);
        struct emu_mbarrier *barrier = cta ? emu_mbarrier_at(&actor, cta, offset, "wait") : NULL;

        if (!barrier)
            return false;
        if (lane_is_complete(warp, op, actor.lane, &barrier->state)) {
            if (barrier != known)
                hazard_mbarrier_wait(warp, barrier->sync, barrier->state.phase);
            known = barrier;
            test->complete |= 1u << actor.lane;
        }
        test->same = test->same && (!test->barrier || test->barrier == barrier);
        test->barrier = barrier;
        test->cta = cta;
    }
    return true;
}

static enum emu_result op_test_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct test test;

    if (!test_lanes(warp, op, mask, &test))
        return EMU_FAULT;
    emu_set_predicate(warp, op->d, test.complete, mask);
    return test.complete == mask ? EMU_CONTINUE : emu_poll(warp);
}

static bool phase_is_over(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct emu_mbarrier *barrier = group->wait.object;

    (void)warp;
    return barrier->state.phase != group->wait.value[0] || !barrier->live;
}

static void describe_wait(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct emu_mbarrier *barrier = group->wait.object;

    (void)buffer_printf(out, "the phase of parity %d of ", (int)(group->wait.value[0] & 1));
    emu_mbarrier_describe(&warp->cta->cluster->ctas[group->wait.value[1]], barrier, out);
}

/* Bytes that do not come while all threads have arrived; or some arrivals, but not all. */
static uint32_t suspect_wait(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct mbarrier *state = &((const struct emu_mbarrier *)group->wait.object)->state;

    (void)warp;
    if (state->tx != 0)
        return 3;
    return state->pending < state->expected ? 2 : 1;
}

static const struct emu_wait_class wait_phase = {.name = "mbarrier",
                                                 .ready = phase_is_over,
                                                 .describe = describe_wait,
                                                 .suspicion = suspect_wait,
                                                 .retry = true,
                                                 .may_time_out = true};

/* Lanes that wait for several barriers: whichever moves first. */
static bool something_happened(const struct emu_warp *warp, const struct emu_group *group)
{
    return emu_grid_of(warp)->progress != group->wait.value[0];
}

static const struct emu_wait_class wait_any = {
    .name = "mbarriers", .ready = something_happened, .describe = describe_wait, .retry = true, .may_time_out = true};

static enum emu_result op_try_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct test test;

    if (!test_lanes(warp, op, mask, &test))
        return EMU_FAULT;
    if (!test.complete && !warp->current->timed_out)
        return test.same ? emu_wait(warp, &wait_phase, test.barrier, test.barrier->state.phase, test.cta->rank)
                         : emu_wait(warp, &wait_any, test.barrier, emu_grid_of(warp)->progress, test.cta->rank);
    warp->current->timed_out = false;
    emu_set_predicate(warp, op->d, test.complete, mask);
    return test.complete == mask ? EMU_CONTINUE : EMU_YIELD;
}

bool emu_lower_async_address(struct emu_lower *l, uint32_t index, struct emu_address *out)
{
    return emu_lower_address(l, emu_lower_operand(l, index), out);
}

/* [address] at `index` and the state space of the instruction. */
static struct detail *lower_object(struct emu_lower *l, uint32_t index)
{
    struct detail *detail = emu_lower_detail(l, sizeof *detail);

    detail->any_cta = emu_lower_has(l, PTX_M_SHARED_CLUSTER);
    detail->generic = !detail->any_cta && !emu_lower_has(l, PTX_M_SHARED) && !emu_lower_has(l, PTX_M_SHARED_CTA);
    if (!emu_lower_async_address(l, index, &detail->address))
        return NULL;
    /* A shared variable named without a state space stands for its shared address. */
    if (detail->address.relative != EMU_ADDRESS_PLAIN)
        detail->generic = false;
    return detail;
}

/* [address], value. */
static bool lower_change(struct emu_lower *l, emu_handler *run, bool has_value)
{
    struct detail *detail = lower_object(l, 0);
    emu_slot value = EMU_NO_SLOT;

    if (!detail || (has_value && !emu_lower_source(l, emu_lower_operand(l, 1), PTX_U32, &value)))
        return false;
    struct emu_op *op = emu_lower_add(l, run);
    op->a = value;
    op->detail = detail;
    return true;
}

/* token or _, [address] {, count or bytes}. Without a token the address comes first. */
static bool lower_arrive(struct emu_lower *l)
{
    const struct ptx_operand *first = emu_lower_operand(l, 0);
    uint32_t at = first && first->kind != PTX_OPERAND_ADDRESS;
    struct detail *detail = lower_object(l, at);
    emu_slot token = EMU_NO_SLOT, value = EMU_NO_SLOT;

    if (!detail)
        return false;
    detail->drop = emu_lower_has(l, PTX_M_ARRIVE_DROP);
    detail->expect = emu_lower_has(l, PTX_M_EXPECT_TX);
    detail->keeps_phase = emu_lower_has(l, PTX_M_NOCOMPLETE);
    detail->has_count = l->instruction->operand_count > at + 1;
    if (detail->expect && !detail->has_count)
        return emu_lower_refuse(l, "expect_tx needs a number of bytes");
    if (at && first->kind != PTX_OPERAND_SINK && !emu_lower_target(l, first, 64, &token))
        return false;
    if (detail->has_count && !emu_lower_source(l, emu_lower_operand(l, at + 1), PTX_U32, &value))
        return false;
    struct emu_op *op = emu_lower_add(l, op_arrive);
    op->d = token;
    op->a = value;
    op->detail = detail;
    return true;
}

/* p, [address], token or parity {, suspend time}. */
static bool lower_test(struct emu_lower *l, emu_handler *run)
{
    bool parity = emu_lower_has(l, PTX_M_PARITY);
    struct detail *detail = lower_object(l, 1);
    emu_slot done, value;

    if (!detail || !emu_lower_target(l, emu_lower_operand(l, 0), 1, &done) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), parity ? PTX_U32 : PTX_U64, &value))
        return false;
    struct emu_op *op = emu_lower_add(l, run);
    op->d = done;
    op->a = value;
    op->immediate = parity;
    op->detail = detail;
    return true;
}

static bool lower_pending_count(struct emu_lower *l)
{
    emu_slot count, token;

    if (!emu_lower_target(l, emu_lower_operand(l, 0), 32, &count) ||
        !emu_lower_source(l, emu_lower_operand(l, 1), PTX_U64, &token))
        return false;
    struct emu_op *op = emu_lower_add(l, op_pending_count);
    op->d = count;
    op->a = token;
    return true;
}

bool emu_lower_mbarrier(struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_INIT))
        return lower_change(l, op_init, true);
    if (emu_lower_has(l, PTX_M_INVAL))
        return lower_change(l, op_inval, false);
    if (emu_lower_has(l, PTX_M_ARRIVE) || emu_lower_has(l, PTX_M_ARRIVE_DROP))
        return lower_arrive(l);
    if (emu_lower_has(l, PTX_M_EXPECT_TX))
        return lower_change(l, op_expect, true);
    if (emu_lower_has(l, PTX_M_COMPLETE_TX))
        return lower_change(l, op_complete, true);
    if (emu_lower_has(l, PTX_M_TEST_WAIT))
        return lower_test(l, op_test_wait);
    if (emu_lower_has(l, PTX_M_TRY_WAIT))
        return lower_test(l, op_try_wait);
    if (emu_lower_has(l, PTX_M_PENDING_COUNT))
        return lower_pending_count(l);
    return emu_lower_unsupported(l, NULL);
}
