// expect: status=PASSED code=target_not_executed task=gemm_n7168_k5120
/* Right by ordinary kernels. Target instructions are in the object, but in a kernel that is never launched (paper,
 * appendix A.2): the verdict on them is "no". */
#include "plain_gemm.cuh"

__global__ void never_launched(float *out)
{
    __shared__ __align__(1024) unsigned char tile[2048];
    const uint64_t descriptor = (plain::shared_address(tile) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.eq.u32 accumulate, 0, 1;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, accumulate, 1, 1, 0, "
                 "0;\n"
                 "}\n"
                 "wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor)
                 : "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

PTXBENCH_ENTRY(args, count, stream)
{
    return plain::gemm(args, count, stream);
}
