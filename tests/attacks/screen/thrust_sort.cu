// expect: template_library
// Lets Thrust do the work.
#include <ptxbench/candidate.h>
#include <thrust/version.h>
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return THRUST_VERSION > 0 ? 0 : 1;
}
