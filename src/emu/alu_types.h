/* Types of the tables of scalar operations: how a lane is read as a C value and written back. */
#ifndef PTXBENCH_EMU_ALU_TYPES_H
#define PTXBENCH_EMU_ALU_TYPES_H

#include "emu/lanes.h"

/* LANE: type of the register lane; C: type of the value; GET, PUT: between them. */
#define LANE_u8 uint32_t
#define LANE_u16 uint32_t
#define LANE_s16 uint32_t
#define LANE_u32 uint32_t
#define LANE_s32 uint32_t
#define LANE_f32 uint32_t
#define LANE_u64 uint64_t
#define LANE_s64 uint64_t
#define LANE_f64 uint64_t

#define C_u16 uint16_t
#define C_s16 int16_t
#define C_u32 uint32_t
#define C_s32 int32_t
#define C_f32 float
#define C_u64 uint64_t
#define C_s64 int64_t
#define C_f64 double

#define GET_u16(lane) ((uint16_t)(lane))
#define GET_s16(lane) ((int16_t)(lane))
#define GET_u32(lane) ((uint32_t)(lane))
#define GET_s32(lane) ((int32_t)(lane))
#define GET_f32(lane) emu_f32(lane)
#define GET_u64(lane) ((uint64_t)(lane))
#define GET_s64(lane) ((int64_t)(lane))
#define GET_f64(lane) emu_f64(lane)

#define PUT_u16(value) ((uint32_t)(uint16_t)(value))
#define PUT_s16(value) ((uint32_t)(uint16_t)(value))
#define PUT_u32(value) ((uint32_t)(value))
#define PUT_s32(value) ((uint32_t)(value))
#define PUT_f32(value) emu_f32_bits(value)
#define PUT_u64(value) ((uint64_t)(value))
#define PUT_s64(value) ((uint64_t)(value))
#define PUT_f64(value) emu_f64_bits(value)

#define COMMIT_u16 emu_commit32
#define COMMIT_s16 emu_commit32
#define COMMIT_u32 emu_commit32
#define COMMIT_s32 emu_commit32
#define COMMIT_f32 emu_commit32
#define COMMIT_u64 emu_commit64
#define COMMIT_s64 emu_commit64
#define COMMIT_f64 emu_commit64

/* Operands of a shape: types of a, b, c, given those of the row (out, in). Each shape has a count of sources. */
#define ALU_LANES(type, warp, slot) ((LANE_##type *)(void *)emu_lanes((warp), (slot)))

#define ALU_UNARY(name, out, in, expression)                                                                           \
    static enum emu_result name(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)                         \
    {                                                                                                                  \
        const LANE_##in *a = ALU_LANES(in, warp, op->a);                                                               \
        LANE_##out values[EMU_LANES];                                                                                  \
                                                                                                                       \
        EMU_FOR_LANES(l)                                                                                               \
        {                                                                                                              \
            C_##in x = GET_##in(a[l]);                                                                                 \
                                                                                                                       \
            values[l] = PUT_##out(expression);                                                                         \
        }                                                                                                              \
        COMMIT_##out(ALU_LANES(out, warp, op->d), values, mask);                                                       \
        return EMU_CONTINUE;                                                                                           \
    }

#define ALU_BINARY_OF(name, out, in, second, expression)                                                               \
    static enum emu_result name(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)                         \
    {                                                                                                                  \
        const LANE_##in *a = ALU_LANES(in, warp, op->a);                                                               \
        const LANE_##second *b = ALU_LANES(second, warp, op->b);                                                       \
        LANE_##out values[EMU_LANES];                                                                                  \
                                                                                                                       \
        EMU_FOR_LANES(l)                                                                                               \
        {                                                                                                              \
            C_##in x = GET_##in(a[l]);                                                                                 \
            C_##second y = GET_##second(b[l]);                                                                         \
                                                                                                                       \
            values[l] = PUT_##out(expression);                                                                         \
        }                                                                                                              \
        COMMIT_##out(ALU_LANES(out, warp, op->d), values, mask);                                                       \
        return EMU_CONTINUE;                                                                                           \
    }

#define ALU_TERNARY_OF(name, out, in, second, third, expression)                                                       \
    static enum emu_result name(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)                         \
    {                                                                                                                  \
        const LANE_##in *a = ALU_LANES(in, warp, op->a);                                                               \
        const LANE_##second *b = ALU_LANES(second, warp, op->b);                                                       \
        const LANE_##third *c = ALU_LANES(third, warp, op->c);                                                         \
        LANE_##out values[EMU_LANES];                                                                                  \
                                                                                                                       \
        EMU_FOR_LANES(l)                                                                                               \
        {                                                                                                              \
            C_##in x = GET_##in(a[l]);                                                                                 \
            C_##second y = GET_##second(b[l]);                                                                         \
            C_##third z = GET_##third(c[l]);                                                                           \
                                                                                                                       \
            values[l] = PUT_##out(expression);                                                                         \
        }                                                                                                              \
        COMMIT_##out(ALU_LANES(out, warp, op->d), values, mask);                                                       \
        return EMU_CONTINUE;                                                                                           \
    }

#define ALU_BINARY(name, out, in, expression) ALU_BINARY_OF(name, out, in, in, expression)
#define ALU_SHIFT(name, out, in, expression) ALU_BINARY_OF(name, out, in, u32, expression)
#define ALU_TERNARY(name, out, in, expression) ALU_TERNARY_OF(name, out, in, in, in, expression)
#define ALU_FIELD(name, out, in, expression) ALU_TERNARY_OF(name, out, in, u32, u32, expression)
#define ALU_FUNNEL(name, out, in, expression) ALU_TERNARY_OF(name, out, in, in, u32, expression)
#define ALU_WIDEN(name, out, in, expression) ALU_TERNARY_OF(name, out, in, in, out, expression)

#endif
