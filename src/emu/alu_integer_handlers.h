/*
 * The handlers of alu_integer.h. Included by one file for each instruction set that they are compiled for, which then has
 * them as ALU_INTEGER_HANDLERS, in order of the rows.
 */
#include "emu/alu_integer.h"
#include "emu/alu_types.h"

#pragma GCC optimize("O3")

static inline int32_t clamp_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

/* Division by zero gives all ones on the hardware; the most negative value by -1 stays. */
static inline int64_t divide_s64(int64_t x, int64_t y)
{
    if (y == 0)
        return -1;
    return y == -1 ? (int64_t)(UINT64_C(0) - (uint64_t)x) : x / y;
}

static inline int64_t remainder_s64(int64_t x, int64_t y)
{
    if (y == 0)
        return x;
    return y == -1 ? 0 : x % y;
}

static inline int64_t sign24(int32_t x)
{
    return ((int64_t)(x & 0xffffff) ^ 0x800000) - 0x800000;
}

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

static inline uint32_t find_sign(uint32_t x, int shift_amount)
{
    uint32_t different = x >> 31 ? ~x : x;
    uint32_t zeros;

    if (!different)
        return UINT32_MAX;
    zeros = (uint32_t)__builtin_clz(different);
    return shift_amount ? zeros : 31 - zeros;
}

static inline uint32_t find_sign64(uint64_t x, int shift_amount)
{
    uint64_t different = x >> 63 ? ~x : x;
    uint32_t zeros;

    if (!different)
        return UINT32_MAX;
    zeros = (uint32_t)__builtin_clzll(different);
    return shift_amount ? zeros : 63 - zeros;
}

/* bfe: start and length are bytes; bits beyond the top are the sign (or zero). */
static inline uint64_t field(uint64_t x, uint32_t start, uint32_t length, uint32_t width, bool sign)
{
    start &= 0xff;
    length &= 0xff;

    uint64_t mask = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    uint64_t value = start >= width ? 0 : x >> start & mask;
    uint32_t top = start + length - 1 < width - 1 ? start + length - 1 : width - 1;
    uint32_t have = start >= width ? 0 : (width - start < length ? width - start : length);

    if (sign && length && x >> top & 1 && have < 64)
        value |= UINT64_MAX << have;
    return value;
}

static inline uint32_t extend_low(uint32_t x, uint32_t bits)
{
    if (bits == 0)
        return 0;
    return (uint32_t)((int32_t)(x << (32 - bits)) >> (32 - bits));
}

static inline uint32_t bit_mask(uint32_t start, uint32_t length, bool wrap)
{
    uint64_t ones;

    if (wrap) {
        start &= 31;
        length &= 31;
    }
    if (start > 31)
        return 0;
    ones = length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return (uint32_t)(ones << start);
}

static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, bool sign_x, bool sign_y)
{
    for (uint32_t i = 0; i < 32; i += 8) {
        int32_t p = sign_x ? (int8_t)(x >> i) : (uint8_t)(x >> i);
        int32_t q = sign_y ? (int8_t)(y >> i) : (uint8_t)(y >> i);

        z += (uint32_t)(p * q);
    }
    return z;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses" /* expressions of the table */
#define X(opcode, variant, type, shape, out, in, expression)                                                           \
    ALU_##shape(alu_##opcode##_##variant##_##type, out, in, expression)
ALU_INTEGER_ROWS(X)
#undef X
#pragma GCC diagnostic pop

emu_handler *const ALU_INTEGER_HANDLERS[] = {
#define X(opcode, variant, type, shape, out, in, expression) alu_##opcode##_##variant##_##type,
    ALU_INTEGER_ROWS(X)
#undef X
};
