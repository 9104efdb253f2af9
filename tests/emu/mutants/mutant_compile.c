#include <stdlib.h>
#include <unistd.h>

#include "../nvcc_ptx.h"
#include "base/attributes.h"
#include "base/file.h"
#include "mutant.h"

bool mutant_compile(const struct buffer *source, enum mutant_kernel kernel, const char *kind, struct buffer *out,
                    struct error *error)
{
    char folder[] = "/tmp/ptxbench-mutant-XXXXXX", path[512];

    if (!mkdtemp(folder))
        return error_set(error, ERROR_SYSTEM, "no temporary folder");
    (void)snprintf(path, sizeof path, "%s/%s.cu", folder, mutant_kernel_name(kernel));
    bool ok = file_write(path, source->data, source->length, 0600, error) && nvcc_compile(path, kind, out, error);
    (void)unlink(path);
    (void)rmdir(folder);
    return ok;
}
