#include "emu/emulator.h"

#include <stdlib.h>
#include <string.h>

#include "emu/emulator_internal.h"

/* Source: CUDA C++ Programming Guide, Compute Capabilities; device queries of an H100 SXM and a B200. */
static const struct {
    const char *arch;
    struct emulator_properties properties;
} devices[] = {
    {"sm_90a",
     {.name = "ptxbench emulator (sm_90a)",
      .major = 9,
      .minor = 0,
      .multiprocessors = 132,
      .shared_per_block = 49152,
      .shared_per_block_optin = 232448,
      .registers_per_block = 65536,
      .max_threads_per_block = 1024,
      .max_cluster = 8}},
    {"sm_100a",
     {.name = "ptxbench emulator (sm_100a)",
      .major = 10,
      .minor = 0,
      .multiprocessors = 148,
      .shared_per_block = 49152,
      .shared_per_block_optin = 232448,
      .registers_per_block = 65536,
      .max_threads_per_block = 1024,
      .max_cluster = 8}},
};

static bool find_device(const char *arch, struct emulator_properties *out, struct error *error)
{
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        if (strcmp(devices[i].arch, arch) == 0) {
            *out = devices[i].properties;
            return true;
        }
    }
    return error_set(error, ERROR_INPUT, "the emulator knows no device %s; it knows sm_90a and sm_100a", arch);
}

bool emulator_new(const char *arch, struct emulator **out, struct error *error)
{
    struct emulator_properties properties;
    struct emulator *emulator;

    if (!find_device(arch, &properties, error))
        return false;
    emulator = calloc(1, sizeof *emulator);
    if (!emulator)
        return error_set(error, ERROR_MEMORY, "emulator: out of memory");
    emulator->properties = properties;
    emulator->printed = buffer_new(EMULATOR_PRINT_MAX);
    emulator->memory = emu_memory_new();
    emulator->findings = emu_findings_new();
    if (!emulator->memory || !emulator->findings) {
        emulator_free(emulator);
        return error_set(error, ERROR_MEMORY, "emulator: out of memory");
    }
    if (!emu_space_reserve(&emulator->space, error)) {
        emulator_free(emulator);
        return false;
    }
    *out = emulator;
    return true;
}

void emulator_free(struct emulator *emulator)
{
    if (!emulator)
        return;
    emu_memory_free(emulator->memory);
    emu_findings_free(emulator->findings);
    emu_space_release(&emulator->space);
    buffer_free(&emulator->printed);
    free(emulator);
}

const struct emulator_properties *emulator_properties(const struct emulator *emulator)
{
    return &emulator->properties;
}

struct emu_memory *emulator_memory(struct emulator *emulator)
{
    return emulator->memory;
}

struct emu_findings *emulator_findings(struct emulator *emulator)
{
    return emulator->findings;
}

void emulator_set_schedule(struct emulator *emulator, const struct emulator_schedule *schedule)
{
    emulator->schedule = *schedule;
}

const char *emulator_printed(const struct emulator *emulator)
{
    return emulator->printed.data;
}
