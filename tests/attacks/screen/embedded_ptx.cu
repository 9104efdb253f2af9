// expect: embedded_code denied_import loader_call
// Carries PTX as text and loads it by the driver.
#include <cuda.h>
#include <ptxbench/candidate.h>
static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
PTXBENCH_ENTRY(args, count, stream)
{
    CUmodule module;
    (void)args, (void)count, (void)stream;
    return cuModuleLoadData(&module, text);
}
