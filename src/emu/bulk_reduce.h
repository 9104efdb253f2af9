/*
 * Element-wise reductions of cp.reduce.async.bulk and its tensor form: memory = memory op value. Pure; thread-safe.
 * Source: PTX ISA, cp.reduce.async.bulk (9.7.9.25.4.2): which operation has which types.
 */
#ifndef PTXBENCH_EMU_BULK_REDUCE_H
#define PTXBENCH_EMU_BULK_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bulk_operation {
    BULK_COPY, /* no reduction */
    BULK_ADD,
    BULK_MIN,
    BULK_MAX,
    BULK_INC, /* old >= value ? 0 : old + 1 */
    BULK_DEC, /* old == 0 || old > value ? value : old - 1 */
    BULK_AND,
    BULK_OR,
    BULK_XOR
};

enum bulk_type {
    BULK_U8,
    BULK_S8,
    BULK_U16,
    BULK_S16,
    BULK_U32,
    BULK_S32,
    BULK_U64,
    BULK_S64,
    BULK_F16,
    BULK_BF16,
    BULK_F32,
    BULK_F64
};

uint32_t bulk_type_bytes(enum bulk_type type);

/* Whether the ISA has the operation for the type. */
bool bulk_reduce_allows(enum bulk_operation operation, enum bulk_type type);

/* Reduces `bytes` (a multiple of the type's size) of `source` into `memory`; any alignment. BULK_COPY copies. Floats:
 * add rounds to nearest even in the type, min and max prefer numbers to NaN. */
void bulk_reduce(enum bulk_operation operation, enum bulk_type type, void *memory, const void *source, size_t bytes);

#endif
