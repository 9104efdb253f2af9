/* The arithmetic of one wgmma, and what is checked about its operands in shared memory. */
#include <string.h>

#include "emu/fragment.h"
#include "emu/hazard.h"
#include "emu/matrix_product.h"
#include "emu/wgmma_queue.h"

enum { K_MAX = 32, K_BYTES = 32, CHECK_PROBES = 8 };

static enum emu_code code_of(enum layout_severity severity)
{
    return severity == LAYOUT_ERROR    ? EMU_MATRIX_LAYOUT
           : severity == LAYOUT_HAZARD ? EMU_MATRIX_LAYOUT_HAZARD
                                       : EMU_MATRIX_LAYOUT_NOTE;
}

/* Where the check of an operand of an instruction is remembered. `*known`: it is there already. */
static struct wgmma_checked *find_check(const struct wgmma_product *product, uint64_t descriptor, char name,
                                        bool *known)
{
    uint64_t hash = (descriptor ^ (uint64_t)(product->async.op->ptx + 1) << 20 ^ (uint64_t)name << 56) *
                    UINT64_C(0x9e3779b97f4a7c15);
    struct wgmma_checked *first = &product->group->checked[hash >> 32 & (WGMMA_CHECKS - 1)], *checked = first;

    for (int i = 1; i < CHECK_PROBES && checked->hash && checked->hash != hash; i++)
        checked = &product->group->checked[((hash >> 32) + (uint64_t)i) & (WGMMA_CHECKS - 1)];
    if (checked->hash && checked->hash != hash)
        checked = first;
    *known = checked->hash == hash;
    checked->hash = hash;
    return checked;
}

/* `agrees`: with what the copies wrote; then doubts about what the author meant are no more than notes. */
static bool check_layout(const struct wgmma_product *product, const struct smem_operand *operand, bool agrees,
                         char name)
{
    struct layout_finding findings[LAYOUT_MAX_FINDINGS];
    const struct emu_async_op *async = &product->async;
    int count = smem_operand_check(operand, product->group->cta->shared_bytes, findings);
    bool ok = true;

    for (int i = 0; i < count; i++) {
        if (agrees && findings[i].severity == LAYOUT_HAZARD)
            findings[i].severity = LAYOUT_NOTE;
        ok &= emu_report(async->warp, async->op, -1, code_of(findings[i].severity), "matrix %c: %s; %s", name,
                         findings[i].text, findings[i].hint) == EMU_CONTINUE;
    }
    return ok;
}

/* Bytes that no thread and no copy has written. The range as a whole is looked at before its chunks: it is cheap. */
static void check_written(const struct wgmma_product *product, const struct smem_operand *operand, uint32_t end,
                          char name)
{
    const struct emu_cta *cta = product->group->cta;
    uint32_t begin = operand->descriptor.start;

    if (begin < end && emu_shared_is_written(cta, begin, end - begin))
        return;
    for (int line = 0; line < smem_operand_line_count(operand); line++) {
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            uint32_t address = smem_operand_chunk(operand, line, chunk);
            if (emu_shared_is_written(cta, address, 1))
                continue;
            (void)emu_report(product->async.warp, product->async.op, -1, EMU_UNINITIALISED_SHARED,
                             "matrix %c of the wgmma reads shared+0x%x, which nobody has written", name, address);
            return;
        }
    }
}

static bool load_operand(const struct wgmma_product *product, char name, uint64_t descriptor, int rows, bool mn_major,
                         enum number_format format, enum matrix_order order, void *out)
{
    const struct emu_cta *cta = product->group->cta;
    struct smem_operand operand;
    struct error error;

    bool known;
    struct wgmma_checked *checked = find_check(product, descriptor, name, &known);

    if (smem_operand_init(&operand, descriptor, number_bytes(format), rows, mn_major, &error)) {
        if (!known && !check_layout(product, &operand, hazard_operand_agrees(product, descriptor, mn_major), name))
            return false;
        checked->end = known ? checked->end : smem_operand_end(&operand);
        check_written(product, &operand, checked->end, name);
        if (matrix_operand_load(&operand, format, cta->shared, cta->shared_bytes, order, out, &error))
            return true;
    }
    (void)emu_report(product->async.warp, product->async.op, -1, EMU_MATRIX_LAYOUT, "matrix %c: %s", name,
                     error.message);
    return false;
}

/* A from registers: 64 x k, floats or int32. */
static void load_registers(const struct wgmma_product *product, void *out)
{
    const struct wgmma_detail *detail = product->detail;
    struct fragment fragment = fragment_wgmma_a(4 / number_bytes(detail->a_format));
    uint32_t dense[WGMMA_M][K_BYTES / 4];

    for (int i = 0; i < 4; i++) {
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_element at = fragment_at(&fragment, lane, i, 0); /* its parts are neighbours */
            for (int warp = 0; warp < WGMMA_WARPS; warp++)
                dense[16 * warp + at.row][at.column / fragment.parts] = product->a[warp][i][lane];
        }
    }
    if (number_is_integer(detail->a_format))
        number_decode_integers(detail->a_format, dense, out, (size_t)(WGMMA_M * detail->k));
    else
        number_decode_floats(detail->a_format, dense, out, (size_t)(WGMMA_M * detail->k));
}

bool wgmma_multiply(const struct wgmma_product *product, void *rows)
{
    const struct wgmma_detail *detail = product->detail;
    union {
        float f[K_MAX * WGMMA_N_MAX];
        int32_t i[K_MAX * WGMMA_N_MAX];
    } a, b;
    struct matrix_product multiply = {
        .m = WGMMA_M,
        .n = detail->n,
        .k = detail->k,
        .zero_d = product->zero_d,
        .negate_a = detail->negate_a,
        .negate_b = detail->negate_b,
        .saturate = detail->saturate,
    };

    if (detail->a_in_registers)
        load_registers(product, &a);
    else if (!load_operand(product, 'A', product->a_descriptor, WGMMA_M, detail->a_mn_major, detail->a_format,
                           MATRIX_ROWS_BY_K, &a))
        return false;
    if (!load_operand(product, 'B', product->b_descriptor, detail->n, detail->b_mn_major, detail->b_format,
                      MATRIX_K_BY_ROWS, &b))
        return false;
    switch (detail->result) {
    case WGMMA_F32:
        matrix_product_f32(&multiply, a.f, b.f, rows);
        break;
    case WGMMA_S32:
        matrix_product_s32(&multiply, a.i, b.i, rows);
        break;
    case WGMMA_F16: {
        float work[WGMMA_M * WGMMA_N_MAX];
        matrix_product_f16(&multiply, a.f, b.f, rows, work);
        break;
    }
    }
    return true;
}
