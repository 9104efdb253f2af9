#include "nvcc_ptx.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/file.h"
#include "base/process.h"

enum { COMPILE_SECONDS = 120, OUTPUT_MAX = 65536 };

static bool run_nvcc(const char *source, const char *kind, const char *output, struct error *error)
{
    const char *argv[] = {NVCC,
                          kind,
                          "-O3",
                          "-std=c++17",
                          "-lineinfo",
                          "-arch=sm_90a",
                          "-I" TVM_FFI_INCLUDE,
                          "-I" SOURCE_ROOT "/kernels/hopper",
                          "-o",
                          output,
                          source,
                          NULL};
    struct process_spec spec = {
        .argv = argv, .timeout_ns = (int64_t)COMPILE_SECONDS * 1000000000, .output_limit = OUTPUT_MAX};
    struct process_end end;
    AUTO_BUFFER out = buffer_new(OUTPUT_MAX);
    AUTO_BUFFER errors = buffer_new(OUTPUT_MAX);

    if (!process_run(&spec, &out, &errors, &end, error))
        return false;
    return end.exit_status == 0 || error_set(error, ERROR_TOOL, "nvcc failed: %s", errors.data);
}

bool nvcc_compile(const char *source, const char *kind, struct buffer *out, struct error *error)
{
    char output[] = "/tmp/ptxbench-nvcc-XXXXXX";
    AUTO_FREE char *text = NULL;
    size_t length;
    int descriptor = mkstemp(output);

    if (descriptor < 0)
        return error_set(error, ERROR_SYSTEM, "no temporary file");
    (void)close(descriptor);
    bool ok = run_nvcc(source, kind, output, error) && file_read(output, out->limit, &text, &length, error);
    (void)unlink(output);
    return ok && (buffer_append(out, text, length) || error_set(error, ERROR_MEMORY, "out of memory"));
}

bool nvcc_ptx(const char *source, struct buffer *ptx, struct error *error)
{
    return nvcc_compile(source, "-ptx", ptx, error);
}
