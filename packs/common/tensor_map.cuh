#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#define CUDA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        const cudaError_t status_ = (call);                                                                            \
        if (status_ != cudaSuccess)                                                                                    \
            throw std::runtime_error(std::string(#call ": ") + cudaGetErrorString(status_));                           \
    } while (0)

// A tensor map for TMA. dims[0] is the contiguous dimension; strides[i] is the distance in bytes of dims[i + 1], NULL for
// a dense tensor. The encoder is a driver function with a CUresult of its own: it is looked up, so no -lcuda is needed.
inline CUtensorMap make_tensor_map(CUtensorMapDataType type, uint64_t element_bytes, uint32_t rank, void *base,
                                   const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                   CUtensorMapSwizzle swizzle)
{
    static decltype(&cuTensorMapEncodeTiled) encode = nullptr;
    if (!encode) {
        void *function = nullptr;
        cudaDriverEntryPointQueryResult found;
        CUDA_CHECK(
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
        if (found != cudaDriverEntryPointSuccess)
            throw std::runtime_error("no cuTensorMapEncodeTiled in this driver");
        encode = reinterpret_cast<decltype(encode)>(function);
    }
    CUtensorMap map;
    cuuint64_t sizes[5], pitches[5];
    cuuint32_t boxes[5], steps[5];
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = dims[i];
        pitches[i] = strides && i + 1 < rank ? strides[i] : (i ? pitches[i - 1] : element_bytes) * dims[i];
        boxes[i] = box[i];
        steps[i] = 1;
    }
    const CUresult status = encode(&map, type, rank, base, sizes, pitches, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw std::runtime_error("cuTensorMapEncodeTiled: CUresult " + std::to_string(static_cast<int>(status)));
    return map;
}

// A dense [rows, columns] bf16 matrix in boxes of box_rows x 64 columns with the 128-byte swizzle.
inline CUtensorMap make_matrix_map(void *base, uint64_t rows, uint64_t columns, uint32_t box_rows)
{
    const uint64_t dims[2] = {columns, rows};
    const uint32_t box[2] = {64, box_rows};
    return make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 2, base, dims, nullptr, box,
                           CU_TENSOR_MAP_SWIZZLE_128B);
}
