#include "hopper_kernels.h"

#include <string.h>

#include "base/file.h"
#include "emu/tensor_map.h"
#include "nvcc_ptx.h"
#include "trace/convert.h"

enum { SOURCE_BYTES_MAX = 1 << 20 };

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

static bool encode(void *context, uint8_t map[TENSOR_MAP_BYTES], const struct tensor_map_arguments *arguments,
                   struct error *error)
{
    (void)context;
    return tensor_map_encode_tiled(map, arguments, error);
}

static int only_entry(const struct emulator_module *module, const char *part)
{
    const struct ptx_module *ptx = emulator_module_ptx(module);

    for (uint32_t i = 0; i < ptx->function_count; i++)
        if (ptx->functions[i].is_entry && strstr(ptx->functions[i].name, part))
            return emulator_find_entry(module, ptx->functions[i].name);
    return -1;
}

struct hopper_device hopper_emulated(const struct emulator *emulator)
{
    return (struct hopper_device){.encode = encode, .multiprocessors = emulator_properties(emulator)->multiprocessors};
}

bool hopper_launch_run(struct emulator *emulator, const struct emulator_module *module,
                       const struct hopper_launch *hopper, const struct hopper_sample *sample, struct arena *arena,
                       struct emulator_report *report, struct error *error)
{
    struct emulator_launch launch = {
        .module = module,
        .entry = only_entry(module, hopper->entry),
        .shared_bytes = hopper->shared_bytes,
        .parameters = hopper->parameters,
        .parameter_bytes = hopper->parameter_bytes,
        .sample = sample ? sample->clusters : NULL,
        .sample_count = sample ? sample->count : 0,
    };

    memcpy(launch.grid, hopper->grid, sizeof launch.grid);
    memcpy(launch.block, hopper->block, sizeof launch.block);
    memcpy(launch.cluster, hopper->cluster, sizeof launch.cluster);
    return emulator_launch(emulator, &launch, 0, arena, report, error);
}

bool hopper_gemm_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_gemm *gemm,
                     const struct hopper_sample *sample, struct arena *arena, struct emulator_report *report,
                     struct error *error)
{
    struct hopper_device device = hopper_emulated(emulator);
    struct hopper_launch launch;

    return hopper_gemm_launch(&device, gemm, &launch, error) &&
           hopper_launch_run(emulator, module, &launch, sample, arena, report, error);
}

bool hopper_mha_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_mha *mha,
                    struct arena *arena, struct emulator_report *report, struct error *error)
{
    struct hopper_device device = hopper_emulated(emulator);
    struct hopper_launch launch;

    return hopper_mha_launch(&device, mha, &launch, error) &&
           hopper_launch_run(emulator, module, &launch, NULL, arena, report, error);
}

uint64_t hopper_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
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
