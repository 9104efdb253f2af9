/* Runs a PTX snippet on the emulator: a kernel with the 64-bit parameters p0, p1, ... */
#ifndef PTXBENCH_TESTS_EMU_RUN_H
#define PTXBENCH_TESTS_EMU_RUN_H

#include "emu_test.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "emu/emulator.h"

enum { RUN_PARAMETERS = 8 };

/* A launch: zero means 1 for dimensions. */
struct run {
    const char *body;      /* statements of the kernel */
    const char *variables; /* shared and other module variables, or NULL */
    uint32_t grid, block, cluster, shared_bytes;
    struct emulator_schedule schedule;
    uint64_t parameters[RUN_PARAMETERS];
    const uint8_t *map; /* the 128 bytes of the parameter `map`: a tensor map; NULL: zeros */
    /* Results. */
    enum emulator_outcome outcome;
    struct emulator_report report; /* its arena is gone */
    uint64_t opcode_warps[PTX_OP_COUNT];
    char findings[4096];  /* "code: message\n" each */
    size_t finding_count; /* without notes */
};

static inline uint32_t or_one(uint32_t value)
{
    return value ? value : 1;
}

static inline void run_collect(struct run *run, struct emulator *emulator)
{
    const struct emu_findings *findings = emulator_findings(emulator);
    size_t length = 0;

    run->finding_count = 0;
    run->findings[0] = 0;
    for (size_t i = 0; i < emu_findings_count(findings) && length < sizeof run->findings; i++) {
        const struct emu_finding *finding = emu_findings_at(findings, i);
        run->finding_count += emu_code_class(finding->code) != EMU_NOTE;
        length += (size_t)snprintf(run->findings + length, sizeof run->findings - length, "%s: %s\n",
                                   emu_code_text(finding->code), finding->message);
    }
}

/* Fails the test when the snippet cannot be loaded. */
static inline void run_snippet(struct emulator *emulator, struct run *run)
{
    struct {
        _Alignas(128) uint64_t values[RUN_PARAMETERS];
        _Alignas(128) uint8_t map[128];
    } parameters = {0};
    struct buffer ptx = buffer_new(1 << 20);
    struct emulator_module *module;
    struct arena *arena = arena_new();
    struct error error = {0};

    (void)buffer_printf(&ptx, ".version 9.0\n.target sm_90a\n.address_size 64\n%s\n.visible .entry k(",
                        run->variables ? run->variables : "");
    for (int i = 0; i < RUN_PARAMETERS; i++)
        (void)buffer_printf(&ptx, ".param .u64 p%d, ", i);
    (void)buffer_printf(&ptx, ".param .align 128 .b8 map[128])\n{\n%s\nret;\n}\n", run->body);
    memcpy(parameters.values, run->parameters, sizeof run->parameters);
    if (run->map)
        memcpy(parameters.map, run->map, sizeof parameters.map);
    struct emulator_launch launch = {
        .grid = {or_one(run->grid), 1, 1},
        .block = {or_one(run->block), 1, 1},
        .cluster = {or_one(run->cluster), 1, 1},
        .shared_bytes = run->shared_bytes,
        .parameters = &parameters,
        .parameter_bytes = sizeof parameters,
    };
    if (!emulator_load(emulator, "snippet", ptx.data, ptx.length, &module, &error))
        fail_msg("%s\n%s", error.message, ptx.data);
    launch.module = module;
    launch.entry = emulator_find_entry(module, "k");
    emu_findings_clear(emulator_findings(emulator));
    emulator_set_schedule(emulator, &run->schedule);
    if (!emulator_launch(emulator, &launch, 10000000, arena, &run->report, &error))
        fail_msg("%s\n%s", error.message, ptx.data);
    run->outcome = run->report.outcome;
    run_collect(run, emulator);
    if (run->report.unsupported)
        fail_msg("unsupported: %s", run->report.unsupported);
    if (run->report.opcode_warps)
        memcpy(run->opcode_warps, run->report.opcode_warps, sizeof run->opcode_warps);
    emulator_unload(emulator, module);
    buffer_free(&ptx);
    arena_free(arena);
}

static inline struct emulator *run_emulator(void)
{
    struct emulator *emulator;
    struct error error = {0};

    if (!emulator_new("sm_90a", &emulator, &error))
        fail_msg("%s", error.message);
    return emulator;
}

static inline void *run_memory(struct emulator *emulator, size_t bytes)
{
    void *memory = emu_memory_allocate(emulator_memory(emulator), bytes);

    assert_non_null(memory);
    memset(memory, 0, bytes);
    return memory;
}

/* The three ways in which asynchronous operations complete, in both orders of warps. */
static const struct emulator_schedule run_schedules[] = {
    {.completion = 0},
    {.completion = 1},
    {.completion = 2, .seed = 1},
    {.completion = 2, .seed = 5, .quantum = 3},
    {.completion = 0, .reverse_warps = true},
    {.completion = 1, .reverse_warps = true},
};
enum { RUN_SCHEDULES = sizeof run_schedules / sizeof run_schedules[0] };

#define RUN_ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

static inline void run_check_clean(const struct run *run)
{
    if (run->finding_count || run->outcome != EMULATOR_COMPLETED)
        fail_msg("outcome %d: %s", (int)run->outcome, run->findings);
}

static inline void run_check_finding(const struct run *run, enum emulator_outcome outcome, const char *text)
{
    if (run->outcome != outcome || !strstr(run->findings, text))
        fail_msg("outcome %d: '%s' lacks '%s'", (int)run->outcome, run->findings, text);
}

#endif
