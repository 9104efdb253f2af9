/* Findings about a running grid: faults of an instruction, deadlocks, endless loops. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/machine_new.h"

enum { INLINED_MAX = 4 }; /* callers that a place names */

static struct emu_finding finding_at(const struct emu_grid *grid, uint32_t op_index, enum emu_code code)
{
    const struct emu_program *program = grid->program;
    const struct emu_op *op = &program->ops[op_index];
    const struct ptx_instruction *ptx = emu_op_ptx(program, op);
    struct emu_finding finding = {
        .code = code, .ptx_line = ptx->line, .kernel = program->functions[0].ptx->name, .warp = -1, .lane = -1};

    if (!ptx_source_of(program->module, ptx, &finding.source))
        finding.source = (struct ptx_source){0};
    return finding;
}

enum emu_result emu_report(struct emu_warp *warp, const struct emu_op *op, int lane, enum emu_code code,
                           const char *format, ...)
{
    struct emu_grid *grid = emu_grid_of(warp);
    struct emu_finding finding = finding_at(grid, (uint32_t)(op - grid->program->ops), code);
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int axis = 0; axis < 3; axis++)
        finding.cta[axis] = warp->cta->id[axis];
    finding.warp = (int32_t)warp->index;
    finding.lane = lane;
    emu_findings_add(grid->findings, &finding, "%s", text);
    return emu_code_class(code) == EMU_ERROR ? EMU_FAULT : EMU_CONTINUE;
}

void emu_report_grid(struct emu_grid *grid, uint32_t op_index, enum emu_code code, const char *format, ...)
{
    struct emu_finding finding = finding_at(grid, op_index, code);
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    emu_findings_add(grid->findings, &finding, "%s", text);
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *emu_place(const struct emu_program *program, uint32_t op_index, char *out, size_t size)
{
    const struct ptx_instruction *ptx = emu_op_ptx(program, &program->ops[op_index]);
    const struct ptx_module *module = program->module;
    struct ptx_source source;
    size_t used;

    if (!ptx_source_of(module, ptx, &source) || !source.file) {
        (void)snprintf(out, size, "PTX line %u", ptx->line);
        return out;
    }
    used = (size_t)snprintf(out, size, "%s:%u", file_of(source.file), source.line);
    const struct ptx_location *at = &module->locations[ptx->location];
    const char *closed = "";

    for (int depth = 0; depth < INLINED_MAX && at->caller < module->location_count && used < size; depth++) {
        const struct ptx_location *caller = &module->locations[at->caller];
        const char *file = caller->file == at->file ? "" : ptx_file_name(module, caller->file);

        used += (size_t)snprintf(out + used, size - used, "%s%s:%u", depth ? ", " : " (inlined at ",
                                 file ? file_of(file) : "", caller->line);
        at = caller;
        closed = ")";
    }
    if (used < size)
        (void)snprintf(out + used, size - used, "%s", closed);
    return out;
}

/* Warps of a CTA that wait alike are told once. */
struct waiters {
    const struct emu_warp *warp; /* one of them */
    const struct emu_group *group;
    uint64_t warps; /* bits */
};

enum { WAITERS_MAX = 8 };

static bool waits_alike(const struct waiters *waiters, const struct emu_warp *warp, const struct emu_group *group)
{
    const struct emu_group *first = waiters->group;

    return waiters->warp->cta == warp->cta && first->pc == group->pc && first->wait.class == group->wait.class &&
           first->wait.object == group->wait.object;
}

static void add_waiter(struct waiters *list, size_t *count, size_t *left_out, const struct emu_warp *warp,
                       const struct emu_group *group)
{
    for (size_t i = 0; i < *count; i++) {
        if (waits_alike(&list[i], warp, group)) {
            list[i].warps |= UINT64_C(1) << warp->index;
            return;
        }
    }
    if (*count == WAITERS_MAX)
        (*left_out)++;
    else
        list[(*count)++] = (struct waiters){.warp = warp, .group = group, .warps = UINT64_C(1) << warp->index};
}

/* "warp 3", "warps 0-3, 5" */
static void print_warps(struct buffer *out, uint64_t warps)
{
    bool single = (warps & (warps - 1)) == 0;
    const char *separator = single ? "warp " : "warps ";

    for (uint32_t i = 0; i < 32; i++) {
        uint32_t end = i;

        if (!(warps >> i & 1))
            continue;
        while (end < 31 && warps >> (end + 1) & 1)
            end++;
        buffer_printf(out, end > i ? "%s%u-%u" : "%s%u", separator, i, end);
        separator = ", ";
        i = end;
    }
}

static void print_waiters(struct buffer *out, const struct emu_grid *grid, const struct waiters *waiters)
{
    const struct emu_cta *cta = waiters->warp->cta;
    const struct emu_group *group = waiters->group;
    char place[256];

    if (out->length)
        buffer_append_text(out, "; ");
    buffer_printf(out, "CTA (%u,%u,%u) ", cta->id[0], cta->id[1], cta->id[2]);
    print_warps(out, waiters->warps);
    emu_place(grid->program, group->pc, place, sizeof place);
    if (!group->wait.class) {
        buffer_printf(out, " at %s: reads memory that nobody writes", place);
        return;
    }
    buffer_printf(out, " at %s: waits for ", place);
    group->wait.class->describe(waiters->warp, group, out);
}

static uint32_t suspicion_of(const struct waiters *waiters)
{
    const struct emu_wait_class *class = waiters->group->wait.class;

    return class && class->suspicion ? class->suspicion(waiters->warp, waiters->group) : 1;
}

static void put_suspect_first(struct waiters *list, size_t count)
{
    size_t first = 0;
    struct waiters suspect;

    for (size_t i = 1; i < count; i++)
        if (suspicion_of(&list[i]) > suspicion_of(&list[first]))
            first = i;
    suspect = list[first];
    memmove(list + 1, list, first * sizeof *list);
    list[0] = suspect;
}

void emu_report_deadlock(struct emu_grid *grid, bool spinning)
{
    struct waiters list[WAITERS_MAX];
    size_t count = 0, left_out = 0;
    AUTO_BUFFER text = buffer_new(1500);

    for (const struct emu_cluster *cluster = grid->resident; cluster; cluster = cluster->next) {
        for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
            const struct emu_cta *cta = &cluster->ctas[rank];

            for (uint32_t w = 0; w < cta->warp_count; w++) {
                for (uint32_t g = 0; g < cta->warps[w].group_count; g++)
                    add_waiter(list, &count, &left_out, &cta->warps[w], &cta->warps[w].groups[g]);
            }
        }
    }
    if (!count)
        return;
    put_suspect_first(list, count);
    for (size_t i = 0; i < count; i++)
        print_waiters(&text, grid, &list[i]);
    if (left_out)
        buffer_printf(&text, "; and %zu more", left_out);

    struct emu_finding finding = finding_at(grid, list[0].group->pc, EMU_DEADLOCK);

    memcpy(finding.cta, list[0].warp->cta->id, sizeof finding.cta);
    finding.warp = (int32_t)list[0].warp->index;
    emu_findings_add(grid->findings, &finding, "%s. %s",
                     spinning ? "no thread makes progress" : "no thread can go on and nothing is pending", text.data);
}

void emu_report_budget(struct emu_grid *grid)
{
    uint32_t hottest = 0;
    char place[256];

    for (uint32_t i = 1; i < grid->program->op_count; i++) {
        if (grid->op_executions[i] > grid->op_executions[hottest])
            hottest = i;
    }

    struct emu_finding finding = finding_at(grid, hottest, EMU_BUDGET);

    emu_findings_add(
        grid->findings, &finding,
        "the kernel did not end within %" PRIu64 " warp instructions; the loop at %s ran %" PRIu64 " times",
        grid->budget, emu_place(grid->program, hottest, place, sizeof place), grid->op_executions[hottest]);
}
