/* Loops over the 32 lanes of a warp: writing results under a mask, and bit patterns of floats. */
#ifndef PTXBENCH_EMU_LANES_H
#define PTXBENCH_EMU_LANES_H

#include <stdint.h>
#include <string.h>

#include "emu/machine.h"

/* emu_lane_bit[l] == 1 << l: a table, so that the compiler vectorises what uses it. */
extern const uint32_t emu_lane_bit[EMU_LANES];

#define EMU_FOR_LANES(l) for (int l = 0; l < EMU_LANES; l++)

/* for (lanes of mask): visits set bits only */
#define EMU_FOR_MASK(l, mask)                                                                                          \
    for (uint32_t l##_left = (mask), l = l##_left ? (uint32_t)__builtin_ctz(l##_left) : 0; l##_left;                   \
         l##_left &= l##_left - 1, l = l##_left ? (uint32_t)__builtin_ctz(l##_left) : 0)

static inline void emu_commit32(uint32_t *d, const uint32_t *values, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(d, values, EMU_LANES * sizeof *d);
        return;
    }
    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? values[l] : d[l];
}

static inline void emu_commit64(uint64_t *d, const uint64_t *values, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(d, values, EMU_LANES * sizeof *d);
        return;
    }
    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? values[l] : d[l];
}

static inline float emu_f32(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t emu_f32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double emu_f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t emu_f64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
