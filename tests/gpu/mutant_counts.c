/*
 * mutant_counts CUBINS COUNTS.json [layout]: how many elements a GPU gets wrong under each of the defects of tests/emu/mutants, or
 * under those of layouts and coordinates alone.
 * mutant_counts --cubins CUBINS: compiles the defects there instead; needs nvcc and no GPU.
 *
 * Every defect runs in a process of its own, which is killed after 8 s: some of them hang, and some leave a context that
 * is of no more use. COUNTS.json (tests/data/mutants/sm_90a.json) gets the numbers; what it knows of the emulator stays.
 * Prints each layout mutant whose number is not the emulator's; exit status 0 when there is none.
 *
 * Where the build is:           mutant_counts --cubins mutants
 * On a machine with an sm_90:   mutant_counts mutants sm_90a.json
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../emu/mutants/mutant.h"
#include "../emu/mutants/mutant_counts.h"
#include "base/attributes.h"
#include "base/file.h"
#include "base/process.h"
#include "device/cuda_driver.h"

enum { CUBIN_BYTES_MAX = 16 << 20, OUTPUT_MAX = 65536 };

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

struct rig {
    const struct cuda_driver *driver;
    encode_tiled *encode;
    char name[128];
};

static void cubin_path(const char *folder, size_t index, char out[512])
{
    (void)snprintf(out, 512, "%s/%03zu.cubin", folder, index);
}

/* Here. */

static bool compile(const char *folder, size_t index, struct error *error)
{
    AUTO_BUFFER source = buffer_new(1 << 20);
    AUTO_BUFFER cubin = buffer_new(CUBIN_BYTES_MAX);
    const struct mutant *mutant = &mutants[index];
    char path[512];

    cubin_path(folder, index, path);
    return mutant_source(mutant->kernel, mutant, &source, error) &&
           mutant_compile(&source, mutant->kernel, "-cubin", &cubin, error) &&
           file_write(path, cubin.data, cubin.length, 0644, error);
}

static bool compile_all(const char *folder, struct error *error)
{
    if (mkdir(folder, 0755) != 0 && access(folder, W_OK) != 0)
        return error_set(error, ERROR_SYSTEM, "%s cannot be made", folder);
    for (size_t i = 0; i < mutant_count; i++) {
        printf("%03zu %s\n", i, mutants[i].name);
        (void)fflush(stdout);
        if (!compile(folder, i, error))
            return error_prefix(error, "%s", mutants[i].name);
    }
    return true;
}

/* On the GPU: one mutant. */

static bool open_rig(struct rig *rig, struct error *error)
{
    CUdevice device;
    CUcontext context;

    if (!cuda_driver_load(&rig->driver, error))
        return false;
    CUDA_TRY(rig->driver, error, cuDeviceGet(&device, 0));
    CUDA_TRY(rig->driver, error, cuDeviceGetName(rig->name, sizeof rig->name, device));
    CUDA_TRY(rig->driver, error, cuDevicePrimaryCtxRetain(&context, device));
    CUDA_TRY(rig->driver, error, cuCtxSetCurrent(context));
    *(void **)&rig->encode = dlsym(rig->driver->library, "cuTensorMapEncodeTiled");
    return rig->encode || error_set(error, ERROR_UNSUPPORTED, "the driver has no cuTensorMapEncodeTiled");
}

static bool encode(void *context, uint8_t map[TENSOR_MAP_BYTES], const struct tensor_map_arguments *a,
                   struct error *error)
{
    const struct rig *rig = context;
    cuuint64_t dims[TENSOR_MAP_MAX_RANK], strides[TENSOR_MAP_MAX_RANK];
    CUtensorMap encoded;

    for (uint32_t i = 0; i < a->rank; i++) {
        dims[i] = a->global_dim[i];
        strides[i] = i + 1 < a->rank ? a->global_strides[i] : 0;
    }
    CUresult result =
        rig->encode(&encoded, (CUtensorMapDataType)a->type, a->rank, (void *)(uintptr_t)a->address, dims, strides,
                    a->box_dim, a->element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)a->swizzle,
                    (CUtensorMapL2promotion)a->promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        return cuda_error(rig->driver, error, result, "cuTensorMapEncodeTiled");
    memcpy(map, &encoded, TENSOR_MAP_BYTES);
    return true;
}

static bool upload(const struct rig *rig, const struct mutant_work *work, uint64_t buffers[5], struct error *error)
{
    const struct cuda_driver *driver = rig->driver;
    CUdeviceptr memory[5];

    for (int i = 0; i < 5; i++) {
        size_t bytes = i < 3 ? work->input_bytes[i] : i == 3 ? work->output_bytes : work->extra_bytes;
        CUDA_TRY(driver, error, cuMemAlloc(&memory[i], bytes + 256));
        CUDA_TRY(driver, error, cuMemsetD8Async(memory[i], 0xff, bytes + 256, NULL));
        if (i < 3 && bytes)
            CUDA_TRY(driver, error, cuMemcpyHtoDAsync(memory[i], work->inputs[i], bytes, NULL));
        buffers[i] = memory[i];
    }
    return true;
}

static const char *kernel_name(enum mutant_kernel kernel)
{
    return kernel == MUTANT_GEMM ? "_ZN10gemm_wgmma11gemm_kernelE14CUtensorMap_stS0_S0_NS_7ProblemE"
                                 : "_ZN7mha_fwd14mha_fwd_kernelILi128EEEv14CUtensorMap_stS1_S1_S1_PfNS_7ProblemE";
}

typedef CUresult get_parameter(CUfunction, size_t, size_t *, size_t *);

/* The parameters one by one. As one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) they would have to lie where the driver has them:
 * on an H200 the first tensor map at byte 112, so that it is aligned in the constant bank. */
static bool list_parameters(const struct rig *rig, CUfunction function, struct hopper_launch *launch, void **list,
                            size_t most, struct error *error)
{
    get_parameter *get;
    size_t offset, bytes, first = 0, count = 0;

    *(void **)&get = dlsym(rig->driver->library, "cuFuncGetParamInfo");
    if (!get)
        return error_set(error, ERROR_UNSUPPORTED, "the driver has no cuFuncGetParamInfo");
    while (count < most && get(function, count, &offset, &bytes) == CUDA_SUCCESS) {
        first = count ? first : offset;
        list[count++] = launch->parameters + (offset - first);
    }
    return count > 0 || error_set(error, ERROR_DEVICE, "the kernel has no parameters");
}

static bool launch(const struct rig *rig, CUmodule module, struct hopper_launch *launch, enum mutant_kernel kernel,
                   struct error *error)
{
    void *parameters[16];
    CUfunction function;

    CUDA_TRY(rig->driver, error, cuModuleGetFunction(&function, module, kernel_name(kernel)));
    CUDA_TRY(rig->driver, error,
             cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->shared_bytes));
    if (!list_parameters(rig, function, launch, parameters, ARRAY_LEN(parameters), error))
        return false;
    CUDA_TRY(rig->driver, error,
             cuLaunchKernel(function, launch->grid[0], 1, 1, launch->block[0], 1, 1, launch->shared_bytes, NULL,
                            parameters, NULL));
    CUDA_TRY(rig->driver, error, cuCtxSynchronize());
    return true;
}

static bool run_mutant(const struct rig *rig, const struct mutant *mutant, const char *cubin,
                       const struct mutant_work *work, size_t *wrong, struct error *error)
{
    struct hopper_device device = {.encode = encode, .context = (void *)(uintptr_t)rig};
    AUTO_FREE uint8_t *output = malloc(work->output_bytes);
    struct hopper_launch prepared;
    uint64_t buffers[5];
    CUmodule module;

    if (!output)
        return error_set(error, ERROR_MEMORY, "out of memory");
    if (!upload(rig, work, buffers, error) || !mutant_launch(mutant->kernel, mutant, device, buffers, &prepared, error))
        return false;
    CUDA_TRY(rig->driver, error, cuModuleLoadData(&module, cubin));
    if (!launch(rig, module, &prepared, mutant->kernel, error))
        return false;
    CUDA_TRY(rig->driver, error, cuMemcpyDtoH(output, buffers[3], work->output_bytes));
    *wrong = mutant_wrong(mutant->kernel, work, output);
    return true;
}

/* Prints "wrong N device NAME". */
static bool run_one(const char *folder, size_t index, struct error *error)
{
    AUTO_FREE char *cubin = NULL;
    struct mutant_work work;
    struct rig rig = {0};
    char path[512];
    size_t length, wrong;

    cubin_path(folder, index, path);
    if (index >= mutant_count || !file_read(path, CUBIN_BYTES_MAX, &cubin, &length, error) || !open_rig(&rig, error) ||
        !mutant_work_new(mutants[index].kernel, &work, error))
        return false;
    bool ok = run_mutant(&rig, &mutants[index], cubin, &work, &wrong, error);
    mutant_work_free(&work);
    if (ok)
        printf("wrong %zu device %s\n", wrong, rig.name);
    return ok;
}

/* On the GPU: all of them. */

/* "CUDA_ERROR_..." of an error text, or the whole. */
static void shorten(char *text)
{
    char *at = strstr(text, "CUDA_ERROR_");

    if (at)
        memmove(text, at, strlen(at) + 1);
    text[strcspn(text, at ? " \n" : "\n")] = 0;
}

static bool record(const char *program, const char *folder, size_t index, json_object *counts, struct error *error)
{
    char number[24];
    const char *argv[] = {program, "--one", folder, number, NULL};
    struct process_spec spec = {
        .argv = argv, .timeout_ns = (int64_t)MUTANT_SECONDS * 1000000000, .output_limit = OUTPUT_MAX};
    AUTO_BUFFER out = buffer_new(OUTPUT_MAX);
    AUTO_BUFFER errors = buffer_new(OUTPUT_MAX);
    struct process_end end;
    size_t wrong = 0;
    char device[128] = "";

    (void)snprintf(number, sizeof number, "%zu", index);
    if (!process_run(&spec, &out, &errors, &end, error))
        return false;
    bool ran = !end.timed_out && end.exit_status == 0 && out.length &&
               sscanf(out.data, "wrong %zu device %127[^\n]", &wrong, device) == 2;
    if (!ran && errors.length)
        shorten(errors.data);
    const char *failure = ran ? NULL : end.timed_out ? "timeout" : errors.length ? errors.data : "no answer";
    if (device[0])
        mutant_counts_set_device(counts, device);
    mutant_counts_set_gpu(counts, &mutants[index], wrong, failure);
    printf("%-55s %s", mutants[index].name, ran ? "wrong " : failure);
    if (ran)
        printf("%zu", wrong);
    (void)puts("");
    (void)fflush(stdout);
    return true;
}

static bool run_all(const char *program, const char *folder, const char *path, bool layout, int *differences,
                    struct error *error)
{
    AUTO_JSON_OBJECT *counts = mutant_counts_read(path, error);

    if (!counts)
        return false;
    for (size_t i = 0; i < mutant_count; i++) {
        if (mutants[i].freed_output || (layout && !mutants[i].layout))
            continue;
        if (!record(program, folder, i, counts, error) || !json_write_file(counts, path, error))
            return false;
    }
    for (size_t i = 0; i < mutant_count; i++)
        if (mutants[i].layout && !mutant_counts_agree(counts, &mutants[i])) {
            printf("DIFFERS %s\n", mutants[i].name);
            (*differences)++;
        }
    return true;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    int differences = 0;
    bool ok;

    if (argc == 3 && !strcmp(argv[1], "--cubins"))
        ok = compile_all(argv[2], &error);
    else if (argc == 4 && !strcmp(argv[1], "--one"))
        ok = run_one(argv[2], strtoul(argv[3], NULL, 10), &error);
    else if (argc == 3 || (argc == 4 && !strcmp(argv[3], "layout")))
        ok = run_all(argv[0], argv[1], argv[2], argc == 4, &differences, &error);
    else
        return (void)fprintf(stderr, "usage: mutant_counts CUBINS COUNTS.json [layout] | --cubins CUBINS\n"), 64;
    if (!ok)
        (void)fprintf(stderr, "mutant_counts: %s\n", error.message);
    return ok ? differences != 0 : 2;
}
