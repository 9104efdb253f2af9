#include "emu/bulk_reduce.h"

#include <math.h>
#include <string.h>

#include "emu/number_format.h"

uint32_t bulk_type_bytes(enum bulk_type type)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

    return bytes[type];
}

bool bulk_reduce_allows(enum bulk_operation operation, enum bulk_type type)
{
    bool is_float = type >= BULK_F16, is_small = bulk_type_bytes(type) < 4;

    switch (operation) {
    case BULK_COPY:
        return true;
    case BULK_ADD:
        return is_float || !is_small;
    case BULK_MIN:
    case BULK_MAX:
        return type == BULK_F16 || type == BULK_BF16 || (!is_float && !is_small);
    case BULK_INC:
    case BULK_DEC:
        return type == BULK_U32;
    case BULK_AND:
    case BULK_OR:
    case BULK_XOR:
        return !is_float && !is_small;
    }
    return false;
}

static uint64_t reduce_unsigned(enum bulk_operation operation, uint64_t old, uint64_t value)
{
    switch (operation) {
    case BULK_ADD:
        return old + value;
    case BULK_MIN:
        return old < value ? old : value;
    case BULK_MAX:
        return old > value ? old : value;
    case BULK_INC:
        return old >= value ? 0 : old + 1;
    case BULK_DEC:
        return old == 0 || old > value ? value : old - 1;
    case BULK_AND:
        return old & value;
    case BULK_OR:
        return old | value;
    case BULK_XOR:
        return old ^ value;
    case BULK_COPY:
        break;
    }
    return value;
}

static uint64_t reduce_signed(enum bulk_operation operation, int64_t old, int64_t value)
{
    if (operation == BULK_MIN)
        return (uint64_t)(old < value ? old : value);
    if (operation == BULK_MAX)
        return (uint64_t)(old > value ? old : value);
    return reduce_unsigned(operation, (uint64_t)old, (uint64_t)value);
}

static double reduce_float(enum bulk_operation operation, double old, double value)
{
    return operation == BULK_MIN ? fmin(old, value) : operation == BULK_MAX ? fmax(old, value) : old + value;
}

/* The sum of two 16-bit floats is exact in double. */
static uint16_t reduce_half(enum bulk_operation operation, enum number_format format, uint16_t old, uint16_t value)
{
    double result = reduce_float(operation, (double)number_decode(format, old), (double)number_decode(format, value));

    return (uint16_t)number_encode(format, result, NUMBER_RN, 0);
}

static int64_t sign_extend(uint64_t value, uint32_t bytes)
{
    unsigned shift = 64 - 8 * bytes;

    return (int64_t)(value << shift) >> shift;
}

/* One element, of a type that is no 32-bit float: those have a loop of their own. */
static uint64_t reduce_element(enum bulk_operation operation, enum bulk_type type, uint64_t old, uint64_t value)
{
    uint32_t bytes = bulk_type_bytes(type);
    double sum[2];

    switch (type) {
    case BULK_F16:
        return reduce_half(operation, NUMBER_F16, (uint16_t)old, (uint16_t)value);
    case BULK_BF16:
        return reduce_half(operation, NUMBER_BF16, (uint16_t)old, (uint16_t)value);
    case BULK_F64:
        memcpy(&sum[0], &old, 8);
        memcpy(&sum[1], &value, 8);
        sum[0] = reduce_float(operation, sum[0], sum[1]);
        memcpy(&old, &sum[0], 8);
        return old;
    case BULK_S8:
    case BULK_S16:
    case BULK_S32:
    case BULK_S64:
        return reduce_signed(operation, sign_extend(old, bytes), sign_extend(value, bytes));
    default:
        return reduce_unsigned(operation, old, value);
    }
}

static void reduce_f32(enum bulk_operation operation, uint8_t *memory, const uint8_t *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float old, value;
        memcpy(&old, memory + 4 * i, 4);
        memcpy(&value, source + 4 * i, 4);
        old = operation == BULK_MIN ? fminf(old, value) : operation == BULK_MAX ? fmaxf(old, value) : old + value;
        memcpy(memory + 4 * i, &old, 4);
    }
}

void bulk_reduce(enum bulk_operation operation, enum bulk_type type, void *memory, const void *source, size_t bytes)
{
    uint32_t size = bulk_type_bytes(type);

    if (operation == BULK_COPY) {
        memcpy(memory, source, bytes);
        return;
    }
    if (type == BULK_F32) {
        reduce_f32(operation, memory, source, bytes / 4);
        return;
    }
    for (size_t at = 0; at + size <= bytes; at += size) {
        uint64_t old = 0, value = 0;
        memcpy(&old, (uint8_t *)memory + at, size);
        memcpy(&value, (const uint8_t *)source + at, size);
        old = reduce_element(operation, type, old, value);
        memcpy((uint8_t *)memory + at, &old, size);
    }
}
