#include "emu/wgmma_queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/fragment.h"
#include "emu/hazard.h"
#include "emu/hazard_registers.h"

enum { ALL_WARPS = (1 << WGMMA_WARPS) - 1 };
#define POISON UINT32_C(0x7fffffff) /* NaN, also as two f16 but for the lower one's sign */

void async_warpgroup_free(struct async_warpgroup *group)
{
    if (!group)
        return;
    while (group->head) {
        struct wgmma_product *product = group->head;
        group->head = product->next;
        free(product);
    }
    for (int i = 0; i < WGMMA_ACCUMULATORS; i++)
        free(group->accumulators[i].rows);
    free(group);
}

struct async_warpgroup *async_warpgroup_of(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_cta *cta = warp->cta;
    struct async_cta *state = emu_async_cta(cta);
    uint32_t index = warp->index / WGMMA_WARPS;

    if (cta->threads < (index + 1) * WGMMA_WARPS * EMU_LANES) {
        (void)emu_report(warp, op, -1, EMU_WARPGROUP, "wgmma needs warps %u-%u, but the CTA has %u threads",
                         index * WGMMA_WARPS, index * WGMMA_WARPS + 3, cta->threads);
        return NULL;
    }
    if (!state->warpgroups[index]) {
        state->warpgroups[index] = emu_async_allocate(sizeof **state->warpgroups);
        state->warpgroups[index]->cta = cta;
        state->warpgroups[index]->index = index;
    }
    return state->warpgroups[index];
}

/* Accumulators. */

static bool same_registers(const struct wgmma_detail *a, const struct wgmma_detail *b)
{
    return a == b || (a->d_count == b->d_count && a->n == b->n && a->result == b->result &&
                      !memcmp(a->d, b->d, a->d_count * sizeof a->d[0]));
}

static bool share_registers(const struct wgmma_detail *a, const struct wgmma_detail *b)
{
    for (uint32_t i = 0, k = 0; i < a->d_count && k < b->d_count;) {
        if (a->sorted_d[i] == b->sorted_d[k])
            return true;
        if (a->sorted_d[i] < b->sorted_d[k])
            i++;
        else
            k++;
    }
    return false;
}

/* The accumulators of an instruction: those in use already, or free ones. NULL: it has to wait. */
static struct wgmma_accumulators *find_accumulators(struct async_warpgroup *group, const struct wgmma_detail *detail,
                                                    uint32_t warp, const uint8_t *frame)
{
    struct wgmma_accumulators *unused = NULL;

    for (int i = 0; i < WGMMA_ACCUMULATORS; i++) {
        struct wgmma_accumulators *a = &group->accumulators[i];
        if (!a->active) {
            unused = unused ? unused : a;
            continue;
        }
        if (same_registers(a->detail, detail) && (!(a->loaded >> warp & 1) || a->frame[warp] == frame))
            return a;
        if (share_registers(a->detail, detail))
            return NULL;
    }
    return unused;
}

static void activate(struct wgmma_accumulators *a, const struct wgmma_detail *detail)
{
    if (!a->rows)
        a->rows = emu_async_allocate((size_t)WGMMA_M * WGMMA_N_MAX * sizeof(float));
    a->active = true;
    a->detail = detail;
    a->loaded = 0;
    a->pending = 0;
}

static void list_registers(const struct wgmma_detail *detail, uint8_t *frame, uint32_t *registers[WGMMA_N_MAX / 2])
{
    for (uint32_t i = 0; i < detail->d_count; i++)
        registers[i] = (uint32_t *)(void *)(frame + (detail->d[i] & ~UINT32_C(3)));
}

static void *rows_of_warp(const struct wgmma_accumulators *a, uint32_t warp)
{
    size_t element = a->detail->result == WGMMA_F16 ? 2 : 4;

    return (uint8_t *)a->rows + (size_t)warp * 16 * (size_t)a->detail->n * element;
}

static void load_part(struct wgmma_accumulators *a, uint32_t warp, uint8_t *frame, bool zero, bool poison)
{
    uint32_t *registers[WGMMA_N_MAX / 2];

    a->frame[warp] = frame;
    a->loaded |= 1u << warp;
    list_registers(a->detail, frame, registers);
    if (!zero && a->detail->result == WGMMA_F16)
        fragment_gather_d16((const uint32_t *const *)registers, a->detail->n, rows_of_warp(a, warp));
    else if (!zero)
        fragment_gather_d32((const uint32_t *const *)registers, a->detail->n, rows_of_warp(a, warp));
    for (uint32_t i = 0; poison && i < a->detail->d_count; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            registers[i][lane] = POISON;
}

static void store_parts(struct wgmma_accumulators *a)
{
    for (uint32_t warp = 0; warp < WGMMA_WARPS; warp++) {
        uint32_t *registers[WGMMA_N_MAX / 2];

        if (!(a->loaded >> warp & 1))
            continue;
        list_registers(a->detail, a->frame[warp], registers);
        if (a->detail->result == WGMMA_F16)
            fragment_scatter_d16(registers, a->detail->n, rows_of_warp(a, warp));
        else
            fragment_scatter_d32(registers, a->detail->n, rows_of_warp(a, warp));
    }
    a->active = false;
}

/* Products. */

static bool product_is_next(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    const struct wgmma_product *product = (const struct wgmma_product *)op;

    (void)cluster;
    return product->group->landed == product->index;
}

static enum emu_result land_product(struct emu_cluster *cluster, struct emu_async_op *op)
{
    struct wgmma_product *product = (struct wgmma_product *)op;
    struct wgmma_accumulators *a = product->accumulators;

    (void)cluster;
    if (!wgmma_multiply(product, a->rows))
        return EMU_FAULT;
    product->group->landed++;
    if (--a->pending == 0 && !product->detail->chained)
        store_parts(a);
    emu_progress(op->warp);
    return EMU_CONTINUE;
}

static void describe_product(const struct emu_async_op *op, struct buffer *out)
{
    const struct wgmma_product *product = (const struct wgmma_product *)op;
    const struct emu_program *program = emu_grid_of(op->warp)->program;
    char place[256];

    (void)buffer_printf(out, "wgmma m64n%dk%d of warpgroup %u at %s", product->detail->n, product->detail->k,
                        product->group->index,
                        emu_place(program, (uint32_t)(op->op - program->ops), place, sizeof place));
}

static void release_product(struct emu_async_op *op)
{
    free(op);
}

static const struct emu_async_class product_class = {"wgmma", product_is_next, land_product, describe_product,
                                                     release_product};

static struct wgmma_product *find_product(struct async_warpgroup *group, uint64_t index)
{
    struct wgmma_product *product = group->head;

    while (product && product->index != index)
        product = product->next;
    return product;
}

static struct wgmma_product *add_product(struct async_warpgroup *group, const struct emu_op *op)
{
    struct wgmma_product *product = emu_async_allocate(sizeof *product), **link = &group->head;

    product->async.class = &product_class;
    product->async.op = op;
    product->group = group;
    product->detail = op->detail;
    product->index = group->created++;
    while (*link)
        link = &(*link)->next;
    *link = product;
    return product;
}

/* What one warp brings. */
struct part {
    uint32_t warp; /* in the warpgroup */
    uint64_t a, b; /* descriptors */
    bool zero_d;
};

static enum emu_result check_part(struct emu_warp *warp, const struct emu_op *op, const struct wgmma_product *product,
                                  const struct part *part)
{
    const struct emu_program *program = emu_grid_of(warp)->program;
    char place[256];

    if (product->async.op != op)
        return emu_report(warp, op, -1, EMU_WARPGROUP,
                          "warp %u executes this wgmma where another warp of its warpgroup executes the one at %s",
                          warp->index,
                          emu_place(program, (uint32_t)(product->async.op - program->ops), place, sizeof place));
    if (product->a_descriptor != part->a || product->b_descriptor != part->b || product->zero_d != part->zero_d)
        return emu_report(warp, op, -1, EMU_WARPGROUP,
                          "the warps of the warpgroup have different operands: descriptors 0x%016" PRIx64
                          " and 0x%016" PRIx64 ", scale-d %d here, 0x%016" PRIx64 ", 0x%016" PRIx64 ", %d elsewhere",
                          part->a, part->b, !part->zero_d, product->a_descriptor, product->b_descriptor,
                          !product->zero_d);
    return EMU_CONTINUE;
}

/* A warp that will never issue its part. */
static enum emu_result check_partners(struct async_warpgroup *group, struct emu_warp *warp, const struct emu_op *op,
                                      uint64_t index)
{
    for (uint32_t i = 0; i < WGMMA_WARPS; i++) {
        struct emu_warp *other = &group->cta->warps[group->index * WGMMA_WARPS + i];
        if (other->live == UINT32_MAX || emu_async_warp(other)->wgmma_issued > index)
            continue;
        return emu_report(warp, op, -1, EMU_WARPGROUP, "the warpgroup is incomplete: %s of warp %u have exited",
                          other->live ? "some threads" : "all threads", other->index);
    }
    return EMU_CONTINUE;
}

static bool accumulators_are_free(const struct emu_warp *warp, const struct emu_group *group)
{
    (void)warp;
    return ((const struct async_warpgroup *)group->wait.object)->landed != group->wait.value[0];
}

static void describe_accumulators(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    (void)warp;
    (void)buffer_printf(out,
                        "a wgmma in flight of warpgroup %u that uses the same accumulator registers; warps 0x%x of it "
                        "have not issued it",
                        ((const struct async_warpgroup *)group->wait.object)->index,
                        wgmma_missing_warps(group->wait.object));
}

static const struct emu_wait_class wait_accumulators = {
    .name = "wgmma accumulators", .ready = accumulators_are_free, .describe = describe_accumulators, .retry = true};

uint32_t wgmma_missing_warps(const struct async_warpgroup *group)
{
    return group->head ? ~group->head->warps & ALL_WARPS : 0;
}

static void capture_a(struct wgmma_product *product, struct emu_warp *warp, uint32_t index)
{
    if (!product->detail->a_in_registers)
        return;
    for (int i = 0; i < 4; i++)
        memcpy(product->a[index][i], emu_lanes32(warp, product->detail->a[i]), sizeof product->a[index][i]);
}

static struct part part_of(struct emu_warp *warp, const struct wgmma_detail *detail, uint32_t mask)
{
    uint32_t scale = emu_predicate(warp, detail->scale_d);

    return (struct part){
        .warp = warp->index % WGMMA_WARPS,
        .a = detail->a_in_registers ? 0 : emu_lanes64(warp, detail->a[0])[0],
        .b = emu_lanes64(warp, detail->b)[0],
        .zero_d = !((detail->scale_negated ? ~scale : scale) & mask),
    };
}

enum emu_result wgmma_issue(struct async_warpgroup *group, struct emu_warp *warp, const struct emu_op *op,
                            uint32_t mask)
{
    const struct wgmma_detail *detail = op->detail;
    struct part part = part_of(warp, detail, mask);
    uint64_t index = emu_async_warp(warp)->wgmma_issued;
    struct wgmma_product *product = find_product(group, index);
    uint8_t *frame = warp->base[EMU_BASE_FRAME];
    enum emu_result result = product ? check_part(warp, op, product, &part) : EMU_CONTINUE;

    if (result == EMU_CONTINUE)
        result = check_partners(group, warp, op, index);
    if (result != EMU_CONTINUE)
        return result;
    struct wgmma_accumulators *a = find_accumulators(group, detail, part.warp, frame);
    if (!a)
        return emu_wait(warp, &wait_accumulators, group, group->landed, 0);
    if (!a->active)
        activate(a, detail);
    if (!product) {
        product = add_product(group, op);
        product->a_descriptor = part.a;
        product->b_descriptor = part.b;
        product->zero_d = part.zero_d;
        product->accumulators = a;
        a->pending++;
    }
    if (!(a->loaded >> part.warp & 1))
        load_part(a, part.warp, frame, part.zero_d, emu_grid_of(warp)->schedule.completion != 0);
    hazard_registers_product(warp, op, index, part.zero_d);
    capture_a(product, warp, part.warp);
    product->warps |= 1u << part.warp;
    emu_async_warp(warp)->wgmma_issued++;
    emu_progress(warp);
    if (product->warps != ALL_WARPS)
        return EMU_CONTINUE;
    group->head = product->next;
    product->async.warp = warp;
    hazard_product(product);
    return emu_async_submit(group->cta->cluster, &product->async);
}
