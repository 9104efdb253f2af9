#include "emu/shim/driver.h"

#include "emu/tensor_map.h"

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *global_dim, const cuuint64_t *global_strides,
                                const cuuint32_t *box_dim, const cuuint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct tensor_map_arguments arguments = {
        .type = (uint32_t)type,
        .rank = rank,
        .address = (uintptr_t)address,
        .global_dim = global_dim,
        .global_strides = global_strides,
        .box_dim = box_dim,
        .element_strides = element_strides,
        .interleave = (uint32_t)interleave,
        .swizzle = (uint32_t)swizzle,
        .promotion = (uint32_t)promotion,
        .fill = (uint32_t)fill,
    };

    return (CUresult)shim_tensor_map_encode(map, &arguments);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    return (CUresult)shim_tensor_map_replace_address(map, address);
}
