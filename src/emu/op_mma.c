/* mma.sync of 8- and 16-bit floats, tf32, f64 and 8-bit integers, dense. Source: PTX ISA, 9.7.14.5. */
#include "emu/fragment.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/matrix_product.h"

enum { M_MAX = 16, N = 8, K_MAX = 32, REGISTERS_MAX = 8 };

enum arithmetic { ARITHMETIC_F32, ARITHMETIC_F16, ARITHMETIC_S32, ARITHMETIC_F64 };

/* One operand: its registers, and the place in a dense row-major matrix of each part of each register of each lane. */
struct operand {
    uint32_t count; /* registers */
    uint32_t parts;
    emu_slot registers[REGISTERS_MAX];
    uint16_t place[REGISTERS_MAX * 4][EMU_LANES];
};

struct mma {
    struct matrix_product product;
    enum arithmetic arithmetic;
    enum number_format a_format, b_format;
    struct operand a, b, c, d;
};

static void gather(const struct emu_warp *warp, const struct operand *operand, enum number_format format, float *floats,
                   int32_t *integers)
{
    unsigned bits = 32 / operand->parts;

    for (uint32_t r = 0; r < operand->count; r++) {
        const uint32_t *lanes = emu_lanes32(warp, operand->registers[r]);

        for (uint32_t part = 0; part < operand->parts; part++) {
            const uint16_t *place = operand->place[r * operand->parts + part];

            EMU_FOR_LANES(l)
            {
                float value = number_decode(format, lanes[l] >> (bits * part));

                if (integers)
                    integers[place[l]] = (int32_t)value;
                else
                    floats[place[l]] = value;
            }
        }
    }
}

/* Accumulators, whose parts are moved as they are. */
static void gather_raw(const struct emu_warp *warp, const struct operand *operand, uint32_t *words, uint16_t *halves)
{
    for (uint32_t r = 0; r < operand->count; r++) {
        const uint32_t *lanes = emu_lanes32(warp, operand->registers[r]);

        for (uint32_t part = 0; part < operand->parts; part++) {
            const uint16_t *place = operand->place[r * operand->parts + part];

            EMU_FOR_LANES(l)
            {
                if (words)
                    words[place[l]] = lanes[l];
                else
                    halves[place[l]] = (uint16_t)(lanes[l] >> (16 * part));
            }
        }
    }
}

static void scatter_raw(const struct emu_warp *warp, const struct operand *operand, const uint32_t *words,
                        const uint16_t *halves)
{
    for (uint32_t r = 0; r < operand->count; r++) {
        uint32_t values[EMU_LANES] = {0};

        for (uint32_t part = 0; part < operand->parts; part++) {
            const uint16_t *place = operand->place[r * operand->parts + part];

            EMU_FOR_LANES(l)
            values[l] |= words ? words[place[l]] : (uint32_t)halves[place[l]] << (16 * part);
        }
        emu_commit32(emu_lanes32(warp, operand->registers[r]), values, warp->live);
    }
}

static void gather_f64(const struct emu_warp *warp, const struct operand *operand, double *out)
{
    for (uint32_t r = 0; r < operand->count; r++) {
        const uint64_t *lanes = emu_lanes64(warp, operand->registers[r]);

        EMU_FOR_LANES(l)
        out[operand->place[r][l]] = emu_f64(lanes[l]);
    }
}

static void multiply_f64(const struct emu_warp *warp, const struct mma *mma)
{
    double a[M_MAX * K_MAX], b[K_MAX * N], d[M_MAX * N];

    gather_f64(warp, &mma->a, a);
    gather_f64(warp, &mma->b, b);
    gather_f64(warp, &mma->c, d);
    matrix_product_f64(&mma->product, a, b, d);
    for (uint32_t r = 0; r < mma->d.count; r++) {
        uint64_t values[EMU_LANES];

        EMU_FOR_LANES(l)
        values[l] = emu_f64_bits(d[mma->d.place[r][l]]);
        emu_commit64(emu_lanes64(warp, mma->d.registers[r]), values, warp->live);
    }
}

static void multiply_s32(const struct emu_warp *warp, const struct mma *mma)
{
    int32_t a[M_MAX * K_MAX], b[K_MAX * N], d[M_MAX * N];

    gather(warp, &mma->a, mma->a_format, NULL, a);
    gather(warp, &mma->b, mma->b_format, NULL, b);
    gather_raw(warp, &mma->c, (uint32_t *)d, NULL);
    matrix_product_s32(&mma->product, a, b, d);
    scatter_raw(warp, &mma->d, (const uint32_t *)d, NULL);
}

static void multiply_float(const struct emu_warp *warp, const struct mma *mma)
{
    float a[M_MAX * K_MAX], b[K_MAX * N], work[M_MAX * N];
    uint32_t words[M_MAX * N];
    uint16_t halves[M_MAX * N];

    gather(warp, &mma->a, mma->a_format, a, NULL);
    gather(warp, &mma->b, mma->b_format, b, NULL);
    if (mma->arithmetic == ARITHMETIC_F16) {
        gather_raw(warp, &mma->c, NULL, halves);
        matrix_product_f16(&mma->product, a, b, halves, work);
        scatter_raw(warp, &mma->d, NULL, halves);
    } else {
        gather_raw(warp, &mma->c, words, NULL);
        memcpy(work, words, sizeof work);
        matrix_product_f32(&mma->product, a, b, work);
        memcpy(words, work, sizeof words);
        scatter_raw(warp, &mma->d, words, NULL);
    }
}

static enum emu_result op_mma(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct mma *mma = op->detail;
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    if (mma->arithmetic == ARITHMETIC_F64)
        multiply_f64(warp, mma);
    else if (mma->arithmetic == ARITHMETIC_S32)
        multiply_s32(warp, mma);
    else
        multiply_float(warp, mma);
    return EMU_CONTINUE;
}

static const struct {
    uint8_t type;
    enum number_format format;
} formats[] = {{PTX_F16, NUMBER_F16},   {PTX_BF16, NUMBER_BF16}, {PTX_TF32, NUMBER_TF32}, {PTX_E4M3, NUMBER_E4M3},
               {PTX_E5M2, NUMBER_E5M2}, {PTX_S8, NUMBER_S8},     {PTX_U8, NUMBER_U8}};

static bool find_format(enum ptx_type type, enum number_format *out)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (formats[i].type == type) {
            *out = formats[i].format;
            return true;
        }
    }
    return false;
}

static bool lower_operand(struct emu_lower *l, uint32_t index, const struct fragment *fragment, bool wide,
                          struct operand *out)
{
    const struct ptx_operand *list = emu_lower_operand(l, index);
    uint32_t count = list && list->kind == PTX_OPERAND_VECTOR ? list->count : 1;

    if (!list || count != (uint32_t)fragment->registers || count > REGISTERS_MAX)
        return emu_lower_refuse(l, "operand %u has %u registers, the shape needs %d", index, count,
                                fragment->registers);
    out->count = count;
    out->parts = (uint32_t)fragment->parts;
    for (uint32_t r = 0; r < count; r++) {
        const struct ptx_operand *element = list->kind == PTX_OPERAND_VECTOR ? emu_lower_element(l, list, r) : list;

        if (index == 0 ? !emu_lower_target(l, element, wide ? 64 : 32, &out->registers[r])
                       : !emu_lower_source(l, element, wide ? PTX_F64 : PTX_B32, &out->registers[r]))
            return false;
        for (uint32_t part = 0; part < out->parts; part++) {
            for (int lane = 0; lane < EMU_LANES; lane++) {
                struct fragment_element at = fragment_at(fragment, lane, (int)r, (int)part);

                out->place[r * out->parts + part][lane] = (uint16_t)(at.row * fragment->columns + at.column);
            }
        }
    }
    return true;
}

static bool find_arithmetic(const struct emu_lower *l, struct mma *mma)
{
    enum ptx_type d = emu_lower_type(l, 0), a = emu_lower_type(l, 1), b = emu_lower_type(l, 2);

    if (d == PTX_F64 && a == PTX_F64) {
        mma->arithmetic = ARITHMETIC_F64;
        return true;
    }
    if (!find_format(a, &mma->a_format) || !find_format(b, &mma->b_format) || emu_lower_type(l, 3) != d)
        return false;
    mma->arithmetic = d == PTX_F32 ? ARITHMETIC_F32 : d == PTX_F16 ? ARITHMETIC_F16 : ARITHMETIC_S32;
    return number_is_integer(mma->a_format) == (mma->arithmetic == ARITHMETIC_S32) &&
           (d == PTX_F32 || d == PTX_F16 || d == PTX_S32);
}

bool emu_lower_mma(struct emu_lower *l)
{
    struct mma *mma = emu_lower_detail(l, sizeof *mma);
    int m = l->instruction->size[0], n = l->instruction->size[1], k = l->instruction->size[2];

    if (emu_lower_has(l, PTX_M_SP) || emu_lower_has(l, PTX_M_SP_ORDERED_METADATA) ||
        emu_lower_has(l, PTX_M_BLOCK_SCALE) || !find_arithmetic(l, mma))
        return emu_lower_unsupported(l, NULL);

    bool wide = mma->arithmetic == ARITHMETIC_F64;
    int parts = wide ? 1 : 4 / number_bytes(mma->a_format);
    int d_parts = mma->arithmetic == ARITHMETIC_F16 ? 2 : 1;

    if (n != N || (m != 16 && m != 8) || k % (4 * parts) || k > K_MAX || (m == 8 && parts == 2))
        return emu_lower_unsupported(l, "this shape");

    struct fragment a = fragment_mma_a(m, k, parts), b = fragment_mma_b(k, parts), d = fragment_mma_d(m, d_parts);

    mma->product = (struct matrix_product){.m = m, .n = n, .k = k, .saturate = emu_lower_has(l, PTX_M_SATFINITE)};
    if (!lower_operand(l, 0, &d, wide, &mma->d) || !lower_operand(l, 1, &a, wide, &mma->a) ||
        !lower_operand(l, 2, &b, wide, &mma->b) || !lower_operand(l, 3, &d, wide, &mma->c))
        return false;
    emu_lower_add(l, op_mma)->detail = mma;
    return true;
}
