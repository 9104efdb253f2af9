#include "hopper_kernels.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "emu/tensor_map.h"
#include "nvcc_ptx.h"
#include "trace/convert.h"

enum { BF16 = 9, THREADS = 384, SHARED_BYTES_ALIGN = 1024, SOURCE_BYTES_MAX = 1 << 20 };

static bool substitute(struct buffer *source, const char *replace, const char *with, struct error *error)
{
    char *at = strstr(source->data, replace);
    struct buffer changed = buffer_new(source->limit);

    if (!at)
        return error_set(error, ERROR_INPUT, "the source has no '%s'", replace);
    (void)buffer_append(&changed, source->data, (size_t)(at - source->data));
    (void)buffer_append_text(&changed, with);
    (void)buffer_append_text(&changed, at + strlen(replace));
    buffer_free(source);
    *source = changed;
    return true;
}

static bool append_file(const char *path, struct buffer *out, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    if (!file_read(path, out->limit, &text, &length, error))
        return false;
    return buffer_append(out, text, length) || error_set(error, ERROR_MEMORY, "out of memory");
}

bool hopper_compile(const char *name, const char *replace, const char *with, struct buffer *ptx, struct error *error)
{
    char folder[] = "/tmp/ptxbench-emu-XXXXXX", path[512];
    struct buffer source = buffer_new(SOURCE_BYTES_MAX);
    bool ok;

    (void)snprintf(path, sizeof path, SOURCE_ROOT "/kernels/hopper/%s.cu", name);
    if (!mkdtemp(folder))
        return error_set(error, ERROR_SYSTEM, "no temporary folder");
    ok = append_file(path, &source, error) && (!replace || substitute(&source, replace, with, error));
    (void)snprintf(path, sizeof path, "%s/kernel.cu", folder);
    ok = ok && file_write(path, source.data, source.length, 0600, error) && nvcc_ptx(path, ptx, error);
    (void)unlink(path);
    buffer_free(&source);
    (void)rmdir(folder);
    return ok;
}

/* A dense bf16 tensor of three dimensions (heads may be 1), read or written in boxes of rows x 64. */
static bool encode(uint8_t map[TENSOR_MAP_BYTES], const void *data, int heads, int rows, int columns, uint32_t box_rows,
                   uint32_t rank, struct error *error)
{
    uint64_t pitch = (uint64_t)columns * 2;
    uint64_t dims[3] = {(uint64_t)columns, (uint64_t)rows, (uint64_t)heads};
    uint64_t strides[2] = {pitch, pitch * (uint64_t)rows};
    uint32_t box[3] = {64, box_rows, 1}, steps[3] = {1, 1, 1};
    struct tensor_map_arguments arguments = {
        .type = BF16,
        .rank = rank,
        .address = (uint64_t)(uintptr_t)data,
        .global_dim = dims,
        .global_strides = strides,
        .box_dim = box,
        .element_strides = steps,
        .swizzle = SMEM_SWIZZLE_128B,
        .promotion = TENSOR_MAP_PROMOTION_256B,
    };

    return tensor_map_encode_tiled(map, &arguments, error);
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

static int only_entry(const struct emulator_module *module, const char *part)
{
    const struct ptx_module *ptx = emulator_module_ptx(module);

    for (uint32_t i = 0; i < ptx->function_count; i++)
        if (ptx->functions[i].is_entry && strstr(ptx->functions[i].name, part))
            return emulator_find_entry(module, ptx->functions[i].name);
    return -1;
}

bool hopper_gemm_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_gemm *gemm,
                     struct arena *arena, struct emulator_report *report, struct error *error)
{
    struct {
        _Alignas(128) uint8_t a[TENSOR_MAP_BYTES], b[TENSOR_MAP_BYTES], c[TENSOR_MAP_BYTES];
        int32_t cluster_rows, columns, k_blocks;
    } parameters;
    uint32_t cluster = (uint32_t)gemm->cluster;

    if (!encode(parameters.a, gemm->a, 1, gemm->m, gemm->k, 128, 2, error) ||
        !encode(parameters.b, gemm->b, 1, gemm->n, gemm->k, 256 / cluster, 2, error) ||
        !encode(parameters.c, gemm->c, 1, gemm->m, gemm->n, 64, 2, error))
        return false;
    parameters.cluster_rows = ceil_div(gemm->m, gemm->cluster * 128);
    parameters.columns = ceil_div(gemm->n, 256);
    parameters.k_blocks = ceil_div(gemm->k, 64);
    int tiles = parameters.cluster_rows * parameters.columns;
    int limit = gemm->one_tile ? tiles : emulator_properties(emulator)->multiprocessors / gemm->cluster;
    struct emulator_launch launch = {
        .module = module,
        .entry = only_entry(module, "gemm_kernel"),
        .grid = {(uint32_t)(tiles < limit ? tiles : limit) * cluster, 1, 1},
        .block = {THREADS, 1, 1},
        .cluster = {cluster, 1, 1},
        .shared_bytes = 230400, /* sizeof(Shared) */
        .parameters = &parameters,
        .parameter_bytes = offsetof(__typeof__(parameters), k_blocks) + sizeof parameters.k_blocks,
        .sample = gemm->sample,
        .sample_count = gemm->sample_count,
    };
    return emulator_launch(emulator, &launch, 0, arena, report, error);
}

bool hopper_mha_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_mha *mha,
                    struct arena *arena, struct emulator_report *report, struct error *error)
{
    struct {
        _Alignas(128) uint8_t q[TENSOR_MAP_BYTES], k[TENSOR_MAP_BYTES], v[TENSOR_MAP_BYTES], o[TENSOR_MAP_BYTES];
        float *lse;
        int32_t sequence, heads, blocks, group, works;
        float scale;
    } parameters;
    int keys = mha->causal ? 128 : 160, heads = mha->heads, rows = mha->sequence, dim = mha->dim;
    int64_t head_bytes = (int64_t)4 * rows * dim, group = ((int64_t)16 << 20) / head_bytes;
    uint32_t shared = (uint32_t)(dim * 512 + 8 * keys * dim + 80);

    if (!encode(parameters.q, mha->q, heads, rows, dim, 128, 3, error) ||
        !encode(parameters.k, mha->k, heads, rows, dim, (uint32_t)keys, 3, error) ||
        !encode(parameters.v, mha->v, heads, rows, dim, (uint32_t)keys, 3, error) ||
        !encode(parameters.o, mha->o, heads, rows, dim, 64, 3, error))
        return false;
    parameters.lse = mha->lse;
    parameters.sequence = rows;
    parameters.heads = heads;
    parameters.blocks = ceil_div(rows, 128);
    parameters.group = (int32_t)(group < 1 ? 1 : group > heads ? heads : group);
    parameters.works = heads * parameters.blocks;
    parameters.scale = 1.0f / sqrtf((float)dim);
    int limit = emulator_properties(emulator)->multiprocessors;
    int grid = mha->causal || parameters.works < limit ? parameters.works : limit;
    struct emulator_launch launch = {
        .module = module,
        .entry = only_entry(module, dim == 64 ? "Li64E" : "Li128E"),
        .grid = {(uint32_t)grid, 1, 1},
        .block = {THREADS, 1, 1},
        .cluster = {1, 1, 1},
        .shared_bytes = (shared + SHARED_BYTES_ALIGN - 1) / SHARED_BYTES_ALIGN * SHARED_BYTES_ALIGN,
        .parameters = &parameters,
        .parameter_bytes = offsetof(__typeof__(parameters), scale) + sizeof parameters.scale,
    };
    return emulator_launch(emulator, &launch, 0, arena, report, error);
}

uint16_t *hopper_values(struct emulator *emulator, size_t count, uint64_t seed)
{
    uint16_t *values = emu_memory_allocate(emulator_memory(emulator), count * sizeof *values);

    for (size_t i = 0; values && i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = float_to_bfloat16((float)(int32_t)(seed >> 32) / 2147483648.0f);
    }
    return values;
}
