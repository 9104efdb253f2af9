// expect: vendor_call
// Pastes the name together, so that the text never shows it.
#include <ptxbench/candidate.h>
#define PASTE(a, b) a##b
#define CALL(name) PASTE(cub, name)
extern "C" int CALL(lasCreate_v2)(void **);
PTXBENCH_ENTRY(args, count, stream)
{
    void *handle;
    (void)args, (void)count, (void)stream;
    return CALL(lasCreate_v2)(&handle);
}
