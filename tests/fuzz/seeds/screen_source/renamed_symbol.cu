// expect: host_assembly denied_import
// Renames a declared function to dlopen by an assembly label.
#include <ptxbench/candidate.h>
extern "C" void *helper(const char *, int) __asm__("dlo" "pen");
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return helper(nullptr, 1) ? 0 : 1;
}
