/* One emulator for all tests of a program. */
#ifndef PTXBENCH_TESTS_EMU_GROUP_H
#define PTXBENCH_TESTS_EMU_GROUP_H

#include "emu_run.h"

/* For cmocka_run_group_tests(tests, run_setup, run_teardown). */
static struct emulator *emulator;

static inline int run_setup(void **state)
{
    (void)state;
    emulator = run_emulator();
    return 0;
}

static inline int run_teardown(void **state)
{
    (void)state;
    emulator_free(emulator);
    return 0;
}

#endif
