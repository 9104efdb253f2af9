#include "mutant_emulate.h"

#include <stdlib.h>
#include <string.h>

#include "../hopper_kernels.h"
#include "base/attributes.h"

static const struct emulator_schedule schedules[] = {
    {.completion = 0},
    {.completion = 1},
    {.completion = 0, .reverse_warps = true},
    {.completion = 2, .seed = 1},
    {.completion = 2, .seed = 2, .quantum = 7},
};

struct rig {
    struct emulator *emulator;
    struct emulator_module *module;
    const struct mutant *mutant;
    const struct mutant_work *work;
    const char *source;
    uint8_t *output;
    uint64_t buffers[5];
};

static uint32_t line_number(const char *text, const char *at)
{
    uint32_t line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* Whether a finding names a line of the source that contains the expected text. */
static bool names_line(const struct emu_finding *finding, const char *source, const char *expected)
{
    for (const char *at = strstr(source, expected); at; at = strstr(at + 1, expected)) {
        uint32_t line = line_number(source, at);
        char text[32];

        if (finding->source.line == line || finding->source.caller_line == line)
            return true;
        (void)snprintf(text, sizeof text, ":%u", line);
        for (const char *place = strstr(finding->message, text); place; place = strstr(place + 1, text))
            if (!strchr("0123456789", place[strlen(text)]) || !place[strlen(text)])
                return true;
    }
    return false;
}

static void set_root(const struct rig *rig, const struct emu_finding *root, struct mutant_outcome *outcome)
{
    const struct mutant *mutant = rig->mutant;

    outcome->found = emu_code_class(root->code) != EMU_NOTE;
    outcome->named =
        strcmp(emu_code_text(root->code), mutant->code) == 0 && names_line(root, rig->source, mutant->line);
    (void)snprintf(outcome->root, sizeof outcome->root, "%s at line %u (inlined at %u): %s", emu_code_text(root->code),
                   root->source.line, root->source.caller_line, root->message);
}

static bool run(const struct rig *rig, const struct emulator_schedule *schedule, bool *completed, size_t *wrong,
                struct error *error)
{
    struct hopper_device device = hopper_emulated(rig->emulator);
    AUTO_ARENA *arena = arena_new();
    struct emulator_report report;
    struct hopper_launch launch;

    emu_findings_clear(emulator_findings(rig->emulator));
    emulator_set_schedule(rig->emulator, schedule);
    if (!rig->mutant->freed_output)
        memset(rig->output, 0xff, rig->work->output_bytes);
    if (!mutant_launch(rig->mutant->kernel, rig->mutant, device, rig->buffers, &launch, error) ||
        !hopper_launch_run(rig->emulator, rig->module, &launch, NULL, arena, &report, error))
        return false;
    if (report.outcome == EMULATOR_UNSUPPORTED)
        return error_set(error, ERROR_UNSUPPORTED, "%s", report.unsupported);
    *completed = report.outcome == EMULATOR_COMPLETED;
    *wrong = rig->mutant->freed_output ? 0 : mutant_wrong(rig->mutant->kernel, rig->work, rig->output);
    return true;
}

static bool run_all(const struct rig *rig, struct mutant_outcome *outcome, struct error *error)
{
    const struct emu_findings *findings = emulator_findings(rig->emulator);

    outcome->completed = true;
    for (size_t i = 0; i < ARRAY_LEN(schedules); i++) {
        bool completed;
        size_t wrong;

        if (i >= 2 && outcome->found)
            break;
        if (!run(rig, &schedules[i], &completed, &wrong, error))
            return false;
        outcome->wrong |= !completed || wrong;
        if (i < 2) {
            outcome->completed &= completed;
            *(i == 0 ? &outcome->eager_wrong : &outcome->late_wrong) = wrong;
        }
        const struct emu_finding *root = emu_findings_root(findings);
        if (root && (!outcome->root[0] || (!outcome->found && emu_code_class(root->code) != EMU_NOTE)))
            set_root(rig, root, outcome);
    }
    return true;
}

static bool prepare(struct rig *rig, struct error *error)
{
    struct emu_memory *memory = emulator_memory(rig->emulator);
    const struct mutant_work *work = rig->work;
    void *extra = emu_memory_allocate(memory, work->extra_bytes ? work->extra_bytes : 1);

    for (int i = 0; i < 3; i++) {
        void *input = emu_memory_allocate(memory, work->input_bytes[i] ? work->input_bytes[i] : 1);
        if (!input)
            return error_set(error, ERROR_MEMORY, "out of memory");
        memcpy(input, work->inputs[i], work->input_bytes[i]);
        rig->buffers[i] = hopper_address(input);
    }
    rig->output = emu_memory_allocate(memory, work->output_bytes);
    if (!rig->output || !extra)
        return error_set(error, ERROR_MEMORY, "out of memory");
    rig->buffers[3] = hopper_address(rig->output);
    rig->buffers[4] = hopper_address(extra);
    return !rig->mutant->freed_output || emu_memory_release(memory, rig->output, true, error);
}

bool mutant_emulate(const struct mutant *mutant, const struct buffer *source, const struct buffer *ptx,
                    const struct mutant_work *work, struct mutant_outcome *outcome, struct error *error)
{
    struct rig rig = {.mutant = mutant, .work = work, .source = source->data};

    *outcome = (struct mutant_outcome){0};
    bool ok =
        emulator_new("sm_90a", &rig.emulator, error) &&
        emulator_load(rig.emulator, mutant_kernel_name(mutant->kernel), ptx->data, ptx->length, &rig.module, error) &&
        prepare(&rig, error) && run_all(&rig, outcome, error);
    emulator_unload(rig.emulator, rig.module);
    emulator_free(rig.emulator);
    return ok;
}
