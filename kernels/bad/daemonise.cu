// expect: status=COMPILE_ERROR code=forbidden_call task=gemm_n7168_k5120
/* Leaves a process behind that has its own session and no parent; the result is right. */
#include <unistd.h>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (;;) {
                pause();
            }
        }
        _exit(0);
    }
    return plain::gemm(args, count, stream);
}
