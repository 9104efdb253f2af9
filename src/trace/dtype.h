/* Element types of FlashInfer-Trace and concrete tensor shapes. */
#ifndef PTXBENCH_TRACE_DTYPE_H
#define PTXBENCH_TRACE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enumerator, FlashInfer-Trace name, safetensors name, bits, DLPack type code (dlpack.h: 0 int, 2 float, 4 bfloat,
 * 6 bool, 10 e4m3fn, 12 e5m2, 17 e2m1fn) */
#define DTYPES(X)                                                                                                      \
    X(DTYPE_FLOAT32, "float32", "F32", 32, 2)                                                                          \
    X(DTYPE_FLOAT16, "float16", "F16", 16, 2)                                                                          \
    X(DTYPE_BFLOAT16, "bfloat16", "BF16", 16, 4)                                                                       \
    X(DTYPE_FLOAT8_E4M3FN, "float8_e4m3fn", "F8_E4M3", 8, 10)                                                          \
    X(DTYPE_FLOAT8_E5M2, "float8_e5m2", "F8_E5M2", 8, 12)                                                              \
    X(DTYPE_FLOAT4_E2M1, "float4_e2m1", "F4", 4, 17)                                                                   \
    X(DTYPE_INT64, "int64", "I64", 64, 0)                                                                              \
    X(DTYPE_INT32, "int32", "I32", 32, 0)                                                                              \
    X(DTYPE_INT16, "int16", "I16", 16, 0)                                                                              \
    X(DTYPE_INT8, "int8", "I8", 8, 0)                                                                                  \
    X(DTYPE_BOOL, "bool", "BOOL", 8, 6)

enum dtype {
#define X(name, text, safetensors, bits, dlpack) name,
    DTYPES(X)
#undef X
        DTYPE_COUNT
};

enum { TENSOR_MAX_RANK = 8 };

/* A tensor without its data. Dense, row-major. rank 0: a tensor of one element. */
struct tensor_shape {
    enum dtype dtype;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
};

bool dtype_parse(const char *text, enum dtype *out);
bool dtype_parse_safetensors(const char *text, enum dtype *out);
const char *dtype_text(enum dtype dtype);
const char *dtype_safetensors_text(enum dtype dtype);
int dtype_bits(enum dtype dtype);
int dtype_dlpack_code(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);

/* Whether rank and dims are in range and elements and bits fit int64, so that the functions below cannot overflow. */
bool tensor_shape_valid(const struct tensor_shape *shape);

/* Product of the dims. The reader of workloads guarantees that it and the byte size fit int64. */
int64_t tensor_elements(const struct tensor_shape *shape);

/* Size of the dense data in bytes, rounded up for sub-byte types. */
int64_t tensor_bytes(const struct tensor_shape *shape);

/* "bfloat16[8192, 5120]" into `out`. */
void tensor_shape_text(const struct tensor_shape *shape, char *out, size_t size);

#endif
