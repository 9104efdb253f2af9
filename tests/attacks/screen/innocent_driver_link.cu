// expect: clean
// Links the driver directly, as the kernels of the paper do.
#include <cuda.h>
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    CUtensorMap map;
    cuuint64_t size[2] = {64, 64}, stride[1] = {128};
    cuuint32_t box[2] = {64, 64}, step[2] = {1, 1};
    (void)count, (void)stream;
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, args[0].data, size, stride, box, step,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
