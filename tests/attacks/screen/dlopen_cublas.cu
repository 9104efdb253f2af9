// expect: loader_call denied_string denied_import
// Loads cuBLAS at run time.
#include <dlfcn.h>
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    void *library = dlopen("libcublas.so.13", RTLD_NOW);
    (void)args, (void)count, (void)stream;
    return library && dlsym(library, "cublasCreate_v2") ? 0 : 1;
}
