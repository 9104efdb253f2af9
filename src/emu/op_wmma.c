/*
 * wmma.load, wmma.store, wmma.mma: matrices of a warp in fragments whose layout the ISA leaves open. Source: PTX ISA,
 * 9.7.14.4.
 *
 * Accumulators lie as those of mma do, in blocks of 8 columns, which programs have come to rely on. In A and B element
 * number i of the row-major matrix belongs to lane i % 32; where a fragment has room for more elements (f16), they
 * are repeated.
 */
#include "emu/fragment.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/matrix_product.h"

enum { REGISTERS_MAX = 8, ELEMENTS_MAX = 512, BLOCK_COLUMNS = 8 };

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED };

/* A matrix in registers. */
struct matrix {
    enum number_format format; /* of an element; s32 accumulators: F32, their bits are moved */
    int rows, columns;
    uint32_t bytes, parts; /* of an element, elements in a register */
    uint32_t count;
    emu_slot registers[REGISTERS_MAX];
    uint16_t place[REGISTERS_MAX * 4][EMU_LANES]; /* in the row-major matrix: of each part of each register */
};

struct transfer {
    struct matrix matrix;
    struct emu_address address;
    enum space space;
    bool store, by_columns;
    emu_slot stride; /* in elements; EMU_NO_SLOT: rows or columns follow one another */
};

struct multiply {
    struct matrix_product product;
    struct matrix a, b, c, d;
    bool integer, halves;
};

static uint8_t *element_bytes(struct emu_warp *warp, const struct emu_op *op, const struct transfer *t, int lane,
                              uint64_t address)
{
    uint32_t bytes = t->matrix.bytes;

    switch (t->space) {
    case SPACE_GLOBAL:
        return emu_global_bytes(warp, op, lane, address, bytes, bytes, t->store);
    case SPACE_SHARED:
        return emu_shared_bytes(warp, op, lane, address, bytes, bytes, t->store, false, NULL);
    case SPACE_GENERIC:
        break;
    }
    return emu_generic_bytes(warp, op, lane, address, bytes, bytes, t->store);
}

static enum emu_result op_transfer(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct transfer *t = op->detail;
    const struct matrix *m = &t->matrix;
    uint64_t addresses[EMU_LANES];
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    emu_address_lanes(warp, &t->address, addresses);
    for (uint32_t r = 0; r < m->count; r++) {
        uint32_t values[EMU_LANES] = {0};
        uint32_t *lanes = emu_lanes32(warp, m->registers[r]);

        for (uint32_t i = 0; i < m->parts * EMU_LANES; i++) {
            uint32_t lane = i % EMU_LANES, shift = i / EMU_LANES * m->bytes * 8;
            uint32_t at = m->place[r * m->parts + i / EMU_LANES][lane];
            uint32_t row = at / (uint32_t)m->columns, column = at % (uint32_t)m->columns;
            uint32_t line = t->by_columns ? column : row, inner = t->by_columns ? row : column;
            uint32_t pitch = (uint32_t)(t->by_columns ? m->rows : m->columns), value = 0;

            if (t->stride != EMU_NO_SLOT)
                pitch = emu_lanes32(warp, t->stride)[lane];
            uint8_t *bytes =
                element_bytes(warp, op, t, (int)lane, addresses[lane] + ((uint64_t)line * pitch + inner) * m->bytes);
            if (!bytes)
                return EMU_FAULT;
            if (t->store) {
                value = lanes[lane] >> shift;
                memcpy(bytes, &value, m->bytes);
            } else {
                memcpy(&value, bytes, m->bytes);
                values[lane] |= value << shift;
            }
        }
        if (!t->store)
            emu_commit32(lanes, values, warp->live);
    }
    if (t->store)
        emu_progress(warp);
    return EMU_CONTINUE;
}

/* The elements as they are in the registers, row-major. */
static void gather(const struct emu_warp *warp, const struct matrix *m, uint8_t *out)
{
    for (uint32_t r = 0; r < m->count; r++) {
        for (uint32_t part = 0; part < m->parts; part++) {
            EMU_FOR_LANES(l)
            {
                uint32_t value = emu_lanes32(warp, m->registers[r])[l] >> (part * m->bytes * 8);

                memcpy(out + m->place[r * m->parts + part][l] * m->bytes, &value, m->bytes);
            }
        }
    }
}

static void scatter(const struct emu_warp *warp, const struct matrix *m, const uint8_t *in)
{
    for (uint32_t r = 0; r < m->count; r++) {
        uint32_t values[EMU_LANES] = {0};

        for (uint32_t part = 0; part < m->parts; part++) {
            EMU_FOR_LANES(l)
            {
                uint32_t value = 0;

                memcpy(&value, in + m->place[r * m->parts + part][l] * m->bytes, m->bytes);
                values[l] |= value << (part * m->bytes * 8);
            }
        }
        emu_commit32(emu_lanes32(warp, m->registers[r]), values, warp->live);
    }
}

static enum emu_result op_multiply(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct multiply *m = op->detail;
    union {
        float f[ELEMENTS_MAX];
        int32_t i[ELEMENTS_MAX];
        uint16_t h[ELEMENTS_MAX];
    } a, b, c, d = {0};
    uint8_t raw[ELEMENTS_MAX * 4];
    size_t a_count = (size_t)(m->a.rows * m->a.columns), b_count = (size_t)(m->b.rows * m->b.columns);
    size_t d_count = (size_t)(m->d.rows * m->d.columns);
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    gather(warp, &m->c, (uint8_t *)&c);
    gather(warp, &m->a, raw);
    if (m->integer)
        number_decode_integers(m->a.format, raw, a.i, a_count);
    else
        number_decode_floats(m->a.format, raw, a.f, a_count);
    gather(warp, &m->b, raw);
    if (m->integer) {
        number_decode_integers(m->b.format, raw, b.i, b_count);
        matrix_product_s32(&m->product, a.i, b.i, c.i);
        scatter(warp, &m->d, (const uint8_t *)c.i);
        return EMU_CONTINUE;
    }
    number_decode_floats(m->b.format, raw, b.f, b_count);
    number_decode_floats(m->c.format, &c, d.f, d_count);
    matrix_product_f32(&m->product, a.f, b.f, d.f);
    for (size_t i = 0; m->halves && i < d_count; i++) { /* in place: a half ends before its float does */
        double value = (double)d.f[i];
        d.h[i] = (uint16_t)number_encode(NUMBER_F16, value, NUMBER_RN, 0);
    }
    scatter(warp, &m->d, (const uint8_t *)&d);
    return EMU_CONTINUE;
}

/* Lowering. */

static bool find_format(enum ptx_type type, struct matrix *m)
{
    static const struct {
        uint8_t type;
        enum number_format format;
        uint32_t bytes;
    } formats[] = {{PTX_F16, NUMBER_F16, 2}, {PTX_BF16, NUMBER_BF16, 2}, {PTX_TF32, NUMBER_TF32, 4},
                   {PTX_F32, NUMBER_F32, 4}, {PTX_S32, NUMBER_F32, 4},   {PTX_S8, NUMBER_S8, 1},
                   {PTX_U8, NUMBER_U8, 1}};

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (formats[i].type != type)
            continue;
        m->format = formats[i].format;
        m->bytes = formats[i].bytes;
        m->parts = 4 / m->bytes;
        return true;
    }
    return false;
}

/* Which element register r of a lane holds in its part p: see the top of the file. */
static uint16_t place_of(const struct matrix *m, bool accumulator, uint32_t r, uint32_t part, int lane)
{
    int elements = m->rows * m->columns, height = m->rows < 16 ? m->rows : 16;
    struct fragment fragment = fragment_mma_d(height, (int)m->parts);
    int block, in_block, down;

    if (!accumulator)
        return (uint16_t)(((int)(r * m->parts + part) * EMU_LANES + lane) % elements);
    block = (int)r / fragment.registers;
    in_block = (int)r % fragment.registers;
    down = block % (m->rows / height);

    struct fragment_element at = fragment_at(&fragment, lane, in_block, (int)part);
    int column = block / (m->rows / height) * BLOCK_COLUMNS + at.column;

    return (uint16_t)((down * height + at.row) * m->columns + column);
}

static bool lower_matrix(struct emu_lower *l, uint32_t index, char name, enum ptx_type type, bool is_target,
                         struct matrix *m)
{
    const struct ptx_operand *list = emu_lower_operand(l, index);
    const uint16_t *size = l->instruction->size;
    bool accumulator = name == 'c' || name == 'd';
    uint32_t elements;

    if (!find_format(type, m))
        return emu_lower_unsupported(l, "this type");
    m->rows = name == 'b' ? size[2] : size[0];
    m->columns = name == 'a' ? size[2] : size[1];
    elements = (uint32_t)(m->rows * m->columns);
    m->count = list && list->kind == PTX_OPERAND_VECTOR ? list->count : 1;
    if (!list || m->count > REGISTERS_MAX || !elements || elements > ELEMENTS_MAX || m->rows % 8 || m->columns % 8 ||
        m->count * m->parts * EMU_LANES % elements || (accumulator && m->count * m->parts * EMU_LANES != elements))
        return emu_lower_refuse(l, "operand %u has %u registers, which do not hold a matrix of %d x %d", index,
                                m->count, m->rows, m->columns);
    for (uint32_t r = 0; r < m->count; r++) {
        const struct ptx_operand *element = list->kind == PTX_OPERAND_VECTOR ? emu_lower_element(l, list, r) : list;

        if (is_target ? !emu_lower_target(l, element, 32, &m->registers[r])
                      : !emu_lower_source(l, element, PTX_B32, &m->registers[r]))
            return false;
        for (uint32_t part = 0; part < m->parts; part++)
            for (int lane = 0; lane < EMU_LANES; lane++)
                m->place[r * m->parts + part][lane] = place_of(m, accumulator, r, part, lane);
    }
    return true;
}

static bool lower_transfer(struct emu_lower *l, bool store)
{
    struct transfer *t = emu_lower_detail(l, sizeof *t);
    const struct ptx_operand *stride = emu_lower_operand(l, 2);
    char name = emu_lower_has(l, PTX_M_A) ? 'a' : emu_lower_has(l, PTX_M_B) ? 'b' : 'c';

    t->store = store;
    t->by_columns = emu_lower_has(l, PTX_M_COL);
    t->space = emu_lower_has(l, PTX_M_GLOBAL)                                         ? SPACE_GLOBAL
               : emu_lower_has(l, PTX_M_SHARED) || emu_lower_has(l, PTX_M_SHARED_CTA) ? SPACE_SHARED
                                                                                      : SPACE_GENERIC;
    t->stride = EMU_NO_SLOT;
    if (!lower_matrix(l, store ? 1 : 0, name, emu_lower_type(l, 0), !store, &t->matrix) ||
        !emu_lower_address(l, emu_lower_operand(l, store ? 0 : 1), &t->address) ||
        (stride && !emu_lower_source(l, stride, PTX_B32, &t->stride)))
        return false;
    emu_lower_add(l, op_transfer)->detail = t;
    return true;
}

/* Types: D, A, B, C; of f16 operands only D, C. */
static bool lower_multiply(struct emu_lower *l)
{
    struct multiply *m = emu_lower_detail(l, sizeof *m);
    bool is_short = l->instruction->type_count == 2;
    enum ptx_type d = emu_lower_type(l, 0), c = emu_lower_type(l, is_short ? 1 : 3);
    enum ptx_type a = is_short ? PTX_F16 : emu_lower_type(l, 1), b = is_short ? PTX_F16 : emu_lower_type(l, 2);
    const uint16_t *size = l->instruction->size;

    m->integer = d == PTX_S32;
    m->halves = d == PTX_F16;
    m->product = (struct matrix_product){
        .m = size[0], .n = size[1], .k = size[2], .saturate = emu_lower_has(l, PTX_M_SATFINITE)};
    if (!lower_matrix(l, 0, 'd', d, true, &m->d) || !lower_matrix(l, 1, 'a', a, false, &m->a) ||
        !lower_matrix(l, 2, 'b', b, false, &m->b) || !lower_matrix(l, 3, 'c', c, false, &m->c))
        return false;
    if (number_is_integer(m->a.format) != m->integer || number_is_integer(m->b.format) != m->integer ||
        (c == PTX_S32) != m->integer)
        return emu_lower_unsupported(l, "these types together");
    emu_lower_add(l, op_multiply)->detail = m;
    return true;
}

bool emu_lower_wmma(struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_MMA))
        return lower_multiply(l);
    return lower_transfer(l, emu_lower_has(l, PTX_M_STORE));
}
