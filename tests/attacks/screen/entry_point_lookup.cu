// expect: denied_string
// Asks the runtime for the driver function that loads modules.
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    void *function;
    cudaDriverEntryPointQueryResult found;
    (void)args, (void)count, (void)stream;
    return cudaGetDriverEntryPointByVersion("cuModuleLoadData", &function, 12000, cudaEnableDefault, &found);
}
