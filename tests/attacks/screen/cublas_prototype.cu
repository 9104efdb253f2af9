// expect: vendor_call
// Declares cuBLAS itself, without any header.
#include <ptxbench/candidate.h>
extern "C" int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                              const float *, float *, int);
PTXBENCH_ENTRY(args, count, stream)
{
    (void)count, (void)stream;
    float one = 1, zero = 0;
    return cublasSgemm_v2(args[0].data, 0, 0, 1, 1, 1, &one, nullptr, 1, nullptr, 1, &zero, nullptr, 1);
}
