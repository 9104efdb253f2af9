// expect: loader_call denied_import
// Pretends that its code stands in a system header.
#include <dlfcn.h>
#include <ptxbench/candidate.h>
#define PASTE(a, b) a##b
#line 1 "/usr/include/dlfcn.h"
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return PASTE(dl, open)("libm.so.6", 1) ? 0 : 1;
}
