/* PTX of CUDA sources, compiled by the nvcc that built the project, when a test runs. */
#ifndef PTXBENCH_TESTS_NVCC_PTX_H
#define PTXBENCH_TESTS_NVCC_PTX_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends the PTX for sm_90a of the file `source` to `ptx`. ERROR_TOOL with the compiler's output when it fails. */
bool nvcc_ptx(const char *source, struct buffer *ptx, struct error *error);

/* Likewise with another kind of output: "-ptx", "-cubin". */
bool nvcc_compile(const char *source, const char *kind, struct buffer *out, struct error *error);

#endif
