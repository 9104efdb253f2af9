/*
 * Reference operators on the CPU: plain loops, products and sums in float or double, one thread. They define what the
 * GPU libraries and the emulator are checked against, and serve `ptxbench task materialize`.
 *
 * bfloat16 tensors are uint16_t, dense, row-major. Thread-safe.
 */
#ifndef PTXBENCH_REFERENCE_CPU_REFERENCE_H
#define PTXBENCH_REFERENCE_CPU_REFERENCE_H

#include "base/arena.h"
#include "trace/workload.h"

/* C[m, n] = A[m, k] B[n, k]^T, accumulated in double. */
void cpu_gemm(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k);

/* Softmax attention over tensors [batch, heads, length, dim] with scale 1/sqrt(dim). Causal: row i sees columns <= i. */
struct cpu_attention {
    int64_t batch;
    int64_t heads;
    int64_t length;
    int64_t dim;
    bool causal;
};

/* o = softmax(scale q k^T) v, lse[batch, heads, length] = natural logarithm of the row sums of exp. */
void cpu_mha_forward(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                     uint16_t *o, float *lse);

/* The rows of o and lse for which wanted[batch, heads, length] is 1, not 0; the others stay as they are. */
void cpu_mha_forward_rows(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                          const uint8_t *wanted, uint16_t *o, float *lse);

/* Gradients dq, dk, dv for the upstream gradient `d_o`; `o` and `lse` as the forward pass returned them. */
void cpu_mha_backward(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                      const uint16_t *o, const uint16_t *d_o, const float *lse, uint16_t *dq, uint16_t *dk,
                      uint16_t *dv);

/* The same for the heads for which wanted[batch, heads] is 1, not 0. */
void cpu_mha_backward_heads(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                            const uint16_t *o, const uint16_t *d_o, const float *lse, const uint8_t *wanted,
                            uint16_t *dq, uint16_t *dk, uint16_t *dv);

/* What an operation is, recognised by op_type, argument names, dtypes and ranks; CPU_OTHER when nothing fits. */
enum cpu_operation { CPU_OTHER, CPU_GEMM, CPU_MHA_FORWARD, CPU_MHA_BACKWARD };
enum cpu_operation cpu_reference_classify(const struct definition *definition);

/* Whether the definition is causal attention: its name ends with "_causal" or it carries the tag "causal". */
bool cpu_reference_is_causal(const struct definition *definition);

/*
 * Host buffers of one workload: inputs seeded, read from safetensors or derived; allocated by cpu_reference_inputs and
 * cpu_reference_outputs in declared order, tensor_bytes() each (a scalar: one element). Free with
 * cpu_reference_free(buffers, count).
 */
MUST_CHECK bool cpu_reference_inputs(const struct workload *workload, uint64_t seed, void ***out, struct error *error);

/* Fills buffers of the caller's. */
MUST_CHECK bool cpu_reference_fill_inputs(const struct workload *workload, uint64_t seed, void *const *buffers,
                                          struct error *error);

/* Computes all outputs; ERROR_UNSUPPORTED when there is no CPU reference for the definition. */
MUST_CHECK bool cpu_reference_outputs(const struct workload *workload, void *const *inputs, void ***out,
                                      struct error *error);

/* Shape of an attention task. */
struct cpu_attention cpu_reference_attention(const struct workload *workload);

void cpu_reference_free(void **buffers, size_t count);

/* Multiply-adds that cpu_reference_outputs (and derived inputs) take, for messages about run time. */
double cpu_reference_work(const struct workload *workload);

#endif
