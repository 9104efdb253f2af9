// expect: note:constructor
// Runs code before it is called.
#include <cstdio>
#include <ptxbench/candidate.h>
__attribute__((constructor)) static void early()
{
    std::puts("early");
}
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return 0;
}
