/* TAP for the programs that tests/cli/test_emu_run.sh compiles. */
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>

static int check_count, check_failed;

static inline void check(bool ok, const char *name)
{
    check_count++;
    check_failed += !ok;
    std::printf("%sok %d - %s\n", ok ? "" : "not ", check_count, name);
    std::fflush(stdout);
}

#endif
