#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "toolchain/compile_cache.h"
#include "toolchain/compile_internal.h"

enum { HEADER_BYTES_MAX = 1 << 20, ARGUMENTS_MAX = 64, CAPTURE_BYTES_MAX = 256 << 20, OBJECT_BYTES_MAX = 1 << 30 };
static const uint64_t disk_reserve_bytes = 16ull << 20;

static bool uses_tvm_ffi(const struct compile_job *job)
{
    return job->request->binding == COMPILE_BINDING_TVM_FFI;
}

struct arguments {
    const char *items[ARGUMENTS_MAX];
    size_t count;
};

static void add(struct arguments *arguments, const char *text)
{
    if (arguments->count + 1 < ARGUMENTS_MAX)
        arguments->items[arguments->count++] = text;
}

/* -iquote: "part/x.cuh" is found from any of the candidate's files; <...> is not, so nothing shadows the toolkit. */
static const char *const fixed_flags[] = {
    "-shared", "-O3",        "-std=c++17", "-lineinfo",  "-Xptxas",
    "-v",      "-cudart",    "shared",     "-Xcompiler", "-fPIC,-fvisibility=hidden",
    "-MD",     "-Xcompiler", "-iquote.",
};

/* Flags that decide the result, without the paths of this machine. */
static const char *architecture_flag(struct arena *arena, const char *arch)
{
    return arena_printf(arena, "arch=compute_%s,code=[%s,compute_%s]", arch + 3, arch, arch + 3);
}

static void make_arguments(struct compile_job *job, struct arguments *out)
{
    const struct toolchain *tools = job->toolchain;
    struct arena *arena = job->arena;

    add(out, tools->nvcc);
    for (size_t i = 0; i < ARRAY_LEN(fixed_flags); i++)
        add(out, fixed_flags[i]);
    add(out, "-gencode");
    add(out, architecture_flag(arena, job->request->arch));
    add(out, "-MF");
    add(out, file_join(arena, job->temporary, "dependencies.d"));
    add(out, "-keep"); /* keeps the PTX (its lines are in ptxas messages) and the preprocessed host code */
    add(out, "-keep-dir");
    add(out, job->temporary);
    if (tools->candidate_include)
        add(out, arena_printf(arena, "-I%s", tools->candidate_include));
    if (uses_tvm_ffi(job)) {
        add(out, arena_printf(arena, "-I%s/include", tools->tvm_ffi_root));
        add(out, arena_printf(arena, "-L%s/lib", tools->tvm_ffi_root));
        add(out, "-ltvm_ffi");
    }
    if (tools->cuda_stubs) {
        add(out, arena_printf(arena, "-L%s", tools->cuda_stubs));
        add(out, "-lcuda");
        /* With every library at hand a missing function is a compile error, not a failure to load. */
        add(out, "-Xlinker");
        add(out, "--no-undefined");
    }
    add(out, "-Xlinker");
    add(out, "--as-needed");
    add(out, "-o");
    add(out, file_join(arena, job->entry, ENTRY_OBJECT));
    add(out, job->request->entry);
}

static const char *host_compiler(struct arena *arena)
{
    const char *named = getenv("NVCC_CCBIN");
    const char *program = file_find_program(arena, named && *named ? named : "/usr/bin/g++");
    char resolved[PATH_MAX];

    return program && realpath(program, resolved) ? arena_strdup(arena, resolved) : "";
}

bool compile_make_key(struct compile_job *job, struct error *error)
{
    const struct compile_request *request = job->request;
    const struct toolchain *tools = job->toolchain;
    AUTO_FREE char *header = NULL;
    size_t header_length = 0;

    if (tools->candidate_include && !file_read(file_join(job->arena, tools->candidate_include, "ptxbench/candidate.h"),
                                               HEADER_BYTES_MAX, &header, &header_length, error))
        return false;
    struct hash *hash = hash_new();
    hash_add_text(hash, "ptxbench.compile.v1");
    for (size_t i = 0; i < ARRAY_LEN(fixed_flags); i++)
        hash_add_text(hash, fixed_flags[i]);
    hash_add_text(hash, request->arch);
    hash_add_text(hash, compile_binding_text(request->binding));
    hash_add_text(hash, tools->cuda_stubs ? "stubs" : "no stubs");
    hash_add_text(hash, tools->nvcc_version_text);
    hash_add_text(hash, host_compiler(job->arena));
    hash_add(hash, header, header_length);
    hash_add_text(hash, uses_tvm_ffi(job) && tools->tvm_ffi_version ? tools->tvm_ffi_version : "");
    hash_add_text(hash, request->entry);
    for (size_t i = 0; i < request->source_count; i++) {
        hash_add_text(hash, request->sources[i].path);
        hash_add(hash, request->sources[i].content, request->sources[i].length);
    }
    hash_finish(hash, job->key);
    return true;
}

static bool make_workspace(struct compile_job *job, struct error *error)
{
    const struct compile_request *request = job->request;
    struct arena *arena = job->arena;
    char *workspace;

    if (!compile_cache_workspace(arena, job->cache_root, &workspace, error))
        return false;
    job->workspace = workspace;
    job->source = file_join(arena, workspace, "source");
    job->temporary = file_join(arena, workspace, "temporary");
    job->entry = file_join(arena, workspace, "entry");
    if (!file_make_folder(job->source, error) || !file_make_folder(job->temporary, error) ||
        !file_make_folder(job->entry, error))
        return false;
    for (size_t i = 0; i < request->source_count; i++) {
        const struct compile_source *source = &request->sources[i];
        const char *path = file_join(arena, job->source, source->path);
        const char *slash = strrchr(path, '/');
        if (!file_make_folder(arena_strndup(arena, path, (size_t)(slash - path)), error) ||
            !file_write(path, source->content, source->length, 0644, error))
            return false;
    }
    return true;
}

static const char *beside(struct arena *arena, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : NULL;
}

static bool run_nvcc(struct compile_job *job, struct buffer *output, struct buffer *errors, struct process_end *end,
                     struct error *error)
{
    const struct compile_request *request = job->request;
    const struct toolchain *tools = job->toolchain;
    struct arena *arena = job->arena;
    struct arguments arguments = {.count = 0};
    const char *const readable[] = {
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/etc/ld.so.cache",
        "/etc/alternatives",
        "/dev/urandom",
        tools->cuda_root,
        job->workspace, /* from here on may be absent */
        tools->candidate_include ? tools->candidate_include : job->workspace,
        uses_tvm_ffi(job) ? tools->tvm_ffi_root : job->workspace,
        beside(arena, host_compiler(arena)),
        NULL,
    };
    const char *const writable[] = {job->temporary, job->entry, "/dev/null", NULL};
    const struct process_sandbox sandbox = {.readable = readable, .writable = writable};
    const char *ccbin = getenv("NVCC_CCBIN");
    const char *const environment[] = {
        arena_printf(arena, "PATH=%s:/usr/local/bin:/usr/bin:/bin", beside(arena, tools->nvcc)),
        arena_printf(arena, "TMPDIR=%s", job->temporary),
        arena_printf(arena, "HOME=%s", job->temporary),
        "LC_ALL=C.UTF-8",
        ccbin && *ccbin ? arena_printf(arena, "NVCC_CCBIN=%s", ccbin) : NULL,
        NULL,
    };

    make_arguments(job, &arguments);
    const struct process_spec spec = {
        .argv = arguments.items,
        .environment = environment,
        .folder = job->source,
        .memory_bytes = request->memory_bytes,
        .file_bytes = request->file_bytes,
        .no_core = true,
        .sandbox = &sandbox,
        .timeout_ns = request->timeout_ns,
        .output_limit = request->output_bytes,
    };
    return process_run(&spec, output, errors, end, error);
}

static bool disk_is_full(const char *folder)
{
    struct statvfs info;

    return statvfs(folder, &info) == 0 && (uint64_t)info.f_bavail * info.f_frsize < disk_reserve_bytes;
}

/* Whether a line of the log starts with a tool's own report that a step died of that signal. */
static bool died_of_signal(const char *log, int signal_number)
{
    char mark[64];

    (void)snprintf(mark, sizeof mark, "died due to signal %d ", signal_number);
    for (const char *line = log; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        const char *found = strncmp(line, "nvcc error ", 11) == 0 ? memmem(line, length, mark, strlen(mark)) : NULL;
        if (found)
            return true;
        if (!*line)
            break;
    }
    return false;
}

static bool died_of_memory(const char *log)
{
    static const char *const marks[] = {"out of memory",  "Cannot allocate memory", "virtual memory exhausted",
                                        "std::bad_alloc", "memory exhausted",       "Out of memory"};

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (strstr(log, marks[i]))
            return true;
    return false;
}

/*
 * Sorts a compilation that did not succeed: the candidate's fault, a limit, or trouble of this machine. Words that a
 * candidate could print itself (#error) are believed only where they cannot help it.
 */
static bool classify_failure(struct compile_job *job, const struct process_end *end, struct error *error)
{
    struct compile_output *output = &job->output;
    char text[128];

    output->status = COMPILE_FAILED;
    output->cacheable = true;
    if (end->timed_out) {
        output->status = COMPILE_TIMED_OUT;
        output->cacheable = false;
        return true;
    }
    if (disk_is_full(job->workspace))
        return error_system(error, ENOSPC, "%s: compiling", job->workspace);
    if ((end->signal && end->signal != SIGXFSZ) || died_of_signal(output->log, SIGKILL) ||
        died_of_signal(output->log, SIGTERM)) {
        process_end_text(end, text, sizeof text);
        (void)error_set(error, ERROR_SYSTEM, "the compiler was killed from outside (nvcc %s)", text);
        return error_hint(error, "this machine may be short of memory; run fewer compilations at once");
    }
    if (end->signal || died_of_signal(output->log, SIGXFSZ) || strstr(output->log, "File size limit exceeded")) {
        output->status = COMPILE_LIMIT;
        output->limit = "file size";
    } else if (died_of_memory(output->log)) {
        output->status = COMPILE_LIMIT;
        output->limit = "memory";
    }
    output->cacheable = output->status == COMPILE_FAILED && !strstr(output->log, "died due to signal") &&
                        !strstr(output->log, "internal compiler error") &&
                        !strstr(output->log, "No space left on device");
    return true;
}

/* First file in the temporary folder with that suffix, as text; NULL when there is none. */
static char *read_kept(struct compile_job *job, const char *suffix, size_t *length)
{
    char **paths, *text;
    size_t count;
    struct error ignored;

    if (!file_list(job->arena, job->temporary, suffix, &paths, &count, &ignored) || !count ||
        !file_read(file_join(job->arena, job->temporary, paths[0]), CAPTURE_BYTES_MAX, &text, length, &ignored))
        return NULL;
    return text;
}

static void capture_files(struct compile_job *job, const char *const *prefixes)
{
    struct compile_output *output = &job->output;
    AUTO_FREE char *dependencies = NULL, *ptx = NULL, *preprocessed = NULL;
    size_t length;

    if ((dependencies = read_kept(job, "dependencies.d", &length)))
        compile_parse_dependencies(job->arena, dependencies, length, &output->dependencies, &output->dependency_count);
    if ((ptx = read_kept(job, ".ptx", &length))) {
        output->ptx = compile_clean_text(job->arena, ptx, length, prefixes);
        output->ptx_length = strlen(output->ptx);
    }
    if ((preprocessed = read_kept(job, ".cpp4.ii", &length)))
        output->expanded = compile_own_lines(job->arena, preprocessed, length, prefixes[0], &output->expanded_length);
}

static bool hash_object(struct compile_job *job, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;

    if (!file_read(file_join(job->arena, job->entry, ENTRY_OBJECT), OBJECT_BYTES_MAX, &bytes, &length, error))
        return false;
    hash_bytes(bytes, length, job->output.object_hash);
    return true;
}

bool compile_build(struct compile_job *job, struct error *error)
{
    struct compile_output *output = &job->output;
    AUTO_BUFFER stdout_text = buffer_new(job->request->output_bytes);
    AUTO_BUFFER stderr_text = buffer_new(job->request->output_bytes);
    struct process_end end;

    *output = (struct compile_output){.status = COMPILE_OK, .cacheable = true};
    if (!make_workspace(job, error))
        return false;
    if (!run_nvcc(job, &stdout_text, &stderr_text, &end, error)) {
        if (error->code == ERROR_NOT_FOUND)
            error->code = ERROR_TOOL;
        return false;
    }
    output->wall_ns = end.wall_ns;
    const char *const prefixes[] = {arena_printf(job->arena, "%s/", job->source),
                                    arena_printf(job->arena, "%s/", job->temporary), NULL};
    output->log_dropped_bytes = stdout_text.dropped + stderr_text.dropped;
    output->log =
        arena_printf(job->arena, "%s%s", compile_clean_text(job->arena, stdout_text.data, stdout_text.length, prefixes),
                     compile_clean_text(job->arena, stderr_text.data, stderr_text.length, prefixes));
    if (end.timed_out || end.exit_status != 0) {
        if (!classify_failure(job, &end, error))
            return false;
        (void)unlink(file_join(job->arena, job->entry, ENTRY_OBJECT));
    }
    capture_files(job, prefixes);
    return output->status != COMPILE_OK || hash_object(job, error);
}
