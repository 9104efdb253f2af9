/*
 * Shared libraries found at run time: the loader's own path first, then the places where CUDA libraries live
 * ($PTXBENCH_CUDA_LIB, $CUDA_HOME/lib64, /usr/local/cuda/lib64, what tools/setup fetched, the nvidia wheels of the
 * Python on PATH).
 */
#ifndef PTXBENCH_DEVICE_DYNAMIC_H
#define PTXBENCH_DEVICE_DYNAMIC_H

#include "base/error.h"

/* Opens `name` (for example "libcudnn.so.9") with RTLD_NOW and `RTLD_GLOBAL` when asked. On failure ERROR_UNSUPPORTED
 * that names the library, with `remedy` as hint. */
MUST_CHECK bool dynamic_open(const char *name, bool global, const char *remedy, void **library, struct error *error);

/* Looks a symbol up; false with ERROR_UNSUPPORTED when the library lacks it. */
MUST_CHECK bool dynamic_symbol(void *library, const char *symbol, void **out, struct error *error);

/* Path of the file that holds `address`, or NULL; borrowed from the loader. */
const char *dynamic_path_of(const void *address);

#endif
