#define _GNU_SOURCE
#include "toolchain/toolchain.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"
#include "base/resource.h"

enum { VERSION_TEXT_MAX = 16 * 1024, VERSION_HEADER_MAX = 1 << 20 };
static const int64_t version_timeout_ns = 20000000000;

static const char *environment_text(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* Absolute path without links, or NULL when it does not exist. */
static char *resolve(struct arena *arena, const char *path)
{
    char resolved[PATH_MAX];

    return path && realpath(path, resolved) ? arena_strdup(arena, resolved) : NULL;
}

static char *parent_folder(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return NULL;
    return slash == path ? arena_strdup(arena, "/") : arena_strndup(arena, path, (size_t)(slash - path));
}

/* First of the folders that holds `name`; folders may be NULL. */
static char *folder_holding(struct arena *arena, const char *const *folders, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (folders[i] && file_exists(file_join(arena, folders[i], name)))
            return resolve(arena, folders[i]);
    return NULL;
}

static char *find_nvcc(struct arena *arena)
{
    const char *named = environment_text("PTXBENCH_NVCC");
    const char *home = environment_text("CUDA_HOME");

    if (named)
        return file_find_program(arena, named);
    char *found = home ? file_find_program(arena, arena_printf(arena, "%s/bin/nvcc", home)) : NULL;
    return found ? found : resource_find_program(arena, "nvcc");
}

static char *find_beside_nvcc(struct arena *arena, const char *nvcc, const char *variable, const char *name)
{
    const char *named = environment_text(variable);
    char *found;

    if (named)
        return file_find_program(arena, named);
    found = nvcc ? file_find_program(arena, file_join(arena, parent_folder(arena, nvcc), name)) : NULL;
    return found ? found : resource_find_program(arena, name);
}

/* nvcc may be reached through links; its toolkit is where the real file lies. */
static void find_toolkit(struct arena *arena, struct toolchain *out)
{
    const char *program = out->nvcc ? resolve(arena, out->nvcc) : NULL;
    const char *folder = program ? parent_folder(arena, program) : NULL;
    const char *root = folder ? parent_folder(arena, folder) : NULL;

    if (!root)
        return;
    out->cuda_root = root;
    const char *const includes[] = {file_join(arena, root, "targets/x86_64-linux/include"),
                                    file_join(arena, root, "include")};
    const char *const libraries[] = {file_join(arena, root, "targets/x86_64-linux/lib"),
                                     file_join(arena, root, "lib64"), file_join(arena, root, "lib")};
    const char *const stubs[] = {file_join(arena, root, "targets/x86_64-linux/lib/stubs"),
                                 file_join(arena, root, "lib64/stubs"), file_join(arena, root, "lib/stubs")};
    out->cuda_include = folder_holding(arena, includes, ARRAY_LEN(includes), "cuda.h");
    out->cuda_library = folder_holding(arena, libraries, ARRAY_LEN(libraries), "libcudart.so");
    if (!out->cuda_library)
        out->cuda_library = folder_holding(arena, libraries, ARRAY_LEN(libraries), "libcudart.so.13");
    out->cuda_stubs = folder_holding(arena, stubs, ARRAY_LEN(stubs), "libcuda.so");
}

/* Number behind "#define NAME ", or -1. */
static long header_number(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

static char *read_tvm_ffi_version(struct arena *arena, const char *root)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error ignored;

    if (!file_read(file_join(arena, root, "include/tvm/ffi/c_api.h"), VERSION_HEADER_MAX, &text, &length, &ignored))
        return NULL;
    long major = header_number(text, "#define TVM_FFI_VERSION_MAJOR ");
    long minor = header_number(text, "#define TVM_FFI_VERSION_MINOR ");
    long patch = header_number(text, "#define TVM_FFI_VERSION_PATCH ");
    return major < 0 || minor < 0 || patch < 0 ? NULL : arena_printf(arena, "%ld.%ld.%ld", major, minor, patch);
}

static void find_tvm_ffi(struct arena *arena, struct toolchain *out)
{
#ifdef PTXBENCH_TVM_FFI_ROOT
    const char *built_with = PTXBENCH_TVM_FFI_ROOT;
#else
    const char *built_with = NULL;
#endif
    const char *named = environment_text("PTXBENCH_TVM_FFI");
    const char *const roots[] = {named, named ? NULL : resource_find(arena, "tvm_ffi"), named ? NULL : built_with};
    const char *root = folder_holding(arena, roots, ARRAY_LEN(roots), "include/tvm/ffi/c_api.h");

    if (!root || !file_exists(file_join(arena, root, "lib/libtvm_ffi.so")))
        return;
    out->tvm_ffi_root = root;
    out->tvm_ffi_library = file_join(arena, root, "lib/libtvm_ffi.so");
    out->tvm_ffi_version = read_tvm_ffi_version(arena, root);
}

static void find_candidate_header(struct arena *arena, struct toolchain *out)
{
    const char *named = environment_text("PTXBENCH_INCLUDE");
    const char *header = resource_find(arena, "include/ptxbench/candidate.h");
    const char *folder = header ? parent_folder(arena, header) : NULL;
    const char *const roots[] = {named, folder ? parent_folder(arena, folder) : NULL};

    out->candidate_include = folder_holding(arena, roots, ARRAY_LEN(roots), "ptxbench/candidate.h");
}

/* Output of `program --version`, or NULL when it cannot be run. */
static char *run_version(struct arena *arena, const char *program)
{
    AUTO_BUFFER output = buffer_new(VERSION_TEXT_MAX);
    AUTO_BUFFER errors = buffer_new(VERSION_TEXT_MAX);
    const char *const argv[] = {program, "--version", NULL};
    const struct process_spec spec = {
        .argv = argv, .timeout_ns = version_timeout_ns, .output_limit = VERSION_TEXT_MAX, .no_core = true};
    struct process_end end;
    struct error ignored;

    if (!process_run(&spec, &output, &errors, &end, &ignored) || end.exit_status != 0)
        return NULL;
    AUTO_BUFFER text = buffer_new(VERSION_TEXT_MAX);
    (void)buffer_append_sanitized(&text, output.data, output.length);
    return arena_strdup(arena, text.data);
}

char *toolchain_version_number(struct arena *arena, const char *version_text)
{
    const char *mark = version_text ? strstr(version_text, ", V") : NULL;

    if (!mark)
        return NULL;
    size_t length = strspn(mark + 3, "0123456789.");
    return length ? arena_strndup(arena, mark + 3, length) : NULL;
}

bool toolchain_find(struct arena *arena, struct toolchain *out, struct error *error)
{
    (void)error; /* looking cannot fail today; the contract leaves room for a system that does */
    *out = (struct toolchain){0};
    out->nvcc = find_nvcc(arena);
    out->nvdisasm = find_beside_nvcc(arena, out->nvcc, "PTXBENCH_NVDISASM", "nvdisasm");
    out->cuobjdump = find_beside_nvcc(arena, out->nvcc, "PTXBENCH_CUOBJDUMP", "cuobjdump");
    find_toolkit(arena, out);
    find_tvm_ffi(arena, out);
    find_candidate_header(arena, out);
    out->nvcc_version_text = out->nvcc ? run_version(arena, out->nvcc) : NULL;
    out->nvcc_version = toolchain_version_number(arena, out->nvcc_version_text);
    out->nvdisasm_version = out->nvdisasm ? toolchain_version_number(arena, run_version(arena, out->nvdisasm)) : NULL;
    return true;
}

bool toolchain_require_nvcc(const struct toolchain *toolchain, struct error *error)
{
    if (!toolchain->nvcc) {
        (void)error_set(error, ERROR_TOOL, "nvcc not found");
        return error_hint(error, "install the CUDA toolkit 13 and put nvcc on PATH, or set CUDA_HOME or PTXBENCH_NVCC");
    }
    if (!toolchain->nvcc_version) {
        (void)error_set(error, ERROR_TOOL, "%s --version did not answer with a version", toolchain->nvcc);
        return error_hint(error, "check that this nvcc runs; PTXBENCH_NVCC names another one");
    }
    if (!toolchain->cuda_include) {
        (void)error_set(error, ERROR_TOOL, "%s: no cuda.h in its toolkit", toolchain->nvcc);
        return error_hint(error, "reinstall the CUDA toolkit, or set PTXBENCH_NVCC to a complete one");
    }
    return true;
}

bool toolchain_require_nvdisasm(const struct toolchain *toolchain, struct error *error)
{
    if (toolchain->nvdisasm && toolchain->nvdisasm_version)
        return true;
    if (toolchain->nvdisasm)
        (void)error_set(error, ERROR_TOOL, "%s --version did not answer with a version", toolchain->nvdisasm);
    else
        (void)error_set(error, ERROR_TOOL, "nvdisasm not found");
    return error_hint(error, "run `make setup`, or set PTXBENCH_NVDISASM");
}

bool toolchain_require_tvm_ffi(const struct toolchain *toolchain, struct error *error)
{
    if (toolchain->tvm_ffi_root)
        return true;
    (void)error_set(error, ERROR_TOOL, "TVM-FFI headers and libtvm_ffi.so not found");
    return error_hint(error, "run `make setup`, or set PTXBENCH_TVM_FFI to a folder with include/ and lib/");
}
