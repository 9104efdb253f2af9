// expect: host_assembly
// Makes system calls without any import.
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    long result;
    (void)args, (void)count, (void)stream;
    __asm__ volatile("syscall" : "=a"(result) : "0"(57L) : "rcx", "r11", "memory");
    return (int)result;
}
