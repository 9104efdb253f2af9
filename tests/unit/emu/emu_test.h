/* What every test of src/emu includes. */
#ifndef PTXBENCH_TESTS_EMU_TEST_H
#define PTXBENCH_TESTS_EMU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A small generator, so that failures repeat: xorshift64*. The state must not be zero. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

/* Uniform enough in [0, count). */
static inline uint32_t random_below(uint64_t *state, uint32_t count)
{
    return (uint32_t)((next_random(state) >> 32) % count);
}

#endif
