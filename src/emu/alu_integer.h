/*
 * Integer operations, one row each: X(opcode, variant, type, shape, out, in, expression of x, y, z).
 *
 * A row for an unsigned type also serves the signed and untyped (.b) ones of the same size that have no row of their own.
 * Shapes (alu_types.h): UNARY, BINARY, TERNARY: all operands of type `in`. SHIFT: y is u32. FIELD: y, z are u32.
 * FUNNEL: z is u32. WIDEN: z has the type of the result. Source: PTX ISA, 9.7.1 Integer, 9.7.8 Logic and Shift.
 */
#ifndef PTXBENCH_EMU_ALU_INTEGER_H
#define PTXBENCH_EMU_ALU_INTEGER_H

#define ALU_INTEGER_ROWS(X)                                                                                            \
    X(ADD, LO, U16, BINARY, u16, u16, x + y)                                                                           \
    X(ADD, LO, U32, BINARY, u32, u32, x + y)                                                                           \
    X(ADD, LO, U64, BINARY, u64, u64, x + y)                                                                           \
    X(ADD, SAT, S32, BINARY, s32, s32, clamp_s32((int64_t)x + y))                                                      \
    X(ADD, LO, U16X2, BINARY, u32, u32, (x + (y & 0xffff0000)) & 0xffff0000 | ((x + y) & 0xffff))                      \
    X(SUB, LO, U16, BINARY, u16, u16, x - y)                                                                           \
    X(SUB, LO, U32, BINARY, u32, u32, x - y)                                                                           \
    X(SUB, LO, U64, BINARY, u64, u64, x - y)                                                                           \
    X(SUB, SAT, S32, BINARY, s32, s32, clamp_s32((int64_t)x - y))                                                      \
    X(MUL, LO, U16, BINARY, u16, u16, (uint32_t)x *y)                                                                  \
    X(MUL, LO, U32, BINARY, u32, u32, x *y)                                                                            \
    X(MUL, LO, U64, BINARY, u64, u64, x *y)                                                                            \
    X(MUL, HI, U16, BINARY, u16, u16, (uint32_t)x *y >> 16)                                                            \
    X(MUL, HI, S16, BINARY, s16, s16, (int32_t)x *y >> 16)                                                             \
    X(MUL, HI, U32, BINARY, u32, u32, (uint64_t)x *y >> 32)                                                            \
    X(MUL, HI, S32, BINARY, s32, s32, (int64_t)x *y >> 32)                                                             \
    X(MUL, HI, U64, BINARY, u64, u64, (unsigned __int128)x *y >> 64)                                                   \
    X(MUL, HI, S64, BINARY, s64, s64, (__int128)x *y >> 64)                                                            \
    X(MUL, WIDE, U16, BINARY, u32, u16, (uint32_t)x *y)                                                                \
    X(MUL, WIDE, S16, BINARY, s32, s16, (int32_t)x *y)                                                                 \
    X(MUL, WIDE, U32, BINARY, u64, u32, (uint64_t)x *y)                                                                \
    X(MUL, WIDE, S32, BINARY, s64, s32, (int64_t)x *y)                                                                 \
    X(MAD, LO, U16, TERNARY, u16, u16, (uint32_t)x *y + z)                                                             \
    X(MAD, LO, U32, TERNARY, u32, u32, x *y + z)                                                                       \
    X(MAD, LO, U64, TERNARY, u64, u64, x *y + z)                                                                       \
    X(MAD, HI, U16, TERNARY, u16, u16, ((uint32_t)x * y >> 16) + z)                                                    \
    X(MAD, HI, S16, TERNARY, s16, s16, ((int32_t)x * y >> 16) + z)                                                     \
    X(MAD, HI, U32, TERNARY, u32, u32, ((uint64_t)x * y >> 32) + z)                                                    \
    X(MAD, HI, S32, TERNARY, u32, s32, (uint32_t)((int64_t)x * y >> 32) + (uint32_t)z)                                 \
    X(MAD, HI, U64, TERNARY, u64, u64, (uint64_t)((unsigned __int128)x * y >> 64) + z)                                 \
    X(MAD, HI, S64, TERNARY, u64, s64, (uint64_t)((__int128)x * y >> 64) + (uint64_t)z)                                \
    X(MAD, SAT, S32, TERNARY, s32, s32, clamp_s32(((int64_t)x * y >> 32) + z))                                         \
    X(MAD, WIDE, U16, WIDEN, u32, u16, (uint32_t)x *y + z)                                                             \
    X(MAD, WIDE, S16, WIDEN, u32, s16, (uint32_t)((int32_t)x * y) + z)                                                 \
    X(MAD, WIDE, U32, WIDEN, u64, u32, (uint64_t)x *y + z)                                                             \
    X(MAD, WIDE, S32, WIDEN, u64, s32, (uint64_t)((int64_t)x * y) + z)                                                 \
    X(MUL24, LO, U32, BINARY, u32, u32, (x & 0xffffff) * (y & 0xffffff))                                               \
    X(MUL24, LO, S32, BINARY, s32, s32, sign24(x) * sign24(y))                                                         \
    X(MUL24, HI, U32, BINARY, u32, u32, (uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16)                               \
    X(MUL24, HI, S32, BINARY, s32, s32, sign24(x) * sign24(y) >> 16)                                                   \
    X(MAD24, LO, U32, TERNARY, u32, u32, (x & 0xffffff) * (y & 0xffffff) + z)                                          \
    X(MAD24, LO, S32, TERNARY, s32, s32, sign24(x) * sign24(y) + z)                                                    \
    X(MAD24, HI, U32, TERNARY, u32, u32, ((uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16) + z)                        \
    X(MAD24, HI, S32, TERNARY, s32, s32, (sign24(x) * sign24(y) >> 16) + z)                                            \
    X(SAD, LO, U16, TERNARY, u16, u16, z + (x < y ? y - x : x - y))                                                    \
    X(SAD, LO, S16, TERNARY, s16, s16, z + (x < y ? y - x : x - y))                                                    \
    X(SAD, LO, U32, TERNARY, u32, u32, z + (x < y ? y - x : x - y))                                                    \
    X(SAD, LO, S32, TERNARY, u32, s32, (uint32_t)z + (x < y ? (uint32_t)y - (uint32_t)x : (uint32_t)x - (uint32_t)y))  \
    X(SAD, LO, U64, TERNARY, u64, u64, z + (x < y ? y - x : x - y))                                                    \
    X(SAD, LO, S64, TERNARY, u64, s64, (uint64_t)z + (x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y))  \
    X(DIV, LO, U16, BINARY, u16, u16, y ? x / y : 0xffff)                                                              \
    X(DIV, LO, S16, BINARY, s16, s16, divide_s64(x, y))                                                                \
    X(DIV, LO, U32, BINARY, u32, u32, y ? x / y : UINT32_MAX)                                                          \
    X(DIV, LO, S32, BINARY, s32, s32, divide_s64(x, y))                                                                \
    X(DIV, LO, U64, BINARY, u64, u64, y ? x / y : UINT64_MAX)                                                          \
    X(DIV, LO, S64, BINARY, s64, s64, divide_s64(x, y))                                                                \
    X(REM, LO, U16, BINARY, u16, u16, y ? x % y : x)                                                                   \
    X(REM, LO, S16, BINARY, s16, s16, remainder_s64(x, y))                                                             \
    X(REM, LO, U32, BINARY, u32, u32, y ? x % y : x)                                                                   \
    X(REM, LO, S32, BINARY, s32, s32, remainder_s64(x, y))                                                             \
    X(REM, LO, U64, BINARY, u64, u64, y ? x % y : x)                                                                   \
    X(REM, LO, S64, BINARY, s64, s64, remainder_s64(x, y))                                                             \
    X(MIN, LO, U16, BINARY, u16, u16, x < y ? x : y)                                                                   \
    X(MIN, LO, S16, BINARY, s16, s16, x < y ? x : y)                                                                   \
    X(MIN, LO, U32, BINARY, u32, u32, x < y ? x : y)                                                                   \
    X(MIN, LO, S32, BINARY, s32, s32, x < y ? x : y)                                                                   \
    X(MIN, LO, U64, BINARY, u64, u64, x < y ? x : y)                                                                   \
    X(MIN, LO, S64, BINARY, s64, s64, x < y ? x : y)                                                                   \
    X(MAX, LO, U16, BINARY, u16, u16, x > y ? x : y)                                                                   \
    X(MAX, LO, S16, BINARY, s16, s16, x > y ? x : y)                                                                   \
    X(MAX, LO, U32, BINARY, u32, u32, x > y ? x : y)                                                                   \
    X(MAX, LO, S32, BINARY, s32, s32, x > y ? x : y)                                                                   \
    X(MAX, LO, U64, BINARY, u64, u64, x > y ? x : y)                                                                   \
    X(MAX, LO, S64, BINARY, s64, s64, x > y ? x : y)                                                                   \
    X(MIN, RELU, S32, BINARY, s32, s32, x < y ? (x < 0 ? 0 : x) : (y < 0 ? 0 : y))                                     \
    X(MAX, RELU, S32, BINARY, s32, s32, x > y ? (x < 0 ? 0 : x) : (y < 0 ? 0 : y))                                     \
    X(ABS, LO, S16, UNARY, s16, s16, x < 0 ? -x : x)                                                                   \
    X(ABS, LO, S32, UNARY, u32, s32, x < 0 ? 0u - (uint32_t)x : (uint32_t)x)                                           \
    X(ABS, LO, S64, UNARY, u64, s64, x < 0 ? UINT64_C(0) - (uint64_t)x : (uint64_t)x)                                  \
    X(NEG, LO, U16, UNARY, u16, u16, 0u - x)                                                                           \
    X(NEG, LO, U32, UNARY, u32, u32, 0u - x)                                                                           \
    X(NEG, LO, U64, UNARY, u64, u64, UINT64_C(0) - x)                                                                  \
    X(AND, LO, U16, BINARY, u16, u16, x &y)                                                                            \
    X(AND, LO, U32, BINARY, u32, u32, x &y)                                                                            \
    X(AND, LO, U64, BINARY, u64, u64, x &y)                                                                            \
    X(OR, LO, U16, BINARY, u16, u16, x | y)                                                                            \
    X(OR, LO, U32, BINARY, u32, u32, x | y)                                                                            \
    X(OR, LO, U64, BINARY, u64, u64, x | y)                                                                            \
    X(XOR, LO, U16, BINARY, u16, u16, x ^ y)                                                                           \
    X(XOR, LO, U32, BINARY, u32, u32, x ^ y)                                                                           \
    X(XOR, LO, U64, BINARY, u64, u64, x ^ y)                                                                           \
    X(NOT, LO, U16, UNARY, u16, u16, ~(uint32_t)x)                                                                     \
    X(NOT, LO, U32, UNARY, u32, u32, ~x)                                                                               \
    X(NOT, LO, U64, UNARY, u64, u64, ~x)                                                                               \
    X(CNOT, LO, U16, UNARY, u16, u16, x == 0)                                                                          \
    X(CNOT, LO, U32, UNARY, u32, u32, x == 0)                                                                          \
    X(CNOT, LO, U64, UNARY, u64, u64, x == 0)                                                                          \
    X(SHL, LO, U16, SHIFT, u16, u16, y > 15 ? 0 : (uint32_t)x << (y & 15))                                             \
    X(SHL, LO, U32, SHIFT, u32, u32, y > 31 ? 0 : x << (y & 31))                                                       \
    X(SHL, LO, U64, SHIFT, u64, u64, y > 63 ? 0 : x << (y & 63))                                                       \
    X(SHR, LO, U16, SHIFT, u16, u16, y > 15 ? 0 : x >> (y & 15))                                                       \
    X(SHR, LO, S16, SHIFT, s16, s16, x >> (y > 15 ? 15 : y))                                                           \
    X(SHR, LO, U32, SHIFT, u32, u32, y > 31 ? 0 : x >> (y & 31))                                                       \
    X(SHR, LO, S32, SHIFT, s32, s32, x >> (y > 31 ? 31 : y))                                                           \
    X(SHR, LO, U64, SHIFT, u64, u64, y > 63 ? 0 : x >> (y & 63))                                                       \
    X(SHR, LO, S64, SHIFT, s64, s64, x >> (y > 63 ? 63 : y))                                                           \
    X(SHF, LEFT_WRAP, U32, FUNNEL, u32, u32, (uint32_t)((((uint64_t)y << 32 | x) << (z & 31)) >> 32))                  \
    X(SHF, LEFT_CLAMP, U32, FUNNEL, u32, u32, z > 31 ? x : (uint32_t)((((uint64_t)y << 32 | x) << (z & 31)) >> 32))    \
    X(SHF, RIGHT_WRAP, U32, FUNNEL, u32, u32, (uint32_t)(((uint64_t)y << 32 | x) >> (z & 31)))                         \
    X(SHF, RIGHT_CLAMP, U32, FUNNEL, u32, u32, z > 31 ? y : (uint32_t)(((uint64_t)y << 32 | x) >> (z & 31)))           \
    X(POPC, LO, U32, UNARY, u32, u32, (uint32_t)__builtin_popcount(x))                                                 \
    X(POPC, LO, U64, UNARY, u32, u64, (uint32_t)__builtin_popcountll(x))                                               \
    X(CLZ, LO, U32, UNARY, u32, u32, x ? (uint32_t)__builtin_clz(x) : 32)                                              \
    X(CLZ, LO, U64, UNARY, u32, u64, x ? (uint32_t)__builtin_clzll(x) : 64)                                            \
    X(BREV, LO, U32, UNARY, u32, u32, reverse32(x))                                                                    \
    X(BREV, LO, U64, UNARY, u64, u64, (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32)))         \
    X(BFIND, LO, U32, UNARY, u32, u32, x ? 31 - (uint32_t)__builtin_clz(x) : UINT32_MAX)                               \
    X(BFIND, LO, S32, UNARY, u32, u32, find_sign(x, 0))                                                                \
    X(BFIND, LO, U64, UNARY, u32, u64, x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX)                             \
    X(BFIND, LO, S64, UNARY, u32, u64, find_sign64(x, 0))                                                              \
    X(BFIND, SHIFTAMT, U32, UNARY, u32, u32, x ? (uint32_t)__builtin_clz(x) : UINT32_MAX)                              \
    X(BFIND, SHIFTAMT, S32, UNARY, u32, u32, find_sign(x, 1))                                                          \
    X(BFIND, SHIFTAMT, U64, UNARY, u32, u64, x ? (uint32_t)__builtin_clzll(x) : UINT32_MAX)                            \
    X(BFIND, SHIFTAMT, S64, UNARY, u32, u64, find_sign64(x, 1))                                                        \
    X(BFE, LO, U32, FIELD, u32, u32, field(x, y, z, 32, false))                                                        \
    X(BFE, LO, S32, FIELD, u32, u32, field(x, y, z, 32, true))                                                         \
    X(BFE, LO, U64, FIELD, u64, u64, field(x, y, z, 64, false))                                                        \
    X(BFE, LO, S64, FIELD, u64, u64, field(x, y, z, 64, true))                                                         \
    X(SZEXT, CLAMP, U32, BINARY, u32, u32, y > 31 ? x : y == 0 ? 0 : x & (UINT32_MAX >> (32 - y)))                     \
    X(SZEXT, WRAP, U32, BINARY, u32, u32, (y & 31) == 0 ? 0 : x & (UINT32_MAX >> (32 - (y & 31))))                     \
    X(SZEXT, CLAMP, S32, BINARY, u32, u32, y > 31 ? x : extend_low(x, y))                                              \
    X(SZEXT, WRAP, S32, BINARY, u32, u32, extend_low(x, y & 31))                                                       \
    X(BMSK, CLAMP, U32, BINARY, u32, u32, bit_mask(x, y, false))                                                       \
    X(BMSK, WRAP, U32, BINARY, u32, u32, bit_mask(x, y, true))                                                         \
    X(DP4A, UU, U32, TERNARY, u32, u32, dot4(x, y, z, false, false))                                                   \
    X(DP4A, US, U32, TERNARY, u32, u32, dot4(x, y, z, false, true))                                                    \
    X(DP4A, SU, U32, TERNARY, u32, u32, dot4(x, y, z, true, false))                                                    \
    X(DP4A, SS, U32, TERNARY, u32, u32, dot4(x, y, z, true, true))

#endif
