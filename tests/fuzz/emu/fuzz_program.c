/* Loads PTX and launches every entry with few instructions: lowering and handlers must bear any operands. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emu/emulator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARAMETER_BYTES = 1024, MEMORY_BYTES = 4096, BUDGET = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct emulator *emulator;
    struct emulator_module *module;
    struct error error = {0};

    if (!emulator_new("sm_90a", &emulator, &error))
        return 0;
    if (emulator_load(emulator, "fuzz", (const char *)data, size, &module, &error)) {
        const struct ptx_module *ptx = emulator_module_ptx(module);
        void *memory = emu_memory_allocate(emulator_memory(emulator), MEMORY_BYTES);
        uint64_t parameters[PARAMETER_BYTES / sizeof(uint64_t)];

        for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
            parameters[i] = (uintptr_t)memory;
        for (uint32_t i = 0; memory && i < ptx->function_count; i++) {
            AUTO_ARENA *arena = arena_new();
            struct emulator_report report;
            struct emulator_launch launch = {.module = module,
                                             .entry = (int)i,
                                             .grid = {2, 1, 1},
                                             .block = {64, 1, 1},
                                             .cluster = {1, 1, 1},
                                             .shared_bytes = 1024,
                                             .parameters = parameters,
                                             .parameter_bytes = sizeof parameters};

            if (ptx->functions[i].is_entry && ptx->functions[i].is_defined &&
                !emulator_launch(emulator, &launch, BUDGET, arena, &report, &error))
                continue;
        }
        emulator_unload(emulator, module);
    }
    emulator_free(emulator);
    return 0;
}
