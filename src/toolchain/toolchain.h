/*
 * Where the tools are: nvcc, nvdisasm, cuobjdump, the CUDA headers, TVM-FFI, and the header of the C binding.
 *
 * Looked for, first match wins:
 *   nvcc          $PTXBENCH_NVCC, $CUDA_HOME/bin, PATH, /usr/local/cuda/bin, the project's .venv
 *   nvdisasm      $PTXBENCH_NVDISASM, PATH, beside nvcc, the project's .venv; cuobjdump likewise
 *   TVM-FFI       $PTXBENCH_TVM_FFI, the folder of the build, ../tvm_ffi beside the executable, the project's .venv
 *   candidate.h   $PTXBENCH_INCLUDE, include/ and ../include beside the executable or a parent of it
 * The project's .venv is the folder .venv in one of the four folders above the executable.
 */
#ifndef PTXBENCH_TOOLCHAIN_TOOLCHAIN_H
#define PTXBENCH_TOOLCHAIN_TOOLCHAIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

/* All paths are absolute and NULL when the thing was not found. Texts belong to the arena of toolchain_find. */
struct toolchain {
    const char *nvcc;
    const char *nvdisasm;
    const char *cuobjdump;
    const char *cuda_root;         /* toolkit that nvcc belongs to, links resolved */
    const char *cuda_include;      /* holds cuda.h, links resolved */
    const char *cuda_library;      /* holds libcudart.so */
    const char *cuda_stubs;        /* holds the stub libcuda.so */
    const char *tvm_ffi_root;      /* holds include/ and lib/libtvm_ffi.so */
    const char *tvm_ffi_library;   /* .../lib/libtvm_ffi.so */
    const char *tvm_ffi_version;   /* "0.1.15" from its headers */
    const char *candidate_include; /* holds ptxbench/candidate.h */
    const char *nvcc_version;      /* "13.0.88" */
    const char *nvcc_version_text; /* full output of `nvcc --version`; goes into cache keys */
    const char *nvdisasm_version;  /* "13.2.86" */
};

/* Looks for everything; nothing has to be there. Fails only when the system does. Safe to call from any thread. */
MUST_CHECK bool toolchain_find(struct arena *arena, struct toolchain *out, struct error *error);

/* ERROR_TOOL with a remedy when the thing is missing. */
MUST_CHECK bool toolchain_require_nvcc(const struct toolchain *toolchain, struct error *error);
MUST_CHECK bool toolchain_require_nvdisasm(const struct toolchain *toolchain, struct error *error);
MUST_CHECK bool toolchain_require_tvm_ffi(const struct toolchain *toolchain, struct error *error);

/* "13.0.88" out of the text of `TOOL --version`; NULL when there is none. New text in the arena. */
char *toolchain_version_number(struct arena *arena, const char *version_text);

#endif
