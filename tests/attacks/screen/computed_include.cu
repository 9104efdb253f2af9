// expect: template_library
// Hides the header behind a macro.
#include <ptxbench/candidate.h>
#define HEADER <thrust/version.h>
#include HEADER
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return THRUST_VERSION > 0 ? 0 : 1;
}
