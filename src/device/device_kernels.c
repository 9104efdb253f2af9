/* Launches of src/device/kernels/tensor_kernels.cu. */
#include <math.h>
#include <stddef.h>

#include "device/device_internal.h"
#include "trace/convert.h"
#include "trace/random.h"

extern const unsigned char tensor_kernels_fatbin[];

enum { BLOCK_THREADS = 256, BLOCKS_PER_MULTIPROCESSOR = 8 };

/* Types that have a compare kernel. */
static const enum dtype compared[] = {DTYPE_FLOAT32,       DTYPE_FLOAT16,     DTYPE_BFLOAT16,
                                      DTYPE_FLOAT8_E4M3FN, DTYPE_FLOAT8_E5M2, DTYPE_INT64,
                                      DTYPE_INT32,         DTYPE_INT16,       DTYPE_INT8};

static bool find_function(struct device *device, const char *name, CUfunction *out, struct error *error)
{
    CUresult result = device->driver->cuModuleGetFunction(out, device->module, name);

    return result == CUDA_SUCCESS || cuda_error(device->driver, error, result, name);
}

bool device_load_kernels(struct device *device, struct error *error)
{
    static const char *const fill_names[] = {"ptxbench_fill_8", "ptxbench_fill_16", "ptxbench_fill_32",
                                             "ptxbench_fill_64"};
    char name[64];

    CUresult result = device->driver->cuModuleLoadData(&device->module, tensor_kernels_fatbin);
    if (result != CUDA_SUCCESS) {
        (void)cuda_error(device->driver, error, result, "loading the kernels of ptxbench");
        return error_hint(error, "%s (compute capability %d.%d) is not supported: Hopper (9.0) or Blackwell (10.0)",
                          device->info.name, device->info.major, device->info.minor);
    }
    for (size_t i = 0; i < ARRAY_LEN(fill_names); i++)
        if (!find_function(device, fill_names[i], &device->fill[i], error))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
        (void)snprintf(name, sizeof name, "ptxbench_compare_%s", dtype_text(compared[i]));
        if (!find_function(device, name, &device->compare[compared[i]], error))
            return false;
        (void)snprintf(name, sizeof name, "ptxbench_check_%s", dtype_text(compared[i]));
        if (!find_function(device, name, &device->check[compared[i]], error))
            return false;
        (void)snprintf(name, sizeof name, "ptxbench_tiles_%s", dtype_text(compared[i]));
        if (!find_function(device, name, &device->tiles[compared[i]], error))
            return false;
    }
    device->compare[DTYPE_BOOL] = device->compare[DTYPE_INT8];
    device->check[DTYPE_BOOL] = device->check[DTYPE_INT8];
    device->tiles[DTYPE_BOOL] = device->tiles[DTYPE_INT8];
    return find_function(device, "ptxbench_count_touched", &device->count_touched, error) &&
           find_function(device, "ptxbench_l2_flush", &device->flush_l2, error) &&
           find_function(device, "ptxbench_call_end", &device->call_end, error);
}

void device_unload_kernels(struct device *device)
{
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        device_release(device, device->fill_tables[i]);
    device_release(device, device->flush_buffer);
    if (device->module)
        (void)device->driver->cuModuleUnload(device->module);
}

/* A grid-stride launch over `count` work items. */
static bool launch(struct device *device, CUfunction function, int64_t count, void **arguments, struct error *error)
{
    int64_t blocks = (count + BLOCK_THREADS - 1) / BLOCK_THREADS;
    int64_t most = (int64_t)device->info.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;

    if (!count)
        return true;
    CUDA_TRY(device->driver, error,
             cuLaunchKernel(function, (unsigned)(blocks < most ? blocks : most), 1, 1, BLOCK_THREADS, 1, 1, 0,
                            device->stream, arguments, NULL));
    return true;
}

/* What an element becomes when its bits >> 48 equal `index`: the rules of src/trace/random.h. */
static double table_value(enum dtype dtype, uint32_t index, float normal)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
        return (double)normal;
    case DTYPE_BOOL:
        return index >> 15;
    case DTYPE_INT8:
        return (double)(index >> 8) - 128;
    case DTYPE_INT16:
    case DTYPE_INT32:
    case DTYPE_INT64:
        return (double)(index >> 5) - 1024;
    default:
        return fmax(-2.0, fmin(2.0, (double)normal));
    }
}

static bool make_fill_table(struct device *device, enum dtype dtype, struct error *error)
{
    size_t width = (size_t)dtype_bits(dtype) / 8;
    AUTO_FREE float *normal = malloc(RANDOM_TABLE_SIZE * sizeof *normal);
    AUTO_FREE unsigned char *table = malloc(RANDOM_TABLE_SIZE * width);

    if (!normal || !table)
        return error_set(error, ERROR_MEMORY, "random table: out of memory");
    random_normal_table(normal);
    for (uint32_t i = 0; i < RANDOM_TABLE_SIZE; i++)
        tensor_store(dtype, table, i, table_value(dtype, i, normal[i]));
    return device_allocate(device, (int64_t)(RANDOM_TABLE_SIZE * width), &device->fill_tables[dtype], error) &&
           device_write(device, device->fill_tables[dtype], table, (int64_t)(RANDOM_TABLE_SIZE * width), error);
}

bool device_fill_random(struct device *device, CUdeviceptr to, enum dtype dtype, int64_t count, uint64_t seed,
                        int tensor_index, struct error *error)
{
    int bits = dtype_bits(dtype);
    uint64_t key = random_key(seed, (uint64_t)tensor_index);

    if (bits < 8)
        return error_set(error, ERROR_UNSUPPORTED, "random %s inputs are not supported on a GPU", dtype_text(dtype));
    if (!device->fill_tables[dtype] && !make_fill_table(device, dtype, error))
        return false;
    void *arguments[] = {&to, &count, &key, &device->fill_tables[dtype]};
    int which = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    return launch(device, device->fill[which], count, arguments, error);
}

bool device_poison(struct device *device, CUdeviceptr to, int64_t bytes, struct error *error)
{
    CUDA_TRY(device->driver, error, cuMemsetD8Async(to, COMPARE_POISON_BYTE, (size_t)bytes, device->stream));
    return true;
}

static bool require_compared(CUfunction function, enum dtype dtype, struct error *error)
{
    return function || error_set(error, ERROR_UNSUPPORTED, "outputs of type %s cannot be compared", dtype_text(dtype));
}

/* Launches a kernel that reads two tensors in 16-byte packs. */
static bool launch_pairs(struct device *device, CUfunction function, CUdeviceptr got, CUdeviceptr expected,
                         enum dtype dtype, int64_t count, const struct compare_rule *rule, CUdeviceptr stats,
                         struct error *error)
{
    struct compare_rule copy = *rule;
    void *arguments[] = {&got, &expected, &count, &copy, &stats};
    int64_t packs = count / (128 / dtype_bits(dtype)) + 1;

    return require_compared(function, dtype, error) && launch(device, function, packs, arguments, error);
}

bool device_compare(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype, int64_t count,
                    const struct compare_rule *rule, CUdeviceptr stats, struct error *error)
{
    return launch_pairs(device, device->compare[dtype], got, expected, dtype, count, rule, stats, error);
}

bool device_check(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype, int64_t count,
                  const struct compare_rule *rule, CUdeviceptr stats, struct error *error)
{
    return launch_pairs(device, device->check[dtype], got, expected, dtype, count, rule, stats, error);
}

bool device_reset_stats(struct device *device, CUdeviceptr stats, int count, struct error *error)
{
    struct compare_stats empty = {.first_mismatch = ~0ULL};

    CUDA_TRY(device->driver, error, cuMemsetD8Async(stats, 0, (size_t)count * sizeof empty, device->stream));
    for (int i = 0; i < count; i++) {
        CUdeviceptr first = stats + (size_t)i * sizeof empty + offsetof(struct compare_stats, first_mismatch);
        CUDA_TRY(device->driver, error, cuMemsetD32Async(first, ~0U, 2, device->stream));
    }
    return true;
}

bool device_count_tiles(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype, int64_t rows,
                        int64_t columns, const struct compare_rule *rule, CUdeviceptr tiles, struct error *error)
{
    struct compare_rule copy = *rule;
    void *arguments[] = {&got, &expected, &rows, &columns, &copy, &tiles};

    return require_compared(device->tiles[dtype], dtype, error) &&
           launch(device, device->tiles[dtype], rows * columns, arguments, error);
}

bool device_count_touched(struct device *device, CUdeviceptr bytes, int64_t count, CUdeviceptr touched,
                          struct error *error)
{
    void *arguments[] = {&bytes, &count, &touched};

    return launch(device, device->count_touched, count, arguments, error);
}

bool device_flush_l2(struct device *device, struct error *error)
{
    int64_t bytes = 2 * device->info.l2_bytes;
    int64_t count = bytes / 16;

    if (!device->flush_buffer && !device_allocate(device, bytes, &device->flush_buffer, error))
        return false;
    void *arguments[] = {&device->flush_buffer, &count};
    return launch(device, device->flush_l2, count, arguments, error);
}

bool device_mark_call_end(struct device *device, struct error *error)
{
    CUDA_TRY(device->driver, error, cuLaunchKernel(device->call_end, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    return true;
}
