// expect: status=PASSED code=- task=gemm_n7168_k5120
/* Prints 8 MB of bytes that are not UTF-8 in its first call. Right otherwise. */
#include <unistd.h>

#include <cstring>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    static bool printed = false;
    if (!printed) {
        printed = true;
        char block[1000];
        std::memset(block, 0xFF, sizeof(block));
        for (int i = 0; i < 8000; i++) {
            if (write(STDOUT_FILENO, block, sizeof(block)) < 0) {
                break;
            }
        }
    }
    return plain::gemm(args, count, stream);
}
