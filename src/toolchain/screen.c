#include "toolchain/screen.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "toolchain/screen_internal.h"
#include "toolchain/screen_names.h"

enum { OBJECT_BYTES_MAX = 1 << 30, MESSAGE_BYTES_MAX = 1000 };

static const char *const code_texts[] = {
#define X(code, text, meaning) text,
    SCREEN_CODES(X)
#undef X
};

static const char *const code_hints[] = {
    [SCREEN_VENDOR_INCLUDE] = "write the computation yourself in CUDA and PTX; vendor libraries are banned",
    [SCREEN_TEMPLATE_LIBRARY] = "write the kernel from scratch, or allow template libraries with --allow-libs",
    [SCREEN_VENDOR_CALL] = "write the computation yourself in CUDA and PTX; vendor libraries are banned",
    [SCREEN_LOADER_CALL] = "a candidate's code must all be in its source; remove the call",
    [SCREEN_INCBIN] = "a candidate's code must all be in its source; remove the binary file",
    [SCREEN_FOREIGN_INCLUDE] = "include only the candidate's own files, the CUDA toolkit and TVM-FFI",
    [SCREEN_FOREIGN_LIBRARY] = "only the CUDA runtime, the driver, TVM-FFI and the C and C++ libraries are linked",
    [SCREEN_DENIED_IMPORT] = "remove the call; a candidate computes on the GPU and does nothing else",
    [SCREEN_DENIED_STRING] = "remove the name; it serves only to load what is banned",
    [SCREEN_EMBEDDED_CODE] = "device code must come from the candidate's own source; remove the embedded binary or PTX",
    [SCREEN_HOST_ASSEMBLY] = "keep inline PTX in __device__ and __global__ functions, and write host code in C++",
    [SCREEN_CONSTRUCTOR] = "do the work in the entry function; code that runs at load time is not timed",
};

const char *screen_code_text(enum screen_code code)
{
    return (unsigned)code < ARRAY_LEN(code_texts) ? code_texts[code] : "?";
}

static bool is_known(const struct screen_report *report, enum screen_code code, const char *file, int line,
                     const char *message)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct screen_finding *known = &report->findings[i];
        if (known->code != code)
            continue;
        bool same_place = file && known->file && line && known->line == line && strcmp(known->file, file) == 0;
        if (same_place || strcmp(known->message, message) == 0)
            return true;
    }
    return false;
}

void screen_add(struct arena *arena, struct screen_report *report, enum screen_code code, enum screen_severity severity,
                const char *file, int line, const char *format, ...)
{
    AUTO_BUFFER text = buffer_new(MESSAGE_BYTES_MAX);
    AUTO_BUFFER message = buffer_new(MESSAGE_BYTES_MAX * 3);
    va_list args;

    if (report->count >= SCREEN_FINDINGS_MAX) {
        report->dropped++;
        report->offences += severity == SCREEN_OFFENCE;
        return;
    }
    va_start(args, format);
    (void)buffer_vprintf(&text, format, args);
    va_end(args);
    (void)buffer_append_sanitized(&message, text.data, text.length);
    if (is_known(report, code, file, line, message.data))
        return;
    if (!report->findings)
        report->findings = arena_calloc(arena, SCREEN_FINDINGS_MAX, sizeof *report->findings);
    report->findings[report->count++] = (struct screen_finding){
        .code = code,
        .severity = severity,
        .message = arena_strdup(arena, message.data),
        .file = arena_strdup(arena, file),
        .line = line,
        .hint = code_hints[code],
    };
    report->offences += severity == SCREEN_OFFENCE;
}

void screen_sources(struct arena *arena, const struct compile_source *sources, size_t count,
                    const struct screen_policy *policy, struct screen_report *report)
{
    for (size_t i = 0; i < count; i++)
        screen_text(arena, sources[i].path, sources[i].content, sources[i].length, false, policy, report);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;

    return length && strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_allowed_file(const struct toolchain *toolchain, struct arena *arena, const char *path)
{
    /* Headers of the C and C++ libraries and of the compiler. */
    static const char *const system_folders[] = {"/usr/include", "/usr/lib/gcc", "/usr/local/lib/gcc", "/usr/lib/llvm"};

    for (size_t i = 0; i < ARRAY_LEN(system_folders); i++)
        if (is_below(path, system_folders[i]))
            return true;
    if (is_below(path, toolchain->cuda_root) || is_below(path, toolchain->candidate_include))
        return true;
    return toolchain->tvm_ffi_root && is_below(path, file_join(arena, toolchain->tvm_ffi_root, "include"));
}

/* Part of a header's path behind the folder that holds include folders: what one writes in #include. */
static const char *include_name(const char *path)
{
    const char *found = NULL;

    for (const char *at = strstr(path, "/include/"); at; at = strstr(at + 1, "/include/"))
        found = at + strlen("/include/");
    if (found && strncmp(found, "cccl/", 5) == 0)
        found += 5;
    return found ? found : path;
}

static void screen_dependency(struct arena *arena, const struct toolchain *toolchain, const char *path,
                              const struct screen_policy *policy, struct screen_report *report)
{
    char resolved[PATH_MAX];

    if (path[0] != '/')
        return; /* the candidate's own: nvcc ran in a folder with nothing else in it */
    if (realpath(path, resolved))
        path = resolved;
    const char *name = include_name(path);
    const char *vendor = screen_vendor_header(name);
    const char *library = screen_template_header(name);
    if (vendor)
        screen_add(arena, report, SCREEN_VENDOR_INCLUDE, SCREEN_OFFENCE, NULL, 0, "includes %s of %s", name, vendor);
    else if (library && !policy->allow_libraries)
        screen_add(arena, report, SCREEN_TEMPLATE_LIBRARY, SCREEN_OFFENCE, NULL, 0, "includes %s of %s", name, library);
    if (!is_allowed_file(toolchain, arena, path))
        screen_add(arena, report, SCREEN_FOREIGN_INCLUDE, SCREEN_OFFENCE, NULL, 0,
                   "reads %s, which is outside the toolkit's and TVM-FFI's folders", path);
}

void screen_dependencies(struct arena *arena, const struct toolchain *toolchain, const struct compile_result *result,
                         const struct screen_policy *policy, struct screen_report *report)
{
    for (size_t i = 0; i < result->dependency_count; i++) {
        const char *path = result->dependencies[i];
        /* A relative path that climbs out of the folder is made absolute by nothing here: refuse it. */
        if (path[0] != '/' && strstr(path, "../"))
            screen_add(arena, report, SCREEN_FOREIGN_INCLUDE, SCREEN_OFFENCE, NULL, 0,
                       "reads %s, which is outside the candidate's folder", path);
        else
            screen_dependency(arena, toolchain, path, policy, report);
    }
}

bool screen_candidate(struct arena *arena, const struct toolchain *toolchain, const struct compile_request *request,
                      const struct compile_result *result, const struct screen_policy *policy,
                      struct screen_report *report, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;

    *report = (struct screen_report){0};
    screen_sources(arena, request->sources, request->source_count, policy, report);
    if (result->expanded)
        screen_text(arena, request->entry, result->expanded, result->expanded_length, true, policy, report);
    screen_dependencies(arena, toolchain, result, policy, report);
    if (!result->object_path)
        return true;
    return file_read(result->object_path, OBJECT_BYTES_MAX, &bytes, &length, error) &&
           screen_object(arena, bytes, length, report, error);
}

json_object *screen_report_to_json(const struct screen_report *report)
{
    json_object *array = json_object_new_array();

    for (size_t i = 0; i < report->count; i++) {
        const struct screen_finding *finding = &report->findings[i];
        json_object *object = json_object_new_object();
        json_put_string(object, "code", screen_code_text(finding->code));
        json_put_string(object, "severity", finding->severity == SCREEN_OFFENCE ? "offence" : "note");
        json_put_string(object, "message", finding->message);
        json_put_string(object, "file", finding->file);
        json_put(object, "line", finding->line ? json_object_new_int(finding->line) : NULL);
        json_put_string(object, "hint", finding->hint);
        (void)json_object_array_add(array, object);
    }
    return array;
}
