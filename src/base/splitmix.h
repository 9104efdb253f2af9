/*
 * SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The same everywhere, and
 * no secret. Pure functions of the state.
 */
#ifndef PTXBENCH_BASE_SPLITMIX_H
#define PTXBENCH_BASE_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The output function: a bijection that spreads every bit. */
static inline uint64_t splitmix_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The next number of the sequence that `*state`, any value, began. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    return splitmix_mix(*state += SPLITMIX_STEP);
}

#endif
