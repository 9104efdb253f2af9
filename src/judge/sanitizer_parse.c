/*
 * Text output of compute-sanitizer, line by line. A block starts with a headline ("Invalid __global__ write of size 4
 * bytes"), details follow indented, and an empty "=========" or the next headline ends it.
 */
#define _GNU_SOURCE /* strcasestr */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "judge/sanitizer.h"

enum { LINE_MAX_BYTES = 4000 };

#define PREFIX "========="

enum block_kind {
    BLOCK_NONE,
    BLOCK_DEVICE, /* an access, barrier or race reported by a tool */
    BLOCK_API,    /* "Program hit ... on CUDA API call to ..." */
    BLOCK_LEAK,
    BLOCK_UNKNOWN /* a headline that is only a finding when a place in device code follows */
};

struct parser {
    struct arena *arena;
    enum sanitizer_tool tool;
    struct sanitizer_report *report;
    enum block_kind kind;
    const char *headline;
    const char *detail; /* address, thread */
    const char *kernel;
    const char *file;
    int line;
    int64_t hazards;
    const char *origin; /* module of the first host frame outside the CUDA libraries */
    bool summary_seen;
    int64_t total;  /* of the summary */
    int64_t blocks; /* blocks read, whatever became of them */
    int64_t not_printed;
};

/* Headlines that start a block, by what they contain. */
static const struct {
    const char *start;
    enum block_kind kind;
} headlines[] = {
    {"Invalid ", BLOCK_DEVICE},
    {"Misaligned ", BLOCK_DEVICE},
    {"Uninitialized ", BLOCK_DEVICE},
    {"Barrier error detected", BLOCK_DEVICE},
    {"Error: Race reported", BLOCK_DEVICE},
    {"Warning: Race reported", BLOCK_DEVICE},
    {"Race reported", BLOCK_DEVICE},
    {"Race condition", BLOCK_DEVICE},
    {"Use-after-free", BLOCK_DEVICE},
    {"Use-before-alloc", BLOCK_DEVICE},
    {"Stack overflow", BLOCK_DEVICE},
    {"Malloc/Free ", BLOCK_DEVICE},
    {"Double free", BLOCK_DEVICE},
    {"Fatal UVM", BLOCK_DEVICE},
    {"Hardware exception", BLOCK_DEVICE},
    {"Illegal instruction", BLOCK_DEVICE},
    {"Unused memory", BLOCK_LEAK},
    {"Leaked ", BLOCK_LEAK},
    {"Program hit ", BLOCK_API},
};

/* The tool telling that it could not do its work. Checked after the headlines. */
static const char *const troubles[] = {
    "Error: ",
    "Internal Sanitizer Error",
    "Device not supported",
    "evice is not supported",
    "before the Sanitizer",
    "Failed to ",
    "Unable to ",
    "No attachable process",
    "timed-out",
    "not supported",
    "didn't track",
};

static const char *const noise_calls[] = {
    "cuGetProcAddress",        "cuGetExportTable",       "cudaGetDriverEntryPoint",
    "cuDeviceGetP2PAttribute", "cuModuleGetLoadingMode", "cuPointerGetAttribute",
};

/* Errors that every call returns once a kernel has faulted. */
static const char *const consequences[] = {
    "cudaErrorLaunchFailure",
    "CUDA_ERROR_LAUNCH_FAILED",
    "cudaErrorIllegalAddress",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "cudaErrorMisalignedAddress",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "cudaErrorAssert",
    "CUDA_ERROR_ASSERT",
    "cudaErrorIllegalInstruction",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "cudaErrorContextIsDestroyed",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool contains_any(const char *text, const char *const *needles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, needles[i]))
            return true;
    return false;
}

static bool contains_ignoring_case(const char *text, const char *needle)
{
    return strcasestr(text, needle) != NULL;
}

/* "NAME+0x70 in FILE:12" or "0x70 in FILE:12:NAME" (before 2023) or "NAME+0x70": kernel, file, line. `text` may go on
 * behind it ("[32 hazards]"). */
static void read_place(struct parser *parser, const char *text)
{
    const char *offset = strstr(text, "+0x");
    const char *in = strstr(offset ? offset : text, " in ");
    const char *place = in ? in + 4 : NULL;
    const char *colon;
    size_t length;
    int line = 0;

    if (offset && !parser->kernel)
        parser->kernel = arena_strndup(parser->arena, text, (size_t)(offset - text));
    if (!place)
        return;
    length = strcspn(place, " ");
    colon = memchr(place, ':', length);
    if (!colon) {
        if (!parser->kernel) /* "0x70 in kernel(int)": no line information */
            parser->kernel = arena_strdup(parser->arena, place);
        return;
    }
    for (const char *digit = colon + 1; isdigit((unsigned char)*digit) && line < 100000000; digit++)
        line = 10 * line + (*digit - '0');
    if (line == 0 || parser->file)
        return;
    parser->file = arena_strndup(parser->arena, place, (size_t)(colon - place));
    if (parser->file[0] == '/')
        parser->file = arena_strdup(parser->arena, file_basename(parser->file));
    parser->line = line;
    for (colon++; isdigit((unsigned char)*colon); colon++)
        continue;
    if (*colon == ':' && !parser->kernel)
        parser->kernel = arena_strdup(parser->arena, colon + 1);
}

static void add_detail(struct parser *parser, const char *text)
{
    parser->detail = parser->detail ? arena_printf(parser->arena, "%.600s, %.300s", parser->detail, text)
                                    : arena_strdup(parser->arena, text);
}

static enum finding_code block_code(const struct parser *parser)
{
    static const enum finding_code by_tool[] = {
        [SANITIZER_MEMCHECK] = FINDING_MEMCHECK,
        [SANITIZER_RACECHECK] = FINDING_RACECHECK,
        [SANITIZER_SYNCCHECK] = FINDING_SYNCCHECK,
        [SANITIZER_INITCHECK] = FINDING_INITCHECK,
    };

    if (parser->kind == BLOCK_API)
        return FINDING_API_ERROR;
    if (parser->kind == BLOCK_LEAK)
        return FINDING_MEMORY_LEAK;
    if (starts_with(parser->headline, "Barrier error"))
        return FINDING_SYNCCHECK;
    if (starts_with(parser->headline, "Uninitialized"))
        return FINDING_INITCHECK;
    if (strstr(parser->headline, "Race reported"))
        return FINDING_RACECHECK;
    if (starts_with(parser->headline, "Invalid ") || starts_with(parser->headline, "Misaligned "))
        return FINDING_MEMCHECK;
    return by_tool[parser->tool];
}

static bool is_noise(const struct parser *parser)
{
    if (parser->kind != BLOCK_API)
        return false;
    if (contains_any(parser->headline, noise_calls, ARRAY_LEN(noise_calls)) ||
        strstr(parser->headline, "CUDA_ERROR_NOT_FOUND"))
        return true;
    if (parser->origin && starts_with(file_basename(parser->origin), "ptxbench"))
        return true; /* a call of the runner itself */
    return finding_find(&parser->report->findings, FINDING_MEMCHECK) &&
           contains_any(parser->headline, consequences, ARRAY_LEN(consequences));
}

/* Threads and addresses differ between reports of one defect: the headline and the place identify it. */
static bool merge_repeated(struct parser *parser, const char *code, int64_t count)
{
    struct finding_list *list = &parser->report->findings;
    size_t length = strlen(parser->headline);

    for (size_t i = 0; i < list->count; i++) {
        struct finding *known = &list->items[i];
        bool same_file =
            known->file && parser->file ? strcmp(known->file, parser->file) == 0 : !known->file && !parser->file;
        bool same_kernel = known->kernel && parser->kernel ? strcmp(known->kernel, parser->kernel) == 0
                                                           : !known->kernel && !parser->kernel;
        if (known->line == parser->line && same_file && same_kernel && strcmp(known->code, code) == 0 &&
            strncmp(known->message, parser->headline, length) == 0) {
            known->count += count;
            return true;
        }
    }
    return false;
}

static void end_block(struct parser *parser)
{
    bool device_place = parser->kernel || parser->file;

    if (parser->kind != BLOCK_NONE && (parser->kind != BLOCK_UNKNOWN || device_place)) {
        enum finding_code code = block_code(parser);
        int64_t count = parser->hazards > 0 ? parser->hazards : 1;
        parser->blocks++;
        if (contains_ignoring_case(parser->headline, "use-after-free") ||
            (parser->detail && contains_ignoring_case(parser->detail, "freed")))
            parser->report->use_after_free = true;
        if (is_noise(parser)) {
            parser->report->noise++;
        } else if (!merge_repeated(parser, finding_code_text(code), count)) {
            struct finding *finding = parser->detail ? finding_add(&parser->report->findings, parser->arena, code,
                                                                   "%.1000s: %.1000s", parser->headline, parser->detail)
                                                     : finding_add(&parser->report->findings, parser->arena, code,
                                                                   "%.1000s", parser->headline);
            finding->file = parser->file;
            finding->line = parser->line;
            finding->kernel = parser->kernel;
            finding->count = count;
        }
    }
    parser->kind = BLOCK_NONE;
    parser->headline = parser->detail = parser->kernel = parser->file = parser->origin = NULL;
    parser->line = 0;
    parser->hazards = 0;
}

static int64_t leading_number(const char *text)
{
    int64_t value = 0;

    for (; isdigit((unsigned char)*text) || *text == ','; text++)
        if (*text != ',' && value < INT64_MAX / 16)
            value = 10 * value + (*text - '0');
    return value;
}

static void read_summary(struct parser *parser, const char *text)
{
    const char *colon = strstr(text, "SUMMARY: ");
    int64_t value = leading_number(colon + strlen("SUMMARY: "));

    if (starts_with(text, "LEAK"))
        return;
    if (strstr(text, "not printed")) {
        parser->not_printed = value;
        return;
    }
    parser->summary_seen = true;
    if (value > parser->total)
        parser->total = value; /* several processes: several summaries */
}

static void set_trouble(struct parser *parser, const char *text)
{
    if (!parser->report->reason)
        parser->report->reason = arena_printf(parser->arena, "compute-sanitizer: %.500s", text);
}

static void read_headline(struct parser *parser, const char *text)
{
    end_block(parser);
    if (strstr(text, " SUMMARY: ")) {
        read_summary(parser, text);
        return;
    }
    if (starts_with(text, "COMPUTE-SANITIZER"))
        return;
    if (starts_with(text, "Target application returned an error") ||
        strstr(text, "process didn't terminate successfully")) {
        parser->report->target_failed = true;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(headlines) && parser->kind == BLOCK_NONE; i++)
        if (starts_with(text, headlines[i].start))
            parser->kind = headlines[i].kind;
    if (parser->kind == BLOCK_NONE && contains_any(text, troubles, ARRAY_LEN(troubles))) {
        set_trouble(parser, text);
        return;
    }
    if (parser->kind == BLOCK_NONE)
        parser->kind = BLOCK_UNKNOWN;
    parser->headline = arena_strndup(parser->arena, text, strcspn(text, "\n"));
    if (strstr(text, "Race reported")) { /* the places are in the headline */
        const char *at = strstr(text, " at ");
        parser->headline = arena_strndup(parser->arena, text, at ? (size_t)(at - text) : strlen(text));
        if (at)
            read_place(parser, at + 4);
    }
}

static void read_detail(struct parser *parser, const char *text)
{
    const char *hazards = strchr(text, '[');

    if (parser->kind == BLOCK_NONE)
        return;
    if (starts_with(text, "at ")) {
        read_place(parser, text + 3);
    } else if (starts_with(text, "Device Frame:")) {
        const char *frame = text + strlen("Device Frame:");
        read_place(parser, frame + (*frame == ' '));
    } else if (starts_with(text, "and ") && strstr(text, " access at ")) {
        if (hazards && strstr(hazards, "hazard"))
            parser->hazards = leading_number(hazards + 1);
        add_detail(parser, text);
    } else if (starts_with(text, "by thread") || starts_with(text, "Address ") || starts_with(text, "Access ") ||
               starts_with(text, "and is ") || contains_ignoring_case(text, "freed")) {
        add_detail(parser, text);
    } else if (starts_with(text, "Host Frame:") && !parser->origin) {
        const char *module = strrchr(text, ' ');
        if (module && !strstr(module, "libcuda") && !strstr(module, "libc.so") && !strstr(module, "ld-linux"))
            parser->origin = arena_strdup(parser->arena, module + 1);
    }
}

static void read_line(struct parser *parser, const char *text, size_t length)
{
    AUTO_BUFFER line = buffer_new(LINE_MAX_BYTES);
    const char *body;

    if (length < strlen(PREFIX) || strncmp(text, PREFIX, strlen(PREFIX)) != 0)
        return;
    (void)buffer_append_sanitized(&line, text + strlen(PREFIX), length - strlen(PREFIX));
    body = line.data;
    while (isspace((unsigned char)*body))
        body++;
    if (*body == 0)
        end_block(parser);
    else if (body - line.data <= 1)
        read_headline(parser, body);
    else
        read_detail(parser, body);
}

static bool has_defect(const struct finding_list *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].class != FINDING_CLASS_NOTE)
            return true;
    return false;
}

static void conclude(struct parser *parser)
{
    struct sanitizer_report *report = parser->report;

    if (parser->summary_seen)
        report->errors = count_of(parser->total);
    if (has_defect(&report->findings)) {
        report->clean = TRISTATE_NO;
        report->reason = NULL;
        return;
    }
    report->clean = TRISTATE_UNKNOWN;
    if (report->reason)
        return;
    if (!parser->summary_seen)
        report->reason = "compute-sanitizer ended without a summary";
    else if (report->target_failed)
        report->reason = "the program failed under compute-sanitizer, which reported no defect";
    else if (parser->not_printed > 0 || parser->total > parser->blocks)
        report->reason = arena_printf(parser->arena, "compute-sanitizer counted %lld errors, %lld could be read",
                                      (long long)parser->total, (long long)parser->blocks);
    else
        report->clean = TRISTATE_YES;
}

void sanitizer_parse(struct arena *arena, enum sanitizer_tool tool, const char *text, size_t length,
                     struct sanitizer_report *out)
{
    struct parser parser = {.arena = arena, .tool = tool, .report = out};

    *out = (struct sanitizer_report){0};
    while (length) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) : length;
        read_line(&parser, text, line);
        line += end != NULL;
        text += line;
        length -= line;
    }
    end_block(&parser);
    conclude(&parser);
}
