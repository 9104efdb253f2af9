/*
 * What the emulated device tells: findings as they occur, on standard error and as JSONL, and statistics at the end
 * (docs/formats/emulator.md).
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "emu/shim/shim_internal.h"

static void append_row(struct shim_state *state, json_object *row)
{
    struct error error;

    if (!state->options.findings_path && state->options.findings_fd < 0)
        return;
    json_put_i64(row, "pid", getpid());
    if (state->options.findings_path ? json_append_line(row, state->options.findings_path, &error)
                                     : json_write_line(row, state->options.findings_fd, &error))
        return;
    (void)fprintf(stderr, "ptxbench emulator: %s\n", error.message);
    state->options.findings_path = NULL;
    state->options.findings_fd = -1;
}

static json_object *finding_to_json(const struct emu_finding *finding, size_t index)
{
    json_object *row = json_object_new_object();
    json_object *cta = json_object_new_array();

    for (int i = 0; i < 3; i++)
        (void)json_object_array_add(cta, json_object_new_int64(finding->cta[i]));
    json_put_string(row, "class", emu_class_text(emu_code_class(finding->code)));
    json_put_string(row, "code", emu_code_text(finding->code));
    json_put_string(row, "message", finding->message);
    json_put_string(row, "hint", emu_code_hint(finding->code));
    json_put_string(row, "kernel", finding->kernel);
    json_put_string(row, "file", finding->source.file);
    json_put_i64(row, "line", finding->source.line);
    json_put_string(row, "caller_file", finding->source.caller_file);
    json_put_i64(row, "caller_line", finding->source.caller_line);
    json_put_i64(row, "ptx_line", finding->ptx_line);
    json_put(row, "cta", cta);
    json_put_i64(row, "warp", finding->warp);
    json_put_i64(row, "lane", finding->lane);
    json_put_u64(row, "count", finding->count + 1);
    json_put_u64(row, "index", index);
    return row;
}

static void print_finding(const struct emu_finding *finding)
{
    const struct ptx_source *source = &finding->source;
    char place[600] = "";

    if (source->file && source->caller_file)
        (void)snprintf(place, sizeof place, " at %s:%u (inlined at %s:%u)", source->file, source->line,
                       source->caller_file, source->caller_line);
    else if (source->file)
        (void)snprintf(place, sizeof place, " at %s:%u", source->file, source->line);
    else if (finding->ptx_line)
        (void)snprintf(place, sizeof place, " at PTX line %u", finding->ptx_line);
    (void)fprintf(stderr, "ptxbench emulator: %s: %s in %s%s, block (%u,%u,%u)",
                  emu_class_text(emu_code_class(finding->code)), emu_code_text(finding->code),
                  finding->kernel ? finding->kernel : "a kernel", place, finding->cta[0], finding->cta[1],
                  finding->cta[2]);
    if (finding->warp >= 0)
        (void)fprintf(stderr, ", warp %d", finding->warp);
    if (finding->lane >= 0)
        (void)fprintf(stderr, ", lane %d", finding->lane);
    (void)fprintf(stderr, ": %s\n  hint: %s\n", finding->message, emu_code_hint(finding->code));
}

void shim_report_findings(struct shim_state *state)
{
    const struct emu_findings *findings = emulator_findings(state->emulator);

    for (; state->findings_told < emu_findings_count(findings); state->findings_told++) {
        const struct emu_finding *finding = emu_findings_at(findings, state->findings_told);
        AUTO_JSON_OBJECT *row = finding_to_json(finding, state->findings_told);
        if (!state->options.quiet)
            print_finding(finding);
        append_row(state, row);
    }
}

void shim_report_fact(struct shim_state *state, const char *class_text, const char *code, const char *message)
{
    AUTO_JSON_OBJECT *row = json_object_new_object();

    if (!state->options.quiet)
        (void)fprintf(stderr, "ptxbench emulator: %s\n", message);
    json_put_string(row, "class", class_text);
    json_put_string(row, "code", code);
    json_put_string(row, "message", message);
    append_row(state, row);
}

static const char *outcome_text(enum emulator_outcome outcome)
{
    static const char *const texts[] = {
        [EMULATOR_COMPLETED] = "completed",     [EMULATOR_FAULTED] = "faulted",
        [EMULATOR_DEADLOCKED] = "deadlocked",   [EMULATOR_OUT_OF_BUDGET] = "out_of_budget",
        [EMULATOR_UNSUPPORTED] = "unsupported",
    };

    return texts[outcome];
}

static struct shim_kernel_count *count_of(struct shim_state *state, const char *kernel)
{
    for (struct shim_kernel_count *at = state->counts; at; at = at->next)
        if (!strcmp(at->name, kernel))
            return at;
    struct shim_kernel_count *fresh = arena_alloc(state->arena, sizeof *fresh);
    fresh->name = arena_strdup(state->arena, kernel);
    fresh->opcode_warps = arena_calloc(state->arena, PTX_OP_COUNT, sizeof *fresh->opcode_warps);
    fresh->next = state->counts;
    state->counts = fresh;
    return fresh;
}

void shim_report_start(struct shim_state *state, const char *kernel)
{
    AUTO_JSON_OBJECT *row = json_object_new_object();

    if (!state->options.launches)
        return;
    json_put_string(row, "class", "start");
    json_put_string(row, "kernel", kernel);
    append_row(state, row);
}

static void append_launch(struct shim_state *state, const char *kernel, uint64_t grid_clusters,
                          const struct emulator_report *report)
{
    AUTO_JSON_OBJECT *row = json_object_new_object();

    if (!state->options.launches)
        return;
    json_object *families = json_object_new_object();
    json_put_string(row, "class", "launch");
    json_put_string(row, "kernel", kernel);
    json_put_string(row, "outcome", outcome_text(report->outcome));
    json_put_u64(row, "clusters", report->clusters_run);
    json_put_u64(row, "grid_clusters", grid_clusters);
    json_put_u64(row, "warp_instructions", report->warp_instructions);
    json_put_u64(row, "matrix_work", report->targets.matrix_work);
    json_put_u64(row, "legacy_work", report->targets.legacy_work);
    for (int i = SASS_OTHER + 1; i < SASS_FAMILY_COUNT; i++)
        if (report->targets.warps[i])
            json_put_u64(families, sass_family_text((enum sass_family)i), report->targets.warps[i]);
    json_put(row, "families", families);
    json_put_bool(row, "depends_on_missing", report->depends_on_missing);
    append_row(state, row);
}

void shim_report_launch(struct shim_state *state, const char *kernel, uint64_t grid_clusters,
                        const struct emulator_report *report)
{
    struct shim_kernel_count *count = count_of(state, kernel);
    char message[600];

    count->launches++;
    count->warp_instructions += report->warp_instructions;
    count->clusters += report->clusters_run;
    for (size_t i = 0; report->opcode_warps && i < PTX_OP_COUNT; i++)
        count->opcode_warps[i] += report->opcode_warps[i];
    shim_report_findings(state);
    append_launch(state, kernel, grid_clusters, report);
    if (report->outcome != EMULATOR_UNSUPPORTED)
        return;
    (void)snprintf(message, sizeof message, "%s: not emulated: %s", kernel,
                   report->unsupported ? report->unsupported : "an instruction");
    shim_report_fact(state, "unsupported", "unsupported_instruction", message);
}

static json_object *count_to_json(const struct shim_kernel_count *count)
{
    json_object *kernel = json_object_new_object();
    json_object *opcodes = json_object_new_object();

    json_put_string(kernel, "kernel", count->name);
    json_put_u64(kernel, "launches", count->launches);
    json_put_u64(kernel, "clusters", count->clusters);
    json_put_u64(kernel, "warp_instructions", count->warp_instructions);
    for (int i = 0; i < PTX_OP_COUNT; i++)
        if (count->opcode_warps[i])
            json_put_u64(opcodes, ptx_opcode_text((enum ptx_opcode)i), count->opcode_warps[i]);
    json_put(kernel, "opcodes", opcodes);
    return kernel;
}

static void write_statistics(const struct shim_state *state)
{
    AUTO_JSON_OBJECT *all = json_object_new_object();
    json_object *kernels = json_object_new_array();
    struct error error;

    for (const struct shim_kernel_count *at = state->counts; at; at = at->next)
        (void)json_object_array_add(kernels, count_to_json(at));
    json_put_string(all, "format", "ptxbench.emulator.statistics.v1");
    json_put_string(all, "arch", state->options.arch);
    json_put_u64(all, "findings", emu_findings_count(emulator_findings(state->emulator)));
    json_put(all, "kernels", kernels);
    if (!json_write_file(all, state->options.stats_path, &error))
        (void)fprintf(stderr, "ptxbench emulator: %s\n", error.message);
}

static void print_statistics(const struct shim_state *state)
{
    (void)fprintf(stderr, "ptxbench emulator: %s\n%10s %10s %16s  kernel\n", state->options.arch, "launches",
                  "clusters", "warp instr.");
    for (const struct shim_kernel_count *at = state->counts; at; at = at->next)
        (void)fprintf(stderr, "%10" PRIu64 " %10" PRIu64 " %16" PRIu64 "  %s\n", at->launches, at->clusters,
                      at->warp_instructions, at->name);
}

void shim_report_exit(struct shim_state *state)
{
    const struct emu_findings *findings = emulator_findings(state->emulator);

    shim_report_findings(state);
    for (size_t i = 0; i < emu_findings_count(findings); i++) {
        const struct emu_finding *finding = emu_findings_at(findings, i);
        AUTO_JSON_OBJECT *row = finding->count ? finding_to_json(finding, i) : NULL;
        if (row)
            append_row(state, row);
    }
    if (state->options.stats_path && !strcmp(state->options.stats_path, "-"))
        print_statistics(state);
    else if (state->options.stats_path)
        write_statistics(state);
}
