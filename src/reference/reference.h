/*
 * Reference operators on the GPU: what a candidate is compared with, in value and in speed.
 *
 *     GEMM           C[M,N] = A[M,K] * B[N,K]^T                    cuBLASLt, heuristic algorithm 0, fp32 accumulation
 *     MHA forward    O, LSE = attention(Q, K, V)                   cuDNN backend graph
 *     MHA backward   dQ, dK, dV from Q, K, V, O, dO, LSE           cuDNN backend graph
 *
 * Attention tensors are dense [B,H,S,D]; LSE is float32 [B,H,S], natural logarithm; the scale is 1/sqrt(D); the causal
 * mask lets query i see keys 0..i.
 *
 * Every function needs the CUDA context of `driver` current in the calling thread. A reference belongs to one thread
 * at a time and to the context in which it was opened. The libraries are loaded on first use.
 *
 * Sources: cuBLAS 13.0 library documentation (cublasLtMatmul), cuDNN 9 backend API documentation (graph patterns of
 * fused attention), FlashAttention-2 (arXiv:2307.08691) for the backward equations.
 */
#ifndef PTXBENCH_REFERENCE_REFERENCE_H
#define PTXBENCH_REFERENCE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/cuda_driver.h"
#include "trace/dtype.h"

enum reference_kind { REFERENCE_GEMM, REFERENCE_MHA_FORWARD, REFERENCE_MHA_BACKWARD };

struct reference_problem {
    enum reference_kind kind;
    enum dtype dtype;                         /* DTYPE_BFLOAT16 or DTYPE_FLOAT16, of all tensors but LSE */
    int64_t m, n, k;                          /* GEMM */
    int64_t batch, heads, sequence, head_dim; /* attention */
    bool causal;                              /* attention */
    bool with_lse;                            /* forward: LSE is written too; backward always reads it */
};

/* Counts and order of the device pointers of reference_run, which follow the definitions:
 *     GEMM      inputs A, B                  outputs C
 *     forward   inputs Q, K, V               outputs O [, LSE when with_lse]
 *     backward  inputs Q, K, V, O, dO, LSE   outputs dQ, dK, dV */
enum { REFERENCE_MAX_INPUTS = 6, REFERENCE_MAX_OUTPUTS = 3, REFERENCE_POINTER_ALIGNMENT = 256 };
int reference_input_count(const struct reference_problem *problem);
int reference_output_count(const struct reference_problem *problem);

/* Name of an input or output ("Q", "dQ"); never NULL for an index below the count. */
const char *reference_input_name(const struct reference_problem *problem, int index);
const char *reference_output_name(const struct reference_problem *problem, int index);

/* Shape of an input or output. */
struct tensor_shape reference_input_shape(const struct reference_problem *problem, int index);
struct tensor_shape reference_output_shape(const struct reference_problem *problem, int index);

/* "gemm m8192 n7168 k5120 bfloat16", "mha_forward b4 h48 s4096 d128 causal bfloat16": into `out`. */
void reference_problem_text(const struct reference_problem *problem, char *out, size_t size);

/* Floating-point operations that the definition requires: 2MNK; 4BHSSD forward and 10BHSSD backward, half of it when
 * causal (the convention of FlashAttention's benchmarks; the diagonal's S/2 extra products are left out). */
double reference_required_flops(const struct reference_problem *problem);

/* Bytes that any implementation must move: every input read once, every output written once. */
double reference_bytes_floor(const struct reference_problem *problem);

struct reference;

/* What was selected; for provenance. Texts are owned by the reference. */
struct reference_identity {
    const char *name;         /* "cuBLASLt 13.1.0", "cuDNN 9.19.0 sdpa forward" */
    const char *library_path; /* file of the library that was loaded */
    const char *algorithm;    /* "heuristic 0 of 8: algo 66, tile 128x256, ...", "engine config 0 of 2: ..." */
    size_t workspace_bytes;   /* device memory that the reference holds, accumulators included */
};

/*
 * Plans the operator and allocates its workspace. Returns a new reference; close it with reference_close.
 * `driver` is borrowed for its lifetime.
 * ERROR_UNSUPPORTED: no library, a dtype or size that the library refuses, or a cuDNN too new for this lowering.
 * ERROR_INPUT: sizes below 1 or beyond the device's address arithmetic. ERROR_DEVICE: everything else.
 * Takes milliseconds for GEMM, up to seconds for attention (cuDNN compiles its kernels).
 */
MUST_CHECK bool reference_open(const struct cuda_driver *driver, const struct reference_problem *problem,
                               struct reference **out, struct error *error);

struct reference_identity reference_identity(const struct reference *reference);
const struct reference_problem *reference_problem(const struct reference *reference);

/*
 * Enqueues one execution on `stream` and returns. Device pointers in the order above, each aligned to
 * REFERENCE_POINTER_ALIGNMENT bytes; they may change from call to call (the last pointer sets are cached). Outputs
 * may not overlap inputs. What the library needs per call is part of it (before cuDNN 9.6: zeroing the accumulator of
 * dQ). Calls on different streams must not overlap: they share the workspace.
 */
MUST_CHECK bool reference_run(struct reference *reference, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                              CUstream stream, struct error *error);

/* Measured agreement of one output with naive fp32 arithmetic. error_norm = |output - naive|_2 / |naive|_2. */
struct reference_agreement_entry {
    const char *tensor; /* "C", "LSE", ...; static */
    double error_norm;  /* NaN when the sampled output holds NaN or infinity */
    double limit;       /* 1e-2; LSE: 1e-5 */
    int64_t rows;       /* sampled rows, spread evenly over the tensor at random offsets */
    int64_t total_rows;
};

struct reference_agreement {
    struct reference_agreement_entry entries[REFERENCE_MAX_OUTPUTS];
    int count;
};

/*
 * Compares the outputs of a finished reference_run (also its inputs must be unchanged) with naive device kernels that
 * compute sampled rows in fp32 from the definition. Synchronises the context; tens of milliseconds at most.
 * Fills `agreement` in any case where the kernels ran; returns false with ERROR_DEVICE when an error norm is above its
 * limit or not a number: such a reference must not be used.
 */
MUST_CHECK bool reference_check(struct reference *reference, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                                uint64_t seed, struct reference_agreement *agreement, struct error *error);

/* Frees everything; accepts NULL. The context must still be current, and no run may be in flight. */
void reference_close(struct reference *reference);

static inline void cleanup_reference(struct reference **reference)
{
    reference_close(*reference);
}
#define AUTO_REFERENCE CLEANUP(cleanup_reference) struct reference

#endif
