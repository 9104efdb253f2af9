#include "judge/ncu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/process.h"
#include "toolchain/sass.h"

enum { OUTPUT_LIMIT = 64 << 20, TROUBLE_MAX_BYTES = 500, ROWS_PER_SCRATCH = 256 };

#define DEFAULT_TIMEOUT_NS (120 * INT64_C(1000000000))
#define WARP_METRIC "inst_executed"
#define THREAD_METRIC "thread_inst_executed_true"

/* Headings of a column: the metric's name when asked for by name, or the text that the source page shows. */
static const char *const warp_headings[] = {WARP_METRIC, "Instructions Executed", "# Inst Executed"};
static const char *const thread_headings[] = {THREAD_METRIC, "Predicated-On Thread Instructions Executed"};

struct table {
    bool open;
    int address; /* -1: no such column */
    int source;
    int warps;
    int threads;
    const char *kernel;
};

static int find_heading(const struct csv_row *row, const char *const *names, size_t count)
{
    int found = -1;

    for (size_t i = 0; i < count && found < 0; i++)
        found = csv_find(row, names[i]);
    return found;
}

/* A view of CUDA source beside SASS has two "Source" columns; that of the SASS comes behind the address. */
static int find_source(const struct csv_row *row, int address)
{
    for (size_t i = address < 0 ? 0 : (size_t)address + 1; i < row->count; i++) {
        struct csv_row rest = {row->cells + i, 1, row->line};
        if (csv_find(&rest, "Source") == 0 || csv_find(&rest, "SASS") == 0)
            return (int)i;
    }
    return -1;
}

static bool open_table(const struct csv_row *row, struct table *table)
{
    struct table next = {.open = true, .kernel = table->kernel};

    next.address = csv_find(row, "Address");
    next.source = find_source(row, next.address);
    next.warps = find_heading(row, warp_headings, ARRAY_LEN(warp_headings));
    next.threads = find_heading(row, thread_headings, ARRAY_LEN(thread_headings));
    if (next.source < 0 || next.warps < 0 || next.threads < 0)
        return false;
    *table = next;
    return true;
}

/* "@!P0 HGMMA.64x64x16.F32 R24, ..." or "/" + "*0090*" + "/ HGMMA..." to the opcode; NULL when there is none. */
static const char *read_opcode(struct arena *arena, const char *text)
{
    size_t length;

    for (;;) {
        while (isspace((unsigned char)*text) || *text == '{')
            text++;
        if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            if (!end)
                return NULL;
            text = end + 2;
        } else if (*text == '@') {
            text += strcspn(text, " \t");
        } else {
            break;
        }
    }
    length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.abcdefghijklmnopqrstuvwxyz");
    if (!isupper((unsigned char)*text) || text[length] == ':')
        return NULL; /* a label */
    return arena_strndup(arena, text, length);
}

static uint64_t read_address(const char *cell)
{
    while (isspace((unsigned char)*cell))
        cell++;
    return strtoull(cell, NULL, 16); /* with or without "0x"; overflow saturates */
}

static void read_row(struct arena *arena, const struct csv_row *row, const struct table *table, struct ncu_report *out)
{
    struct ncu_instruction item = {.kernel = table->kernel};
    const char *address = table->address >= 0 && (size_t)table->address < row->count ? row->cells[table->address] : "";

    if ((size_t)table->source >= row->count || (size_t)table->warps >= row->count ||
        (size_t)table->threads >= row->count)
        return;
    if (table->address >= 0 && !isxdigit((unsigned char)*address))
        return; /* a line of CUDA source, its counts are sums */
    item.opcode = read_opcode(arena, row->cells[table->source]);
    if (!item.opcode)
        return;
    if (!csv_parse_count(row->cells[table->warps], &item.warps) ||
        !csv_parse_count(row->cells[table->threads], &item.threads)) {
        out->skipped++;
        return;
    }
    item.address = read_address(address);
    *LIST_APPEND(arena, out) = item;
}

static void note_trouble(struct arena *arena, const char *cell, struct ncu_report *out)
{
    AUTO_BUFFER text = buffer_new(TROUBLE_MAX_BYTES);

    if (out->trouble)
        return;
    (void)buffer_append_sanitized(&text, cell, strcspn(cell, "\n"));
    out->trouble = arena_strndup(arena, text.data, text.length);
}

bool ncu_parse(struct arena *arena, const char *text, size_t length, struct ncu_report *out, struct error *error)
{
    struct csv_reader reader = csv_reader_new(text, length);
    AUTO_ARENA *scratch = arena_new();
    struct table table = {0};
    struct csv_row row;

    *out = (struct ncu_report){0};
    for (size_t rows = 1; csv_next(&reader, scratch, &row); rows++) {
        if (strstr(row.cells[0], "==ERROR==")) {
            note_trouble(arena, row.cells[0], out);
        } else if (row.count >= 2 && csv_find(&row, "Kernel Name") == 0) {
            table.kernel = arena_strdup(arena, row.cells[1]);
            table.open = false;
        } else if (open_table(&row, &table)) {
            out->tables++;
        } else if (table.open) {
            read_row(arena, &row, &table, out);
        }
        if (rows % ROWS_PER_SCRATCH == 0) { /* a page has tens of thousands of rows; none is needed again */
            arena_free(scratch);
            scratch = arena_new();
        }
    }
    if (out->tables)
        return true;
    (void)error_set(error, ERROR_TOOL, "ncu: no source table with %s and %s%s%s", WARP_METRIC, THREAD_METRIC,
                    out->trouble ? ": " : "", out->trouble ? out->trouble : "");
    if (out->trouble && strstr(out->trouble, "ERR_NVGPUCTRPERM"))
        return error_hint(error, "performance counters are reserved to root on this machine "
                                 "(NVreg_RestrictProfilingToAdminUsers)");
    return error_hint(error, "run the printed ncu command by hand to see what it does");
}

void ncu_families(struct arena *arena, const struct ncu_report *report, const char *arch, struct count_map *warps,
                  struct count_map *threads)
{
    int64_t sums[SASS_FAMILY_COUNT][2] = {0};

    for (size_t i = 0; i < report->count; i++) {
        enum sass_family family = sass_family(report->items[i].opcode, arch);
        if (__builtin_add_overflow(sums[family][0], report->items[i].warps, &sums[family][0]) ||
            __builtin_add_overflow(sums[family][1], report->items[i].threads, &sums[family][1]))
            sums[family][0] = sums[family][1] = INT64_MAX;
    }
    for (int family = SASS_OTHER + 1; family < SASS_FAMILY_COUNT; family++) {
        count_map_set(warps, arena, sass_family_text((enum sass_family)family), sums[family][0]);
        count_map_set(threads, arena, sass_family_text((enum sass_family)family), sums[family][1]);
    }
}

const char *const *ncu_command(struct arena *arena, const struct ncu_request *request, const char *program)
{
    const char *leading[24];
    size_t count = 0;
    size_t arguments = 0;
    const char **argv;

    leading[count++] = program;
    leading[count++] = "--target-processes";
    leading[count++] = "all";
    leading[count++] = "--replay-mode";
    leading[count++] = "application";
    leading[count++] = "--page";
    leading[count++] = "source";
    leading[count++] = "--print-source";
    leading[count++] = "sass";
    leading[count++] = "--csv";
    leading[count++] = "--print-units";
    leading[count++] = "base";
    leading[count++] = "--metrics";
    leading[count++] = WARP_METRIC "," THREAD_METRIC;
    if (request->nvtx_range) {
        leading[count++] = "--nvtx";
        leading[count++] = "--nvtx-include";
        leading[count++] = arena_printf(arena, "%s]", request->nvtx_range); /* "]": a push/pop range */
    }
    if (request->kernel_pattern) {
        leading[count++] = "--kernel-name";
        leading[count++] = arena_printf(arena, "regex:%s", request->kernel_pattern);
    }
    if (request->launch_count > 0) {
        leading[count++] = "--launch-count";
        leading[count++] = arena_printf(arena, "%d", request->launch_count);
    }
    while (request->argv[arguments])
        arguments++;
    argv = arena_calloc(arena, count + arguments + 1, sizeof *argv);
    memcpy(argv, leading, count * sizeof *argv);
    memcpy(argv + count, request->argv, arguments * sizeof *argv);
    return argv;
}

bool ncu_run(struct arena *arena, const struct ncu_request *request, struct ncu_report *out, struct error *error)
{
    AUTO_BUFFER output = buffer_new(OUTPUT_LIMIT);
    AUTO_BUFFER errors = buffer_new(OUTPUT_LIMIT);
    const char *program = file_find_program(arena, request->program ? request->program : "ncu");
    struct process_spec spec = {
        .environment = request->environment,
        .folder = request->folder,
        .no_core = true,
        .timeout_ns = request->timeout_ns > 0 ? request->timeout_ns : DEFAULT_TIMEOUT_NS,
        .output_limit = OUTPUT_LIMIT,
    };
    struct process_end end = {0};
    char how[128];

    *out = (struct ncu_report){0};
    if (!program) {
        (void)error_set(error, ERROR_TOOL, "ncu: program \"%s\" not found",
                        request->program ? request->program : "ncu");
        return error_hint(error, "install Nsight Compute or put ncu on PATH");
    }
    spec.argv = ncu_command(arena, request, program);
    if (!process_run(&spec, &output, &errors, &end, error))
        return error_prefix(error, "ncu");
    process_end_text(&end, how, sizeof how);
    if (end.timed_out)
        return error_set(error, ERROR_TOOL, "ncu: %s", how);
    if (output.dropped)
        return error_set(error, ERROR_TOOL, "ncu: more than %d MiB of output", OUTPUT_LIMIT >> 20);
    if (!ncu_parse(arena, output.data, output.length, out, error))
        return end.exit_status == 0 ? false : error_prefix(error, "ncu %s", how);
    if (end.exit_status != 0) /* a table of a run that failed is no evidence */
        return error_set(error, ERROR_TOOL, "ncu: %s%s%s", how, out->trouble ? ": " : "",
                         out->trouble ? out->trouble : "");
    return true;
}
