#include "hopper_launch.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { BF16 = 9, THREADS = 384, SHARED_BYTES_ALIGN = 1024 };

/* A dense bf16 tensor of three dimensions (heads may be 1), read or written in boxes of rows x 64. */
struct tensor {
    uint64_t address;
    int heads, rows, columns;
    uint32_t box_rows, rank;
    bool wide;
};

static bool encode(const struct hopper_device *device, const struct tensor *tensor, uint8_t map[TENSOR_MAP_BYTES],
                   struct error *error)
{
    uint64_t pitch = (uint64_t)tensor->columns * 2;
    uint64_t dims[3] = {(uint64_t)tensor->columns, (uint64_t)tensor->rows, (uint64_t)tensor->heads};
    uint64_t strides[2] = {pitch, pitch * (uint64_t)tensor->rows};
    uint32_t box[3] = {tensor->wide ? 128 : 64, tensor->box_rows, 1}, steps[3] = {1, 1, 1};
    struct tensor_map_arguments arguments = {
        .type = BF16,
        .rank = tensor->rank,
        .address = tensor->address,
        .global_dim = dims,
        .global_strides = strides,
        .box_dim = box,
        .element_strides = steps,
        .swizzle = SMEM_SWIZZLE_128B,
        .promotion = TENSOR_MAP_PROMOTION_256B,
    };

    return device->encode(device->context, map, &arguments, error) || tensor->wide;
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

bool hopper_gemm_launch(const struct hopper_device *device, const struct hopper_gemm *gemm,
                        struct hopper_launch *launch, struct error *error)
{
    struct {
        _Alignas(128) uint8_t a[TENSOR_MAP_BYTES], b[TENSOR_MAP_BYTES], c[TENSOR_MAP_BYTES];
        int32_t cluster_rows, columns, k_blocks;
    } p = {0};
    uint32_t cluster = (uint32_t)gemm->cluster;
    const struct tensor a = {gemm->a, 1, gemm->m, gemm->k, 128, 2, false};
    const struct tensor b = {gemm->b, 1, gemm->n, gemm->k, 256 / cluster, 2, device->wide_box};
    const struct tensor c = {gemm->c, 1, gemm->m, gemm->n, 64, 2, false};

    if (!encode(device, &a, p.a, error) || !encode(device, &b, p.b, error) || !encode(device, &c, p.c, error))
        return false;
    p.cluster_rows = ceil_div(gemm->m, gemm->cluster * 128);
    p.columns = ceil_div(gemm->n, 256);
    p.k_blocks = ceil_div(gemm->k, 64);
    int tiles = p.cluster_rows * p.columns, limit = gemm->one_tile ? tiles : device->multiprocessors / gemm->cluster;
    *launch = (struct hopper_launch){
        .entry = "gemm_kernel",
        .grid = {(uint32_t)(tiles < limit ? tiles : limit) * cluster, 1, 1},
        .block = {THREADS, 1, 1},
        .cluster = {cluster, 1, 1},
        .shared_bytes = (uint32_t)(230400 + device->shared_extra), /* sizeof(Shared) */
        .parameter_bytes = offsetof(__typeof__(p), k_blocks) + sizeof p.k_blocks,
    };
    memcpy(launch->parameters, &p, launch->parameter_bytes);
    return true;
}

bool hopper_mha_launch(const struct hopper_device *device, const struct hopper_mha *mha, struct hopper_launch *launch,
                       struct error *error)
{
    struct {
        _Alignas(128) uint8_t q[TENSOR_MAP_BYTES], k[TENSOR_MAP_BYTES], v[TENSOR_MAP_BYTES], o[TENSOR_MAP_BYTES];
        uint64_t lse;
        int32_t sequence, heads, blocks, group, works;
        float scale;
    } p = {0};
    int keys = mha->causal ? 128 : 160, heads = mha->heads, rows = mha->sequence, dim = mha->dim;
    int64_t head_bytes = (int64_t)4 * rows * dim, group = ((int64_t)16 << 20) / head_bytes;
    uint32_t shared = (uint32_t)(dim * 512 + 8 * keys * dim + 80);
    const struct tensor q = {mha->q, heads, rows, dim, 128, 3, false};
    const struct tensor k = {mha->k, heads, rows, dim, (uint32_t)keys, 3, device->wide_box};
    const struct tensor v = {mha->v, heads, rows, dim, (uint32_t)keys, 3, false};
    const struct tensor o = {mha->o, heads, rows, dim, 64, 3, false};

    if (!encode(device, &q, p.q, error) || !encode(device, &k, p.k, error) || !encode(device, &v, p.v, error) ||
        !encode(device, &o, p.o, error))
        return false;
    p.lse = mha->lse;
    p.sequence = rows;
    p.heads = heads;
    p.blocks = ceil_div(rows, 128);
    p.group = (int32_t)(group < 1 ? 1 : group > heads ? heads : group);
    p.works = heads * p.blocks;
    p.scale = 1.0f / sqrtf((float)dim);
    int limit = device->multiprocessors, grid = mha->causal || p.works < limit ? p.works : limit;
    *launch = (struct hopper_launch){
        .entry = dim == 64 ? "Li64E" : "Li128E",
        .grid = {(uint32_t)grid, 1, 1},
        .block = {THREADS, 1, 1},
        .cluster = {1, 1, 1},
        .shared_bytes = (shared + SHARED_BYTES_ALIGN - 1) / SHARED_BYTES_ALIGN * SHARED_BYTES_ALIGN,
        .parameter_bytes = offsetof(__typeof__(p), scale) + sizeof p.scale,
    };
    launch->shared_bytes += (uint32_t)device->shared_extra;
    memcpy(launch->parameters, &p, launch->parameter_bytes);
    return true;
}
