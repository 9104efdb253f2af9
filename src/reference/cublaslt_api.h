/*
 * The part of the cuBLASLt ABI that the reference uses, so that building needs no cuBLAS header.
 * Facts: cuBLAS 13.1 library documentation and ABI; tests/unit/reference/test_api_values.c compares every value and
 * size with the real header where there is one.
 */
#ifndef PTXBENCH_REFERENCE_CUBLASLT_API_H
#define PTXBENCH_REFERENCE_CUBLASLT_API_H

#include <stddef.h>
#include <stdint.h>

typedef void *lt_handle;
typedef void *lt_descriptor; /* matmul description, matrix layout or preference */
typedef void *lt_stream;     /* cudaStream_t and CUstream are the same object */

enum {
    LT_SUCCESS = 0,
    LT_NOT_SUPPORTED = 15,

    LT_COMPUTE_32F = 68,
    LT_TYPE_32F = 0, /* cudaDataType */
    LT_TYPE_16F = 2,
    LT_TYPE_16BF = 14,

    LT_OPERATION_N = 0,
    LT_OPERATION_T = 1,
    LT_DESC_TRANSA = 3,
    LT_DESC_TRANSB = 4,

    LT_PREFERENCE_MAX_WORKSPACE_BYTES = 1,

    LT_CONFIG_ID = 0,
    LT_CONFIG_TILE_ID = 1,
    LT_CONFIG_SPLITK_NUM = 2,
    LT_CONFIG_STAGES_ID = 6,
    LT_CONFIG_CLUSTER_SHAPE_ID = 8,
};

struct lt_algorithm {
    uint64_t data[8];
};

struct lt_heuristic {
    struct lt_algorithm algorithm;
    size_t workspace_bytes;
    int status; /* the rest is valid when LT_SUCCESS */
    float waves;
    int reserved[4];
};

/* function, result, parameters */
#define CUBLASLT_FUNCTIONS(X)                                                                                          \
    X(cublasLtGetVersion, size_t, (void))                                                                              \
    X(cublasLtGetStatusString, const char *, (int))                                                                    \
    X(cublasLtCreate, int, (lt_handle *))                                                                              \
    X(cublasLtDestroy, int, (lt_handle))                                                                               \
    X(cublasLtMatmulDescCreate, int, (lt_descriptor *, int compute_type, int scale_type))                              \
    X(cublasLtMatmulDescSetAttribute, int, (lt_descriptor, int attribute, const void *, size_t))                       \
    X(cublasLtMatmulDescDestroy, int, (lt_descriptor))                                                                 \
    X(cublasLtMatrixLayoutCreate, int, (lt_descriptor *, int type, uint64_t rows, uint64_t columns, int64_t pitch))    \
    X(cublasLtMatrixLayoutDestroy, int, (lt_descriptor))                                                               \
    X(cublasLtMatmulPreferenceCreate, int, (lt_descriptor *))                                                          \
    X(cublasLtMatmulPreferenceSetAttribute, int, (lt_descriptor, int attribute, const void *, size_t))                 \
    X(cublasLtMatmulPreferenceDestroy, int, (lt_descriptor))                                                           \
    X(cublasLtMatmulAlgoGetHeuristic, int,                                                                             \
      (lt_handle, lt_descriptor matmul, lt_descriptor a, lt_descriptor b, lt_descriptor c, lt_descriptor d,            \
       lt_descriptor preference, int requested, struct lt_heuristic *results, int *returned))                          \
    X(cublasLtMatmulAlgoConfigGetAttribute, int,                                                                       \
      (const struct lt_algorithm *, int attribute, void *value, size_t size, size_t *written))                         \
    X(cublasLtMatmul, int,                                                                                             \
      (lt_handle, lt_descriptor matmul, const void *alpha, const void *a, lt_descriptor a_layout, const void *b,       \
       lt_descriptor b_layout, const void *beta, const void *c, lt_descriptor c_layout, void *d,                       \
       lt_descriptor d_layout, const struct lt_algorithm *, void *workspace, size_t workspace_bytes, lt_stream))

struct cublaslt_api {
#define X(name, result, parameters) result(*name) parameters;
    CUBLASLT_FUNCTIONS(X)
#undef X
};

#endif
