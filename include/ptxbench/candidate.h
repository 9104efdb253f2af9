/*
 * Binding `c` of ptxbench candidates: one extern "C" entry, no other dependency than this header.
 *
 *     #include <ptxbench/candidate.h>
 *     PTXBENCH_ENTRY(args, count, stream)
 *     {
 *         const ptxbench_arg *A = &args[0], *B = &args[1], *C = &args[2];   // inputs, then outputs, as declared
 *         my_kernel<<<grid, block, 0, (cudaStream_t)stream>>>(A->data, B->data, C->data, A->shape[0]);
 *         return cudaGetLastError();                                        // 0: launched
 *     }
 *
 * Tensors are dense and row-major in device memory; inputs are read-only. Scalars have rank -1 and arrive in `scalar`.
 * The entry enqueues its work on `stream` and need not wait for it. A non-zero return value is reported as a runtime
 * error (a cudaError_t where possible).
 */
#ifndef PTXBENCH_CANDIDATE_H
#define PTXBENCH_CANDIDATE_H

#include <stdint.h>

#define PTXBENCH_ABI_VERSION 1

enum ptxbench_dtype {
    PTXBENCH_FLOAT32,
    PTXBENCH_FLOAT16,
    PTXBENCH_BFLOAT16,
    PTXBENCH_FLOAT8_E4M3FN,
    PTXBENCH_FLOAT8_E5M2,
    PTXBENCH_FLOAT4_E2M1,
    PTXBENCH_INT64,
    PTXBENCH_INT32,
    PTXBENCH_INT16,
    PTXBENCH_INT8,
    PTXBENCH_BOOL
};

typedef struct ptxbench_arg {
    void *data;           /* device pointer; NULL for scalars */
    const int64_t *shape; /* rank sizes in elements */
    int32_t rank;         /* 0..8; -1: a scalar */
    int32_t dtype;        /* enum ptxbench_dtype */
    union {
        double real;     /* floating scalars */
        int64_t integer; /* integer and bool scalars */
    } scalar;
} ptxbench_arg;

#ifdef __cplusplus
#define PTXBENCH_EXTERN_C extern "C"
#else
#define PTXBENCH_EXTERN_C
#endif

/* Defines the entry `int ptxbench_run(const ptxbench_arg *args, int count, void *stream)`. */
#define PTXBENCH_ENTRY(args, count, stream)                                                                            \
    PTXBENCH_EXTERN_C __attribute__((visibility("default"))) int ptxbench_run(const ptxbench_arg *args, int count,     \
                                                                              void *stream)

#endif
