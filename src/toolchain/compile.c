#define _GNU_SOURCE
#include "toolchain/compile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "toolchain/compile_cache.h"
#include "toolchain/compile_internal.h"
#include "toolchain/elf_image.h"

enum { PATH_BYTES_MAX = 200, TRIM_INTERVAL_SECONDS = 60, OBJECT_BYTES_MAX = 1 << 30, ENTRIES_MAX = 64 };

static const int64_t default_timeout_ns = 60000000000;
static const uint64_t default_memory_bytes = 16ull << 30;
static const uint64_t default_file_bytes = 512ull << 20;
static const size_t default_output_bytes = 1 << 20;

static const char *const binding_texts[] = {"auto", "tvm-ffi", "c"};

const char *compile_binding_text(enum compile_binding binding)
{
    return (unsigned)binding < ARRAY_LEN(binding_texts) ? binding_texts[binding] : "?";
}

bool compile_binding_parse(const char *text, enum compile_binding *out)
{
    for (size_t i = 0; i < ARRAY_LEN(binding_texts); i++)
        if (strcmp(text, binding_texts[i]) == 0) {
            *out = (enum compile_binding)i;
            return true;
        }
    return false;
}

const char *compile_status_text(enum compile_status status)
{
    static const char *const texts[] = {"ok", "failed", "timed out", "limit"};

    return (unsigned)status < ARRAY_LEN(texts) ? texts[status] : "?";
}

bool compile_arch_known(const char *arch)
{
    return strcmp(arch, "sm_90a") == 0 || strcmp(arch, "sm_100a") == 0;
}

/* Relative, below the folder, and harmless on a command line and in messages. */
static bool path_is_safe(const char *path)
{
    size_t length = strlen(path);

    if (!length || length > PATH_BYTES_MAX || path[0] == '/' || path[0] == '-' || path[length - 1] == '/')
        return false;
    for (const char *at = path; *at; at++)
        if (*at < 0x21 || *at > 0x7e || strchr("\"'\\`$*?<>|&;:%#=,@", *at))
            return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t bytes = strcspn(part, "/");
        if (!bytes || (bytes == 1 && part[0] == '.') || (bytes == 2 && part[0] == '.' && part[1] == '.'))
            return false;
    }
    return true;
}

static bool check_request(const struct compile_request *request, struct error *error)
{
    bool has_entry = false;
    size_t total = 0;

    if (!request->arch || !compile_arch_known(request->arch)) {
        (void)error_set(error, ERROR_USAGE, "unknown architecture %s", request->arch ? request->arch : "(none)");
        return error_hint(error, "known are sm_90a and sm_100a");
    }
    if (!request->source_count || request->source_count > COMPILE_SOURCES_MAX)
        return error_set(error, ERROR_INPUT, "a candidate has 1 to %d source files, not %zu", COMPILE_SOURCES_MAX,
                         request->source_count);
    for (size_t i = 0; i < request->source_count; i++) {
        const struct compile_source *source = &request->sources[i];
        if (!path_is_safe(source->path))
            return error_set(error, ERROR_INPUT, "source file %zu: unusable name \"%.80s\"", i, source->path);
        for (size_t j = 0; j < i; j++)
            if (strcmp(source->path, request->sources[j].path) == 0)
                return error_set(error, ERROR_INPUT, "two source files are named %s", source->path);
        if (source->length > COMPILE_SOURCE_BYTES_MAX - total)
            return error_set(error, ERROR_INPUT, "the source is larger than %d MiB", COMPILE_SOURCE_BYTES_MAX >> 20);
        total += source->length;
        has_entry |= request->entry && strcmp(request->entry, source->path) == 0;
    }
    if (!has_entry)
        return error_set(error, ERROR_INPUT, "the entry file %s is not among the sources",
                         request->entry ? request->entry : "(none)");
    return true;
}

static enum compile_binding detect_binding(const struct compile_request *request)
{
    static const char *const marks[] = {"TVM_FFI_DLL_EXPORT", "tvm/ffi/", "tvm::ffi"};

    for (size_t i = 0; i < request->source_count; i++)
        for (size_t j = 0; j < ARRAY_LEN(marks); j++)
            if (memmem(request->sources[i].content, request->sources[i].length, marks[j], strlen(marks[j])))
                return COMPILE_BINDING_TVM_FFI;
    return COMPILE_BINDING_C;
}

static void fill_defaults(struct compile_request *request)
{
    if (request->binding == COMPILE_BINDING_AUTO)
        request->binding = detect_binding(request);
    request->timeout_ns = request->timeout_ns > 0 ? request->timeout_ns : default_timeout_ns;
    request->memory_bytes = request->memory_bytes ? request->memory_bytes : default_memory_bytes;
    request->file_bytes = request->file_bytes ? request->file_bytes : default_file_bytes;
    request->output_bytes = request->output_bytes ? request->output_bytes : default_output_bytes;
    request->cache_bytes = request->cache_bytes ? request->cache_bytes : COMPILE_CACHE_DEFAULT_BYTES;
}

static const char *summarize(const struct compile_job *job, const struct diagnostics *diagnostics)
{
    const struct compile_output *output = &job->output;
    const struct diagnostic *first = diagnostics_first(diagnostics, DIAGNOSTIC_ERROR);

    switch (output->status) {
    case COMPILE_OK:
        return "compiled";
    case COMPILE_TIMED_OUT:
        return arena_printf(job->arena, "compilation stopped after %.0f s", (double)job->request->timeout_ns * 1e-9);
    case COMPILE_LIMIT:
        return arena_printf(job->arena, "compilation ran into the %s limit", output->limit);
    case COMPILE_FAILED:
        break;
    }
    if (!first)
        return "nvcc failed without a message that we know; see the log";
    if (first->file && first->line)
        return arena_printf(job->arena, "%s:%d: %s", first->file, first->line, first->message);
    return first->message;
}

/* Entry points among the exported functions: __tvm_ffi_NAME and ptxbench_run. */
static void find_entries(struct compile_job *job, const char *object_path, struct compile_result *result)
{
    static const char tvm_prefix[] = "__tvm_ffi_";
    AUTO_ARENA *scratch = arena_new();
    AUTO_FREE char *bytes = NULL;
    struct elf_image image;
    const struct elf_section *symbols;
    size_t length;
    struct error ignored;
    Elf64_Sym symbol;

    if (!file_read(object_path, OBJECT_BYTES_MAX, &bytes, &length, &ignored) ||
        !elf_image_open(scratch, bytes, length, &image, &ignored) ||
        !(symbols = elf_section_typed(&image, SHT_DYNSYM, NULL)))
        return;
    const char **entries = arena_calloc(job->arena, ENTRIES_MAX, sizeof *entries);
    for (size_t i = 0; elf_symbol(symbols, i, &symbol) && result->entry_count < ENTRIES_MAX; i++) {
        const char *name = elf_string(elf_linked_strings(&image, symbols), symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        if (strncmp(name, tvm_prefix, sizeof tvm_prefix - 1) == 0)
            entries[result->entry_count++] = arena_strdup(job->arena, name + sizeof tvm_prefix - 1);
        else if (strcmp(name, "ptxbench_run") == 0)
            entries[result->entry_count++] = "ptxbench_run";
    }
    result->entries = entries;
}

static void fill_result(struct compile_job *job, const char *folder, bool cache_hit, struct compile_result *result)
{
    const struct compile_output *output = &job->output;
    const struct diagnostics_paths paths = {
        .entry = job->request->entry, .ptx = output->ptx, .ptx_length = output->ptx_length};

    *result = (struct compile_result){
        .status = output->status,
        .binding = job->request->binding,
        .arch = strcmp(job->request->arch, "sm_90a") == 0 ? "sm_90a" : "sm_100a",
        .folder = folder,
        .object_path = output->status == COMPILE_OK ? file_join(job->arena, folder, ENTRY_OBJECT) : NULL,
        .log = output->log,
        .log_dropped_bytes = output->log_dropped_bytes,
        .dependencies = output->dependencies,
        .dependency_count = output->dependency_count,
        .ptx = output->ptx,
        .ptx_length = output->ptx_length,
        .expanded = output->expanded,
        .expanded_length = output->expanded_length,
        .wall_ns = output->wall_ns,
        .cache_hit = cache_hit,
        .nvcc_version = job->toolchain->nvcc_version,
        .tvm_ffi_version = job->request->binding == COMPILE_BINDING_TVM_FFI ? job->toolchain->tvm_ffi_version : NULL,
        .sandbox = process_sandbox_text(),
    };
    memcpy(result->key, job->key, sizeof result->key);
    diagnostics_parse(job->arena, output->log, strlen(output->log), &paths, &result->diagnostics);
    result->summary = summarize(job, &result->diagnostics);
    if (result->object_path)
        find_entries(job, result->object_path, result);
}

/* At most once a minute, whoever inserts; a store that cannot be trimmed is not worth failing for. */
static void trim_sometimes(const struct compile_job *job)
{
    const char *stamp = file_join(job->arena, job->cache_root, "trimmed");
    struct stat info;
    struct error error;

    if (!stat(stamp, &info) && time(NULL) - info.st_mtime < TRIM_INTERVAL_SECONDS)
        return;
    if (!file_write(stamp, "", 0, 0644, &error) ||
        !compile_cache_trim(job->cache_root, job->request->cache_bytes, NULL, &error))
        log_message(LOG_WARNING, "compile cache: %s", error.message);
}

static bool build_and_publish(struct compile_job *job, struct compile_result *result, struct error *error)
{
    const char *folder = compile_cache_folder(job->arena, job->cache_root, job->key);

    if (!compile_build(job, error))
        return false;
    if (!job->output.cacheable) {
        fill_result(job, NULL, false, result);
        return true;
    }
    /* A damaged entry, or one that is to be rebuilt, makes room. */
    if (job->request->rebuild)
        compile_cache_discard(job->cache_root, job->key);
    if (!compile_entry_write(job, error) || !compile_cache_publish(job->cache_root, job->key, job->entry, error))
        return false;
    trim_sometimes(job);
    fill_result(job, folder, false, result);
    return true;
}

bool compile_run(const struct toolchain *toolchain, const struct compile_request *request, struct arena *arena,
                 struct compile_result *result, struct error *error)
{
    struct compile_request complete = *request;
    struct compile_job job = {.arena = arena, .toolchain = toolchain, .request = &complete};

    *result = (struct compile_result){0};
    if (!check_request(request, error) || !toolchain_require_nvcc(toolchain, error))
        return false;
    fill_defaults(&complete);
    if (complete.binding == COMPILE_BINDING_TVM_FFI && !toolchain_require_tvm_ffi(toolchain, error))
        return false;
    job.cache_root = request->cache_root ? request->cache_root : file_cache_root(arena);
    if (!compile_make_key(&job, error))
        return false;
    const char *folder = compile_cache_folder(arena, job.cache_root, job.key);
    if (!request->rebuild && compile_entry_read(&job, folder)) {
        compile_cache_touch(job.cache_root, job.key);
        fill_result(&job, folder, true, result);
        return true;
    }
    complete.rebuild |= file_exists(folder); /* there, but damaged */
    bool ok = build_and_publish(&job, result, error);
    if (job.workspace)
        (void)file_remove_tree(job.workspace);
    return ok;
}
