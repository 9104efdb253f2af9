/* An object that lacks a function which no library provides. */
#include <ptxbench/candidate.h>

int ptxbench_test_function_of_nobody(void);

PTXBENCH_ENTRY(args, count, stream)
{
    (void)args;
    (void)count;
    (void)stream;
    return ptxbench_test_function_of_nobody();
}
